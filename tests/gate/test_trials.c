// Trials counted by venue and by split, and how well their pilots saw.
#include "gate/first_plan.h"
#include "gate/sight.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static void trials_are_counted_by_venue_and_split(void **state)
{
    (void)state;
    static const FacetGateEnd ends[] = {FACET_GATE_SUCCESS, FACET_GATE_CRASH, FACET_GATE_SUCCESS,
                                        FACET_GATE_TIMEOUT};
    GateTrials trials;
    assert_ok(gate_trials_create(&trials, 4));
    for (int i = 0; i < 4; i++) {
        FacetFactorTask task = {0};
        task.value[FACET_GATE_FACTOR_VENUE] = i / 2;
        gate_trials_add(&trials, task, i == 3);
        trials.flights[i].end = ends[i];
    }
    assert_int_equal(trials.count, 4);
    assert_int_equal(gate_trials_tally(&trials, -1, -1).ends[FACET_GATE_SUCCESS], 2);
    FacetGateTally first = gate_trials_tally(&trials, 0, -1);
    assert_int_equal(first.trials, 2);
    assert_int_equal(first.ends[FACET_GATE_CRASH], 1);
    assert_true(first.low[FACET_GATE_CRASH] < 0.5 && 0.5 < first.high[FACET_GATE_CRASH]);
    FacetGateTally unseen = gate_trials_tally(&trials, -1, 1);
    assert_int_equal(unseen.trials, 1);
    assert_int_equal(unseen.ends[FACET_GATE_TIMEOUT], 1);
    assert_int_equal(gate_trials_tally(&trials, 0, 1).trials, 0);
    gate_trials_free(&trials);
    assert_int_equal(trials.count, 0);
}

static void sights_are_summed_by_split(void **state)
{
    (void)state;
    GateTrials trials;
    GateSight sights[3] = {0};
    assert_ok(gate_trials_create(&trials, 3));
    for (int i = 0; i < 3; i++) {
        gate_trials_add(&trials, (FacetFactorTask){0}, i == 1);
        sights[i].frames[2] = i + 1;
        sights[i].along[2] = 0.5 * (i + 1);
    }
    GateSight training = sight_sum(sights, &trials, false);
    GateSight held_out = sight_sum(sights, &trials, true);
    assert_int_equal(training.frames[2], 4);
    assert_near(training.along[2], 2.0, 0.0);
    assert_int_equal(held_out.frames[2], 2);
    assert_int_equal(held_out.frames[0], 0);
    assert_true(isinf(sight_ends[SIGHT_BINS - 1]));
    gate_trials_free(&trials);
}

static int number_named(const char *key)
{
    for (int n = 0; n < FIRST_PLAN_NUMBERS; n++)
        if (strcmp(first_plan_keys[n], key) == 0) return n;
    fail_msg("no number '%s'", key);
    return -1;
}

static void numbers_of_first_plans_have_names(void **state)
{
    (void)state;
    FirstPlan plans[2] = {{.plan = {.ltv = {4.0, -1}, .eps_s = 0.5}, .error = 1.5},
                          {.plan = {.ltv = {4.0, 3}, .eps_s = 0.5}, .error = 2.5}};
    double numbers[FIRST_PLAN_NUMBERS];
    first_plan_numbers(numbers, &plans[0]);
    assert_near(numbers[number_named("ltv_bound")], 2.0, 0.0);
    assert_near(numbers[number_named("r_ss_default")], (0.05 * 2.0 + 0.01) / 0.1, 1e-12);
    assert_near(numbers[number_named("first_error_m")], 1.5, 0.0);
    Summary error = first_plans_summary(plans, 2, number_named("first_error_m"));
    assert_near(error.mean, 2.0, 0.0);
    Summary ltv = first_plans_summary(plans, 2, number_named("c_ltv")); // one is not finite
    assert_int_equal(ltv.count, 1);
    assert_near(ltv.most, 4.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_are_counted_by_venue_and_split),
        cmocka_unit_test(sights_are_summed_by_split),
        cmocka_unit_test(numbers_of_first_plans_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
