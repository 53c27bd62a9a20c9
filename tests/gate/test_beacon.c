// The beacon's statistics against its figures, what a policy is told of it, and how well a pilot
// could fly by it that knew every gate's place.
#include "factor/factor.h"
#include "gates.h"

enum { FLIGHTS = 4000, READINGS = 16, TRIALS = 60 };

static const FacetVec3 place = {1.0, -2.0, 3.0};

// ---- Errors -------------------------------------------------------------------------------------

static double component(FacetVec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

// A bias a flight and white noise about it, on each axis for itself.
static void errors_have_their_figures(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    world->beacon = (FacetBeaconParams){.bias = 0.5, .noise = 0.3};
    double between[3] = {0}, mean[3] = {0}, within[3] = {0}, lagged[3] = {0}, across = 0.0;
    for (uint64_t flight = 0; flight < FLIGHTS; flight++) {
        Beacon beacon = beacon_make(world, 0, 5, flight);
        FacetVec3 bias = beacon.bias, before = vec3(0.0, 0.0, 0.0);
        across += bias.x * bias.y / FLIGHTS;
        for (int a = 0; a < 3; a++) {
            mean[a] += component(bias, a) / FLIGHTS;
            between[a] += component(bias, a) * component(bias, a) / FLIGHTS;
        }
        for (int k = 0; k < READINGS; k++) {
            FacetVec3 noise = vec3_sub(vec3_sub(beacon_read(&beacon, place), place), bias);
            for (int a = 0; a < 3; a++) {
                double n = component(noise, a);
                within[a] += n * n / (FLIGHTS * READINGS);
                lagged[a] += n * component(before, a) / (FLIGHTS * (READINGS - 1));
            }
            before = noise;
        }
    }
    for (int a = 0; a < 3; a++) {
        assert_near(mean[a], 0.0, 4.0 * 0.5 / sqrt(FLIGHTS));
        assert_near(sqrt(between[a]), 0.5, 0.03);
        assert_near(sqrt(within[a]), 0.3, 0.005);
        assert_near(lagged[a], 0.0, 4.0 * 0.09 / sqrt(FLIGHTS * READINGS));
    }
    assert_near(across, 0.0, 4.0 * 0.25 / sqrt(FLIGHTS));
    facet_gate_world_destroy(world);
}

static void flights_draw_from_their_own_streams(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    Beacon one = beacon_make(world, 0, 5, 7), same = beacon_make(world, 0, 5, 7);
    Beacon other = beacon_make(world, 0, 5, 8), seed = beacon_make(world, 0, 6, 7);
    FacetVec3 reading = beacon_read(&one, place);
    assert_vec3_near(beacon_read(&same, place), reading, 0.0);
    assert_true(vec3_distance(beacon_read(&other, place), reading) > 1e-6);
    assert_true(vec3_distance(beacon_read(&seed, place), reading) > 1e-6);
    facet_gate_world_destroy(world);
}

// ---- Axes ---------------------------------------------------------------------------------------

// Every venue has an origin of its own, as far from the common one; with one survey all have that.
static void venues_have_their_own_origins(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    double survey = world->beacon.survey;
    assert_true(survey > 3.6);
    for (int v = 0; v < world->venue_count; v++) {
        assert_near(vec3_norm(beacon_origin(world, v)), survey, 1e-12);
        for (int u = 0; u < v; u++)
            assert_true(vec3_distance(beacon_origin(world, v), beacon_origin(world, u)) > survey);
    }
    world->beacon = (FacetBeaconParams){.survey = 0.0};
    for (int v = 0; v < world->venue_count; v++) {
        Beacon beacon = beacon_make(world, v, 1, 1);
        assert_vec3_near(beacon_read(&beacon, place), place, 0.0);
    }
    facet_gate_world_destroy(world);
}

// Without errors the numbers give the offset of a gate whose place is known.
static void numbers_tell_the_offset_of_a_known_gate(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(3, 0);
    for (int i = 0; i < 20; i++) {
        double sensed[FACET_GATE_SENSED];
        FacetVec3 pos = random_vec3(&rng, 8.0), gate = random_vec3(&rng, 8.0);
        FacetQuat attitude = random_attitude(&rng);
        beacon_numbers(sensed, pos, attitude);
        FacetVec3 expected = mat3_tmul_vec3(quat_to_mat3(attitude), vec3_sub(gate, pos));
        assert_vec3_near(offset_by(sensed, gate), expected, 1e-11);
    }
}

// ---- Flights ------------------------------------------------------------------------------------

// The expert's offsets, shifted by what the beacon says of the first: it knows where the gate is.
static FacetStatus plan_by_beacon(double *offsets, void *context, const FacetGateView *view)
{
    const FacetGateWorld *world = context;
    FacetFactorTask task = view->trial->task;
    FacetVec3 origin = beacon_origin(world, task.value[FACET_GATE_FACTOR_VENUE]);
    FacetVec3 gate = facet_gate_target(world, task).center;
    facet_gate_expert_offsets(offsets, world, task, view->truth);
    FacetVec3 off = vec3_sub(offset_by(view->sensed, vec3_sub(gate, origin)),
                             vec3(offsets[0], offsets[1], offsets[2]));
    for (int k = 0; k < FACET_GATE_HORIZON; k++) {
        offsets[FACET_GATE_DIM * k + 0] += off.x;
        offsets[FACET_GATE_DIM * k + 1] += off.y;
        offsets[FACET_GATE_DIM * k + 2] += off.z;
    }
    return status_ok();
}

static FacetStatus make_pilot(FacetGatePilot *pilot, void *context, int worker)
{
    (void)worker;
    *pilot = (FacetGatePilot){.plan = plan_by_beacon, .context = context};
    return status_ok();
}

// Successes of trials for choosing settings, of red gates in venues other than pool.
static int fly(FacetGateWorld *world, FacetGateFlight flights[TRIALS])
{
    FacetFactorTask tasks[128];
    int count = 0;
    for (int64_t i = 0; i < factor_task_count(world->space); i++) {
        FacetFactorTask task = factor_task_at(world->space, i);
        const FacetVenue *venue = facet_gate_venue(world, task);
        bool red = task.value[FACET_GATE_FACTOR_COLOR] == 0;
        if (red && strcmp(facet_venue_name(venue), "pool") != 0) tasks[count++] = task;
        assert_true(count < 128);
    }
    const FacetGateCrew crew = {.make = make_pilot, .context = world};
    assert_ok(facet_gate_evaluate(flights, world, &crew, tasks, count, TRIALS,
                                  FACET_GATE_FOR_VALIDATION, 1, NULL, NULL, NULL));
    return facet_gate_tally(flights, TRIALS).ends[FACET_GATE_SUCCESS];
}

// Without errors it is as good as the expert. As it is, the beacon is worse than the camera's
// policy, which succeeds in more than 80 of 100, and better than nothing: both have something to
// add.
static void the_beacon_alone_is_poor(void **unused)
{
    (void)unused;
    FacetGateFlight flights[TRIALS];
    FacetGateWorld *world = shipped_world();
    int poor = fly(world, flights);
    world->beacon.bias = world->beacon.noise = 0.0;
    int good = fly(world, flights);
    print_message("%d of %d by the beacon as it is, %d without its errors\n", poor, TRIALS, good);
    assert_true(good >= TRIALS * 95 / 100);
    assert_between(100.0 * poor / TRIALS, 35.0, 80.0);
    facet_gate_world_destroy(world);
}

// Who does not look at the beacon flies the same, whatever its errors are.
static void other_senses_do_not_notice_it(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetGateTrial trial;
    FacetGateFlight flights[2];
    const FacetGatePilot expert = facet_gate_expert(world);
    assert_ok(facet_gate_trial(&trial, world, task_of(world, "Field/red/3/-1"), 9, 7));
    trial.disturbance = facet_gate_collection_defaults().disturbance;
    assert_ok(facet_gate_fly(&flights[0], world, &trial, &expert, NULL));
    world->beacon = (FacetBeaconParams){.bias = 3.0, .noise = 2.0, .survey = 1.0};
    assert_ok(facet_gate_fly(&flights[1], world, &trial, &expert, NULL));
    assert_near(flights[1].duration, flights[0].duration, 0.0);
    assert_near(flights[1].miss, flights[0].miss, 0.0);
    assert_near(flights[1].estimate_error, flights[0].estimate_error, 0.0);
    world->beacon.noise = -1.0;
    assert_refused(facet_gate_fly(&flights[1], world, &trial, &expert, NULL),
                   "beacon: expected errors of 0 m or more, found -1");
    world->beacon.noise = NAN;
    assert_refused(facet_gate_fly(&flights[1], world, &trial, &expert, NULL), "found nan");
    facet_gate_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_their_figures),
        cmocka_unit_test(flights_draw_from_their_own_streams),
        cmocka_unit_test(venues_have_their_own_origins),
        cmocka_unit_test(numbers_tell_the_offset_of_a_known_gate),
        cmocka_unit_test(the_beacon_alone_is_poor),
        cmocka_unit_test(other_senses_do_not_notice_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
