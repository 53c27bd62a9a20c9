// What a study of certificates comes to, from records made by hand.
#include "certify/summary.h"
#include "testing.h"

#include <math.h>

static void a_bound_that_stopped_is_no_number(void **state)
{
    (void)state;
    assert_near(bound_value((FacetCertifyBound){2.5, -1}), 2.5, 0.0);
    assert_true(isnan(bound_value((FacetCertifyBound){2.5, 3})));
    assert_near(command_bound(4.0, 0.25), 1.0, 0.0);
}

static void changes_add_up(void **state)
{
    (void)state;
    const double lipschitz[] = {2.0, 3.0};
    assert_near(factored_change(0.5, lipschitz, 1), 2.5, 0.0);
    assert_near(factored_change(0.5, lipschitz, 2), 5.5, 0.0);
    assert_near(joint_change(3.0, 1), 3.0, 0.0);
    assert_near(joint_change(3.0, 4), 6.0, 0.0);
}

static void the_tightest_gate_uses_the_most(void **state)
{
    (void)state;
    GateRecord gates[] = {{.miss = 0.1, .bound = 0.25, .disturbance = 0.1},
                          {.miss = 0.3, .bound = 0.25, .disturbance = 0.2},
                          {.miss = 0.2, .bound = 0.125, .disturbance = 0.3}};
    assert_near(crossing_used(&gates[0]), 0.45, 1e-15);
    assert_int_equal(gates_tightest(gates, 3), 1);
    gates[2].bound = INFINITY;
    assert_int_equal(gates_tightest(gates, 3), 2);
    assert_int_equal(gates_tightest(gates, 1), 0);
}

static void the_first_failure_is_told(void **state)
{
    (void)state;
    CertifyRecord record = {.steps = 50, .plan = {.ltv = {1.0, -1}, .ode = {1.0, -1}}};
    char text[RECORD_FAILURE];
    record_failure(text, &record);
    assert_string_equal(text, "");
    record.plan.ode.step = 4;
    record_failure(text, &record);
    assert_string_equal(text, "not certified: C_ode is not finite at step 5 of 50");
    record.plan.ltv.step = 2;
    record_failure(text, &record);
    assert_string_equal(text, "not certified: C_LTV is not finite at step 3 of 50");
    snprintf(record.failure, sizeof record.failure, "the flight crashed");
    record_failure(text, &record);
    assert_string_equal(text, "not certified: the flight crashed");
}

static void constants_hold_for_every_task(void **state)
{
    (void)state;
    const FacetCourseTask tasks[] = {{0, 0}, {0, 1}, {1, 0}};
    CertifyRecord records[3] = {0};
    for (int i = 0; i < 3; i++) {
        records[i].task = tasks[i];
        records[i].steps = 50;
        records[i].loop.contracts = i < 2;
        records[i].loop.constants = (FacetTubeConstants){0.1 * (i + 1), 3.0 - i, 0.2 + i};
    }
    const CertifyStudy study = {records, 3, 0};
    const CertifyOptions options = {.tasks = tasks, .task_count = 3, .steps = 50};
    FacetTubeConstants worst = study_constants(&study, &options);
    assert_near(worst.lambda, 0.2, 0.0);
    assert_near(worst.b_kappa, 3.0, 0.0);
    assert_near(worst.w, 1.2, 0.0);
}

static void the_worst_product_counts(void **state)
{
    (void)state;
    ExactProducts products = {.count = 2};
    products.product[0].report = (InteractionReport){.g = 1, .m = 5, .bound = 2, .holds = true};
    products.product[1].report = (InteractionReport){.g = 3, .m = 4, .max_gap = 1, .holds = false};
    InteractionReport worst = products_worst(&products);
    assert_near(worst.g, 3.0, 0.0);
    assert_near(worst.m, 5.0, 0.0);
    assert_near(worst.bound, 2.0, 0.0);
    assert_near(worst.max_gap, 1.0, 0.0);
    assert_false(worst.holds);
    products.count = 1;
    assert_true(products_worst(&products).holds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bound_that_stopped_is_no_number),
        cmocka_unit_test(changes_add_up),
        cmocka_unit_test(the_tightest_gate_uses_the_most),
        cmocka_unit_test(the_first_failure_is_told),
        cmocka_unit_test(constants_hold_for_every_task),
        cmocka_unit_test(the_worst_product_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
