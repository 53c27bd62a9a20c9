// Tests of whole flights: closed forms on a line, crashes, time, gusts, traces, determinism.
#include "flight/flight.h"
#include "flying.h"

#include <stdlib.h>

static const FacetArena ARENA = {{-20.0, -20.0, 0.0}, {20.0, 20.0, 10.0}};

// What one test flies in; the pointers of `setup` lead into it.
typedef struct World {
    FacetQuadModel model;
    FacetControlPreset preset;
    FacetArena arena;
    FacetTrack track;
    FacetFlightSetup setup;
} World;

// Two gates on the x axis at x = -4 and 4, 2 m up, and a path from -10 to 10.
static void make_world(World *world, bool ideal)
{
    FacetQuadParams params = facet_quad_params_default();
    if (ideal) {
        params.motor_lag = 0.0;
        params.drag = vec3(0.0, 0.0, 0.0);
    }
    *world = (World){.model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE), .arena = ARENA};
    assert_ok(facet_control_preset(&world->preset, "race"));
    FacetTrack *track = &world->track;
    strcpy(track->name, "line");
    const double places[4] = {-10.0, -4.0, 4.0, 10.0};
    for (int i = 0; i < 4; i++) track->points[i] = vec3(places[i], 0.0, 2.0);
    track->point_count = 4;
    track->gate_count = 2;
    for (int i = 0; i < 2; i++)
        track->gates[i] =
            (FacetCourseGate){.center = track->points[i + 1], .normal = {1.0, 0.0, 0.0}};
    world->setup = (FacetFlightSetup){.model = &world->model,
                                      .preset = &world->preset,
                                      .arena = &world->arena,
                                      .track = track,
                                      .half_width = 0.5};
}

static FacetReference line_plan(FacetVec3 from, FacetVec3 to, double speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){vec3_lerp(from, to, i / (FACET_CHUNK_KEYPOINTS - 1.0)), speed};
    assert_ok(facet_reference_from_chunk(&plan, chunk));
    return plan;
}

static FacetReference expert_plan(const FacetTrack *track, double speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    assert_ok(facet_expert_chunk(chunk, track, track->points[0], speed));
    assert_ok(facet_reference_from_chunk(&plan, chunk));
    return plan;
}

static FacetFlight fly(const World *world, const FacetReference *plan, double speed,
                       FacetFlightTrace *trace)
{
    return facet_flight_fly(&world->setup, plan, facet_flight_start(&world->model, plan, speed),
                            trace);
}

// ---- On a line --------------------------------------------------------------------------------

static void straight_flight_against_closed_forms(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, true);
    const double speeds[3] = {2.0, 5.0, 9.0};
    for (int k = 0; k < 3; k++) {
        double speed = speeds[k], step = world.model.step;
        FacetReference plan = expert_plan(&world.track, speed);
        FacetFlight flight = fly(&world, &plan, speed, NULL);
        assert_int_equal(flight.end, FACET_FLIGHT_FINISHED);
        assert_int_equal(flight.crash, FACET_CRASH_NONE);
        assert_int_equal(flight.gate_count, 2);
        assert_int_equal(flight.passed, 2);
        for (int i = 0; i < 2; i++) {
            assert_true(flight.gates[i].crossed);
            assert_true(flight.gates[i].passed);
            assert_near(flight.gates[i].time, (i == 0 ? 6.0 : 14.0) / speed, 1e-6);
            assert_near(flight.gates[i].speed, speed, 1e-6);
            assert_near(flight.gates[i].miss, 0.0, 1e-6);
        }
        assert_near(flight.duration, 19.95 / speed, 1.01 * step); // it ends 5 cm before the end
        assert_near(flight.duration, (double)flight.steps * step, 1e-12);
        assert_near(flight.speed_mean, speed, 1e-6);
        assert_near(flight.error_mean, 0.0, 1e-6);
        assert_near(flight.error_max, 0.0, 1e-6);
    }
}

// The real vehicle, with lag and drag, starts level and has to tilt first: close to the same.
static void straight_flight_of_the_racer(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, false);
    FacetReference plan = expert_plan(&world.track, 4.0);
    FacetFlight flight = fly(&world, &plan, 4.0, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_FINISHED);
    assert_int_equal(flight.passed, 2);
    assert_near(flight.gates[0].time, 1.5, 0.05);
    assert_near(flight.gates[1].time, 3.5, 0.05);
    assert_near(flight.gates[1].speed, 4.0, 0.01);
    assert_less(flight.error_max, 0.2);
}

// A gate beside the path is crossed at its distance, and not passed.
static void gate_beside_the_path_is_missed(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, true);
    world.track.gates[1].center.y = 0.9;
    FacetReference plan = expert_plan(&world.track, 3.0); // the path itself stays straight
    FacetFlight flight = fly(&world, &plan, 3.0, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_FINISHED);
    assert_int_equal(flight.passed, 1);
    assert_true(flight.gates[1].crossed);
    assert_true(!flight.gates[1].passed);
    assert_near(flight.gates[1].miss, 0.9, 1e-6);
}

static void start_is_on_the_plan(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, false);
    FacetReference plan = line_plan(vec3(1.0, 2.0, 3.0), vec3(1.0, 8.0, 3.0), 3.0);
    FacetQuadState state = facet_flight_start(&world.model, &plan, 2.5);
    assert_vec3_near(state.pos_world, vec3(1.0, 2.0, 3.0), 0.0);
    assert_vec3_near(state.vel_world, vec3(0.0, 2.5, 0.0), 1e-12);
    assert_near(attitude_angle(state.attitude, quat_from_yaw(0.5 * FACET_PI)), 0.0, 1e-9);
    // Also when the plan's first keypoints are the same.
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){{1.0, 2.0 + fmax(0.0, i - 3.0), 3.0}, 3.0};
    assert_ok(facet_reference_from_chunk(&plan, chunk));
    state = facet_flight_start(&world.model, &plan, 2.5);
    assert_vec3_near(state.vel_world, vec3(0.0, 2.5, 0.0), 1e-12);
}

// ---- Crashes and time ---------------------------------------------------------------------------

static void plan_into_the_ground(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, true);
    FacetReference plan = line_plan(vec3(-10.0, 0.0, 2.0), vec3(10.0, 0.0, -4.0), 3.0);
    FacetFlight flight = fly(&world, &plan, 3.0, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_CRASHED);
    assert_int_equal(flight.crash, FACET_CRASH_GROUND);
    // A third of the way down is the ground.
    assert_near(flight.duration, facet_reference_length(&plan) / 3.0 / 3.0, 0.01);
    assert_near(flight.gates[0].miss, 1.8, 0.05); // crossed below, in the air
    assert_false(flight.gates[1].crossed);
    assert_int_equal(flight.passed, 0);
}

static void plan_out_of_bounds(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, true);
    world.arena.max.x = 2.0;
    FacetReference plan = expert_plan(&world.track, 4.0);
    FacetFlight flight = fly(&world, &plan, 4.0, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_CRASHED);
    assert_int_equal(flight.crash, FACET_CRASH_BOUNDS);
    assert_near(flight.duration, 3.0, 0.01);
    assert_int_equal(flight.passed, 1);
    assert_true(flight.gates[0].passed);
    assert_true(!flight.gates[1].crossed);
}

static void bad_starts(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, false);
    FacetReference plan = expert_plan(&world.track, 4.0);
    FacetQuadState start = facet_flight_start(&world.model, &plan, 4.0);
    FacetQuadState inverted = start;
    inverted.attitude = (FacetQuat){0.0, 1.0, 0.0, 0.0};
    FacetFlight flight = facet_flight_fly(&world.setup, &plan, inverted, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_CRASHED);
    assert_int_equal(flight.crash, FACET_CRASH_ATTITUDE);
    FacetQuadState broken = start;
    broken.vel_world.y = NAN;
    flight = facet_flight_fly(&world.setup, &plan, broken, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_CRASHED);
    assert_int_equal(flight.crash, FACET_CRASH_NONFINITE);
    assert_int_equal(flight.steps, 1);
}

// A plan without speed and a carrot without lead: the vehicle hovers until the time is up.
static void flight_times_out(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, true);
    world.preset.carrot.lookahead_min = 0.0;
    FacetReference plan = line_plan(vec3(-10.0, 0.0, 2.0), vec3(-9.0, 0.0, 2.0), 0.0);
    FacetFlight flight = fly(&world, &plan, 0.0, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_TIMED_OUT);
    assert_int_equal(flight.crash, FACET_CRASH_NONE);
    // 1 m at the least speed of 0.1 m/s that a duration counts with, twice, and 2 s.
    assert_near(flight.duration, 22.0, 1.01 * world.model.step);
    assert_near(flight.speed_mean, 0.0, 1e-9);
    assert_near(flight.gates[0].miss, 6.0, 1e-6);
    assert_false(flight.gates[0].crossed);
}

// A gate missed by more than the setup allows ends the flight there; one missed by less does not.
static void flight_gives_up(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, true);
    world.track.gates[0].center.y = 0.9;
    FacetReference plan = expert_plan(&world.track, 3.0);
    world.setup.give_up = 1.0;
    assert_int_equal(fly(&world, &plan, 3.0, NULL).end, FACET_FLIGHT_FINISHED);
    world.setup.give_up = 0.8;
    FacetFlight flight = fly(&world, &plan, 3.0, NULL);
    assert_int_equal(flight.end, FACET_FLIGHT_GIVEN_UP);
    assert_near(flight.duration, 2.0, 1.01 * world.model.step); // 6 m at 3 m/s
    assert_true(flight.gates[0].crossed);
    assert_true(!flight.gates[1].crossed);
}

// ---- Step by step -------------------------------------------------------------------------------

// Stepping by hand, and going on along the same plan again and again, is the same flight.
static void steps_make_the_flight(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, false);
    FacetReference plan = expert_plan(&world.track, 4.0), same = plan;
    FacetQuadState start = facet_flight_start(&world.model, &plan, 4.0);
    FacetFlight whole = facet_flight_fly(&world.setup, &plan, start, NULL);
    for (int replans = 0; replans < 2; replans++) {
        FacetFlightRun run;
        facet_flight_begin(&run, &world.setup, &plan, start);
        while (facet_flight_step(&run))
            if (replans && run.flight.steps % 60 == 0) facet_flight_replan(&run, &same);
        FacetFlight flight = facet_flight_result(&run);
        assert_int_equal(flight.end, whole.end);
        assert_int_equal(flight.passed, whole.passed);
        // Locating the progress anew may find a point a hair behind the one it had.
        double off = replans ? 1e-6 : 0.0;
        assert_int_equal(flight.steps, whole.steps);
        for (int i = 0; i < 2; i++) assert_near(flight.gates[i].miss, whole.gates[i].miss, off);
        assert_near(flight.error_mean, whole.error_mean, off);
    }
}

// Another plan halfway, 2 m to the side: the vehicle goes over to it.
static void replan_changes_the_path(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, false);
    FacetReference plan = line_plan(vec3(-10, 0, 2), vec3(10, 0, 2), 3.0);
    FacetReference beside = line_plan(vec3(-10, 2, 2), vec3(10, 2, 2), 3.0);
    FacetFlightRun run;
    facet_flight_begin(&run, &world.setup, &plan, facet_flight_start(&world.model, &plan, 3.0));
    bool changed = false;
    while (facet_flight_step(&run)) {
        if (changed || run.carrot.arc < 8.0) continue;
        double arc = run.carrot.arc;
        facet_flight_replan(&run, &beside);
        changed = true;
        assert_near(run.carrot.arc, arc, 0.02); // progress goes on from where it was
        assert_near(run.carrot.distance, 2.0, 0.05);
    }
    assert_int_equal(facet_flight_result(&run).end, FACET_FLIGHT_FINISHED);
    assert_near(run.state.pos_world.y, 2.0, 0.05);
    assert_near(run.state.pos_world.x, 10.0, 0.1);
}

// A zigzag twice as long as the line it follows: the same share of the way is where to go on.
static void replan_to_a_longer_plan(void **unused)
{
    (void)unused;
    World world;
    make_world(&world, false);
    FacetReference plan = line_plan(vec3(-10, 0, 2), vec3(10, 0, 2), 3.0), zigzag;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double x = -10.0 + 20.0 * i / (FACET_CHUNK_KEYPOINTS - 1);
        chunk[i] = (FacetKeypoint){vec3(x, i % 2 ? 0.55 : -0.55, 2.0), 3.0};
    }
    assert_ok(facet_reference_from_chunk(&zigzag, chunk));
    assert_less(1.9, facet_reference_length(&zigzag) / facet_reference_length(&plan));
    FacetFlightRun run;
    facet_flight_begin(&run, &world.setup, &plan, facet_flight_start(&world.model, &plan, 3.0));
    while (run.carrot.arc < 15.0) assert_true(facet_flight_step(&run));
    facet_flight_replan(&run, &zigzag);
    assert_near(run.carrot.arc / facet_reference_length(&zigzag), 0.75, 0.02);
    assert_less(run.carrot.distance, 0.55);
}

// ---- Traces -----------------------------------------------------------------------------------

enum { TRACE_MAX = 512 };

typedef struct Recorder {
    FacetFlightTrace trace;
    double times[TRACE_MAX], arcs[TRACE_MAX];
    FacetQuadState states[TRACE_MAX];
} Recorder;

static void make_recorder(Recorder *recorder, double interval, int capacity)
{
    memset(recorder, 0, sizeof *recorder);
    recorder->trace = (FacetFlightTrace){.interval = interval,
                                         .capacity = capacity,
                                         .times = recorder->times,
                                         .states = recorder->states,
                                         .arcs = recorder->arcs};
}

static void trace_has_equal_steps_of_time(void **unused)
{
    (void)unused;
    static Recorder recorder;
    World world;
    make_world(&world, true);
    FacetReference plan = expert_plan(&world.track, 5.0);
    make_recorder(&recorder, 0.05, TRACE_MAX);
    FacetFlight flight = fly(&world, &plan, 5.0, &recorder.trace);
    assert_int_equal(recorder.trace.count, (int)(flight.duration / 0.05 + 1e-9) + 1);
    for (int i = 0; i < recorder.trace.count; i++) {
        double t = 0.05 * i;
        assert_near(recorder.times[i], t, 1e-9);
        assert_vec3_near(recorder.states[i].pos_world, vec3(-10.0 + 5.0 * t, 0.0, 2.0), 1e-5);
        assert_vec3_near(recorder.states[i].vel_world, vec3(5.0, 0.0, 0.0), 1e-5);
        // Progress as of the step before.
        assert_near(recorder.arcs[i], fmax(0.0, 5.0 * (t - world.model.step)), 1e-5);
    }
    // A flight without a trace is the same flight.
    FacetFlight again = fly(&world, &plan, 5.0, NULL);
    assert_int_equal(again.steps, flight.steps);
    assert_near(again.gates[1].miss, flight.gates[1].miss, 0.0);
}

static void trace_stops_when_full(void **unused)
{
    (void)unused;
    static Recorder recorder;
    World world;
    make_world(&world, true);
    FacetReference plan = expert_plan(&world.track, 5.0);
    make_recorder(&recorder, 0.01, 7);
    recorder.times[7] = -1.0;
    FacetFlight flight = fly(&world, &plan, 5.0, &recorder.trace);
    assert_int_equal(flight.end, FACET_FLIGHT_FINISHED);
    assert_int_equal(recorder.trace.count, 7);
    assert_near(recorder.times[6], 0.06, 1e-9);
    assert_near(recorder.times[7], -1.0, 0.0);
}

// ---- Gusts ------------------------------------------------------------------------------------

static void same_seed_same_bits(void **unused)
{
    (void)unused;
    static Recorder recorders[4];
    World world;
    make_world(&world, false);
    FacetReference plan = expert_plan(&world.track, 5.0);
    const FacetGusts gusts[4] = {{.speed = 1.0, .time = 0.5, .seed = 7, .stream = 3},
                                 {.speed = 1.0, .time = 0.5, .seed = 7, .stream = 3},
                                 {.speed = 1.0, .time = 0.5, .seed = 8, .stream = 3},
                                 {.speed = 1.0, .time = 0.5, .seed = 7, .stream = 4}};
    FacetFlight flights[4];
    for (int k = 0; k < 4; k++) {
        world.setup.gusts = gusts[k];
        make_recorder(&recorders[k], 0.02, TRACE_MAX);
        flights[k] = fly(&world, &plan, 5.0, &recorders[k].trace);
        assert_true(recorders[k].trace.count > 100);
    }
    assert_memory_equal(recorders[0].states, recorders[1].states, sizeof recorders[0].states);
    assert_memory_equal(recorders[0].arcs, recorders[1].arcs, sizeof recorders[0].arcs);
    assert_near(flights[0].error_mean, flights[1].error_mean, 0.0);
    assert_near(flights[0].speed_mean, flights[1].speed_mean, 0.0);
    for (int k = 2; k < 4; k++) {
        double apart =
            vec3_distance(recorders[0].states[100].pos_world, recorders[k].states[100].pos_world);
        assert_less(1e-3, apart);
    }
}

// Still air is still, whatever the seed.
static void no_gusts_no_wind(void **unused)
{
    (void)unused;
    static Recorder recorders[2];
    World world;
    make_world(&world, false);
    FacetReference plan = expert_plan(&world.track, 5.0);
    for (int k = 0; k < 2; k++) {
        world.setup.gusts = (FacetGusts){.speed = 0.0, .time = 0.5, .seed = (uint64_t)k};
        make_recorder(&recorders[k], 0.02, TRACE_MAX);
        fly(&world, &plan, 5.0, &recorders[k].trace);
    }
    assert_memory_equal(recorders[0].states, recorders[1].states, sizeof recorders[0].states);
}

// A tracer without weight or power whose drag makes it follow the wind: its velocity is the wind.
// Its standard deviation and its correlation over time must be those asked for.
static void statistics_of_gusts(void **unused)
{
    (void)unused;
    const double deviation = 1.5, correlation_time = 0.4, interval = 10.0 / FACET_QUAD_RATE;
    World world;
    make_world(&world, true);
    FacetQuadParams params = world.model.params;
    params.drag = vec3(300.0, 300.0, 300.0); // settles to 0.7 % between two changes of the wind
    params.gravity = 1e-12;
    params.thrust_max = 1e-12;
    world.model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    world.arena = (FacetArena){{-1e6, -1e6, -1e6}, {1e6, 1e6, 1e6}};
    world.setup.gusts = (FacetGusts){deviation, correlation_time, 5, 0};
    // A plan far ahead, so that the flight lasts until its time is up: twice 500 s and 2 s.
    FacetReference plan = line_plan(vec3(2000.0, 0.0, 2.0), vec3(2050.0, 0.0, 2.0), 0.0);
    enum { SAMPLES = 60000 };
    FacetFlightTrace trace = {.interval = interval, .capacity = SAMPLES};
    trace.times = calloc(SAMPLES, sizeof *trace.times);
    trace.states = calloc(SAMPLES, sizeof *trace.states);
    trace.arcs = calloc(SAMPLES, sizeof *trace.arcs);
    assert_true(trace.times);
    assert_true(trace.states);
    assert_true(trace.arcs);
    FacetQuadState start = {.attitude = quat_identity()};
    FacetFlight flight = facet_flight_fly(&world.setup, &plan, start, &trace);
    assert_int_equal(flight.end, FACET_FLIGHT_TIMED_OUT);
    assert_int_equal(trace.count, SAMPLES);

    // Samples stand just before the wind changes. The first second is the way up from still air.
    enum { FIRST = 60, LAG = 24 }; // 24 samples are one correlation time
    double square[3] = {0.0}, lagged[3] = {0.0}, mixed = 0.0;
    for (int i = FIRST; i < SAMPLES - LAG; i++) {
        FacetVec3 a = trace.states[i].vel_world, b = trace.states[i + LAG].vel_world;
        square[0] += a.x * a.x, square[1] += a.y * a.y, square[2] += a.z * a.z;
        lagged[0] += a.x * b.x, lagged[1] += a.y * b.y, lagged[2] += a.z * b.z;
        mixed += a.x * a.y;
    }
    double count = SAMPLES - LAG - FIRST;
    // 1000 s are 2500 correlation times, so an axis is known to about 2 %.
    for (int k = 0; k < 3; k++) {
        assert_near(sqrt(square[k] / count), deviation, 0.05 * deviation);
        assert_near(lagged[k] / square[k], exp(-LAG * interval / correlation_time), 0.06);
    }
    assert_near(mixed / count, 0.0, 0.1 * deviation * deviation); // axes are independent
    free(trace.times);
    free(trace.states);
    free(trace.arcs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_flight_against_closed_forms),
        cmocka_unit_test(straight_flight_of_the_racer),
        cmocka_unit_test(gate_beside_the_path_is_missed),
        cmocka_unit_test(start_is_on_the_plan),
        cmocka_unit_test(plan_into_the_ground),
        cmocka_unit_test(plan_out_of_bounds),
        cmocka_unit_test(bad_starts),
        cmocka_unit_test(flight_times_out),
        cmocka_unit_test(flight_gives_up),
        cmocka_unit_test(steps_make_the_flight),
        cmocka_unit_test(replan_changes_the_path),
        cmocka_unit_test(replan_to_a_longer_plan),
        cmocka_unit_test(trace_has_equal_steps_of_time),
        cmocka_unit_test(trace_stops_when_full),
        cmocka_unit_test(same_seed_same_bits),
        cmocka_unit_test(no_gusts_no_wind),
        cmocka_unit_test(statistics_of_gusts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
