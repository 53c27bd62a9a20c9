// The budget of Theorem 2 on a small course: its terms add up and bound what is measured.
#include "certify/budget.h"
#include "policy/parts.h"
#include "policy/waves.h"
#include "pools.h"

#include <facet_study/train.h>

enum { STEPS = 5, SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS };

// L_f of the first level by hand: its states are the noise of the tasks, and what each factor alone
// predicts there is compared with what every other value does.
static double change_by_hand(const FacetRace *race, const FacetPolicy *policy, int tasks, int f,
                             uint64_t seed)
{
    const SamplerConfig config = {.kind = SAMPLER_DDIM,
                                  .steps = STEPS,
                                  .spacing = policy->spacing,
                                  .prediction = policy->prediction,
                                  .clip = policy->clip};
    const FacetPolicySampling how = {.seed = seed};
    FacetCourseTask all[8];
    SamplerPlan plan;
    Sampler *sampler;
    float x[2 * SIZE], p[2 * SIZE];
    double most = 0.0;
    assert_ok(sampler_plan(&plan, &policy->schedule, config));
    assert_ok(sampler_create(&sampler, policy->net, 2, facet_pool_threads(race->pool)));
    sampler_load(sampler, policy->params[0], race->pool);
    double alpha_bar = plan.step[0].alpha_bar;
    Mix eps = prediction_to_epsilon(policy->prediction, alpha_bar);
    int feasible = facet_race_feasible_tasks(all, race), number = 0;
    for (int t = 0; t < feasible; t++) {
        FacetFactorTask task;
        if (facet_policy_holds_out(policy, race, all[t])) continue;
        assert_ok(facet_race_policy_task(&task, policy, race, all[t]));
        policy_noise(x, policy, &how, (uint64_t)number++);
        memcpy(x + SIZE, x, SIZE * sizeof *x);
        for (int v = 0; v < facet_factor_value_count(policy->space, f); v++) {
            int z[4] = {FACET_FACTOR_NULL, FACET_FACTOR_NULL, FACET_FACTOR_NULL, FACET_FACTOR_NULL};
            double square = 0.0;
            z[f] = task.value[f];
            z[2 + f] = v;
            sampler_predict(p, sampler, x, plan.step[0].t, COMPOSE_JOINT, NULL, z, NULL, 2,
                            race->pool);
            for (int j = 0; j < SIZE; j++) {
                double gap = eps.second * ((double)p[j] - (double)p[SIZE + j]);
                square += gap * gap;
            }
            most = fmax(most, sqrt(square));
        }
    }
    assert_int_equal(number, tasks);
    sampler_free(sampler);
    return most;
}

static bool count_ask(void *context, const FacetProgressEvent *event)
{
    (void)event;
    ++*(int *)context;
    return true;
}

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
    training.epochs = 60; // enough that the factors matter, and no more
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    int asked = 0;
    assert_ok(budget_measure(&budget, race, policy, STEPS, 3, &(FacetProgress){count_ask, &asked}));
    // Of each set: every level twice when its interaction is measured, and after its predictions.
    assert_true(asked >= BUDGET_SETS * 3 * STEPS + budget.tasks);
    assert_int_equal(budget.count, STEPS);
    assert_true(budget.tasks > 0);
    for (int set = 0; set < BUDGET_SETS; set++)
        for (int k = 0; k < STEPS; k++) {
            const BudgetLevel *level = &budget.levels[set][k];
            assert_true(level->sigma > 0.0 && level->sigma <= 1.0);
            assert_near(level->total, level->interaction + 3.0 * level->eta, 1e-9 * level->total);
            assert_true(level->eta > 0.0); // it knows little
            assert_true(level->gap <= level->interaction + 1e-9);
            assert_true(level->measured <= level->total * (1.0 + 1e-6));
            assert_near(level->changed, level->total + level->lipschitz[0] + level->lipschitz[1],
                        1e-9 * level->changed);
            for (int f = 0; f < BUDGET_FACTORS; f++) assert_true(level->lipschitz[f] > 0.0);
        }
    for (int set = 0; set < BUDGET_SETS; set++)
        for (int f = 0; f < BUDGET_FACTORS; f++) {
            double expected = change_by_hand(race, policy, budget.tasks, f, 3);
            assert_near(budget.levels[set][0].lipschitz[f], expected, 1e-4 * expected);
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
