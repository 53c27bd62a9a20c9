// The single-gate study as cells: a row of its tables under one training seed is one file.
//
// Paper, Section 4.2 and Appendix C. Two protocols: zero-shot (pool is never seen) and within-venue
// (25 of the 30 triples of colour, gate and side are never seen, in all four venues). All policies
// of a protocol have the same networks, frames to begin with, updates, and flights of DAgger, but
// for what they are about. What is made for the cells, and how, is a table.
#ifndef FACET_PROGRAM_GATE_CELLS_H
#define FACET_PROGRAM_GATE_CELLS_H

#include "base/json.h"
#include "steps.h"

enum { ZERO_SHOT, WITHIN, ALL_TASKS, PROTOCOLS };

// Adds the --hold-out options of a protocol.
void gate_hold_outs(Step *step, int protocol);

// What frames and trainings have in the place of the study's own settings. Zeros and NULLs are
// those.
typedef struct GateSetting {
    const char *courses;   // a folder within that of the courses
    bool no_looks;         // no flight shows its venue in another look
    bool no_selection;     // the factors select nothing from what is seen
    const char *encoder;   // with frames that are
    int shrink;            // averaged over so many pixels each way
    double demos, updates; // shares of the study's
} GateSetting;

// What `facet gate demos` is told.
typedef struct GateDemos {
    const char *file;
    int protocol;
    const GateSetting *setting;
} GateDemos;

// What `facet gate train` is told. NULL leaves an option to the recipe.
typedef struct GateModel {
    const char *name; // of its file, NAME-SEED.safetensors
    int demos;        // of the table
    const char *method, *composed_loss, *drop;
    const char *encoder_from; // another model's name
    bool longer;              // as many operations as with the composed loss
    const GateSetting *setting;
} GateModel;

// A row of the tables: a model, and how it is flown.
typedef struct GateRow {
    const char *name;
    const char *cell; // of its file, CELL-SEED.json
    const char *model;
    int protocol; // ALL_TASKS for an ablation of the zero-shot one
    const char *mode, *open;
    const char *paper; // its row of paper_gate_row, or NULL
    const char *ours;  // the cell of ours that it is held against, or NULL
} GateRow;

typedef struct GateTitle {
    const char *name, *title;
} GateTitle;

// All that a study makes.
typedef struct GateTable {
    const GateDemos *demos;
    const GateModel *models;
    const GateRow *rows;
    const GateTitle *titles; // of the protocols that have rows, from the first on
    int demo_count, model_count, row_count, title_count;
} GateTable;

enum { GATE_DEMOS_MAX = 8, GATE_MODELS_MAX = 16, GATE_ROWS_MAX = 24, GATE_SEEDS_MAX = 16 };

extern const GateTable gate_study_table;
extern const GateTable gate_ladder_table; // gate_ladder.c

int gate_model_find(const GateTable *table, const char *name); // of a name that is there
FacetStatus gate_row_find(int *index, const GateTable *table, const char *cell);

// Flights of a set of frames, and updates of a model, when the study has so many.
//
// An update takes 32 images through the encoder (35 MFLOP each) and 64 rows through the score
// network (6.1 MFLOP each, by the sizes of its products); the composed loss takes 32 of the rows
// through 1 + 4 branches as well: 160 rows more, 1.645 times the operations. Forwards and backwards
// are to each other alike in both networks.
int gate_demos_flights(const GateDemos *of, int flights);
int gate_model_updates(const GateModel *model, int updates);

// FOLDER/NAME-SEED.SUFFIX.
void gate_cell_file(char out[STEP_WORD_SIZE], const char *folder, const char *name, uint64_t seed,
                    const char *suffix);

// The tables of the cells in a folder, of training seeds from `seed` on.
FacetStatus gate_cells_summary(Json **document, const GateTable *table, const char *folder,
                               uint64_t seed);

#endif
