// Options of position fixes (see gate_fixes.h).
#include "gate_fixes.h"

#include <stdio.h>

FixOptions fix_defaults(void)
{
    return (FixOptions){.time = FACET_GATE_OBSERVER_TIME,
                        .velocity_time = FACET_GATE_VELOCITY_TIME,
                        .share = FACET_GATE_FIX_SHARE,
                        .samples = 1,
                        .floor = FACET_GATE_FIX_FLOOR,
                        .most = FACET_GATE_REFUSE_MOST};
}

static bool weighs(const FixOptions *fix) { return fix->samples > 1 || fix->share > 0.0; }

FacetStatus fix_check(const FixOptions *fix)
{
    const char *found = fix->refuse > 0.0                                ? "refuse"
                        : fix->floor != FACET_GATE_FIX_FLOOR             ? "fix-floor"
                        : fix->velocity_time != FACET_GATE_VELOCITY_TIME ? "velocity-time"
                                                                         : NULL;
    if (fix->velocity_time > 0.0 && fix->velocity_time * FACET_GATE_RATE < 1.0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--velocity-time: expected 0 or no less than the %g s of a frame, found "
                           "%g",
                           1.0 / FACET_GATE_RATE, fix->velocity_time);
    if (weighs(fix) || !found) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "--%s: expected weighed fixes, found --fix-share 0 beside it, with which it "
                       "means nothing",
                       found);
}

void fix_apply(FacetGateWorld *world, FacetGateFlyer *flyer, const FixOptions *fix)
{
    flyer->samples = fix->samples;
    world->observer_time = fix->time;
    world->velocity_time = fix->velocity_time;
    world->fix_share = fix->share;
    world->fix_floor = fix->floor;
    world->refuse_sigma = fix->refuse;
    world->refuse_most = fix->most;
}

Json *json_from_fixes(const FixOptions *fix, FacetGateTally tally)
{
    Json *object = json_object();
    json_set_numbers(object, {"observer_time_s", fix->time},
                     {"samples_a_frame", (double)fix->samples});
    if (!weighs(fix)) return object;
    json_set_numbers(object, {"velocity_time_s", fix->velocity_time}, {"share", fix->share},
                     {"floor_m", fix->floor}, {"refuse_sigma", fix->refuse},
                     {"refuse_most", (double)fix->most}, {"frames", (double)tally.frames},
                     {"refused", (double)tally.refused});
    return object;
}

static void add(Step *step, const char *option, double value, double usual)
{
    char text[32];
    if (value == usual) return;
    snprintf(text, sizeof text, "%.9g", value);
    step_pair(step, option, text);
}

void fix_step(Step *step, const FixOptions *fix)
{
    const FixOptions usual = fix_defaults();
    add(step, "--observer-time", fix->time, usual.time);
    add(step, "--velocity-time", fix->velocity_time, usual.velocity_time);
    add(step, "--fix-share", fix->share, usual.share);
    add(step, "--samples-a-frame", fix->samples, usual.samples);
    add(step, "--fix-floor", fix->floor, usual.floor);
    add(step, "--refuse", fix->refuse, usual.refuse);
    add(step, "--refuse-most", fix->most, usual.most);
}

void fix_text(char out[FIX_TEXT], const FixOptions *fix)
{
    int length = snprintf(out, FIX_TEXT, ", observer time %.9g", fix->time);
    if (weighs(fix))
        snprintf(out + length, (size_t)(FIX_TEXT - length),
                 ", velocity time %.9g, samples a frame %d, fix share %.9g, fix floor %.9g, refuse "
                 "%.9g, refuse most %d",
                 fix->velocity_time, fix->samples, fix->share, fix->floor, fix->refuse, fix->most);
    else
        snprintf(out + length, (size_t)(FIX_TEXT - length), ", fix share 0");
}
