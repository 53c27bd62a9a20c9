// Loads a policy and prints its plan for a task: 32 keypoints for a policy of the race study.
//
//     plan models/race-factored.safetensors race1/wide
#include <facet/facet.h>

#include <stdio.h>
#include <stdlib.h>

// Prints the plan of a task. What can go wrong comes back in the status: a code for the program,
// and one line for a person.
static FacetStatus print_plan(const FacetPolicy *policy, const char *name, FacetPool *pool)
{
    FacetPolicyInfo info = facet_policy_info(policy);
    FacetFactorTask task;
    FacetStatus status = facet_factor_task_parse(&task, facet_policy_space(policy), name,
                                                 FACET_FACTOR_MISSING_REFUSED);
    if (!status.ok) return status;
    double *actions = calloc((size_t)(info.horizon * info.dim), sizeof *actions);
    FacetPolicySampling how = {.seed = 1};
    status = facet_policy_sample(actions, policy, &task, 1, &how, pool);
    for (int t = 0; t < info.horizon && status.ok; t++) {
        printf("%2d", t);
        for (int d = 0; d < info.dim; d++) printf(" %9.4f", actions[t * info.dim + d]);
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
    FacetPolicy *policy = NULL;
    FacetPool *pool = NULL;
    FacetStatus status = facet_policy_load(&policy, argv[1]);
    if (status.ok) status = facet_pool_create(&pool, 0); // one thread a processor
    if (status.ok) status = print_plan(policy, argv[2], pool);
    if (!status.ok) fprintf(stderr, "%s\n", status.text);
    facet_pool_destroy(pool);
    facet_policy_destroy(policy);
    return status.ok ? 0 : 1;
}
