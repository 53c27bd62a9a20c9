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
    int hold_out_count;      // tasks as texts; the oracle trains on them all the same
    const char *drop;        // "0.1", or "track=0.1,size=0.3"
    double composed_weight;  // of the composed loss; 0 leaves it out
    double agreement_weight; // of the agreement of composed and joint, beside a composed loss
    const char *predict;     // "v", "eps" or "x0"
    int epochs, batch;
    double rate;
    int blocks, channels, embed;
    const char *dilation; // "1,2,4", of each block's convolutions; NULL: 1
    bool no_position;     // the network's steps are not told where they stand
    uint64_t seed;
    bool resume;                   // go on from OUT.ckpt, or begin when there is none
    FacetTrainPrecision precision; // of the finished policy
    long checkpoint_every;         // updates
    double knee;                   // of the normalizer (policy/normalizer.h); below 0 for none
    const char *command;           // for the record
    const char *version;           // of the program, for the record
    FacetRanks *ranks;             // share every update; only for policies that act blind
    long updates;                  // in all, instead of epochs
    const char *filter;            // only the demonstrations that mask/FILTER of the file names
    const char *validate;          // a filter of demonstrations that are not learned, whose loss
                                   // is looked at

    // Only for policies that take observations.
    const char *const *observe; // keys of the demonstrations
    int observe_count;
    int observe_steps; // n, the steps of them that it looks back on; 0 for 2
    int horizon;       // T, actions of a chunk; 0 for 16
    int execute;       // of them, those carried out before the next plan; 0 for 8

    // Only for a new value of a policy's factor.
    const char *from;      // the policy's file
    const char *new_value; // "size=tiny"

    // Only for a router over a policy's networks.
    const char *router_from; // the file of a knet

    // Only for policies that see.
    const char *encoder;      // "small" or "resnet18"; NULL: small, where images are observed
    const char *encoder_from; // a policy whose encoder is taken over and kept as it is
    int draws;                // of noise for each sample of a batch
    double jitter;            // strength of random exposure, contrast and colour; below 0 for none
    bool no_selection;        // the factors select nothing from what is seen
    long until;               // stop after this one, to go on later with more frames; 0 for the end
    const char *frames; // how later frames are made, as "rounds=2,flights=100": for the record,
                        // and a training resumes only if all of it is the same
} FacetTrainOptions;

typedef struct FacetTrainSummary {
    int demos, tasks; // trained on
    int samples;      // chunks of them
    int networks;
    size_t parameters; // of all networks
    int epochs;
    long updates;     // of all networks
    long resumed;     // of those, done in earlier runs
    double loss;      // mean of the last epoch, or tenth of a policy that sees
    double seconds;   // of this run
    int idle_ranks;   // for which an update had no rows
    long log_missing; // rows of earlier runs that OUT.csv no longer had: it was cut or removed
    // The mean squared errors of the averaged weights, at the end, on demonstrations of --validate
    // and of tasks that are held out: with all factors shown, and composed. NAN where there are
    // none, and for several networks, whose losses OUT.csv has.
    double valid, valid_composed, held_out, held_out_composed;
    char remarks[800]; // on the demonstrations: lines, or ""
} FacetTrainSummary;

// Trains on demonstrations and writes the policy to `out`. Without observations a demonstration is
// learned whole, and all have one length; with them, chunks of it are. Beside it stand OUT.csv, the
// losses of every update, and, until training is complete, OUT.ckpt, from which training resumes
// bit for bit however it ended; OUT.lock keeps a second training of the same `out` away. The stage
// is "train", an item an update. A stop writes a checkpoint and fails with a line that says so.
// Pool and progress may be NULL; the pool changes no bit, and nor do ranks: all call this with the
// same options, and rank 0 alone writes.
FACET_API FacetStatus facet_policy_train(FacetTrainSummary *summary, const char *data,
                                         const char *out, const FacetTrainOptions *options,
                                         FacetPool *pool, const FacetProgress *progress);

// Teaches a policy (`from`) one more value of a factor: only its embedding is learned, on the
// demonstrations that have it, and all else stays as it is to the bit. Of the options it takes
// hold_out, filter, batch, rate, updates, seed, precision and those for the record.
FACET_API FacetStatus facet_policy_train_value(FacetTrainSummary *summary, const char *data,
                                               const char *out, const FacetTrainOptions *options,
                                               FacetPool *pool, const FacetProgress *progress);

// Gives a knet (`router_from`) that acts blind a router, which mixes its networks' predictions by
// weights that follow from the noisy plan, the time and the task (FACET_POLICY_ROUTER). It is
// learned on the demonstrations that the networks were trained on, and on no others, without those
// of held-out tasks; the networks stay as they are to the bit. Of the options it takes filter,
// batch, rate, updates, seed, precision and those for the record.
FACET_API FacetStatus facet_policy_train_router(FacetTrainSummary *summary, const char *data,
                                                const char *out, const FacetTrainOptions *options,
                                                FacetPool *pool, const FacetProgress *progress);

// The training of a policy that sees, on the frames of image sets (facet_study/image_set.h),
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
