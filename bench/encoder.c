// How much of this machine's sgemm peak the image encoder reaches, measured in one run.
//
// The contenders take turns, so that what else runs on the machine disturbs all of them alike; the
// medians are compared. A backward pass through trained parts counts as two forward passes.
// Usage: encoder [small | resnet18] [threads] [rounds] [images]
#include "encoder/encoder.h"
#include "base/memory.h"
#include "base/rng.h"
#include "peak.h"
#include "train/encoder_backward.h"
#include "train/optim.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 1000 };

static float *numbers(size_t count, uint64_t stream)
{
    float *out = malloc(count * sizeof *out);
    if (!out) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetRng rng = rng_make(1, stream);
    for (size_t i = 0; i < count; i++) out[i] = (float)rng_range(&rng, -1.0, 1.0);
    return out;
}

// Parameters and gradients lie where training has them.
static float *block(size_t count)
{
    float *out = memory_block(count * sizeof *out);
    if (!out) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    return out;
}

int main(int argc, char **argv)
{
    peak_choose_kernels(argc, argv);
    const char *name = argc > 1 ? argv[1] : "small";
    int threads = argc > 2 ? atoi(argv[2]) : 2, rounds = argc > 3 ? atoi(argv[3]) : 15;
    int images = argc > 4 ? atoi(argv[4]) : 32;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 15;
    if (images < 1) images = 32;
    FacetPool *pool, *single;
    must(facet_pool_create(&pool, threads));
    must(facet_pool_create(&single, 1));
    threads = facet_pool_threads(pool);

    EncoderConfig config;
    Encoder *encoder;
    EncoderWork *train, *eval;
    must(encoder_config_find(&config, name));
    must(encoder_create(&encoder, config));
    must(encoder_work_create(&train, encoder, images, threads, true));
    must(encoder_work_create(&eval, encoder, 1, threads, false));
    const TensorTable *table = encoder_table(encoder);
    size_t pixels = (size_t)config.width * (size_t)config.height;
    Peak squares;
    peak_create(&squares, threads);
    float *inputs = numbers((size_t)images * pixels * 3, 1);
    float *dfeatures = numbers((size_t)images * (size_t)config.features, 2);
    float *features = numbers((size_t)images * (size_t)config.features, 3);
    float *params = block(table->size), *dparams = block(table->size);
    tensor_init(params, table, 1);
    encoder_load(eval, params, pool);

    static double peak[ROUNDS_MAX], load[ROUNDS_MAX], forward[ROUNDS_MAX], backward[ROUNDS_MAX];
    static double both[ROUNDS_MAX], one[ROUNDS_MAX], shared[ROUNDS_MAX];
    for (int i = -1; i < rounds; i++) { // the first round warms up
        int slot = i < 0 ? 0 : i;
        double t0 = wall_seconds();
        peak_run(&squares, pool);
        double t1 = wall_seconds();
        encoder_load(train, params, pool);
        double t2 = wall_seconds();
        encoder_forward(features, train, inputs, images, pool);
        double t3 = wall_seconds();
        encoder_backward(dparams, train, dfeatures, pool);
        double t4 = wall_seconds();
        encoder_forward(features, eval, inputs, 1, single);
        double t5 = wall_seconds();
        encoder_forward(features, eval, inputs, 1, pool);
        double t6 = wall_seconds();
        peak[slot] = t1 - t0, load[slot] = t2 - t1, forward[slot] = t3 - t2;
        backward[slot] = t4 - t3, both[slot] = t4 - t1, one[slot] = t5 - t4, shared[slot] = t6 - t5;
    }

    double rate = threads * peak_operations() / median(peak, rounds);
    double flops = encoder_flops(encoder), count = images;
    double trained = encoder_flops_trained(encoder);
    double f = median(forward, rounds), b = median(backward, rounds), fb = median(both, rounds);
    double single_image = median(one, rounds), shared_image = median(shared, rounds);
    printf("encoder            %s, %zu parameters, %.3f GFLOP an image\n", name, table->parameters,
           flops * 1e-9);
    printf("sgemm peak         %8.1f GFLOPS on %d threads, kernels: %s\n", rate * 1e-9, threads,
           peak_kernels());
    printf("forward            %8.1f images/s, %.1f GFLOPS, %.1f %% of peak\n", count / f,
           count * flops / f * 1e-9, 100.0 * count * flops / f / rate);
    printf("backward           %8.1f images/s, %.1f GFLOPS, %.1f %% of peak\n", count / b,
           count * 2.0 * trained / b * 1e-9, 100.0 * count * 2.0 * trained / b / rate);
    printf("forward+backward   %8.1f images/s, %.1f GFLOPS, %.1f %% of peak, %d images\n",
           count / fb, count * (flops + 2.0 * trained) / fb * 1e-9,
           100.0 * count * (flops + 2.0 * trained) / fb / rate, images);
    printf("packing weights    %8.2f ms\n", median(load, rounds) * 1e3);
    printf("one image          %8.2f ms on one thread, %.1f %% of its peak\n", single_image * 1e3,
           100.0 * flops / single_image / (rate / threads));
    printf("one image          %8.2f ms on %d threads\n", shared_image * 1e3, threads);

    encoder_work_free(eval);
    encoder_work_free(train);
    encoder_free(encoder);
    facet_pool_destroy(single);
    facet_pool_destroy(pool);
    peak_destroy(&squares);
    free(inputs);
    free(dfeatures);
    free(features);
    free(params);
    free(dparams);
    return 0;
}
