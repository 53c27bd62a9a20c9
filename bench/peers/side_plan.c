// Whole plans, from the task or the frame to actions (see side.h).
#include "../bench.h"
#include "base/rng.h"
#include "side.h"

#include <math.h>

typedef struct Plan {
    FacetPolicyRunner *runner;
    FacetFactorTask task;
    FacetPolicySampling how;
    uint8_t *frame; // NULL of a policy that does not see
    double *actions;
} Plan;

static uint8_t *noise_frame(const FacetPolicy *policy)
{
    int width, height;
    policy_frame_size(policy, &width, &height);
    size_t bytes = 3 * (size_t)width * (size_t)height;
    uint8_t *frame = side_room(bytes, sizeof *frame);
    FacetRng rng = rng_make(1, 6);
    for (size_t i = 0; i < bytes; i++) frame[i] = (uint8_t)(rng_u32(&rng) >> 24);
    return frame;
}

static void run_plan(void *self, FacetPool *pool)
{
    Plan *p = self;
    p->how.seed++;
    must(facet_policy_runner_sample(p->actions, p->runner, &p->task,
                                    &(FacetPolicyObserved){.frames = p->frame}, 1, &p->how, pool));
    if (!isfinite(p->actions[0])) must(status_fail(FACET_NOT_FINITE, "the plan is not finite"));
}

void side_add_plan(Works *works, const char *name, const FacetPolicy *policy, int steps,
                   FacetPool *pool)
{
    Plan *p = side_room(1, sizeof *p);
    must(facet_policy_runner_create(&p->runner, policy, 1, facet_pool_threads(pool), pool));
    p->task = facet_factor_split_task(facet_policy_training(policy), 0);
    p->how.steps = steps;
    if (policy_sees(policy)) p->frame = noise_frame(policy);
    p->actions =
        side_room((size_t)(policy_horizon(policy) * policy_dim(policy)), sizeof *p->actions);
    works_add(works, name, 0.0, run_plan, p);
}
