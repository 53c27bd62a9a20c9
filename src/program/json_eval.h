// JSON of `facet eval`.
#ifndef FACET_CLI_JSON_EVAL_H
#define FACET_CLI_JSON_EVAL_H

#include "base/json.h"
#include "race/eval.h"

enum { EVAL_ROWS_MAX = 16, EVAL_SWEEP_MAX = 16 };

// One row of the comparison: a method with its way of inference.
typedef struct EvalRow {
    const char *key; // "factored_composed"
    const FacetPolicy *policy;
    EvalRun run;
} EvalRow;

// One number of denoising steps, composed and joint.
typedef struct EvalSweepRow {
    int steps;
    FacetRaceTotals composed, joint;
} EvalSweepRow;

typedef struct Evaluation {
    int steps;          // of the rows
    double temperature; // of the rows; 0 for each policy's own
    bool no_plans;
    int row_count;
    EvalRow rows[EVAL_ROWS_MAX];
    char sweep_method[16]; // "factored" or "ours"
    int sweep_count;
    EvalSweepRow sweep[EVAL_SWEEP_MAX];
} Evaluation;

Json *json_from_evaluation(const FacetRace *race, const Evaluation *evaluation);

#endif
