// Splits: a set of held-out tasks.
#include "spaces.h"

static void a_split_is_a_set(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    FacetFactorSplit *split;
    assert_ok(factor_split_create(&split, space));
    assert_int_equal(facet_factor_split_count(split), 0);
    assert_false(facet_factor_split_contains(split, factor_task_at(space, 0)));

    const int order[] = {7, 0, 11, 7, 3, 0};
    for (int i = 0; i < 6; i++) assert_ok(factor_split_add(split, factor_task_at(space, order[i])));
    assert_int_equal(facet_factor_split_count(split), 4);
    for (int number = 0; number < 12; number++)
        assert_int_equal(facet_factor_split_contains(split, factor_task_at(space, number)),
                         number == 0 || number == 3 || number == 7 || number == 11);

    const int sorted[] = {0, 3, 7, 11};
    for (int i = 0; i < 4; i++)
        assert_int_equal(factor_task_index(space, facet_factor_split_task(split, i)), sorted[i]);
    factor_split_destroy(split);
    facet_factor_space_destroy(space);
}

static void a_split_grows_to_the_whole_space(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    char name[16];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "extra%d", i);
        assert_ok(factor_space_add_value(space, 0, name));
    }
    FacetFactorSplit *split;
    assert_ok(factor_split_create(&split, space));
    int64_t tasks = factor_task_count(space);
    // A stride without a common divisor visits every task once, out of order.
    for (int64_t i = 0; i < tasks; i++)
        assert_ok(factor_split_add(split, factor_task_at(space, i * 601 % tasks)));
    assert_int_equal(facet_factor_split_count(split), tasks);
    for (int64_t i = 0; i < tasks; i++)
        assert_int_equal(factor_task_index(space, facet_factor_split_task(split, (int)i)), i);
    factor_split_destroy(split);
    facet_factor_space_destroy(space);
}

static void a_split_keeps_its_own_space(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space(), *before;
    FacetFactorSplit *split;
    assert_ok(factor_space_copy(&before, space));
    assert_ok(factor_split_create(&split, space));
    FacetFactorTask task = factor_task_at(space, 5);
    assert_ok(factor_split_add(split, task));
    assert_ok(factor_space_add_value(space, 1, "huge")); // renumbers the tasks of `space`
    assert_true(facet_factor_split_contains(split, task));
    assert_true(factor_space_equal(factor_split_space(split), before));
    facet_factor_space_destroy(space);
    assert_true(factor_task_equal(facet_factor_split_task(split, 0), task));
    factor_split_destroy(split);
    factor_split_destroy(NULL);
    facet_factor_space_destroy(before);
}

static int matching(const FacetFactorSpace *space, const char *pattern)
{
    FacetFactorSplit *split;
    FacetFactorTask open;
    assert_ok(factor_split_create(&split, space));
    assert_ok(facet_factor_task_parse(&open, space, pattern, FACET_FACTOR_MISSING_NULL));
    assert_ok(factor_split_add_matching(split, open));
    for (int64_t i = 0; i < factor_task_count(space); i++) {
        FacetFactorTask task = factor_task_at(space, i);
        bool match = true;
        for (int f = 0; f < facet_factor_count(space); f++)
            match = match && (open.value[f] == FACET_FACTOR_NULL || open.value[f] == task.value[f]);
        assert_int_equal(facet_factor_split_contains(split, task), match);
    }
    int count = facet_factor_split_count(split);
    factor_split_destroy(split);
    return count;
}

// A pattern stands for all tasks that agree with what it says.
static void patterns_add_every_task_that_matches(void **state)
{
    (void)state;
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(
        &space, "{\"venue\":[\"f\",\"i\",\"p\"],\"color\":[\"r\",\"w\"],\"side\":[\"+1\",\"-1\"]}",
        "test"));
    assert_int_equal(matching(space, "venue=p"), 4);
    assert_int_equal(matching(space, "side=-1"), 6);
    assert_int_equal(matching(space, "color=w,side=+1"), 3);
    assert_int_equal(matching(space, "i/w/-1"), 1);
    assert_int_equal(matching(space, "*/r/*"), 6);
    assert_int_equal(matching(space, "*/*/*"), 12);

    // Patterns that overlap hold no task twice.
    FacetFactorSplit *split;
    FacetFactorTask open;
    assert_ok(factor_split_create(&split, space));
    for (int i = 0; i < 4; i++) {
        static const char *const patterns[] = {"side=-1", "venue=p", "p/w/+1", "venue=p"};
        assert_ok(facet_factor_task_parse(&open, space, patterns[i], FACET_FACTOR_MISSING_NULL));
        assert_ok(factor_split_add_matching(split, open));
    }
    assert_int_equal(facet_factor_split_count(split), 6 + 4 - 2);
    factor_split_destroy(split);
    facet_factor_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_is_a_set),
        cmocka_unit_test(a_split_grows_to_the_whole_space),
        cmocka_unit_test(a_split_keeps_its_own_space),
        cmocka_unit_test(patterns_add_every_task_that_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
