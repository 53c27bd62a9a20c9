// The gate-wise certificate (see certify/crossing.h).
#include "certify/crossing.h"

#include "base/rng.h"
#include "base/status.h"
#include "flight/many.h"
#include "linalg/gemm.h"
#include "math/geometry.h"
#include "policy/normalizer.h"
#include "race/streams.h"

#include <assert.h>
#include <stdlib.h>

// ---- Crossings ----------------------------------------------------------------------------------

// One flight an index, of the plan changed by changes[index] or in its own gusts.
typedef struct Flights {
    PacedPlan plan;
    const Normalizer *normalizer;
    const double *changes; // [count][128], normalised; NULL for none
    double step;           // when not 0: of differences, in place of changes
} Flights;

static void make_flight(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetQuadState *start,
                        FacetGusts *gusts, const void *context, int index)
{
    (void)start;
    const Flights *work = context;
    double change[PLAN_SIZE] = {0.0};
    const double *changed = change;
    if (work->changes)
        changed = work->changes + (size_t)index * PLAN_SIZE;
    else if (work->step != 0.0) // four a coordinate: plus and minus a step, and half of it
        change[index / 4] = (index % 2 ? -1.0 : 1.0) * (index % 4 < 2 ? 1.0 : 0.5) * work->step;
    else
        gusts->stream += (uint64_t)index;
    plan_change(chunk, work->plan.chunk, work->normalizer, changed);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].speed *= work->plan.pace;
}

static void note_crossings(Crossings *out, const FacetFlight *flight)
{
    *out = (Crossings){.gates = flight->gate_count};
    for (int g = 0; g < out->gates; g++) {
        const FacetPassage *passage = &flight->gates[g];
        if (!passage->crossed) continue;
        out->gate[g] = (Crossing){.crossed = true,
                                  .at = {passage->at[0], passage->at[1]},
                                  .miss = hypot(passage->at[0], passage->at[1]),
                                  .time = passage->time};
    }
}

static FacetStatus fly_all(Crossings *crossings, const Flights *work, const FacetRace *race,
                           FacetCourseTask task, FacetGusts gusts, int count)
{
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetQuadState start;
    TRY(task_start(&start, race, task, work->plan.pace));
    setup.gusts = gusts;
    FacetFlight *flights = calloc((size_t)count + 1, sizeof *flights);
    if (!flights) return status_fail(FACET_NO_MEMORY, "out of memory for %d flights", count);
    FacetStatus status = many_fly(flights, count, &setup, start, make_flight, work, race->pool);
    for (int i = 0; i < count && status.ok; i++) note_crossings(&crossings[i], &flights[i]);
    free(flights);
    return status;
}

FacetStatus crossings_fly(Crossings *out, const FacetRace *race, FacetCourseTask task,
                          PacedPlan plan)
{
    const Flights work = {.plan = plan};
    return fly_all(out, &work, race, task, (FacetGusts){0}, 1);
}

FacetStatus crossings_fly_changed(Crossings *out, const FacetRace *race, FacetCourseTask task,
                                  PacedPlan plan, const Normalizer *normalizer,
                                  const double *changes, int count)
{
    const Flights work = {.plan = plan, .normalizer = normalizer, .changes = changes};
    return fly_all(out, &work, race, task, (FacetGusts){0}, count);
}

// Memory for many crossings, which the caller frees.
static FacetStatus make_crossings(Crossings **out, int count)
{
    *out = calloc((size_t)count + 1, sizeof **out);
    return *out ? status_ok()
                : status_fail(FACET_NO_MEMORY, "out of memory for %d crossings", count);
}

// ---- Sensitivity --------------------------------------------------------------------------------

// ||s||_2 of two rows, from the 2 x 2 matrix s s^T = [a b; b d].
static double norm_of_gram(double a, double b, double d)
{
    return sqrt(0.5 * (a + d) + hypot(0.5 * (a - d), b));
}

static void gram_of_rows(double gram[3], const double *s)
{
    gram[0] = gram[1] = gram[2] = 0.0;
    for (int j = 0; j < PLAN_SIZE; j++) {
        gram[0] += s[j] * s[j];
        gram[1] += s[j] * s[PLAN_SIZE + j];
        gram[2] += s[PLAN_SIZE + j] * s[PLAN_SIZE + j];
    }
}

static double norm_of_rows(const double *s)
{
    double gram[3];
    gram_of_rows(gram, s);
    return norm_of_gram(gram[0], gram[1], gram[2]);
}

// One gate's differences from the four flights of every coordinate, extrapolated to no step: the
// error of a central difference is a quarter at half the step.
static void slope_of(CrossingSlope *gate, const Crossings *crossings, int index, double step)
{
    double gap[2][PLAN_SIZE];
    for (int j = 0; j < 4 * PLAN_SIZE; j++) gate->lost += !crossings[j].gate[index].crossed;
    if (!gate->nominal.crossed || gate->lost > 0) return;
    for (int j = 0; j < PLAN_SIZE; j++) {
        const Crossings *four = &crossings[4 * j];
        for (int i = 0; i < 2; i++) {
            double whole = (four[0].gate[index].at[i] - four[1].gate[index].at[i]) / (2.0 * step);
            double half = (four[2].gate[index].at[i] - four[3].gate[index].at[i]) / step;
            gate->slope[i][j] = (4.0 * half - whole) / 3.0;
            gap[i][j] = half - whole;
        }
    }
    gate->norm = norm_of_rows(gate->slope[0]);
    gate->gap = gate->norm > 0.0 ? norm_of_rows(gap[0]) / gate->norm : 0.0;
}

FacetStatus crossing_sensitivity(CrossingSensitivity *out, const FacetRace *race,
                                 FacetCourseTask task, PacedPlan plan, const Normalizer *normalizer,
                                 double step)
{
    assert(normalizer->dim == FACET_CHUNK_CHANNELS && step > 0.0);
    Crossings nominal, *crossings;
    TRY(crossings_fly(&nominal, race, task, plan));
    TRY(make_crossings(&crossings, 4 * PLAN_SIZE));
    const Flights work = {.plan = plan, .normalizer = normalizer, .step = step};
    FacetStatus status = fly_all(crossings, &work, race, task, (FacetGusts){0}, 4 * PLAN_SIZE);
    *out = (CrossingSensitivity){.gates = nominal.gates,
                                 .half_width = facet_race_setup(race, task).half_width,
                                 .step = step};
    for (int i = 0; i < out->gates && status.ok; i++) {
        out->gate[i].nominal = nominal.gate[i];
        slope_of(&out->gate[i], crossings, i, step);
    }
    free(crossings);
    return status;
}

bool crossing_has_slope(const CrossingSlope *gate)
{
    return gate->nominal.crossed && gate->lost == 0;
}

bool crossing_is_smooth(const CrossingSlope *gate)
{
    return crossing_has_slope(gate) && gate->gap <= CROSSING_GAP_MAX;
}

// ---- Radius -------------------------------------------------------------------------------------

enum { DIRECTIONS = 64 };

// The largest distance from the centre within the half-planes that hold the set, one a direction.
static double reach_of(const double support[DIRECTIONS], const double nominal[2])
{
    double farthest = 0.0;
    for (int d = 0; d < DIRECTIONS; d++) {
        double angle = 2.0 * FACET_PI * d / DIRECTIONS;
        farthest = fmax(farthest, cos(angle) * nominal[0] + sin(angle) * nominal[1] + support[d]);
    }
    return farthest / cos(FACET_PI / DIRECTIONS); // the corners between the half-planes
}

void crossing_radius(CrossingRadius *out, const CrossingSensitivity *sensitivity, const double *c2,
                     const double *m, const double *eps, int steps)
{
    enum { ROWS = 2 * FACET_TRACK_GATES_MAX };
    double now[ROWS][PLAN_SIZE], next[ROWS][PLAN_SIZE], support[FACET_TRACK_GATES_MAX][DIRECTIONS];
    int gates = sensitivity->gates;
    for (int g = 0; g < gates; g++) {
        out[g] = (CrossingRadius){0};
        for (int d = 0; d < DIRECTIONS; d++) support[g][d] = 0.0;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < PLAN_SIZE; j++)
                now[2 * g + i][j] = sensitivity->gate[g].slope[i][j];
    }
    for (int k = steps - 1; k >= 0; k--) {
        double weight = fabs(c2[k]);
        for (int g = 0; g < gates; g++) {
            double gram[3];
            gram_of_rows(gram, now[2 * g]);
            double norm = norm_of_gram(gram[0], gram[1], gram[2]);
            out[g].amplification += weight * norm;
            out[g].radius += weight * norm * eps[k];
            for (int d = 0; d < DIRECTIONS; d++) {
                double x = cos(2.0 * FACET_PI * d / DIRECTIONS);
                double y = sin(2.0 * FACET_PI * d / DIRECTIONS);
                double square = x * x * gram[0] + 2.0 * x * y * gram[1] + y * y * gram[2];
                support[g][d] += weight * eps[k] * sqrt(fmax(square, 0.0));
            }
        }
        linalg_gemm_f64(next[0], PLAN_SIZE, GEMM_PLAIN, now[0], PLAN_SIZE, GEMM_PLAIN,
                        m + (size_t)k * PLAN_SIZE * PLAN_SIZE, PLAN_SIZE, 2 * gates, PLAN_SIZE,
                        PLAN_SIZE, 0.0);
        for (int i = 0; i < 2 * gates; i++)
            for (int j = 0; j < PLAN_SIZE; j++) now[i][j] = next[i][j];
    }
    for (int g = 0; g < gates; g++) {
        const CrossingSlope *gate = &sensitivity->gate[g];
        out[g].reach = reach_of(support[g], gate->nominal.at);
        if (!crossing_has_slope(gate) || !isfinite(out[g].radius))
            out[g] = (CrossingRadius){INFINITY, INFINITY, INFINITY};
    }
}

void crossing_predict(double (*shift)[2], const CrossingSensitivity *sensitivity,
                      const double *change)
{
    for (int g = 0; g < sensitivity->gates; g++)
        for (int i = 0; i < 2; i++) {
            const CrossingSlope *gate = &sensitivity->gate[g];
            double sum = 0.0;
            for (int j = 0; j < PLAN_SIZE; j++) sum += gate->slope[i][j] * change[j];
            shift[g][i] = crossing_has_slope(gate) ? sum : (double)NAN;
        }
}

void crossing_shift(double (*shift)[2], const CrossingSensitivity *sensitivity, const double *c2,
                    const double *m, const double *d_eps, int steps)
{
    double change[PLAN_SIZE] = {0.0}, next[PLAN_SIZE];
    for (int k = 0; k < steps; k++) {
        const double *d = d_eps + (size_t)k * PLAN_SIZE;
        linalg_gemm_f64(next, 1, GEMM_PLAIN, m + (size_t)k * PLAN_SIZE * PLAN_SIZE, PLAN_SIZE,
                        GEMM_PLAIN, change, 1, PLAN_SIZE, 1, PLAN_SIZE, 0.0);
        for (int j = 0; j < PLAN_SIZE; j++) change[j] = next[j] + c2[k] * d[j];
    }
    crossing_predict(shift, sensitivity, change);
}

bool crossing_certified(const CrossingSensitivity *sensitivity, int gate, double radius,
                        double disturbance)
{
    const CrossingSlope *slope = &sensitivity->gate[gate];
    return crossing_is_smooth(slope) &&
           slope->nominal.miss + radius + disturbance < sensitivity->half_width;
}

// ---- Disturbance and checks ---------------------------------------------------------------------

FacetStatus crossing_disturbance(double *shift, const FacetRace *race, FacetCourseTask task,
                                 PacedPlan plan, double gusts, int rollouts, uint64_t seed)
{
    Crossings nominal, *crossings;
    TRY(crossings_fly(&nominal, race, task, plan));
    TRY(make_crossings(&crossings, rollouts));
    const Flights work = {.plan = plan};
    const FacetGusts wind = {
        .speed = gusts, .time = 1.0, .seed = seed, .stream = race_task_stream(race, task)};
    FacetStatus status = fly_all(crossings, &work, race, task, wind, rollouts);
    for (int g = 0; g < nominal.gates && status.ok; g++) {
        shift[g] = nominal.gate[g].crossed ? 0.0 : (double)INFINITY;
        for (int r = 0; r < rollouts; r++) {
            const Crossing *flown = &crossings[r].gate[g], *base = &nominal.gate[g];
            double moved = flown->crossed
                               ? hypot(flown->at[0] - base->at[0], flown->at[1] - base->at[1])
                               : (double)INFINITY;
            shift[g] = fmax(shift[g], moved);
        }
    }
    free(crossings);
    return status;
}

static void compare(CrossingCheck *out, double squares[2], const CrossingSensitivity *sensitivity,
                    const Crossings *flown, const double *change)
{
    double predicted[FACET_TRACK_GATES_MAX][2];
    crossing_predict(predicted, sensitivity, change);
    for (int g = 0; g < sensitivity->gates; g++) {
        const CrossingSlope *gate = &sensitivity->gate[g];
        if (!crossing_has_slope(gate)) continue;
        if (!flown->gate[g].crossed) {
            out->lost++;
            continue;
        }
        double x = flown->gate[g].at[0] - gate->nominal.at[0];
        double y = flown->gate[g].at[1] - gate->nominal.at[1];
        double shift = hypot(x, y), gap = hypot(x - predicted[g][0], y - predicted[g][1]);
        out->compared++;
        out->shift_mean += shift;
        out->shift_max = fmax(out->shift_max, shift);
        out->gap_mean += gap;
        out->gap_max = fmax(out->gap_max, gap);
        squares[0] += gap * gap;
        squares[1] += shift * shift;
        if (shift > 0.01)
            out->ratio_largest =
                fmax(out->ratio_largest, shift / hypot(predicted[g][0], predicted[g][1]));
    }
}

FacetStatus crossing_check(CrossingCheck *out, const CrossingSensitivity *sensitivity,
                           const FacetRace *race, FacetCourseTask task, PacedPlan plan,
                           const Normalizer *normalizer, const double *changes, int count)
{
    assert(normalizer->dim == FACET_CHUNK_CHANNELS);
    Crossings *crossings;
    TRY(make_crossings(&crossings, count));
    FacetStatus status =
        crossings_fly_changed(crossings, race, task, plan, normalizer, changes, count);
    *out = (CrossingCheck){0};
    double squares[2] = {0.0, 0.0};
    for (int r = 0; r < count && status.ok; r++)
        compare(out, squares, sensitivity, &crossings[r], changes + (size_t)r * PLAN_SIZE);
    free(crossings);
    if (out->compared > 0) {
        out->shift_mean /= out->compared;
        out->gap_mean /= out->compared;
    }
    out->relative = squares[1] > 0.0 ? sqrt(squares[0] / squares[1]) : 0.0;
    return status;
}

void crossing_random_changes(double *changes, double length, int count, uint64_t seed)
{
    for (int r = 0; r < count; r++) {
        double *change = changes + (size_t)r * PLAN_SIZE, square = 0.0;
        FacetRng rng = rng_make(seed, (uint64_t)r);
        for (int j = 0; j < PLAN_SIZE; j++) {
            change[j] = rng_normal(&rng);
            square += change[j] * change[j];
        }
        for (int j = 0; j < PLAN_SIZE; j++) change[j] *= length / sqrt(square);
    }
}
