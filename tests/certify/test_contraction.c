// A linear toy system with known constants and a known tube, and the metric's own inequality.
#include "base/rng.h"
#include "certify/contraction.h"
#include "math/geometry.h"
#include "testing.h"

#include <stdlib.h>

enum { STEPS = 60 };

// x' = lambda R x + b u + w: a rotation shrunk by 0.9, two inputs, a push of 0.01 each step.
static void a_toy_system_is_recovered(void **unused)
{
    (void)unused;
    const double lambda = 0.9, gain = 0.05, push = 0.01;
    double a[STEPS][2][2], b[STEPS][2][2], c[STEPS + 1][2][2], w[STEPS][1][2];
    for (int k = 0; k <= STEPS; k++) {
        c[k][0][0] = c[k][1][1] = 1.0;
        c[k][0][1] = c[k][1][0] = 0.0;
        if (k == STEPS) break;
        a[k][0][0] = a[k][1][1] = lambda * cos(0.3);
        a[k][1][0] = lambda * sin(0.3);
        a[k][0][1] = -a[k][1][0];
        b[k][0][0] = b[k][1][1] = gain;
        b[k][0][1] = b[k][1][0] = 0.0;
        w[k][0][0] = push * cos(0.1 * k);
        w[k][0][1] = push * sin(0.1 * k);
    }
    const LinearLoop loop = {STEPS, 2, 2, 2, 1, 1, a[0][0], b[0][0], c[0][0], w[0][0]};
    Contraction found;
    assert_ok(contraction_find(&found, &loop));
    assert_near(found.constants.lambda, lambda, 0.005);
    assert_near(found.constants.b_kappa, gain, 0.04 * gain);
    assert_near(found.constants.w, push, 0.04 * push);
    double tube = (gain * 0.7 + push) / (1.0 - lambda),
           found_tube = facet_tube_radius(found.constants, 0.7);
    assert_near(found_tube, tube, 0.08 * tube);
    assert_less(tube, found_tube);
    // A step input along a rotation: sum_j (lambda R)^j b, whose length is known.
    double re = 0.0, im = 0.0, far = 0.0;
    for (int k = 0; k < STEPS; k++) {
        double r = re * lambda * cos(0.3) - im * lambda * sin(0.3);
        im = re * lambda * sin(0.3) + im * lambda * cos(0.3);
        re = r + gain;
        far = fmax(far, hypot(re, im));
    }
    assert_near(found.gain, far, 1e-12);
    contraction_free(&found);

    // The same over strides of 20: lambda^20 and what twenty inputs add up to. The tube comes close
    // to the gain, which norms taken in each step cannot see.
    LinearLoop strided = loop;
    strided.stride = 20;
    assert_ok(contraction_find(&found, &strided));
    double decay = pow(lambda, 20), re20 = 1.0 - decay * cos(6.0), im20 = decay * sin(6.0);
    double once = hypot(1.0 - lambda * cos(0.3), lambda * sin(0.3));
    assert_true(found.constants.lambda >= decay);
    assert_true(found.ratio <= found.constants.lambda + 1e-12);
    assert_true(found.constants.b_kappa >= gain * hypot(re20, im20) / once);
    assert_less(
        facet_tube_radius(
            (FacetTubeConstants){found.constants.lambda, found.constants.b_kappa, 0.0}, 1.0),
        1.3 * far);
    contraction_free(&found);
}

// A double integrator with feedback, which grows before it decays: only the metric contracts.
static void the_metric_contracts_where_the_norm_does_not(void **unused)
{
    (void)unused;
    const double h = 0.05;
    double a[STEPS][2][2], b[STEPS][2][1], c[STEPS + 1][1][2];
    for (int k = 0; k <= STEPS; k++) {
        c[k][0][0] = 1.0;
        c[k][0][1] = 0.0;
        if (k == STEPS) break;
        double stiff = 6.5 + 2.0 * sin(0.2 * k);
        a[k][0][0] = 1.0;
        a[k][0][1] = h;
        a[k][1][0] = -stiff * h;
        a[k][1][1] = 1.0 - 4.0 * h;
        b[k][0][0] = 0.0;
        b[k][1][0] = stiff * h;
    }
    const LinearLoop loop = {STEPS, 2, 1, 1, 0, 1, a[0][0], b[0][0], c[0][0], NULL};
    Contraction found;
    assert_ok(contraction_find(&found, &loop));
    double lambda = found.constants.lambda, bound = facet_tube_radius(found.constants, 1.0);
    assert_less(lambda, 1.0);
    assert_less(found.ratio, lambda * (1.0 + 1e-9));
    assert_less(found.gain, bound);
    assert_less(bound, 20.0 * found.gain);
    // The inequalities at random errors, and a run that must stay within the tube.
    FacetRng rng = rng_make(4, 0);
    bool grew = false;
    for (int k = 0; k < STEPS; k++)
        for (int trial = 0; trial < 50; trial++) {
            double e[2] = {rng_normal(&rng), rng_normal(&rng)};
            double next[2] = {a[k][0][0] * e[0] + a[k][0][1] * e[1],
                              a[k][1][0] * e[0] + a[k][1][1] * e[1]};
            double before = contraction_length(&found, e, k);
            assert_less(contraction_length(&found, next, k + 1), lambda * before * (1.0 + 1e-9));
            assert_less(fabs(e[0]), before * (1.0 + 1e-9));
            grew |= hypot(next[0], next[1]) > hypot(e[0], e[1]);
        }
    assert_true(grew);
    double x[2] = {0.0, 0.0}, farthest = 0.0;
    for (int k = 0; k < STEPS; k++) {
        double u = rng_uniform(&rng) < 0.5 ? -1.0 : 1.0;
        double p = a[k][0][0] * x[0] + a[k][0][1] * x[1];
        x[1] = a[k][1][0] * x[0] + a[k][1][1] * x[1] + b[k][1][0] * u;
        x[0] = p;
        farthest = fmax(farthest, fabs(p));
    }
    assert_less(farthest, bound);
    contraction_free(&found);
}

static void a_loop_that_grows_has_no_tube(void **unused)
{
    (void)unused;
    double a[STEPS], b[STEPS], c[STEPS + 1];
    for (int k = 0; k <= STEPS; k++) {
        c[k] = 1.0;
        if (k < STEPS) a[k] = 1.5, b[k] = 1.0;
    }
    const LinearLoop loop = {STEPS, 1, 1, 1, 0, 1, a, b, c, NULL};
    Contraction found;
    assert_ok(contraction_find(&found, &loop));
    assert_false(found.contracts);
    assert_true(isinf(facet_tube_radius(found.constants, 0.0)));
    contraction_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_toy_system_is_recovered),
        cmocka_unit_test(the_metric_contracts_where_the_norm_does_not),
        cmocka_unit_test(a_loop_that_grows_has_no_tube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
