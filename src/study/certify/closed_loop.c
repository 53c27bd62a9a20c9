// The closed-loop constants along one flight (see certify/closed_loop.h).
#include "certify/closed_loop.h"

#include "base/pool.h"
#include "base/rng.h"
#include "base/status.h"
#include "certify/crossing.h"
#include "linalg/gemm.h"
#include "math/geometry.h"
#include "policy/normalizer.h"
#include "quad/quad.h"
#include "race/streams.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { N = QUAD_TANGENT, MARKS_LEAST = 12, ACROSS = 3 };

// How far the differences reach in each tangent coordinate.
static const double REACH[N] = {0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.05, 0.05,
                                0.05, 0.2,  0.2,  0.2,  0.05, 0.05, 0.05, 0.05};
// The spread of the displaced starts: m, rad, m/s, rad/s, N.
static const double SPREAD[N] = {0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.2, 0.2,
                                 0.2, 0.3, 0.3, 0.3,  0.0,  0.0,  0.0, 0.0};
static const double BACK = 0.5; // m: how far behind the nominal's progress a nearest point may lie

// The nominal flight at one step's beginning.
typedef struct Mark {
    FacetQuadState state;
    double arc;      // m, progress
    double rate[N];  // f, of the state in tangent coordinates
    FacetVec3 along; // n, the direction of flight
} Mark;

// All that the measurement of one plan shares.
typedef struct Loop {
    FacetFlightSetup setup;
    FacetReference plan;
    const FacetKeypoint *chunk;
    const Normalizer *normalizer;
    ClosedLoopOptions options;
    uint64_t stream;
    int substeps; // of the simulation a mark
    int stride;   // marks a step
    int steps;
    Mark *marks;             // [steps + 1]
    FacetReference *changed; // [2][128], the plans of the differences
    double *a, *b, *c, *w;
    bool *whole; // [steps]: every flight of the step went to its end
    double oblique;
    Contraction contraction;
    struct PairResult *results;
} Loop;

// ---- The nominal flight -------------------------------------------------------------------------

static FacetCarrot locate(const Loop *loop, const FacetReference *plan, FacetVec3 pos, double arc)
{
    return facet_carrot_locate(plan, pos, arc - BACK, arc + loop->setup.preset->carrot.window);
}

// A run that goes on from a state near a mark, along a plan near the nominal's.
static void begin_at(FacetFlightRun *run, const Loop *loop, const FacetFlightSetup *setup,
                     const FacetReference *plan, const FacetQuadState *state, double arc)
{
    facet_flight_begin(run, setup, plan, *state);
    run->carrot = locate(loop, plan, state->pos_world, arc);
}

static bool advance(FacetFlightRun *run, int substeps)
{
    bool flying = true;
    for (int i = 0; i < substeps && flying; i++) flying = facet_flight_step(run);
    return flying;
}

static void place_mark(Mark *mark, const FacetFlightRun *run)
{
    FacetFlightRun next = *run;
    *mark = (Mark){.state = run->state, .arc = run->carrot.arc};
    facet_flight_step(&next);
    quad_local(mark->rate, &run->state, &next.state);
    for (int i = 0; i < N; i++) mark->rate[i] /= run->setup->model->step;
    mark->along = vec3_unit(vec3(mark->rate[0], mark->rate[1], mark->rate[2]), vec3(1.0, 0.0, 0.0));
}

// Marks every step of the flight but those within a metre of its end, and notes how obliquely it
// crosses the gates.
static FacetStatus fly_nominal(Loop *loop, FacetQuadState start)
{
    double limit = facet_reference_length(&loop->plan) - 1.0;
    FacetFlightRun run;
    facet_flight_begin(&run, &loop->setup, &loop->plan, start);
    int room = (int)(run.limit / loop->substeps) + 2;
    loop->marks = calloc((size_t)room, sizeof *loop->marks);
    if (!loop->marks)
        return status_fail(FACET_NO_MEMORY, "out of memory for the marks of a flight");
    place_mark(&loop->marks[0], &run);
    loop->oblique = 1.0;
    bool flying = true;
    int count = 0;
    while (flying && run.carrot.arc < limit && count < room - 1) {
        for (int i = 0; i < loop->substeps && flying; i++) {
            int open = run.referee.next;
            flying = facet_flight_step(&run);
            if (run.referee.next == open) continue;
            FacetVec3 normal = loop->setup.track->gates[run.referee.next - 1].normal;
            FacetVec3 along = vec3_unit(run.state.vel_world, normal);
            loop->oblique = fmax(loop->oblique, 1.0 / fmax(vec3_dot(normal, along), 1e-3));
        }
        if (flying && vec3_norm(run.state.vel_world) > 0.1)
            place_mark(&loop->marks[++count], &run);
        else
            flying = false;
    }
    loop->steps = count;
    return status_ok();
}

// ---- Linearisation ------------------------------------------------------------------------------

// e <- Pi e = e - f (n.e)/(n.f): the error where the flight crosses the plane of the mark.
static void project(double e[N], const Mark *mark)
{
    FacetVec3 f = vec3(mark->rate[0], mark->rate[1], mark->rate[2]);
    double late = vec3_dot(mark->along, vec3(e[0], e[1], e[2])) / vec3_dot(mark->along, f);
    for (int i = 0; i < N; i++) e[i] -= late * mark->rate[i];
}

// The projected error at the next mark after one step from `state` along `plan`.
static bool step_from(double e[N], const Loop *loop, const FacetReference *plan,
                      const FacetQuadState *state, int k)
{
    FacetFlightRun run;
    begin_at(&run, loop, &loop->setup, plan, state, loop->marks[k].arc);
    bool whole = advance(&run, loop->substeps);
    quad_local(e, &loop->marks[k + 1].state, &run.state);
    project(e, &loop->marks[k + 1]);
    return whole;
}

// A_k, column by column; its own columns are projected at the step's beginning.
static bool fill_a(double *a, const Loop *loop, int k)
{
    const Mark *mark = &loop->marks[k];
    double by_state[N][N], pi[N][N];
    bool whole = true;
    for (int j = 0; j < N; j++) {
        double d[N] = {0.0}, plus[N], minus[N];
        d[j] = REACH[j];
        FacetQuadState ahead = quad_retract(&mark->state, d);
        d[j] = -REACH[j];
        FacetQuadState behind = quad_retract(&mark->state, d);
        whole = step_from(plus, loop, &loop->plan, &ahead, k) && whole;
        whole = step_from(minus, loop, &loop->plan, &behind, k) && whole;
        for (int i = 0; i < N; i++) by_state[i][j] = (plus[i] - minus[i]) / (2.0 * REACH[j]);
        double unit[N] = {0.0};
        unit[j] = 1.0;
        project(unit, mark);
        for (int i = 0; i < N; i++) pi[i][j] = unit[i];
    }
    linalg_gemm_f64(a, N, GEMM_PLAIN, by_state[0], N, GEMM_PLAIN, pi[0], N, N, N, N, 0.0);
    return whole;
}

// Whether a keypoint has a part in the step from mark k. It moves the waypoints up to its
// neighbours, and tangents and accelerations up to a chord's reach beyond.
static bool has_part(const Loop *loop, int keypoint, int k)
{
    enum {
        LAST = FACET_REFERENCE_WAYPOINTS - 1,
        SPAN = LAST / (FACET_CHUNK_KEYPOINTS - 1) + 1,
        CHORDS = 8
    };
    const FacetCarrotParams *carrot = &loop->setup.preset->carrot;
    int middle = LAST * keypoint / (FACET_CHUNK_KEYPOINTS - 1);
    int from = middle - SPAN - CHORDS, to = middle + SPAN + CHORDS + 1;
    double near = loop->marks[k].arc - 2.0 * BACK;
    double far = loop->marks[k + 1].arc + carrot->window + carrot->lookahead_max + 2.0 * BACK;
    return loop->plan.arc[from > 0 ? from : 0] <= far &&
           loop->plan.arc[to < LAST ? to : LAST] >= near;
}

// B_k = Pi dF/da, [N][128].
static bool fill_b(double *b, const Loop *loop, int k)
{
    bool whole = true;
    for (int j = 0; j < PLAN_SIZE; j++) {
        double plus[N], minus[N];
        bool part = has_part(loop, j / FACET_CHUNK_CHANNELS, k);
        if (part) {
            const FacetQuadState *state = &loop->marks[k].state;
            whole = step_from(plus, loop, &loop->changed[j], state, k) && whole;
            whole = step_from(minus, loop, &loop->changed[PLAN_SIZE + j], state, k) && whole;
        }
        for (int i = 0; i < N; i++)
            b[i * PLAN_SIZE + j] = part ? (plus[i] - minus[i]) / (2.0 * CROSSING_STEP) : 0.0;
    }
    return whole;
}

// C_k: the displacement across the direction of flight, (I - n n^T) of the position.
static void fill_c(double *c, const Mark *mark)
{
    const double n[ACROSS] = {mark->along.x, mark->along.y, mark->along.z};
    memset(c, 0, ACROSS * N * sizeof *c);
    for (int i = 0; i < ACROSS; i++)
        for (int j = 0; j < ACROSS; j++) c[i * N + j] = (i == j ? 1.0 : 0.0) - n[i] * n[j];
}

static FacetStatus ask(const Loop *loop)
{
    return loop->options.progress ? progress_add(loop->options.progress, 0, NULL) : status_ok();
}

static FacetStatus linearise(void *context, int k, int worker)
{
    (void)worker;
    Loop *loop = context;
    TRY(ask(loop));
    bool a = fill_a(loop->a + (size_t)k * N * N, loop, k);
    bool b = fill_b(loop->b + (size_t)k * N * PLAN_SIZE, loop, k);
    loop->whole[k] = a && b;
    return status_ok();
}

// The pushes of one flight's gusts: each step from the nominal's state, in the wind of its time.
static void push(void *context, int draw, int worker)
{
    (void)worker;
    Loop *loop = context;
    FacetFlightSetup setup = loop->setup;
    setup.gusts =
        (FacetGusts){loop->options.gusts, 1.0, loop->options.seed, loop->stream + (uint64_t)draw};
    FacetFlightRun run;
    begin_at(&run, loop, &setup, &loop->plan, &loop->marks[0].state, 0.0);
    for (int k = 0; k < loop->steps; k++) {
        double *w = loop->w + ((size_t)k * (size_t)loop->options.draws + (size_t)draw) * N;
        run.state = loop->marks[k].state;
        run.carrot = locate(loop, &loop->plan, run.state.pos_world, loop->marks[k].arc);
        advance(&run, loop->substeps);
        quad_local(w, &loop->marks[k + 1].state, &run.state);
        project(w, &loop->marks[k + 1]);
    }
}

static FacetStatus change_plans(Loop *loop)
{
    loop->changed = calloc(2 * PLAN_SIZE, sizeof *loop->changed);
    if (!loop->changed)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", 2 * PLAN_SIZE);
    for (int i = 0; i < 2 * PLAN_SIZE; i++) {
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        double change[PLAN_SIZE] = {0.0};
        change[i % PLAN_SIZE] = i < PLAN_SIZE ? CROSSING_STEP : -CROSSING_STEP;
        plan_change(chunk, loop->chunk, loop->normalizer, change);
        TRY(facet_reference_from_chunk(&loop->changed[i], chunk));
    }
    return status_ok();
}

static FacetStatus linearise_all(Loop *loop, FacetPool *pool)
{
    size_t steps = (size_t)loop->steps;
    loop->a = calloc(steps * N * N, sizeof *loop->a);
    loop->b = calloc(steps * N * PLAN_SIZE, sizeof *loop->b);
    loop->c = calloc((steps + 1) * ACROSS * N, sizeof *loop->c);
    loop->w = calloc(steps * (size_t)loop->options.draws * N + 1, sizeof *loop->w);
    loop->whole = calloc(steps, sizeof *loop->whole);
    if (!loop->a || !loop->b || !loop->c || !loop->w || !loop->whole)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d linearised steps", loop->steps);
    TRY(change_plans(loop));
    TRY(pool_try(pool, loop->steps, linearise, loop));
    pool_for(pool, loop->options.draws, push, loop);
    int whole = 0;
    while (whole < loop->steps && loop->whole[whole]) whole++;
    loop->steps = whole;
    for (int k = 0; k <= loop->steps; k++)
        fill_c(loop->c + (size_t)k * ACROSS * N, &loop->marks[k]);
    return status_ok();
}

// ---- Paired rollouts ----------------------------------------------------------------------------

typedef struct PairResult {
    double log_factor; // sum of the logarithms of one step's factors
    int factors;
    double factor_worst;
    double plan_shift; // m, of a changed plan
    double gust_shift; // m, in gusts
} PairResult;

// Follows a run past the marks from `k` on: errors [N] where it crosses the plane of each, until
// `last` or the run's end. Returns the last mark crossed.
static int follow(double (*errors)[N], FacetFlightRun *run, const Loop *loop, int k, int last)
{
    FacetQuadState before = run->state;
    int mark = k;
    bool flying = true;
    while (mark < last && flying) {
        flying = facet_flight_step(run);
        const Mark *next = &loop->marks[mark + 1];
        double d1 = vec3_dot(next->along, vec3_sub(run->state.pos_world, next->state.pos_world));
        double d0 = vec3_dot(next->along, vec3_sub(before.pos_world, next->state.pos_world));
        while (flying && d1 >= 0.0) { // at a corner one step may cross several planes
            double e0[N], e1[N], t = d1 > d0 ? clamp(-d0 / (d1 - d0), 0.0, 1.0) : 1.0;
            quad_local(e0, &next->state, &before);
            quad_local(e1, &next->state, &run->state);
            for (int i = 0; i < N; i++) errors[mark + 1][i] = e0[i] + t * (e1[i] - e0[i]);
            if (++mark == last) break;
            next = &loop->marks[mark + 1];
            d1 = vec3_dot(next->along, vec3_sub(run->state.pos_world, next->state.pos_world));
            d0 = vec3_dot(next->along, vec3_sub(before.pos_world, next->state.pos_world));
        }
        before = run->state;
    }
    return mark;
}

static double across(const Loop *loop, const double e[N], int k)
{
    FacetVec3 n = loop->marks[k].along, p = vec3(e[0], e[1], e[2]);
    return vec3_norm(vec3_axpy(p, -vec3_dot(n, p), n));
}

// From a displaced state: the factors of |e|_P from mark to mark, down to a tenth of its beginning.
static void displaced(PairResult *out, double (*errors)[N], const Loop *loop, FacetRng *rng)
{
    int first = (int)(rng_uniform(rng) * (loop->steps - MARKS_LEAST + 1));
    double *start = errors[first];
    for (int i = 0; i < N; i++) start[i] = SPREAD[i] * rng_normal(rng);
    FacetVec3 n = loop->marks[first].along, p = vec3(start[0], start[1], start[2]);
    p = vec3_axpy(p, -vec3_dot(n, p), n);
    start[0] = p.x, start[1] = p.y, start[2] = p.z;
    FacetQuadState state = quad_retract(&loop->marks[first].state, start);
    FacetFlightRun run;
    begin_at(&run, loop, &loop->setup, &loop->plan, &state, loop->marks[first].arc);
    int last = follow(errors, &run, loop, first, loop->steps);
    double begun = contraction_length(&loop->contraction, start, first), before = begun;
    for (int k = first + loop->stride; k <= last && before > 0.1 * begun; k += loop->stride) {
        double now = contraction_length(&loop->contraction, errors[k], k);
        out->log_factor += log(now / before);
        out->factors++;
        out->factor_worst = fmax(out->factor_worst, now / before);
        before = now;
    }
}

// The largest displacement across the path of a whole flight of some plan.
static double farthest(double (*errors)[N], const Loop *loop, const FacetFlightSetup *setup,
                       const FacetReference *plan)
{
    FacetFlightRun run;
    begin_at(&run, loop, setup, plan, &loop->marks[0].state, 0.0);
    int last = follow(errors, &run, loop, 0, loop->steps);
    double most = last < loop->steps ? (double)INFINITY : 0.0;
    for (int k = 1; k <= last; k++) most = fmax(most, across(loop, errors[k], k));
    return most;
}

static FacetStatus pair(void *context, int index, int worker)
{
    (void)worker;
    Loop *loop = context;
    TRY(ask(loop));
    PairResult *out = &loop->results[index];
    double(*errors)[N] = calloc((size_t)loop->steps + 1, sizeof *errors);
    *out = (PairResult){.plan_shift = INFINITY, .gust_shift = INFINITY};
    if (!errors) return status_fail(FACET_NO_MEMORY, "out of memory for a rollout");
    if (index < loop->options.pairs) {
        FacetRng rng = rng_make(loop->options.seed, loop->stream + (1u << 30) + (uint64_t)index);
        if (loop->contraction.contracts) displaced(out, errors, loop, &rng);
        double change[PLAN_SIZE];
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        FacetReference plan;
        crossing_random_changes(change, loop->options.change, 1, rng_u32(&rng));
        plan_change(chunk, loop->chunk, loop->normalizer, change);
        if (facet_reference_from_chunk(&plan, chunk).ok)
            out->plan_shift = farthest(errors, loop, &loop->setup, &plan);
    } else {
        FacetFlightSetup setup = loop->setup;
        setup.gusts = (FacetGusts){loop->options.gusts, 1.0, loop->options.seed,
                                   loop->stream + (uint64_t)(index - loop->options.pairs)};
        out->gust_shift = farthest(errors, loop, &setup, &loop->plan);
    }
    free(errors);
    return status_ok();
}

static FacetStatus fly_pairs(ClosedLoop *out, Loop *loop, FacetPool *pool)
{
    int pairs = loop->options.pairs, count = pairs + loop->options.draws, factors = 0;
    loop->results = calloc((size_t)count + 1, sizeof *loop->results);
    if (!loop->results) return status_fail(FACET_NO_MEMORY, "out of memory for %d rollouts", count);
    TRY(pool_try(pool, count, pair, loop));
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        const PairResult *result = &loop->results[i];
        if (i < pairs) {
            sum += result->log_factor;
            factors += result->factors;
            out->lambda_worst = fmax(out->lambda_worst, result->factor_worst);
            out->gain_seen = fmax(out->gain_seen, result->plan_shift / loop->options.change);
        } else {
            out->gust_seen = fmax(out->gust_seen, result->gust_shift);
        }
    }
    out->lambda_fit = factors > 0 ? exp(sum / factors) : 0.0;
    out->lambda_mark = pow(out->lambda_fit, 1.0 / loop->stride);
    return status_ok();
}

// ---- All of it ----------------------------------------------------------------------------------

ClosedLoopOptions closed_loop_defaults(void)
{
    return (ClosedLoopOptions){.step = 2.0, .gusts = 0.5, .draws = 20, .pairs = 40, .change = 0.05};
}

static double tube_gain(double push, double lambda)
{
    return lambda < 1.0 ? push / (1.0 - lambda) : (double)INFINITY;
}

static FacetStatus measure(ClosedLoop *out, Loop *loop, const FacetRace *race, FacetCourseTask task)
{
    FacetQuadState start;
    TRY(task_start(&start, race, task, 1.0));
    TRY(facet_reference_from_chunk(&loop->plan, loop->chunk));
    TRY(fly_nominal(loop, start));
    if (loop->steps > 0) TRY(linearise_all(loop, race->pool));
    if (loop->steps < MARKS_LEAST)
        return status_fail(FACET_BAD_ARGUMENT,
                           "the flight lasts %d marks of %g s, expected at least %d to measure the "
                           "closed loop along it",
                           loop->steps, CLOSED_LOOP_MARK, (int)MARKS_LEAST);
    int stride = (int)(loop->options.step / CLOSED_LOOP_MARK + 0.5);
    loop->stride = stride < loop->steps / 3 ? stride : loop->steps / 3;
    const LinearLoop linear = {.steps = loop->steps,
                               .states = N,
                               .outputs = ACROSS,
                               .inputs = PLAN_SIZE,
                               .draws = loop->options.draws,
                               .stride = loop->stride,
                               .a = loop->a,
                               .b = loop->b,
                               .c = loop->c,
                               .w = loop->w};
    TRY(contraction_find(&loop->contraction, &linear));
    const Contraction *found = &loop->contraction;
    *out = (ClosedLoop){.contracts = found->contracts,
                        .step = loop->stride * CLOSED_LOOP_MARK,
                        .marks = loop->steps,
                        .constants = found->constants,
                        .ratio = found->ratio,
                        .entry = found->entry,
                        .gain = found->gain,
                        .gain_bound = tube_gain(found->constants.b_kappa, found->constants.lambda),
                        .oblique = loop->oblique,
                        .gust_bound = tube_gain(found->constants.w, found->constants.lambda)};
    return fly_pairs(out, loop, race->pool);
}

FacetStatus closed_loop_measure(ClosedLoop *out, const FacetRace *race, FacetCourseTask task,
                                const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                const Normalizer *normalizer, const ClosedLoopOptions *options)
{
    assert(normalizer->dim == FACET_CHUNK_CHANNELS && options->pairs >= 0 && options->draws >= 0);
    assert(options->change > 0.0);
    Loop *loop = calloc(1, sizeof *loop);
    if (!loop) return status_fail(FACET_NO_MEMORY, "out of memory for a closed loop");
    loop->setup = facet_race_setup(race, task);
    loop->chunk = chunk;
    loop->normalizer = normalizer;
    loop->options = *options;
    loop->stream = race_task_stream(race, task);
    loop->substeps = (int)(CLOSED_LOOP_MARK / race->model.step + 0.5);
    FacetStatus status = measure(out, loop, race, task);
    contraction_free(&loop->contraction);
    free(loop->marks);
    free(loop->changed);
    free(loop->a);
    free(loop->b);
    free(loop->c);
    free(loop->w);
    free(loop->whole);
    free(loop->results);
    free(loop);
    return status;
}

FacetTubeConstants closed_loop_worst(const ClosedLoop *loops, int count)
{
    FacetTubeConstants worst = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {
        if (!loops[i].contracts) continue;
        worst.lambda = fmax(worst.lambda, loops[i].constants.lambda);
        worst.b_kappa = fmax(worst.b_kappa, loops[i].constants.b_kappa);
        worst.w = fmax(worst.w, loops[i].constants.w);
    }
    return worst;
}
