// How much of this machine's sgemm peak training and planning reach, measured in one run.
//
// The peak is one large square OpenBLAS sgemm a thread on all threads at once. The contenders take
// turns, so that what else runs on the machine disturbs all of them alike; the medians are
// compared. Usage: train [threads] [rounds]
#include "base/rng.h"
#include "bench.h"
#include "diffusion/sampler.h"
#include "linalg/gemm.h"
#include "train/trainer.h"

#include <stdio.h>
#include <stdlib.h>

enum { SQUARE = 1024, PEAK_REPEATS = 3, ROUNDS_MAX = 1000, STEPS = 50 };

static void square_task(void *context, int index, int worker)
{
    (void)worker;
    float *a = (float *)context + (size_t)index * 3 * SQUARE * SQUARE;
    float *b = a + SQUARE * SQUARE, *c = b + SQUARE * SQUARE;
    for (int i = 0; i < PEAK_REPEATS; i++)
        linalg_gemm_f32(c, SQUARE, GEMM_PLAIN, a, SQUARE, GEMM_PLAIN, b, SQUARE, SQUARE, SQUARE,
                        SQUARE, 0.0f);
}

int main(int argc, char **argv)
{
    gemm_set_threads(1); // the pool has the others
    int threads = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 15;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 15;
    FacetPool *pool;
    must(facet_pool_create(&pool, threads));
    threads = facet_pool_threads(pool);

    size_t squares = (size_t)threads * 3 * SQUARE * SQUARE;
    float *matrices = malloc(squares * sizeof *matrices);
    if (!matrices) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    for (size_t i = 0; i < squares; i++) matrices[i] = (float)(i % 97) * 0.01f;

    ScoreNetConfig shape = score_net_default();
    shape.factors = 2, shape.values[0] = 8, shape.values[1] = 3;
    ScoreNet *net;
    NoiseSchedule schedule;
    TrainConfig config = trainer_default();
    Trainer *trainer, *composed;
    must(score_net_create(&net, shape));
    must(schedule_cosine(&schedule, 100));
    must(trainer_create(&trainer, net, &schedule, config, threads));
    config.composed_weight = 1.0;
    must(trainer_create(&composed, net, &schedule, config, threads));
    int size = shape.horizon * shape.dim, batch = config.batch;
    float *x0 = malloc((size_t)batch * size * sizeof *x0);
    int *z = malloc((size_t)batch * 2 * sizeof *z);
    if (!x0 || !z) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < batch * size; i++) x0[i] = (float)rng_range(&rng, -1.0, 1.0);
    for (int i = 0; i < batch; i++) z[2 * i] = i % 8, z[2 * i + 1] = i % 3;

    Sampler *sampler;
    static SamplerPlan plan;
    must(sampler_create(&sampler, net, 1, threads));
    must(sampler_plan(
        &plan, &schedule,
        (SamplerConfig){.steps = STEPS, .spacing = SPACING_EVEN, .prediction = PREDICT_V}));
    float x[32 * 4];

    static double peak[ROUNDS_MAX], train[ROUNDS_MAX], ours[ROUNDS_MAX], sample[ROUNDS_MAX];
    for (int i = -1; i < rounds; i++) { // the first round warms up
        int slot = i < 0 ? 0 : i;
        double t0 = wall_seconds();
        pool_for(pool, threads, square_task, matrices);
        double t1 = wall_seconds();
        TrainReport report = trainer_step(trainer, x0, z, NULL, pool);
        double t2 = wall_seconds();
        TrainReport report2 = trainer_step(composed, x0, z, NULL, pool);
        double t3 = wall_seconds();
        sampler_noise(x, 1, 0, size);
        sampler_load(sampler, trainer->params, pool);
        must(sampler_run(x, NULL, sampler, &plan, COMPOSE_FACTORS, NULL, z, NULL, 1, pool));
        double t4 = wall_seconds();
        if (!report.finite || !report2.finite)
            must(status_fail(FACET_NOT_FINITE, "the loss is not finite"));
        peak[slot] = t1 - t0, train[slot] = t2 - t1, ours[slot] = t3 - t2, sample[slot] = t4 - t3;
    }

    double peak_rate =
        threads * PEAK_REPEATS * 2.0 * SQUARE * SQUARE * SQUARE / median(peak, rounds);
    double row = score_net_flops(net); // a forward pass; forward and backward take three
    double step = median(train, rounds), both = median(ours, rounds), one = median(sample, rounds);
    printf("network            %zu parameters, %.3f GFLOP a row\n", net->table.parameters,
           row * 1e-9);
    printf("sgemm peak         %8.1f GFLOPS on %d threads\n", peak_rate * 1e-9, threads);
    printf("train step         %8.1f ms, %d rows, %.1f %% of peak\n", step * 1e3, batch,
           100.0 * 3.0 * row * batch / step / peak_rate);
    printf("with composed loss %8.1f ms, %d rows, %.1f %% of peak\n", both * 1e3, composed->rows,
           100.0 * 3.0 * row * composed->rows / both / peak_rate);
    printf("composed forward   %8.2f ms, 3 rows, %.1f %% of peak\n", one / STEPS * 1e3,
           100.0 * 3.0 * row * STEPS / one / peak_rate);
    printf("composed plan      %8.1f ms, %d steps\n", one * 1e3, STEPS);

    sampler_free(sampler);
    trainer_free(composed);
    trainer_free(trainer);
    score_net_free(net);
    facet_pool_destroy(pool);
    free(matrices);
    free(x0);
    free(z);
    return 0;
}
