// facet study on a small course and tiny networks: every cell, going on, and wrong words.
#include "base/file.h"
#include "base/json.h"
#include "program/program.h"
#include "scratch.h"

#define COURSE " --quiet --courses " TEST_SOURCE "/tests/race/sample "
#define PAIRS                                                                                      \
    "study pairs --out p --pairs 2 --pairs 3 --updates 4 --blocks 1 --channels 16 --plans "        \
    "1" COURSE

static int count_steps(const char *text)
{
    int steps = 0;
    for (; (text = strstr(text, "\n$ facet ")); text++) steps++;
    return steps;
}

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

static void pairs_are_left_out_one_after_the_other(void **state)
{
    (void)state;
    Run first = run(PAIRS);
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    static const char *const cells[] = {"ours-2", "ours-3", "paper-2", "paper-3"};
    for (int i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "p/%s-1.json", cells[i]);
        assert_int_equal(access(path, R_OK), 0);
    }
    double all = trials_of("ours", 2, "training") + trials_of("ours", 2, "held_out");
    assert_near(trials_of("paper", 3, "training") + trials_of("paper", 3, "held_out"), all, 0.0);
    // Sets are nested: more pairs leave fewer gates, and the last pair is left out by both.
    assert_true(trials_of("ours", 3, "held_out") < trials_of("ours", 2, "held_out"));
    assert_near(trials_of("ours", 2, "last"), trials_of("ours", 3, "held_out"), 0.0);
    assert_near(trials_of("ours", 3, "last"), trials_of("ours", 3, "held_out"), 0.0);
    // A cell that is missing is made again, and nothing else is.
    assert_int_equal(unlink("p/paper-3-1.json"), 0);
    Run again = run(PAIRS " --method paper");
    assert_int_equal(again.code, 0);
    assert_int_equal(count_steps(again.out), 1);
    const char *table = strstr(again.out, "  splits  ");
    assert_non_null(table);
    assert_fits(table);
    Run second = run(PAIRS " --splits 2 --method paper");
    assert_int_equal(second.code, 0);
    assert_int_equal(count_steps(second.out), 4);
    // A cell has every pair of its split, and has it once.
    refuse_cell(CELL "3}}}", "methods.factored_composed.tasks: expected an array or an object");
    refuse_cell(CELL "[]}}}", "methods.factored_composed.tasks: expected the pairs of this split");
    refuse_a_task_again();
}

static void operators_choose_their_weights(void **state)
{
    (void)state;
    Run made = run("demos --rollouts 4 --out d.h5" COURSE);
    assert_int_equal(made.code, 0);
    made = run("train --data d.h5 --out k.safetensors --method knet --hold-out course --updates 4 "
               "--blocks 1 --channels 16" COURSE);
    assert_string_equal(made.err, "");
    Run result = run("study operators --policy k.safetensors --steps 2 --plans 1 --search-plans 1 "
                     "--json o.json" COURSE);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_fits(result.out);
    static const int tried[] = {1, 11, 21, 11};
    static const char *const modes[] = {"composed", "product", "convex", "interpolate"};
    Json *document;
    JsonRef list, entry, search, weights, at;
    assert_ok(json_read(&document, "o.json"));
    JsonRef root = json_root(document, "o.json");
    assert_ok(json_member(&list, &root, "operators"));
    for (int i = 0; i < 4; i++) {
        char mode[32];
        double number, w[2];
        assert_ok(json_element(&entry, &list, i));
        assert_ok(json_member_string(mode, sizeof mode, &entry, "mode"));
        assert_string_equal(mode, modes[i]);
        assert_ok(json_member(&search, &entry, "search"));
        assert_ok(json_member_number(&number, &search, "tried", 0.0, 100.0));
        assert_near(number, tried[i], 0.0);
        // Eight of ten gates of the small course are not held out.
        assert_ok(json_member_number(&number, &search, "gates", 0.0, 100.0));
        assert_near(number, 8.0, 0.0);
        assert_ok(json_member(&weights, &entry, "weights"));
        for (int f = 0; f < 2; f++) {
            assert_ok(json_element(&at, &weights, f));
            assert_ok(json_number(&w[f], &at, -1e9, 1e9));
        }
        if (i == 1) assert_near(w[0] + w[1], 1.0, 1e-12);
        if (i == 3) assert_near(w[1], 0.0, 0.0);
    }
    json_free(document);
}

static void wrong_words_are_refused(void **state)
{
    (void)state;
    assert_fails("study", 2, "facet study: expected a study: leave-one-out, pairs or operators\n");
    assert_fails("study operators", 2, "facet study operators: expected --policy FILE\n");
    assert_fails("study pairs --pairs 8 --pairs 7", 2,
                 "facet study pairs: --pairs: expected a whole number from 9 to 256, found '7'\n");
    assert_fails("study pairs --method theirs", 2,
                 "facet study pairs: no loss 'theirs': ours, paper\n");
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
        cmocka_unit_test(wrong_words_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
