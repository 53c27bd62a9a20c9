// The race study on a small course: planners, results, totals.
#include "base/status.h"
#include "math/geometry.h"
#include "pools.h"
#include "testing.h"

#include <facet_study/race.h>

static FacetRace *race;

static int open_study(void **state)
{
    (void)state;
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
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

static FacetCourseTask task_named(const char *name)
{
    FacetCourseTask task;
    assert_ok(facet_course_find_task(&task, race->course, name));
    return task;
}

// The expert's plan moved sideways by `context` metres.
static FacetStatus plan_beside(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *study,
                               FacetCourseTask task, uint64_t seed, void *context)
{
    FacetPlanner expert = facet_race_expert();
    TRY(expert.plan(chunk, study, task, seed, NULL));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].pos.y += *(double *)context;
    return status_ok();
}

static FacetStatus plan_nothing(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *study,
                                FacetCourseTask task, uint64_t seed, void *context)
{
    (void)chunk, (void)seed, (void)context;
    return status_fail(FACET_BAD_ARGUMENT, "no plan for %s",
                       study->course->openings[task.opening].name);
}

static FacetStatus plan_nan(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *study,
                            FacetCourseTask task, uint64_t seed, void *context)
{
    FacetPlanner expert = facet_race_expert();
    TRY(expert.plan(chunk, study, task, seed, context));
    chunk[5].pos.x = nan("");
    return status_ok();
}

static void factors_are_the_courses_names(void **state)
{
    (void)state;
    assert_int_equal(facet_factor_count(race->factors), 2);
    assert_string_equal(facet_factor_name(race->factors, 0), "track");
    assert_string_equal(facet_factor_name(race->factors, 1), "size");
    assert_string_equal(facet_factor_value_name(race->factors, 0, 0), "bend");
    assert_string_equal(facet_factor_value_name(race->factors, 1, 1), "large");
    FacetFactorTask task = facet_race_factor_task(task_named("straight/small"));
    char text[FACET_FACTOR_TASK_TEXT];
    facet_factor_task_format(text, race->factors, task, FACET_FACTOR_STYLE_VALUES);
    assert_string_equal(text, "straight/small");
}

static bool holds_large_out(const FacetRace *study, FacetCourseTask task, void *context)
{
    (void)context;
    return strcmp(study->course->openings[task.opening].name, "large") == 0;
}

static void a_plan_beside_the_path_shows_in_the_result(void **state)
{
    (void)state;
    double aside = 0.5;
    FacetPlanner expert = facet_race_expert();
    FacetPlanner beside = {.name = "beside", .plan = plan_beside, .context = &aside};
    FacetCourseTask small = task_named("straight/small"), large = task_named("straight/large");
    FacetRaceResult result;
    assert_ok(facet_race_fly(&result, race, &expert, small, 1, 0.0));
    assert_int_equal(result.flight.passed, 2);
    assert_false(result.held_out);
    assert_less(result.error, 0.1);
    assert_ok(facet_race_fly(&result, race, &beside, small, 1, 0.0));
    assert_int_equal(result.flight.passed, 0);
    assert_near(result.flight.gates[1].miss, 0.5, 0.1);
    assert_near(result.error, 0.45, 0.1);
    assert_ok(facet_race_fly(&result, race, &beside, large, 1, 0.0));
    assert_int_equal(result.flight.passed, 2);
    assert_false(result.held_out); // whatever the course lists
    beside.held_out = holds_large_out;
    assert_ok(facet_race_fly(&result, race, &beside, large, 1, 0.0));
    assert_true(result.held_out);
    assert_ok(facet_race_fly(&result, race, &beside, small, 1, 0.0));
    assert_false(result.held_out);
    assert_ok(facet_race_fly(&result, race, &beside, large, 1, 0.0));
    assert_near(result.speed_reference, facet_race_reference_speed(race, large), 0.0);
}

static void totals_keep_the_split_apart(void **state)
{
    (void)state;
    FacetCourseTask tasks[4];
    FacetRaceResult results[4];
    int count = facet_race_feasible_tasks(tasks, race);
    FacetPlanner expert = facet_race_expert();
    expert.held_out = holds_large_out;
    assert_ok(facet_race_fly_all(results, race, &expert, tasks, count, 1, 0.0, NULL));
    results[0].flight.end = FACET_FLIGHT_CRASHED;
    results[0].flight.passed = 0;
    FacetRaceTotals totals = facet_race_totals(results, count);
    assert_int_equal(totals.held_out.gates, 5); // of both tracks
    assert_int_equal(totals.training.gates + totals.held_out.gates, totals.all.gates);
    assert_int_equal(totals.all.passed, totals.all.gates - results[0].flight.gate_count);
    assert_int_equal(totals.crashes, 1);
}

static void a_result_has_its_plan_and_its_record(void **state)
{
    (void)state;
    enum { ROOM = 500 };
    static double times[ROOM], arcs[ROOM];
    static FacetQuadState states[ROOM];
    FacetFlightTrace trace = {
        .interval = 0.04, .capacity = ROOM, .times = times, .states = states, .arcs = arcs};
    double offset = 0.2;
    const FacetPlanner planner = {.name = "beside", .plan = plan_beside, .context = &offset};
    FacetCourseTask task = task_named("bend/large");
    FacetRaceResult plain, traced;
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
    assert_ok(facet_race_fly(&plain, race, &planner, task, 3, 0.5));
    assert_ok(facet_race_fly_traced(&traced, &trace, race, &planner, task, 3, 0.5));
    assert_memory_equal(&plain.flight, &traced.flight, sizeof plain.flight);
    assert_ok(plan_beside(plan, race, task, 3, &offset));
    assert_memory_equal(plain.plan, plan, sizeof plan);
    assert_int_equal(trace.count, (int)(plain.flight.duration / 0.04 + 1e-9) + 1);
    assert_near(vec3_distance(states[0].pos_world, race->course->tracks[task.track].points[0]), 0.0,
                1e-12);
}

static void a_planner_that_fails_says_so(void **state)
{
    (void)state;
    FacetPlanner nothing = {.name = "nothing", .plan = plan_nothing};
    FacetCourseTask tasks[2] = {task_named("straight/small"), task_named("straight/large")};
    FacetRaceResult results[2];
    assert_refused(facet_race_fly_all(results, race, &nothing, tasks, 2, 1, 0.0, NULL),
                   "no plan for small"); // the first of the failures, whichever thread was first
}

static void a_plan_that_is_not_a_number_is_a_crash(void **state)
{
    (void)state;
    FacetPlanner broken = {.name = "broken", .plan = plan_nan};
    FacetRaceResult result;
    assert_ok(facet_race_fly(&result, race, &broken, task_named("straight/small"), 1, 0.0));
    assert_int_equal(result.flight.end, FACET_FLIGHT_CRASHED);
    assert_int_equal(result.flight.crash, FACET_CRASH_NONFINITE);
    assert_int_equal(result.flight.passed, 0);
    assert_int_equal(result.flight.gate_count, 2);
}

static void gusts_depend_on_the_seed_alone(void **state)
{
    (void)state;
    FacetPlanner expert = facet_race_expert();
    FacetCourseTask task = task_named("bend/large");
    FacetRaceResult first, again, other;
    assert_ok(facet_race_fly(&first, race, &expert, task, 7, 1.0));
    assert_ok(facet_race_fly(&again, race, &expert, task, 7, 1.0));
    assert_ok(facet_race_fly(&other, race, &expert, task, 8, 1.0));
    assert_memory_equal(&first.error, &again.error, sizeof first.error);
    assert_true(first.error != other.error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_are_the_courses_names),
        cmocka_unit_test(a_plan_beside_the_path_shows_in_the_result),
        cmocka_unit_test(totals_keep_the_split_apart),
        cmocka_unit_test(a_result_has_its_plan_and_its_record),
        cmocka_unit_test(a_planner_that_fails_says_so),
        cmocka_unit_test(a_plan_that_is_not_a_number_is_a_crash),
        cmocka_unit_test(gusts_depend_on_the_seed_alone),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
