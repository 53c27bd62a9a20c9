// A router over the networks of a knet: the networks stay, the weights are learned on training
// tasks, and what cannot have one is refused.
#include "policy/parts.h"
#include "policy/policies.h"
#include "policy/waves.h"
#include "pools.h"
#include "scratch.h"

static void make_base(void)
{
    FacetTrainSummary summary;
    FacetTrainOptions options = tiny_training();
    options.method = FACET_POLICY_KNET;
    options.epochs = 300;
    options.rate = 5e-3;
    options.hold_out = (const char *const[]){"b/m"};
    options.hold_out_count = 1;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(facet_policy_train(&summary, "waves.h5", "base", &options, test_pool(2), NULL));
}

static FacetTrainOptions a_router(void)
{
    return (FacetTrainOptions){.router_from = "base",
                               .updates = 300,
                               .batch = 16,
                               .rate = 0.02,
                               .seed = 3,
                               .command = "facet train --router-from base",
                               .version = "0"};
}

static void only_the_router_is_learned(void **state)
{
    (void)state;
    FacetTrainSummary summary, none;
    FacetPolicy *base, *routed;
    make_base();
    FacetTrainOptions options = a_router();
    assert_ok(
        facet_policy_train_router(&summary, "waves.h5", "routed", &options, test_pool(2), NULL));
    assert_int_equal(summary.demos, (WAVE_TASKS - 1) * WAVE_COPIES);
    assert_int_equal(summary.tasks, WAVE_TASKS - 1);
    assert_int_equal(summary.updates, 300);
    assert_non_null(strstr(summary.remarks, "4 demonstrations of tasks held out were not used"));
    // One that learns nothing has equal weights, and a larger error.
    options.rate = 1e-12;
    assert_ok(facet_policy_train_router(&none, "waves.h5", "equal", &options, NULL, NULL));
    assert_less(summary.loss, 0.8 * none.loss);
    assert_ok(facet_policy_load(&base, "base"));
    assert_ok(facet_policy_load(&routed, "routed"));
    assert_null(policy_router_record(base));
    assert_int_equal(routed->networks, base->networks);
    for (int i = 0; i < base->networks; i++)
        assert_memory_equal(base->params[i], routed->params[i],
                            base->net->table.size * sizeof(float));
    const PolicyRouterRecord *record = policy_router_record(routed);
    assert_non_null(record);
    assert_int_equal(record->updates, 300);
    assert_int_equal(record->batch, 16);
    assert_true(record->seed == 3);
    assert_near(record->loss, summary.loss, 0.0);
    assert_string_equal(record->command, "facet train --router-from base");
    assert_string_equal(routed->record.command, base->record.command);
    assert_int_equal(policy_router_parameters(routed), summary.parameters);
    facet_policy_destroy(base);
    facet_policy_destroy(routed);
}

static void its_plans_are_its_own(void **state)
{
    (void)state;
    FacetTrainSummary summary;
    FacetPolicy *base, *routed;
    double before[WAVE_T * WAVE_D], after[WAVE_T * WAVE_D];
    make_base();
    FacetTrainOptions options = a_router();
    assert_ok(facet_policy_train_router(&summary, "waves.h5", "routed", &options, NULL, NULL));
    assert_ok(facet_policy_load(&base, "base"));
    assert_ok(facet_policy_load(&routed, "routed"));
    const FacetFactorTask task = task_of(base->space, "b/m");
    FacetPolicySampling how = {.steps = 10};
    assert_ok(facet_policy_sample(before, base, &task, 1, &how, NULL));
    assert_ok(facet_policy_sample(after, routed, &task, 1, &how, NULL));
    assert_memory_equal(before, after, sizeof before);
    how.mode = FACET_POLICY_ROUTER;
    assert_ok(facet_policy_sample(after, routed, &task, 1, &how, NULL));
    assert_true(memcmp(before, after, sizeof before) != 0);
    assert_refused(facet_policy_sample(after, base, &task, 1, &how, NULL),
                   "no router mode: the policy has no router");
    facet_policy_destroy(base);
    facet_policy_destroy(routed);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    FacetTrainSummary summary;
    make_base();
    FacetTrainOptions options = a_router();
    options.updates = 20;
    assert_ok(facet_policy_train_router(&summary, "waves.h5", "one", &options, NULL, NULL));
    assert_ok(facet_policy_train_router(&summary, "waves.h5", "two", &options, test_pool(2), NULL));
    assert_same_files("one", "two");
    // A router is learned anew, not on top of another.
    options.router_from = "one";
    assert_ok(facet_policy_train_router(&summary, "waves.h5", "again", &options, NULL, NULL));
    assert_same_files("one", "again");
}

static void assert_not_learned(FacetTrainOptions options, const char *data, const char *words)
{
    FacetTrainSummary summary;
    assert_refused(facet_policy_train_router(&summary, data, "none", &options, NULL, NULL), words);
    assert_int_not_equal(access("none", F_OK), 0);
}

static void what_cannot_have_a_router_is_refused(void **state)
{
    (void)state;
    FacetTrainSummary summary;
    make_base();
    FacetTrainOptions options = a_router(), factored = tiny_training();
    assert_ok(facet_policy_train(&summary, "waves.h5", "factored", &factored, NULL, NULL));
    options.router_from = "factored";
    assert_not_learned(options, "waves.h5",
                       "factored: router: expected the networks of a knet, found the method "
                       "factored");
    options = a_router();
    write_waves("other.h5", WAVE_TASKS, true);
    assert_not_learned(options, "other.h5",
                       "other.h5: expected the demonstrations that the networks were trained on "
                       "(waves.h5, ");
    options.hold_out = (const char *const[]){"a/m"};
    options.hold_out_count = 1;
    assert_not_learned(options, "waves.h5", "a router is learned over the networks as they are");
    options = a_router();
    options.batch = 5000;
    assert_not_learned(options, "waves.h5", "expected a batch of at most 1024");
    options = a_router();
    options.router_from = "nowhere";
    assert_not_learned(options, "waves.h5", "nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(only_the_router_is_learned, scratch_clean),
        cmocka_unit_test_teardown(its_plans_are_its_own, scratch_clean),
        cmocka_unit_test_teardown(threads_change_no_byte, scratch_clean),
        cmocka_unit_test_teardown(what_cannot_have_a_router_is_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
