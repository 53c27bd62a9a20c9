// Leave-one-pair-out: which pairs can be left out, how far plans are from the expert's, and the
// bound that follows for a new pair.
#include "race/leave_one_out.h"

#include "base/rng.h"
#include "pools.h"
#include "testing.h"

#include <string.h>

static FacetRace *race;

static int open_study(void **state)
{
    (void)state;
    const FacetRaceOptions options = {.courses = TEST_DATA "/pairs"};
    FacetStatus status = facet_race_open(&race, &options, test_pool(2), NULL);
    if (!status.ok) print_error("%s\n", status.text);
    return status.ok ? 0 : -1;
}

static int close_study(void **state)
{
    (void)state;
    facet_race_close(race);
    return 0;
}

static const char *opening_of(const TrainingPair *pair)
{
    return race->course->openings[pair->task.opening].name;
}

// bend/middle is held out, so straight/middle alone shows that opening.
static void a_pair_that_alone_has_a_value_stays(void **state)
{
    (void)state;
    TrainingPair pairs[6];
    assert_int_equal(facet_race_feasible_count(race), 6);
    assert_int_equal(training_pairs(pairs, race), 5);
    for (int i = 0; i < 5; i++) {
        bool middle = strcmp(opening_of(&pairs[i]), "middle") == 0;
        assert_true(pairs[i].track_again);
        assert_true(pairs[i].opening_again == !middle);
        assert_true(pair_can_be_left_out(&pairs[i]) == !middle);
    }
}

// Every fold's training shows every value, and a pair is left out once, if it can be.
static void folds_leave_every_value(void **state)
{
    (void)state;
    enum { PAIRS = 14, FOLDS = 4 };
    // The training pairs of the paper: track, opening.
    static const int tasks[PAIRS][2] = {{0, 1}, {1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}, {4, 0},
                                        {4, 1}, {5, 1}, {5, 2}, {6, 0}, {6, 2}, {7, 0}, {7, 1}};
    TrainingPair pairs[PAIRS] = {{{0, 0}, false, false}};
    int fold[PAIRS], sizes[FOLDS] = {0};
    for (int i = 0; i < PAIRS; i++) pairs[i].task = (FacetCourseTask){tasks[i][0], tasks[i][1]};
    pair_folds(fold, pairs, PAIRS, FOLDS);
    for (int i = 0; i < PAIRS; i++) {
        bool alone = i == 0 || i == 5;
        assert_int_equal(fold[i] < 0, alone);
        if (!alone) sizes[fold[i]]++;
    }
    for (int f = 0; f < FOLDS; f++) {
        bool tracks[8] = {false}, openings[3] = {false};
        assert_int_equal(sizes[f], 3);
        for (int i = 0; i < PAIRS; i++)
            if (fold[i] != f) tracks[tasks[i][0]] = openings[tasks[i][1]] = true;
        for (int t = 0; t < 8; t++) assert_true(tracks[t]);
        for (int o = 0; o < 3; o++) assert_true(openings[o]);
    }
    // One fold takes what the rest still links: race2 to race6, one pair each.
    static const int taken[PAIRS] = {0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0};
    pair_folds(fold, pairs, PAIRS, 1);
    for (int i = 0; i < PAIRS; i++) assert_int_equal(fold[i] == 0, taken[i]);
    // Every value of a/x, a/y and b/y is seen without b/x; without a/y as well nothing links them.
    TrainingPair square[4] = {
        {.task = {0, 0}}, {.task = {0, 1}}, {.task = {1, 0}}, {.task = {1, 1}}};
    pair_folds(fold, square, 4, 2);
    assert_int_equal(fold[0], 0);
    assert_int_equal(fold[1], 1);
    assert_int_equal(fold[2], -1);
    assert_int_equal(fold[3], -1);
}

// The expert's plans, the second moved by 0.1 m at one keypoint and the third by 0.05 m as a whole;
// the last is right again, and takes nothing back.
static void errors_are_those_of_the_worst_plan(void **state)
{
    (void)state;
    enum { SEEDS = 4, SIZE = FACET_CHUNK_KEYPOINTS };
    FacetKeypoint plans[SEEDS * SIZE];
    FacetCourseTask task;
    PairResult result;
    const FacetPlanner expert = facet_race_expert();
    assert_ok(facet_course_find_task(&task, race->course, "bend/large"));
    for (int k = 0; k < SEEDS; k++)
        assert_ok(expert.plan(plans + (size_t)k * SIZE, race, task, 0, expert.context));
    FacetKeypoint right[SIZE];
    memcpy(right, plans, sizeof right);
    plans[SIZE + 7].pos.z += 0.1;
    for (int i = 0; i < SIZE; i++) plans[2 * SIZE + i].pos.y -= 0.05;
    PairPlans pairs = {&task, 1, SEEDS, 11, plans};
    assert_ok(pairs_measure(&result, race, &pairs, NULL));
    assert_near(result.largest, 0.1, 1e-12);
    assert_near(result.mean, 0.05, 1e-12);
    assert_near(result.error, (0.0 + 0.1 / SIZE + 0.05) / SEEDS, 1e-12);
    assert_near(result.speed, 1.0, 0.05);
    assert_int_equal(result.gates, SEEDS * 3);
    assert_int_equal(result.passed, SEEDS * 3);
    assert_int_equal(result.crashes, 0);
    assert_near(plans_apart(right, plans, 1), 0.0, 0.0);
    assert_near(plans_apart(right, plans + 2 * SIZE, 1), 0.05, 1e-12);
}

static void the_bound_is_the_rank_that_alpha_asks_for(void **state)
{
    (void)state;
    double errors[12];
    for (int i = 0; i < 12; i++) errors[i] = (double)((5 * i) % 12 + 1);
    assert_near(conformal_bound(errors, 12, 1.0 / 13.0), 12.0, 0.0);
    assert_near(conformal_bound(errors, 12, 0.2), 11.0, 0.0); // 10.4, the next whole number
    assert_near(conformal_bound(errors, 12, 0.5), 7.0, 0.0);  // 6.5
    assert_near(conformal_bound(errors, 12, 0.999), 1.0, 0.0);
    assert_true(isinf(conformal_bound(errors, 12, 1.0 / 14.0))); // twelve cannot speak for it
    assert_true(isinf(conformal_bound(errors, 0, 0.5)));
}

// Of exchangeable errors the thirteenth is within as often as promised, and not much more often.
static void the_bound_holds_as_often_as_it_says(void **state)
{
    (void)state;
    enum { TRIALS = 4000, PAIRS = 12 };
    static const double alphas[] = {1.0 / 13.0, 0.2, 0.5};
    for (int a = 0; a < 3; a++) {
        int within = 0;
        for (int t = 0; t < TRIALS; t++) {
            FacetRng rng = rng_make(5, (uint64_t)(a * TRIALS + t));
            double errors[PAIRS + 1];
            for (int i = 0; i <= PAIRS; i++) errors[i] = fabs(rng_normal(&rng));
            within += errors[PAIRS] <= conformal_bound(errors, PAIRS, alphas[a]);
        }
        double share = (double)within / TRIALS;
        assert_true(share > 1.0 - alphas[a] - 0.03);
        assert_true(share < 1.0 - alphas[a] + 1.0 / (PAIRS + 1) + 0.03);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_that_alone_has_a_value_stays),
        cmocka_unit_test(folds_leave_every_value),
        cmocka_unit_test(errors_are_those_of_the_worst_plan),
        cmocka_unit_test(the_bound_is_the_rank_that_alpha_asks_for),
        cmocka_unit_test(the_bound_holds_as_often_as_it_says),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
