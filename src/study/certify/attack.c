// An attack on a gate's certificate (see certify/attack.h).
#include "certify/attack.h"

#include "base/rng.h"
#include "base/status.h"
#include "linalg/gemm.h"
#include "math/geometry.h"
#include "policy/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SQUARE = PLAN_SIZE * PLAN_SIZE,
    LENGTHS = 4, // of steps, each way
    SEGMENTS = FACET_CHUNK_KEYPOINTS - 1,
};

// Steps over |d_k|: along the slope, and at random. The first candidates take no random one.
static const double uphill[LENGTHS] = {0.3, 1.0, 3.0, 100.0};
static const double wander[LENGTHS] = {0.1, 0.2, 0.4, 0.8};

void attack_rows(double *out, const double *rows, const double *m, int count, int steps)
{
    size_t size = (size_t)count * PLAN_SIZE;
    memcpy(out + (size_t)(steps - 1) * size, rows, size * sizeof *out);
    for (int k = steps - 1; k > 0; k--)
        linalg_gemm_f64(out + (size_t)(k - 1) * size, PLAN_SIZE, GEMM_PLAIN, out + (size_t)k * size,
                        PLAN_SIZE, GEMM_PLAIN, m + (size_t)k * SQUARE, PLAN_SIZE, count, PLAN_SIZE,
                        PLAN_SIZE, 0.0);
}

// ---- Errors -------------------------------------------------------------------------------------

// d [128] = length along `along` [128], or nothing where that has no direction.
static void stretch(double *d, const double *along, double length)
{
    double square = 0.0;
    for (int j = 0; j < PLAN_SIZE; j++) square += along[j] * along[j];
    double scale = square > 0.0 ? length / sqrt(square) : 0.0;
    for (int j = 0; j < PLAN_SIZE; j++) d[j] = scale * along[j];
}

// out [128] = sign(c2) B_k^T u: the direction of d_k that moves the crossing along u.
static void pull_back(double *out, const double *rows, const DenoisingPath *path, int k,
                      const double u[2])
{
    const double *b = rows + (size_t)k * 2 * PLAN_SIZE;
    double sign = path->step[k].c2 < 0.0 ? -1.0 : 1.0;
    for (int j = 0; j < PLAN_SIZE; j++) out[j] = sign * (u[0] * b[j] + u[1] * b[PLAN_SIZE + j]);
}

// The first order's worst errors [steps][128] towards u.
static void worst_errors(double *errors, const double *rows, const DenoisingPath *path,
                         const double u[2])
{
    double along[PLAN_SIZE];
    for (int k = 0; k < path->steps; k++) {
        pull_back(along, rows, path, k, u);
        stretch(errors + (size_t)k * PLAN_SIZE, along, path->step[k].mismatch);
    }
}

static void direction_of(double u[2], int index)
{
    double angle = 2.0 * FACET_PI * index / ATTACK_PLANS;
    u[0] = cos(angle);
    u[1] = sin(angle);
}

// change [128]: where errors [steps][128] move the chain's end, to first order.
static void push_forward(double *change, const double *errors, const DenoisingPath *path)
{
    double next[PLAN_SIZE];
    for (int j = 0; j < PLAN_SIZE; j++) change[j] = 0.0;
    for (int k = 0; k < path->steps; k++) {
        const double *d = errors + (size_t)k * PLAN_SIZE;
        linalg_gemm_f64(next, 1, GEMM_PLAIN, path->transition + (size_t)k * SQUARE, PLAN_SIZE,
                        GEMM_PLAIN, change, 1, PLAN_SIZE, 1, PLAN_SIZE, 0.0);
        for (int j = 0; j < PLAN_SIZE; j++) change[j] = next[j] + path->step[k].c2 * d[j];
    }
}

// ---- What needs no chain ------------------------------------------------------------------------

// How far a crossing lies from the nominal one, m.
static double shift_of(const Crossing *flown, const Crossing *nominal)
{
    return flown->crossed ? hypot(flown->at[0] - nominal->at[0], flown->at[1] - nominal->at[1])
                          : (double)INFINITY;
}

FacetStatus attack_probe(double *gap, const AttackTarget *target, int gate, const double *rows)
{
    const DenoisingPath *path = target->path;
    const CrossingSlope *slope = &target->sensitivity->gate[gate];
    double changes[ATTACK_PLANS][PLAN_SIZE], predicted[FACET_TRACK_GATES_MAX][2], u[2];
    Crossings flown[ATTACK_PLANS];
    double *errors = calloc((size_t)path->steps * PLAN_SIZE, sizeof *errors);
    if (!errors) return status_fail(FACET_NO_MEMORY, "out of memory for an attack");
    for (int i = 0; i < ATTACK_PLANS; i++) {
        direction_of(u, i);
        worst_errors(errors, rows, path, u);
        push_forward(changes[i], errors, path);
    }
    free(errors);
    TRY(crossings_fly_changed(flown, target->race, target->task, target->plan,
                              target->policy->normalizer, changes[0], ATTACK_PLANS));
    *gap = 0.0;
    for (int i = 0; i < ATTACK_PLANS; i++) {
        const Crossing *at = &flown[i].gate[gate];
        crossing_predict(predicted, target->sensitivity, changes[i]);
        double x = at->at[0] - slope->nominal.at[0] - predicted[gate][0];
        double y = at->at[1] - slope->nominal.at[1] - predicted[gate][1];
        double length = hypot(predicted[gate][0], predicted[gate][1]);
        double off = at->crossed ? hypot(x, y) / fmax(length, 1e-9) : (double)INFINITY;
        *gap = fmax(*gap, off);
    }
    return status_ok();
}

// The rows that give each segment's change along itself, m: rows [31][128], lengths [31].
static void segment_rows(double *rows, double lengths[SEGMENTS], const AttackTarget *target)
{
    const FacetKeypoint *chunk = target->plan.chunk;
    const DenoisingPath *path = target->path;
    const double *end = path->nominal + (size_t)path->steps * PLAN_SIZE;
    for (int i = 0; i < SEGMENTS; i++) {
        FacetVec3 edge = vec3_sub(chunk[i + 1].pos, chunk[i].pos);
        FacetVec3 along = vec3_unit(edge, vec3(1.0, 0.0, 0.0));
        const double tangent[3] = {along.x, along.y, along.z};
        lengths[i] = vec3_norm(edge);
        for (int c = 0; c < 3; c++)
            for (int side = 0; side < 2; side++) {
                int at = FACET_CHUNK_CHANNELS * (i + side) + c;
                double slope = normalizer_slope(target->policy->normalizer, c, end[at]);
                rows[(size_t)i * PLAN_SIZE + at] = (side ? 1.0 : -1.0) * tangent[c] * slope;
            }
    }
}

FacetStatus attack_fold(double *fold, const AttackTarget *target)
{
    const DenoisingPath *path = target->path;
    size_t size = (size_t)SEGMENTS * PLAN_SIZE;
    double lengths[SEGMENTS], most = 0.0;
    double *rows = calloc(size * ((size_t)path->steps + 1), sizeof *rows);
    if (!rows) return status_fail(FACET_NO_MEMORY, "out of memory for an attack");
    double *all = rows + size;
    segment_rows(rows, lengths, target);
    attack_rows(all, rows, path->transition, SEGMENTS, path->steps);
    for (int i = 0; i < SEGMENTS; i++) {
        double reach = 0.0;
        for (int k = 0; k < path->steps; k++) {
            const double *row = all + (size_t)k * size + (size_t)i * PLAN_SIZE;
            double square = 0.0;
            for (int j = 0; j < PLAN_SIZE; j++) square += row[j] * row[j];
            reach += fabs(path->step[k].c2) * sqrt(square) * path->step[k].mismatch;
        }
        most = fmax(most, lengths[i] > 0.0 ? reach / lengths[i] : (double)INFINITY);
    }
    free(rows);
    *fold = isfinite(most) ? most : (double)INFINITY;
    return status_ok();
}

// ---- Chains -------------------------------------------------------------------------------------

struct AttackRunner {
    const FacetPolicy *policy;
    FacetPool *pool;
    SamplerPlan plan;
    Sampler *sampler;
    float *x, *before, *p; // [ATTACK_PLANS][128]
    double *errors;        // [ATTACK_PLANS][steps][128]
    double *best;          // [steps][128]
    double *drawn;         // [ATTACK_DRAWN][steps][128]
    double *changes;       // [2][ATTACK_DRAWN][128], of the plan
    Crossings *flown;      // [ATTACK_DRAWN]
};

FacetStatus attack_runner_create(AttackRunner **runner, const FacetPolicy *policy, int steps,
                                 FacetPool *pool)
{
    *runner = NULL;
    AttackRunner *r = calloc(1, sizeof *r);
    if (!r) return status_fail(FACET_NO_MEMORY, "out of memory for an attack");
    r->policy = policy;
    r->pool = pool;
    const SamplerConfig config = {.kind = SAMPLER_DDIM,
                                  .steps = steps,
                                  .spacing = policy->spacing,
                                  .prediction = policy->prediction,
                                  .clip = policy->clip};
    FacetStatus status = sampler_plan(&r->plan, &policy->schedule, config);
    if (status.ok)
        status = sampler_create(&r->sampler, policy->net, ATTACK_PLANS, facet_pool_threads(pool));
    r->x = calloc((size_t)3 * ATTACK_PLANS * PLAN_SIZE, sizeof *r->x);
    size_t plans = ATTACK_PLANS + 1 + ATTACK_DRAWN;
    r->errors = calloc((plans * (size_t)steps + 2 * ATTACK_DRAWN) * PLAN_SIZE, sizeof *r->errors);
    r->flown = calloc(ATTACK_DRAWN, sizeof *r->flown);
    if (status.ok && (!r->x || !r->errors || !r->flown))
        status = status_fail(FACET_NO_MEMORY, "out of memory for an attack");
    if (!status.ok) {
        attack_runner_destroy(r);
        return status;
    }
    r->before = r->x + (size_t)ATTACK_PLANS * PLAN_SIZE;
    r->p = r->before + (size_t)ATTACK_PLANS * PLAN_SIZE;
    r->best = r->errors + (size_t)ATTACK_PLANS * (size_t)steps * PLAN_SIZE;
    r->drawn = r->best + (size_t)steps * PLAN_SIZE;
    r->changes = r->drawn + (size_t)ATTACK_DRAWN * (size_t)steps * PLAN_SIZE;
    sampler_load(r->sampler, policy->params[0], pool);
    *runner = r;
    return status_ok();
}

void attack_runner_destroy(AttackRunner *runner)
{
    if (!runner) return;
    sampler_free(runner->sampler);
    free(runner->x);
    free(runner->errors);
    free(runner->flown);
    free(runner);
}

FacetStatus attack_chains(double *ends, AttackRunner *r, const AttackTarget *target,
                          const double *errors)
{
    const FacetPolicySampling how = {.seed = target->seed};
    int steps = target->path->steps, factors = r->policy->net->config.factors;
    int z[ATTACK_PLANS * SCORE_FACTORS_MAX];
    for (int i = 0; i < ATTACK_PLANS * factors; i++) z[i] = target->factors.value[i % factors];
    uint64_t number = policy_noise_number(r->policy, &target->factors, NULL, 0);
    for (int i = 0; i < ATTACK_PLANS; i++)
        policy_noise(r->x + (size_t)i * PLAN_SIZE, r->policy, &how, number);
    for (int k = 0; k < steps; k++) {
        if (target->progress) TRY(progress_add(target->progress, 0, NULL));
        sampler_predict(r->p, r->sampler, r->x, r->plan.step[k].t, COMPOSE_FACTORS, NULL, z, NULL,
                        ATTACK_PLANS, r->pool);
        TRY(sampler_advance(r->x, r->before, r->p, &r->plan, k, (size_t)ATTACK_PLANS * PLAN_SIZE));
        for (int i = 0; i < ATTACK_PLANS; i++) {
            const double *d = errors + ((size_t)i * (size_t)steps + (size_t)k) * PLAN_SIZE;
            for (int j = 0; j < PLAN_SIZE; j++)
                r->x[i * PLAN_SIZE + j] += (float)(target->path->step[k].c2 * d[j]);
        }
    }
    for (int i = 0; i < ATTACK_PLANS * PLAN_SIZE; i++) ends[i] = (double)r->x[i];
    return status_ok();
}

// ---- The ascent ---------------------------------------------------------------------------------

typedef struct Ascent {
    AttackRunner *runner;
    const AttackTarget *target;
    int gate;
    double shift;             // the largest so far
    double at[2];             // m, that crossing less the nominal one
    double change[PLAN_SIZE]; // of the plan that made it, normalised
} Ascent;

static double *candidate(const Ascent *a, int index)
{
    return a->runner->errors + (size_t)index * (size_t)a->target->path->steps * PLAN_SIZE;
}

// Denoises and flies all candidates, and keeps the one that shifts most.
static FacetStatus fly_candidates(Ascent *a)
{
    const AttackTarget *target = a->target;
    const DenoisingPath *path = target->path;
    const double *end = path->nominal + (size_t)path->steps * PLAN_SIZE;
    const Crossing *nominal = &target->sensitivity->gate[a->gate].nominal;
    double ends[ATTACK_PLANS * PLAN_SIZE];
    Crossings flown[ATTACK_PLANS];
    FacetStatus status = attack_chains(ends, a->runner, target, a->runner->errors);
    if (status.code == FACET_NOT_FINITE) { // a chain that breaks is a plan that nothing can fly
        a->shift = INFINITY;
        return status_ok();
    }
    TRY(status);
    for (int i = 0; i < ATTACK_PLANS * PLAN_SIZE; i++) ends[i] -= end[i % PLAN_SIZE];
    TRY(crossings_fly_changed(flown, target->race, target->task, target->plan,
                              target->policy->normalizer, ends, ATTACK_PLANS));
    for (int i = 0; i < ATTACK_PLANS; i++) {
        const Crossing *at = &flown[i].gate[a->gate];
        double shift = shift_of(at, nominal);
        if (!(shift > a->shift)) continue;
        a->shift = shift;
        for (int k = 0; k < 2; k++) a->at[k] = at->at[k] - nominal->at[k];
        memcpy(a->change, ends + (size_t)i * PLAN_SIZE, sizeof a->change);
        memcpy(a->runner->best, candidate(a, i),
               (size_t)path->steps * PLAN_SIZE * sizeof *a->runner->best);
    }
    return status_ok();
}

// The slope of the flight at the plan that was hit hardest, as B_k. Without one, the nominal's.
static FacetStatus find_slope(double *rows, const Ascent *a, const double *nominal_rows)
{
    const AttackTarget *target = a->target;
    const DenoisingPath *path = target->path;
    FacetKeypoint moved[FACET_CHUNK_KEYPOINTS];
    CrossingSensitivity *there = calloc(1, sizeof *there);
    if (!there) return status_fail(FACET_NO_MEMORY, "out of memory for an attack");
    plan_change(moved, target->plan.chunk, target->policy->normalizer, a->change);
    FacetStatus status = crossing_sensitivity(there, target->race, target->task,
                                              (PacedPlan){moved, target->plan.pace},
                                              target->policy->normalizer, CROSSING_STEP);
    if (status.ok && crossing_has_slope(&there->gate[a->gate]))
        attack_rows(rows, there->gate[a->gate].slope[0], path->transition, 2, path->steps);
    else
        memcpy(rows, nominal_rows, (size_t)path->steps * 2 * PLAN_SIZE * sizeof *rows);
    free(there);
    return status;
}

// One candidate [steps][128] about the best errors: up the slope, and at random.
static void draw_candidate(double *out, const Ascent *a, const double *rows, int round, int index)
{
    const DenoisingPath *path = a->target->path;
    double u[2] = {a->at[0] / a->shift, a->at[1] / a->shift};
    double up = uphill[index % LENGTHS];
    double aside = index < LENGTHS ? 0.0 : wander[index / LENGTHS % LENGTHS];
    int number = (a->gate * ATTACK_ROUNDS + round) * ATTACK_DRAWN + index;
    FacetRng rng = rng_make(a->target->seed, (uint64_t)number);
    for (int k = 0; k < path->steps; k++) {
        double along[PLAN_SIZE], random[PLAN_SIZE], length = path->step[k].mismatch;
        const double *best = a->runner->best + (size_t)k * PLAN_SIZE;
        double *d = out + (size_t)k * PLAN_SIZE;
        pull_back(along, rows, path, k, u);
        stretch(along, along, up * length);
        for (int j = 0; j < PLAN_SIZE; j++) random[j] = rng_normal(&rng);
        stretch(random, random, aside * length);
        for (int j = 0; j < PLAN_SIZE; j++) d[j] = best[j] + along[j] + random[j];
        stretch(d, d, length);
    }
}

// Where the drawn errors take the plan hit hardest so far, to first order in what they differ from
// its own: runner->changes [ATTACK_DRAWN][128].
static void move_drawn(const Ascent *a)
{
    const DenoisingPath *path = a->target->path;
    AttackRunner *r = a->runner;
    double *now = r->changes, *next = now + (size_t)ATTACK_DRAWN * PLAN_SIZE;
    memset(now, 0, (size_t)ATTACK_DRAWN * PLAN_SIZE * sizeof *now);
    for (int k = 0; k < path->steps; k++) {
        linalg_gemm_f64(next, PLAN_SIZE, GEMM_PLAIN, now, PLAN_SIZE, GEMM_TRANSPOSED,
                        path->transition + (size_t)k * SQUARE, PLAN_SIZE, ATTACK_DRAWN, PLAN_SIZE,
                        PLAN_SIZE, 0.0);
        const double *best = r->best + (size_t)k * PLAN_SIZE;
        for (int i = 0; i < ATTACK_DRAWN; i++) {
            const double *d = r->drawn + ((size_t)i * (size_t)path->steps + (size_t)k) * PLAN_SIZE;
            for (int j = 0; j < PLAN_SIZE; j++)
                now[i * PLAN_SIZE + j] =
                    next[i * PLAN_SIZE + j] + path->step[k].c2 * (d[j] - best[j]);
        }
    }
    for (int i = 0; i < ATTACK_DRAWN * PLAN_SIZE; i++) now[i] += a->change[i % PLAN_SIZE];
}

void attack_choose(int chosen[ATTACK_PLANS], double *shifts, int count)
{
    for (int n = 0; n < ATTACK_PLANS; n++) {
        chosen[n] = 0;
        for (int i = 1; i < count; i++)
            if (shifts[i] > shifts[chosen[n]]) chosen[n] = i;
        shifts[chosen[n]] = -1.0; // taken
    }
}

// Draws candidates, flies them to first order of the chain, and keeps those that shift most.
static FacetStatus draw_candidates(const Ascent *a, const double *rows, int round)
{
    const AttackTarget *target = a->target;
    AttackRunner *r = a->runner;
    size_t size = (size_t)target->path->steps * PLAN_SIZE;
    const Crossing *nominal = &target->sensitivity->gate[a->gate].nominal;
    double shifts[ATTACK_DRAWN];
    int chosen[ATTACK_PLANS];
    for (int i = 0; i < ATTACK_DRAWN; i++)
        draw_candidate(r->drawn + (size_t)i * size, a, rows, round, i);
    move_drawn(a);
    TRY(crossings_fly_changed(r->flown, target->race, target->task, target->plan,
                              target->policy->normalizer, r->changes, ATTACK_DRAWN));
    for (int i = 0; i < ATTACK_DRAWN; i++)
        shifts[i] = shift_of(&r->flown[i].gate[a->gate], nominal);
    attack_choose(chosen, shifts, ATTACK_DRAWN);
    for (int n = 0; n < ATTACK_PLANS; n++)
        memcpy(candidate(a, n), r->drawn + (size_t)chosen[n] * size, size * sizeof *r->drawn);
    return status_ok();
}

FacetStatus attack_gate(double *shift, AttackRunner *runner, const AttackTarget *target, int gate,
                        const double *rows, double enough)
{
    const DenoisingPath *path = target->path;
    Ascent a = {.runner = runner, .target = target, .gate = gate, .shift = -1.0};
    double *there = calloc((size_t)path->steps * 2 * PLAN_SIZE, sizeof *there);
    if (!there) return status_fail(FACET_NO_MEMORY, "out of memory for an attack");
    for (int i = 0; i < ATTACK_PLANS; i++) {
        double u[2];
        direction_of(u, i);
        worst_errors(candidate(&a, i), rows, path, u);
    }
    FacetStatus status = fly_candidates(&a);
    for (int round = 0; round < ATTACK_ROUNDS && status.ok && a.shift > 0.0 && a.shift <= enough;
         round++) {
        status = find_slope(there, &a, rows);
        if (status.ok) status = draw_candidates(&a, there, round);
        if (status.ok) status = fly_candidates(&a);
    }
    free(there);
    *shift = a.shift;
    return status;
}
