// The U-Net of the mechanism study (see mechanism_unet.h).
#include "mechanism_unet.h"

#include "bar.h"
#include "commit.h"
#include "hold_out.h"
#include "steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- Training -----------------------------------------------------------------------------------

static void say(const UnetPolicy *policy, const MechanismUnet *unet, double seconds)
{
    const Training *t = &policy->training;
    if (isnan(policy->loss)) return; // it was there
    printf("%s: U-Net of %zu parameters\n"
           "%d demonstrations of %d tasks, %ld updates, loss of the last epoch %.5f\n"
           "took %.1f min\n",
           unet->out, policy->net->table.parameters, t->samples.demos,
           facet_factor_split_count(t->policy->training), t->total, policy->loss, seconds / 60.0);
}

FacetStatus mechanism_unet_train(UnetPolicy **policy, const MechanismUnet *unet,
                                 const CommonOptions *common, FacetPool *pool)
{
    *policy = NULL;
    FacetTrainOptions options = {.composed_weight = unet->composed_loss,
                                 .drop = unet->drop,
                                 .updates = unet->updates,
                                 .blocks = 1, // of a score network that is not used
                                 .channels = unet->channels,
                                 .embed = unet->embed,
                                 .seed = common->seed,
                                 .command = unet->command,
                                 .version = program_version()};
    HoldOut left_out;
    double start = step_clock();
    TRY(hold_out_expand(&left_out, &unet->hold_out, common->courses));
    options.hold_out = left_out.tasks;
    options.hold_out_count = left_out.count;
    FacetStatus status =
        unet_policy_train(policy, unet->data, unet->out, &options, pool, bar_open(common->quiet));
    bar_close();
    hold_out_free(&left_out);
    if (status.ok) say(*policy, unet, step_clock() - start);
    return status;
}

// ---- Plans --------------------------------------------------------------------------------------

enum { SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS };

// What the network is asked for, one entry a plan.
typedef struct Asked {
    FacetFactorTask *tasks;
    uint64_t *seeds;
    double *actions;
} Asked;

static FacetStatus ask(Asked *asked, const PairPlans *pairs, const FacetRace *race,
                       const UnetPolicy *policy)
{
    size_t plans = (size_t)pairs->count * (size_t)pairs->seeds;
    *asked = (Asked){calloc(plans + 1, sizeof *asked->tasks), calloc(plans + 1, sizeof(uint64_t)),
                     calloc(plans * SIZE + 1, sizeof(double))};
    if (!asked->tasks || !asked->seeds || !asked->actions)
        return status_fail(FACET_NO_MEMORY, "out of memory for %zu plans", plans);
    for (int i = 0; i < pairs->count * pairs->seeds; i++) {
        TRY(facet_race_policy_task(&asked->tasks[i], policy->training.policy, race,
                                   pairs->tasks[i / pairs->seeds]));
        asked->seeds[i] = pairs->first + (uint64_t)(i % pairs->seeds);
    }
    return status_ok();
}

FacetStatus mechanism_unet_plan(PairPlans *pairs, const FacetRace *race, const UnetPolicy *policy,
                                FacetPolicyMode mode, int steps, const FacetProgress *progress)
{
    Asked asked;
    int plans = pairs->count * pairs->seeds;
    FacetStatus status = ask(&asked, pairs, race, policy);
    if (status.ok)
        status = unet_policy_sample(asked.actions, policy, asked.tasks, asked.seeds, plans, mode,
                                    steps, race->pool, progress);
    for (int i = 0; i < plans && status.ok; i++)
        facet_chunk_from_actions(pairs->plans + (size_t)i * FACET_CHUNK_KEYPOINTS,
                                 asked.actions + (size_t)i * SIZE);
    free(asked.tasks);
    free(asked.seeds);
    free(asked.actions);
    return status;
}
