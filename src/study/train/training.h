// The state of a training run, shared by the files that set it up, run it and keep it.
#ifndef FACET_POLICY_TRAINING_H
#define FACET_POLICY_TRAINING_H

#include "base/file.h"
#include "base/lock.h"
#include "policy/parts.h"
#include "ranks/ranks.h"
#include "train/learner.h"
#include "train/samples.h"

#include <facet_study/dataset.h>
#include <facet_study/image_set.h>
#include <facet_study/train.h>
#include <stdio.h>

// Samples that nothing is learned from: their loss says how well what was learned carries over.
typedef enum CheckSet {
    CHECK_VALID,    // demonstrations of the filter for validation
    CHECK_HELD_OUT, // of tasks that are held out
    CHECK_SETS
} CheckSet;

// A run trains the networks of a policy one after the other; all methods but knet have one.
typedef struct Training {
    const FacetTrainOptions *options;
    FacetPool *pool;
    const FacetProgress *progress;
    const char *out;
    char checkpoint[FILE_PATH_MAX], csv[FILE_PATH_MAX];
    FacetPolicy *policy; // gets the averaged weights of each network that is done
    TrainConfig config;

    double knee;              // of the normalizer
    const Normalizer *ranges; // of actions; NULL for those of the first demonstrations
    int padded;               // demos shorter than the horizon

    Samples samples;             // trained on
    Samples checked[CHECK_SETS]; // only looked at: validation, held-out tasks
    FacetImageSet *images;       // frames that are read as they are needed; NULL for none

    // The network that is being trained.
    int network;
    int *members, member_count; // its samples
    long total;                 // its updates
    Learner *learner;
    Trainer *trainer; // the learner's
    int idle;         // ranks that have no rows of an update
    int *order;       // of its samples in one epoch
    long order_epoch;

    // A batch: what samples are made of (train/learner.h), and frames to be read.
    float *batch_x, *batch_numbers;
    int *batch_z;
    uint8_t *batch_rgb;
    int64_t *batch_frames;

    TrainLoss looked[CHECK_SETS]; // the last losses of what is not learned, of a
                                  // policy of one network

    double tail;   // sum of the losses of its last updates so far
    double losses; // sum of the mean last losses of the networks before it

    FILE *log;
    long log_missing; // rows before the first of this run that OUT.csv no longer had
    FileLock lock;    // of `out`, on rank 0
} Training;

// ---- The run of a training (train.c) ------------------------------------------------------------

// A training that writes to `out`, not set up yet; the run of one that is. The end frees the
// members, not the struct, and gives up the lock.
FacetStatus training_begin(Training *training, const char *out, const FacetTrainOptions *options,
                           FacetPool *pool, const FacetProgress *progress);
FacetStatus training_run(FacetTrainSummary *summary, Training *training);
void training_end(Training *training);

// ---- Setting up (recipe.c) ----------------------------------------------------------------------

// Reads the options into a policy without weights and the trainer's settings, and the demos that
// are trained on into the samples. `whole`: a demo is one sample.
FacetStatus training_set_up(Training *training, const FacetDataset *dataset, const char *data,
                            bool whole);

// The hash of demonstrations that the record of a policy has, as a text.
FacetStatus training_data_hash(char *out, size_t size, const FacetDataset *dataset);

// Adds the demos of another dataset that are not held out.
FacetStatus training_add(Training *training, const FacetDataset *dataset, bool whole);

// Adds demos of training tasks to those that are only looked at.
FacetStatus training_add_valid(Training *training, const FacetDataset *dataset, const char *data);

// ---- Observations (observing.c) -----------------------------------------------------------------

// T of the samples: the options', or that of demonstrations that are learned whole, 0 where these
// differ.
int training_horizon(const Training *training, const FacetDataset *dataset);

// What the policy takes, from the options and the demos of the mask.
FacetStatus training_observe(Training *training, const FacetDataset *dataset, const bool *mask);

// Lines about what is odd in the demonstrations: channels that never change, demos that are padded,
// values with one demo, held-out tasks that nothing links. Or "".
FacetStatus training_remarks(char *out, size_t size, const Training *training);

// ---- Losses that nothing is learned from (check.c) ----------------------------------------------

// The mean losses of the network on each set, NAN where there is none.
FacetStatus training_check(TrainLoss losses[CHECK_SETS], Training *training);

// ---- The order of the data, and batches (batch.c) -----------------------------------------------

// Makes room for the order and a batch, once the training is set up.
FacetStatus training_allocate(Training *training);

// Its network's samples, and how many updates they mean; and the trainer's settings for them.
TrainConfig training_network(Training *training);
long training_updates(const Training *training, int members);

// The batch of the update that follows `update` others, in the order of this seed.
void training_fill(Training *training, uint64_t seed, long update);

// Sample `i` of a set as row `row` of the batch.
void training_lay(Training *training, const Samples *samples, int i, int row);
LearnerBatch training_batch(const Training *training);

// The samples of a set that a network is shown; `members` holds all. Returns how many there are.
int training_members(int *members, const Training *training, const Samples *samples, int network);

// The members of a network's demos, [count], in the order of an epoch.
void training_order(int *order, const int *members, int count, uint64_t seed, long epoch);

// ---- Checkpoints and the log of losses (checkpoint.c) -------------------------------------------

// Writes OUT.ckpt on rank 0, after the rows of OUT.csv up to here are on disk.
FacetStatus checkpoint_write(Training *training);

// Reads the place where OUT.ckpt stands and the weights of finished networks, after making sure
// that it belongs to this training.
FacetStatus checkpoint_read(Training *training, Safetensors **file, long *update);

// Reads the trainer's state, for the network that the checkpoint stands in.
FacetStatus checkpoint_read_trainer(Training *training, const Safetensors *file, long update);

// Whether a file was trained with the settings of this policy; the refusal names the first that
// differs. The record's texts become those of the file.
FacetStatus checkpoint_matches(FacetPolicy *policy, const Safetensors *file, const char *path,
                               const char *format);

// The same for settings as the metadata of a file has them, which stay the caller's.
FacetStatus checkpoint_same(const Json *settings, const Safetensors *file, const char *path);

// A number of the metadata, from 0 to `max`.
FacetStatus checkpoint_number(double *out, const Safetensors *file, const char *path,
                              const char *key, double max);
void checkpoint_set_number(Json *metadata, const char *key, double value);

// What an optimizer and its weights are, but the number of updates: blocks of its table, with a
// prefix before each name, as CHECKPOINT_BLOCKS sources a tensor. And back.
enum { CHECKPOINT_BLOCKS = 4 };
void checkpoint_sources(TensorSource *sources, float *params, const Optimizer *optimizer,
                        const char *prefix);
FacetStatus checkpoint_read_state(float *params, Optimizer *optimizer, const Safetensors *file,
                                  const char *prefix);

// Whether all ranks have the same data and settings; the refusal names the first that differs.
FacetStatus checkpoint_compare(const Training *training);

// Opens OUT.csv with the rows up to this network and update, which is (0, 0) for a new training.
// There were `before` updates until then, a row each; those that are missing are counted.
FacetStatus log_open(Training *training, int network, long update, long before);
FacetStatus log_row(Training *training, const TrainReport *report, long epoch,
                    const TrainLoss losses[CHECK_SETS]); // NULL: not looked at
FacetStatus log_close(Training *training);               // accepts one that is closed

#endif
