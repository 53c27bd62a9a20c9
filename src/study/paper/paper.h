// The paper's figures, as its tables and sections print them: data only, in types of their own.
//
// Nothing here is computed but the two rates that the paper gives as differences. NaN stands where
// it has no number. Tracks, sizes and methods are named as in courses/ and report/methods.c.
#ifndef FACET_PAPER_PAPER_H
#define FACET_PAPER_PAPER_H

#include <stdbool.h>

// ---- The race study: Section "State-Based Full-Race Composition" and its appendix ---------------

enum { PAPER_STEPS = 50 }; // denoising steps of a plan, but for the sweep

// Table "Race tracks and maximum feasible speeds", m/s: 0 for infeasible, -1 when the paper has no
// such task.
double paper_speed(const char *track, const char *size);

typedef struct PaperTally {
    int passed, gates; // gates are 0 where the paper gives no number
} PaperTally;

typedef struct PaperTotals {
    PaperTally all, training, held_out;
    int crashes;
} PaperTotals;

// Tables "Gate passage on full multi-gate races" and "Composed vs. joint inference": "baseline",
// "knet", "factored", "factored_joint" or "oracle".
PaperTotals paper_totals(const char *method);

// Table "Composed vs. joint inference": mean distance from the expert's path of such a row, m.
double paper_error(const char *method);

// Table "Per-track gate passage (factored)": gates passed; -1 when the paper has no such task.
int paper_passed(const char *track, const char *size);

// Table "Held-out tasks": generated and reference mean speed, m/s. False when it has no such task.
bool paper_held_out_speeds(double *generated, double *reference, const char *track,
                           const char *size);

// Table "DDIM step sweep": share of gates passed, composed on all and on held-out tasks, and joint.
typedef struct PaperSweep {
    int steps;
    double composed_all, composed_held_out, joint_all;
} PaperSweep;

enum { PAPER_SWEEP_ROWS = 4 };
extern const PaperSweep paper_sweep[PAPER_SWEEP_ROWS];

// ---- The race study's certificates ------------------------------------------------------------

// Tables "Path-dependent LTV bound" and "DDIM step sweep", and Appendix "Continuous-time limit".
// C_emp is of the sweep's table, the ratio of the other one.
typedef struct PaperLtv {
    int steps;
    double mean, median, max;     // C_LTV over tasks
    double ratio;                 // C_LTV / C_emp
    double c_emp, r_ss, tube_max; // m the last two
} PaperLtv;

enum { PAPER_LTV_ROWS = 6 };
extern const PaperLtv paper_ltv[PAPER_LTV_ROWS];

// Table "Per-combo C_LTV across 10 canonical seeds". False when it has no such task.
bool paper_ltv_seeds(double *mean, double *deviation, const char *track, const char *size);

// Table "Path-dependent LTV bound", its column over ten seeds: the mean over tasks at 50 steps.
typedef struct PaperSeeds {
    double mean, deviation;
} PaperSeeds;
extern const PaperSeeds paper_seeds;

// Table "Empirical decomposition error": "eps_d", "track" and "size".
typedef struct PaperSpread {
    double mean, p95, max;
} PaperSpread;

PaperSpread paper_spread(const char *name);

// Appendix "Decomposition and Lipschitz diagnostics", "Key ratios" of the means in that table.
typedef struct PaperRatios {
    double l1_l2, eps_l1, eps_l2;
} PaperRatios;
extern const PaperRatios paper_ratios;

// Table "Source-of-looseness decomposition": means over the training tasks.
typedef struct PaperResidual {
    double actual, linear, bound;
} PaperResidual;
extern const PaperResidual paper_residual;

// Appendix "Per-combo eps_s tightening" and Appendix "Path-dependent LTV bound".
typedef struct PaperTube {
    double eps_s_least, eps_s_most; // over tasks
    double r_ss_least, r_ss_most;   // m, over tasks
    double gronwall;                // race3/standard
    double c_emp_least, c_emp_most; // over tasks
    int certified, tasks;
} PaperTube;
extern const PaperTube paper_tube;

// Table "DDIM step sweep", its caption: closed-loop constants, "defaulted, pending measurement".
typedef struct PaperConstants {
    double lambda, b_kappa, w;
} PaperConstants;
extern const PaperConstants paper_constants;

// ---- The gate study: Section "Vision-Based Single-Gate Traversal" and its appendix --------------

// Paragraph "Certificates": over tasks that were trained on, the tube with the default constants.
typedef struct PaperGateLtv {
    int steps, tasks;
    double mean, least, most; // C_LTV
    double eps_s, r_ss;       // the second in m
} PaperGateLtv;
extern const PaperGateLtv paper_gate_ltv;

// Rates in percent.
typedef struct PaperRates {
    double success, crash;
} PaperRates;

typedef struct PaperGateRow {
    PaperRates training, held_out;
} PaperGateRow;

// Table "Vision-based single-gate results": "zero-shot baseline", "zero-shot factored", "within
// baseline" and "within factored"; Appendix "Single-Gate Vision: Ablations": "venue dropout" and
// "venue dropout, null venue". All NaN for any other name, and for NULL.
PaperGateRow paper_gate_row(const char *name);

// The venue that the zero-shot rows hold out.
extern const char paper_gate_held_out[];

#endif
