// How long a policy that sees takes from a frame to a plan, on one thread and on several.
//
// A step is what a flight does at every frame: shrink and encode the camera's frame, then denoise a
// plan with the null branch and one branch a factor. Whole steps and encodings alone take turns, so
// that what else runs on the machine disturbs all of them alike; the medians are compared, and the
// difference is the denoising. Without a policy it makes one of the default sizes, which has seen
// next to nothing. Usage: pilot [POLICY] [threads] [rounds]
#include "base/rng.h"
#include "bench.h"
#include "factor/factor.h"
#include "nn/image_layers.h"
#include "policy/parts.h"
#include "policy/sight.h"

#include <facet_study/image_set.h>
#include <facet_study/train.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS_MAX = 1000, HORIZON = 16, DIM = 3, FRAMES = 4 };

static uint8_t *noise_frames(size_t bytes)
{
    uint8_t *rgb = malloc(bytes);
    if (!rgb) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetRng rng = rng_make(1, 0);
    for (size_t i = 0; i < bytes; i++) rgb[i] = (uint8_t)(255.0 * rng_uniform(&rng));
    return rgb;
}

// ---- A policy of the default sizes --------------------------------------------------------------

static void write_frames(const char *path)
{
    const FacetFrameShape shape = {.width = 80, .height = 60, .horizon = HORIZON, .dim = DIM};
    FacetFactorSpace *space;
    FacetImageWriter *writer;
    FacetFactorTask tasks[FRAMES];
    int flights[FRAMES] = {0};
    double actions[FRAMES * HORIZON * DIM];
    must(
        factor_space_from_json(&space,
                               "{\"venue\":[\"a\",\"b\",\"c\",\"d\"],\"color\":[\"a\",\"b\",\"c\"],"
                               "\"gate\":[\"1\",\"2\",\"3\",\"4\",\"5\"],\"side\":[\"+1\",\"-1\"]}",
                               "pilot"));
    for (int i = 0; i < FRAMES; i++) tasks[i] = factor_task_at(space, 37 * i);
    for (int i = 0; i < FRAMES * HORIZON * DIM; i++) actions[i] = (i * i) % 11 - 5.0;
    uint8_t *rgb = noise_frames((size_t)FRAMES * 80 * 60 * 3);
    must(facet_image_writer_create(&writer, path, space, shape, NULL));
    must(facet_image_writer_add(writer, rgb, actions, tasks, flights, FRAMES, NULL));
    must(facet_image_writer_finish(writer));
    free(rgb);
    facet_factor_space_destroy(space);
}

// Trains for a moment in a folder of its own, which goes again.
static FacetPolicy *make_policy(void)
{
    char folder[] = "/tmp/facet-pilot-XXXXXX", frames[64], file[64], log[64];
    if (!mkdtemp(folder)) must(status_fail(FACET_BAD_FILE, "%s: cannot make a folder", folder));
    snprintf(frames, sizeof frames, "%s/frames.h5", folder);
    snprintf(file, sizeof file, "%s/policy", folder);
    snprintf(log, sizeof log, "%s/policy.csv", folder);
    write_frames(frames);
    const FacetTrainOptions options = {.recipe = "images",
                                       .encoder = "small",
                                       .updates = 2,
                                       .batch = FRAMES,
                                       .command = "",
                                       .version = ""};
    FacetTrainSummary summary;
    FacetPolicy *policy;
    const char *const files[] = {frames};
    must(facet_policy_train_images(&summary, files, 1, file, &options, NULL, NULL));
    must(facet_policy_load(&policy, file));
    unlink(frames);
    unlink(file);
    unlink(log);
    rmdir(folder);
    return policy;
}

// ---- The clock ----------------------------------------------------------------------------------

// A pool, and all that a step needs on it.
typedef struct Bench {
    FacetPool *pool;
    FacetPolicyRunner *runner;
    Sight *sight;
    double step[ROUNDS_MAX], encode[ROUNDS_MAX];
} Bench;

static void bench_create(Bench *b, const FacetPolicy *policy, int threads)
{
    must(facet_pool_create(&b->pool, threads));
    must(facet_policy_runner_create(&b->runner, policy, 1, facet_pool_threads(b->pool), b->pool));
    must(sight_create(&b->sight, policy->encoder, policy->encoder_params, 1,
                      facet_pool_threads(b->pool), b->pool));
}

static void bench_destroy(Bench *b)
{
    sight_free(b->sight);
    facet_policy_runner_destroy(b->runner);
    facet_pool_destroy(b->pool);
}

static void bench_round(Bench *b, int slot, FacetFactorTask task, const uint8_t *frame,
                        double *actions, float *features)
{
    uint64_t number = (uint64_t)slot;
    const FacetPolicySampling how = {.numbers = &number};
    double t0 = wall_seconds();
    must(facet_policy_runner_sample(actions, b->runner, &task, frame, 1, &how, b->pool));
    double t1 = wall_seconds();
    sight_features(features, b->sight, frame, 1, b->pool);
    b->step[slot] = t1 - t0;
    b->encode[slot] = wall_seconds() - t1;
    if (!isfinite(actions[0])) must(status_fail(FACET_NOT_FINITE, "the plan is not finite"));
}

static void bench_print(Bench *b, int rounds, int steps, int branches)
{
    double step = 1e3 * median(b->step, rounds), encode = 1e3 * median(b->encode, rounds);
    printf("%d thread%s  %8.2f ms a step: %.2f ms encode, %.2f ms denoise (%d steps of %d "
           "branches)\n",
           facet_pool_threads(b->pool), facet_pool_threads(b->pool) == 1 ? " " : "s", step, encode,
           step - encode, steps, branches);
}

int main(int argc, char **argv)
{
    bool named = argc > 1 && atoi(argv[1]) == 0;
    int at = named ? 2 : 1;
    int threads = argc > at ? atoi(argv[at]) : 2, rounds = argc > at + 1 ? atoi(argv[at + 1]) : 100;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 100;
    FacetPolicy *policy;
    if (named)
        must(facet_policy_load(&policy, argv[1]));
    else
        policy = make_policy();
    if (!policy_sees(policy))
        must(status_fail(FACET_BAD_FILE, "%s: expected a policy that sees", argv[1]));
    int width, height, features = encoder_config(policy->encoder)->features;
    policy_frame_size(policy, &width, &height);
    uint8_t *frame = noise_frames((size_t)width * (size_t)height * 3);
    double *actions =
        malloc((size_t)(policy_horizon(policy) * policy_dim(policy)) * sizeof(double));
    float *seen = malloc((size_t)features * sizeof *seen);
    if (!actions || !seen) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetFactorTask task = facet_factor_split_task(facet_policy_training(policy), 0);

    static Bench one, several;
    bench_create(&one, policy, 1);
    bench_create(&several, policy, threads);
    for (int i = -1; i < rounds; i++) { // the first round warms up
        int slot = i < 0 ? 0 : i;
        bench_round(&one, slot, task, frame, actions, seen);
        bench_round(&several, slot, task, frame, actions, seen);
    }
    int steps = policy_default_steps(policy),
        branches = 1 + facet_factor_count(facet_policy_space(policy));
    printf("policy     %zu parameters, frames of %d x %d\n", policy_parameters(policy), width,
           height);
    bench_print(&one, rounds, steps, branches);
    bench_print(&several, rounds, steps, branches);
    bench_destroy(&several);
    bench_destroy(&one);
    facet_policy_destroy(policy);
    free(frame);
    free(actions);
    free(seen);
    return 0;
}
