// Weights of operators on the race: what is tried of each, how it is sampled with, the passes of a
// step that count, and which of them fly training tasks best.
#include "policy/policy.h"
#include "policy/waves.h"
#include "pools.h"
#include "race/operators.h"

#include <facet_study/train.h>

// Those of the operator itself; nothing but a learned one has a candidate without numbers.
static void candidates_are_the_operators_own(void **state)
{
    (void)state;
    for (int i = 0; i < FACET_POLICY_MODES; i++) {
        const FacetPolicyMode mode = (FacetPolicyMode)i;
        const ComposeOperator *operator= policy_mode_operator(mode);
        double found[COMPOSE_TRIED_MAX][2], own[COMPOSE_TRIED_MAX][2];
        if (!operator) continue;
        int count = operator_candidates(found, mode);
        assert_int_equal(count, operator->tried ? operator->tried(own) : 1);
        if (operator->tried) assert_memory_equal(found, own, (size_t)count * sizeof *own);
        for (int c = 0; c < count; c++) {
            const OperatorChoice choice = {.weights = {found[c][0], found[c][1]}};
            assert_int_equal(operator_weights(&choice) != NULL, operator->tried != NULL);
        }
    }
}

static void passes_are_those_that_count(void **state)
{
    (void)state;
    static const struct {
        double weights[2];
        int passes;
    } cases[] = {{{1.0, 1.0}, 3}, {{0.4, 0.6}, 2}, {{1.0, 0.0}, 1},
                 {{0.4, 0.0}, 2}, {{0.0, 0.0}, 1}, {{NAN, NAN}, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const OperatorChoice choice = {.weights = {cases[i].weights[0], cases[i].weights[1]}};
        assert_int_equal(operator_passes(&choice), cases[i].passes);
    }
}

// What weights come to on the tasks that a policy was trained on, one plan each.
static OperatorChoice fly_weights(const FacetRace *race, const FacetPolicy *policy,
                                  FacetPolicySampling how, const double *weights)
{
    OperatorChoice out = {.weights = {weights[0], weights[1]}};
    EvalRun run;
    int tasks = 0;
    how.weights = weights;
    how.seed += UINT64_C(1) << 32;
    assert_ok(eval_run(&run, race, policy, &how, 1, NULL));
    for (int t = 0; t < run.tasks; t++) {
        const FacetRaceResult *result = eval_result(&run, 0, t);
        if (facet_policy_holds_out(policy, race, result->task)) continue;
        out.training.passed += result->flight.passed;
        out.error += result->error;
        tasks++;
    }
    out.error /= tasks;
    eval_run_free(&run);
    return out;
}

// Most gates first, then the nearest to the expert's path, of all that are tried.
static void the_best_weights_are_chosen(void **state)
{
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    FacetRace *race;
    FacetPolicy *policy;
    assert_int_equal(scratch_enter(state), 0);
    demos.rollouts = 8;
    training.epochs = 40; // so that some weights pass a gate more than others
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    static const FacetPolicyMode modes[] = {FACET_POLICY_PRODUCT, FACET_POLICY_CONVEX};
    for (int m = 0; m < 2; m++) {
        const FacetPolicySampling how = {.mode = modes[m], .steps = 2, .seed = 11};
        double tried[COMPOSE_TRIED_MAX][2];
        int count = operator_candidates(tried, modes[m]);
        OperatorChoice choice, best = {.error = INFINITY};
        assert_ok(operator_choose(&choice, race, policy, &how, 1, NULL));
        for (int c = 0; c < count; c++) {
            OperatorChoice found = fly_weights(race, policy, how, tried[c]);
            int more = found.training.passed - best.training.passed;
            if (more > 0 || (more == 0 && found.error < best.error)) best = found;
        }
        for (int f = 0; f < 2; f++) assert_near(choice.weights[f], best.weights[f], 0.0);
        assert_int_equal(choice.training.passed, best.training.passed);
        assert_near(choice.error, best.error, 1e-12);
        assert_int_equal(choice.tried, count);
    }
    facet_policy_destroy(policy);
    facet_race_close(race);
    assert_int_equal(scratch_leave(state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_the_operators_own),
        cmocka_unit_test(passes_are_those_that_count),
        cmocka_unit_test(the_best_weights_are_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
