// The cells of a study, each a file that is made once: what is there is not made again, and ranks
// deal the others out.
#ifndef FACET_PROGRAM_CELLS_H
#define FACET_PROGRAM_CELLS_H

#include "steps.h"

enum { CELLS_MAX = 4096 };

typedef struct Cells {
    const char *name; // "trainings"
    int count;
    void (*file)(char out[STEP_WORD_SIZE], const void *study, int cell);
    int (*make)(const void *study, int cell); // returns an exit code
    const void *study;
} Cells;

// How many are not there.
int cells_missing(const Cells *cells);

// Makes those that are not there, in their order, and says what is left at the pace so far. Returns
// the exit code of the first that failed.
int cells_make(const Cells *cells);

// The weights of the composed loss that --composed-loss named, each once: at most so many. With
// `agreements`, which may be NULL, that of the agreement can stand after a comma: "3,10".
FacetStatus cells_losses(double *losses, double *agreements, int *count, const TextList *texts,
                         int most);

// The demonstrations of a study, unless they are there.
int cells_demos(const char *path, const CommonOptions *common);

#endif
