// The path of a plan and its Jacobians against the sampler in double: every step, the whole chain,
// clipping, the mismatch of composed and joint; the same bits on any number of threads; refusals.
#define FACET_REAL_DOUBLE
#include "certify/chain.h"
#include "linalg/spectrum.h"

#include <facet_study/certify.h>

enum { STEPS = 7, N = TINY_SIZE };

typedef struct Fixture {
    FacetPolicy *policy;
    FacetPool *pool;
    PathTracer *tracer;
    Sampler *sampler; // in double
    SamplerPlan plan;
    double *params;
    FacetFactorTask task;
    int z[2];
} Fixture;

static void setup(Fixture *f, double clip, int threads)
{
    f->policy = tiny_policy(FACET_POLICY_FACTORED);
    f->policy->clip = clip;
    f->task = task_of(f->policy->space, "b/m");
    f->z[0] = f->task.value[0], f->z[1] = f->task.value[1];
    assert_ok(facet_pool_create(&f->pool, threads));
    assert_ok(path_tracer_create(&f->tracer, f->policy, STEPS, f->pool));
    assert_ok(sampler_create(&f->sampler, f->policy->net, 1, 8));
    size_t size = f->policy->net->table.size;
    f->params = calloc(size, sizeof *f->params);
    assert_non_null(f->params);
    for (size_t i = 0; i < size; i++) f->params[i] = (double)f->policy->params[0][i];
    sampler_load(f->sampler, f->params, f->pool);
    assert_ok(sampler_plan(&f->plan, &f->policy->schedule,
                           (SamplerConfig){.kind = SAMPLER_DDIM,
                                           .steps = STEPS,
                                           .spacing = f->policy->spacing,
                                           .prediction = f->policy->prediction,
                                           .clip = clip}));
}

static void teardown(Fixture *f)
{
    free(f->params);
    sampler_free(f->sampler);
    path_tracer_destroy(f->tracer);
    facet_pool_destroy(f->pool);
    facet_policy_destroy(f->policy);
}

static void step_in_double(double *next, const Fixture *f, const double *a, int k, Composition how)
{
    double p[N], before[N] = {0};
    memcpy(next, a, N * sizeof *next);
    sampler_predict(p, f->sampler, a, f->plan.step[k].t, how, NULL, f->z, NULL, 1, f->pool);
    assert_ok(sampler_advance(next, before, p, &f->plan, k, N));
}

static void every_step_matches_central_differences(void **state)
{
    (void)state;
    static const double clips[] = {0.0, 0.7};
    for (int c = 0; c < 2; c++) {
        Fixture f;
        const DenoisingPath *path;
        int flat = 0;
        setup(&f, clips[c], 1);
        assert_ok(path_trace(&path, f.tracer, f.task, 3, NULL));
        for (int k = 0; k < STEPS; k++) {
            const double *m = path->transition + (size_t)k * N * N;
            double a[N], above[N], below[N], j[N * N], scratch[(2 * N + 4) * N];
            const double h = 1e-5;
            for (int column = 0; column < N; column++) {
                memcpy(a, path->nominal + (size_t)k * N, sizeof a);
                a[column] += h;
                step_in_double(above, &f, a, k, COMPOSE_FACTORS);
                a[column] -= 2.0 * h;
                step_in_double(below, &f, a, k, COMPOSE_FACTORS);
                for (int i = 0; i < N; i++)
                    assert_near(m[i * N + column], (above[i] - below[i]) / (2.0 * h),
                                1e-4 * largest(m, N * N));
            }
            // M = c1 I + c2 J, and a clipped number depends on itself alone.
            const PathStep *s = &path->step[k];
            for (int i = 0; i < N * N; i++) j[i] = (m[i] - (i / N == i % N ? s->c1 : 0.0)) / s->c2;
            assert_near(s->lipschitz / spectral_norm(j, scratch, N, N), 1.0, 1e-10);
            for (int i = 0; i < N; i++) {
                bool alone = true;
                for (int column = 0; column < N; column++)
                    alone = alone && (column == i || m[i * N + column] == 0.0);
                flat += alone;
            }
        }
        assert_true(clips[c] > 0.0 ? flat > 0 && flat < STEPS * N : flat == 0);
        teardown(&f);
    }
}

static void the_product_is_the_samplers_jacobian(void **state)
{
    (void)state;
    Fixture f;
    const DenoisingPath *path;
    setup(&f, 1.5, 2);
    assert_ok(path_trace(&path, f.tracer, f.task, 4, NULL));
    assert_product_is_jacobian(path, f.sampler, &f.plan, f.z, NULL, f.pool);
    teardown(&f);
}

// c2 d eps_k is how much further the composed step goes than the joint one, clipped or not.
static void the_mismatch_is_that_of_the_steps(void **state)
{
    (void)state;
    static const double clips[] = {0.0, 0.7};
    for (int c = 0; c < 2; c++) {
        Fixture f;
        const DenoisingPath *path;
        setup(&f, clips[c], 1);
        assert_ok(path_trace(&path, f.tracer, f.task, 5, NULL));
        for (int k = 0; k < STEPS; k++) {
            double composed[N], joint[N], sum = 0.0;
            const double *a = path->nominal + (size_t)k * N;
            const double *mismatch = path->mismatch + (size_t)k * N;
            step_in_double(composed, &f, a, k, COMPOSE_FACTORS);
            step_in_double(joint, &f, a, k, COMPOSE_JOINT);
            for (int i = 0; i < N; i++) {
                assert_near(path->step[k].c2 * mismatch[i], composed[i] - joint[i], 2e-5);
                sum += mismatch[i] * mismatch[i];
            }
            assert_near(path->step[k].mismatch, sqrt(sum), 1e-12);
            assert_true(sum > 0.0);
        }
        teardown(&f);
    }
}

// The nominal is the plan that sampling gives, and so is the end of the joint chain.
static void the_plans_are_the_samplers(void **state)
{
    (void)state;
    Fixture f;
    const DenoisingPath *path;
    setup(&f, 1.5, 2);
    assert_ok(path_trace(&path, f.tracer, f.task, 6, NULL));
    for (int joint = 0; joint < 2; joint++) {
        double plan[N], ours[N];
        const FacetPolicySampling how = {
            .mode = joint ? FACET_POLICY_JOINT : FACET_POLICY_COMPOSED, .steps = STEPS, .seed = 6};
        assert_ok(facet_policy_sample(plan, f.policy, &f.task, 1, &how, f.pool));
        normalizer_invert(ours, f.policy->normalizer,
                          joint ? path->joint_end : path->nominal + (size_t)STEPS * N, TINY_T);
        for (int i = 0; i < N; i++) assert_true(ours[i] == plan[i]);
    }
    teardown(&f);
}

static void the_same_bits_on_any_number_of_threads(void **state)
{
    (void)state;
    FacetPlanCertificate first;
    memset(&first, 0, sizeof first);
    for (int threads = 1; threads <= 3; threads++) {
        FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
        FacetPool *pool;
        FacetCertifier *certifier;
        FacetPlanCertificate certificate;
        memset(&certificate, 0, sizeof certificate);
        assert_ok(facet_pool_create(&pool, threads));
        assert_ok(facet_certifier_create(&certifier, policy, STEPS, pool));
        assert_ok(
            facet_certifier_plan(&certificate, certifier, task_of(policy->space, "b/m"), 1, NULL));
        if (threads == 1) first = certificate;
        assert_true(certificate.ltv.value == first.ltv.value);
        assert_true(first.ltv.step == -1);
        assert_true(certificate.ode.value == first.ode.value);
        assert_true(first.ode.step == -1);
        assert_true(certificate.path.value == first.path.value);
        assert_true(certificate.linear == first.linear);
        assert_true(certificate.actual == first.actual);
        // Each relaxation is no smaller than what it relaxes.
        assert_true(first.linear <= first.path.value);
        assert_true(first.path.value <= first.ltv.value * first.eps_s);
        assert_true(first.ltv.value <= first.product.value);
        assert_near(first.amplification * first.eps_s, first.actual, 1e-15);
        facet_certifier_destroy(certifier);
        facet_pool_destroy(pool);
        facet_policy_destroy(policy);
    }
}

static void what_has_no_certificate_is_refused(void **state)
{
    (void)state;
    static const FacetPolicyMethod methods[] = {FACET_POLICY_BASELINE, FACET_POLICY_KNET};
    static const char *const words[] = {"no factors", "no network that sees several"};
    FacetPool *pool;
    FacetCertifier *certifier;
    FacetPlanCertificate certificate;
    assert_ok(facet_pool_create(&pool, 1));
    for (int i = 0; i < 2; i++) {
        FacetPolicy *policy = tiny_policy(methods[i]);
        assert_refused(facet_certifier_create(&certifier, policy, 5, pool), words[i]);
        assert_null(certifier);
        facet_policy_destroy(policy);
    }
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    assert_refused(facet_certifier_create(&certifier, policy, 21, pool), "20");
    assert_ok(facet_certifier_create(&certifier, policy, 5, pool));
    assert_refused(
        facet_certifier_plan(&certificate, certifier, task_of(policy->space, "c/m"), 1, NULL),
        "never saw track 'c'");
    assert_refused(facet_certifier_look(certifier, (const uint8_t[]){0}), "does not see");
    policy->params[0][tensor_find(&policy->net->table, "out.bias")->offset] = NAN;
    facet_certifier_destroy(certifier);
    assert_ok(facet_certifier_create(&certifier, policy, 5, pool));
    assert_refused(
        facet_certifier_plan(&certificate, certifier, task_of(policy->space, "b/m"), 1, NULL),
        "step 1 of 5");
    facet_certifier_destroy(certifier);
    facet_policy_destroy(policy);
    facet_pool_destroy(pool);
}

typedef struct Host {
    int asked, stop_after;
} Host;

static bool watch(void *context, const FacetProgressEvent *event)
{
    (void)event;
    Host *host = context;
    return ++host->asked <= host->stop_after;
}

// A step's Jacobian may take long: the host is asked before the columns of every time step.
static void a_stop_is_heard_between_the_rows_of_a_jacobian(void **state)
{
    (void)state;
    Fixture f;
    const DenoisingPath *path;
    setup(&f, 1.5, 1);
    int horizon = f.policy->net->config.horizon;
    Host patient = {.stop_after = 1 << 20}, hasty = {.stop_after = 3};
    assert_ok(path_trace(&path, f.tracer, f.task, 7, &(FacetProgress){watch, &patient}));
    assert_true(patient.asked > STEPS * horizon);
    FacetStatus stopped = path_trace(&path, f.tracer, f.task, 7, &(FacetProgress){watch, &hasty});
    assert_int_equal(stopped.code, FACET_INTERRUPTED);
    assert_int_equal(hasty.asked, 4);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_step_matches_central_differences),
        cmocka_unit_test(the_product_is_the_samplers_jacobian),
        cmocka_unit_test(the_mismatch_is_that_of_the_steps),
        cmocka_unit_test(the_plans_are_the_samplers),
        cmocka_unit_test(the_same_bits_on_any_number_of_threads),
        cmocka_unit_test(what_has_no_certificate_is_refused),
        cmocka_unit_test(a_stop_is_heard_between_the_rows_of_a_jacobian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
