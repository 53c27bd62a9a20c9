// The shipped courses have the shape of the paper's Table "Race tracks and maximum feasible
// speeds".
#include "paper/paper.h"
#include "pools.h"
#include "testing.h"

#include <facet_study/race.h>

enum { TRACKS = 8, OPENINGS = 3 };

static FacetRace *race;

static int open_study(void **state)
{
    (void)state;
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/courses"};
    FacetStatus status = facet_race_open(&race, &options, test_pool(0), NULL);
    if (!status.ok) print_error("%s\n", status.text);
    return status.ok ? 0 : -1;
}

static int close_study(void **state)
{
    (void)state;
    facet_race_close(race);
    return 0;
}

static const FacetSpeedCell *cell(int track, int opening)
{
    return facet_speed_map_at(&race->speeds, (FacetCourseTask){track, opening});
}

static void tracks_have_the_papers_gates(void **state)
{
    (void)state;
    static const int gates[TRACKS] = {8, 9, 7, 10, 5, 3, 2, 2};
    assert_int_equal(race->course->track_count, TRACKS);
    assert_int_equal(race->course->opening_count, OPENINGS);
    for (int t = 0; t < TRACKS; t++) {
        char name[16];
        snprintf(name, sizeof name, "race%d", t + 1);
        assert_string_equal(race->course->tracks[t].name, name);
        assert_int_equal(race->course->tracks[t].gate_count, gates[t]);
    }
    assert_near(race->course->openings[0].half_width, 0.3, 0.0);
    assert_near(race->course->openings[1].half_width, 0.762, 0.0);
    assert_near(race->course->openings[2].half_width, 1.0, 0.0);
}

static void twenty_tasks_are_feasible_with_104_gates(void **state)
{
    (void)state;
    int feasible = 0, gates = 0;
    for (int t = 0; t < TRACKS; t++)
        for (int o = 0; o < OPENINGS; o++) {
            bool expected = o > 0 || t >= 4;
            if (cell(t, o)->feasible != expected)
                print_error("race%d opening %d: feasible is %d\n", t + 1, o, cell(t, o)->feasible);
            assert_int_equal(cell(t, o)->feasible, expected);
            feasible += cell(t, o)->feasible;
            gates += cell(t, o)->feasible ? race->course->tracks[t].gate_count : 0;
        }
    assert_int_equal(feasible, 20);
    assert_int_equal(gates, 104);
}

// Infeasible is not for want of the reserve: no candidate clears even the whole half-width.
static void infeasible_tasks_miss_by_more_than_the_half_width(void **state)
{
    (void)state;
    for (int t = 0; t < 4; t++) assert_less(1.0, cell(t, 0)->best_ratio);
}

static void wider_is_not_slower(void **state)
{
    (void)state;
    for (int t = 0; t < TRACKS; t++)
        for (int o = 1; o < OPENINGS; o++)
            assert_less(cell(t, o - 1)->speed, cell(t, o)->speed + 1e-9);
}

static void fast_and_slow_tracks_are_the_papers(void **state)
{
    (void)state;
    for (int o = 1; o < OPENINGS; o++)
        for (int middle = 3; middle < 6; middle++) {
            for (int slow = 0; slow < 3; slow++)
                assert_less(cell(slow, o)->speed, cell(middle, o)->speed);
            for (int fast = 6; fast < 8; fast++)
                assert_less(cell(middle, o)->speed, cell(fast, o)->speed);
        }
}

static void speeds_are_near_the_papers(void **state)
{
    (void)state;
    for (int t = 0; t < TRACKS; t++)
        for (int o = 0; o < OPENINGS; o++) {
            double paper =
                paper_speed(race->course->tracks[t].name, race->course->openings[o].name);
            if (paper == 0.0) continue;
            assert_less(fabs(log(cell(t, o)->speed / paper)), log(1.5));
        }
}

static void split_is_the_papers(void **state)
{
    (void)state;
    static const char *const held_out[] = {"race1/wide",   "race4/standard", "race5/wide",
                                           "race6/narrow", "race7/standard", "race8/wide"};
    assert_int_equal(race->course->held_out_count, 6);
    for (int i = 0; i < 6; i++) {
        FacetCourseTask task;
        assert_ok(facet_course_find_task(&task, race->course, held_out[i]));
        assert_true(facet_course_is_held_out(race->course, task));
    }
}

static void expert_passes_every_gate(void **state)
{
    (void)state;
    FacetCourseTask tasks[TRACKS * OPENINGS];
    FacetRaceResult results[TRACKS * OPENINGS];
    int count = facet_race_feasible_tasks(tasks, race);
    FacetPlanner expert = facet_race_expert();
    assert_ok(facet_race_fly_all(results, race, &expert, tasks, count, 1, 0.0, NULL));
    FacetRaceTotals totals = facet_race_totals(results, count);
    assert_int_equal(totals.all.passed, 104);
    assert_int_equal(totals.all.gates, 104);
    assert_int_equal(totals.held_out.gates, 0); // the expert did not learn
    assert_int_equal(totals.crashes, 0);
    for (int i = 0; i < count; i++)
        assert_near(results[i].speed_generated, results[i].speed_reference, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_have_the_papers_gates),
        cmocka_unit_test(twenty_tasks_are_feasible_with_104_gates),
        cmocka_unit_test(infeasible_tasks_miss_by_more_than_the_half_width),
        cmocka_unit_test(wider_is_not_slower),
        cmocka_unit_test(fast_and_slow_tracks_are_the_papers),
        cmocka_unit_test(speeds_are_near_the_papers),
        cmocka_unit_test(split_is_the_papers),
        cmocka_unit_test(expert_passes_every_gate),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
