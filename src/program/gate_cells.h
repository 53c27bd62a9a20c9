// The single-gate study as cells: a row of its tables under one training seed is one file.
//
// Paper, Section 4.2 and Appendix C. Two protocols: zero-shot (pool is never seen) and within-venue
// (25 of the 30 triples of colour, gate and side are never seen, in all four venues). All policies
// of a protocol have the same networks, frames to begin with, updates, and flights of DAgger, but
// for what they are about.
#ifndef FACET_PROGRAM_GATE_CELLS_H
#define FACET_PROGRAM_GATE_CELLS_H

#include "base/json.h"
#include "steps.h"

enum { ZERO_SHOT, WITHIN, ALL_TASKS, PROTOCOLS };

extern const char *const gate_demo_files[PROTOCOLS];

// Adds the --hold-out options of a protocol.
void gate_hold_outs(Step *step, int protocol);

// What `facet gate train` is told. NULL leaves an option to the recipe.
typedef struct GateModel {
    const char *name; // of its file, NAME-SEED.safetensors
    int protocol;
    const char *method, *composed_loss, *drop;
    const char *encoder_from; // another model's name
    bool longer;              // as many operations as with the composed loss
} GateModel;

enum { GATE_MODELS = 16 };
extern const GateModel gate_models[GATE_MODELS];

int gate_model_find(const char *name); // of a name that is there

// Updates of a model when the others have so many.
//
// An update takes 32 images through the encoder (35 MFLOP each) and 64 rows through the score
// network (6.1 MFLOP each, by the sizes of its products); the composed loss takes 32 of the rows
// through 1 + 4 branches as well: 160 rows more, 1.645 times the operations. Forwards and backwards
// are to each other alike in both networks.
int gate_model_updates(const GateModel *model, int updates);

// A row of the tables: a model, and how it is flown.
typedef struct GateRow {
    const char *name;
    const char *cell; // of its file, CELL-SEED.json
    const char *model;
    int protocol; // ALL_TASKS for an ablation of the zero-shot one
    const char *mode, *open;
    const char *paper; // its row of paper_gate_row, or NULL
} GateRow;

enum { GATE_ROWS = 21, GATE_SEEDS_MAX = 16 };
extern const GateRow gate_rows[GATE_ROWS];

FacetStatus gate_row_find(int *index, const char *cell);

// FOLDER/NAME-SEED.SUFFIX.
void gate_cell_file(char out[STEP_WORD_SIZE], const char *folder, const char *name, uint64_t seed,
                    const char *suffix);

// The tables of the cells in a folder, of training seeds from `seed` on.
FacetStatus gate_cells_summary(Json **document, const char *folder, uint64_t seed);

#endif
