// The cells of the study of pairs (study_pairs.c): what the evaluation of one policy counted.
#ifndef FACET_PROGRAM_PAIRS_CELLS_H
#define FACET_PROGRAM_PAIRS_CELLS_H

#include "evidence/evidence.h"
#include "speeds_off.h"

enum { PAIRS_TASKS_MAX = 256, PAIRS_NAME_SIZE = SPEEDS_TASK_SIZE };

// The pairs of one split, in the order in which they join training.
typedef struct PairsSplit {
    int count;
    char names[PAIRS_TASKS_MAX][PAIRS_NAME_SIZE];
} PairsSplit;

// What is counted: pairs trained on, those left out, those of them that are not new in name alone,
// and those that no number of pairs of the split was trained on.
typedef enum PairsGroup {
    PAIRS_TRAINING,
    PAIRS_HELD_OUT,
    PAIRS_HELD_OUT_NEW,
    PAIRS_LAST,
    PAIRS_GROUPS
} PairsGroup;

// Where a cell belongs: trained on the first `trained` pairs of split `number`, of which the study
// trains on `most` at most. Pairs are counted by their places in the first split, whose order is
// one of the same pairs.
typedef struct PairsPlace {
    const PairsSplit *split, *first;
    int number, trained, most;
} PairsPlace;

typedef struct PairsSpeeds {
    SpeedsOff held_out, last;
} PairsSpeeds;

// Counts the cell of a file, which has every pair of its split once: counts [groups], of
// PAIRS_TASKS_MAX tasks and more splits than `number`, and the speeds of those left out and of the
// last. `key` names the method's results.
FacetStatus pairs_cell_read(EvidenceCounts *counts, PairsSpeeds *speeds, const char *path,
                            const char *key, const PairsPlace *place);

#endif
