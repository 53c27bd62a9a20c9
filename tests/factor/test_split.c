// Splits: a set of held-out tasks.
#include "spaces.h"

static void a_split_is_a_set(void **state)
{
    (void)state;
    FactorSpace *space = race_space();
    FactorSplit *split;
    assert_ok(factor_split_create(&split, space));
    assert_int_equal(factor_split_count(split), 0);
    assert_false(factor_split_contains(split, factor_task_at(space, 0)));

    const int order[] = {7, 0, 11, 7, 3, 0};
    for (int i = 0; i < 6; i++) assert_ok(factor_split_add(split, factor_task_at(space, order[i])));
    assert_int_equal(factor_split_count(split), 4);
    for (int number = 0; number < 12; number++)
        assert_int_equal(factor_split_contains(split, factor_task_at(space, number)),
                         number == 0 || number == 3 || number == 7 || number == 11);

    const int sorted[] = {0, 3, 7, 11};
    for (int i = 0; i < 4; i++)
        assert_int_equal(factor_task_index(space, factor_split_task(split, i)), sorted[i]);
    factor_split_destroy(split);
    factor_space_destroy(space);
}

static void a_split_grows_to_the_whole_space(void **state)
{
    (void)state;
    FactorSpace *space = race_space();
    char name[16];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "extra%d", i);
        assert_ok(factor_space_add_value(space, 0, name));
    }
    FactorSplit *split;
    assert_ok(factor_split_create(&split, space));
    int64_t tasks = factor_task_count(space);
    // A stride without a common divisor visits every task once, out of order.
    for (int64_t i = 0; i < tasks; i++)
        assert_ok(factor_split_add(split, factor_task_at(space, i * 601 % tasks)));
    assert_int_equal(factor_split_count(split), tasks);
    for (int64_t i = 0; i < tasks; i++)
        assert_int_equal(factor_task_index(space, factor_split_task(split, (int)i)), i);
    factor_split_destroy(split);
    factor_space_destroy(space);
}

static void a_split_keeps_its_own_space(void **state)
{
    (void)state;
    FactorSpace *space = race_space(), *before;
    FactorSplit *split;
    assert_ok(factor_space_copy(&before, space));
    assert_ok(factor_split_create(&split, space));
    FactorTask task = factor_task_at(space, 5);
    assert_ok(factor_split_add(split, task));
    assert_ok(factor_space_add_value(space, 1, "huge")); // renumbers the tasks of `space`
    assert_true(factor_split_contains(split, task));
    assert_true(factor_space_equal(factor_split_space(split), before));
    factor_space_destroy(space);
    assert_true(factor_task_equal(factor_split_task(split, 0), task));
    factor_split_destroy(split);
    factor_split_destroy(NULL);
    factor_space_destroy(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_split_is_a_set),
        cmocka_unit_test(a_split_grows_to_the_whole_space),
        cmocka_unit_test(a_split_keeps_its_own_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
