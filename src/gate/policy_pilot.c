// A policy that sees as a pilot (see facet/gate.h).
#include <facet/gate.h>
#include <stdlib.h>
#include <string.h>

// One thread's pilot.
typedef struct PolicyPilot {
    const GateFlyer *flyer;
    PolicyRunner *runner;
    bool open[FACTOR_MAX]; // factors that are never shown
    ThreadPool *pool;      // of one thread: flights are what runs side by side
} PolicyPilot;

Status gate_check_policy(const GateWorld *world, const Policy *policy)
{
    int width, height;
    if (!policy_sees(policy))
        return status_fail("expected a policy that sees, found one without an encoder");
    if (!factor_space_equal(policy_space(policy), world->space)) {
        char *expected = factor_space_to_json(world->space);
        char *found = factor_space_to_json(policy_space(policy));
        Status status = status_fail("expected the factors %s, found %s", expected, found);
        free(expected);
        free(found);
        return status;
    }
    if (policy_horizon(policy) != GATE_HORIZON || policy_dim(policy) != GATE_DIM)
        return status_fail("expected chunks of %d x %d offsets, found %d x %d", GATE_HORIZON,
                           GATE_DIM, policy_horizon(policy), policy_dim(policy));
    policy_frame_size(policy, &width, &height);
    if (width != world->camera.width || height != world->camera.height)
        return status_fail("expected a policy for frames of %d x %d, found %d x %d",
                           world->camera.width, world->camera.height, width, height);
    return status_ok();
}

// What a policy never saw it is not shown.
static FactorTask shown_task(const PolicyPilot *pilot, FactorTask task)
{
    const GateFlyer *flyer = pilot->flyer;
    for (int f = 0; f < factor_count(flyer->world->space); f++)
        if (pilot->open[f] || !policy_knows(flyer->policy, f, task.value[f]))
            task.value[f] = FACTOR_NULL;
    return task;
}

uint64_t gate_plan_number(const GateTrial *trial, int frame)
{
    enum { FRAME_BITS = 12 };
    return (trial->number << FRAME_BITS) + (uint64_t)frame;
}

static Status plan(double *offsets, void *context, const GateView *view)
{
    PolicyPilot *pilot = context;
    uint64_t number = gate_plan_number(view->trial, view->frame);
    FactorTask task = shown_task(pilot, view->trial->task);
    PolicySampling how = pilot->flyer->how;
    how.seed = view->trial->seed;
    how.numbers = &number;
    return policy_runner_sample(offsets, pilot->runner, &task, view->rgb, 1, &how, pilot->pool);
}

static void destroy(PolicyPilot *pilot)
{
    policy_runner_destroy(pilot->runner);
    pool_destroy(pilot->pool);
    free(pilot);
}

static Status prepare(PolicyPilot *pilot)
{
    const GateFlyer *flyer = pilot->flyer;
    TRY(pool_create(&pilot->pool, 1));
    if (flyer->open) {
        int factor;
        TRY(factor_find(&factor, flyer->world->space, flyer->open));
        pilot->open[factor] = true;
    }
    return policy_runner_create(&pilot->runner, flyer->policy, 1, 1);
}

static Status make(GatePilot *out, void *context, int worker)
{
    (void)worker;
    const GateFlyer *flyer = context;
    TRY(gate_check_policy(flyer->world, flyer->policy));
    PolicyPilot *pilot = calloc(1, sizeof *pilot);
    if (!pilot) return status_fail("out of memory for a pilot");
    pilot->flyer = flyer;
    Status status = prepare(pilot);
    if (status.ok)
        *out = (GatePilot){.plan = plan, .context = pilot, .sees = true};
    else
        destroy(pilot);
    return status;
}

static void release(GatePilot *pilot, void *context)
{
    (void)context;
    destroy(pilot->context);
}

GateCrew gate_flyer_crew(GateFlyer *flyer)
{
    if (!flyer->policy) return gate_expert_crew(flyer->world);
    return (GateCrew){.make = make, .release = release, .context = flyer};
}
