// Verdicts before flight (see race/verdict.h).
#include "race/verdict.h"

#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "flight/many.h"
#include "math/geometry.h"
#include "math/statistics.h"
#include "race/spread_start.h"
#include "race/streams.h"

#include <stdlib.h>
#include <string.h>

static const double paces[] = {1.0, 0.9, 0.8, 0.7, 0.6, 0.5};
enum { PACES = sizeof paces / sizeof *paces };

// Who flies: each has streams of random numbers of its own.
enum { FRESH, RAW, PILOT };

enum { BLOCK = 512 }; // flights between two looks at whether to go on

const char *verdict_name(VerdictKind kind)
{
    return (const char *const[]){"go", "go slower", "no"}[kind];
}

VerdictOptions verdict_defaults(void)
{
    FacetDemoOptions demos = facet_demo_defaults();
    return (VerdictOptions){.samples = 200,
                            .confidence = 0.95,
                            .least = 0.9,
                            .gusts = demos.gust_speed,
                            .start_spread = demos.start_spread,
                            .speed_least = demos.speed_least};
}

static FacetStatus check_options(const VerdictOptions *options)
{
    if (options->samples < 1 || options->samples > 1000000)
        return status_fail(FACET_BAD_ARGUMENT,
                           "verdict: expected 1 to 1000000 flights a task, found %d",
                           options->samples);
    if (!(options->confidence > 0.0 && options->confidence < 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "verdict: expected a confidence between 0 and 1, found %g",
                           options->confidence);
    if (!(options->least > 0.0 && options->least < 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "verdict: expected a least rate between 0 and 1, found %g",
                           options->least);
    return status_ok();
}

typedef struct Rollouts {
    const FacetRace *race;
    FacetCourseTask task;
    const VerdictOptions *options;
    const FacetKeypoint *plan;
    double pace;
    int who, first;         // flight of the block
    FacetQuadState *starts; // [BLOCK]
    Progress *progress;
} Rollouts;

static uint64_t stream_of(const Rollouts *r, int index)
{
    return race_verdict_stream(r->race, r->task, r->who, r->first + index);
}

static FacetStatus make_starts(const Rollouts *r, int count)
{
    const VerdictOptions *o = r->options;
    for (int i = 0; i < count; i++) {
        FacetRng rng = rng_make(o->seed, stream_of(r, i));
        FacetQuadState *start = &r->starts[i];
        TRY(spread_start(start, r->race, r->task, o->start_spread, o->speed_least, &rng));
        start->vel_world = vec3_scale(start->vel_world, r->pace);
    }
    return status_ok();
}

static void make_rollout(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetQuadState *start,
                         FacetGusts *gusts, const void *context, int index)
{
    const Rollouts *r = context;
    const VerdictOptions *o = r->options;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){r->plan[i].pos, r->pace * r->plan[i].speed};
    *start = r->starts[index];
    *gusts = (FacetGusts){o->gusts, 1.0, o->seed, stream_of(r, index) + 1};
}

// How many of the flights of a plan at a pace pass all gates.
static FacetStatus count_clear(int *clear, FacetFlight *flights, const Rollouts *base,
                               const FacetKeypoint *plan, double pace, int who)
{
    Rollouts r = *base;
    FacetFlightSetup setup = facet_race_setup(r.race, r.task);
    r.plan = plan;
    r.pace = pace;
    r.who = who;
    *clear = 0;
    for (r.first = 0; r.first < r.options->samples; r.first += BLOCK) {
        int left = r.options->samples - r.first, count = left < BLOCK ? left : BLOCK;
        TRY(progress_add(r.progress, 0, NULL));
        TRY(make_starts(&r, count));
        TRY(many_fly(flights, count, &setup, r.starts[0], make_rollout, &r, r.race->pool));
        for (int i = 0; i < count; i++) *clear += flights[i].passed == flights[i].gate_count;
    }
    return status_ok();
}

// The pace at which enough pilot flights pass, or the one at which most do.
static FacetStatus choose_pace(double *pace, FacetFlight *flights, const Rollouts *base,
                               const FacetKeypoint *plan, double confidence)
{
    const VerdictOptions *o = base->options;
    int most = -1;
    for (int i = 0; i < PACES; i++) {
        int clear;
        TRY(count_clear(&clear, flights, base, plan, paces[i], PILOT + i));
        if (clear > most) *pace = paces[i], most = clear;
        if (clopper_pearson_lower(clear, o->samples, confidence) >= o->least) break;
    }
    return status_ok();
}

static FacetStatus fly_verdict(Verdict *verdict, FacetFlight *flights, const Rollouts *base,
                               const FacetKeypoint *raw, const FacetKeypoint *plan,
                               double confidence)
{
    const VerdictOptions *o = base->options;
    TRY(count_clear(&verdict->raw_clear, flights, base, raw, 1.0, RAW));
    TRY(choose_pace(&verdict->pace, flights, base, plan, confidence));
    TRY(count_clear(&verdict->clear, flights, base, plan, verdict->pace, FRESH));
    verdict->raw_lower = clopper_pearson_lower(verdict->raw_clear, o->samples, confidence);
    verdict->lower = clopper_pearson_lower(verdict->clear, o->samples, confidence);
    verdict->kind = verdict->lower < o->least  ? VERDICT_NO
                    : verdict->pace < paces[0] ? VERDICT_SLOWER
                                               : VERDICT_GO;
    return status_ok();
}

FacetStatus verdicts_fly(Verdict *verdicts, const FacetRace *race, const FacetCourseTask *tasks,
                         const FacetKeypoint *const *raw, const FacetKeypoint *const *plans,
                         int count, const VerdictOptions *options, const FacetProgress *progress)
{
    TRY(check_options(options));
    FacetFlight *flights = calloc(BLOCK, sizeof *flights);
    FacetQuadState *starts = calloc(BLOCK, sizeof *starts);
    FacetStatus status = flights && starts
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for %d flights", BLOCK);
    double confidence = 1.0 - (1.0 - options->confidence) / (count > 0 ? count : 1);
    Progress done;
    progress_begin(&done, progress, "verdicts", count);
    for (int i = 0; i < count && status.ok; i++) {
        const Rollouts base = {.race = race,
                               .task = tasks[i],
                               .options = options,
                               .starts = starts,
                               .progress = &done};
        status = fly_verdict(&verdicts[i], flights, &base, raw[i], plans[i], confidence);
        if (status.ok) status = progress_add(&done, 1, NULL);
    }
    progress_end(&done);
    free(flights);
    free(starts);
    return status;
}
