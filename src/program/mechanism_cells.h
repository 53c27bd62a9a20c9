// The mechanism study as cells: one variant of the network, trained with one loss without the pairs
// of one fold, is one cell, VARIANT-wLOSS-FOLD.json. The summary is made of those that are there.
#ifndef FACET_PROGRAM_MECHANISM_CELLS_H
#define FACET_PROGRAM_MECHANISM_CELLS_H

#include "base/json.h"
#include "diffusion/score_net.h"
#include "race/leave_one_out.h"
#include "steps.h"

// A network that differs from the first, or from the one that it names, in one thing.
typedef struct MechanismVariant {
    const char *name, *text; // of its cells, and for people
    const char *kind;        // what differs: "blocks", "dilation", "unet" and so on
    int blocks, embed;
    const char *dilation; // as facet train takes it; NULL: 1 each
    int dilations[8];     // the same as numbers, 0 for 1
    bool no_position;
    const char *drop; // factor dropout; NULL: the recipe's for its loss
    const char *of;   // the network that it differs from, NULL: the first
    bool unet;        // no score network: the U-Net that is like it (unet/unet.h)
} MechanismVariant;

enum { MECHANISM_VARIANTS = 14, MECHANISM_FOLDS_MAX = 16, MECHANISM_PAIRS_MAX = 256 };
extern const MechanismVariant mechanism_variants[MECHANISM_VARIANTS];

// The number of a variant's name; the refusal lists the names.
FacetStatus mechanism_variant_find(int *index, const char *name);

// Its network, for plans of the race; or what its U-Net is like.
ScoreNetConfig mechanism_network(const MechanismVariant *variant, int channels);

// How far from its own keypoint an output sees. The U-Net's norm takes in the whole plan.
int mechanism_reach(const MechanismVariant *variant);

// How many of a plan's keypoints a keypoint of the output depends on, on the mean over them.
double mechanism_seen(int reach, int keypoints);

typedef struct MechanismCell {
    int variant, fold;
    double composed_loss;
} MechanismCell;

// FOLDER/VARIANT-wLOSS-FOLD.SUFFIX.
void mechanism_file(char out[STEP_WORD_SIZE], const char *folder, MechanismCell cell,
                    const char *suffix);

// What the policy of a cell did with the training pairs, composed and joint; a pair is left out
// when its fold is the cell's.
typedef struct MechanismResults {
    int count;
    const int *fold;            // [count]
    const PairResult *modes[2]; // [count] each
    const double *references;   // [count], m/s
    double parameters;
} MechanismResults;

Json *json_from_mechanism(const MechanismResults *results, const FacetCourse *course,
                          MechanismCell cell);

// Adds the rows of the cells in a folder to the document, as "variants": with each loss in turn.
FacetStatus mechanism_summary(Json *document, const char *folder, const double *losses, int count,
                              int channels);

#endif
