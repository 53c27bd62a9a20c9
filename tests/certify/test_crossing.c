// The gate-wise certificate: slopes where they are known, the radius against explicit products, and
// predictions against flights.
#include "base/rng.h"
#include "certify/crossing.h"
#include "certify/small_course.h"
#include "linalg/spectrum.h"
#include "math/geometry.h"

#include <stdlib.h>

static CrossingSensitivity sensitivity;

// ---- Slopes -------------------------------------------------------------------------------------

static double sum_of(const CrossingSlope *gate, int axis, int channel)
{
    double sum = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        sum += gate->slope[axis][FACET_CHUNK_CHANNELS * i + channel];
    return sum;
}

// A straight plan that moves as a whole takes the far crossing with it, metre for metre: y is to
// the left and z up. Along itself, and in speed, it moves nothing there.
static void a_straight_plan_moves_its_crossing_metre_for_metre(void **unused)
{
    (void)unused;
    FacetRace *race = open_course(2);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(race, "straight/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    straight_plan(chunk);
    assert_ok(
        crossing_sensitivity(&sensitivity, race, task, own_pace(chunk), units, CROSSING_STEP));
    assert_int_equal(sensitivity.gates, 2);
    const CrossingSlope *far = &sensitivity.gate[1];
    assert_true(crossing_has_slope(far));
    assert_near(far->nominal.at[0], 0.0, 0.03);
    assert_near(far->nominal.at[1], 0.0, 0.03);
    assert_near(sum_of(far, 0, 1), 2.0, 0.02);
    assert_near(sum_of(far, 1, 2), 1.5, 0.015);
    assert_near(sum_of(far, 0, 2), 0.0, 0.02);
    assert_near(sum_of(far, 1, 1), 0.0, 0.02);
    assert_near(sum_of(far, 0, 3), 0.0, 0.05);
    assert_less(far->gap, 0.05);
    // Keypoints well behind and well beyond the gate have no part in it.
    for (int channel = 0; channel < FACET_CHUNK_CHANNELS; channel++) {
        assert_near(far->slope[0][FACET_CHUNK_CHANNELS * 31 + channel], 0.0, 1e-6);
        assert_near(far->slope[0][channel], 0.0, 0.05);
    }
    normalizer_destroy(units);
    facet_race_close(race);
}

// On a bend: single flights along random directions, with another step, both ways.
static void slopes_agree_with_flights_of_another_step(void **unused)
{
    (void)unused;
    FacetRace *race = open_course(2);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(race, "bend/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], moved[FACET_CHUNK_KEYPOINTS];
    double change[PLAN_SIZE], back[PLAN_SIZE], predicted[FACET_TRACK_GATES_MAX][2];
    expert_plan(chunk, race, task);
    assert_ok(
        crossing_sensitivity(&sensitivity, race, task, own_pace(chunk), units, CROSSING_STEP));
    double squares[2] = {0.0, 0.0};
    for (uint64_t seed = 0; seed < 6; seed++) {
        Crossings ahead, behind;
        crossing_random_changes(change, 0.03, 1, seed);
        for (int j = 0; j < PLAN_SIZE; j++) back[j] = -change[j];
        plan_change(moved, chunk, units, change);
        assert_ok(crossings_fly(&ahead, race, task, own_pace(moved)));
        plan_change(moved, chunk, units, back);
        assert_ok(crossings_fly(&behind, race, task, own_pace(moved)));
        crossing_predict(predicted, &sensitivity, change);
        for (int g = 0; g < sensitivity.gates; g++) {
            assert_true(ahead.gate[g].crossed);
            assert_true(crossing_has_slope(&sensitivity.gate[g]));
            for (int i = 0; i < 2; i++) {
                double flown = 0.5 * (ahead.gate[g].at[i] - behind.gate[g].at[i]);
                squares[0] += pow(flown - predicted[g][i], 2);
                squares[1] += flown * flown;
            }
        }
    }
    assert_true(squares[1] > 1e-6);
    assert_less(sqrt(squares[0] / squares[1]), 0.1);

    double changes[8 * PLAN_SIZE];
    CrossingCheck check;
    crossing_random_changes(changes, 0.03, 8, 11);
    assert_ok(crossing_check(&check, &sensitivity, race, task, own_pace(chunk), units, changes, 8));
    assert_int_equal(check.compared + check.lost, 8 * sensitivity.gates);
    assert_less(check.relative, 0.3);
    assert_true(check.gap_max <= check.shift_max);
    assert_true(check.gap_mean > 0.0);
    normalizer_destroy(units);
    facet_race_close(race);
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    static CrossingSensitivity again;
    FacetRace *one = open_course(1), *three = open_course(3);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(one, "straight/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    double gusts[2][FACET_TRACK_GATES_MAX] = {{0.0}};
    straight_plan(chunk);
    assert_ok(crossing_sensitivity(&sensitivity, one, task, own_pace(chunk), units, CROSSING_STEP));
    assert_ok(crossing_sensitivity(&again, three, task, own_pace(chunk), units, CROSSING_STEP));
    assert_memory_equal(&sensitivity, &again, sizeof again);
    assert_ok(crossing_disturbance(gusts[0], one, task, own_pace(chunk), 0.5, 7, 3));
    assert_ok(crossing_disturbance(gusts[1], three, task, own_pace(chunk), 0.5, 7, 3));
    assert_memory_equal(gusts[0], gusts[1], sizeof gusts[0]);
    assert_true(gusts[0][1] > 1e-3);
    assert_true(gusts[0][1] < 0.5);
    assert_ok(crossing_disturbance(gusts[0], one, task, own_pace(chunk), 0.0, 3, 3));
    assert_near(gusts[0][0], 0.0, 0.0);
    normalizer_destroy(units);
    facet_race_close(one);
    facet_race_close(three);
}

// A plan that passes far beside the gates, and one that nothing can fly.
static void a_gate_that_is_not_crossed_is_data(void **unused)
{
    (void)unused;
    FacetRace *race = open_course(2);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(race, "straight/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    double gusts[FACET_TRACK_GATES_MAX], c2 = 1.0, eps = 0.0;
    straight_plan(chunk);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].pos.y += 6.0;
    assert_ok(
        crossing_sensitivity(&sensitivity, race, task, own_pace(chunk), units, CROSSING_STEP));
    assert_false(sensitivity.gate[1].nominal.crossed);
    assert_ok(crossing_disturbance(gusts, race, task, own_pace(chunk), 0.5, 2, 1));
    assert_true(isinf(gusts[1]));
    CrossingRadius radius[FACET_TRACK_GATES_MAX];
    double *m = calloc(PLAN_SIZE * PLAN_SIZE, sizeof *m), shift[FACET_TRACK_GATES_MAX][2];
    crossing_radius(radius, &sensitivity, &c2, m, &eps, 1);
    assert_true(isinf(radius[1].radius));
    assert_true(isinf(radius[1].reach));
    assert_false(crossing_certified(&sensitivity, 1, 0.0, 0.0));
    crossing_predict(shift, &sensitivity, m);
    assert_true(isnan(shift[1][0]));
    chunk[3].pos.x = nan("");
    Crossings crossings;
    assert_ok(crossings_fly(&crossings, race, task, own_pace(chunk)));
    assert_false(crossings.gate[0].crossed);
    free(m);
    normalizer_destroy(units);
    facet_race_close(race);
}

// ---- Radius -------------------------------------------------------------------------------------

enum { STEPS = 5, SQUARE = PLAN_SIZE * PLAN_SIZE };

// Two gates with random slopes, and a random chain.
static void random_chain(double c2[STEPS], double *m, double eps[STEPS])
{
    FacetRng rng = rng_make(21, 0);
    sensitivity = (CrossingSensitivity){.gates = 2, .half_width = 1.0, .step = CROSSING_STEP};
    for (int g = 0; g < 2; g++) {
        CrossingSlope *gate = &sensitivity.gate[g];
        gate->nominal = (Crossing){.crossed = true, .at = {0.2, -0.1 * g}};
        gate->nominal.miss = hypot(0.2, 0.1 * g);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < PLAN_SIZE; j++)
                gate->slope[i][j] = rng_normal(&rng) * (i == 0 ? 0.3 : 0.1);
    }
    for (int k = 0; k < STEPS; k++) {
        c2[k] = rng_range(&rng, -0.5, 0.2);
        eps[k] = rng_range(&rng, 0.01, 0.1);
        for (int i = 0; i < SQUARE; i++) m[k * SQUARE + i] = rng_normal(&rng) / sqrt(PLAN_SIZE);
    }
}

// c [rows][128] = a b by plain loops.
static void product(double *c, const double *a, const double *b, int rows)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < PLAN_SIZE; j++) {
            double sum = 0.0;
            for (int l = 0; l < PLAN_SIZE; l++) sum += a[i * PLAN_SIZE + l] * b[l * PLAN_SIZE + j];
            c[i * PLAN_SIZE + j] = sum;
        }
}

static void the_radius_is_that_of_explicit_products(void **unused)
{
    (void)unused;
    double c2[STEPS], eps[STEPS], *m = calloc(STEPS * SQUARE, sizeof *m);
    double *phi = calloc(SQUARE, sizeof *phi), *next = calloc(SQUARE, sizeof *next);
    double *scratch = calloc(spectrum_scratch(PLAN_SIZE), sizeof *scratch);
    double *d_eps = calloc(STEPS * PLAN_SIZE, sizeof *d_eps);
    random_chain(c2, m, eps);
    FacetRng rng = rng_make(5, 0);
    for (int k = 0; k < STEPS; k++)
        crossing_random_changes(d_eps + (size_t)k * PLAN_SIZE, eps[k], 1, rng_u32(&rng));
    double expected[2] = {0.0, 0.0}, amplified[2] = {0.0, 0.0}, moved[2][2] = {{0.0}};
    for (int k = 0; k < STEPS; k++) {
        // Phi_{k+1,K} = M_{K-1} ... M_{k+1}, built from the left anew for each k.
        for (int i = 0; i < SQUARE; i++) phi[i] = i % (PLAN_SIZE + 1) == 0 ? 1.0 : 0.0;
        for (int j = STEPS - 1; j > k; j--) {
            product(next, phi, m + (size_t)j * SQUARE, PLAN_SIZE);
            memcpy(phi, next, SQUARE * sizeof *phi);
        }
        for (int g = 0; g < 2; g++) {
            double s[2 * PLAN_SIZE];
            product(s, sensitivity.gate[g].slope[0], phi, 2);
            double norm = spectral_norm(s, scratch, 2, PLAN_SIZE);
            expected[g] += fabs(c2[k]) * norm * eps[k];
            amplified[g] += fabs(c2[k]) * norm;
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < PLAN_SIZE; j++)
                    moved[g][i] += c2[k] * s[i * PLAN_SIZE + j] * d_eps[k * PLAN_SIZE + j];
        }
    }
    CrossingRadius radius[2];
    double shift[2][2];
    crossing_radius(radius, &sensitivity, c2, m, eps, STEPS);
    crossing_shift(shift, &sensitivity, c2, m, d_eps, STEPS);
    for (int g = 0; g < 2; g++) {
        const Crossing *nominal = &sensitivity.gate[g].nominal;
        assert_near(radius[g].radius, expected[g], 1e-12 * expected[g]);
        assert_near(radius[g].amplification, amplified[g], 1e-12 * amplified[g]);
        for (int i = 0; i < 2; i++) assert_near(shift[g][i], moved[g][i], 1e-12 * expected[g]);
        assert_less(hypot(shift[g][0], shift[g][1]), radius[g].radius);
        assert_less(hypot(nominal->at[0] + shift[g][0], nominal->at[1] + shift[g][1]),
                    radius[g].reach);
        assert_less(radius[g].reach, 1.0013 * (nominal->miss + radius[g].radius));
        double most = 1.0 - nominal->miss;
        assert_true(crossing_certified(&sensitivity, g, 0.5 * most, 0.4 * most));
        assert_false(crossing_certified(&sensitivity, g, 0.5 * most, 0.6 * most));
    }
    m[SQUARE + 7] = INFINITY;
    crossing_radius(radius, &sensitivity, c2, m, eps, STEPS);
    assert_true(isinf(radius[0].radius));
    assert_true(isinf(radius[0].reach));
    free(m), free(phi), free(next), free(scratch), free(d_eps);
}

// One step: the shifts fill an ellipse, and the farthest point of it from the centre is found by
// going round it.
static void the_reach_is_the_farthest_point_of_the_ellipse(void **unused)
{
    (void)unused;
    double c2[STEPS], eps[STEPS], *m = calloc(STEPS * SQUARE, sizeof *m);
    random_chain(c2, m, eps);
    CrossingRadius radius[2];
    crossing_radius(radius, &sensitivity, c2, m, eps, 1);
    for (int g = 0; g < 2; g++) {
        const CrossingSlope *gate = &sensitivity.gate[g];
        double farthest = 0.0, longest = 0.0, weight = fabs(c2[0]) * eps[0];
        for (int t = 0; t < 3600; t++) { // u^T S has its maximum over |d| = 1 at d along S^T u
            double u[2] = {cos(t * FACET_PI / 1800.0), sin(t * FACET_PI / 1800.0)}, square = 0.0;
            double x = gate->nominal.at[0], y = gate->nominal.at[1], dx = 0.0, dy = 0.0;
            for (int j = 0; j < PLAN_SIZE; j++) {
                double d = u[0] * gate->slope[0][j] + u[1] * gate->slope[1][j];
                square += d * d;
                dx += gate->slope[0][j] * d;
                dy += gate->slope[1][j] * d;
            }
            dx *= weight / sqrt(square), dy *= weight / sqrt(square);
            farthest = fmax(farthest, hypot(x + dx, y + dy));
            longest = fmax(longest, hypot(dx, dy));
        }
        assert_near(radius[g].radius, longest, 1e-5 * longest);
        assert_true(radius[g].reach >= farthest * (1.0 - 1e-6));
        assert_less(radius[g].reach, farthest * 1.0013);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_plan_moves_its_crossing_metre_for_metre),
        cmocka_unit_test(slopes_agree_with_flights_of_another_step),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_gate_that_is_not_crossed_is_data),
        cmocka_unit_test(the_radius_is_that_of_explicit_products),
        cmocka_unit_test(the_reach_is_the_farthest_point_of_the_ellipse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
