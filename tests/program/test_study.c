// facet study on a small course and tiny networks: every cell, going on, and wrong words.
#include "base/file.h"
#include "base/json.h"
#include "policy/policy.h"
#include "pools.h"
#include "program/program.h"
#include "race/eval.h"
#include "scratch.h"

#define COURSE " --quiet --courses " TEST_SOURCE "/tests/race/sample "
#define PAIRS                                                                                      \
    "study pairs --out p --pairs 2 --pairs 3 --updates 4 --blocks 1 --channels 16 --plans "        \
    "1" COURSE

// Trials of a row's group in the summary.
static double trials_of(const char *method, int pairs, const char *group)
{
    Json *document;
    JsonRef list, row = {0}, rate;
    double trials = -1.0;
    assert_ok(json_read(&document, "p/pairs.json"));
    JsonRef root = json_root(document, "pairs.json");
    assert_ok(json_member(&list, &root, "rows"));
    while (json_next(&row, &list)) {
        char name[32];
        double number;
        assert_ok(json_member_string(name, sizeof name, &row, "method"));
        assert_ok(json_member_number(&number, &row, "pairs", 0.0, 100.0));
        if (strcmp(name, method) != 0 || number != pairs) continue;
        assert_ok(json_member(&rate, &row, group));
        assert_ok(json_member_number(&trials, &rate, "trials", 0.0, 1e6));
    }
    json_free(document);
    return trials;
}

// Tells whether a cell has a plan of the held-out task of an entry.
static bool holds_out(const JsonRef *cell, const JsonRef *entry)
{
    JsonRef list, at = {0};
    char track[32], size[32], other[32];
    assert_ok(json_member_string(track, sizeof track, entry, "track"));
    assert_ok(json_member_string(size, sizeof size, entry, "size"));
    assert_ok(json_member(&list, cell, "heldout"));
    while (json_next(&at, &list)) {
        assert_ok(json_member_string(other, sizeof other, &at, "track"));
        if (strcmp(other, track) != 0) continue;
        assert_ok(json_member_string(other, sizeof other, &at, "size"));
        if (strcmp(other, size) == 0) return true;
    }
    return false;
}

// How far speeds are off: the summary's, and the mean over a cell's plans of pairs that another
// cell leaves out too.
static void check_speeds(int index, bool joint, const char *key, const char *cell_file,
                         const char *other_file)
{
    static const char *const methods[][2] = {{"ours_composed", "ours_joint"},
                                             {"factored_composed", "factored_joint"}};
    Json *document, *cell, *other;
    JsonRef list, row, at = {0};
    double said, sum = 0.0;
    int count = 0;
    assert_ok(json_read(&document, "p/pairs.json"));
    assert_ok(json_read(&cell, cell_file));
    assert_ok(json_read(&other, other_file));
    JsonRef root = json_root(document, "pairs.json"), of_cell = json_root(cell, "cell"),
            of_other = json_root(other, "other");
    assert_ok(json_member(&list, &root, "rows"));
    assert_ok(json_element(&row, &list, index));
    if (joint) assert_ok(json_member(&row, &row, "joint"));
    assert_ok(json_member_number(&said, &row, key, 0.0, 1e6));
    assert_ok(json_member(&list, &of_cell, "heldout"));
    while (json_next(&at, &list)) {
        char method[32];
        double speed, reference;
        assert_ok(json_member_string(method, sizeof method, &at, "method"));
        assert_ok(json_member_number(&speed, &at, "speed_generated", 0.0, 1e6));
        assert_ok(json_member_number(&reference, &at, "speed_reference", 0.0, 1e6));
        if (strcmp(method, methods[index / 2][joint]) != 0 || !holds_out(&of_other, &at)) continue;
        sum += fabs(speed - reference) / reference;
        count++;
    }
    assert_true(count > 0);
    assert_near(said, sum / count, 1e-9);
    json_free(document);
    json_free(cell);
    json_free(other);
}

static double splits_of(const JsonRef *rows, int i)
{
    JsonRef row;
    double splits;
    assert_ok(json_element(&row, rows, i));
    assert_ok(json_member_number(&splits, &row, "splits", 0.0, 100.0));
    return splits;
}

// A pair is the same one wherever an order has it: pairs trained on by several orders are counted
// once each, and the last order of this test differs from the others.
static void check_pairs_of_all_orders(void)
{
    enum { TRAINED = 2, ORDERS = 4 };
    Json *document;
    JsonRef list, row, rate, orders, order, at;
    char names[ORDERS * TRAINED][64];
    int distinct = 0;
    double tasks;
    assert_ok(json_read(&document, "p/pairs.json"));
    JsonRef root = json_root(document, "pairs.json");
    assert_ok(json_member(&orders, &root, "orders"));
    for (int i = 0; i < ORDERS * TRAINED; i++) {
        bool known = false;
        assert_ok(json_element(&order, &orders, i / TRAINED));
        assert_ok(json_element(&at, &order, i % TRAINED));
        assert_ok(json_string(names[distinct], sizeof names[distinct], &at));
        for (int k = 0; k < distinct; k++) known = known || strcmp(names[k], names[distinct]) == 0;
        distinct += !known;
    }
    assert_true(distinct > TRAINED);
    assert_ok(json_member(&list, &root, "rows"));
    assert_ok(json_element(&row, &list, 2));
    assert_ok(json_member(&rate, &row, "training"));
    assert_ok(json_member_number(&tasks, &rate, "tasks", 0.0, 100.0));
    assert_int_equal((int)tasks, distinct);
    // Of the splits that a loss has cells of, and ours has those of the first alone.
    assert_near(splits_of(&list, 2), ORDERS, 0.0);
    assert_near(splits_of(&list, 0), 1.0, 0.0);
    json_free(document);
}

#define CELL "{\"methods\": {\"factored_composed\": {\"seeds\": 1, \"tasks\": "

// With this text as a cell, the study says what is wrong with it.
static void refuse_cell(const char *text, const char *words)
{
    char *kept;
    size_t size;
    assert_ok(file_read(&kept, &size, "p/paper-3-1.json"));
    assert_ok(file_write("p/paper-3-1.json", text, strlen(text)));
    Run result = run(PAIRS " --method paper");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, words));
    assert_ok(file_write("p/paper-3-1.json", kept, size));
    free(kept);
}

// A cell that has its first task again in place of the others.
static void refuse_a_task_again(void)
{
    Json *document;
    JsonRef methods, method, tasks, first;
    char text[8192];
    int count;
    assert_ok(json_read(&document, "p/paper-3-1.json"));
    JsonRef root = json_root(document, "cell");
    assert_ok(json_member(&methods, &root, "methods"));
    assert_ok(json_member(&method, &methods, "factored_composed"));
    assert_ok(json_member(&tasks, &method, "tasks"));
    assert_ok(json_length(&count, &tasks));
    assert_ok(json_element(&first, &tasks, 0));
    char *task = json_line(first.node);
    assert_non_null(task);
    size_t used = (size_t)snprintf(text, sizeof text, CELL "[");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", task);
    assert_true(used + 8 < sizeof text);
    strcat(text, "]}}}");
    refuse_cell(text, "tasks[1]: expected a pair of this split");
    free(task);
    json_free(document);
}

// A pair that is left out is no new one when its path and speed are those of one trained on. Leaves
// a cell that says so of all its pairs.
static void check_new_in_name_alone(void)
{
    static const char same[] = "\"same_as\": \"bend/small\", ";
    char *cell, *text, *at;
    size_t size;
    double held_out = trials_of("paper", 3, "held_out");
    assert_true(held_out > 0.0);
    assert_near(trials_of("paper", 3, "held_out_new"), held_out, 0.0);
    assert_ok(file_read(&cell, &size, "p/paper-3-1.json"));
    text = calloc(3, size);
    assert_non_null(text);
    for (char *from = cell; from; from = at) {
        at = strstr(from + 1, "\"held_out\":\ttrue");
        strncat(text, from, at ? (size_t)(at - from) : size);
        if (at) strcat(text, same);
    }
    assert_ok(file_write("p/paper-3-1.json", text, strlen(text)));
    assert_int_equal(run(PAIRS " --method paper").code, 0);
    assert_near(trials_of("paper", 3, "held_out"), held_out, 0.0);
    assert_near(trials_of("paper", 3, "held_out_new"), 0.0, 0.0);
    free(text);
    free(cell);
}

// Two cells are missing, and the policy of the first is none: the second is not begun.
static void stop_at_what_fails(void)
{
    static const char *const files[] = {"ours-2-1.json", "paper-2-1.json", "ours-2-1.safetensors"};
    char path[64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "p/%s", files[i]);
        assert_int_equal(rename(path, files[i]), 0);
    }
    assert_ok(file_write(path, "", 0));
    Run failed = run(PAIRS);
    assert_int_equal(failed.code, 1);
    assert_int_equal(count_steps(failed.out), 1);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "p/%s", files[i]);
        assert_int_equal(rename(files[i], path), 0);
    }
}

static void pairs_are_left_out_one_after_the_other(void **state)
{
    (void)state;
    Run first = run(PAIRS);
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    assert_null(strstr(first.out, "0 of 4 cells")); // there is no pace yet
    assert_non_null(strstr(first.out, "\n1 of 4 cells done, about "));
    assert_non_null(strstr(first.out, "\n2 of 4 cells done, about "));
    // Number by number; of two ranks, which take turns, each makes some of both losses.
    static const char *const cells[] = {"ours-2", "paper-2", "paper-3", "ours-3"};
    const char *step = first.out;
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "p/%s-1.json", cells[i]);
        assert_int_equal(access(path, R_OK), 0);
        step = strstr(step, path);
        assert_non_null(step);
    }
    double all = trials_of("ours", 2, "training") + trials_of("ours", 2, "held_out");
    assert_near(trials_of("paper", 3, "training") + trials_of("paper", 3, "held_out"), all, 0.0);
    // Sets are nested: more pairs leave fewer gates, and the last pair is left out by both.
    assert_true(trials_of("ours", 3, "held_out") < trials_of("ours", 2, "held_out"));
    assert_near(trials_of("ours", 2, "last"), trials_of("ours", 3, "held_out"), 0.0);
    assert_near(trials_of("ours", 3, "last"), trials_of("ours", 3, "held_out"), 0.0);
    check_speeds(3, false, "speed_off_held_out", "p/paper-3-1.json", "p/paper-3-1.json");
    check_speeds(2, false, "speed_off_held_out", "p/paper-2-1.json", "p/paper-2-1.json");
    check_speeds(2, false, "speed_off_last", "p/paper-2-1.json", "p/paper-3-1.json");
    check_speeds(2, true, "speed_off_held_out", "p/paper-2-1.json", "p/paper-2-1.json");
    check_speeds(2, true, "speed_off_last", "p/paper-2-1.json", "p/paper-3-1.json");
    check_speeds(0, false, "speed_off_last", "p/ours-2-1.json", "p/ours-3-1.json");
    check_speeds(0, true, "speed_off_last", "p/ours-2-1.json", "p/ours-3-1.json");
    check_new_in_name_alone();
    // A cell that is missing is made again, and nothing else is.
    assert_int_equal(unlink("p/paper-3-1.json"), 0);
    Run again = run(PAIRS " --method paper");
    assert_int_equal(again.code, 0);
    assert_int_equal(count_steps(again.out), 1);
    assert_non_null(strstr(again.out, "\n1 of 1 cells done, about 0 min left\n"));
    const char *table = strstr(again.out, "Composition against the number");
    assert_non_null(table);
    assert_fits(table);
    // With all cells there nothing is made, not even demonstrations for none.
    assert_int_equal(rename("p/demos.h5", "d.h5"), 0);
    assert_int_equal(count_steps(run(PAIRS).out), 0);
    assert_int_equal(rename("d.h5", "p/demos.h5"), 0);
    stop_at_what_fails();
    Run second = run(PAIRS " --splits 2 --method paper");
    assert_int_equal(second.code, 0);
    assert_int_equal(count_steps(second.out), 4);
    assert_int_equal(run(PAIRS " --splits 4 --method paper").code, 0);
    check_pairs_of_all_orders();
    // A cell has every pair of its split, and has it once.
    refuse_cell(CELL "3}}}", "methods.factored_composed.tasks: expected an array or an object");
    refuse_cell(CELL "[]}}}", "methods.factored_composed.tasks: expected the pairs of this split");
    refuse_a_task_again();
}

#define OPERATORS " --steps 2 --plans 1 --search-plans 1 --json o.json" COURSE

// What `facet study operators` writes of operator i, with how many weights it tried.
static void check_operator(const JsonRef *list, int i, const char *mode, const char *whose,
                           int tried, bool learned)
{
    JsonRef entry, search, weights, at;
    char name[64];
    double number, w[2];
    assert_ok(json_element(&entry, list, i));
    assert_ok(json_member_string(name, sizeof name, &entry, "mode"));
    assert_string_equal(name, mode);
    assert_ok(json_member_string(name, sizeof name, &entry, "name"));
    assert_string_equal(name, whose);
    assert_ok(json_member(&search, &entry, "search"));
    assert_ok(json_member_number(&number, &search, "tried", 0.0, 100.0));
    assert_near(number, tried, 0.0);
    // Eight of ten gates of the small course are not held out.
    assert_ok(json_member_number(&number, &search, "gates", 0.0, 100.0));
    assert_near(number, 8.0, 0.0);
    assert_ok(json_member(&weights, &entry, "weights"));
    for (int f = 0; f < 2; f++) {
        assert_ok(json_element(&at, &weights, f));
        assert_int_equal(json_is_null(&at), learned);
        if (!learned) assert_ok(json_number(&w[f], &at, -1e9, 1e9));
    }
    assert_ok(json_member_number(&number, &entry, "passes", 1.0, 3.0));
    if (learned || strcmp(mode, "composed") == 0) assert_near(number, 3.0, 0.0);
    if (strcmp(mode, "product") == 0) assert_near(w[0] + w[1], 1.0, 1e-12);
    if (strcmp(mode, "interpolate") == 0) assert_near(w[1], 0.0, 0.0);
}

// The row of an operator is flown with the weights that were chosen for it.
static void check_flown(const JsonRef *root, const JsonRef *list, int i, FacetPolicyMode mode)
{
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    FacetPolicySampling how = {.mode = mode, .steps = 2, .seed = 1};
    FacetRace *race;
    FacetPolicy *policy;
    EvalRun flown;
    JsonRef entry, chosen, at, tasks, task = {0};
    double weights[2], error;
    assert_ok(json_element(&entry, list, i));
    assert_ok(json_member(&chosen, &entry, "weights"));
    for (int f = 0; f < 2; f++) {
        assert_ok(json_element(&at, &chosen, f));
        assert_ok(json_number(&weights[f], &at, 0.0, 1.0));
    }
    how.weights = weights;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_policy_load(&policy, "k.safetensors"));
    assert_ok(eval_run(&flown, race, policy, &how, 1, NULL));
    assert_ok(json_member(&at, root, "methods"));
    assert_ok(json_member(&entry, &at, policy_mode_name(mode)));
    assert_ok(json_member(&tasks, &entry, "tasks"));
    for (int t = 0; json_next(&task, &tasks); t++) {
        assert_ok(json_member_number(&error, &task, "error_m", 0.0, 1e3));
        assert_near(error, eval_result(&flown, 0, t)->error, 1e-9);
    }
    eval_run_free(&flown);
    facet_policy_destroy(policy);
    facet_race_close(race);
}

static double number_of(const JsonRef *list, int i, const char *key)
{
    JsonRef entry;
    double number;
    assert_ok(json_element(&entry, list, i));
    assert_ok(json_member_number(&number, &entry, key, 0.0, 1e12));
    return number;
}

// Once for all tests.
static void make_networks(void)
{
    if (access("k.safetensors", R_OK) == 0) return;
    Run made = run("demos --rollouts 4 --out d.h5" COURSE);
    assert_int_equal(made.code, 0);
    made = run("train --data d.h5 --out k.safetensors --method knet --hold-out course --updates 4 "
               "--blocks 1 --channels 16" COURSE);
    assert_string_equal(made.err, "");
}

static const char *const modes[] = {"composed", "product", "convex", "interpolate", "router"};
static const char *const whose[] = {
    "sum of corrections (the paper)", "product of experts (PoCo)", "convex combination (GPC)",
    "track networks interpolated (Mao et al.)", "experts under a learned router (FDP)"};
static const int tried[] = {1, 11, 21, 11, 1};

static void operators_choose_their_weights(void **state)
{
    (void)state;
    make_networks();
    Run result = run("study operators --policy k.safetensors" OPERATORS);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_fits(result.out);
    assert_non_null(strstr(result.out, "The policy has no router"));
    Json *document;
    JsonRef list;
    int length;
    assert_ok(json_read(&document, "o.json"));
    JsonRef root = json_root(document, "o.json");
    assert_ok(json_member(&list, &root, "operators"));
    assert_ok(json_length(&length, &list));
    assert_int_equal(length, 4);
    for (int i = 0; i < 4; i++) check_operator(&list, i, modes[i], whose[i], tried[i], false);
    check_flown(&root, &list, 1, FACET_POLICY_PRODUCT);
    check_flown(&root, &list, 3, FACET_POLICY_INTERPOLATE);
    json_free(document);
}

// The router is trained over the same networks, and its row has what that took besides.
static void a_router_is_an_operator_too(void **state)
{
    (void)state;
    make_networks();
    assert_fails("sample --policy k.safetensors --task bend/small --mode router", 1,
                 "facet sample: no router mode: the policy has no router; facet train "
                 "--router-from trains one over the networks of a knet\n");
    Run made = run("train --data d.h5 --out r.safetensors --router-from k.safetensors --updates 3 "
                   "--batch 5 --json r.json --quiet");
    assert_string_equal(made.err, "");
    assert_non_null(strstr(made.out, "r.safetensors: router, 1 network of "));
    assert_non_null(strstr(made.out, "demonstrations of tasks held out were not used"));
    assert_int_equal(run("sample --policy r.safetensors --task bend/small --mode router").code, 0);
    assert_fails("train --data d.h5 --out x --router-from k.safetensors --channels 8", 1,
                 "facet train: a router is learned over the networks as they are: expected none of "
                 "the options that make another network or training\n");
    Run result = run("study operators --policy r.safetensors" OPERATORS);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_fits(result.out);
    assert_non_null(strstr(result.out, "learned"));
    assert_null(strstr(result.out, "The policy has no router"));
    Json *document, *trained;
    JsonRef list;
    double parameters;
    assert_ok(json_read(&document, "o.json"));
    assert_ok(json_read(&trained, "r.json"));
    JsonRef root = json_root(document, "o.json"), router = json_root(trained, "r.json");
    assert_ok(json_member(&list, &root, "operators"));
    for (int i = 0; i < 5; i++) check_operator(&list, i, modes[i], whose[i], tried[i], i == 4);
    // Three updates of five demonstrations through three branches.
    assert_near(number_of(&list, 4, "rows") - number_of(&list, 0, "rows"), 3 * 5 * 3, 0.0);
    assert_ok(json_member_number(&parameters, &router, "parameters", 1.0, 1e9));
    assert_near(number_of(&list, 4, "parameters") - number_of(&list, 0, "parameters"), parameters,
                0.0);
    assert_near(number_of(&list, 4, "networks"), number_of(&list, 0, "networks"), 0.0);
    json_free(document);
    json_free(trained);
}

static void wrong_words_are_refused(void **state)
{
    (void)state;
    assert_fails("study", 2,
                 "facet study: expected a study: leave-one-out, pairs, operators or mechanism\n");
    assert_fails("study operators", 2, "facet study operators: expected --policy FILE\n");
    assert_fails("study pairs --pairs 8 --pairs 7", 2,
                 "facet study pairs: --pairs: expected a whole number from 9 to 256, found '7'\n");
    assert_fails("study pairs --method theirs", 2,
                 "facet study pairs: no loss 'theirs': ours, paper\n");
    assert_fails("study mechanism --composed-loss 0 --composed-loss 0", 2,
                 "facet study mechanism: --composed-loss: expected 0 once, found it again\n");
    assert_fails("study mechanism --variant hole", 2,
                 "facet study mechanism: no variant 'hole', did you mean 'whole'? known: default, "
                 "blocks-1, blocks-2, blocks-3, blocks-6, dilated, whole, unet, no-position, "
                 "embed-8, embed-64, drop-0, whole-drop-0, unet-drop-0\n");
    assert_fails(
        "study mechanism --out n --quiet --folds 9 --courses " TEST_SOURCE "/tests/race/pairs", 1,
        "facet study mechanism: expected 1 to 40 pairs that fold 5 of 9 can leave out, "
        "found 0\n");
    Run unknown = run("study pears");
    assert_int_equal(unknown.code, 2);
    assert_non_null(strstr(unknown.err, "did you mean 'pairs'?"));
    assert_fails("study pairs --out q --pairs 1" COURSE, 1,
                 "facet study pairs: expected 1 of the 4 pairs to show every track and size, found "
                 "no such choice\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_left_out_one_after_the_other),
        cmocka_unit_test(operators_choose_their_weights),
        cmocka_unit_test(a_router_is_an_operator_too),
        cmocka_unit_test(wrong_words_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
