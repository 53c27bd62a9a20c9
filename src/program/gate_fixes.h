// Options of how a frame becomes a position fix, and a fix an estimate (facet_study/gate.h).
#ifndef FACET_PROGRAM_GATE_FIXES_H
#define FACET_PROGRAM_GATE_FIXES_H

#include "base/json.h"
#include "steps.h"

#include <facet_study/gate.h>

typedef struct FixOptions {
    int samples;   // of a frame; with 1 the rest means nothing
    double floor;  // m, that a fix is off at least
    double refuse; // beyond so many times what is expected; 0 for none
    int most;      // refused in a row
} FixOptions;

FixOptions fix_defaults(void); // one sample

// Rows of a command's table.
#define FIX_OPTIONS(fix)                                                                           \
    option_int("samples-a-frame", &(fix).samples, "N", 1, FACET_GATE_SAMPLES_MAX,                  \
               "plans of a frame: their mean is flown, and weighed by how far they are apart"),    \
        with(option_double("fix-floor", &(fix).floor, "M", 1e-3, 1e3,                              \
                           "m that a fix is off at least, whatever its samples say"),              \
             "samples-a-frame"),                                                                   \
        with(option_double("refuse", &(fix).refuse, "K", 0.0, 1e3,                                 \
                           "refuse a fix farther off than K times what is expected, 0 for none"),  \
             "samples-a-frame"),                                                                   \
        with(option_int("refuse-most", &(fix).most, "N", 0, 1000, "fixes refused in a row"),       \
             "refuse")

void fix_apply(FacetGateWorld *world, FacetGateFlyer *flyer, const FixOptions *fix);

// What was set, and how many fixes were refused.
Json *json_from_fixes(const FixOptions *fix, FacetGateTally tally);

// Adds the options that are not the defaults to a step, and to a study's settings, "" with none.
void fix_step(Step *step, const FixOptions *fix);
enum { FIX_TEXT = 120 };
void fix_text(char out[FIX_TEXT], const FixOptions *fix);

#endif
