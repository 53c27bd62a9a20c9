// Bounds against explicit products, closed forms and quadrature; long chains; a toy tube.
#include "base/rng.h"
#include "certify/ltv.h"
#include "linalg/gemm.h"
#include "linalg/spectrum.h"
#include "testing.h"

enum { N = 12, STEPS = 15, LONG = 400 };

static double scratch[2 * N * N + (2 * N + 4) * N];

static void random_maps(double *m, int steps, double scale)
{
    FacetRng rng = rng_make(8, 1);
    for (int i = 0; i < steps * N * N; i++)
        m[i] = scale * ((i / N % N == i % N) + 0.2 * rng_normal(&rng));
}

static void the_gramian_agrees_with_explicit_products(void **state)
{
    (void)state;
    static double m[STEPS * N * N], phi[N * N], next[N * N], log_norm[STEPS + 1];
    random_maps(m, STEPS, 1.0);
    ltv_log_norms(log_norm, m, scratch, STEPS, N);
    for (int i = 0; i < N * N; i++) phi[i] = i / N == i % N;
    assert_near(log_norm[STEPS], 0.0, 0.0);
    for (int k = STEPS - 1; k >= 0; k--) {
        linalg_gemm_reference_f64(next, N, GEMM_PLAIN, phi, N, GEMM_PLAIN, m + k * N * N, N, N, N,
                                  N, 0.0);
        memcpy(phi, next, sizeof phi);
        assert_near(exp(log_norm[k]) / spectral_norm(phi, scratch, N, N), 1.0, 1e-12);
    }
}

static void the_bound_is_the_sum_and_is_reached(void **state)
{
    (void)state;
    // Diagonal maps: the worst error of eps lies along the first axis with the sign of c2.
    static double m[STEPS * N * N], mismatch[STEPS * N], log_norm[STEPS + 1];
    PathStep step[STEPS];
    double expected = 0.0, by_steps = 0.0, product = 1.0;
    memset(m, 0, sizeof m);
    for (int k = STEPS - 1; k >= 0; k--) {
        for (int i = 0; i < N; i++) m[(k * N + i) * N + i] = (i == 0 ? 1.1 : 0.9) + 0.01 * k;
        step[k] = (PathStep){.c2 = k % 2 ? 0.3 : -0.2, .mismatch = 1.0 + 0.1 * k};
        mismatch[k * N] = (k % 2 ? 1.0 : -1.0) * step[k].mismatch;
        expected += fabs(step[k].c2) * product;
        by_steps += fabs(step[k].c2) * product * step[k].mismatch;
        product *= 1.1 + 0.01 * k;
    }
    ltv_log_norms(log_norm, m, scratch, STEPS, N);
    FacetCertifyBound bound = ltv_bound(step, log_norm, STEPS);
    FacetCertifyBound path_bound = ltv_path_bound(step, log_norm, STEPS);
    assert_int_equal(bound.step, -1);
    assert_near(bound.value / expected, 1.0, 1e-13);
    assert_near(path_bound.value / by_steps, 1.0, 1e-13);
    const DenoisingPath path = {
        .steps = STEPS, .size = N, .step = step, .transition = m, .mismatch = mismatch};
    assert_near(ltv_linear(&path, scratch) / by_steps, 1.0, 1e-13);
}

static void long_chains_neither_overflow_nor_vanish(void **state)
{
    (void)state;
    static double m[LONG * N * N], log_norm[LONG + 1], small[LONG + 1];
    static PathStep step[LONG];
    for (int k = 0; k < LONG; k++) step[k] = (PathStep){.c2 = 0.5, .mismatch = 0.0};
    random_maps(m, LONG, 1e3);
    ltv_log_norms(log_norm, m, scratch, LONG, N);
    random_maps(m, LONG, 1e-3);
    ltv_log_norms(small, m, scratch, LONG, N);
    for (int k = 0; k <= LONG; k++) // the same chains but for the factor
        assert_near(log_norm[k] - small[k], (LONG - k) * log(1e6), 1e-9 * (1 + LONG - k));
    assert_less(2700.0, log_norm[0]); // e^709 is the greatest double
    assert_less(small[0], -2600.0);
    // The sum overflows where the norms do: the step is named, and there is no number.
    FacetCertifyBound bound = ltv_bound(step, log_norm, LONG);
    assert_true(isnan(bound.value));
    int last = LONG - 1;
    while (log_norm[last + 1] < 709.0) last--;
    assert_true(bound.step <= last);
    assert_true(bound.step >= last - 1);
    bound = ltv_bound(step, small, LONG);
    assert_int_equal(bound.step, -1);
    assert_near(bound.value, 0.5, 2e-3);
    // Without an error there is nothing to amplify.
    assert_near(ltv_path_bound(step, log_norm, LONG).value, 0.0, 0.0);
}

static void the_step_that_is_not_finite_is_named(void **state)
{
    (void)state;
    static double m[STEPS * N * N], log_norm[STEPS + 1];
    static PathStep step[STEPS];
    for (int k = 0; k < STEPS; k++) step[k] = (PathStep){.c1 = 1.0, .c2 = 1.0, .lipschitz = 1.0};
    random_maps(m, STEPS, 1.0);
    m[6 * N * N + 5] = NAN;
    ltv_log_norms(log_norm, m, scratch, STEPS, N);
    assert_true(isfinite(log_norm[7]));
    assert_true(isnan(log_norm[6]));
    assert_true(isnan(log_norm[0]));
    FacetCertifyBound bound = ltv_bound(step, log_norm, STEPS); // step 5 needs Phi from 6 on
    assert_true(bound.step == 5);
    assert_true(isnan(bound.value));
    // A map of zero ends the chain: nothing before it matters.
    random_maps(m, STEPS, 1.0);
    memset(m + 6 * N * N, 0, N * N * sizeof *m);
    ltv_log_norms(log_norm, m, scratch, STEPS, N);
    assert_true(isinf(log_norm[6]));
    assert_true(isinf(log_norm[0]));
    bound = ltv_bound(step, log_norm, STEPS);
    double sum = 0.0;
    for (int k = 6; k < STEPS; k++) sum += exp(log_norm[k + 1]);
    assert_int_equal(bound.step, -1);
    assert_near(bound.value / sum, 1.0, 1e-13);
    step[3].lipschitz = INFINITY;
    assert_int_equal(gronwall_product(step, STEPS).step, 2);
}

static void gronwall_is_its_formula(void **state)
{
    (void)state;
    PathStep step[STEPS];
    double expected = 0.0;
    for (int k = 0; k < STEPS; k++)
        step[k] = (PathStep){.sigma = 0.999 * (STEPS - k) / STEPS,
                             .c1 = 1.2 - 0.01 * k,
                             .c2 = -0.3 + 0.01 * k,
                             .lipschitz = k == 4 ? 1.0 : 0.2 + 0.3 * k};
    for (int k = 0; k < STEPS; k++) {
        double product = 1.0;
        for (int j = k + 1; j < STEPS; j++)
            product *= fabs(step[j].c1) + fabs(step[j].c2) * step[j].lipschitz;
        expected += fabs(step[k].c2) * product;
    }
    assert_near(gronwall_product(step, STEPS).value / expected, 1.0, 1e-13);
    // The lemma's integral by the midpoint rule over sigma, the inner one along with it.
    double outer = 0.0, inner = 0.0, before = 0.0;
    for (int k = STEPS - 1; k >= 0; k--) {
        enum { PARTS = 200000 };
        double h = (step[k].sigma - before) / PARTS;
        for (int i = 0; i < PARTS; i++) {
            double sigma = before + (i + 0.5) * h, alpha2 = 1.0 - sigma * sigma;
            double rate = (sigma + step[k].lipschitz) / alpha2;
            outer += h / alpha2 * exp(inner + 0.5 * h * rate);
            inner += h * rate;
        }
        before = step[k].sigma;
    }
    FacetCertifyBound bound = gronwall_integral(step, STEPS);
    assert_int_equal(bound.step, -1);
    assert_near(bound.value / outer, 1.0, 1e-6);
    // Without feedback the integral of cosh is sinh.
    for (int k = 0; k < STEPS; k++) step[k].lipschitz = 0.0;
    assert_near(gronwall_integral(step, STEPS).value / sinh(atanh(0.999)), 1.0, 1e-13);
    for (int k = 0; k < STEPS; k++) step[k].lipschitz = 1e4;
    assert_true(gronwall_integral(step, STEPS).step >= 0);
}

// x' = lambda x + B u + d with the worst u and d stays in the tube and comes as near as one likes.
static void a_toy_system_fills_its_tube(void **state)
{
    (void)state;
    const FacetTubeConstants constants = {0.8, 0.3, 0.02};
    double radius = facet_tube_radius(constants, 2.5), x = 0.0;
    assert_near(radius, (0.3 * 2.5 + 0.02) / 0.2, 1e-14);
    for (int t = 0; t < 200; t++) {
        x = constants.lambda * x + constants.b_kappa * 2.5 + constants.w;
        assert_true(x <= radius * (1.0 + 1e-14));
    }
    assert_near(x / radius, 1.0, 1e-12);
    // The paper: race3/standard with eps_s = 15.4 and C_LTV = 4.04 gives 31.3 m.
    assert_near(facet_tube_radius(facet_tube_paper_constants(), 15.4 * 4.04), 31.3, 0.1);
    assert_true(isinf(facet_tube_radius((FacetTubeConstants){1.0, 0.1, 0.1}, 1.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gramian_agrees_with_explicit_products),
        cmocka_unit_test(the_bound_is_the_sum_and_is_reached),
        cmocka_unit_test(long_chains_neither_overflow_nor_vanish),
        cmocka_unit_test(the_step_that_is_not_finite_is_named),
        cmocka_unit_test(gronwall_is_its_formula),
        cmocka_unit_test(a_toy_system_fills_its_tube),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
