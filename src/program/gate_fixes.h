// Options of how a frame becomes a position fix, and a fix an estimate (facet_study/gate.h).
#ifndef FACET_PROGRAM_GATE_FIXES_H
#define FACET_PROGRAM_GATE_FIXES_H

#include "base/json.h"
#include "steps.h"

#include <facet_study/gate.h>

typedef struct FixOptions {
    double time;          // s, time constant of the observer
    double velocity_time; // s, of what it knows of the velocity; 0: it does not forget
    double share;         // of its distance that a fix is off; 0 for one weight at all distances
    int samples;          // of a frame; more than 1 say how sure a fix is
    double floor;         // m, that a fix is off at least, where fixes are weighed
    double refuse;        // beyond so many times what is expected; 0 for none
    int most;             // refused in a row
} FixOptions;

FixOptions fix_defaults(void); // one sample, weighed by its distance

// Rows of a command's table.
#define FIX_OPTIONS(fix)                                                                           \
    option_double("observer-time", &(fix).time, "S", 0.01, 1e3,                                    \
                  "s after which the observer has forgotten most of a fix"),                       \
        option_double("velocity-time", &(fix).velocity_time, "S", 0.0, 1e9,                        \
                      "where fixes are weighed, s after which it has forgotten most of what it "   \
                      "knew of the velocity, 0 if never"),                                         \
        option_double("fix-share", &(fix).share, "X", 0.0, 10.0,                                   \
                      "weigh fixes as if each were off by this share of its distance, 0 for all "  \
                      "alike"),                                                                    \
        option_int("samples-a-frame", &(fix).samples, "N", 1, FACET_GATE_SAMPLES_MAX,              \
                   "plans of a frame: their mean is flown, and weighed by how far they are "       \
                   "apart"),                                                                       \
        option_double("fix-floor", &(fix).floor, "M", 1e-3, 1e3,                                   \
                      "m that a weighed fix is off at least"),                                     \
        option_double(                                                                             \
            "refuse", &(fix).refuse, "K", 0.0, 1e3,                                                \
            "refuse a weighed fix farther off than K times what is expected, 0 for none"),         \
        with(option_int("refuse-most", &(fix).most, "N", 0, 1000, "fixes refused in a row"),       \
             "refuse")

// Refuses settings of weights where fixes have none, and a velocity that is forgotten within a
// frame.
FacetStatus fix_check(const FixOptions *fix);

void fix_apply(FacetGateWorld *world, FacetGateFlyer *flyer, const FixOptions *fix);

// What was set, and how many fixes were refused.
Json *json_from_fixes(const FixOptions *fix, FacetGateTally tally);

// Adds the options that are not the defaults to a step.
void fix_step(Step *step, const FixOptions *fix);

// What a study's settings say of them.
enum { FIX_TEXT = 200 };
void fix_text(char out[FIX_TEXT], const FixOptions *fix);

#endif
