// The exact scores of a small course: its product, its interaction, and the plans they give beside
// those of a policy trained for a moment.
#include "certify/exact.h"
#include "policy/waves.h"
#include "pools.h"

#include <facet_study/train.h>

static FacetRace *race;
static FacetPolicy *policy;

static int open_study(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    static const char *const held_out[] = {"straight/large"};
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    demos.rollouts = 2;
    training.epochs = 1;
    training.hold_out = held_out;
    training.hold_out_count = 1;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    return 0;
}

static int close_study(void **state)
{
    facet_policy_destroy(policy);
    facet_race_close(race);
    return scratch_leave(state);
}

static bool see(void *context, const FacetProgressEvent *event)
{
    long *seen = context;
    seen[0] = event->done;
    seen[1] = event->total;
    return true;
}

static void the_product_of_the_course_obeys_the_theorem(void **state)
{
    (void)state;
    ExactProducts products;
    long seen[2] = {-1, -1};
    const FacetProgress progress = {.report = see, .context = seen};
    assert_ok(exact_products(&products, race, policy, 10, 3, &progress));
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 1);
    assert_int_equal(products.count, 1);
    const ExactProduct *product = &products.product[0];
    assert_string_equal(product->name, "2 tracks x {small, large}");
    assert_int_equal(product->tracks * product->openings, 4);
    const InteractionReport *report = &product->report;
    assert_int_equal(report->tasks, 4);
    assert_int_equal(report->states, 12);
    assert_int_equal(report->level_count, 10);
    assert_true(report->holds);
    assert_true(report->max_gap <= report->bound);
    assert_true(report->max_gap > 0.0);
    assert_true(report->points >= 120);
    for (int k = 1; k < 10; k++) assert_true(report->levels[k].sigma < report->levels[k - 1].sigma);
    exact_products_free(&products);
}

static void exact_plans_of_training_tasks_are_the_experts(void **state)
{
    (void)state;
    ExactPlan plans[4];
    int count, held_out = 0;
    assert_ok(exact_plans(plans, &count, race, policy, 20, 3, NULL));
    assert_int_equal(count, 4);
    for (int i = 0; i < count; i++) {
        held_out += plans[i].held_out;
        assert_true(isfinite(plans[i].network.position));
        assert_true(plans[i].network.position > 0.0);
        assert_less(plans[i].nearest_error.position,
                    0.05); // whatever it plans, it knows from there
        if (plans[i].held_out) continue;
        assert_less(plans[i].exact.position, 1e-3);
    }
    assert_int_equal(held_out, 1);
}

static void policies_without_one_network_for_factors_are_refused(void **state)
{
    (void)state;
    static const FacetPolicyMethod methods[] = {FACET_POLICY_KNET, FACET_POLICY_BASELINE};
    static const char *const words[] = {"found a knet policy", "found a baseline policy"};
    for (int i = 0; i < 2; i++) {
        FacetPolicy *other;
        ExactProducts products;
        ExactPlan plans[4];
        int count;
        FacetTrainOptions training = tiny_training();
        FacetTrainSummary summary;
        training.epochs = 1;
        training.method = methods[i];
        assert_ok(facet_policy_train(&summary, "demos.h5", "other", &training, NULL, NULL));
        assert_ok(facet_policy_load(&other, "other"));
        assert_refused(exact_products(&products, race, other, 5, 1, NULL), words[i]);
        assert_refused(exact_plans(plans, &count, race, other, 5, 1, NULL), words[i]);
        facet_policy_destroy(other);
    }
}

static void policies_of_other_chunks_are_refused(void **state)
{
    (void)state;
    FacetPolicy *waves;
    ExactProducts products;
    ExactPlan plans[4];
    int count;
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    training.epochs = 1;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(facet_policy_train(&summary, "waves.h5", "waves", &training, NULL, NULL));
    assert_ok(facet_policy_load(&waves, "waves"));
    assert_refused(exact_products(&products, race, waves, 5, 1, NULL),
                   "expected a policy with chunks of 32 x 4, found 6 x 2");
    assert_refused(exact_plans(plans, &count, race, waves, 5, 1, NULL),
                   "expected a policy with chunks of 32 x 4, found 6 x 2");
    facet_policy_destroy(waves);
}

// A course on which the only training task of a track has become infeasible.
static void values_without_a_feasible_training_task_are_refused(void **state)
{
    (void)state;
    ExactPlan plans[4];
    int count;
    FacetCourseTask task;
    assert_ok(facet_course_find_task(&task, race->course, "straight/small"));
    FacetSpeedCell *cell = &race->speeds.cells[task.track * race->speeds.openings + task.opening];
    cell->feasible = false;
    assert_refused(exact_plans(plans, &count, race, policy, 5, 1, NULL),
                   "no feasible training task has track 'straight'");
    cell->feasible = true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_product_of_the_course_obeys_the_theorem),
        cmocka_unit_test(exact_plans_of_training_tasks_are_the_experts),
        cmocka_unit_test(policies_without_one_network_for_factors_are_refused),
        cmocka_unit_test(policies_of_other_chunks_are_refused),
        cmocka_unit_test(values_without_a_feasible_training_task_are_refused),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
