// The state of a training run, shared by the files that set it up, run it and keep it.
#ifndef FACET_POLICY_TRAINING_H
#define FACET_POLICY_TRAINING_H

#include "base/file.h"
#include "policy/parts.h"
#include "ranks/ranks.h"
#include "train/image_trainer.h"
#include "train/trainer.h"

#include <facet_study/dataset.h>
#include <facet_study/image_set.h>
#include <facet_study/train.h>
#include <stdio.h>

// A run trains the networks of a policy one after the other; all methods but knet have one.
typedef struct Training {
    const FacetTrainOptions *options;
    FacetPool *pool;
    const FacetProgress *progress;
    const char *out;
    char checkpoint[FILE_PATH_MAX], csv[FILE_PATH_MAX];
    FacetPolicy *policy; // gets the averaged weights of each network that is done
    TrainConfig config;

    double knee; // of the normalizer

    int demos;   // trained on
    float *x0;   // [demos][T][D], normalised
    int *z;      // [demos][factors of the space]
    int *source; // [demos], which one of all read it is
    int sources; // read so far, with those held out

    // The network that is being trained.
    int network;
    int *members, member_count; // its demos
    long total;                 // its updates
    Trainer *trainer;           // of the score network
    int idle;                   // ranks that have no rows of an update
    int *order;                 // of its demos in one epoch
    long order_epoch;
    float *batch_x; // [batch][T][D]
    int *batch_z;   // [batch][K]

    // Only for a policy that sees: its frames are read as they are needed.
    FacetImageSet *images;
    ImageTrainer *seer;    // owns the trainer of the score network
    int64_t *batch_frames; // [batch]
    uint8_t *batch_rgb;    // [batch][height][width][3]

    double tail;   // sum of the losses of its last updates so far
    double losses; // sum of the mean last losses of the networks before it

    FILE *log;
} Training;

// ---- Setting up (recipe.c) ----------------------------------------------------------------------

// Reads the options into a policy without weights and the trainer's settings, and the demos that
// are trained on into x0 and z.
FacetStatus training_set_up(Training *training, const FacetDataset *dataset, const char *data);

// Adds the demos of another dataset that are not held out.
FacetStatus training_add(Training *training, const FacetDataset *dataset);

// ---- The order of the data (train.c) ------------------------------------------------------------

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

// Whether all ranks have the same data and settings; the refusal names the first that differs.
FacetStatus checkpoint_compare(const Training *training);

// Opens OUT.csv with the rows up to this network and update, which is (0, 0) for a new training.
FacetStatus log_open(Training *training, int network, long update);
FacetStatus log_row(Training *training, const TrainReport *report, long epoch);
FacetStatus log_close(Training *training); // accepts one that is closed

#endif
