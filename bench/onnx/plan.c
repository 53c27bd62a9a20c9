// Facet's side of the comparison with ONNX Runtime: plans on request, timed.
//
// Exports the policy's network to MODEL.onnx, and its encoder, if it sees, to MODEL.onnx.encoder.
// Prints one line of JSON with inputs and outputs in C, and then answers every line on stdin with
// the milliseconds of one composed plan, on the clock and of the processors: 50 DDIM steps, or with
// an encoder the frame's encoding and the policy's own number of steps. Usage: plan POLICY
// MODEL.onnx [threads]
#include "base/json.h"
#include "base/rng.h"
#include "diffusion/score_pass.h"
#include "encoder/frame.h"
#include "export/onnx.h"
#include "paper/paper.h"
#include "policy/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double milliseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void must(FacetStatus status)
{
    if (status.ok) return;
    fprintf(stderr, "plan: %s\n", status.text);
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    return memory;
}

static Json *json_from_floats(const float *values, int count)
{
    Json *array = json_array();
    for (int i = 0; i < count; i++) json_push_number(array, (double)values[i]);
    return array;
}

// The frame that is encoded: noise.
static uint8_t *make_frame(const FacetPolicy *policy)
{
    int width, height;
    policy_frame_size(policy, &width, &height);
    uint8_t *frame = room((size_t)(3 * width * height), sizeof *frame);
    FacetRng rng = rng_make(2, 0);
    for (int i = 0; i < 3 * width * height; i++) frame[i] = (uint8_t)(rng_u32(&rng) >> 24);
    return frame;
}

// Adds the image and its features to the case.
static void set_image(Json *line, const FacetPolicy *policy, const uint8_t *frame, FacetPool *pool)
{
    const EncoderConfig *c = encoder_config(policy->encoder);
    int pixels = c->width * c->height;
    uint8_t *small = room((size_t)(3 * pixels), sizeof *small);
    float *input = room((size_t)(3 * pixels), sizeof *input);
    float *features = room((size_t)c->features, sizeof *features);
    EncoderWork *work;
    must(encoder_work_create(&work, policy->encoder, 1, facet_pool_threads(pool), false));
    encoder_load(work, policy->encoder_params, pool);
    frame_shrink(small, frame, c->width * c->shrink, c->height * c->shrink, c->shrink);
    frame_input(input, small, pixels, frame_jitter_none());
    encoder_forward(features, work, input, 1, pool);
    encoder_work_free(work);
    json_set_number(line, "width", c->width);
    json_set_number(line, "height", c->height);
    json_set(line, "image", json_from_floats(input, 3 * pixels));
    json_set(line, "features", json_from_floats(features, c->features));
    free(small);
    free(input);
    free(features);
}

// The rows of one composed step: the null branch, and one a factor.
static void print_case(const FacetPolicy *policy, FacetFactorTask task, const uint8_t *frame,
                       int steps, FacetPool *pool)
{
    const ScoreNetConfig *c = &policy->net->config;
    int rows = 1 + c->factors, size = rows * c->horizon * c->dim;
    float *x = room((size_t)size, sizeof *x), *out = room((size_t)size, sizeof *out);
    float *t = room((size_t)rows, sizeof *t);
    int *z = room((size_t)(rows * c->factors), sizeof *z);
    float *context = room((size_t)(rows * c->context) + 1, sizeof *context);
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < size; i++) x[i] = (float)rng_normal(&rng);
    for (int i = 0; i < rows * c->context; i++) context[i] = (float)rng_normal(&rng);
    for (int r = 0; r < rows; r++) {
        t[r] = (float)((r + 1) * (policy->schedule.steps - 1) / rows);
        for (int f = 0; f < c->factors; f++)
            z[r * c->factors + f] = f == r - 1 ? task.value[f] : FACET_FACTOR_NULL;
    }
    ScoreWork *work;
    must(score_work_create(&work, policy->net, rows, facet_pool_threads(pool)));
    score_load(work, policy->params[0], pool);
    score_forward(out, work, x, t, z, context, rows, pool);
    score_work_free(work);

    Json *line = json_object(), *times = json_array(), *values = json_array();
    for (int r = 0; r < rows; r++) json_push_number(times, (double)t[r]);
    for (int i = 0; i < rows * c->factors; i++) json_push_number(values, z[i]);
    json_set_number(line, "rows", rows);
    json_set_number(line, "horizon", c->horizon);
    json_set_number(line, "dim", c->dim);
    json_set_number(line, "factors", c->factors);
    json_set_number(line, "steps", steps);
    json_set_number(line, "threads", facet_pool_threads(pool));
    json_set_number(line, "parameters", (double)policy_parameters(policy));
    json_set(line, "x", json_from_floats(x, size));
    json_set(line, "t", times);
    json_set(line, "z", values);
    json_set(line, "prediction", json_from_floats(out, size));
    if (frame) {
        json_set(line, "context", json_from_floats(context, rows * c->context));
        set_image(line, policy, frame, pool);
    }
    char *text = json_line(line);
    puts(text);
    fflush(stdout);
    free(text);
    json_free(line);
    free(x);
    free(out);
    free(t);
    free(z);
    free(context);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: plan POLICY MODEL.onnx [threads]\n");
        return 2;
    }
    FacetPolicy *policy;
    FacetPool *pool;
    must(facet_policy_load(&policy, argv[1]));
    if (policy->net->config.factors == 0)
        must(status_fail(FACET_BAD_ARGUMENT, "expected a policy with factors, found a %s one",
                         facet_policy_method_name(policy_method(policy))));
    must(onnx_export(policy, NULL, argv[2]));
    uint8_t *frame = policy_sees(policy) ? make_frame(policy) : NULL;
    if (frame) {
        char encoder[4096];
        snprintf(encoder, sizeof encoder, "%s.encoder", argv[2]);
        must(onnx_export(policy, "encoder", encoder));
    }
    must(facet_pool_create(&pool, argc > 3 ? atoi(argv[3]) : 2));
    FacetFactorTask task = facet_factor_split_task(facet_policy_training(policy), 0);
    int steps = policy_sees(policy) ? policy_default_steps(policy) : PAPER_STEPS;
    print_case(policy, task, frame, steps, pool);
    FacetPolicyRunner *runner;
    must(facet_policy_runner_create(&runner, policy, 1, facet_pool_threads(pool), pool));

    double *actions = room((size_t)(policy_horizon(policy) * policy_dim(policy)), sizeof *actions);
    char line[16];
    for (uint64_t i = 0; fgets(line, sizeof line, stdin); i++) {
        const FacetPolicySampling how = {.steps = steps, .seed = i};
        double wall = milliseconds(CLOCK_MONOTONIC), cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        must(facet_policy_runner_sample(actions, runner, &task, frame, 1, &how, pool));
        printf("%.4f %.4f\n", milliseconds(CLOCK_MONOTONIC) - wall,
               milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
        fflush(stdout);
    }
    free(actions);
    free(frame);
    facet_policy_runner_destroy(runner);
    facet_pool_destroy(pool);
    facet_policy_destroy(policy);
    return 0;
}
