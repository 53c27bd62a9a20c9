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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_factor_is_shown_as_it_is),
        cmocka_unit_test(own_weights_are_those_of_the_papers),
        cmocka_unit_test(each_takes_its_own_weights_alone),
        cmocka_unit_test(a_refusal_says_what_it_found),
        cmocka_unit_test(a_router_takes_no_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
