// Which tasks a sum over factors is determined for.
#include "factor/factor.h"
#include "testing.h"
#include "train/links.h"

#include <string.h>

static FacetFactorSplit *split_of(const FacetFactorSpace *space, const char *const *tasks)
{
    FacetFactorSplit *split;
    assert_ok(factor_split_create(&split, space));
    for (int i = 0; tasks[i]; i++) {
        FacetFactorTask task;
        assert_ok(facet_factor_task_parse(&task, space, tasks[i], FACET_FACTOR_MISSING_REFUSED));
        assert_ok(factor_split_add(split, task));
    }
    return split;
}

// Whether the training tasks determine the one asked for.
static bool linked(const char *space_text, const char *asked, const char *const *training)
{
    FacetFactorSpace *space;
    bool found;
    assert_ok(factor_space_from_json(&space, space_text, "test"));
    FacetFactorSplit *one = split_of(space, (const char *const[]){asked, NULL});
    FacetFactorSplit *all = split_of(space, training);
    assert_ok(links_find(&found, one, all));
    factor_split_destroy(one);
    factor_split_destroy(all);
    facet_factor_space_destroy(space);
    return found;
}

#define TASKS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char two[] = "{\"track\":[\"a\",\"b\",\"c\"],\"size\":[\"s\",\"m\",\"l\"]}";

static void two_factors_are_linked_by_a_chain(void **state)
{
    (void)state;
    assert_true(linked(two, "a/s", TASKS("a/s")));
    assert_true(linked(two, "b/m", TASKS("a/s", "a/m", "b/s")));
    // The chain may be long: b - m - c - l - a.
    assert_true(linked(two, "b/s", TASKS("b/m", "c/m", "c/l", "a/l", "a/s")));
}

static void every_value_seen_is_not_enough(void **state)
{
    (void)state;
    assert_false(linked(two, "a/m", TASKS("a/s", "b/m")));
    assert_false(linked(two, "a/m", TASKS("a/s", "b/m", "c/l")));
    assert_false(linked(two, "c/s", TASKS("a/s", "a/m", "b/s", "b/m", "c/l")));
    // Within what is linked it is determined all the same.
    assert_true(linked(two, "b/m", TASKS("a/s", "a/m", "b/s", "c/l")));
}

static void three_factors_need_more_than_a_chain(void **state)
{
    (void)state;
    static const char three[] = "{\"x\":[\"0\",\"1\"],\"y\":[\"0\",\"1\"],\"z\":[\"0\",\"1\"]}";
    assert_true(linked(three, "1/1/1", TASKS("0/0/0", "1/0/0", "0/1/0", "0/0/1")));
    // Two effects that always come together cannot be told apart.
    assert_false(linked(three, "1/0/0", TASKS("0/0/0", "1/1/0", "0/0/1", "1/1/1")));
    assert_true(linked(three, "1/1/1", TASKS("0/0/0", "1/1/0", "0/0/1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_factors_are_linked_by_a_chain),
        cmocka_unit_test(every_value_seen_is_not_enough),
        cmocka_unit_test(three_factors_need_more_than_a_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
