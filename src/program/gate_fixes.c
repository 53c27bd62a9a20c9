// Options of position fixes (see gate_fixes.h).
#include "gate_fixes.h"

#include <stdio.h>

FixOptions fix_defaults(void)
{
    return (FixOptions){
        .samples = 1, .floor = FACET_GATE_FIX_FLOOR, .most = FACET_GATE_REFUSE_MOST};
}

void fix_apply(FacetGateWorld *world, FacetGateFlyer *flyer, const FixOptions *fix)
{
    flyer->samples = fix->samples;
    world->fix_floor = fix->floor;
    world->refuse_sigma = fix->refuse;
    world->refuse_most = fix->most;
}

Json *json_from_fixes(const FixOptions *fix, FacetGateTally tally)
{
    Json *object = json_object();
    json_set_number(object, "samples_a_frame", fix->samples);
    if (fix->samples == 1) return object;
    json_set_numbers(object, {"floor_m", fix->floor}, {"refuse_sigma", fix->refuse},
                     {"refuse_most", (double)fix->most}, {"frames", (double)tally.frames},
                     {"refused", (double)tally.refused});
    return object;
}

void fix_step(Step *step, const FixOptions *fix)
{
    if (fix->samples == 1) return;
    step_number(step, "--samples-a-frame", fix->samples);
    step_real(step, "--fix-floor", fix->floor);
    if (!(fix->refuse > 0.0)) return;
    char most[32];
    snprintf(most, sizeof most, "%d", fix->most);
    step_real(step, "--refuse", fix->refuse);
    step_pair(step, "--refuse-most", most);
}

void fix_text(char out[FIX_TEXT], const FixOptions *fix)
{
    out[0] = '\0';
    if (fix->samples > 1)
        snprintf(out, FIX_TEXT, ", samples a frame %d, fix floor %.9g, refuse %.9g, refuse most %d",
                 fix->samples, fix->floor, fix->refuse, fix->most);
}
