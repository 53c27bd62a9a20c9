// facet study leave-one-out on a small course and tiny networks: what it trains, what it looks at,
// and going on where it stopped.
#include "base/json.h"
#include "program/program.h"
#include "scratch.h"

#define STUDY                                                                                      \
    "study leave-one-out --courses " TEST_SOURCE "/tests/race/pairs --quiet --epochs 1 "           \
    "--blocks 1 --channels 16 --steps 4 --plans 2 --out study"

static double number_of(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -INFINITY, INFINITY));
    return value;
}

static int length_of(const JsonRef *object, const char *key)
{
    JsonRef list;
    int length;
    assert_ok(json_member(&list, object, key));
    assert_ok(json_length(&length, &list));
    return length;
}

static JsonRef element_of(const JsonRef *object, const char *key, int index)
{
    JsonRef list, out;
    assert_ok(json_member(&list, object, key));
    assert_ok(json_element(&out, &list, index));
    return out;
}

// Four of the five training pairs can be left out; a fifth network learns all.
static void each_pair_is_left_out_in_turn(void **state)
{
    (void)state;
    Run first = run(STUDY " --json first.json");
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    assert_int_equal(count_steps(first.out), 6); // demonstrations and five trainings
    assert_non_null(strstr(first.out, "--hold-out course"));
    assert_non_null(strstr(first.out, "--hold-out bend/small"));
    assert_null(strstr(first.out, "--hold-out straight/middle"));
    assert_int_equal(access("study/w3-without-straight-large.safetensors", R_OK), 0);
    Json *document;
    assert_ok(json_read(&document, "first.json"));
    JsonRef root = json_root(document, "first.json"), recipe = element_of(&root, "recipes", 0);
    assert_int_equal(length_of(&root, "kept"), 1);
    assert_int_equal(length_of(&recipe, "pairs"), 4);
    assert_false(json_has(&recipe, "check")); // it did not look
    JsonRef bound = element_of(&recipe, "bounds", 0);
    assert_near(number_of(&bound, "confidence"), 0.8, 1e-12); // four pairs: alpha is 1/5
    double most = 0.0;
    for (int i = 0; i < 4; i++) {
        JsonRef pair = element_of(&recipe, "pairs", i);
        assert_true(number_of(&pair, "mean_m") <= number_of(&pair, "largest_m"));
        assert_true(number_of(&pair, "joint_apart_m") > 0.0);
        most = fmax(most, number_of(&pair, "largest_m"));
    }
    assert_near(number_of(&bound, "largest_m"), most, 0.0);
    json_free(document);
}

// What is missing is trained again, another recipe is trained beside it, and the check looks.
static void it_goes_on_and_checks_once_asked(void **state)
{
    (void)state;
    assert_int_equal(unlink("study/w3-without-bend-small.safetensors"), 0);
    Run again = run(STUDY " --json again.json");
    assert_int_equal(again.code, 0);
    assert_int_equal(count_steps(again.out), 1);
    Run same = run("study leave-one-out --help");
    assert_non_null(strstr(same.out, "--check"));
    Run more = run(STUDY " --composed-loss 3 --composed-loss 3,1 --check --json more.json");
    assert_string_equal(more.err, "");
    assert_int_equal(count_steps(more.out), 5); // the second recipe's
    assert_non_null(strstr(more.out, " --composed-loss 3 --agreement 1 "));
    Json *one, *two, *all;
    assert_ok(json_read(&one, "first.json"));
    assert_ok(json_read(&two, "again.json"));
    assert_ok(json_read(&all, "more.json"));
    char *before = json_line(one), *after = json_line(two);
    assert_string_equal(before, after);
    JsonRef root = json_root(all, "more.json"), recipe = element_of(&root, "recipes", 1);
    assert_near(number_of(&recipe, "composed_loss"), 3.0, 0.0);
    assert_near(number_of(&recipe, "agreement"), 1.0, 0.0);
    assert_int_equal(access("study/w3-a1-all.safetensors", R_OK), 0);
    assert_int_equal(length_of(&recipe, "check"), 1);
    JsonRef pair = element_of(&recipe, "check", 0), bound = element_of(&recipe, "bounds", 0);
    bool within;
    assert_ok(json_member_bool(&within, &pair, "within"));
    assert_true(within == (number_of(&pair, "largest_m") <= number_of(&bound, "largest_m")));
    // Jackknife+ adds to each error how far the plans of the two networks are apart.
    assert_true(number_of(&pair, "jackknife_m") >= number_of(&bound, "largest_m"));
    free(before);
    free(after);
    json_free(one);
    json_free(two);
    json_free(all);
}

static void what_means_nothing_is_refused(void **state)
{
    (void)state;
    assert_fails("study", 2,
                 "facet study: expected a study: leave-one-out, pairs, operators or mechanism\n");
    assert_fails("study leave-one-in", 2,
                 "facet study: no study 'leave-one-in', did you mean 'leave-one-out'? known: "
                 "leave-one-out, pairs, operators, mechanism\n");
    assert_fails("study leave-one-out --composed-loss x", 2,
                 "facet study leave-one-out: --composed-loss: expected a number from 0 to 1e6, or "
                 "two with a comma between them, found 'x'\n");
    assert_fails("study leave-one-out --composed-loss 3,", 2,
                 "facet study leave-one-out: --composed-loss: expected a number from 0 to 1e6, or "
                 "two with a comma between them, found '3,'\n");
    assert_fails("study leave-one-out --composed-loss 0,1", 2,
                 "facet study leave-one-out: --composed-loss: expected an agreement beside a "
                 "composed loss above 0, found '0,1'\n");
    assert_fails("study leave-one-out --composed-loss 3 --composed-loss 3.0", 2,
                 "facet study leave-one-out: --composed-loss: expected 3 once, found it again\n");
    assert_fails("study leave-one-out --composed-loss 3,1 --composed-loss 3 --composed-loss 3,1", 2,
                 "facet study leave-one-out: --composed-loss: expected 3,1 once, found it again\n");
    assert_fails(STUDY " --seed 7", 1,
                 "facet study leave-one-out: study/settings.json: expected a folder of this study, "
                 "with seed 7, found one with seed 1: other settings need another folder\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_is_left_out_in_turn),
        cmocka_unit_test(it_goes_on_and_checks_once_asked),
        cmocka_unit_test(what_means_nothing_is_refused),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
