// The budget of Theorem 2 on a small course: its terms add up and bound what is measured.
#include "certify/budget.h"
#include "policy/waves.h"
#include "pools.h"

#include <facet_study/train.h>

enum { STEPS = 5 };

static void the_terms_add_up_and_bound_what_is_measured(void **state)
{
    (void)state;
    FacetRace *race;
    FacetPolicy *policy;
    Budget budget;
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    demos.rollouts = 2;
    training.epochs = 1;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_ok(budget_measure(&budget, race, policy, STEPS, 3, NULL));
    assert_int_equal(budget.count, STEPS);
    assert_true(budget.tasks > 0);
    for (int set = 0; set < BUDGET_SETS; set++)
        for (int k = 0; k < STEPS; k++) {
            const BudgetLevel *level = &budget.levels[set][k];
            assert_true(level->sigma > 0.0 && level->sigma <= 1.0);
            assert_near(level->total, level->interaction + 3.0 * level->eta, 1e-9 * level->total);
            assert_true(level->eta > 0.0); // a policy of one epoch knows little
            assert_true(level->gap <= level->interaction + 1e-9);
            assert_true(level->measured <= level->total * (1.0 + 1e-6));
        }
    budget_free(&budget);
    facet_policy_destroy(policy);
    facet_race_close(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_terms_add_up_and_bound_what_is_measured, scratch_enter,
                                        scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
