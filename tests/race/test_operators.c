// Weights of operators on the race: what is tried of each, how it is sampled with, and the passes
// of a step that count.
#include "policy/policy.h"
#include "race/operators.h"
#include "testing.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_the_operators_own),
        cmocka_unit_test(passes_are_those_that_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
