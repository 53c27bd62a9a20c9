// Certificates of a policy that sees: with a fixed frame every step and the whole chain match
// central differences in double, the plans are the runner's, and bounds hold in the data's units
// too; the same bits on any number of threads; refusals.
#define FACET_REAL_DOUBLE
#include "base/rng.h"
#include "certify/chain.h"
#include "certify/ltv.h"
#include "policy/sight.h"

#include <facet_study/certify.h>

enum { STEPS = 7, T = TINY_T, D = TINY_D, N = TINY_SIZE, FEATURES = 6 };

typedef struct Fixture {
    FacetPolicy *policy;
    FacetPool *pool;
    FacetFactorTask task;
    int z[2];
    uint8_t frame[TINY_FRAME];
    double context[FEATURES]; // its features
} Fixture;

static void setup(Fixture *f, double knee, int threads)
{
    float features[FEATURES];
    Sight *sight;
    f->policy = tiny_policy_with(FACET_POLICY_FACTORED, FEATURES);
    f->policy->normalizer->knee = knee;
    f->task = task_of(f->policy->space, "b/m");
    f->z[0] = f->task.value[0], f->z[1] = f->task.value[1];
    assert_ok(facet_pool_create(&f->pool, threads));
    fill_frames(f->frame, 1, 1);
    assert_ok(sight_create(&sight, f->policy->encoder, f->policy->encoder_params[0], 1, threads,
                           f->pool));
    sight_features(features, sight, f->frame, 1, f->pool);
    sight_free(sight);
    for (int i = 0; i < FEATURES; i++) f->context[i] = (double)features[i];
}

static void teardown(Fixture *f)
{
    facet_pool_destroy(f->pool);
    facet_policy_destroy(f->policy);
}

// ---- Against the sampler in double --------------------------------------------------------------

typedef struct Double {
    Sampler *sampler;
    SamplerPlan plan;
    double *params;
} Double;

static void begin_double(Double *d, const Fixture *f)
{
    const FacetPolicy *policy = f->policy;
    size_t size = policy->net->table.size;
    assert_ok(sampler_create(&d->sampler, policy->net, 1, 8));
    d->params = calloc(size, sizeof *d->params);
    assert_non_null(d->params);
    for (size_t i = 0; i < size; i++) d->params[i] = (double)policy->params[0][i];
    sampler_load(d->sampler, d->params, f->pool);
    assert_ok(sampler_plan(&d->plan, &policy->schedule,
                           (SamplerConfig){.kind = SAMPLER_DDIM,
                                           .steps = STEPS,
                                           .spacing = policy->spacing,
                                           .prediction = policy->prediction,
                                           .clip = policy->clip}));
}

static void end_double(Double *d)
{
    sampler_free(d->sampler);
    free(d->params);
}

static void step_in_double(double *next, const Double *d, const Fixture *f, const double *a, int k,
                           Composition how)
{
    double p[N], before[N] = {0};
    memcpy(next, a, N * sizeof *next);
    sampler_predict(p, d->sampler, a, d->plan.step[k].t, how, NULL, f->z, f->context, 1, f->pool);
    assert_ok(sampler_advance(next, before, p, &d->plan, k, N));
}

static void every_step_matches_central_differences(void **state)
{
    (void)state;
    Fixture f;
    Double d;
    PathTracer *tracer;
    const DenoisingPath *path;
    const double h = 1e-5;
    setup(&f, 0.0, 1);
    begin_double(&d, &f);
    assert_ok(path_tracer_create(&tracer, f.policy, STEPS, f.pool));
    assert_ok(path_look(tracer, f.frame));
    assert_ok(path_trace(&path, tracer, f.task, 3, NULL));
    for (int k = 0; k < STEPS; k++) {
        const double *m = path->transition + (size_t)k * N * N;
        const double *nominal = path->nominal + (size_t)k * N;
        double a[N], above[N], below[N];
        for (int column = 0; column < N; column++) {
            memcpy(a, nominal, sizeof a);
            a[column] += h;
            step_in_double(above, &d, &f, a, k, COMPOSE_FACTORS);
            a[column] -= 2.0 * h;
            step_in_double(below, &d, &f, a, k, COMPOSE_FACTORS);
            for (int i = 0; i < N; i++)
                assert_near(m[i * N + column], (above[i] - below[i]) / (2.0 * h),
                            1e-4 * largest(m, N * N));
        }
        step_in_double(above, &d, &f, nominal, k, COMPOSE_FACTORS);
        step_in_double(below, &d, &f, nominal, k, COMPOSE_JOINT);
        for (int i = 0; i < N; i++)
            assert_near(path->step[k].c2 * path->mismatch[(size_t)k * N + i], above[i] - below[i],
                        2e-5);
    }
    path_tracer_destroy(tracer);
    end_double(&d);
    teardown(&f);
}

// How the sample changes with the noise that it starts from, the frame held fixed.
static void the_product_is_the_samplers_jacobian(void **state)
{
    (void)state;
    Fixture f;
    Double d;
    PathTracer *tracer;
    const DenoisingPath *path;
    setup(&f, 0.0, 2);
    begin_double(&d, &f);
    assert_ok(path_tracer_create(&tracer, f.policy, STEPS, f.pool));
    assert_ok(path_look(tracer, f.frame));
    assert_ok(path_trace(&path, tracer, f.task, 4, NULL));
    assert_product_is_jacobian(path, d.sampler, &d.plan, f.z, f.context, f.pool);
    path_tracer_destroy(tracer);
    end_double(&d);
    teardown(&f);
}

// ---- Plans --------------------------------------------------------------------------------------

static void the_plans_are_the_runners(void **state)
{
    (void)state;
    Fixture f;
    FacetCertifier *certifier;
    FacetPolicyRunner *runner;
    FacetPlanCertificate certificate;
    const uint64_t number = 77;
    setup(&f, 0.4, 2);
    assert_ok(facet_certifier_create(&certifier, f.policy, STEPS, f.pool));
    assert_ok(facet_policy_runner_create(&runner, f.policy, 1, 2, NULL));
    assert_ok(facet_certifier_look(certifier, f.frame));
    for (int numbered = 0; numbered < 2; numbered++) {
        if (numbered)
            assert_ok(facet_certifier_plan_from(&certificate, certifier, f.task, 6, number, NULL));
        else
            assert_ok(facet_certifier_plan(&certificate, certifier, f.task, 6, NULL));
        for (int joint = 0; joint < 2; joint++) {
            double plan[N], ours[N];
            const FacetPolicySampling how = {.mode =
                                                 joint ? FACET_POLICY_JOINT : FACET_POLICY_COMPOSED,
                                             .steps = STEPS,
                                             .seed = 6,
                                             .numbers = numbered ? &number : NULL};
            const FacetPolicyObserved observed = {.frames = f.frame};
            assert_ok(
                facet_policy_runner_sample(plan, runner, &f.task, &observed, 1, &how, f.pool));
            if (joint)
                facet_certifier_joint_actions(ours, certifier);
            else
                facet_certifier_actions(ours, certifier);
            for (int i = 0; i < N; i++) assert_true(ours[i] == plan[i]);
        }
    }
    facet_policy_runner_destroy(runner);
    facet_certifier_destroy(certifier);
    teardown(&f);
}

static void a_frame_decides_at_any_number_of_threads(void **state)
{
    (void)state;
    FacetPlanCertificate first[2];
    for (int threads = 1; threads <= 3; threads++) {
        Fixture f;
        FacetCertifier *certifier;
        setup(&f, 0.0, threads);
        assert_ok(facet_certifier_create(&certifier, f.policy, STEPS, f.pool));
        for (int i = 0; i < 2; i++) {
            FacetPlanCertificate c;
            fill_frames(f.frame, 1, 1 + i);
            assert_ok(facet_certifier_look(certifier, f.frame));
            assert_ok(facet_certifier_plan(&c, certifier, f.task, 1, NULL));
            if (threads == 1) first[i] = c;
            assert_true(c.ltv.value == first[i].ltv.value);
            assert_true(c.ltv.step == -1);
            assert_true(c.path.value == first[i].path.value);
            assert_true(c.eps_s == first[i].eps_s);
            assert_true(c.linear == first[i].linear);
            assert_true(c.actual == first[i].actual);
            assert_true(c.linear <= c.path.value);
            assert_true(c.path.value <= c.ltv.value * c.eps_s);
        }
        facet_certifier_destroy(certifier);
        teardown(&f);
    }
    assert_true(first[0].ltv.value != first[1].ltv.value);
    assert_true(first[0].actual != first[1].actual);
}

// ---- Rows ---------------------------------------------------------------------------------------

static void the_bound_of_a_row_is_below_that_of_the_plan(void **state)
{
    (void)state;
    Fixture f;
    FacetCertifier *certifier;
    FacetPlanCertificate c;
    static double scratch[2 * N * N + (2 * N + 4) * N];
    setup(&f, 0.0, 1);
    assert_ok(facet_certifier_create(&certifier, f.policy, STEPS, f.pool));
    assert_ok(facet_certifier_look(certifier, f.frame));
    assert_ok(facet_certifier_plan(&c, certifier, f.task, 2, NULL));
    const DenoisingPath *path = certifier_path(certifier);
    assert_near(ltv_rows_bound(path, scratch, 0, N).value / c.path.value, 1.0, 1e-10);
    // To first order: e_{k+1} = M_k e_k + c2 d eps_k.
    double e[N] = {0}, next[N];
    for (int k = 0; k < STEPS; k++) {
        linalg_gemm_reference_f64(next, 1, GEMM_PLAIN, path->transition + (size_t)k * N * N, N,
                                  GEMM_PLAIN, e, 1, N, 1, N, 0.0);
        for (int i = 0; i < N; i++)
            e[i] = next[i] + path->step[k].c2 * path->mismatch[(size_t)k * N + i];
    }
    for (int row = 0; row < T; row++) {
        FacetCertifyBound bound = facet_certifier_row_bound(certifier, row);
        double moved = hypot(e[row * D], e[row * D + 1]);
        assert_int_equal(bound.step, -1);
        assert_true(moved <= bound.value);
        assert_true(bound.value < c.path.value);
    }
    facet_certifier_destroy(certifier);
    teardown(&f);
}

// No change of a row within the radius moves it farther than the reach, in the data's units.
static void the_reach_covers_the_radius(void **state)
{
    (void)state;
    static const double knees[] = {0.0, 0.4};
    for (int k = 0; k < 2; k++) {
        Fixture f;
        FacetCertifier *certifier;
        FacetPlanCertificate c;
        setup(&f, knees[k], 1);
        f.policy->clip = 20.0;
        assert_ok(facet_certifier_create(&certifier, f.policy, STEPS, f.pool));
        assert_ok(facet_certifier_look(certifier, f.frame));
        assert_ok(facet_certifier_plan(&c, certifier, f.task, 2, NULL));
        const DenoisingPath *path = certifier_path(certifier);
        const double *y = path->nominal + (size_t)STEPS * N, radius = 0.3;
        double reach = facet_certifier_row_reach(certifier, 0, radius), x[D], most = 0.0;
        normalizer_invert(x, f.policy->normalizer, y, 1);
        FacetRng rng = rng_make(5, 5);
        for (int trial = 0; trial < 3000; trial++) {
            double way[D], moved[D], norm = 0.0, far = 0.0;
            for (int i = 0; i < D; i++) way[i] = rng_normal(&rng);
            for (int i = 0; i < D; i++) norm += way[i] * way[i];
            for (int i = 0; i < D; i++) moved[i] = y[i] + radius * way[i] / sqrt(norm);
            normalizer_invert(moved, f.policy->normalizer, moved, 1);
            for (int i = 0; i < D; i++) far += (moved[i] - x[i]) * (moved[i] - x[i]);
            most = fmax(most, sqrt(far));
        }
        assert_true(most <= reach * (1.0 + 1e-12));
        assert_true(reach < (knees[k] > 0.0 ? 2.0 : 1.01) * most); // and is not far above it
        assert_near(facet_certifier_row_reach(certifier, 0, 0.0), 0.0, 0.0);
        // Past the clip there is none; without a clip there is.
        assert_true(isinf(facet_certifier_row_reach(certifier, 0, 20.5)));
        f.policy->clip = 0.0;
        assert_true(isfinite(facet_certifier_row_reach(certifier, 0, 20.5)));
        assert_true(isinf(facet_certifier_row_reach(certifier, 0, nan(""))));
        facet_certifier_destroy(certifier);
        teardown(&f);
    }
}

// ---- Refusals -----------------------------------------------------------------------------------

static void what_has_no_certificate_is_refused(void **state)
{
    (void)state;
    Fixture f;
    FacetCertifier *certifier;
    FacetPlanCertificate certificate;
    FacetCertifyDiagnostics diagnostics;
    double actions[N] = {0};
    setup(&f, 0.0, 1);
    assert_ok(facet_certifier_create(&certifier, f.policy, STEPS, f.pool));
    assert_refused(facet_certifier_plan(&certificate, certifier, f.task, 1, NULL),
                   "the policy sees: expected a frame of its camera before a plan");
    facet_certifier_destroy(certifier);
    assert_refused(
        facet_certify_diagnostics(&diagnostics, f.policy, &f.task, actions, 1, 5, 1, f.pool, NULL),
        "a policy that takes observations has no certificate without them");
    FacetPolicy *baseline = tiny_policy_with(FACET_POLICY_BASELINE, FEATURES);
    assert_refused(facet_certifier_create(&certifier, baseline, STEPS, f.pool), "no factors");
    facet_policy_destroy(baseline);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_matches_central_differences),
        cmocka_unit_test(the_product_is_the_samplers_jacobian),
        cmocka_unit_test(the_plans_are_the_runners),
        cmocka_unit_test(a_frame_decides_at_any_number_of_threads),
        cmocka_unit_test(the_bound_of_a_row_is_below_that_of_the_plan),
        cmocka_unit_test(the_reach_covers_the_radius),
        cmocka_unit_test(what_has_no_certificate_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
