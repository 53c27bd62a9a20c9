// The race study as cells: a method trained with one seed is one cell, and its evaluation one file.
//
// A cell can be made alone, anywhere and at any time; the summary is made of those that are there.
#ifndef FACET_PROGRAM_RACE_CELLS_H
#define FACET_PROGRAM_RACE_CELLS_H

#include "base/json.h"
#include "steps.h"

// When a method is trained: always, as a control when these are asked for, or when it is named.
typedef enum RaceWhen { RACE_ALWAYS, RACE_CONTROL, RACE_NAMED } RaceWhen;

// A method of the comparison: what `facet train` is told. NULL leaves an option to the recipe.
typedef struct RaceMethod {
    const char *name; // of its cells, NAME-SEED.json
    const char *method, *composed_loss, *agreement, *drop, *recipe, *predict;
    bool longer; // as many rows go through the network as with our loss
    RaceWhen when;
    double minutes; // that a cell takes beside others, on two idle cores with AVX-512
} RaceMethod;

enum { RACE_METHODS = 15, RACE_SEEDS_MAX = 64 };
extern const RaceMethod race_methods[RACE_METHODS];

// The number of a method's name; the refusal lists the names.
FacetStatus race_method_find(int *index, const char *name);

// Epochs of a method when the others have so many, 0 for the recipe's: 0 where it is the recipe's.
//
// The composed loss takes half of an update's rows through 1 + K branches as well, and the
// agreement through two more. With the race's two factors that is 3.5 times the rows of the paper's
// loss, forwards and backwards through the same network: an equal number of operations has 3.5
// times the epochs.
int race_method_epochs(const RaceMethod *method, int epochs);

// Adds the method, and what it tells `facet train`, to a command of that.
void race_method_options(Step *step, const RaceMethod *method);

// FOLDER/NAME-SEED.SUFFIX.
void race_cell_file(char out[STEP_WORD_SIZE], const char *folder, const RaceMethod *method,
                    uint64_t seed, const char *suffix);

// Summary of the cells in a folder, of training seeds from `seed` on.
FacetStatus race_cells_summary(Json **document, const char *folder, uint64_t seed);

#endif
