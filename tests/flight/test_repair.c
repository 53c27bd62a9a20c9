// Repair of plans: what misses is centred, what is too fast is slowed, what is fine is left, and
// what cannot be repaired says why.
#include "flight/many.h"
#include "math/geometry.h"
#include "pools.h"
#include "testing.h"

#include <string.h>

static FacetCourse *course;
static FacetQuadModel model;
static FacetControlPreset preset;

static int open_course(void **state)
{
    (void)state;
    FacetQuadParams params = facet_quad_params_default();
    model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    if (!facet_control_preset(&preset, "race").ok) return -1;
    return facet_course_load(&course, TEST_SOURCE "/courses").ok ? 0 : -1;
}

static int close_course(void **state)
{
    (void)state;
    facet_course_destroy(course);
    return 0;
}

// The expert's plan of a task at a speed (m/s), moved aside (m).
typedef struct Case {
    FacetFlightSetup setup;
    FacetQuadState start;
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
} Case;

static Case make_case(const char *name, double speed, FacetVec3 aside)
{
    Case made = {.setup = {.model = &model, .preset = &preset, .arena = &course->arena}};
    FacetCourseTask task;
    FacetReference path;
    assert_ok(facet_course_find_task(&task, course, name));
    const FacetTrack *track = &course->tracks[task.track];
    made.setup.track = track;
    made.setup.half_width = course->openings[task.opening].half_width;
    assert_ok(facet_expert_chunk(made.plan, track, track->points[0], speed));
    assert_ok(facet_reference_from_chunk(&path, made.plan));
    made.start = facet_flight_start(&model, &path, speed);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        made.plan[i].pos = vec3_add(made.plan[i].pos, aside);
    return made;
}

// Flown one at a time, in double: the repair works with the batch.
static FacetFlight fly(const Case *c, const FacetKeypoint *plan)
{
    FacetReference path;
    assert_ok(facet_reference_from_chunk(&path, plan));
    return facet_flight_fly(&c->setup, &path, c->start, NULL);
}

static void a_plan_that_passes_is_left_as_it_is(void **state)
{
    (void)state;
    Case c = make_case("race6/wide", 3.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    assert_true(repair.good);
    assert_false(repair.changed);
    assert_memory_equal(repair.plan, c.plan, sizeof c.plan);
    assert_int_equal(repair.steps, 0);
    assert_int_equal((int)repair.flown, 1 + options.flights);
    assert_int_equal(repair.clear, repair.raw_clear);
}

// Centred whole, this plan is one that gusts carry flights off; on the way there some are good.
static void a_plan_is_centred_as_far_as_gusts_allow(void **state)
{
    (void)state;
    Case c = make_case("race2/wide", 2.2, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    options.centre = 0.1, options.steps = 4, options.speed_least = 1.0;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    assert_true(repair.good);
    assert_less(0.1, repair.shift);
    for (int g = 0; g < repair.still.gate_count; g++)
        assert_less(repair.still.gates[g].miss, repair.raw.gates[g].miss);
}

static void a_path_beside_the_gates_is_centred_at_its_own_speed(void **state)
{
    (void)state;
    Case c = make_case("race6/standard", 3.0, vec3(0.5, 0.5, 0.5));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    FacetFlight before = fly(&c, c.plan);
    assert_true(before.passed < before.gate_count);
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    FacetFlight after = fly(&c, repair.plan);
    assert_int_equal(after.passed, after.gate_count);
    assert_true(repair.good);
    assert_true(repair.changed);
    assert_string_equal(repair.reason, "");
    assert_near(repair.speed_factor, 1.0, 0.0);
    assert_less(repair.shift, 1.8);
    assert_true(repair.clear > repair.raw_clear);
    double shift = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        shift = fmax(shift, vec3_distance(repair.plan[i].pos, c.plan[i].pos));
        assert_near(repair.plan[i].speed, c.plan[i].speed, 0.0);
    }
    assert_near(repair.shift, shift, 1e-12);
    for (int g = 0; g < after.gate_count; g++)
        assert_near(after.gates[g].miss, repair.still.gates[g].miss, 0.02);
}

// The change has no kink at one keypoint, which no vehicle would follow.
static void a_path_is_bent_and_not_broken(void **state)
{
    (void)state;
    Case c = make_case("race6/standard", 3.0, vec3(0.5, 0.5, 0.5));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    FacetVec3 moved[FACET_CHUNK_KEYPOINTS];
    double bend = 0.0;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        moved[i] = vec3_sub(repair.plan[i].pos, c.plan[i].pos);
    for (int i = 1; i < FACET_CHUNK_KEYPOINTS - 1; i++)
        bend =
            fmax(bend, vec3_norm(vec3_axpy(vec3_add(moved[i - 1], moved[i + 1]), -2.0, moved[i])));
    assert_less(bend, 0.6 * repair.shift);
}

// In still air all crossings keep their margin; flights in gusts miss, and are what is repaired.
static void what_gusts_alone_miss_is_repaired(void **state)
{
    (void)state;
    Case c = make_case("race7/narrow", 8.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    for (int g = 0; g < repair.raw.gate_count; g++)
        assert_less(repair.raw.gates[g].miss, 0.9 * c.setup.half_width);
    assert_true(repair.raw_clear + options.misses < options.flights);
    assert_true(repair.good);
    assert_true(repair.clear + options.misses >= options.flights);
}

// A plan that is slowed about a gate keeps its speed away from it.
static void speed_is_kept_where_no_gate_asks_for_less(void **state)
{
    (void)state;
    Case c = make_case("race1/standard", 5.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    int slower = 0;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        slower += repair.plan[i].speed < c.plan[i].speed;
    assert_true(repair.good);
    assert_true(slower > 0 && slower < FACET_CHUNK_KEYPOINTS / 2);
}

// All gates are passed, but one of them nearer to its frame than the margin allows: the plan is not
// good, though it is with a margin that its worst crossing keeps.
static void a_crossing_within_the_margin_of_the_frame_is_not_good(void **state)
{
    (void)state;
    Case c = make_case("race6/wide", 3.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    double worst = 0.0;
    FacetFlight flight = fly(&c, c.plan);
    assert_int_equal(flight.passed, flight.gate_count);
    for (int g = 0; g < flight.gate_count; g++) worst = fmax(worst, flight.gates[g].miss);
    double room = 1.0 - worst / c.setup.half_width;
    options.flights = 0, options.steps = 0, options.speed_least = 1.0; // judged, not repaired
    options.margin = room - 0.05;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL));
    assert_true(repair.good);
    options.margin = room + 0.05;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL));
    assert_int_equal(repair.still.passed, repair.still.gate_count);
    assert_false(repair.good);
    assert_non_null(strstr(repair.reason, "m from its centre, expected"));
}

static void what_is_too_fast_is_slowed_and_never_hastened(void **state)
{
    (void)state;
    Case c = make_case("race7/narrow", 9.0, vec3(0.0, 0.0, 0.3));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    FacetFlight after = fly(&c, repair.plan);
    assert_int_equal(after.passed, after.gate_count);
    assert_less(repair.speed_factor, 0.95);
    assert_true(repair.speed_factor >= options.speed_least);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        assert_true(repair.plan[i].speed <= c.plan[i].speed);
    // Where no keypoint may move and none may slow, it says why it cannot.
    options.shift_max = 0.0;
    options.speed_least = 1.0;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    assert_false(repair.good);
    assert_false(repair.changed);
    assert_true(strlen(repair.reason) > 0);
}

// Its keypoints about one are moved by up to so much (m), which is where a plan bulges.
static void bulge(Case *c, int middle, FacetVec3 most)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double share = exp(-(i - middle) * (i - middle) / 8.0);
        c->plan[i].pos = vec3_axpy(c->plan[i].pos, share, most);
    }
}

// Too low, so that it needs lifting; what passes the gates and then hits the ground is no repair.
static void a_crash_behind_the_last_gate_is_no_way_through(void **state)
{
    (void)state;
    Case c = make_case("race8/narrow", 6.0, vec3(0.25, -0.25, -1.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    options.flights = 16;
    options.speed_least = 0.5;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    assert_int_not_equal(repair.still.end, FACET_FLIGHT_CRASHED);
    assert_true(repair.good);
}

// Only the gates about the bulge are missed. Those that were passed before are not lost to centre
// them.
static void gates_that_need_no_repair_are_looked_after(void **state)
{
    (void)state;
    Case c = make_case("race4/wide", 7.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    options.flights = 8;
    options.speed_least = 1.0;
    options.shift_max = 4.0;
    bulge(&c, 20, vec3(1.0, 0.0, 1.5));
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    assert_true(repair.raw.passed > 0);
    assert_true(repair.raw.passed < repair.raw.gate_count);
    assert_true(repair.good);
}

// In gusts that spare none of its plans, slowing wins flights at the cost of a larger miss in still
// air: more flights through count for more.
static void of_plans_that_are_not_good_the_safest_in_gusts_is_taken(void **state)
{
    (void)state;
    Case c = make_case("race6/narrow", 2.5, vec3(-0.5, 0.25, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair quick, slow;
    options.flights = 16, options.misses = 0, options.gusts = 2.5;
    options.speed_least = 0.85;
    assert_ok(facet_flight_repair(&quick, &c.setup, c.plan, c.start, &options, test_pool(2)));
    options.speed_least = 0.5;
    assert_ok(facet_flight_repair(&slow, &c.setup, c.plan, c.start, &options, test_pool(2)));
    assert_false(slow.good);
    assert_true(slow.clear > quick.clear);
    assert_less(slow.speed_factor, quick.speed_factor);
}

// How many of 16 flights pass all gates, moved aside by so much (m), with no gusts and from one
// place, so that they differ by the speed they start with alone.
static int clear_aside(double aside, double start_least)
{
    Case c = make_case("race7/narrow", 6.0, vec3(0.0, 0.0, aside));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    options.flights = 16, options.gusts = 0.0, options.start_spread = 0.0;
    options.steps = 0, options.speed_least = 1.0; // judged, not repaired
    options.start_least = start_least;
    assert_ok(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2)));
    return repair.raw_clear;
}

// At the edge of a frame, one speed passes where another does not.
static void flights_that_judge_a_plan_start_at_many_speeds(void **state)
{
    (void)state;
    double passes = 0.0, misses = 2.0;
    for (int i = 0; i < 10; i++) {
        double middle = 0.5 * (passes + misses);
        int clear = clear_aside(middle, 1.0);
        assert_true(clear == 0 || clear == 16); // all are one flight
        *(clear ? &passes : &misses) = middle;
    }
    int within = clear_aside(passes, 0.3), beyond = clear_aside(misses, 0.3);
    assert_true(within < 16 || beyond > 0);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    Case c = make_case("race6/standard", 4.0, vec3(0.0, 0.7, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair one, three;
    assert_ok(facet_flight_repair(&one, &c.setup, c.plan, c.start, &options, NULL));
    assert_ok(facet_flight_repair(&three, &c.setup, c.plan, c.start, &options, test_pool(3)));
    assert_memory_equal(one.plan, three.plan, sizeof one.plan);
    assert_int_equal(one.clear, three.clear);
    assert_int_equal((int)one.flown, (int)three.flown);
}

static void wrong_options_and_plans_are_refused(void **state)
{
    (void)state;
    Case c = make_case("race6/standard", 4.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    options.margin = 1.0;
    assert_refused(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL),
                   "repair: expected a margin of at least 0 and below 1, found 1");
    options = facet_repair_defaults();
    options.flights = -1;
    assert_refused(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL),
                   "expected 0 to 100000 flights");
    options = facet_repair_defaults();
    options.gusts = NAN;
    assert_refused(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL),
                   "expected gusts, spread and shift of 0 or more");
    options = facet_repair_defaults();
    options.speed_least = 0.0;
    assert_refused(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL),
                   "expected a least share of speed in (0, 1], found 0");
    options = facet_repair_defaults();
    c.plan[5].pos.y = NAN;
    assert_refused(facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL),
                   "keypoint 5 of the plan is not finite");
}

// A host that looks at what a refused repair gave sees that nothing came of it.
static void what_is_refused_gives_an_empty_repair(void **state)
{
    (void)state;
    Case c = make_case("race6/standard", 4.0, vec3(0.0, 0.0, 0.0));
    FacetRepairOptions options = facet_repair_defaults();
    for (int plan = 0; plan < 2; plan++) {
        FacetRepair repair;
        memset(&repair, 0x5a, sizeof repair);
        if (plan)
            options = facet_repair_defaults(), c.plan[5].pos.y = NAN;
        else
            options.margin = 1.0;
        FacetStatus status =
            facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, NULL);
        assert_false(status.ok);
        assert_false(repair.good);
        assert_false(repair.changed);
        assert_near(repair.speed_factor, 1.0, 0.0);
        assert_int_equal(repair.clear, 0);
        assert_int_equal((int)repair.flown, 0);
        assert_string_equal(repair.reason, "");
    }
}

static void make_third_broken(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetQuadState *start,
                              FacetGusts *gusts, const void *context, int index)
{
    (void)start, (void)gusts;
    const Case *c = context;
    memcpy(chunk, c->plan, sizeof c->plan);
    if (index == 2) chunk[0].speed = INFINITY;
}

static void a_plan_that_nothing_can_fly_is_no_trouble_to_its_neighbours(void **state)
{
    (void)state;
    Case c = make_case("race7/wide", 4.0, vec3(0.0, 0.0, 0.0));
    FacetFlight flights[11];
    assert_ok(many_fly(flights, 11, &c.setup, c.start, make_third_broken, &c, test_pool(2)));
    assert_int_equal(flights[2].end, FACET_FLIGHT_CRASHED);
    assert_int_equal(flights[2].passed, 0);
    for (int i = 1; i < 11; i++)
        if (i != 2) assert_memory_equal(&flights[i], &flights[0], sizeof flights[i]);
    assert_int_equal(flights[0].passed, 2);
}

static bool stop_at(void *context, const FacetProgressEvent *event)
{
    (void)event;
    return --*(int *)context > 0;
}

// A plan that cannot be repaired takes long: a host may stop it between its flights.
static void a_stop_is_heard_between_flights(void **state)
{
    (void)state;
    Case c = make_case("race1/standard", 2.0, vec3(0.0, 0.0, 0.6));
    FacetRepairOptions options = facet_repair_defaults();
    FacetRepair repair;
    int asked = 3;
    const FacetProgress progress = {stop_at, &asked};
    options.progress = &progress;
    FacetStatus status =
        facet_flight_repair(&repair, &c.setup, c.plan, c.start, &options, test_pool(2));
    assert_int_equal(status.code, FACET_INTERRUPTED);
    assert_int_equal(asked, 0);
    assert_true(repair.flown <= 1 + options.flights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_is_heard_between_flights),
        cmocka_unit_test(a_path_is_bent_and_not_broken),
        cmocka_unit_test(what_gusts_alone_miss_is_repaired),
        cmocka_unit_test(speed_is_kept_where_no_gate_asks_for_less),
        cmocka_unit_test(a_plan_that_passes_is_left_as_it_is),
        cmocka_unit_test(a_path_beside_the_gates_is_centred_at_its_own_speed),
        cmocka_unit_test(a_plan_is_centred_as_far_as_gusts_allow),
        cmocka_unit_test(a_crossing_within_the_margin_of_the_frame_is_not_good),
        cmocka_unit_test(what_is_too_fast_is_slowed_and_never_hastened),
        cmocka_unit_test(a_crash_behind_the_last_gate_is_no_way_through),
        cmocka_unit_test(gates_that_need_no_repair_are_looked_after),
        cmocka_unit_test(of_plans_that_are_not_good_the_safest_in_gusts_is_taken),
        cmocka_unit_test(flights_that_judge_a_plan_start_at_many_speeds),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(wrong_options_and_plans_are_refused),
        cmocka_unit_test(what_is_refused_gives_an_empty_repair),
        cmocka_unit_test(a_plan_that_nothing_can_fly_is_no_trouble_to_its_neighbours),
    };
    return cmocka_run_group_tests(tests, open_course, close_course);
}
