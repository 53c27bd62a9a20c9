// Flights: the expert in every venue, its labels, the observer, and every way a flight can end.
#include "gate/observer.h"
#include "gates.h"

// ---- The expert ---------------------------------------------------------------------------------

static void test_the_expert_passes_in_every_venue(void **unused)
{
    (void)unused;
    enum { TRIALS = 40 };
    GateWorld *world = shipped_world();
    ThreadPool *pool;
    assert_ok(pool_create(&pool, 2));
    GateCrew crew = gate_expert_crew(world);
    for (int venue = 0; venue < world->venue_count; venue++) {
        FactorTask tasks[30];
        GateFlight flights[TRIALS];
        for (int i = 0; i < 30; i++) tasks[i] = factor_task_at(world->space, 30 * venue + i);
        assert_ok(gate_evaluate(flights, world, &crew, tasks, 30, TRIALS, 21, NULL, pool, NULL));
        GateTally tally = gate_tally(flights, TRIALS);
        assert_int_equal(tally.ends[GATE_SUCCESS], TRIALS);
        assert_less(tally.miss, 0.1);
        assert_less(tally.estimate_error, 0.05);
        assert_between(tally.duration, 2.5, 6.0);
        assert_near(tally.high[GATE_SUCCESS], 1.0, 1e-9);
        assert_between(tally.low[GATE_SUCCESS], 0.9, 0.95);
    }
    pool_destroy(pool);
    gate_world_destroy(world);
}

typedef struct Track16 {
    double first[GATE_HORIZON * GATE_DIM]; // the labels at frame `at`
    int at;
    Quat attitude;
    Vec3 pos[100]; // m, where frame k was taken
    int frames;
} Track16;

static Status remember(void *context, const GateView *view, const double *offsets, Vec3 estimate)
{
    (void)estimate;
    Track16 *track = context;
    if (view->frame == track->at) {
        memcpy(track->first, offsets, sizeof track->first);
        track->attitude = view->truth->attitude;
    }
    track->pos[track->frames++] = view->truth->pos_world;
    return status_ok();
}

// Where a label says that the expert will be, a flown expert is, with a perfect gyro.
static void test_labels_are_what_the_expert_flies(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    world->gyro = (GyroParams){.name = "perfect"};
    GatePilot expert = gate_expert(world);
    static const int moments[] = {0, 5, 15};
    for (int i = 0; i < 12; i++)
        for (int m = 0; m < 3; m++) {
            FactorTask task = factor_task_at(world->space, 7 * i);
            GateTrial trial;
            GateFlight flight;
            Track16 track = {.at = moments[m]};
            const GateWatch watch = {.frame = remember, .context = &track};
            assert_ok(gate_trial(&trial, world, task, 4, (uint64_t)i));
            assert_ok(gate_fly(&flight, world, &trial, &expert, &watch));
            assert_int_equal(flight.frames, track.frames);
            Gate gate = gate_target(world, task);
            for (int k = 0; k < GATE_HORIZON && track.at + k < track.frames; k++) {
                const double *o = track.first + GATE_DIM * k;
                Vec3 offset = mat3_mul_vec3(quat_to_mat3(track.attitude), vec3(o[0], o[1], o[2]));
                Vec3 said = vec3_sub(gate.center, offset);
                assert_vec3_near(said, track.pos[track.at + k], k == 0 ? 1e-9 : 0.02 + 0.02 * k);
            }
        }
    gate_world_destroy(world);
}

// From a wild state the labels stay finite.
static void test_labels_of_wild_states(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    Rng rng = rng_make(8, 0);
    for (int i = 0; i < 200; i++) {
        FactorTask task = factor_task_at(world->space, i % 120);
        QuadState state = quad_hover(&world->model, random_vec3(&rng, 12.0), 0.0);
        state.vel_world = random_vec3(&rng, 4.0);
        state.attitude = quat_mul(state.attitude, quat_exp(random_vec3(&rng, 0.8)));
        double offsets[GATE_HORIZON * GATE_DIM];
        gate_expert_offsets(offsets, world, task, &state);
        for (int k = 0; k < GATE_HORIZON * GATE_DIM; k++) assert_true(isfinite(offsets[k]));
    }
    // On the gate itself and behind it, where the path has no curve left.
    FactorTask task = factor_task_at(world->space, 0);
    Gate gate = gate_target(world, task);
    for (int i = -5; i <= 60; i++) {
        double offsets[GATE_HORIZON * GATE_DIM];
        QuadState state =
            quad_hover(&world->model, vec3_axpy(gate.center, 0.1 * i, gate.normal), 0.0);
        gate_expert_offsets(offsets, world, task, &state);
        for (int k = 0; k < GATE_HORIZON * GATE_DIM; k++) assert_true(isfinite(offsets[k]));
    }
    gate_world_destroy(world);
}

// ---- The observer -------------------------------------------------------------------------------

// With perfect fixes and a perfect gyro a wrong start is forgotten while the vehicle flies a curve,
// and overshoots by no more than a fifth.
static void test_the_observer_converges(void **unused)
{
    (void)unused;
    const QuadParams params = quad_params_default();
    QuadModel model = quad_model(&params, 1.0 / QUAD_RATE);
    QuadState truth = quad_hover(&model, vec3(1.0, 2.0, 3.0), 0.4);
    const double interval = 0.1, time = 0.5;
    Observer observer = observer_make(&model, truth.attitude, interval, time);
    observer_fix(&observer, vec3_add(truth.pos_world, vec3(0.5, -0.3, 0.2)));
    double start = vec3_distance(observer.state.pos_world, truth.pos_world), least = start;
    for (int step = 0; step < 6 * 600; step++) {
        if (step > 0 && step % 60 == 0) observer_fix(&observer, truth.pos_world);
        double error = observer.state.pos_world.x - truth.pos_world.x;
        least = fmin(least, error);
        if (step == 600) assert_less(fabs(error), 0.5 * 0.5); // two time constants
        // A roll to and fro.
        double hover = 0.25 * params.mass * params.gravity, turn = 0.02 * sin(0.01 * step);
        const double command[4] = {hover + turn, hover + turn, hover - turn, hover - turn};
        quad_step(&truth, &model, command, vec3(0.0, 0.0, 0.0));
        observer_step(&observer, &model, command, truth.attitude, truth.omega_body);
    }
    assert_less(vec3_distance(observer.state.pos_world, truth.pos_world), 1e-3 * start);
    assert_less(vec3_distance(observer.state.vel_world, truth.vel_world), 2e-3);
    assert_true(least > -0.2 * 0.5);
}

// ---- Ends ---------------------------------------------------------------------------------------

static GateFlight fly_shifted(const GateWorld *world, const char *task, Vec3 shift)
{
    GateTrial trial;
    GateFlight flight;
    ShiftedPilot context = {.world = world, .shift = shift};
    GatePilot pilot = shifted(&context);
    assert_ok(gate_trial(&trial, world, task_of(world, task), 1, 2));
    assert_ok(gate_fly(&flight, world, &trial, &pilot, NULL));
    return flight;
}

static void test_ends_by_hand(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    static const char name[] = "Field/red/3/+1";
    Gate gate = gate_target(world, task_of(world, name));
    Vec3 left = across(&gate), none = vec3(0.0, 0.0, 0.0);
    GateFlight flight = fly_shifted(world, name, none);
    assert_int_equal(flight.end, GATE_SUCCESS);
    assert_less(flight.miss, 0.1);
    // It takes itself to be 0.3 m to the right, flies 0.3 m to the left, and still passes.
    flight = fly_shifted(world, name, vec3_scale(left, -0.3));
    assert_int_equal(flight.end, GATE_SUCCESS);
    assert_near(flight.miss, 0.3, 0.1);
    // Into the upright, the upper beam, past the frame, into the ground.
    assert_int_equal(fly_shifted(world, name, vec3_scale(left, -0.88)).end, GATE_CRASH);
    assert_int_equal(fly_shifted(world, name, vec3(0.0, 0.0, -0.88)).end, GATE_CRASH);
    flight = fly_shifted(world, name, vec3_scale(left, -1.5));
    assert_int_equal(flight.end, GATE_TIMEOUT);
    assert_near(flight.duration, world->time_out, 1e-9);
    assert_near(flight.miss, 1.5, 0.2);
    assert_int_equal(fly_shifted(world, name, vec3(0.0, 0.0, 3.0)).end, GATE_CRASH);
    // It stops before the gate.
    assert_int_equal(fly_shifted(world, name, vec3_scale(gate.normal, 8.0)).end, GATE_TIMEOUT);
    gate_world_destroy(world);
}

static void test_lost_attitude_and_obstacles(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    GatePilot expert = gate_expert(world);
    GateTrial trial;
    GateFlight flight;
    FactorTask task = task_of(world, "industrial/white/5/-1");
    assert_ok(gate_trial(&trial, world, task, 1, 3));
    trial.start.attitude = quat_from_axis_angle(vec3(1.0, 0.0, 0.0), 0.9 * FACET_PI);
    assert_ok(gate_fly(&flight, world, &trial, &expert, NULL));
    assert_int_equal(flight.end, GATE_CRASH);
    assert_less(flight.duration, 0.1);
    // Against a pillar of the hall at full speed, which the controller would stop only later.
    assert_ok(gate_trial(&trial, world, task, 1, 3));
    trial.start = quad_hover(&world->model, vec3(-25.0, -20.5, 2.0), 0.0);
    trial.start.vel_world = vec3(0.0, -8.0, 0.0);
    assert_ok(gate_fly(&flight, world, &trial, &expert, NULL));
    assert_int_equal(flight.end, GATE_CRASH);
    assert_less(flight.duration, 0.5);
    assert_string_equal(gate_end_name(flight.end), "crash");
    gate_world_destroy(world);
}

// A dash through another gate is neither success nor crash.
static void test_another_gate_is_just_air(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    GatePilot expert = gate_expert(world);
    GateTrial trial;
    GateFlight flight;
    FactorTask task = task_of(world, "pool/blue/3/+1");
    Gate other = *venue_gate(gate_venue(world, task), 0);
    assert_ok(gate_trial(&trial, world, task, 1, 3));
    trial.start = quad_hover(&world->model, vec3_axpy(other.center, -0.4, other.normal), 0.0);
    trial.start.vel_world = vec3_scale(other.normal, 6.0);
    world->time_out = 0.3;
    assert_ok(gate_fly(&flight, world, &trial, &expert, NULL));
    assert_int_equal(flight.end, GATE_TIMEOUT);
    gate_world_destroy(world);
}

// ---- Pilots -------------------------------------------------------------------------------------

static Status plan_nonsense(double *offsets, void *context, const GateView *view)
{
    const GateWorld *world = context;
    gate_expert_offsets(offsets, world, view->trial->task, view->truth);
    if (view->frame == 3) offsets[7] = NAN;
    return status_ok();
}

static Status plan_huge(double *offsets, void *context, const GateView *view)
{
    (void)context, (void)view;
    for (int i = 0; i < GATE_HORIZON * GATE_DIM; i++) offsets[i] = i % 2 ? 1e300 : -1e300;
    return status_ok();
}

static Status plan_nothing(double *offsets, void *context, const GateView *view)
{
    (void)offsets, (void)context, (void)view;
    return status_fail("no plan today");
}

static void test_pilots_that_fail(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    GateTrial trial;
    GateFlight flight;
    assert_ok(gate_trial(&trial, world, factor_task_at(world->space, 0), 1, 1));
    GatePilot pilot = {.plan = plan_nonsense, .context = world};
    assert_refused(gate_fly(&flight, world, &trial, &pilot, NULL),
                   "frame 3: offset 2 of the pilot: expected a finite number, found nan");
    pilot.plan = plan_nothing;
    assert_refused(gate_fly(&flight, world, &trial, &pilot, NULL), "no plan today");
    pilot.plan = plan_huge; // finite, so it is flown
    assert_ok(gate_fly(&flight, world, &trial, &pilot, NULL));
    assert_true(flight.end != GATE_SUCCESS);
    world->rate = 0.0;
    assert_refused(gate_fly(&flight, world, &trial, &pilot, NULL), "expected a rate above 0");
    world->rate = 600.0, world->time_out = 60.0;
    assert_refused(gate_fly(&flight, world, &trial, &pilot, NULL), "expected a time-out");
    gate_world_destroy(world);
}

// Only what the pilot says and the gyro reads steers: a pilot that says the same flies the same,
// wherever the truth is.
typedef struct Sighting {
    int frames;
    Vec3 estimates[200];
} Sighting;

static Status plan_fixed(double *offsets, void *context, const GateView *view)
{
    (void)context;
    for (int k = 0; k < GATE_HORIZON; k++) {
        offsets[GATE_DIM * k + 0] = 5.0 - 0.1 * view->frame - 0.1 * k;
        offsets[GATE_DIM * k + 1] = 0.3;
        offsets[GATE_DIM * k + 2] = -0.1;
    }
    return status_ok();
}

static Status note_estimate(void *context, const GateView *view, const double *offsets,
                            Vec3 estimate)
{
    (void)offsets;
    Sighting *sighting = context;
    if (view->frame < 200) sighting->estimates[sighting->frames++] = estimate;
    return status_ok();
}

static void test_the_truth_does_not_reach_the_controller(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    GatePilot pilot = {.plan = plan_fixed};
    GateTrial trial;
    GateFlight flight;
    Sighting here = {0}, there = {0};
    world->time_out = 2.0;
    assert_ok(gate_trial(&trial, world, task_of(world, "Field/red/1/+1"), 1, 1));
    trial.start.pos_world.z = 30.0; // far from everything
    const GateWatch watch = {.frame = note_estimate, .context = &here};
    assert_ok(gate_fly(&flight, world, &trial, &pilot, &watch));
    assert_int_equal(flight.end, GATE_TIMEOUT);
    trial.start.pos_world.x += 3.0;
    const GateWatch again = {.frame = note_estimate, .context = &there};
    assert_ok(gate_fly(&flight, world, &trial, &pilot, &again));
    assert_int_equal(here.frames, 20);
    // The gyro reads the same turns, so the whole flight is the same but for the last bits.
    for (int i = 0; i < here.frames; i++)
        assert_vec3_near(there.estimates[i], here.estimates[i], 1e-9);
    gate_world_destroy(world);
}

// ---- Threads and frames -------------------------------------------------------------------------

typedef struct FrameSum {
    const GateWorld *world;
    uint64_t sum;
    int frames;
} FrameSum;

static Status sum_frame(void *context, const GateView *view, const double *offsets, Vec3 estimate)
{
    (void)offsets, (void)estimate;
    FrameSum *sum = context;
    const Camera *camera = &sum->world->camera;
    for (int i = 0; i < camera->width * camera->height * 3; i++)
        sum->sum = sum->sum * 1099511628211u + view->rgb[i];
    sum->frames++;
    return status_ok();
}

static void test_threads_change_nothing(void **unused)
{
    (void)unused;
    enum { TRIALS = 12 };
    GateWorld *world = shipped_world();
    world->camera.width = 40, world->camera.height = 30;
    FactorTask tasks[TRIALS];
    GateFlight flights[2][TRIALS];
    FrameSum sums[2][TRIALS];
    memset(flights, 0, sizeof flights);
    for (int i = 0; i < TRIALS; i++) tasks[i] = factor_task_at(world->space, 10 * i + 3);
    GateCrew crew = gate_expert_crew(world);
    for (int run = 0; run < 2; run++) {
        ThreadPool *pool;
        GateWatch watches[TRIALS];
        for (int i = 0; i < TRIALS; i++) {
            sums[run][i] = (FrameSum){.world = world};
            watches[i] = (GateWatch){.frame = sum_frame, .context = &sums[run][i], .sees = true};
        }
        assert_ok(pool_create(&pool, run + 1));
        assert_ok(gate_evaluate(flights[run], world, &crew, tasks, TRIALS, TRIALS, 9, watches, pool,
                                NULL));
        pool_destroy(pool);
    }
    assert_memory_equal(flights[0], flights[1], sizeof flights[0]);
    for (int i = 0; i < TRIALS; i++) {
        assert_true(sums[0][i].sum == sums[1][i].sum);
        assert_int_equal(sums[0][i].frames, flights[0][i].frames);
        if (i > 0) assert_true(sums[0][i].sum != sums[0][i - 1].sum);
    }
    gate_world_destroy(world);
}

static Status refuse_to_make(GatePilot *pilot, void *context, int worker)
{
    (void)pilot, (void)context;
    return worker == 1 ? status_fail("no pilot %d", worker) : status_ok();
}

static void test_crews_that_fail(void **unused)
{
    (void)unused;
    GateWorld *world = shipped_world();
    ThreadPool *pool;
    GateFlight flight;
    FactorTask task = factor_task_at(world->space, 0);
    GateCrew crew = {.make = refuse_to_make};
    assert_ok(pool_create(&pool, 2));
    assert_refused(gate_evaluate(&flight, world, &crew, &task, 1, 1, 1, NULL, pool, NULL),
                   "no pilot 1");
    assert_refused(gate_evaluate(&flight, world, &crew, &task, 0, 1, 1, NULL, pool, NULL),
                   "at least one task");
    pool_destroy(pool);
    gate_world_destroy(world);
}

static void test_tally_by_hand(void **unused)
{
    (void)unused;
    const GateFlight flights[] = {{GATE_SUCCESS, 4.0, 0.1, 0.2, 40},
                                  {GATE_SUCCESS, 2.0, 0.3, 0.2, 20},
                                  {GATE_CRASH, 1.0, 2.0, 0.4, 10},
                                  {GATE_TIMEOUT, 10.0, 5.0, 0.8, 100}};
    GateTally tally = gate_tally(flights, 4);
    assert_int_equal(tally.trials, 4);
    assert_int_equal(tally.ends[GATE_SUCCESS], 2);
    assert_int_equal(tally.ends[GATE_CRASH], 1);
    assert_int_equal(tally.ends[GATE_TIMEOUT], 1);
    assert_near(tally.duration, 3.0, 1e-12);
    assert_near(tally.miss, 0.2, 1e-12);
    assert_near(tally.estimate_error, 0.4, 1e-12);
    assert_near(tally.low[GATE_SUCCESS], 0.15, 0.001); // Wilson's interval of 2 of 4
    assert_near(tally.high[GATE_SUCCESS], 0.85, 0.001);
    tally = gate_tally(flights, 0);
    assert_near(tally.high[GATE_CRASH] - tally.low[GATE_CRASH], 1.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_expert_passes_in_every_venue),
        cmocka_unit_test(test_labels_are_what_the_expert_flies),
        cmocka_unit_test(test_labels_of_wild_states),
        cmocka_unit_test(test_the_observer_converges),
        cmocka_unit_test(test_ends_by_hand),
        cmocka_unit_test(test_lost_attitude_and_obstacles),
        cmocka_unit_test(test_another_gate_is_just_air),
        cmocka_unit_test(test_pilots_that_fail),
        cmocka_unit_test(test_the_truth_does_not_reach_the_controller),
        cmocka_unit_test(test_threads_change_nothing),
        cmocka_unit_test(test_crews_that_fail),
        cmocka_unit_test(test_tally_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
