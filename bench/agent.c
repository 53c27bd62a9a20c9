// How long an agent's acts take on one thread: those that plan, and those that carry a plan out.
//
// Without a policy it makes one, with random weights, of the size that `facet train --observe`
// gives: 39 numbers of the last two steps, chunks of 16 x 4, of which 8 are carried out, two
// factors, and 6 denoising steps of a composed score. Medians and the longest are printed; the
// first episode warms up. Memory is locked, as a robot would, where the system allows it. Usage:
// agent [POLICY] [acts]
#define _DEFAULT_SOURCE // mlockall

#include "base/rng.h"
#include "bench.h"
#include "factor/factor.h"
#include "policy/parts.h"
#include "policy/policy.h"

#include <facet/agent.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { ACTS_MAX = 100000, EPISODE = 200, DIM = 39 };

// ---- A policy -----------------------------------------------------------------------------------

static FacetStatus set_tasks(FacetPolicy *policy)
{
    TRY(factor_space_from_json(&policy->space,
                               "{\"skill\":[\"reach\",\"push\",\"lift\"],\"goal\":[\"a\",\"b\","
                               "\"c\",\"d\",\"e\"]}",
                               "bench"));
    TRY(factor_split_create(&policy->training, policy->space));
    TRY(factor_split_create(&policy->held_out, policy->space));
    for (int i = 0; i < 15; i++)
        TRY(factor_split_add(policy->training, factor_task_at(policy->space, i)));
    return status_ok();
}

static FacetStatus set_ranges(FacetPolicy *policy)
{
    double low[DIM], high[DIM];
    for (int i = 0; i < DIM; i++) low[i] = -1.0, high[i] = 1.0;
    const FacetPolicyKey key = {.name = "state", .dim = DIM};
    TRY(normalizer_create(&policy->normalizer, low, high, 4));
    return observe_create(&policy->observe, 2, 8, &key, 1, low, high);
}

static FacetStatus make_policy(FacetPolicy **out)
{
    ScoreNetConfig net = score_net_default();
    FacetPolicy *policy = *out = calloc(1, sizeof *policy);
    if (!policy) return status_fail(FACET_NO_MEMORY, "out of memory");
    net.horizon = 16;
    net.dim = 4;
    net.blocks = 3;
    net.channels = 96;
    net.embed = 32;
    policy->prediction = PREDICT_V;
    policy->spacing = SPACING_TRAILING;
    policy->clip = 1.5;
    policy->default_steps = 6;
    policy->temperature = 0.5;
    TRY(schedule_cosine(&policy->schedule, 100));
    TRY(set_tasks(policy));
    TRY(set_ranges(policy));
    TRY(policy_build(policy, net));
    TRY(policy_allocate(policy));
    FacetRng rng = rng_make(1, 1);
    for (size_t i = 0; i < policy->net->table.size; i++)
        policy->params[0][i] = 0.05f * (float)rng_normal(&rng);
    return status_ok();
}

// ---- Acting -------------------------------------------------------------------------------------

// Observes anything: what is seen does not change the time.
static void observe(FacetAgent *agent, const FacetPolicy *policy, const double *numbers,
                    const uint8_t *rgb)
{
    for (int i = 0; i < facet_policy_info(policy).observe_keys; i++) {
        FacetPolicyKey key = facet_policy_key(policy, i);
        must(key.dim ? facet_agent_observe(agent, key.name, numbers, key.dim)
                     : facet_agent_observe_image(agent, key.name, rgb, key.width, key.height));
    }
}

static void print_times(const char *what, double *seconds, int count)
{
    double worst = 0.0;
    for (int i = 0; i < count; i++) worst = fmax(worst, seconds[i]);
    printf("%-13s %8d acts  %10.1f us median, %10.1f us at most\n", what, count,
           1e6 * median(seconds, count), 1e6 * worst);
}

static void measure(const FacetPolicy *policy, int acts)
{
    static double planned[ACTS_MAX], carried[ACTS_MAX];
    FacetPolicyInfo info = facet_policy_info(policy);
    double *numbers = calloc((size_t)info.observe_dim + 1, sizeof *numbers);
    uint8_t *rgb = calloc((size_t)info.frame_width * (size_t)info.frame_height + 1, 3);
    double *action = calloc((size_t)info.dim, sizeof *action);
    if (!numbers || !rgb || !action) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    FacetAgent *agent;
    int plans = 0, others = 0;
    double begun = wall_seconds();
    must(facet_agent_create(&agent, policy,
                            facet_factor_split_task(facet_policy_training(policy), 0), NULL, NULL));
    printf("agent         %.1f ms to make\n", 1e3 * (wall_seconds() - begun));
    printf("memory        %s\n", mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? "locked" : "not locked");
    for (int i = -EPISODE; i < acts; i++) {
        if (i % EPISODE == 0) must(facet_agent_reset(agent, (uint64_t)(i + EPISODE)));
        long before = facet_agent_times(agent).plans;
        observe(agent, policy, numbers, rgb);
        must(facet_agent_act(action, agent));
        FacetAgentTimes times = facet_agent_times(agent);
        if (i < 0) continue;
        if (times.plans > before)
            planned[plans++] = times.last;
        else
            carried[others++] = times.last;
    }
    print_times("planning", planned, plans);
    if (others) print_times("carrying out", carried, others);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("process       %.1f MB at most\n", (double)usage.ru_maxrss / 1024.0);
    facet_agent_destroy(agent);
    free(numbers);
    free(rgb);
    free(action);
}

int main(int argc, char **argv)
{
    bool named = argc > 1 && atoi(argv[1]) == 0;
    int at = named ? 2 : 1, acts = argc > at ? atoi(argv[at]) : 4000;
    if (acts < 1 || acts > ACTS_MAX) acts = 4000;
    FacetPolicy *policy;
    double begun = wall_seconds();
    must(named ? facet_policy_load(&policy, argv[1]) : make_policy(&policy));
    FacetPolicyInfo info = facet_policy_info(policy);
    printf("policy        %.1f ms to %s\n", 1e3 * (wall_seconds() - begun),
           named ? "load" : "make");
    printf("policy        %zu parameters, chunks of %d x %d, %d executed, %d numbers and %d images "
           "of %d steps, %d denoising steps\n",
           info.parameters, info.horizon, info.dim, info.execute, info.observe_dim,
           info.observe_images, info.observe_steps, info.default_steps);
    measure(policy, acts);
    facet_policy_destroy(policy);
    return 0;
}
