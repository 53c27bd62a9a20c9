// Composition operators: the weights that are each one's own, and those that it refuses.
#include "diffusion/operator.h"

#include "testing.h"

#include <math.h>

static const ComposeOperator *const all[] = {&compose_sum, &compose_product, &compose_convex,
                                             &compose_interpolate};
enum { ALL = sizeof all / sizeof *all };

static void one_factor_is_shown_as_it_is(void **state)
{
    (void)state;
    for (int i = 0; i < ALL; i++) {
        double weight = nan("");
        assert_ok(all[i]->weights(&weight, NULL, 1));
        assert_near(weight, 1.0, 0.0);
    }
}

static void own_weights_are_those_of_the_papers(void **state)
{
    (void)state;
    static const double own[ALL][3] = {
        {1.0, 1.0, 1.0}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {1.0, 0.0, 0.0}};
    for (int i = 0; i < ALL; i++) {
        double weights[3];
        assert_ok(all[i]->weights(weights, NULL, 3));
        for (int k = 0; k < 3; k++) assert_near(weights[k], own[i][k], 1e-15);
    }
}

// Which of four choices of two weights each takes; what it takes it does not change.
static void each_takes_its_own_weights_alone(void **state)
{
    (void)state;
    static const double choices[][2] = {
        {1.0, 1.0}, {1.3, -0.3}, {0.2, 0.3}, {0.4, 0.0}, {0.5, 0.5}};
    static const bool takes[ALL][5] = {{true, true, true, true, true},
                                       {false, true, false, false, true},
                                       {false, false, true, true, true},
                                       {false, false, false, true, false}};
    for (int i = 0; i < ALL; i++)
        for (int c = 0; c < 5; c++) {
            double weights[2];
            assert_int_equal(all[i]->weights(weights, choices[c], 2).ok, takes[i][c]);
            if (!takes[i][c]) continue;
            assert_near(weights[0], choices[c][0], 0.0);
            assert_near(weights[1], choices[c][1], 0.0);
        }
}

static void a_refusal_says_what_it_found(void **state)
{
    (void)state;
    static const double half[] = {0.5, 0.25}, nans[] = {0.5, NAN};
    double weights[2];
    assert_refused(compose_product.weights(weights, half, 2),
                   "product: expected weights that sum to 1, found 0.5, 0.25");
    for (int i = 0; i < ALL; i++) assert_false(all[i]->weights(weights, nans, 2).ok);
}

// A router's weights are learned: nobody gives them, and one that has learned nothing has equal
// ones.
static void a_router_takes_no_weights(void **state)
{
    (void)state;
    static const double half[] = {0.5, 0.5};
    double weights[2];
    assert_ok(compose_router.weights(weights, NULL, 2));
    for (int k = 0; k < 2; k++) assert_near(weights[k], 1.0 / 3, 1e-15);
    assert_refused(compose_router.weights(weights, half, 2),
                   "router: expected no weights, which are the router's, found 0.5, 0.5");
}

#define OPERATOR(mode, operator) &(operator),
static const ComposeOperator *const registered[] = {COMPOSE_OPERATORS(OPERATOR)};

// Every operator of the list has a name of its own, and says whose it is.
static void each_says_what_it_is(void **state)
{
    (void)state;
    for (int i = 0; i < COMPOSE_OPERATOR_COUNT; i++) {
        assert_non_null(registered[i]->name);
        assert_non_null(registered[i]->whose);
        assert_true(strlen(registered[i]->name) > 0);
        assert_true(strlen(registered[i]->whose) > strlen(registered[i]->name));
        assert_non_null(registered[i]->weights);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(registered[i]->name, registered[k]->name);
            assert_string_not_equal(registered[i]->whose, registered[k]->whose);
        }
    }
}

// What a search tries of an operator, the operator takes, and each choice once; a router learns its
// weights instead.
static void each_takes_the_weights_that_are_tried(void **state)
{
    (void)state;
    for (int i = 0; i < COMPOSE_OPERATOR_COUNT; i++) {
        double tried[COMPOSE_TRIED_MAX][2], weights[2];
        if (registered[i] == &compose_router) {
            assert_null(registered[i]->tried);
            continue;
        }
        assert_non_null(registered[i]->tried);
        int count = registered[i]->tried(tried);
        assert_in_range(count, 1, COMPOSE_TRIED_MAX);
        for (int c = 0; c < count; c++) {
            assert_ok(registered[i]->weights(weights, tried[c], 2));
            for (int k = 0; k < c; k++)
                assert_memory_not_equal(tried[c], tried[k], sizeof tried[c]);
        }
    }
}

static void assert_pair(const double *weights, double first, double second)
{
    assert_near(weights[0], first, 0.0);
    assert_near(weights[1], second, 0.0);
}

// The same to the bit as in the results: in tenths, or in fifths.
static void tried_weights_are_steps_of_their_range(void **state)
{
    (void)state;
    double tried[COMPOSE_TRIED_MAX][2];
    assert_int_equal(compose_sum.tried(tried), 1);
    assert_pair(tried[0], 1.0, 1.0);
    assert_int_equal(compose_product.tried(tried), 11);
    for (int i = 0; i <= 10; i++) assert_pair(tried[i], 0.1 * i, 1.0 - 0.1 * i);
    assert_int_equal(compose_interpolate.tried(tried), 11);
    for (int i = 0; i <= 10; i++) assert_pair(tried[i], 0.1 * i, 0.0);
    assert_int_equal(compose_convex.tried(tried), 21);
    for (int i = 0, at = 0; i <= 5; i++)
        for (int k = 0; k <= 5 - i; k++, at++) assert_pair(tried[at], 0.2 * i, 0.2 * k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_factor_is_shown_as_it_is),
        cmocka_unit_test(own_weights_are_those_of_the_papers),
        cmocka_unit_test(each_takes_its_own_weights_alone),
        cmocka_unit_test(a_refusal_says_what_it_found),
        cmocka_unit_test(a_router_takes_no_weights),
        cmocka_unit_test(each_says_what_it_is),
        cmocka_unit_test(each_takes_the_weights_that_are_tried),
        cmocka_unit_test(tried_weights_are_steps_of_their_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
