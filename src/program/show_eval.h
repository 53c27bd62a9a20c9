// Tables and JSON of `facet eval`: the paper's tables with ours beside them.
#ifndef FACET_CLI_SHOW_EVAL_H
#define FACET_CLI_SHOW_EVAL_H

#include "base/json.h"
#include "race/eval.h"

enum { EVAL_ROWS_MAX = 16, EVAL_SWEEP_MAX = 16 };

// One row of the comparison: a method with its way of inference.
typedef struct EvalRow {
    char key[32];          // "factored_composed", as in the JSON
    char name[48];         // for a person
    const char *paper_key; // of paper_totals
    EvalRun run;
} EvalRow;

// One number of denoising steps, composed and joint.
typedef struct EvalSweepRow {
    int steps;
    FacetRaceTotals composed, joint;
} EvalSweepRow;

typedef struct Evaluation {
    int steps; // of the rows
    int row_count;
    EvalRow rows[EVAL_ROWS_MAX];
    char sweep_method[16]; // "factored" or "ours"
    int sweep_count;
    EvalSweepRow sweep[EVAL_SWEEP_MAX];
} Evaluation;

// The row of this key, or NULL.
const EvalRow *eval_row(const Evaluation *evaluation, const char *key);

// The row that stands for Facet's factored policy: ours, or the paper's loss.
const EvalRow *eval_main_row(const Evaluation *evaluation);

void show_evaluation(const FacetRace *race, const Evaluation *evaluation);
Json *json_from_evaluation(const FacetRace *race, const Evaluation *evaluation);

#endif
