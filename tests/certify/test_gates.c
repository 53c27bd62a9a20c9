// The rules of a gate's certificate on numbers alone, and the plans that it is about: repaired in
// their path only, and flown at a pace from the start at that pace.
#include "certify/gates.h"
#include "certify/small_course.h"
#include "math/geometry.h"

#include <math.h>

// ---- Rules --------------------------------------------------------------------------------------

static const double LIMIT = 1.0, FOLD = 0.5;

// A gate that stands: probed, attacked, and with room left in gusts.
static GateRecord sound_gate(void)
{
    return (GateRecord){
        .miss = 0.1, .bound = 0.5, .disturbance = 0.2, .probe = 0.25, .attack = 1.0};
}

static void a_gate_that_passes_every_test_is_certified(void **state)
{
    (void)state;
    GateRecord gate = sound_gate();
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_CERTIFIED);
}

// The first order of the fold is trusted to a quarter, as that of the radius is.
static void a_path_that_can_fold_is_refused(void **state)
{
    (void)state;
    GateRecord gate = sound_gate();
    assert_int_equal(gate_find(&gate, 0.799, LIMIT), GATE_CERTIFIED);
    assert_int_equal(gate_find(&gate, 0.8, LIMIT), GATE_FOLDS);
    assert_int_equal(gate_find(&gate, INFINITY, LIMIT), GATE_FOLDS);
    assert_int_equal(gate_find(&gate, NAN, LIMIT), GATE_FOLDS);
}

static void a_gate_without_room_is_refused(void **state)
{
    (void)state;
    GateRecord gate = sound_gate();
    gate.bound = 0.9; // with the miss, all of the half-width
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_TIGHT);
    gate.bound = INFINITY;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_TIGHT);
    gate = sound_gate();
    assert_int_equal(gate_find(&gate, FOLD, 0.0), GATE_TIGHT); // no slope to rest on
    gate.disturbance = 0.4;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_STILL);
    gate.disturbance = INFINITY;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_STILL);
}

static void a_probe_beyond_a_quarter_is_refused(void **state)
{
    (void)state;
    GateRecord gate = sound_gate();
    gate.probe = 0.2501;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_BENT);
    gate.probe = INFINITY; // it does not cross
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_BENT);
}

static void a_shift_beyond_the_bound_is_refused(void **state)
{
    (void)state;
    GateRecord gate = sound_gate();
    gate.attack = 1.0 + 1e-12;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_BROKEN);
    gate.attack = INFINITY;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_BROKEN);
}

static void what_was_not_tested_is_not_certified(void **state)
{
    (void)state;
    GateRecord gate = sound_gate();
    gate.attack = NAN;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_UNATTACKED);
    gate.probe = NAN;
    assert_int_equal(gate_find(&gate, FOLD, LIMIT), GATE_UNPROBED);
}

// ---- Plans --------------------------------------------------------------------------------------

// A plan so fast that a repair slows it, if it may.
static void a_centred_plan_keeps_its_speeds(void **state)
{
    (void)state;
    FacetRace *race = open_course(2);
    FacetCourseTask task = task_named(race, "bend/small");
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetRepairOptions options = facet_repair_defaults();
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], out[FACET_CHUNK_KEYPOINTS];
    FacetQuadState start;
    FacetRepair repair;
    expert_plan(plan, race, task);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plan[i].speed *= 3.0;
    assert_ok(task_start(&start, race, task, 1.0));
    assert_ok(facet_flight_repair(&repair, &setup, plan, start, &options, race->pool));
    assert_less(repair.speed_factor, 0.95);
    const double paces[] = {1.0, 0.65};
    for (int p = 0; p < 2; p++) {
        double shift, most = 0.0;
        assert_ok(gates_centre(&shift, out, plan, race, task, paces[p], NULL));
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
            assert_true(out[i].speed == plan[i].speed); // the same bits
            most = fmax(most, vec3_distance(out[i].pos, plan[i].pos));
        }
        assert_near(shift, most, 1e-12);
    }
    facet_race_close(race);
}

// The largest miss at the gates, m, of a plan that was centred for one pace and is flown at
// another.
static double centred_miss(const FacetRace *race, FacetCourseTask task, double pace, double flown)
{
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], out[FACET_CHUNK_KEYPOINTS];
    Crossings crossings;
    double shift, most = 0.0;
    expert_plan(plan, race, task);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plan[i].speed *= 2.0;
    assert_ok(gates_centre(&shift, out, plan, race, task, pace, NULL));
    assert_ok(crossings_fly(&crossings, race, task, (PacedPlan){out, flown}));
    for (int g = 0; g < crossings.gates; g++) {
        assert_true(crossings.gate[g].crossed);
        most = fmax(most, hypot(crossings.gate[g].at[0], crossings.gate[g].at[1]));
    }
    return most;
}

static void a_plan_is_centred_for_its_pace(void **state)
{
    (void)state;
    FacetRace *race = open_course(2);
    FacetCourseTask task = task_named(race, "bend/small");
    double own = centred_miss(race, task, 0.7, 0.7);
    assert_less(own, 0.5 * centred_miss(race, task, 0.49, 0.7));
    facet_race_close(race);
}

// The path that a repair finds for a plan at a pace, from a start at another, if it may slow it to
// `least` of its speed.
static FacetRepair repair_at(const FacetRace *race, FacetCourseTask task, const FacetKeypoint *plan,
                             double pace, double start_pace, double least)
{
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetRepairOptions options = facet_repair_defaults();
    FacetKeypoint paced[FACET_CHUNK_KEYPOINTS];
    FacetQuadState start;
    FacetRepair repair;
    options.centre = 0.1, options.steps = 4, options.speed_least = least;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        paced[i] = (FacetKeypoint){plan[i].pos, pace * plan[i].speed};
    assert_ok(task_start(&start, race, task, start_pace));
    assert_ok(facet_flight_repair(&repair, &setup, paced, start, &options, race->pool));
    return repair;
}

static double apart(const FacetKeypoint *a, const FacetKeypoint *b)
{
    double most = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        most = fmax(most, vec3_distance(a[i].pos, b[i].pos));
    return most;
}

// Centred by the flight that the certificate is of: from a start at the pace, and never slowed, for
// a path that fits a slower flight fits nothing that is flown.
static void a_plan_is_centred_as_it_is_flown(void **state)
{
    (void)state;
    FacetRace *race = open_course(2);
    FacetCourseTask task = task_named(race, "bend/small");
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], out[FACET_CHUNK_KEYPOINTS];
    const double paces[] = {1.0, 0.65}, speeds[] = {3.0, 2.0};
    for (int p = 0; p < 2; p++) {
        double shift;
        expert_plan(plan, race, task);
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plan[i].speed *= speeds[p];
        FacetRepair right = repair_at(race, task, plan, paces[p], paces[p], 1.0);
        FacetRepair slowed = repair_at(race, task, plan, paces[p], paces[p], 0.2);
        FacetRepair hasty = repair_at(race, task, plan, paces[p], 1.0, 1.0);
        assert_ok(gates_centre(&shift, out, plan, race, task, paces[p], NULL));
        assert_near(apart(out, right.plan), 0.0, 0.0);
        assert_less(1e-3, apart(p == 0 ? slowed.plan : hasty.plan, right.plan)); // it shows
    }
    facet_race_close(race);
}

static void a_flight_at_a_pace_starts_at_that_pace(void **state)
{
    (void)state;
    FacetRace *race = open_course(2);
    FacetCourseTask task = task_named(race, "straight/large");
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], slow[FACET_CHUNK_KEYPOINTS];
    FacetReference path;
    FacetQuadState start;
    Crossings crossings;
    double speed = facet_race_reference_speed(race, task);
    expert_plan(plan, race, task);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        slow[i] = (FacetKeypoint){plan[i].pos, 0.4 * plan[i].speed};
    assert_ok(task_start(&start, race, task, 0.4));
    assert_near(vec3_norm(start.vel_world), 0.4 * speed, 1e-12);
    assert_ok(facet_reference_from_chunk(&path, slow));
    FacetFlight alone = facet_flight_fly(&setup, &path, start, NULL);
    assert_ok(crossings_fly(&crossings, race, task, (PacedPlan){plan, 0.4}));
    assert_true(crossings.gate[0].crossed);
    assert_near(crossings.gate[0].time, alone.gates[0].time, 0.01);
    assert_near(crossings.gate[0].at[1], alone.gates[0].at[1], 0.01);
    assert_ok(task_start(&start, race, task, 1.0)); // from the full speed it comes sooner
    FacetFlight hasty = facet_flight_fly(&setup, &path, start, NULL);
    assert_less(hasty.gates[0].time, alone.gates[0].time - 0.1);
    facet_race_close(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gate_that_passes_every_test_is_certified),
        cmocka_unit_test(a_path_that_can_fold_is_refused),
        cmocka_unit_test(a_gate_without_room_is_refused),
        cmocka_unit_test(a_probe_beyond_a_quarter_is_refused),
        cmocka_unit_test(a_shift_beyond_the_bound_is_refused),
        cmocka_unit_test(what_was_not_tested_is_not_certified),
        cmocka_unit_test(a_centred_plan_keeps_its_speeds),
        cmocka_unit_test(a_plan_is_centred_for_its_pace),
        cmocka_unit_test(a_plan_is_centred_as_it_is_flown),
        cmocka_unit_test(a_flight_at_a_pace_starts_at_that_pace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
