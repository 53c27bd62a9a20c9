// Statistics of actions over all demos and over chosen ones.
#include "data/dataset.h"
#include "factor/factor.h"
#include "testing.h"

enum { DEMOS = 4, STEPS = 2, DIM = 2 };

// Channel 0 is a few round numbers; channel 1 sits on a large offset, where a one-pass variance
// loses every digit.
static double actions[DEMOS][STEPS][DIM] = {
    {{1.0, 1e9 + 1.0}, {2.0, 1e9 - 1.0}},
    {{3.0, 1e9 + 1.0}, {4.0, 1e9 - 1.0}},
    {{-5.0, 1e9 + 1.0}, {6.0, 1e9 - 1.0}},
    {{7.0, 1e9 + 1.0}, {8.0, 1e9 - 1.0}},
};
static FacetFactorTask tasks[DEMOS];

static int make_dataset(void **state)
{
    static int64_t starts[DEMOS + 1];
    static FacetDataset dataset = {.demos = DEMOS, .steps = STEPS, .action_dim = DIM};
    for (int demo = 0; demo <= DEMOS; demo++) starts[demo] = (int64_t)demo * STEPS;
    dataset.starts = starts;
    dataset.rows = starts[DEMOS];
    dataset.actions = actions[0][0];
    dataset.tasks = tasks;
    assert_ok(factor_space_from_json(&dataset.space, "{\"a\":[\"x\",\"y\"],\"b\":[\"x\",\"y\"]}",
                                     "sample"));
    for (int demo = 0; demo < DEMOS; demo++) tasks[demo] = factor_task_at(dataset.space, demo);
    *state = &dataset;
    return 0;
}

static int free_dataset(void **state)
{
    facet_factor_space_destroy(((FacetDataset *)*state)->space);
    return 0;
}

static void all_demos_count(void **state)
{
    FacetChannelStats stats[DIM];
    assert_ok(facet_dataset_stats(stats, *state, NULL));
    assert_true(stats[0].min == -5.0);
    assert_true(stats[0].max == 8.0);
    assert_near(stats[0].mean, 26.0 / 8.0, 1e-15);
    assert_near(stats[0].std, sqrt(204.0 / 8.0 - 3.25 * 3.25), 1e-14);
    assert_true(stats[1].min == 1e9 - 1.0);
    assert_true(stats[1].max == 1e9 + 1.0);
    assert_near(stats[1].mean, 1e9, 1e-6);
    assert_near(stats[1].std, 1.0, 1e-12);
}

static void a_mask_chooses_demos(void **state)
{
    const bool mask[DEMOS] = {true, false, false, true};
    FacetChannelStats stats[DIM];
    assert_ok(facet_dataset_stats(stats, *state, mask));
    assert_true(stats[0].min == 1.0);
    assert_true(stats[0].max == 8.0);
    assert_near(stats[0].mean, 4.5, 1e-15);
    assert_near(stats[0].std, sqrt((3.5 * 3.5 + 2.5 * 2.5) / 2.0), 1e-15);
    const bool none[DEMOS] = {false};
    assert_refused(facet_dataset_stats(stats, *state, none),
                   "expected at least one of 4 demos, found none chosen");
}

static void a_split_makes_both_masks(void **state)
{
    const FacetDataset *dataset = *state;
    FacetFactorSplit *split;
    assert_ok(factor_split_create(&split, dataset->space));
    assert_ok(factor_split_add(split, factor_task_at(dataset->space, 2)));
    bool held_out[DEMOS], training[DEMOS];
    assert_int_equal(facet_dataset_select(held_out, dataset, split, true), 1);
    assert_int_equal(facet_dataset_select(training, dataset, split, false), 3);
    for (int demo = 0; demo < DEMOS; demo++) {
        assert_int_equal(held_out[demo], demo == 2);
        assert_int_equal(training[demo], demo != 2);
    }
    factor_split_destroy(split);
}

static void the_normalizer_spans_the_chosen_demos(void **state)
{
    const bool mask[DEMOS] = {true, true, false, false};
    Normalizer *normalizer;
    assert_ok(dataset_normalizer(&normalizer, *state, mask));
    assert_int_equal(normalizer->dim, DIM);
    assert_true(normalizer->min[0] == 1.0);
    assert_true(normalizer->max[0] == 4.0);
    assert_true(normalizer->min[1] == 1e9 - 1.0);
    assert_true(normalizer->max[1] == 1e9 + 1.0);
    double out[STEPS * DIM];
    normalizer_apply(out, normalizer, facet_dataset_actions(*state, 0), STEPS);
    assert_near(out[0], -1.0, 0.0);
    assert_near(out[2], -1.0 / 3.0, 1e-15);
    normalizer_destroy(normalizer);

    const bool none[DEMOS] = {false};
    assert_refused(dataset_normalizer(&normalizer, *state, none), "found none chosen");
    assert_null(normalizer);
}

static void actions_that_never_change_are_refused(void **state)
{
    FacetDataset dataset = *(FacetDataset *)*state;
    double constant[STEPS * DIM] = {1.0, 4.0, 1.0, 4.0};
    dataset.actions = constant;
    dataset.demos = 1;
    Normalizer *normalizer;
    assert_refused(dataset_normalizer(&normalizer, &dataset, NULL),
                   "actions: expected numbers that change, found 2 constants");
    assert_null(normalizer);
    constant[2] = 2.0; // one that does is enough
    assert_ok(dataset_normalizer(&normalizer, &dataset, NULL));
    assert_int_equal(normalizer_constants(normalizer), 1);
    normalizer_destroy(normalizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_demos_count),
        cmocka_unit_test(a_mask_chooses_demos),
        cmocka_unit_test(a_split_makes_both_masks),
        cmocka_unit_test(the_normalizer_spans_the_chosen_demos),
        cmocka_unit_test(actions_that_never_change_are_refused),
    };
    return cmocka_run_group_tests(tests, make_dataset, free_dataset);
}
