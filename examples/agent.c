// A policy in a loop: loads one that observes `place`, two numbers, and lets it drive a point whose
// actions are its steps. docs/your-robot.md makes such a policy.
//
//     agent robot.safetensors middle/far
#include <facet/facet.h>

#include <stdio.h>

// Thirty steps from a corner. What can go wrong comes back in the status, with a line for a person.
static FacetStatus drive(FacetAgent *agent)
{
    FacetStatus status = {.ok = true};
    double place[2] = {0.9, -0.9}, action[2];
    for (int i = 0; i < 30 && status.ok; i++) {
        status = facet_agent_observe(agent, "place", place, 2); // what your robot senses
        if (status.ok) status = facet_agent_act(action, agent);
        for (int d = 0; d < 2 && status.ok; d++) place[d] += action[d]; // what it does
    }
    if (status.ok) printf("at %.2f %.2f\n", place[0], place[1]);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s POLICY TASK\n", argv[0]);
        return 2;
    }
    FacetPolicy *policy = NULL;
    FacetAgent *agent = NULL;
    FacetFactorTask task;
    FacetStatus status = facet_policy_load(&policy, argv[1]);
    if (status.ok)
        status = facet_factor_task_parse(&task, facet_policy_space(policy), argv[2],
                                         FACET_FACTOR_MISSING_REFUSED);
    if (status.ok && facet_policy_info(policy).dim != 2) {
        fprintf(stderr, "expected a policy of two actions, found %d\n",
                facet_policy_info(policy).dim);
        facet_policy_destroy(policy);
        return 1;
    }
    if (status.ok) status = facet_agent_create(&agent, policy, task, NULL, NULL);
    if (status.ok) status = drive(agent);
    if (!status.ok) fprintf(stderr, "%s\n", status.text);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
    return status.ok ? 0 : 1;
}
