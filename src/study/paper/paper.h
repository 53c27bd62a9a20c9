// The paper's figures, as its tables give them.
#ifndef FACET_PAPER_PAPER_H
#define FACET_PAPER_PAPER_H

#include <facet_study/certify.h>
#include <facet_study/race.h>

// The paper's highest feasible speed of a task by name, m/s: 0 for infeasible, -1 when the paper
// has no such task.
double paper_speed(const char *track, const char *size);

// Gates passed by a row of the paper's comparison: "baseline", "knet", "factored", "factored_joint"
// or "oracle". Gates are 0 where the paper gives no number.
FacetRaceTotals paper_totals(const char *method);

// Mean distance from the expert's path of such a row, m; NaN where the paper gives none.
double paper_error(const char *method);

// Gates that the paper's factored policy passed on a task, out of all; -1 when it has no such task.
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

// Tables "Path-dependent LTV bound" and "DDIM step sweep", and Appendix "Continuous-time limit";
// NaN where the paper gives no number. C_emp is of the sweep's table, the ratio of the other one.
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

// Table "Empirical decomposition error": "eps_d", "track" and "size".
FacetCertifySpread paper_spread(const char *name);

// Table "Source-of-looseness decomposition": means over the training tasks.
typedef struct PaperResidual {
    double actual, linear, bound;
} PaperResidual;
extern const PaperResidual paper_residual;

// Appendix "Per-combo eps_s tightening" and Section "Path-dependent LTV bound".
typedef struct PaperTube {
    double eps_s_least, eps_s_most; // over tasks
    double r_ss_least, r_ss_most;   // m, over tasks
    double gronwall;                // race3/standard
    double c_emp_least, c_emp_most; // over tasks
    int certified, tasks;
} PaperTube;
extern const PaperTube paper_tube;

// Section "Vision-based single gate": over tasks that were trained on, the tube with the default
// constants.
typedef struct PaperGateLtv {
    int steps, tasks;
    double mean, least, most; // C_LTV
    double eps_s, r_ss;       // the second in m
} PaperGateLtv;
extern const PaperGateLtv paper_gate_ltv;

#endif
