// Training: from demonstrations to a policy.
#ifndef FACET_STUDY_TRAIN_H
#define FACET_STUDY_TRAIN_H

#include <facet/api.h>
#include <facet/policy.h>
#include <facet/progress.h>
#include <facet_study/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FacetTrainPrecision {
    FACET_TRAIN_FP32,
    FACET_TRAIN_FP16, // half the size; weights are rounded to 11 bits
} FacetTrainPrecision;

// Zeros and NULLs take the recipe's or the default value.
typedef struct FacetTrainOptions {
    FacetPolicyMethod method;
    const char *recipe; // "default" or "paper"
    const char *const *hold_out;
    int hold_out_count;     // tasks as texts; the oracle trains on them all the same
    const char *drop;       // "0.1", or "track=0.1,size=0.3"
    double composed_weight; // of the composed loss; 0 leaves it out
    const char *predict;    // "v", "eps" or "x0"
    int epochs, batch;
    double rate;
    int blocks, channels, embed;
    uint64_t seed;
    bool resume;                   // go on from OUT.ckpt, or begin when there is none
    FacetTrainPrecision precision; // of the finished policy
    long checkpoint_every;         // updates
    double knee;                   // of the normalizer (policy/normalizer.h); below 0 for none
    const char *command;           // for the record
    const char *version;           // of the program, for the record
    FacetRanks *ranks;             // share every update; only for policies that do not see

    // Only for policies that see.
    const char *encoder;      // "small" or "resnet18"; it must be given
    const char *encoder_from; // a policy whose encoder is taken over and kept as it is
    int draws;                // of noise for each frame of a batch
    double jitter;            // strength of random exposure, contrast and colour; below 0 for none
    long updates;             // in all, instead of epochs
    long until;               // stop after this one, to go on later with more frames; 0 for the end
} FacetTrainOptions;

typedef struct FacetTrainSummary {
    int demos, tasks; // trained on
    int networks;
    size_t parameters; // of all networks
    int epochs;
    long updates;   // of all networks
    long resumed;   // of those, done in earlier runs
    double loss;    // mean of the last epoch, or tenth of a policy that sees
    double seconds; // of this run
    int idle_ranks; // for which an update had no rows
} FacetTrainSummary;

// Trains on demonstrations and writes the policy to `out`. Beside it stand OUT.csv, the losses of
// every update, and, until training is complete, OUT.ckpt, from which training resumes bit for bit
// however it ended. The stage is "train", an item an update. A stop writes a checkpoint and fails
// with a line that says so. Pool and progress may be NULL; the pool changes no bit, and nor do
// ranks: all call this with the same options, and rank 0 alone writes.
FACET_API FacetStatus facet_policy_train(FacetTrainSummary *summary, const char *data,
                                         const char *out, const FacetTrainOptions *options,
                                         FacetPool *pool, const FacetProgress *progress);

// The same for a policy that sees, on the frames of image sets (facet_study/image_set.h), trained
// for a number of updates. Held-out tasks may leave factors open: "venue=pool" holds out all of
// pool's. Ranges and training tasks are those of the first file. Training that stops at `until`
// writes the policy as it is then and keeps OUT.ckpt; more files may be there when it resumes.
FACET_API FacetStatus facet_policy_train_images(FacetTrainSummary *summary,
                                                const char *const *files, int count,
                                                const char *out, const FacetTrainOptions *options,
                                                FacetPool *pool, const FacetProgress *progress);

#ifdef __cplusplus
}
#endif

#endif
