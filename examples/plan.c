// Loads a policy and prints its plan for a task: 32 keypoints for a policy of the race study.
//
//     example_plan models/race-factored.safetensors race1/wide
#include <facet/policy.h>
#include <stdio.h>
#include <stdlib.h>

static Status print_plan(const Policy *policy, const char *name, ThreadPool *pool)
{
    int steps = policy_horizon(policy), dim = policy_dim(policy);
    FactorTask task;
    TRY(factor_task_parse(&task, policy_space(policy), name, FACTOR_MISSING_REFUSED));
    double *actions = malloc(sizeof *actions * (size_t)(steps * dim));
    if (!actions) return status_fail("out of memory");
    Status status = policy_sample(actions, policy, &task, 1, &(PolicySampling){.seed = 1}, pool);
    for (int t = 0; t < steps && status.ok; t++) {
        printf("%2d", t);
        for (int d = 0; d < dim; d++) printf(" %9.4f", actions[t * dim + d]);
        printf("\n");
    }
    free(actions);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s POLICY TASK\n", argv[0]);
        return 2;
    }
    Policy *policy = NULL;
    ThreadPool *pool = NULL;
    Status status = policy_load(&policy, argv[1]);
    if (status.ok) status = pool_create(&pool, 0); // one thread a processor
    if (status.ok) status = print_plan(policy, argv[2], pool);
    if (!status.ok) fprintf(stderr, "%s\n", status.text);
    if (pool) pool_destroy(pool);
    policy_destroy(policy);
    return status.ok ? 0 : 1;
}
