// The gate-wise certificate (see certify/gate_radius.h).
#include "certify/gate_radius.h"

#include "math/gemm.h"

#include <assert.h>
#include <stdlib.h>

// ---- Crossings ----------------------------------------------------------------------------------

static Crossing crossing_of(const Gate *gate, Vec3 before, Vec3 after, double time)
{
    double d0 = vec3_dot(gate->normal, vec3_sub(before, gate->center));
    double d1 = vec3_dot(gate->normal, vec3_sub(after, gate->center));
    Vec3 offset = vec3_sub(vec3_lerp(before, after, d0 / (d0 - d1)), gate->center);
    Vec3 left = vec3_unit(vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal), vec3(1.0, 0.0, 0.0));
    Vec3 up = vec3_cross(gate->normal, left);
    Crossing crossing = {.crossed = true, .time = time};
    crossing.at[0] = vec3_dot(offset, left);
    crossing.at[1] = vec3_dot(offset, up);
    crossing.miss = vec3_norm(offset);
    return crossing;
}

static void fly_crossings(Crossings *out, const FlightSetup *setup, QuadState start,
                          const Keypoint chunk[CHUNK_KEYPOINTS])
{
    *out = (Crossings){.gates = setup->track->gate_count};
    Reference plan;
    if (!reference_from_chunk(&plan, chunk).ok) return;
    FlightRun run;
    flight_begin(&run, setup, &plan, start);
    bool flying = true;
    while (flying) {
        Vec3 before = run.state.pos_world;
        int open = run.referee.next;
        flying = flight_step(&run);
        int settled = run.referee.next - 1;
        if (run.referee.next > open)
            out->gate[settled] = crossing_of(&setup->track->gates[settled], before,
                                             run.state.pos_world, run.referee.gates[settled].time);
    }
}

Status gate_crossings(Crossings *out, const Race *race, CourseTask task,
                      const Keypoint chunk[CHUNK_KEYPOINTS])
{
    FlightSetup setup = race_setup(race, task);
    QuadState start;
    TRY(task_start(&start, race, task));
    fly_crossings(out, &setup, start, chunk);
    return status_ok();
}

// ---- Many flights of changed plans --------------------------------------------------------------

// One flight an index, of the nominal plan changed by changes[index] and in its own gusts.
typedef struct Flights {
    Crossings *crossings; // [count]
    FlightSetup setup;
    QuadState start;
    const Keypoint *chunk;
    const Normalizer *normalizer;
    const double *changes; // [count][128], normalised; NULL for none
    double step;           // when not 0: of differences, in place of changes
} Flights;

static void fly_one(void *context, int index, int worker)
{
    (void)worker;
    Flights *work = context;
    FlightSetup setup = work->setup;
    Keypoint chunk[CHUNK_KEYPOINTS];
    double change[PLAN_SIZE] = {0.0};
    const double *changed = change;
    if (work->changes)
        changed = work->changes + (size_t)index * PLAN_SIZE;
    else if (work->step != 0.0) // four a coordinate: plus and minus a step, and half of it
        change[index / 4] = (index % 2 ? -1.0 : 1.0) * (index % 4 < 2 ? 1.0 : 0.5) * work->step;
    else
        setup.gusts.stream += (uint64_t)index;
    plan_change(chunk, work->chunk, work->normalizer, changed);
    fly_crossings(&work->crossings[index], &setup, work->start, chunk);
}

static Status fly_changed(Flights *work, const Race *race, CourseTask task, int count)
{
    TRY(task_start(&work->start, race, task));
    work->crossings = calloc((size_t)count + 1, sizeof *work->crossings);
    if (!work->crossings) return status_fail("out of memory for %d flights", count);
    pool_for(race->pool, count, fly_one, work);
    return status_ok();
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
static void slope_of(GateSlope *gate, const Crossings *crossings, int index, double step)
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

Status gate_sensitivity(GateSensitivity *out, const Race *race, CourseTask task,
                        const Keypoint chunk[CHUNK_KEYPOINTS], const Normalizer *normalizer,
                        double step)
{
    assert(normalizer->dim == CHUNK_CHANNELS && step > 0.0);
    Crossings nominal;
    TRY(gate_crossings(&nominal, race, task, chunk));
    Flights work = {
        .setup = race_setup(race, task), .chunk = chunk, .normalizer = normalizer, .step = step};
    TRY(fly_changed(&work, race, task, 4 * PLAN_SIZE));
    *out = (GateSensitivity){
        .gates = nominal.gates, .half_width = work.setup.half_width, .step = step};
    for (int i = 0; i < out->gates; i++) {
        out->gate[i].nominal = nominal.gate[i];
        slope_of(&out->gate[i], work.crossings, i, step);
    }
    free(work.crossings);
    return status_ok();
}

bool gate_has_slope(const GateSlope *gate) { return gate->nominal.crossed && gate->lost == 0; }

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

void gate_radius(GateRadius *out, const GateSensitivity *sensitivity, const double *c2,
                 const double *m, const double *eps, int steps)
{
    enum { ROWS = 2 * TRACK_GATES_MAX };
    double now[ROWS][PLAN_SIZE], next[ROWS][PLAN_SIZE], support[TRACK_GATES_MAX][DIRECTIONS];
    int gates = sensitivity->gates;
    for (int g = 0; g < gates; g++) {
        out[g] = (GateRadius){0};
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
        gemm_f64(next[0], PLAN_SIZE, GEMM_PLAIN, now[0], PLAN_SIZE, GEMM_PLAIN,
                 m + (size_t)k * PLAN_SIZE * PLAN_SIZE, PLAN_SIZE, 2 * gates, PLAN_SIZE, PLAN_SIZE,
                 0.0);
        for (int i = 0; i < 2 * gates; i++)
            for (int j = 0; j < PLAN_SIZE; j++) now[i][j] = next[i][j];
    }
    for (int g = 0; g < gates; g++) {
        const GateSlope *gate = &sensitivity->gate[g];
        out[g].reach = reach_of(support[g], gate->nominal.at);
        if (!gate_has_slope(gate) || !isfinite(out[g].radius))
            out[g] = (GateRadius){INFINITY, INFINITY, INFINITY};
    }
}

void gate_predict(double (*shift)[2], const GateSensitivity *sensitivity, const double *change)
{
    for (int g = 0; g < sensitivity->gates; g++)
        for (int i = 0; i < 2; i++) {
            const GateSlope *gate = &sensitivity->gate[g];
            double sum = 0.0;
            for (int j = 0; j < PLAN_SIZE; j++) sum += gate->slope[i][j] * change[j];
            shift[g][i] = gate_has_slope(gate) ? sum : (double)NAN;
        }
}

void gate_shift(double (*shift)[2], const GateSensitivity *sensitivity, const double *c2,
                const double *m, const double *d_eps, int steps)
{
    double change[PLAN_SIZE] = {0.0}, next[PLAN_SIZE];
    for (int k = 0; k < steps; k++) {
        const double *d = d_eps + (size_t)k * PLAN_SIZE;
        gemm_f64(next, 1, GEMM_PLAIN, m + (size_t)k * PLAN_SIZE * PLAN_SIZE, PLAN_SIZE, GEMM_PLAIN,
                 change, 1, PLAN_SIZE, 1, PLAN_SIZE, 0.0);
        for (int j = 0; j < PLAN_SIZE; j++) change[j] = next[j] + c2[k] * d[j];
    }
    gate_predict(shift, sensitivity, change);
}

bool gate_certified(const GateSensitivity *sensitivity, int gate, double radius, double disturbance)
{
    const GateSlope *slope = &sensitivity->gate[gate];
    return gate_has_slope(slope) && slope->gap <= GATE_GAP_MAX &&
           slope->nominal.miss + radius + disturbance < sensitivity->half_width;
}

// ---- Disturbance and checks ---------------------------------------------------------------------

Status gate_disturbance(double *shift, const Race *race, CourseTask task,
                        const Keypoint chunk[CHUNK_KEYPOINTS], double gusts, int rollouts,
                        uint64_t seed)
{
    Crossings nominal;
    TRY(gate_crossings(&nominal, race, task, chunk));
    Flights work = {.setup = race_setup(race, task), .chunk = chunk};
    work.setup.gusts =
        (Gusts){.speed = gusts, .time = 1.0, .seed = seed, .stream = task_stream(race, task)};
    TRY(fly_changed(&work, race, task, rollouts));
    for (int g = 0; g < nominal.gates; g++) {
        shift[g] = nominal.gate[g].crossed ? 0.0 : (double)INFINITY;
        for (int r = 0; r < rollouts; r++) {
            const Crossing *flown = &work.crossings[r].gate[g], *base = &nominal.gate[g];
            double moved = flown->crossed
                               ? hypot(flown->at[0] - base->at[0], flown->at[1] - base->at[1])
                               : (double)INFINITY;
            shift[g] = fmax(shift[g], moved);
        }
    }
    free(work.crossings);
    return status_ok();
}

static void compare(GateCheck *out, double squares[2], const GateSensitivity *sensitivity,
                    const Crossings *flown, const double *change)
{
    double predicted[TRACK_GATES_MAX][2];
    gate_predict(predicted, sensitivity, change);
    for (int g = 0; g < sensitivity->gates; g++) {
        const GateSlope *gate = &sensitivity->gate[g];
        if (!gate_has_slope(gate)) continue;
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

Status gate_check(GateCheck *out, const GateSensitivity *sensitivity, const Race *race,
                  CourseTask task, const Keypoint chunk[CHUNK_KEYPOINTS],
                  const Normalizer *normalizer, const double *changes, int count)
{
    assert(normalizer->dim == CHUNK_CHANNELS);
    Flights work = {.setup = race_setup(race, task),
                    .chunk = chunk,
                    .normalizer = normalizer,
                    .changes = changes};
    TRY(fly_changed(&work, race, task, count));
    *out = (GateCheck){0};
    double squares[2] = {0.0, 0.0};
    for (int r = 0; r < count; r++)
        compare(out, squares, sensitivity, &work.crossings[r], changes + (size_t)r * PLAN_SIZE);
    free(work.crossings);
    if (out->compared > 0) {
        out->shift_mean /= out->compared;
        out->gap_mean /= out->compared;
    }
    out->relative = squares[1] > 0.0 ? sqrt(squares[0] / squares[1]) : 0.0;
    return status_ok();
}

void gate_random_changes(double *changes, double length, int count, uint64_t seed)
{
    for (int r = 0; r < count; r++) {
        double *change = changes + (size_t)r * PLAN_SIZE, square = 0.0;
        Rng rng = rng_make(seed, (uint64_t)r);
        for (int j = 0; j < PLAN_SIZE; j++) {
            change[j] = rng_normal(&rng);
            square += change[j] * change[j];
        }
        for (int j = 0; j < PLAN_SIZE; j++) change[j] *= length / sqrt(square);
    }
}
