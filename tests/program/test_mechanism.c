// facet study mechanism on a small course and tiny networks: its cells, its summary, and going on.
#include "base/file.h"
#include "base/json.h"
#include "pools.h"
#include "program/program.h"
#include "race/leave_one_out.h"
#include "scratch.h"

#include <facet/policy.h>

#define MECHANISM                                                                                  \
    "study mechanism --out m --folds 2 --variant default --variant whole --updates 2 --channels "  \
    "16 --steps 2 --plans 1 --quiet --courses " TEST_SOURCE "/tests/race/pairs "

// The row of a variant and a loss in the summary, NULL in `node` when there is none.
static JsonRef variant_of(const Json *document, const char *variant, double loss)
{
    JsonRef list, row = {0}, root = json_root(document, "mechanism.json");
    assert_ok(json_member(&list, &root, "variants"));
    while (json_next(&row, &list)) {
        char name[32];
        double weight;
        assert_ok(json_member_string(name, sizeof name, &row, "variant"));
        assert_ok(json_member_number(&weight, &row, "composed_loss", 0.0, 1e6));
        if (strcmp(name, variant) == 0 && weight == loss) return row;
    }
    return (JsonRef){0};
}

static double number_at(const JsonRef *row, const char *group, const char *mode, const char *key)
{
    JsonRef within = *row;
    double value;
    if (group) assert_ok(json_member(&within, row, group));
    JsonRef deeper = within;
    if (mode) assert_ok(json_member(&deeper, &within, mode));
    assert_ok(json_member_number(&value, &deeper, key, 0.0, 1e9));
    return value;
}

// The sizes of the bend alone have references that differ, and each fold leaves one of them out.
static void check_share(const JsonRef *row, const char *variant, int loss, const char *mode)
{
    double shown = 0.0, wanted = 0.0, of;
    for (int fold = 1; fold <= 2; fold++) {
        char path[64];
        double planned[2], reference[2];
        Json *document;
        JsonRef pairs, pair, at;
        snprintf(path, sizeof path, "m/%s-w%d-%d.json", variant, loss, fold);
        assert_ok(json_read(&document, path));
        JsonRef root = json_root(document, path);
        assert_ok(json_member(&pairs, &root, "pairs"));
        for (int i = 0; i < 2; i++) { // bend/small and bend/large come first
            assert_ok(json_element(&pair, &pairs, i));
            assert_ok(json_member(&at, &pair, mode));
            assert_ok(json_member_number(&planned[i], &at, "speed_generated", 1e-3, 1e3));
            assert_ok(json_member_number(&reference[i], &pair, "speed_reference", 1e-3, 1e3));
        }
        json_free(document);
        // Of a network that learned nothing: plans are alike, in m/s, whatever the references.
        assert_true(fabs(log(planned[0] / planned[1])) < 0.1);
        double log_of_references = log(reference[0] / reference[1]);
        shown += log(planned[0] / planned[1]) * log_of_references;
        wanted += log_of_references * log_of_references;
    }
    JsonRef shares, share;
    assert_ok(json_member(&shares, row, "speed_share"));
    assert_ok(json_member(&share, &shares, mode));
    assert_ok(json_member_number(&of, &share, "left_out", -1e3, 1e3));
    assert_near(of, shown / wanted, 1e-9);
    assert_false(json_member_number(&of, &share, "learned", -1e3, 1e3).ok);
}

// The gates of a row's training pairs are those of its cells.
static void check_gates(const JsonRef *row, const char *mode)
{
    double passed = 0.0, crossings = 0.0;
    for (int f = 1; f <= 2; f++) {
        char path[64];
        Json *cell;
        JsonRef pairs, pair = {0};
        snprintf(path, sizeof path, "m/default-w0-%d.json", f);
        assert_ok(json_read(&cell, path));
        JsonRef root = json_root(cell, path);
        assert_ok(json_member(&pairs, &root, "pairs"));
        while (json_next(&pair, &pairs)) {
            bool left_out;
            assert_ok(json_member_bool(&left_out, &pair, "left_out"));
            passed += left_out ? 0.0 : number_at(&pair, mode, NULL, "passed");
            crossings += left_out ? 0.0 : number_at(&pair, mode, NULL, "crossings");
        }
        json_free(cell);
    }
    assert_true(passed > 0.0);
    assert_near(number_at(row, "training", mode, "passed"), passed, 0.0);
    assert_near(number_at(row, "training", mode, "crossings"), crossings, 0.0);
    assert_near(number_at(row, "training", mode, "share"), passed / crossings, 1e-15);
}

// What a cell says of its first pair in each mode is what its policy does in that mode.
static void check_modes(void)
{
    static const struct {
        const char *key;
        FacetPolicyMode mode;
    } ways[] = {{"composed", FACET_POLICY_COMPOSED}, {"joint", FACET_POLICY_JOINT}};
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/pairs", .preset = "race"};
    FacetRace *race;
    FacetPolicy *policy;
    Json *cell;
    JsonRef pairs, pair;
    TrainingPair training[16];
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
    assert_ok(facet_race_open(&race, &options, test_pool(1), NULL));
    assert_true(facet_race_task_max(race) <= 16);
    training_pairs(training, race);
    assert_ok(facet_policy_load(&policy, "m/default-w0-1.safetensors"));
    assert_ok(json_read(&cell, "m/default-w0-1.json"));
    JsonRef root = json_root(cell, "cell");
    assert_ok(json_member(&pairs, &root, "pairs"));
    assert_ok(json_element(&pair, &pairs, 0));
    for (int m = 0; m < 2; m++) {
        const FacetPolicySampling how = {.mode = ways[m].mode, .steps = 2};
        PairPlans plans = {&training[0].task, 1, 1, 1, plan};
        PairResult result;
        assert_ok(pairs_plan(&plans, race, policy, &how, NULL));
        assert_ok(pairs_measure(&result, race, &plans, NULL));
        assert_near(number_at(&pair, ways[m].key, NULL, "error_m"), result.error, 1e-9);
        assert_near(number_at(&pair, ways[m].key, NULL, "speed_generated"),
                    result.speed * facet_race_reference_speed(race, training[0].task), 1e-9);
    }
    assert_true(number_at(&pair, "composed", NULL, "error_m") !=
                number_at(&pair, "joint", NULL, "error_m"));
    json_free(cell);
    facet_policy_destroy(policy);
    facet_race_close(race);
}

// Each of two folds can leave out one of the five training pairs; without another nothing would
// link the values. What the course holds out is neither learned nor planned.
static void networks_are_compared_on_pairs_left_out(void **state)
{
    (void)state;
    Run first = run(MECHANISM);
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    assert_int_equal(count_steps(first.out), 1 + 2 * 2 * 2); // demonstrations, and the trainings
    assert_non_null(strstr(first.out, "8 cells; training those that are missing takes about"));
    assert_non_null(strstr(first.out, "--dilation 1,2,4,8 --hold-out course"));
    assert_non_null(strstr(first.out, "8 of 8 cells done"));
    assert_null(strstr(first.out, "that no chain of training tasks links"));
    const char *table = strstr(first.out, "network  ");
    assert_non_null(table);
    assert_fits(table);
    Json *document;
    assert_ok(json_read(&document, "m/mechanism.json"));
    for (int i = 0; i < 4; i++) {
        JsonRef row = variant_of(document, i % 2 ? "whole" : "default", i / 2 ? 3.0 : 0.0);
        assert_non_null(row.node);
        assert_near(number_at(&row, NULL, NULL, "folds"), 2.0, 0.0);
        assert_near(number_at(&row, NULL, NULL, "field"), i % 2 ? 65.0 : 21.0, 0.0);
        assert_near(number_at(&row, "left_out", "composed", "pairs"), 2.0, 0.0);
        assert_near(number_at(&row, "training", "joint", "pairs"), 8.0, 0.0);
        double error = number_at(&row, "left_out", "composed", "error_m");
        assert_true(error >= number_at(&row, "left_out", "composed", "least_m"));
        assert_true(error <= number_at(&row, "left_out", "composed", "most_m"));
        check_share(&row, i % 2 ? "whole" : "default", i / 2 ? 3 : 0, "composed");
        check_share(&row, i % 2 ? "whole" : "default", i / 2 ? 3 : 0, "joint");
        assert_near(number_at(&row, "left_out", "composed", "median_m"), error, 1e-12); // of two
    }
    JsonRef plain = variant_of(document, "default", 0.0), wide = variant_of(document, "whole", 0.0);
    assert_near(number_at(&plain, NULL, NULL, "parameters"),
                number_at(&wide, NULL, NULL, "parameters"), 0.0);
    assert_near(number_at(&wide, NULL, NULL, "seen"), 32.0, 0.0);
    check_gates(&plain, "composed");
    check_gates(&plain, "joint");
    check_modes();
    json_free(document);
    // What is there is not made again.
    assert_int_equal(unlink("m/whole-w0-2.json"), 0);
    Run again = run(MECHANISM);
    assert_int_equal(again.code, 0);
    assert_int_equal(count_steps(again.out), 0); // the policy is there
    assert_int_equal(access("m/whole-w0-2.json", R_OK), 0);
}

static void assert_of(const JsonRef *row, const char *variant)
{
    char of[16];
    assert_ok(json_member_string(of, sizeof of, row, "of"));
    assert_string_equal(of, variant);
}

// Of a network whose factors are never hidden, that and nothing else is said to facet train.
static void a_network_without_dropout_is_compared_with_them(void **state)
{
    (void)state;
    Run done = run("study mechanism --out d --folds 1 --variant default --variant drop-0 --variant "
                   "whole-drop-0 --variant unet --variant unet-drop-0 --composed-loss 0 --updates "
                   "2 --channels 16 --steps 2 --plans 1 "
                   "--quiet --courses " TEST_SOURCE "/tests/race/pairs");
    assert_string_equal(done.err, "");
    assert_int_equal(done.code, 0);
    assert_non_null(strstr(done.out, "--embed 32 --drop 0 --hold-out course"));
    assert_non_null(strstr(done.out, "--embed 32 --dilation 1,2,4,8 --drop 0 --hold-out course"));
    assert_non_null(strstr(done.out, "--embed 32 --hold-out course"));
    Json *document;
    assert_ok(json_read(&document, "d/mechanism.json"));
    JsonRef plain = variant_of(document, "default", 0.0),
            told = variant_of(document, "drop-0", 0.0);
    assert_near(number_at(&told, NULL, NULL, "seen"), number_at(&plain, NULL, NULL, "seen"), 0.0);
    JsonRef whole = variant_of(document, "whole-drop-0", 0.0);
    assert_near(number_at(&whole, NULL, NULL, "seen"), 32.0, 0.0);
    JsonRef unet = variant_of(document, "unet", 0.0),
            other = variant_of(document, "unet-drop-0", 0.0);
    // Beside which the figure draws them.
    assert_of(&told, "default");
    assert_of(&whole, "whole");
    assert_of(&other, "unet");
    assert_false(json_has(&plain, "of"));
    assert_true(number_at(&unet, "training", "joint", "error_m") !=
                number_at(&other, "training", "joint", "error_m"));
    char *policy;
    size_t size;
    assert_ok(file_read(&policy, &size, "d/unet-drop-0-w0-1.safetensors"));
    assert_non_null(strstr(policy + 8, "\"train_drop\":\"[0,0]\"")); // behind the header's length
    free(policy);
    json_free(document);
}

// The same pairs, measured the same, in two cells.
static void assert_same_pairs(const char *a, const char *b)
{
    char *texts[2], *pairs[2];
    size_t size;
    assert_ok(file_read(&texts[0], &size, a));
    assert_ok(file_read(&texts[1], &size, b));
    for (int i = 0; i < 2; i++) {
        pairs[i] = strstr(texts[i], "\"pairs\"");
        assert_non_null(pairs[i]);
        char *origin = strstr(pairs[i], "\"command\"");
        if (origin) *origin = '\0';
    }
    assert_string_equal(pairs[0], pairs[1]);
    free(texts[0]);
    free(texts[1]);
}

#define UNET                                                                                       \
    "study mechanism --out u --folds 2 --variant default --variant unet --composed-loss 3 "        \
    "--channels 16 --steps 2 --plans 1 --quiet --courses " TEST_SOURCE "/tests/race/pairs "

// The U-Net is no policy that facet train could make: only its demonstrations are a step here.
static void a_unet_is_compared_with_them(void **state)
{
    (void)state;
    Run first = run(UNET "--updates 2 --threads 1");
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    assert_int_equal(count_steps(first.out), 1 + 2);
    assert_non_null(strstr(first.out, "u/unet-w3-2.safetensors: U-Net of "));
    assert_non_null(strstr(first.out, "4 of 4 cells done"));
    Json *document;
    assert_ok(json_read(&document, "u/mechanism.json"));
    JsonRef row = variant_of(document, "unet", 3.0), plain = variant_of(document, "default", 3.0);
    char kind[16];
    assert_non_null(row.node);
    assert_ok(json_member_string(kind, sizeof kind, &row, "kind"));
    assert_string_equal(kind, "unet");
    assert_near(number_at(&row, NULL, NULL, "folds"), 2.0, 0.0);
    assert_near(number_at(&row, NULL, NULL, "seen"), 32.0, 0.0);
    assert_near(number_at(&row, NULL, NULL, "field"), 63.0, 0.0);
    assert_near(number_at(&row, NULL, NULL, "blocks"), 12.0, 0.0);
    assert_near(number_at(&row, "left_out", "composed", "pairs"), 2.0, 0.0);
    assert_near(number_at(&row, "training", "joint", "pairs"), 8.0, 0.0);
    assert_near(number_at(&row, "training", "joint", "crossings"),
                number_at(&plain, "training", "joint", "crossings"), 0.0);
    json_free(document);
    // The training is kept, and both it and its plans are the same on two threads.
    assert_int_equal(rename("u/unet-w3-1.json", "one.json"), 0);
    assert_int_equal(rename("u/unet-w3-2.json", "two.json"), 0);
    assert_int_equal(rename("u/unet-w3-2.safetensors", "two.safetensors"), 0);
    Run again = run(UNET "--updates 2 --threads 2");
    assert_int_equal(again.code, 0);
    assert_null(strstr(again.out, "u/unet-w3-1.safetensors: U-Net"));
    assert_non_null(strstr(again.out, "u/unet-w3-2.safetensors: U-Net"));
    assert_same_pairs("u/unet-w3-1.json", "one.json");
    assert_same_pairs("u/unet-w3-2.json", "two.json");
    // It is no policy, and one of another training is not taken for it.
    Run flown = run("fly --policy u/unet-w3-1.safetensors");
    assert_int_equal(flown.code, 1);
    assert_non_null(strstr(flown.err, "format: expected 'facet policy 1', found 'facet unet 1'"));
    assert_int_equal(unlink("u/unet-w3-1.json"), 0);
    assert_int_equal(rename("u/unet-w3-2.safetensors", "u/unet-w3-1.safetensors"), 0);
    Run other = run(UNET "--updates 2");
    assert_int_equal(other.code, 1);
    assert_non_null(strstr(other.err, "u/unet-w3-1.safetensors: expected the training_tasks of"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_are_compared_on_pairs_left_out),
        cmocka_unit_test(a_network_without_dropout_is_compared_with_them),
        cmocka_unit_test(a_unet_is_compared_with_them),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
