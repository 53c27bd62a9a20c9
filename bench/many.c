// How fast many plans at once are, beside plans one at a time and beside what training's forward
// pass does, measured in one run.
//
// A thousand plans of all the tasks that the policy knows, in turn, are sampled in one call, and
// the others are measured before and after it, so that what else runs on the machine disturbs all
// of them alike; the medians are compared. A row is one evaluation of the network: a composed plan
// takes one a branch and step. Usage: many [POLICY] [threads] [plans] [rounds]
#include "base/file.h"
#include "base/rng.h"
#include "bench.h"
#include "factor/factor.h"
#include "policy/parts.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLANS_MAX = 100000, ROUNDS_MAX = 100, STEPS = 3, ALONE = 60, ROWS = 32, PASSES = 20 };

typedef struct Bench {
    const FacetPolicy *policy;
    FacetPool *pool;
    int plans, size;
    FacetFactorTask *tasks; // [plans]
    double *actions;        // [plans][size]
    FacetPolicyRunner *many, *one;
    ScoreWork *work;
    float x[ROWS * 1024], out[ROWS * 1024], t[ROWS];
    int z[ROWS * SCORE_FACTORS_MAX];
} Bench;

static void choose_tasks(Bench *b)
{
    const FacetFactorSpace *space = facet_policy_space(b->policy);
    int64_t all = factor_task_count(space);
    int64_t task = 0;
    for (int i = 0; i < b->plans; task++) {
        b->tasks[i] = factor_task_at(space, task % all);
        i += policy_check_task(b->policy, b->tasks[i]).ok;
    }
}

static void bench_create(Bench *b)
{
    const ScoreNet *net = b->policy->net;
    int threads = facet_pool_threads(b->pool);
    b->size = policy_horizon(b->policy) * policy_dim(b->policy);
    b->tasks = calloc((size_t)b->plans, sizeof *b->tasks);
    b->actions = calloc((size_t)b->plans * (size_t)b->size, sizeof *b->actions);
    if (!b->tasks || !b->actions || b->size > 1024)
        must(status_fail(FACET_NO_MEMORY, "out of memory"));
    choose_tasks(b);
    must(facet_policy_runner_create(&b->many, b->policy, b->plans, threads, b->pool));
    must(facet_policy_runner_create(&b->one, b->policy, 1, threads, b->pool));
    must(score_work_create_train(&b->work, net, ROWS, threads));
    score_load(b->work, b->policy->params[0], b->pool);
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < ROWS * b->size; i++) b->x[i] = (float)rng_normal(&rng);
    for (int r = 0; r < ROWS; r++) b->t[r] = (float)(r % 50);
}

static void bench_destroy(Bench *b)
{
    score_work_free(b->work);
    facet_policy_runner_destroy(b->one);
    facet_policy_runner_destroy(b->many);
    free(b->tasks);
    free(b->actions);
}

// Seconds a row of the three contenders.

static double forward_row(Bench *b)
{
    double start = wall_seconds();
    for (int i = 0; i < PASSES; i++)
        score_forward(b->out, b->work, b->x, b->t, b->z, NULL, ROWS, b->pool);
    return (wall_seconds() - start) / (PASSES * ROWS);
}

static double alone_row(Bench *b, int branches)
{
    const FacetPolicySampling how = {.steps = STEPS};
    double start = wall_seconds();
    for (int i = 0; i < ALONE; i++)
        must(facet_policy_runner_sample(b->actions, b->one, &b->tasks[i % b->plans], NULL, 1, &how,
                                        b->pool));
    return (wall_seconds() - start) / (ALONE * STEPS * branches);
}

static double many_row(Bench *b, int branches)
{
    const FacetPolicySampling how = {.steps = STEPS};
    double start = wall_seconds();
    must(facet_policy_runner_sample(b->actions, b->many, b->tasks, NULL, b->plans, &how, b->pool));
    return (wall_seconds() - start) / ((double)b->plans * STEPS * branches);
}

static FacetPolicy *open_policy(const char *file)
{
    char folder[FILE_PATH_MAX], shipped[FILE_PATH_MAX + 32];
    FacetPolicy *policy;
    if (!file) {
        must(file_shipped(folder, "models"));
        snprintf(shipped, sizeof shipped, "%s/race-factored.safetensors", folder);
        file = shipped;
    }
    must(facet_policy_load(&policy, file));
    if (policy_sees(policy) || policy_method(policy) == FACET_POLICY_KNET)
        must(status_fail(FACET_BAD_FILE, "%s: expected a policy of one network that does not see",
                         file));
    return policy;
}

int main(int argc, char **argv)
{
    bool named = argc > 1 && atoi(argv[1]) == 0;
    int at = named ? 2 : 1, rounds = argc > at + 2 ? atoi(argv[at + 2]) : 3;
    int threads = argc > at ? atoi(argv[at]) : 2, plans = argc > at + 1 ? atoi(argv[at + 1]) : 1000;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 3;
    if (plans < 1 || plans > PLANS_MAX) plans = 1000;
    FacetPolicy *policy = open_policy(named ? argv[1] : NULL);
    static Bench bench;
    bench.policy = policy;
    bench.plans = plans;
    must(facet_pool_create(&bench.pool, threads));
    bench_create(&bench);
    int branches = 1 + facet_factor_count(facet_policy_space(policy));
    static double forward[ROUNDS_MAX], alone[ROUNDS_MAX], many[ROUNDS_MAX];
    forward_row(&bench), alone_row(&bench, branches); // warms up
    for (int i = 0; i < rounds; i++) {
        double before = forward_row(&bench), single = alone_row(&bench, branches);
        many[i] = many_row(&bench, branches);
        alone[i] = 0.5 * (single + alone_row(&bench, branches));
        forward[i] = 0.5 * (before + forward_row(&bench));
    }
    double pass = 1.0 / median(forward, rounds), single = 1.0 / median(alone, rounds);
    double rate = 1.0 / median(many, rounds);
    printf("training's forward pass %8.1f rows/s, %d rows at once, %d threads\n", pass, ROWS,
           facet_pool_threads(bench.pool));
    printf("one plan at a time      %8.1f rows/s, %.2f plans/s of %d steps, %.2f of training's\n",
           single, single / (STEPS * branches), STEPS, single / pass);
    printf("%5d plans in a call   %8.1f rows/s, %.2f plans/s of %d steps, %.2f of training's, "
           "%.2f times one at a time\n",
           plans, rate, rate / (STEPS * branches), STEPS, rate / pass, rate / single);
    bench_destroy(&bench);
    facet_pool_destroy(bench.pool);
    facet_policy_destroy(policy);
    return 0;
}
