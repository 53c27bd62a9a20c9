// How long a plan of the race policy takes at its own number of steps and at the paper's, on one
// thread and on several. The weights are packed before, as by a robot that plans again and again.
//
// The contenders take turns; the medians are printed. Usage: plan [POLICY] [threads] [rounds]
#include "base/file.h"
#include "bench.h"
#include "paper/paper.h"
#include "policy/policy.h"

#include <math.h>

enum { ROUNDS_MAX = 1000 };

typedef struct Contender {
    FacetPool *pool;
    FacetPolicyRunner *runner;
    double few[ROUNDS_MAX], many[ROUNDS_MAX]; // s
} Contender;

static void contender_create(Contender *c, const FacetPolicy *policy, int threads)
{
    must(facet_pool_create(&c->pool, threads));
    must(facet_policy_runner_create(&c->runner, policy, 1, facet_pool_threads(c->pool), c->pool));
}

static void contender_destroy(Contender *c)
{
    facet_policy_runner_destroy(c->runner);
    facet_pool_destroy(c->pool);
}

static double plan_seconds(double *actions, Contender *c, FacetFactorTask task, int steps,
                           uint64_t seed)
{
    const FacetPolicySampling how = {.steps = steps, .seed = seed};
    double started = wall_seconds();
    must(facet_policy_runner_sample(actions, c->runner, &task, NULL, 1, &how, c->pool));
    double seconds = wall_seconds() - started;
    if (!isfinite(actions[0])) must(status_fail(FACET_NOT_FINITE, "the plan is not finite"));
    return seconds;
}

// The long plan comes first: it brings the weights back that the other contender drove out of the
// cache.
static void contender_round(Contender *c, double *actions, FacetFactorTask task, int slot)
{
    c->many[slot] = plan_seconds(actions, c, task, PAPER_STEPS, (uint64_t)slot);
    c->few[slot] = plan_seconds(actions, c, task, 0, (uint64_t)slot);
}

static void contender_print(Contender *c, int rounds, int steps)
{
    int threads = facet_pool_threads(c->pool);
    printf("%d thread%s  %8.2f ms with %d steps, %8.2f ms with %d\n", threads,
           threads == 1 ? " " : "s", 1e3 * median(c->few, rounds), steps,
           1e3 * median(c->many, rounds), PAPER_STEPS);
}

int main(int argc, char **argv)
{
    bool named = argc > 1 && atoi(argv[1]) == 0;
    int at = named ? 2 : 1;
    int threads = argc > at ? atoi(argv[at]) : 2, rounds = argc > at + 1 ? atoi(argv[at + 1]) : 30;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 30;
    char models[FILE_PATH_MAX], shipped[FILE_PATH_MAX + 32];
    must(file_shipped(models, "models"));
    snprintf(shipped, sizeof shipped, "%s/race-factored.safetensors", models);
    FacetPolicy *policy;
    must(facet_policy_load(&policy, named ? argv[1] : shipped));
    double *actions =
        malloc((size_t)(policy_horizon(policy) * policy_dim(policy)) * sizeof *actions);
    if (!actions) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetFactorTask task = facet_factor_split_task(facet_policy_training(policy), 0);

    static Contender one, several;
    contender_create(&one, policy, 1);
    contender_create(&several, policy, threads);
    for (int i = -1; i < rounds; i++) { // the first round warms up
        contender_round(&one, actions, task, i < 0 ? 0 : i);
        contender_round(&several, actions, task, i < 0 ? 0 : i);
    }
    printf("policy     %zu parameters, composed plans of %d x %d by DDIM\n",
           policy_parameters(policy), policy_horizon(policy), policy_dim(policy));
    contender_print(&one, rounds, policy_default_steps(policy));
    contender_print(&several, rounds, policy_default_steps(policy));
    contender_destroy(&several);
    contender_destroy(&one);
    facet_policy_destroy(policy);
    free(actions);
    return 0;
}
