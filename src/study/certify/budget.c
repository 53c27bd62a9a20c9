// The budget of Theorem 2 (see certify/budget.h).
#include "certify/budget.h"

#include "base/status.h"
#include "certify/exact_parts.h"
#include "policy/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = EXACT_SIZE, FACTORS = BUDGET_FACTORS, ALONE = 1, JOINT = FACTORS + 1, CONDITIONS };

typedef struct BudgetWork {
    Exact e;
    Mixture *mixture;
    Sampler *sampler;
    FacetCourseTask *tasks; // [count], those of training
    int count;
    double *states;           // [steps][3 count][SIZE]
    double *set;              // [steps][count][SIZE], one of the three
    float *x, *p;             // [count][CONDITIONS][SIZE]
    int *z;                   // [count][CONDITIONS][FACTORS], of the policy
    float *other_x, *other_p; // [count][SIZE], with one factor shown as another value
    int *other_z;             // [count][FACTORS]
    int *index;               // [count], 0, 1, ...
} BudgetWork;

// A task with the factors of one condition shown: none, one alone, or all.
static FacetFactorTask shown(FacetFactorTask task, int condition)
{
    for (int f = 0; f < FACTORS; f++)
        if (condition != JOINT && condition != ALONE + f) task.value[f] = FACET_FACTOR_NULL;
    return task;
}

// eps at a [SIZE] from a clean sample x0 [SIZE].
static void noise_from(double *eps, const double *a, const double *x0, double alpha_bar)
{
    for (int j = 0; j < SIZE; j++)
        eps[j] = (a[j] - sqrt(alpha_bar) * x0[j]) / sqrt(1.0 - alpha_bar);
}

// The eps that the sampler makes of a prediction.
static void noise_predicted(double *eps, const BudgetWork *w, int k, const double *a,
                            const double *p)
{
    const SamplerStep *s = &w->e.network.step[k];
    double x0[SIZE], clip = w->e.network.config.clip;
    for (int j = 0; j < SIZE; j++) {
        x0[j] = s->clean.first * a[j] + s->clean.second * p[j];
        if (clip > 0.0) x0[j] = fmax(-clip, fmin(clip, x0[j]));
    }
    noise_from(eps, a, x0, s->alpha_bar);
}

static double distance(const double *a, const double *b)
{
    double square = 0.0;
    for (int j = 0; j < SIZE; j++) square += (a[j] - b[j]) * (a[j] - b[j]);
    return sqrt(square);
}

// One state: the network's errors under every condition, and composed.
static void compare_state(BudgetLevel *level, const BudgetWork *w, int k, int i, const double *a)
{
    double alpha_bar = w->e.network.step[k].alpha_bar;
    double eps[SIZE], exact[SIZE], x0[SIZE], p[SIZE], composed[SIZE] = {0.0};
    FacetFactorTask task = w->mixture->tasks[i];
    for (int c = 0; c < CONDITIONS; c++) {
        const float *out = w->p + ((size_t)i * CONDITIONS + (size_t)c) * SIZE;
        double weight = c == JOINT ? 0.0 : c == 0 ? 1.0 - FACTORS : 1.0;
        for (int j = 0; j < SIZE; j++) {
            p[j] = (double)out[j];
            composed[j] += weight * p[j];
        }
        noise_predicted(eps, w, k, a, p);
        mixture_denoise(x0, w->mixture, shown(task, c), a, alpha_bar);
        noise_from(exact, a, x0, alpha_bar);
        level->eta = fmax(level->eta, distance(eps, exact));
    }
    noise_predicted(eps, w, k, a, composed); // `exact` is that of all factors shown
    level->measured = fmax(level->measured, distance(eps, exact));
}

static void measure_level(BudgetLevel *level, BudgetWork *w, int k)
{
    const double *states = w->set + (size_t)k * (size_t)w->count * SIZE;
    for (int r = 0; r < w->count * CONDITIONS; r++)
        for (int j = 0; j < SIZE; j++)
            w->x[(size_t)r * SIZE + (size_t)j] =
                (float)states[(size_t)(r / CONDITIONS) * SIZE + (size_t)j];
    sampler_predict(w->p, w->sampler, w->x, w->e.network.step[k].t, COMPOSE_JOINT, NULL, w->z, NULL,
                    w->count * CONDITIONS, w->e.race->pool);
    for (int i = 0; i < w->count; i++) compare_state(level, w, k, i, states + (size_t)i * SIZE);
}

// L_f: how much the prediction of factor f alone changes with its value, from what measure_level
// predicted of the tasks' own.
static double measure_factor(BudgetWork *w, int k, int f)
{
    const SamplerStep *s = &w->e.network.step[k];
    double scale = sqrt(s->alpha_bar / (1.0 - s->alpha_bar)) * fabs(s->clean.second), most = 0.0;
    const FacetPolicy *policy = w->e.policy;
    for (int i = 0; i < w->count; i++)
        memcpy(w->other_x + (size_t)i * SIZE, w->x + (size_t)i * CONDITIONS * SIZE,
               SIZE * sizeof *w->x);
    for (int v = 0; v < facet_factor_value_count(policy->space, f); v++) {
        if (!facet_policy_knows(policy, f, v)) continue;
        for (int i = 0; i < w->count * FACTORS; i++)
            w->other_z[i] = i % FACTORS == f ? v : FACET_FACTOR_NULL;
        sampler_predict(w->other_p, w->sampler, w->other_x, s->t, COMPOSE_JOINT, NULL, w->other_z,
                        NULL, w->count, w->e.race->pool);
        for (int i = 0; i < w->count; i++) {
            size_t own = (size_t)i * CONDITIONS + ALONE + (size_t)f;
            double square = 0.0;
            for (int j = 0; j < SIZE; j++) {
                double gap = (double)w->other_p[(size_t)i * SIZE + (size_t)j] -
                             (double)w->p[own * SIZE + (size_t)j];
                square += gap * gap;
            }
            most = fmax(most, scale * sqrt(square));
        }
    }
    return most;
}

// All levels of one set of states: the network's paths, or the exact joint score's.
static FacetStatus measure_set(BudgetLevel *levels, BudgetWork *w, BudgetStates which,
                               Progress *progress)
{
    const FacetProgress aside = progress_aside(progress);
    int steps = w->e.network.config.steps;
    double alpha_bar[SCHEDULE_STEPS_MAX] = {0.0};
    InteractionReport report;
    for (int k = 0; k < steps; k++) {
        alpha_bar[k] = w->e.network.step[k].alpha_bar;
        memcpy(w->set + (size_t)k * (size_t)w->count * SIZE,
               w->states + ((size_t)k * 3 + (size_t)which) * (size_t)w->count * SIZE,
               (size_t)w->count * SIZE * sizeof *w->set);
    }
    TRY(interaction_measure(&report, w->mixture, w->set, alpha_bar, steps, w->index, w->count,
                            w->e.race->pool, &aside));
    FacetStatus status = status_ok();
    for (int k = 0; k < steps && status.ok; k++) {
        double sigma = sqrt(1.0 - alpha_bar[k]);
        levels[k] = (BudgetLevel){.sigma = sigma,
                                  .g = report.levels[k].g,
                                  .m = report.levels[k].m,
                                  .interaction = sigma * report.levels[k].bound,
                                  .gap = sigma * report.levels[k].max_gap};
        measure_level(&levels[k], w, k);
        levels[k].total = levels[k].interaction + (2 * FACTORS - 1) * levels[k].eta;
        levels[k].changed = levels[k].total;
        for (int f = 0; f < FACTORS; f++) {
            levels[k].lipschitz[f] = measure_factor(w, k, f);
            levels[k].changed += levels[k].lipschitz[f];
        }
        status = progress_add(progress, 0, NULL);
    }
    interaction_report_free(&report);
    return status;
}

static FacetStatus prepare(BudgetWork *w, uint64_t seed, Progress *progress)
{
    size_t room = (size_t)facet_race_task_max(w->e.race), steps = (size_t)w->e.network.config.steps;
    FacetCourseTask *all = calloc(room + 1, sizeof *all);
    w->tasks = calloc(room + 1, sizeof *w->tasks);
    int feasible;
    FacetStatus status = all && w->tasks
                             ? exact_split(all, &feasible, w->tasks, &w->count, &w->e)
                             : status_fail(FACET_NO_MEMORY, "out of memory for the budget");
    free(all);
    TRY(status);
    if (w->count == 0)
        return status_fail(FACET_NOT_FOUND, "budget: the policy was trained on no feasible task");
    size_t count = (size_t)w->count, rows = count * CONDITIONS;
    w->states = calloc(steps * 4 * count * SIZE, sizeof *w->states);
    w->x = calloc(2 * (rows + count) * SIZE, sizeof *w->x);
    w->z = calloc((rows + count) * FACTORS + count, sizeof *w->z);
    if (!w->states || !w->x || !w->z)
        return status_fail(FACET_NO_MEMORY, "out of memory for the budget");
    w->set = w->states + steps * 3 * count * SIZE;
    w->p = w->x + rows * SIZE;
    w->other_x = w->p + rows * SIZE;
    w->other_p = w->other_x + count * SIZE;
    w->other_z = w->z + rows * FACTORS;
    w->index = w->other_z + count * FACTORS;
    for (int r = 0; r < (int)rows; r++) {
        FacetFactorTask task;
        TRY(facet_race_policy_task(&task, w->e.policy, w->e.race, w->tasks[r / CONDITIONS]));
        task = shown(task, r % CONDITIONS);
        for (int f = 0; f < FACTORS; f++) w->z[r * FACTORS + f] = task.value[f];
    }
    for (int i = 0; i < w->count; i++) w->index[i] = i;
    TRY(exact_mixture(&w->mixture, &w->e, w->tasks, w->count));
    TRY(exact_states(w->states, &w->e, w->mixture, w->tasks, w->count, seed, progress));
    TRY(sampler_create(&w->sampler, w->e.policy->net, (int)rows,
                       facet_pool_threads(w->e.race->pool)));
    sampler_load(w->sampler, w->e.policy->params[0], w->e.race->pool);
    return status_ok();
}

FacetStatus budget_measure(Budget *budget, const FacetRace *race, const FacetPolicy *policy,
                           int steps, uint64_t seed, const FacetProgress *progress)
{
    *budget = (Budget){0};
    BudgetWork *w = calloc(1, sizeof *w);
    if (!w) return status_fail(FACET_NO_MEMORY, "out of memory for the budget");
    Progress done;
    progress_begin(&done, progress, "budget", BUDGET_SETS);
    FacetStatus status = exact_begin(&w->e, race, policy, steps);
    if (status.ok) status = prepare(w, seed, &done);
    budget->tasks = w->count;
    budget->count = w->e.network.config.steps;
    for (int set = 0; set < BUDGET_SETS && status.ok; set++) {
        budget->levels[set] = calloc((size_t)budget->count, sizeof *budget->levels[set]);
        status = budget->levels[set] ? measure_set(budget->levels[set], w, (BudgetStates)set, &done)
                                     : status_fail(FACET_NO_MEMORY, "out of memory for the budget");
        if (status.ok) status = progress_add(&done, 1, NULL);
    }
    progress_end(&done);
    sampler_free(w->sampler);
    mixture_destroy(w->mixture);
    free(w->tasks);
    free(w->states);
    free(w->x);
    free(w->z);
    free(w);
    if (!status.ok) budget_free(budget);
    return status;
}

void budget_free(Budget *budget)
{
    for (int set = 0; set < BUDGET_SETS; set++) free(budget->levels[set]);
    *budget = (Budget){0};
}
