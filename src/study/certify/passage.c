// Rollouts for the statistical certificate (see certify/passage.h).
#include "certify/passage.h"

#include "base/pool.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "math/statistics.h"
#include "race/spread_start.h"
#include "race/streams.h"

#include <stdlib.h>

PassageOptions passage_defaults(void)
{
    FacetDemoOptions demos = facet_demo_defaults();
    return (PassageOptions){.samples = 100,
                            .confidence = 0.95,
                            .start_spread = demos.start_spread,
                            .speed_least = demos.speed_least,
                            .gust_speed = demos.gust_speed};
}

FacetStatus passage_check(const PassageOptions *options)
{
    if (options->samples < 1)
        return status_fail(FACET_BAD_ARGUMENT,
                           "passage: expected at least 1 sample a task, found %d",
                           options->samples);
    if (!(options->confidence > 0.0 && options->confidence < 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "passage: expected a confidence between 0 and 1, found %g",
                           options->confidence);
    return status_ok();
}

uint64_t passage_plan_seed(const PassageOptions *options, int sample)
{
    return options->seed + (uint64_t)sample;
}

typedef struct PassageWork {
    const FacetRace *race;
    const FacetPlanner *planner;
    const FacetCourseTask *tasks;
    const PassageOptions *options;
    FacetFlight *flights; // [tasks][samples]
    Progress *progress;
} PassageWork;

static FacetStatus fly_rollout(FacetFlight *flight, const PassageWork *work, FacetCourseTask task,
                               int sample)
{
    const FacetRace *race = work->race;
    const PassageOptions *options = work->options;
    uint64_t stream = race_passage_stream(race, task, sample); // the next one is the gusts'
    FacetRng rng = rng_make(options->seed, stream);
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    FacetQuadState start;
    TRY(spread_start(&start, race, task, options->start_spread, options->speed_least, &rng));
    TRY(work->planner->plan(chunk, race, task, passage_plan_seed(options, sample),
                            work->planner->context));
    setup.gusts = (FacetGusts){options->gust_speed, 1.0, options->seed, stream + 1};
    if (facet_reference_from_chunk(&plan, chunk).ok)
        *flight = facet_flight_fly(&setup, &plan, start, NULL);
    else // a plan that nothing can fly passes nothing
        *flight = (FacetFlight){.end = FACET_FLIGHT_CRASHED, .gate_count = setup.track->gate_count};
    return status_ok();
}

static FacetStatus fly_one(void *context, int index, int worker)
{
    (void)worker;
    const PassageWork *work = context;
    int samples = work->options->samples;
    TRY(progress_add(work->progress, 0, NULL));
    TRY(fly_rollout(&work->flights[index], work, work->tasks[index / samples], index % samples));
    return progress_add(work->progress, 1, NULL);
}

static void count_passages(PassageResult *result, const FacetFlight *flights,
                           const PassageOptions *options)
{
    result->samples = options->samples;
    result->gate_count = flights[0].gate_count;
    for (int i = 0; i < options->samples; i++) {
        result->clear += flights[i].passed == flights[i].gate_count;
        for (int g = 0; g < result->gate_count; g++)
            result->gate_passed[g] += flights[i].gates[g].passed;
    }
    result->lower = clopper_pearson_lower(result->clear, options->samples, options->confidence);
    for (int g = 0; g < result->gate_count; g++)
        result->gate_lower[g] =
            clopper_pearson_lower(result->gate_passed[g], options->samples, options->confidence);
}

FacetStatus passage_certify(PassageResult *results, const FacetRace *race,
                            const FacetPlanner *planner, const FacetCourseTask *tasks, int count,
                            const PassageOptions *options, const FacetProgress *progress)
{
    TRY(passage_check(options));
    size_t total = (size_t)count * (size_t)options->samples;
    if (total > 10000000)
        return status_fail(FACET_BAD_ARGUMENT,
                           "passage: expected at most 10 million rollouts, found %zu", total);
    FacetFlight *flights = calloc(total + 1, sizeof *flights);
    if (!flights) return status_fail(FACET_NO_MEMORY, "out of memory for %zu rollouts", total);
    Progress rollouts;
    progress_begin(&rollouts, progress, "rollouts", (long)total);
    PassageWork work = {race, planner, tasks, options, flights, &rollouts};
    FacetStatus status = pool_try(race->pool, (int)total, fly_one, &work);
    progress_end(&rollouts);
    for (int t = 0; t < count && status.ok; t++) {
        results[t] = (PassageResult){.task = tasks[t]};
        count_passages(&results[t], flights + (size_t)t * (size_t)options->samples, options);
    }
    free(flights);
    return status;
}
