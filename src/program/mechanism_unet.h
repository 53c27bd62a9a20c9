// The U-Net of the mechanism study, which is no policy that facet train could make (unet/unet.h).
#ifndef FACET_PROGRAM_MECHANISM_UNET_H
#define FACET_PROGRAM_MECHANISM_UNET_H

#include "args.h"
#include "race/leave_one_out.h"
#include "unet/policy.h"

// What the training of one is told: as `facet train` is of the other networks.
typedef struct MechanismUnet {
    const char *data, *out; // files
    double composed_loss;
    const char *drop; // NULL: the recipe's for its loss
    int updates, channels, embed;
    TextList hold_out;   // as --hold-out takes it
    const char *command; // of the study, for the record
} MechanismUnet;

// Trains one, or reads the one that is there, and says so. Free with unet_policy_free.
FacetStatus mechanism_unet_train(UnetPolicy **policy, const MechanismUnet *unet,
                                 const CommonOptions *common, FacetPool *pool);

// Samples the plans of pairs from it, in this mode and so many steps, as pairs_plan does from a
// policy.
FacetStatus mechanism_unet_plan(PairPlans *pairs, const FacetRace *race, const UnetPolicy *policy,
                                FacetPolicyMode mode, int steps, const FacetProgress *progress);

#endif
