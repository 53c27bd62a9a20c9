// Facet's side of the comparison with ONNX Runtime: plans on request, timed.
//
// Exports the policy's network, prints one line of JSON with inputs and the prediction in C, and
// then answers every line on stdin with the milliseconds of one composed plan of 50 DDIM steps, on
// the clock and of the processors.
// Usage: plan POLICY MODEL.onnx [threads]
#include "base/json.h"
#include "diffusion/score_pass.h"
#include "policy/onnx.h"
#include "policy/parts.h"

#include <facet/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 50 };

static double milliseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void must(Status status)
{
    if (status.ok) return;
    fprintf(stderr, "plan: %s\n", status.text);
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) must(status_fail("out of memory"));
    return memory;
}

static Json *json_from_floats(const float *values, int count)
{
    Json *array = json_array();
    for (int i = 0; i < count; i++) json_push_number(array, (double)values[i]);
    return array;
}

// The rows of one composed step: the null branch, and one a factor.
static void print_case(const Policy *policy, FactorTask task, ThreadPool *pool)
{
    const ScoreNetConfig *c = &policy->net->config;
    int rows = 1 + c->factors, size = rows * c->horizon * c->dim;
    float *x = room((size_t)size, sizeof *x), *out = room((size_t)size, sizeof *out);
    float *t = room((size_t)rows, sizeof *t);
    int *z = room((size_t)(rows * c->factors), sizeof *z);
    Rng rng = rng_make(1, 0);
    for (int i = 0; i < size; i++) x[i] = (float)rng_normal(&rng);
    for (int r = 0; r < rows; r++) {
        t[r] = (float)((r + 1) * (policy->schedule.steps - 1) / rows);
        for (int f = 0; f < c->factors; f++)
            z[r * c->factors + f] = f == r - 1 ? task.value[f] : FACTOR_NULL;
    }
    ScoreWork *work;
    must(score_work_create(&work, policy->net, rows));
    score_load(work, policy->params[0], pool);
    score_forward(out, work, x, t, z, NULL, rows, pool);
    score_work_free(work);

    Json *line = json_object(), *times = json_array(), *values = json_array();
    for (int r = 0; r < rows; r++) json_push_number(times, (double)t[r]);
    for (int i = 0; i < rows * c->factors; i++) json_push_number(values, z[i]);
    json_set_number(line, "rows", rows);
    json_set_number(line, "horizon", c->horizon);
    json_set_number(line, "dim", c->dim);
    json_set_number(line, "factors", c->factors);
    json_set_number(line, "steps", STEPS);
    json_set_number(line, "threads", pool_threads(pool));
    json_set_number(line, "parameters", (double)policy_parameters(policy));
    json_set(line, "x", json_from_floats(x, size));
    json_set(line, "t", times);
    json_set(line, "z", values);
    json_set(line, "prediction", json_from_floats(out, size));
    char *text = json_line(line);
    puts(text);
    fflush(stdout);
    free(text);
    json_free(line);
    free(x);
    free(out);
    free(t);
    free(z);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: plan POLICY MODEL.onnx [threads]\n");
        return 2;
    }
    Policy *policy;
    ThreadPool *pool;
    must(policy_load(&policy, argv[1]));
    if (policy->net->config.factors == 0)
        must(status_fail("expected a policy with factors, found a %s one",
                         policy_method_name(policy_method(policy))));
    must(onnx_export(policy, NULL, argv[2]));
    must(pool_create(&pool, argc > 3 ? atoi(argv[3]) : 2));
    FactorTask task = factor_split_task(policy_training(policy), 0);
    print_case(policy, task, pool);

    double *actions = room((size_t)(policy_horizon(policy) * policy_dim(policy)), sizeof *actions);
    char line[16];
    for (uint64_t i = 0; fgets(line, sizeof line, stdin); i++) {
        const PolicySampling how = {.steps = STEPS, .seed = i};
        double wall = milliseconds(CLOCK_MONOTONIC), cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        must(policy_sample(actions, policy, &task, 1, &how, pool));
        printf("%.4f %.4f\n", milliseconds(CLOCK_MONOTONIC) - wall,
               milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
        fflush(stdout);
    }
    free(actions);
    pool_destroy(pool);
    policy_destroy(policy);
    return 0;
}
