// Composition and sampling: identities of the composed score, agreement with branches evaluated by
// hand, clipping, the path, and the same bits on any number of threads.
#include "diffusion/sampler.h"
#include "nn/layers.h"
#include "testing.h"
#include "train/optim.h"

#include <stdlib.h>

enum { T = 5, D = 2, SIZE = T * D, PLANS = 3, STEPS = 7, CONTEXT = 3 };

typedef struct Fixture {
    ScoreNet *net;
    FacetPool *pool;
    Sampler *sampler;
    float *params;
    NoiseSchedule schedule;
} Fixture;

static void setup_with(Fixture *f, int factors, int threads, int context)
{
    const ScoreNetConfig config = {.horizon = T,
                                   .dim = D,
                                   .blocks = 3,
                                   .channels = 16,
                                   .cond = 8,
                                   .time_width = 8,
                                   .embed = 4,
                                   .factors = factors,
                                   .values = {3, 2, 4},
                                   .context = context};
    assert_ok(score_net_create(&f->net, config));
    assert_ok(facet_pool_create(&f->pool, threads));
    assert_ok(sampler_create(&f->sampler, f->net, PLANS, 8));
    assert_ok(schedule_cosine(&f->schedule, 50));
    f->params = calloc(f->net->table.size, sizeof *f->params);
    assert_non_null(f->params);
    tensor_init(f->params, &f->net->table, 4);
    const Tensor *head = tensor_find(&f->net->table, "out.weight");
    for (size_t i = 0; i < head->size; i++) f->params[head->offset + i] = 0.1f * sinf((float)i);
    const Tensor *select = tensor_find(&f->net->table, "select.weight");
    for (size_t i = 0; select && i < select->size; i++)
        f->params[select->offset + i] = 0.3f * cosf((float)i);
    sampler_load(f->sampler, f->params, f->pool);
}

static void setup(Fixture *f, int factors, int threads) { setup_with(f, factors, threads, 0); }

static void teardown(Fixture *f)
{
    free(f->params);
    sampler_free(f->sampler);
    facet_pool_destroy(f->pool);
    score_net_free(f->net);
}

static void noise(float *x)
{
    for (int n = 0; n < PLANS; n++) sampler_noise(x + n * SIZE, 8, (uint64_t)n, SIZE);
}

static void fill_context(float *context)
{
    for (int i = 0; i < PLANS * CONTEXT; i++) context[i] = cosf((float)(2 * i));
}

static void scores_compose(void **state)
{
    (void)state;
    const float branches[2][3][2] = {{{1, 2}, {3, 5}, {10, 20}}, {{0, 0}, {1, 1}, {2, 2}}};
    float out[2][2];
    compose_scores(&out[0][0], &branches[0][0][0], NULL, 2, 2, 2);
    assert_near((double)out[0][0], 1 + 2 + 9, 0.0);
    assert_near((double)out[0][1], 2 + 3 + 18, 0.0);
    assert_near((double)out[1][0], 3, 0.0);
    const double weights[2] = {0.5, 0.0};
    compose_scores(&out[0][0], &branches[0][0][0], weights, 2, 2, 2);
    assert_near((double)out[0][0], 2.0, 0.0);
}

// A composed prediction equals the sum of branches that joint inference gives one by one, each in
// the context of its plan.
static void composed_equals_branches(void **state)
{
    (void)state;
    Fixture f;
    setup_with(&f, 3, 1, CONTEXT);
    float x[PLANS * SIZE], composed[PLANS * SIZE], branch[PLANS * SIZE];
    double sum[PLANS * SIZE];
    const int z[PLANS * 3] = {0, 1, 2, 2, 0, 3, 1, 1, 0};
    const double weights[3] = {1.0, 0.5, 2.0};
    float context[PLANS * CONTEXT], other[PLANS * SIZE];
    fill_context(context);
    noise(x);
    sampler_predict(composed, f.sampler, x, 20, COMPOSE_FACTORS, weights, z, context, PLANS,
                    f.pool);
    for (int b = 0; b <= 3; b++) {
        int shown[PLANS * 3];
        for (int i = 0; i < PLANS * 3; i++) shown[i] = i % 3 == b - 1 ? z[i] : EMBEDDING_NULL;
        sampler_predict(branch, f.sampler, x, 20, COMPOSE_JOINT, NULL, shown, context, PLANS,
                        f.pool);
        for (int i = 0; i < PLANS * SIZE; i++) {
            double weight = b == 0 ? 1.0 - 3.5 : weights[b - 1];
            sum[i] = (b == 0 ? 0.0 : sum[i]) + weight * (double)branch[i];
        }
    }
    for (int i = 0; i < PLANS * SIZE; i++) assert_near((double)composed[i], sum[i], 2e-5);
    // Another context of the second plan changes that plan alone.
    context[CONTEXT] += 1.0f;
    sampler_predict(other, f.sampler, x, 20, COMPOSE_FACTORS, weights, z, context, PLANS, f.pool);
    for (int n = 0; n < PLANS; n++) {
        int changed = memcmp(other + n * SIZE, composed + n * SIZE, SIZE * sizeof *other) != 0;
        assert_int_equal(changed, n == 1);
    }
    teardown(&f);
}

// One factor composed is that factor; no factor at all is the unconditional network.
static void one_factor_is_joint(void **state)
{
    (void)state;
    for (int factors = 0; factors < 2; factors++) {
        Fixture f;
        setup(&f, factors, 1);
        float x[PLANS * SIZE], composed[PLANS * SIZE], joint[PLANS * SIZE];
        const int z[PLANS] = {0, 2, 1};
        noise(x);
        sampler_predict(composed, f.sampler, x, 3, COMPOSE_FACTORS, NULL, z, NULL, PLANS, f.pool);
        sampler_predict(joint, f.sampler, x, 3, COMPOSE_JOINT, NULL, z, NULL, PLANS, f.pool);
        for (int i = 0; i < PLANS * SIZE; i++)
            assert_near((double)composed[i], (double)joint[i], 1e-6);
        teardown(&f);
    }
}

static void run(float *x, float *path, Fixture *f, SamplerKind kind, double clip)
{
    static SamplerPlan plan;
    const int z[PLANS * 2] = {0, 1, 2, 0, 1, 1};
    float context[PLANS * CONTEXT];
    fill_context(context);
    assert_ok(sampler_plan(&plan, &f->schedule,
                           (SamplerConfig){.kind = kind,
                                           .steps = STEPS,
                                           .spacing = SPACING_EVEN,
                                           .prediction = PREDICT_V,
                                           .clip = clip}));
    noise(x);
    assert_ok(
        sampler_run(x, path, f->sampler, &plan, COMPOSE_FACTORS, NULL, z, context, PLANS, f->pool));
}

static void same_bits_on_any_thread_count(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        float first[PLANS * SIZE], again[PLANS * SIZE];
        for (int threads = 1; threads <= 4; threads++) {
            Fixture f;
            setup_with(&f, 2, threads, kind ? CONTEXT : 0);
            run(threads == 1 ? first : again, NULL, &f, (SamplerKind)kind, 0.0);
            if (threads > 1) assert_memory_equal(first, again, sizeof first);
            teardown(&f);
        }
    }
}

static void clip_and_path(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 2, 1);
    float x[PLANS * SIZE], start[PLANS * SIZE], path[(STEPS + 1) * PLANS * SIZE];
    noise(start);
    run(x, path, &f, SAMPLER_DDIM, 0.0);
    assert_memory_equal(path, start, sizeof start);
    assert_memory_equal(path + STEPS * PLANS * SIZE, x, sizeof x);
    double largest = 0.0;
    for (int i = 0; i < PLANS * SIZE; i++) largest = fmax(largest, fabs((double)x[i]));
    assert_less(0.1, largest);
    run(x, NULL, &f, SAMPLER_DDIM, 0.1);
    for (int i = 0; i < PLANS * SIZE; i++) assert_less(fabs((double)x[i]), 0.1 + 1e-7);
    teardown(&f);
}

// A plan is the same, bit for bit, alone and among others.
static void plans_are_independent(void **state)
{
    (void)state;
    Fixture f;
    setup_with(&f, 2, 2, CONTEXT);
    float x[PLANS * SIZE], together[PLANS * SIZE], alone[SIZE];
    const int z[PLANS * 2] = {0, 1, 2, 0, 1, 1};
    float context[PLANS * CONTEXT];
    noise(x);
    fill_context(context);
    sampler_predict(together, f.sampler, x, 9, COMPOSE_FACTORS, NULL, z, context, PLANS, f.pool);
    for (int n = 0; n < PLANS; n++) {
        sampler_predict(alone, f.sampler, x + n * SIZE, 9, COMPOSE_FACTORS, NULL, z + n * 2,
                        context + n * CONTEXT, 1, f.pool);
        assert_memory_equal(alone, together + n * SIZE, sizeof alone);
    }
    teardown(&f);
}

// A lane gives the bits of the sampler whose weights it has, and takes those of another.
static void lanes_share_weights(void **state)
{
    (void)state;
    Fixture f, other;
    Sampler *lane;
    float x[PLANS * SIZE], expected[PLANS * SIZE], found[PLANS * SIZE];
    const int z[PLANS * 2] = {0, 1, 2, 0, 1, 1};
    float context[PLANS * CONTEXT];
    setup_with(&f, 2, 2, CONTEXT);
    setup_with(&other, 2, 1, CONTEXT);
    noise(x);
    fill_context(context);
    for (size_t i = 0; i < f.net->table.size; i++) other.params[i] *= 0.9f;
    sampler_free(other.sampler); // one of the same network
    assert_ok(sampler_create(&other.sampler, f.net, PLANS, 1));
    sampler_load(other.sampler, other.params, NULL);
    assert_ok(sampler_lane_create(&lane, f.net, 3 * PLANS));
    for (int round = 0; round < 4; round++) {
        Fixture *from = round % 2 ? &other : &f;
        Composition way = round < 2 ? COMPOSE_FACTORS : COMPOSE_JOINT;
        sampler_share(lane, from->sampler);
        sampler_predict(expected, from->sampler, x, 9, way, NULL, z, context, PLANS, from->pool);
        sampler_predict(found, lane, x, 9, way, NULL, z, context, PLANS, NULL);
        assert_memory_equal(found, expected, sizeof found);
    }
    sampler_free(lane);
    teardown(&other);
    teardown(&f);
}

static void not_finite_is_refused(void **state)
{
    (void)state;
    Fixture f;
    static SamplerPlan plan;
    setup(&f, 1, 1);
    float x[SIZE];
    const int z[1] = {0};
    assert_ok(sampler_plan(&plan, &f.schedule, (SamplerConfig){.steps = 4}));
    sampler_noise(x, 1, 0, SIZE);
    f.params[tensor_find(&f.net->table, "out.bias")->offset] = NAN;
    assert_refused(
        sampler_run(x, NULL, f.sampler, &plan, COMPOSE_FACTORS, NULL, z, NULL, 1, f.pool),
        "step 1 of 4");
    teardown(&f);
}

// When plans behind the first are given up, the others keep their tasks and contexts.
static void fewer_plans_keep_their_conditions(void **state)
{
    (void)state;
    Fixture f, alone;
    static SamplerPlan plan;
    float x[PLANS * SIZE], found[PLANS * SIZE], expected[SIZE], context[PLANS * CONTEXT];
    const int z[PLANS * 2] = {0, 1, 2, 0, 1, 1};
    setup_with(&f, 2, 2, CONTEXT);
    setup_with(&alone, 2, 1, CONTEXT);
    noise(x);
    fill_context(context);
    assert_ok(sampler_plan(&plan, &f.schedule, (SamplerConfig){.steps = STEPS}));
    for (int left = 1; left < PLANS; left++) {
        sampler_begin(f.sampler, &plan, COMPOSE_FACTORS, z, context, PLANS);
        sampler_step(found, f.sampler, x, 0, NULL, PLANS, f.pool);
        for (int i = 1; i < STEPS; i++) {
            sampler_step(found, f.sampler, x, i, NULL, left, f.pool);
            for (int n = 0; n < left; n++) {
                sampler_predict(expected, alone.sampler, x + n * SIZE, plan.step[i].t,
                                COMPOSE_FACTORS, NULL, z + 2 * n, context + n * CONTEXT, 1,
                                alone.pool);
                assert_memory_equal(found + n * SIZE, expected, sizeof expected);
            }
        }
    }
    teardown(&alone);
    teardown(&f);
}

static void noise_is_keyed(void **state)
{
    (void)state;
    float a[SIZE], b[SIZE];
    sampler_noise(a, 1, 5, SIZE);
    sampler_noise(b, 1, 5, SIZE);
    assert_memory_equal(a, b, sizeof a);
    sampler_noise(b, 1, 6, SIZE);
    assert_memory_not_equal(a, b, sizeof a);
    sampler_noise(b, 2, 5, SIZE);
    assert_memory_not_equal(a, b, sizeof a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_compose),
        cmocka_unit_test(composed_equals_branches),
        cmocka_unit_test(one_factor_is_joint),
        cmocka_unit_test(same_bits_on_any_thread_count),
        cmocka_unit_test(clip_and_path),
        cmocka_unit_test(plans_are_independent),
        cmocka_unit_test(not_finite_is_refused),
        cmocka_unit_test(noise_is_keyed),
        cmocka_unit_test(lanes_share_weights),
        cmocka_unit_test(fewer_plans_keep_their_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
