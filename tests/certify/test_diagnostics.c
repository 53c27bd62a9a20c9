// Diagnostics of tiny policies: identities, bands of noise, threads, refusals.
#include "policy/policies.h"

#include <facet_study/certify.h>

enum { SAMPLES = 60, TASKS = 5 };

static void diagnose(FacetCertifyDiagnostics *out, const FacetPolicy *policy, int samples,
                     int threads)
{
    FacetFactorTask tasks[TASKS];
    double actions[TASKS * TINY_SIZE];
    FacetPool *pool;
    for (int i = 0; i < TASKS; i++) tasks[i] = facet_factor_split_task(policy->training, i);
    for (int i = 0; i < TASKS * TINY_SIZE; i++) actions[i] = 0.3 + 0.1 * sin(i);
    assert_ok(facet_pool_create(&pool, threads));
    assert_ok(
        facet_certify_diagnostics(out, policy, tasks, actions, TASKS, samples, 1, pool, NULL));
    facet_pool_destroy(pool);
}

static void spreads_are_ordered_and_threads_change_nothing(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    static FacetCertifyDiagnostics one, three;
    diagnose(&one, policy, SAMPLES, 1);
    diagnose(&three, policy, SAMPLES, 3);
    const FacetCertifySpread *spreads[] = {&one.eps_d, &one.lipschitz[0], &one.lipschitz[1],
                                           &one.joint};
    for (int i = 0; i < 4; i++) {
        assert_true(spreads[i]->mean > 0.0);
        assert_true(spreads[i]->mean < spreads[i]->p95);
        assert_true(spreads[i]->p95 < spreads[i]->max);
    }
    assert_true(one.eps_d.mean == three.eps_d.mean);
    assert_true(one.joint.max == three.joint.max);
    assert_true(one.lipschitz[1].p95 == three.lipschitz[1].p95);
    int count = 0;
    for (int i = 0; i < FACET_CERTIFY_LEVELS; i++) count += one.levels[i].count;
    assert_int_equal(count, SAMPLES);
    facet_policy_destroy(policy);
}

// With one sample a level, a level's channels make up its norm, and the levels make up the whole.
static void bands_of_noise_make_up_the_whole(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    static FacetCertifyDiagnostics d;
    diagnose(&d, policy, FACET_CERTIFY_LEVELS, 1);
    double sum = 0.0, most = 0.0;
    for (int i = 0; i < FACET_CERTIFY_LEVELS; i++) {
        const FacetCertifyLevel *level = &d.levels[i];
        assert_int_equal(level->count, 1);
        assert_int_equal(level->t_first, i);
        assert_int_equal(level->t_last, i);
        assert_near(hypot(level->channel[0], level->channel[1]), level->mean, 1e-12);
        assert_near(level->p95, level->mean, 0.0);
        sum += level->mean;
        most = fmax(most, level->mean);
    }
    assert_near(d.eps_d.mean, sum / FACET_CERTIFY_LEVELS, 1e-12);
    assert_near(d.eps_d.max, most, 0.0);
    facet_policy_destroy(policy);
}

// The network does not look at a factor any more.
static void hide_factor(FacetPolicy *policy, int factor)
{
    const ScoreNetConfig *c = &policy->net->config;
    size_t table = (size_t)(c->values[factor] + 1) * c->embed;
    memset(policy->params[0] + policy->net->embed[factor], 0, table * sizeof(float));
}

// A network that does not look at its factors has nothing to decompose; one that looks at the track
// or at the size alone decomposes without error, and its joint constant is that factor's.
static void a_network_without_interaction_has_no_error(void **state)
{
    (void)state;
    static FacetCertifyDiagnostics d;
    for (int seen = 0; seen < 2; seen++) {
        FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
        hide_factor(policy, 1 - seen);
        diagnose(&d, policy, SAMPLES, 1);
        assert_near(d.lipschitz[1 - seen].max, 0.0, 0.0);
        assert_near(d.eps_d.max, 0.0, 1e-5);
        assert_true(d.lipschitz[seen].mean > 1e-3);
        // Both factors change, so the distance of z and z' is the root of two.
        assert_near(d.joint.max * sqrt(2.0), d.lipschitz[seen].max, 1e-5);
        hide_factor(policy, seen);
        diagnose(&d, policy, SAMPLES, 1);
        assert_near(d.lipschitz[seen].max, 0.0, 0.0);
        assert_near(d.joint.max, 0.0, 0.0);
        facet_policy_destroy(policy);
    }
}

static void a_policy_without_factors_is_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_BASELINE);
    FacetFactorTask task = facet_factor_split_task(policy->training, 0);
    double actions[TINY_SIZE] = {0.0};
    FacetCertifyDiagnostics d;
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 1));
    assert_refused(facet_certify_diagnostics(&d, policy, &task, actions, 1, 5, 1, pool, NULL),
                   "no factors");
    facet_policy_destroy(policy);
    policy = tiny_policy(FACET_POLICY_FACTORED);
    assert_refused(facet_certify_diagnostics(&d, policy, &task, actions, 1, 0, 1, pool, NULL),
                   "at least one sample");
    facet_policy_destroy(policy);
    facet_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spreads_are_ordered_and_threads_change_nothing),
        cmocka_unit_test(bands_of_noise_make_up_the_whole),
        cmocka_unit_test(a_network_without_interaction_has_no_error),
        cmocka_unit_test(a_policy_without_factors_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
