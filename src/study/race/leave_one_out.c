// Leave-one-pair-out (see race/leave_one_out.h).
#include "race/leave_one_out.h"

#include "base/status.h"
#include "math/geometry.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Pairs --------------------------------------------------------------------------------------

int training_pairs(TrainingPair *pairs, const FacetRace *race)
{
    int count = 0;
    for (int t = 0; t < race->course->track_count; t++)
        for (int o = 0; o < race->course->opening_count; o++) {
            const FacetCourseTask task = {t, o};
            if (facet_speed_map_at(&race->speeds, task)->feasible &&
                !facet_course_is_held_out(race->course, task))
                pairs[count++] = (TrainingPair){.task = task};
        }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            pairs[i].track_again |= k != i && pairs[k].task.track == pairs[i].task.track;
            pairs[i].opening_again |= k != i && pairs[k].task.opening == pairs[i].task.opening;
        }
    return count;
}

bool pair_can_be_left_out(const TrainingPair *pair)
{
    return pair->track_again && pair->opening_again;
}

static bool pairs_touch(const TrainingPair *a, const TrainingPair *b)
{
    return a->task.track == b->task.track || a->task.opening == b->task.opening;
}

// Whether a chain of pairs outside a fold, each of which shares a value with the next, leads from a
// pair's track to its opening: else nothing says what their sum is (train/links.h).
static bool pair_is_linked(const int *fold, int number, const TrainingPair *pairs, int count,
                           int pair)
{
    enum { PAIRS_MAX = 1024 };
    bool reached[PAIRS_MAX], grows = true;
    assert(count <= PAIRS_MAX);
    for (int i = 0; i < count; i++)
        reached[i] = fold[i] != number && pairs[i].task.track == pairs[pair].task.track;
    while (grows) {
        grows = false;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count && fold[i] != number && !reached[i]; k++)
                if (reached[k] && pairs_touch(&pairs[i], &pairs[k])) reached[i] = grows = true;
    }
    bool linked = false;
    for (int i = 0; i < count; i++)
        linked |= reached[i] && pairs[i].task.opening == pairs[pair].task.opening;
    return linked;
}

// Whether all pairs of a fold are linked by the others.
static bool fold_is_linked(const int *fold, int number, const TrainingPair *pairs, int count)
{
    for (int i = 0; i < count; i++)
        if (fold[i] == number && !pair_is_linked(fold, number, pairs, count, i)) return false;
    return true;
}

void pair_folds(int *fold, const TrainingPair *pairs, int count, int folds)
{
    int next = 0;
    for (int i = 0; i < count; i++) fold[i] = -1;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < folds && fold[i] < 0; k++) {
            fold[i] = (next + k) % folds;
            if (fold_is_linked(fold, fold[i], pairs, count))
                next = fold[i] + 1;
            else
                fold[i] = -1;
        }
}

// ---- Plans --------------------------------------------------------------------------------------

double plans_apart(const FacetKeypoint *a, const FacetKeypoint *b, int count)
{
    double most = 0.0;
    for (int i = 0; i < count * FACET_CHUNK_KEYPOINTS; i++)
        most = fmax(most, vec3_norm(vec3_sub(a[i].pos, b[i].pos)));
    return most;
}

static double mean_apart(const FacetKeypoint *a, const FacetKeypoint *b)
{
    double sum = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) sum += vec3_norm(vec3_sub(a[i].pos, b[i].pos));
    return sum / FACET_CHUNK_KEYPOINTS;
}

FacetStatus pairs_plan(PairPlans *pairs, const FacetRace *race, const FacetPolicy *policy,
                       const FacetPolicySampling *how, const FacetProgress *progress)
{
    FacetPolicyPlanner *planned = NULL;
    uint64_t *seeds = calloc((size_t)pairs->seeds, sizeof *seeds);
    if (!seeds) return status_fail(FACET_NO_MEMORY, "out of memory for the plans");
    for (int k = 0; k < pairs->seeds; k++) seeds[k] = pairs->first + (uint64_t)k;
    FacetStatus status = facet_policy_planner_create(&planned, policy, race, how, pairs->tasks,
                                                     pairs->count, seeds, pairs->seeds, progress);
    for (int i = 0; i < pairs->count * pairs->seeds && status.ok; i++) {
        const FacetPlanner planner = facet_planner_from_policy(planned);
        status =
            planner.plan(pairs->plans + (size_t)i * FACET_CHUNK_KEYPOINTS, race,
                         pairs->tasks[i / pairs->seeds], seeds[i % pairs->seeds], planner.context);
    }
    facet_policy_planner_destroy(planned);
    free(seeds);
    return status;
}

// ---- Flights ------------------------------------------------------------------------------------

// Gives the plans that are there.
static FacetStatus plan_again(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                              FacetCourseTask task, uint64_t seed, void *context)
{
    const PairPlans *pairs = context;
    (void)race;
    int i = 0;
    while (pairs->tasks[i].track != task.track || pairs->tasks[i].opening != task.opening) i++;
    memcpy(chunk,
           pairs->plans + ((size_t)i * (size_t)pairs->seeds + (size_t)(seed - pairs->first)) *
                              FACET_CHUNK_KEYPOINTS,
           FACET_CHUNK_KEYPOINTS * sizeof *chunk);
    return status_ok();
}

static void add_flight(PairResult *result, const FacetRaceResult *flown, const FacetKeypoint *right,
                       int seeds)
{
    result->largest = fmax(result->largest, plans_apart(flown->plan, right, 1));
    double mean = mean_apart(flown->plan, right);
    result->mean = fmax(result->mean, mean);
    result->error += mean / seeds;
    result->speed += flown->speed_generated / flown->speed_reference / seeds;
    result->passed += flown->flight.passed;
    result->gates += flown->flight.gate_count;
    result->crashes += flown->flight.end == FACET_FLIGHT_CRASHED;
}

FacetStatus pairs_measure(PairResult *results, const FacetRace *race, PairPlans *pairs,
                          const FacetProgress *progress)
{
    const FacetPlanner planner = {.name = "plans", .plan = plan_again, .context = pairs};
    const FacetPlanner expert = facet_race_expert();
    FacetRaceResult *flown = calloc((size_t)pairs->count, sizeof *flown);
    FacetStatus status =
        flown ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    for (int i = 0; i < pairs->count; i++) results[i] = (PairResult){.task = pairs->tasks[i]};
    for (int k = 0; k < pairs->seeds && status.ok; k++) {
        status = facet_race_fly_all(flown, race, &planner, pairs->tasks, pairs->count,
                                    pairs->first + (uint64_t)k, 0.0, progress);
        for (int i = 0; i < pairs->count && status.ok; i++) {
            FacetKeypoint right[FACET_CHUNK_KEYPOINTS];
            status = expert.plan(right, race, pairs->tasks[i], 0, expert.context);
            if (status.ok) add_flight(&results[i], &flown[i], right, pairs->seeds);
        }
    }
    free(flown);
    return status;
}

// ---- The bound ----------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double conformal_bound(double *errors, int count, double alpha)
{
    // A product that is a whole number but for rounding is that number.
    double rank = ceil((1.0 - alpha) * (count + 1) - 1e-9);
    if (!(rank <= count)) return INFINITY;
    qsort(errors, (size_t)count, sizeof *errors, by_size);
    return errors[rank < 1.0 ? 0 : (int)rank - 1];
}
