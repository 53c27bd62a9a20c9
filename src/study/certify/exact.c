// The exact interaction and the exact composed score of a race study (see certify/exact.h).
#include "certify/exact_parts.h"

#include "base/progress.h"
#include "policy/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = EXACT_SIZE };

// ---- Tasks of the course and of the policy ------------------------------------------------------

FacetStatus exact_begin(Exact *e, const FacetRace *race, const FacetPolicy *policy, int steps)
{
    *e = (Exact){.race = race, .policy = policy};
    if (policy->networks != 1 || policy->net->config.factors == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "exact scores: expected a policy with one network that is shown "
                           "factors, found a %s policy",
                           facet_policy_method_name(policy->method));
    SamplerConfig config = {.kind = SAMPLER_DDIM,
                            .steps = steps > 0 ? steps : policy->default_steps,
                            .spacing = policy->spacing,
                            .prediction = policy->prediction,
                            .clip = policy->clip};
    TRY(sampler_plan(&e->network, &policy->schedule, config));
    config.prediction = PREDICT_X0;
    return sampler_plan(&e->scores, &policy->schedule, config);
}

// The policy's task of the same names, with values that it was trained on.
static FacetStatus policy_task(FacetFactorTask *out, const Exact *e, FacetCourseTask task)
{
    const FacetFactorSpace *space = e->policy->space;
    TRY(facet_race_policy_task(out, e->policy, e->race, task));
    for (int f = 0; f < facet_factor_count(space); f++)
        if (!facet_policy_knows(e->policy, f, out->value[f]))
            return status_fail(FACET_BAD_ARGUMENT, "exact scores: the policy never saw %s '%s'",
                               facet_factor_name(space, f),
                               facet_factor_value_name(space, f, out->value[f]));
    return status_ok();
}

static FacetStatus expert_actions(double actions[SIZE], const FacetRace *race, FacetCourseTask task)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetPlanner expert = facet_race_expert();
    TRY(expert.plan(chunk, race, task, 0, expert.context));
    facet_chunk_to_actions(actions, chunk);
    return status_ok();
}

FacetStatus exact_mixture(Mixture **mixture, const Exact *e, const FacetCourseTask *tasks,
                          int count)
{
    double *centres = calloc((size_t)count * SIZE + 1, sizeof *centres);
    FacetFactorTask *factors = calloc((size_t)count + 1, sizeof *factors);
    FacetStatus status = centres && factors
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for %d tasks", count);
    *mixture = NULL;
    for (int i = 0; i < count && status.ok; i++) {
        double *centre = centres + (size_t)i * SIZE;
        status = policy_task(&factors[i], e, tasks[i]); // its chunks are the course's
        factors[i] = facet_race_factor_task(tasks[i]);
        if (status.ok) status = expert_actions(centre, e->race, tasks[i]);
        if (status.ok)
            normalizer_apply(centre, e->policy->normalizer, centre, FACET_CHUNK_KEYPOINTS);
    }
    if (status.ok) status = mixture_create(mixture, centres, factors, NULL, count, 2, SIZE);
    free(centres);
    free(factors);
    return status;
}

// ---- Paths --------------------------------------------------------------------------------------

// The network's composed paths of all tasks, float [steps + 1][count][SIZE], from noise `i` of the
// seed for task i.
static FacetStatus network_paths(float *path, const Exact *e, const FacetCourseTask *tasks,
                                 int count, uint64_t seed)
{
    Sampler *sampler = NULL;
    float *x = calloc((size_t)count * SIZE, sizeof *x);
    int *z = calloc((size_t)count * 2, sizeof *z);
    FacetStatus status =
        x && z ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for %d paths", count);
    const FacetPolicySampling how = {.seed = seed};
    for (int i = 0; i < count && status.ok; i++) {
        FacetFactorTask task;
        policy_noise(x + (size_t)i * SIZE, e->policy, &how, (uint64_t)i);
        status = policy_task(&task, e, tasks[i]);
        for (int f = 0; f < 2; f++) z[2 * i + f] = task.value[f];
    }
    if (status.ok)
        status = sampler_create(&sampler, e->policy->net, count, facet_pool_threads(e->race->pool));
    if (status.ok) {
        sampler_load(sampler, e->policy->params[0], e->race->pool);
        status = sampler_run(x, path, sampler, &e->network, COMPOSE_FACTORS, NULL, z, NULL, count,
                             e->race->pool);
    }
    sampler_free(sampler);
    free(x);
    free(z);
    return status;
}

static void noise_of(double x[SIZE], const FacetPolicy *policy, uint64_t seed, int number)
{
    float noise[SIZE];
    policy_noise(noise, policy, &(FacetPolicySampling){.seed = seed}, (uint64_t)number);
    for (int i = 0; i < SIZE; i++) x[i] = (double)noise[i];
}

FacetStatus exact_states(double *states, const Exact *e, const Mixture *mixture,
                         const FacetCourseTask *tasks, int count, uint64_t seed, Progress *progress)
{
    int steps = e->network.config.steps;
    size_t room = (size_t)(steps + 1) * SIZE;
    float *paths = calloc(room * (size_t)count, sizeof *paths);
    double *path = calloc(room, sizeof *path);
    FacetStatus status = paths && path
                             ? network_paths(paths, e, tasks, count, seed)
                             : status_fail(FACET_NO_MEMORY, "out of memory for %d paths", count);
    for (int i = 0; i < count && status.ok; i++) {
        for (int k = 0; k < steps; k++)
            for (int j = 0; j < SIZE; j++)
                states[((size_t)k * 3 * count + i) * SIZE + j] =
                    (double)paths[((size_t)k * count + i) * SIZE + j];
        for (int which = 1; which < 3 && status.ok; which++) {
            double x[SIZE];
            noise_of(x, e->policy, seed, i);
            status = mixture_sample(x, path, mixture, &e->scores,
                                    which == 1 ? COMPOSE_JOINT : COMPOSE_FACTORS,
                                    facet_race_factor_task(tasks[i]));
            for (int k = 0; k < steps && status.ok; k++)
                memcpy(states + ((size_t)k * 3 * count + which * count + i) * SIZE,
                       path + (size_t)k * SIZE, SIZE * sizeof *path);
        }
        if (status.ok) status = progress_add(progress, 0, NULL);
    }
    free(paths);
    free(path);
    return status;
}

// ---- Products -----------------------------------------------------------------------------------

// Whether a track is feasible in all openings from `first` on.
static bool feasible_from(const FacetRace *race, int track, int first)
{
    for (int o = first; o < race->course->opening_count; o++)
        if (!facet_speed_map_at(&race->speeds, (FacetCourseTask){track, o})->feasible) return false;
    return true;
}

// How many tracks the product of the openings from `first` on has; 0 when it is no product of at
// least two of each.
static int product_tracks(const FacetRace *race, int first)
{
    int tracks = 0;
    if (race->course->opening_count - first < 2) return 0;
    for (int t = 0; t < race->course->track_count; t++) tracks += feasible_from(race, t, first);
    return tracks >= 2 ? tracks : 0;
}

static int product_count(const FacetRace *race)
{
    int count = 0;
    for (int first = 0; first < race->course->opening_count; first++)
        count += product_tracks(race, first) > 0;
    return count < EXACT_PRODUCTS_MAX ? count : EXACT_PRODUCTS_MAX;
}

static FacetStatus list_tasks(ExactProduct *product, const FacetRace *race, int first)
{
    const FacetCourse *course = race->course;
    product->tracks = product_tracks(race, first);
    product->openings = course->opening_count - first;
    product->tasks =
        calloc((size_t)product->tracks * (size_t)product->openings + 1, sizeof *product->tasks);
    if (!product->tasks)
        return status_fail(FACET_NO_MEMORY, "out of memory for a product of tasks");
    int count = 0,
        used = snprintf(product->name, sizeof product->name, "%d tracks x {", product->tracks);
    for (int t = 0; t < course->track_count; t++)
        for (int o = first; o < course->opening_count && feasible_from(race, t, first); o++)
            product->tasks[count++] = (FacetCourseTask){t, o};
    for (int o = first; o < course->opening_count && used < (int)sizeof product->name; o++)
        used += snprintf(product->name + used, sizeof product->name - (size_t)used, "%s%s",
                         course->openings[o].name, o + 1 < course->opening_count ? ", " : "}");
    return status_ok();
}

static FacetStatus measure_product(ExactProduct *product, const Exact *e, uint64_t seed,
                                   Progress *progress)
{
    int count = product->tracks * product->openings, steps = e->network.config.steps;
    double alpha_bar[SCHEDULE_STEPS_MAX];
    double *states = calloc((size_t)steps * 3 * (size_t)count * SIZE, sizeof *states);
    int *index = calloc(3 * (size_t)count, sizeof *index);
    Mixture *mixture = NULL;
    FacetStatus status =
        states && index ? exact_mixture(&mixture, e, product->tasks, count)
                        : status_fail(FACET_NO_MEMORY, "out of memory for %d paths", 3 * count);
    if (status.ok) status = exact_states(states, e, mixture, product->tasks, count, seed, progress);
    if (status.ok) {
        for (int k = 0; k < steps; k++) alpha_bar[k] = e->network.step[k].alpha_bar;
        for (int i = 0; i < 3 * count; i++) index[i] = i % count;
        const FacetProgress aside = progress_aside(progress);
        status = interaction_measure(&product->report, mixture, states, alpha_bar, steps, index,
                                     3 * count, e->race->pool, &aside);
    }
    mixture_destroy(mixture);
    free(states);
    free(index);
    return status;
}

FacetStatus exact_products(ExactProducts *out, const FacetRace *race, const FacetPolicy *policy,
                           int steps, uint64_t seed, const FacetProgress *progress)
{
    *out = (ExactProducts){0};
    Exact *e = malloc(sizeof *e);
    if (!e) return status_fail(FACET_NO_MEMORY, "out of memory for the exact scores");
    Progress products;
    progress_begin(&products, progress, "interaction", product_count(race));
    FacetStatus status = exact_begin(e, race, policy, steps);
    for (int first = 0; first < race->course->opening_count && status.ok; first++) {
        if (product_tracks(race, first) == 0 || out->count == EXACT_PRODUCTS_MAX) continue;
        ExactProduct *product = &out->product[out->count++];
        status = list_tasks(product, race, first);
        if (status.ok) status = measure_product(product, e, seed, &products);
        if (status.ok) status = progress_add(&products, 1, product->name);
    }
    progress_end(&products);
    free(e);
    if (!status.ok) exact_products_free(out);
    return status;
}

void exact_products_free(ExactProducts *products)
{
    for (int i = 0; i < products->count; i++) {
        free(products->product[i].tasks);
        interaction_report_free(&products->product[i].report);
    }
    *products = (ExactProducts){0};
}

// ---- What the exact composed score generates ----------------------------------------------------

static ChunkError chunk_error(const double *actions, const double *truth)
{
    ChunkError error = {0};
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        const double *a = actions + (size_t)i * FACET_CHUNK_CHANNELS, *b = truth + (a - actions);
        error.position += vec3_distance(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2]));
        error.speed += fabs(a[3] - b[3]);
    }
    error.position /= FACET_CHUNK_KEYPOINTS;
    error.speed /= FACET_CHUNK_KEYPOINTS;
    return error;
}

// The training task nearest to a plan, by the distance of normalised actions.
static int find_nearest(const Mixture *training, const double *x)
{
    int nearest = 0;
    double least = HUGE_VAL;
    for (int i = 0; i < training->count; i++) {
        double square = 0.0;
        for (int j = 0; j < SIZE; j++) {
            double gap = x[j] - training->centres[(size_t)i * SIZE + j];
            square += gap * gap;
        }
        if (square >= least) continue;
        least = square;
        nearest = i;
    }
    return nearest;
}

// Whether every value of a task is that of a training task which is feasible here.
static FacetStatus check_shown(const Mixture *training, const FacetRace *race, FacetCourseTask task)
{
    for (int f = 0; f < 2; f++) {
        FacetFactorTask shown = facet_factor_task_null();
        bool found = false;
        shown.value[f] = facet_race_factor_task(task).value[f];
        for (int i = 0; i < training->count; i++) found |= mixture_fits(training, i, shown);
        if (!found)
            return status_fail(FACET_NOT_FOUND,
                               "exact scores: no feasible training task has %s '%s'",
                               facet_factor_name(race->factors, f),
                               facet_factor_value_name(race->factors, f, shown.value[f]));
    }
    return status_ok();
}

static FacetStatus plan_exactly(ExactPlan *plan, const Exact *e, const Mixture *training,
                                const float *network, int number, uint64_t seed)
{
    const Normalizer *normalizer = e->policy->normalizer;
    double truth[SIZE], actions[SIZE];
    TRY(check_shown(training, e->race, plan->task));
    TRY(expert_actions(truth, e->race, plan->task));
    for (int i = 0; i < SIZE; i++) actions[i] = (double)network[i];
    normalizer_invert(actions, normalizer, actions, FACET_CHUNK_KEYPOINTS);
    plan->network = chunk_error(actions, truth);
    noise_of(actions, e->policy, seed, number);
    TRY(mixture_sample(actions, NULL, training, &e->scores, COMPOSE_FACTORS,
                       facet_race_factor_task(plan->task)));
    int nearest = find_nearest(training, actions);
    const int *values = training->tasks[nearest].value;
    normalizer_invert(actions, normalizer, actions, FACET_CHUNK_KEYPOINTS);
    plan->exact = chunk_error(actions, truth);
    plan->nearest = (FacetCourseTask){values[0], values[1]};
    TRY(expert_actions(truth, e->race, plan->nearest));
    plan->nearest_error = chunk_error(actions, truth);
    return status_ok();
}

FacetStatus exact_split(FacetCourseTask *tasks, int *count, FacetCourseTask *trained,
                        int *trained_count, const Exact *e)
{
    *count = facet_race_feasible_tasks(tasks, e->race);
    *trained_count = 0;
    for (int i = 0; i < *count; i++) {
        FacetFactorTask task;
        TRY(policy_task(&task, e, tasks[i]));
        if (facet_factor_split_contains(e->policy->training, task))
            trained[(*trained_count)++] = tasks[i];
    }
    return status_ok();
}

static bool is_among(FacetCourseTask task, const FacetCourseTask *tasks, int count)
{
    for (int i = 0; i < count; i++)
        if (tasks[i].track == task.track && tasks[i].opening == task.opening) return true;
    return false;
}

FacetStatus exact_plans(ExactPlan *plans, int *count, const FacetRace *race,
                        const FacetPolicy *policy, int steps, uint64_t seed,
                        const FacetProgress *progress)
{
    *count = 0;
    size_t room = (size_t)facet_race_task_max(race);
    Exact *e = malloc(sizeof *e);
    FacetCourseTask *tasks = calloc(room + 1, sizeof *tasks),
                    *trained = calloc(room + 1, sizeof *tasks);
    float *paths = NULL;
    Mixture *training = NULL;
    int trained_count = 0, taken = 0;
    FacetStatus status = e && tasks && trained
                             ? exact_begin(e, race, policy, steps)
                             : status_fail(FACET_NO_MEMORY, "out of memory for the exact scores");
    if (status.ok) status = exact_split(tasks, count, trained, &trained_count, e);
    if (status.ok) status = exact_mixture(&training, e, trained, trained_count);
    if (status.ok) {
        taken = e->network.config.steps;
        paths = calloc((size_t)(taken + 1) * (size_t)*count * SIZE, sizeof *paths);
        status = paths ? network_paths(paths, e, tasks, *count, seed)
                       : status_fail(FACET_NO_MEMORY, "out of memory for %d paths", *count);
    }
    Progress done;
    progress_begin(&done, progress, "exact plans", *count);
    for (int i = 0; i < *count && status.ok; i++) {
        const float *end = paths + ((size_t)taken * (size_t)*count + (size_t)i) * SIZE;
        plans[i] =
            (ExactPlan){.task = tasks[i], .held_out = !is_among(tasks[i], trained, trained_count)};
        status = plan_exactly(&plans[i], e, training, end, i, seed);
        if (status.ok) status = progress_add(&done, 1, NULL);
    }
    progress_end(&done);
    mixture_destroy(training);
    free(paths);
    free(trained);
    free(tasks);
    free(e);
    return status;
}
