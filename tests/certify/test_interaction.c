// The exact interaction: closed forms against plain densities and central differences, factors
// that are independent, and Theorem 1 at sampled points.
#define FACET_REAL_DOUBLE
#include "base/rng.h"
#include "certify/interaction.h"
#include "testing.h"

#include <stdlib.h>

enum { SIZE = 7, TASKS_MAX = 8 };

typedef struct Toy {
    Mixture *mixture;
    double centres[TASKS_MAX][SIZE], weights[TASKS_MAX];
    FacetFactorTask tasks[TASKS_MAX];
    int count, factors;
} Toy;

// All combinations of two values of each factor, with random centres and weights.
static Toy random_toy(int factors, uint64_t seed)
{
    Toy toy = {.count = 1 << factors, .factors = factors};
    FacetRng rng = rng_make(seed, 0);
    for (int z = 0; z < toy.count; z++) {
        toy.tasks[z] = facet_factor_task_null();
        for (int f = 0; f < factors; f++) toy.tasks[z].value[f] = (z >> f) & 1;
        for (int i = 0; i < SIZE; i++) toy.centres[z][i] = rng_normal(&rng);
        toy.weights[z] = rng_range(&rng, 0.5, 2.0);
    }
    assert_ok(mixture_create(&toy.mixture, toy.centres[0], toy.tasks, toy.weights, toy.count,
                             factors, SIZE));
    return toy;
}

// Factor i moves the centre along axes of its own, so it acts on channels of its own.
static Toy independent_toy(void)
{
    static const double moves[3][2] = {{-0.8, 1.1}, {0.3, 0.9}, {-1.2, -0.1}};
    Toy toy = {.count = 8, .factors = 3};
    for (int z = 0; z < 8; z++) {
        toy.tasks[z] = facet_factor_task_null();
        for (int f = 0; f < 3; f++) {
            int value = (z >> f) & 1;
            toy.tasks[z].value[f] = value;
            toy.centres[z][2 * f] = moves[f][value];
            toy.centres[z][2 * f + 1] = value ? 0.4 : -0.2;
        }
    }
    assert_ok(mixture_create(&toy.mixture, toy.centres[0], toy.tasks, NULL, 8, 3, SIZE));
    return toy;
}

// Reads g from the densities themselves.
static double plain_g(const Toy *toy, int index, const double *a, double alpha_bar)
{
    double density[TASKS_MAX], total = 0.0;
    for (int z = 0; z < toy->count; z++) {
        double square = 0.0;
        for (int i = 0; i < SIZE; i++)
            square += pow(a[i] - sqrt(alpha_bar) * toy->centres[z][i], 2.0);
        density[z] = toy->weights[z] * exp(-square / (2.0 * (1.0 - alpha_bar)));
        total += density[z];
    }
    double ratio = density[index] / total;
    for (int f = 0; f < toy->factors; f++) {
        double same = 0.0;
        for (int z = 0; z < toy->count; z++)
            if (toy->tasks[z].value[f] == toy->tasks[index].value[f]) same += density[z];
        ratio /= same / total;
    }
    return log(ratio);
}

static void random_action(double *a, FacetRng *rng)
{
    for (int i = 0; i < SIZE; i++) a[i] = rng_normal(rng);
}

static void g_is_the_log_ratio_of_densities(void **state)
{
    (void)state;
    FacetRng rng = rng_make(5, 0);
    for (int factors = 2; factors <= 3; factors++) {
        Toy toy = random_toy(factors, 1);
        for (int trial = 0; trial < 20; trial++) {
            double a[SIZE], alpha_bar = rng_range(&rng, 0.05, 0.8);
            random_action(a, &rng);
            Interaction seen = interaction_at(NULL, toy.mixture, trial % toy.count, a, alpha_bar);
            assert_near(seen.g, plain_g(&toy, trial % toy.count, a, alpha_bar), 1e-10);
        }
        mixture_destroy(toy.mixture);
    }
}

// Power iteration on the square of a symmetric matrix.
static double norm_by_powers(double h[SIZE][SIZE])
{
    double x[SIZE], y[SIZE], norm = 0.0;
    for (int i = 0; i < SIZE; i++) x[i] = 1.0 + 0.1 * i;
    for (int step = 0; step < 4000; step++) {
        norm = 0.0;
        for (int i = 0; i < SIZE; i++) {
            y[i] = 0.0;
            for (int k = 0; k < SIZE; k++) y[i] += h[i][k] * x[k];
            norm += y[i] * y[i];
        }
        norm = sqrt(norm);
        for (int i = 0; i < SIZE; i++) x[i] = y[i] / norm;
    }
    return norm;
}

static void derivatives_match_central_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    FacetRng rng = rng_make(6, 0);
    for (int factors = 2; factors <= 3; factors++) {
        Toy toy = random_toy(factors, 2);
        for (int trial = 0; trial < 10; trial++) {
            double a[SIZE], gradient[SIZE], up[SIZE], down[SIZE], hessian[SIZE][SIZE];
            double alpha_bar = rng_range(&rng, 0.1, 0.9);
            int index = (3 * trial) % toy.count;
            random_action(a, &rng);
            Interaction here = interaction_at(gradient, toy.mixture, index, a, alpha_bar);
            double square = 0.0;
            for (int i = 0; i < SIZE; i++) {
                double kept = a[i];
                a[i] = kept + h;
                double above = interaction_at(up, toy.mixture, index, a, alpha_bar).g;
                a[i] = kept - h;
                double below = interaction_at(down, toy.mixture, index, a, alpha_bar).g;
                a[i] = kept;
                assert_near(gradient[i], (above - below) / (2.0 * h), 1e-6 * (1.0 + here.gap));
                for (int k = 0; k < SIZE; k++) hessian[i][k] = (up[k] - down[k]) / (2.0 * h);
                square += gradient[i] * gradient[i];
            }
            assert_near(here.gap, sqrt(square), 1e-12 * (1.0 + here.gap));
            assert_near(interaction_at(NULL, toy.mixture, index, a, alpha_bar).gap, here.gap,
                        1e-11 * (1.0 + here.gap)); // in the coordinates of the span
            assert_near(here.curvature, norm_by_powers(hessian), 2e-6 * (1.0 + here.curvature));
        }
        mixture_destroy(toy.mixture);
    }
}

static void gradient_is_the_gap_of_the_scores(void **state)
{
    (void)state;
    Toy toy = random_toy(3, 3);
    FacetRng rng = rng_make(7, 0);
    double a[SIZE], gradient[SIZE], joint[SIZE], composed[SIZE];
    const double alpha_bar = 0.4;
    random_action(a, &rng);
    interaction_at(gradient, toy.mixture, 5, a, alpha_bar);
    mixture_denoise(joint, toy.mixture, toy.tasks[5], a, alpha_bar);
    mixture_compose(composed, toy.mixture, toy.tasks[5], a, alpha_bar);
    for (int i = 0; i < SIZE; i++) {
        double s = (sqrt(alpha_bar) * joint[i] - a[i]) / (1.0 - alpha_bar);
        double s_comp = (sqrt(alpha_bar) * composed[i] - a[i]) / (1.0 - alpha_bar);
        assert_near(gradient[i], s - s_comp, 1e-12);
        assert_near(joint[i], toy.centres[5][i], 1e-15);
    }
    mixture_destroy(toy.mixture);
}

// ---- Measuring ----------------------------------------------------------------------------------

enum { LEVELS = 6, STATES = 16 };

static const double alpha_bars[LEVELS] = {1e-4, 0.05, 0.3, 0.7, 0.95, 0.9993};

// States near the noised centres of other tasks too, where the interaction is strong.
static void make_states(double *states, int *index, const Toy *toy)
{
    FacetRng rng = rng_make(8, 0);
    for (int i = 0; i < STATES; i++) index[i] = i % toy->count;
    for (int k = 0; k < LEVELS; k++)
        for (int i = 0; i < STATES; i++) {
            int near = i < STATES / 2 ? index[i] : (i + 3) % toy->count;
            for (int j = 0; j < SIZE; j++)
                states[(k * STATES + i) * SIZE + j] = sqrt(alpha_bars[k]) * toy->centres[near][j] +
                                                      sqrt(1.0 - alpha_bars[k]) * rng_normal(&rng);
        }
}

static void independent_factors_have_no_gap(void **state)
{
    (void)state;
    Toy toy = independent_toy();
    double states[LEVELS * STATES * SIZE];
    int index[STATES];
    FacetPool *pool;
    InteractionReport report;
    assert_ok(facet_pool_create(&pool, 1));
    make_states(states, index, &toy);
    for (int k = 0; k < LEVELS; k++) {
        double gradient[SIZE];
        Interaction seen =
            interaction_at(gradient, toy.mixture, 6, states + k * STATES * SIZE, alpha_bars[k]);
        double scale = 1.0 / (1.0 - alpha_bars[k]);
        assert_near(seen.g, 0.0, 1e-13 * scale);
        assert_near(seen.gap, 0.0, 1e-14 * scale);
        assert_near(seen.curvature, 0.0, 1e-14 * scale * scale);
    }
    assert_ok(interaction_measure(&report, toy.mixture, states, alpha_bars, LEVELS, index, STATES,
                                  pool, NULL));
    assert_true(report.holds);
    assert_less(report.max_gap, 1e-10);
    interaction_report_free(&report);

    // And composing is exact: the composed score leads to the task's own centre.
    NoiseSchedule schedule;
    SamplerPlan *plan = malloc(sizeof *plan);
    assert_non_null(plan);
    assert_ok(schedule_cosine(&schedule, 100));
    assert_ok(sampler_plan(plan, &schedule,
                           (SamplerConfig){.kind = SAMPLER_DDIM,
                                           .steps = 20,
                                           .spacing = SPACING_TRAILING,
                                           .prediction = PREDICT_X0}));
    for (int z = 0; z < toy.count; z++) {
        double x[SIZE], path[21][SIZE];
        sampler_noise(x, 4, (uint64_t)z, SIZE);
        double first = x[0];
        assert_ok(mixture_sample(x, path[0], toy.mixture, plan, COMPOSE_FACTORS, toy.tasks[z]));
        for (int i = 0; i < SIZE; i++) assert_near(x[i], toy.centres[z][i], 1e-9);
        assert_near(path[0][0], first, 0.0);
        assert_near(path[20][0], x[0], 0.0);
    }
    free(plan);
    facet_pool_destroy(pool);
    mixture_destroy(toy.mixture);
}

// |g| along the gradient at `distance` from a state.
static double g_along(const Toy *toy, int index, const double *a, double alpha_bar, double distance)
{
    double gradient[SIZE], moved[SIZE];
    Interaction here = interaction_at(gradient, toy->mixture, index, a, alpha_bar);
    for (int i = 0; i < SIZE; i++) moved[i] = a[i] + distance * gradient[i] / here.gap;
    return fabs(interaction_at(NULL, toy->mixture, index, moved, alpha_bar).g);
}

static void check_level(const InteractionLevel *level, const Toy *toy, const double *states,
                        const int *index, double alpha_bar)
{
    double gap = 0.0;
    assert_true(isfinite(level->bound));
    assert_true(level->max_gap <= level->bound);
    assert_near(level->bound, 2.0 * sqrt(level->g * level->m), 1e-12 * level->bound);
    assert_true(level->length >= 2.0 * sqrt(level->g / level->m));
    for (int i = 0; i < STATES; i++) {
        const double *a = states + i * SIZE;
        Interaction seen = interaction_at(NULL, toy->mixture, index[i], a, alpha_bar);
        gap = fmax(gap, seen.gap);
        assert_true(fabs(seen.g) <= level->g);
        assert_true(seen.curvature <= level->m);
        if (seen.gap < 1e-9) continue;
        for (int step = 1; step <= 40; step++)
            assert_true(g_along(toy, index[i], a, alpha_bar, level->length * step / 40.0) <=
                        1.02 * level->g);
    }
    assert_near(level->max_gap, gap, 1e-9 * gap);
}

static void the_theorem_holds_at_sampled_points(void **state)
{
    (void)state;
    FacetPool *one, *two;
    assert_ok(facet_pool_create(&one, 1));
    assert_ok(facet_pool_create(&two, 2));
    for (int factors = 2; factors <= 3; factors++) {
        Toy toy = random_toy(factors, 11);
        double states[LEVELS * STATES * SIZE];
        int index[STATES];
        InteractionReport report, again;
        make_states(states, index, &toy);
        assert_ok(interaction_measure(&report, toy.mixture, states, alpha_bars, LEVELS, index,
                                      STATES, one, NULL));
        assert_ok(interaction_measure(&again, toy.mixture, states, alpha_bars, LEVELS, index,
                                      STATES, two, NULL));
        assert_true(report.holds);
        assert_true(report.max_gap <= report.bound);
        for (int k = 0; k < LEVELS; k++)
            check_level(&report.levels[k], &toy, states + k * STATES * SIZE, index, alpha_bars[k]);
        assert_true(report.worst_ratio > 0.05);
        assert_true(report.worst_ratio <= 1.0); // it is no empty bound
        assert_memory_equal(report.levels, again.levels, LEVELS * sizeof *report.levels);
        interaction_report_free(&report);
        interaction_report_free(&again);
        mixture_destroy(toy.mixture);
    }
    facet_pool_destroy(one);
    facet_pool_destroy(two);
}

// Far away |g| passes any G: the theorem's assumption cannot hold for all actions.
static void g_grows_without_bound(void **state)
{
    (void)state;
    Toy toy = random_toy(2, 1);
    double a[SIZE] = {1.0, -0.5, 0.3, 0.8, -1.0, 0.2, 0.4}, far[SIZE], last = 0.0;
    for (double reach = 10.0; reach <= 1e4; reach *= 10.0) {
        double most = 0.0;
        for (int z = 0; z < toy.count; z++) {
            for (int i = 0; i < SIZE; i++) far[i] = reach * a[i];
            most = fmax(most, fabs(interaction_at(NULL, toy.mixture, z, far, 0.5).g));
        }
        assert_true(most > 5.0 * last);
        last = most;
    }
    mixture_destroy(toy.mixture);
}

static void too_many_tasks_are_refused(void **state)
{
    (void)state;
    Mixture *mixture;
    double centre = 0.0;
    FacetFactorTask task = facet_factor_task_null();
    assert_refused(mixture_create(&mixture, &centre, &task, NULL, 65, 1, 1),
                   "expected 1 to 64 tasks, found 65");
    assert_null(mixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(g_is_the_log_ratio_of_densities),
        cmocka_unit_test(derivatives_match_central_differences),
        cmocka_unit_test(gradient_is_the_gap_of_the_scores),
        cmocka_unit_test(independent_factors_have_no_gap),
        cmocka_unit_test(the_theorem_holds_at_sampled_points),
        cmocka_unit_test(g_grows_without_bound),
        cmocka_unit_test(too_many_tasks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
