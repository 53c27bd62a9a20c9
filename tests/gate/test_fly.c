// Flights: the expert in every venue, its labels, the observer, and every way a flight can end.
#include "factor/factor.h"
#include "flight/flight.h"
#include "gate/observer.h"
#include "gate/streams.h"
#include "gates.h"

// ---- The expert ---------------------------------------------------------------------------------

static void the_expert_passes_in_every_venue(void **unused)
{
    (void)unused;
    enum { TRIALS = 40 };
    FacetGateWorld *world = shipped_world();
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    FacetGateCrew crew = facet_gate_expert_crew(world);
    for (int venue = 0; venue < world->venue_count; venue++) {
        FacetFactorTask tasks[30];
        FacetGateFlight flights[TRIALS];
        for (int i = 0; i < 30; i++) tasks[i] = factor_task_at(world->space, 30 * venue + i);
        assert_ok(facet_gate_evaluate(flights, world, &crew, tasks, 30, TRIALS,
                                      FACET_GATE_FOR_RESULTS, 21, NULL, pool, NULL));
        FacetGateTally tally = facet_gate_tally(flights, TRIALS);
        assert_int_equal(tally.ends[FACET_GATE_SUCCESS], TRIALS);
        assert_less(tally.miss, 0.1);
        assert_less(tally.estimate_error, 0.05);
        assert_between(tally.duration, 2.5, 6.0);
        assert_near(tally.high[FACET_GATE_SUCCESS], 1.0, 1e-9);
        assert_between(tally.low[FACET_GATE_SUCCESS], 0.9, 0.95);
    }
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

typedef struct Track16 {
    double first[FACET_GATE_HORIZON * FACET_GATE_DIM]; // the labels at frame `at`
    int at;
    FacetQuat attitude;
    FacetVec3 pos[100]; // m, where frame k was taken
    int frames;
} Track16;

static FacetStatus remember(void *context, const FacetGateView *view, const double *offsets,
                            FacetVec3 estimate)
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
static void labels_are_what_the_expert_flies(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    world->gyro = (FacetGyroParams){.name = "perfect"};
    FacetGatePilot expert = facet_gate_expert(world);
    static const int moments[] = {0, 5, 15};
    for (int i = 0; i < 12; i++)
        for (int m = 0; m < 3; m++) {
            FacetFactorTask task = factor_task_at(world->space, 7 * i);
            FacetGateTrial trial;
            FacetGateFlight flight;
            Track16 track = {.at = moments[m]};
            const FacetGateWatch watch = {.frame = remember, .context = &track};
            assert_ok(facet_gate_trial(&trial, world, task, 4, (uint64_t)i));
            assert_ok(facet_gate_fly(&flight, world, &trial, &expert, &watch));
            assert_int_equal(flight.frames, track.frames);
            FacetCourseGate gate = facet_gate_target(world, task);
            for (int k = 0; k < FACET_GATE_HORIZON && track.at + k < track.frames; k++) {
                const double *o = track.first + FACET_GATE_DIM * k;
                FacetVec3 offset =
                    mat3_mul_vec3(quat_to_mat3(track.attitude), vec3(o[0], o[1], o[2]));
                FacetVec3 said = vec3_sub(gate.center, offset);
                assert_vec3_near(said, track.pos[track.at + k], k == 0 ? 1e-9 : 0.02 + 0.02 * k);
            }
        }
    facet_gate_world_destroy(world);
}

// From a wild state the labels stay finite.
static void labels_of_wild_states(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetRng rng = rng_make(8, 0);
    for (int i = 0; i < 200; i++) {
        FacetFactorTask task = factor_task_at(world->space, i % 120);
        FacetQuadState state = facet_quad_hover(&world->model, random_vec3(&rng, 12.0), 0.0);
        state.vel_world = random_vec3(&rng, 4.0);
        state.attitude = quat_mul(state.attitude, quat_exp(random_vec3(&rng, 0.8)));
        double offsets[FACET_GATE_HORIZON * FACET_GATE_DIM];
        facet_gate_expert_offsets(offsets, world, task, &state);
        for (int k = 0; k < FACET_GATE_HORIZON * FACET_GATE_DIM; k++)
            assert_true(isfinite(offsets[k]));
    }
    // On the gate itself and behind it, where the path has no curve left.
    FacetFactorTask task = factor_task_at(world->space, 0);
    FacetCourseGate gate = facet_gate_target(world, task);
    for (int i = -5; i <= 60; i++) {
        double offsets[FACET_GATE_HORIZON * FACET_GATE_DIM];
        FacetQuadState state =
            facet_quad_hover(&world->model, vec3_axpy(gate.center, 0.1 * i, gate.normal), 0.0);
        facet_gate_expert_offsets(offsets, world, task, &state);
        for (int k = 0; k < FACET_GATE_HORIZON * FACET_GATE_DIM; k++)
            assert_true(isfinite(offsets[k]));
    }
    facet_gate_world_destroy(world);
}

// ---- The observer -------------------------------------------------------------------------------

// With perfect fixes and a perfect gyro a wrong start is forgotten while the vehicle flies a curve,
// and overshoots by no more than a fifth.
static void the_observer_converges(void **unused)
{
    (void)unused;
    const FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetQuadState truth = facet_quad_hover(&model, vec3(1.0, 2.0, 3.0), 0.4);
    const double interval = 0.1, time = 0.5;
    Observer observer = observer_make(&model, truth.attitude, interval, time, time);
    observer_fix(&observer, vec3_add(truth.pos_world, vec3(0.5, -0.3, 0.2)), 0.0);
    double start = vec3_distance(observer.state.pos_world, truth.pos_world), least = start;
    for (int step = 0; step < 6 * 600; step++) {
        if (step > 0 && step % 60 == 0) observer_fix(&observer, truth.pos_world, 0.0);
        double error = observer.state.pos_world.x - truth.pos_world.x;
        least = fmin(least, error);
        if (step == 600) assert_less(fabs(error), 0.5 * 0.5); // two time constants
        // A roll to and fro.
        double hover = 0.25 * params.mass * params.gravity, turn = 0.02 * sin(0.01 * step);
        const double command[4] = {hover + turn, hover + turn, hover - turn, hover - turn};
        facet_quad_step(&truth, &model, command, vec3(0.0, 0.0, 0.0));
        observer_step(&observer, &model, command, truth.attitude, truth.omega_body);
    }
    assert_less(vec3_distance(observer.state.pos_world, truth.pos_world), 1e-3 * start);
    assert_less(vec3_distance(observer.state.vel_world, truth.vel_world), 2e-3);
    assert_true(least > -0.2 * 0.5);
}

// ---- Ends ---------------------------------------------------------------------------------------

static FacetGateFlight fly_shifted(const FacetGateWorld *world, const char *task, FacetVec3 shift)
{
    FacetGateTrial trial;
    FacetGateFlight flight;
    ShiftedPilot context = {.world = world, .shift = shift};
    FacetGatePilot pilot = shifted(&context);
    assert_ok(facet_gate_trial(&trial, world, task_of(world, task), 1, 2));
    assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, NULL));
    return flight;
}

static void ends_by_hand(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    static const char name[] = "Field/red/3/+1";
    FacetCourseGate gate = facet_gate_target(world, task_of(world, name));
    FacetVec3 left = across(&gate), none = vec3(0.0, 0.0, 0.0);
    FacetGateFlight flight = fly_shifted(world, name, none);
    assert_int_equal(flight.end, FACET_GATE_SUCCESS);
    assert_less(flight.miss, 0.1);
    // It takes itself to be 0.3 m to the right, flies 0.3 m to the left, and still passes.
    flight = fly_shifted(world, name, vec3_scale(left, -0.3));
    assert_int_equal(flight.end, FACET_GATE_SUCCESS);
    assert_near(flight.miss, 0.3, 0.1);
    // Into the upright, the upper beam, past the frame, into the ground.
    assert_int_equal(fly_shifted(world, name, vec3_scale(left, -0.88)).end, FACET_GATE_CRASH);
    assert_int_equal(fly_shifted(world, name, vec3(0.0, 0.0, -0.88)).end, FACET_GATE_CRASH);
    flight = fly_shifted(world, name, vec3_scale(left, -1.5));
    assert_int_equal(flight.end, FACET_GATE_TIMEOUT);
    assert_near(flight.duration, world->time_out, 1e-9);
    assert_near(flight.miss, 1.5, 0.2);
    assert_int_equal(fly_shifted(world, name, vec3(0.0, 0.0, 3.0)).end, FACET_GATE_CRASH);
    // It stops before the gate.
    assert_int_equal(fly_shifted(world, name, vec3_scale(gate.normal, 8.0)).end,
                     FACET_GATE_TIMEOUT);
    facet_gate_world_destroy(world);
}

static void lost_attitude_and_obstacles(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetGatePilot expert = facet_gate_expert(world);
    FacetGateTrial trial;
    FacetGateFlight flight;
    FacetFactorTask task = task_of(world, "industrial/white/5/-1");
    assert_ok(facet_gate_trial(&trial, world, task, 1, 3));
    trial.start.attitude = quat_from_axis_angle(vec3(1.0, 0.0, 0.0), 0.9 * FACET_PI);
    assert_ok(facet_gate_fly(&flight, world, &trial, &expert, NULL));
    assert_int_equal(flight.end, FACET_GATE_CRASH);
    assert_less(flight.duration, 0.1);
    // Against a pillar of the hall at full speed, which the controller would stop only later.
    assert_ok(facet_gate_trial(&trial, world, task, 1, 3));
    trial.start = facet_quad_hover(&world->model, vec3(-25.0, -20.5, 2.0), 0.0);
    trial.start.vel_world = vec3(0.0, -8.0, 0.0);
    assert_ok(facet_gate_fly(&flight, world, &trial, &expert, NULL));
    assert_int_equal(flight.end, FACET_GATE_CRASH);
    assert_less(flight.duration, 0.5);
    assert_string_equal(facet_gate_end_name(flight.end), "crash");
    facet_gate_world_destroy(world);
}

// A dash through another gate is neither success nor crash.
static void another_gate_is_just_air(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetGatePilot expert = facet_gate_expert(world);
    FacetGateTrial trial;
    FacetGateFlight flight;
    FacetFactorTask task = task_of(world, "pool/blue/3/+1");
    FacetCourseGate other = *facet_venue_gate(facet_gate_venue(world, task), 0);
    assert_ok(facet_gate_trial(&trial, world, task, 1, 3));
    trial.start = facet_quad_hover(&world->model, vec3_axpy(other.center, -0.4, other.normal), 0.0);
    trial.start.vel_world = vec3_scale(other.normal, 6.0);
    world->time_out = 0.3;
    assert_ok(facet_gate_fly(&flight, world, &trial, &expert, NULL));
    assert_int_equal(flight.end, FACET_GATE_TIMEOUT);
    facet_gate_world_destroy(world);
}

// ---- Pilots -------------------------------------------------------------------------------------

static FacetStatus plan_nonsense(double *offsets, void *context, const FacetGateView *view)
{
    const FacetGateWorld *world = context;
    facet_gate_expert_offsets(offsets, world, view->trial->task, view->truth);
    if (view->frame == 3) offsets[7] = NAN;
    return status_ok();
}

static FacetStatus plan_huge(double *offsets, void *context, const FacetGateView *view)
{
    (void)context, (void)view;
    for (int i = 0; i < FACET_GATE_HORIZON * FACET_GATE_DIM; i++)
        offsets[i] = i % 2 ? 1e300 : -1e300;
    return status_ok();
}

static FacetStatus plan_nothing(double *offsets, void *context, const FacetGateView *view)
{
    (void)offsets, (void)context, (void)view;
    return status_fail(FACET_BAD_ARGUMENT, "no plan today");
}

static void pilots_that_fail(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetGateTrial trial;
    FacetGateFlight flight;
    assert_ok(facet_gate_trial(&trial, world, factor_task_at(world->space, 0), 1, 1));
    FacetGatePilot pilot = {.plan = plan_nonsense, .context = world};
    assert_refused(facet_gate_fly(&flight, world, &trial, &pilot, NULL),
                   "frame 3: offset 2 of the pilot: expected a finite number, found nan");
    pilot.plan = plan_nothing;
    assert_refused(facet_gate_fly(&flight, world, &trial, &pilot, NULL), "no plan today");
    pilot.plan = plan_huge; // finite, so it is flown
    assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, NULL));
    assert_true(flight.end != FACET_GATE_SUCCESS);
    world->rate = 0.0;
    assert_refused(facet_gate_fly(&flight, world, &trial, &pilot, NULL), "expected a rate above 0");
    world->rate = 600.0, world->time_out = 60.0;
    assert_refused(facet_gate_fly(&flight, world, &trial, &pilot, NULL), "expected a time-out");
    facet_gate_world_destroy(world);
}

// Only what the pilot says and the gyro reads steers: a pilot that says the same flies the same,
// wherever the truth is.
typedef struct Sighting {
    int frames;
    FacetVec3 estimates[200];
} Sighting;

static FacetStatus plan_fixed(double *offsets, void *context, const FacetGateView *view)
{
    (void)context;
    for (int k = 0; k < FACET_GATE_HORIZON; k++) {
        offsets[FACET_GATE_DIM * k + 0] = 5.0 - 0.1 * view->frame - 0.1 * k;
        offsets[FACET_GATE_DIM * k + 1] = 0.3;
        offsets[FACET_GATE_DIM * k + 2] = -0.1;
    }
    return status_ok();
}

static FacetStatus note_estimate(void *context, const FacetGateView *view, const double *offsets,
                                 FacetVec3 estimate)
{
    (void)offsets;
    Sighting *sighting = context;
    if (view->frame < 200) sighting->estimates[sighting->frames++] = estimate;
    return status_ok();
}

static void the_truth_does_not_reach_the_controller(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetGatePilot pilot = {.plan = plan_fixed};
    FacetGateTrial trial;
    FacetGateFlight flight;
    Sighting here = {0}, there = {0};
    world->time_out = 2.0;
    assert_ok(facet_gate_trial(&trial, world, task_of(world, "Field/red/1/+1"), 1, 1));
    trial.start.pos_world.z = 30.0; // far from everything
    const FacetGateWatch watch = {.frame = note_estimate, .context = &here};
    assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, &watch));
    assert_int_equal(flight.end, FACET_GATE_TIMEOUT);
    trial.start.pos_world.x += 3.0;
    const FacetGateWatch again = {.frame = note_estimate, .context = &there};
    assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, &again));
    assert_int_equal(here.frames, 20);
    // The gyro reads the same turns, so the whole flight is the same but for the last bits.
    for (int i = 0; i < here.frames; i++)
        assert_vec3_near(there.estimates[i], here.estimates[i], 1e-9);
    facet_gate_world_destroy(world);
}

// ---- Wind ---------------------------------------------------------------------------------------

enum { WINDY_STEPS = 120 };

static FacetStatus plan_unmoved(double *offsets, void *context, const FacetGateView *view)
{
    (void)context, (void)view;
    for (int i = 0; i < FACET_GATE_HORIZON * FACET_GATE_DIM; i++)
        offsets[i] = i % FACET_GATE_DIM == 0 ? 5.0 : 0.0;
    return status_ok();
}

static FacetStatus note_velocity(void *context, const FacetGateView *view, const double *offsets,
                                 FacetVec3 estimate)
{
    (void)offsets, (void)estimate;
    FacetVec3 *velocities = context;
    velocities[view->frame] = view->truth->vel_world;
    return status_ok();
}

// The velocity at every step of a flight with a frame at each.
static void fly_in_gusts(FacetVec3 *velocities, const FacetGateWorld *world, FacetGateTrial *trial,
                         double gusts)
{
    const FacetGatePilot pilot = {.plan = plan_unmoved};
    const FacetGateWatch watch = {.frame = note_velocity, .context = velocities};
    FacetGateFlight flight;
    trial->disturbance = (FacetGateDisturbance){.gust_speed = gusts, .time = 0.5};
    assert_ok(facet_gate_fly(&flight, world, trial, &pilot, &watch));
    assert_int_equal(flight.end, FACET_GATE_TIMEOUT);
    assert_int_equal(flight.frames, WINDY_STEPS);
}

// The wind is the trial's own and takes another value 60 times a second. No command depends on
// where the vehicle is blown, so with the same drag on all axes the gap between the velocities in
// gusts and in still air goes towards the wind at the rate of the drag.
static void gusts_change_sixty_times_a_second(void **unused)
{
    (void)unused;
    const double drag = 0.5, gusts = 2.0;
    FacetGateWorld *world = shipped_world();
    double step = world->model.step, keep = exp(-drag * step);
    world->model.params.drag = vec3(drag, drag, drag);
    world->rate = FACET_QUAD_RATE, world->time_out = WINDY_STEPS * step;
    FacetGateTrial trial;
    FacetVec3 calm[WINDY_STEPS], windy[WINDY_STEPS], wind = vec3(0.0, 0.0, 0.0), gap = wind;
    assert_ok(facet_gate_trial(&trial, world, task_of(world, "Field/red/1/+1"), 1, 1));
    trial.start.pos_world.z = 30.0; // far from everything
    fly_in_gusts(calm, world, &trial, 0.0);
    fly_in_gusts(windy, world, &trial, gusts);
    const FacetGusts drawn = {.speed = gusts, .time = 0.5};
    FacetRng rng = rng_make(trial.seed, gate_stream(trial.number, GATE_STREAM_GUSTS));
    for (int k = 0; k < WINDY_STEPS; k++) {
        assert_vec3_near(vec3_sub(windy[k], calm[k]), gap, 1e-9);
        if (k % 10 == 0) wind = gust_next(wind, &drawn, 1.0 / 60.0, &rng);
        gap = vec3_axpy(wind, keep, vec3_sub(gap, wind));
    }
    assert_true(vec3_norm(gap) > 0.01);
    facet_gate_world_destroy(world);
}

// ---- Threads and frames -------------------------------------------------------------------------

typedef struct FrameSum {
    const FacetGateWorld *world;
    uint64_t sum;
    int frames;
} FrameSum;

static FacetStatus sum_frame(void *context, const FacetGateView *view, const double *offsets,
                             FacetVec3 estimate)
{
    (void)offsets, (void)estimate;
    FrameSum *sum = context;
    const FacetCamera *camera = &sum->world->camera;
    for (int i = 0; i < camera->width * camera->height * 3; i++)
        sum->sum = sum->sum * 1099511628211u + view->rgb[i];
    sum->frames++;
    return status_ok();
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    enum { TRIALS = 12 };
    FacetGateWorld *world = shipped_world();
    world->camera.width = 40, world->camera.height = 30;
    FacetFactorTask tasks[TRIALS];
    FacetGateFlight flights[2][TRIALS];
    FrameSum sums[2][TRIALS];
    memset(flights, 0, sizeof flights);
    for (int i = 0; i < TRIALS; i++) tasks[i] = factor_task_at(world->space, 10 * i + 3);
    FacetGateCrew crew = facet_gate_expert_crew(world);
    for (int run = 0; run < 2; run++) {
        FacetPool *pool;
        FacetGateWatch watches[TRIALS];
        for (int i = 0; i < TRIALS; i++) {
            sums[run][i] = (FrameSum){.world = world};
            watches[i] =
                (FacetGateWatch){.frame = sum_frame, .context = &sums[run][i], .sees = true};
        }
        assert_ok(facet_pool_create(&pool, run + 1));
        assert_ok(facet_gate_evaluate(flights[run], world, &crew, tasks, TRIALS, TRIALS,
                                      FACET_GATE_FOR_RESULTS, 9, watches, pool, NULL));
        facet_pool_destroy(pool);
    }
    assert_memory_equal(flights[0], flights[1], sizeof flights[0]);
    for (int i = 0; i < TRIALS; i++) {
        assert_true(sums[0][i].sum == sums[1][i].sum);
        assert_int_equal(sums[0][i].frames, flights[0][i].frames);
        if (i > 0) assert_true(sums[0][i].sum != sums[0][i - 1].sum);
    }
    facet_gate_world_destroy(world);
}

// Frames as they should be, drawn again from where the vehicle was.
typedef struct Redrawn {
    const FacetGateWorld *world;
    size_t size;
    uint8_t *rgb;
    int frames, moved; // those in which the water has moved since the start
} Redrawn;

static void redraw(const Redrawn *again, const FacetGateView *view, double time)
{
    const FacetGateTrial *trial = view->trial;
    FacetCameraShot shot = {.pos_world = view->truth->pos_world,
                            .attitude = view->truth->attitude,
                            .time = time,
                            .look = trial->look,
                            .seed = trial->seed,
                            .stream = gate_stream(trial->number, GATE_STREAM_FRAMES + view->frame)};
    facet_gate_paint(&shot, again->world, trial);
    facet_camera_render(again->rgb, &again->world->camera,
                        facet_gate_venue(again->world, trial->task), &shot, NULL);
}

static FacetStatus compare_frame(void *context, const FacetGateView *view, const double *offsets,
                                 FacetVec3 estimate)
{
    (void)offsets, (void)estimate;
    Redrawn *again = context;
    redraw(again, view, view->frame / again->world->rate);
    assert_memory_equal(view->rgb, again->rgb, again->size);
    redraw(again, view, 0.0);
    again->moved += memcmp(view->rgb, again->rgb, again->size) != 0;
    again->frames++;
    return status_ok();
}

// Water moves from frame to frame as time goes by in the flight.
static void frames_show_their_own_time(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    world->camera.width = 80, world->camera.height = 60;
    world->time_out = 1.0;
    FacetGatePilot expert = facet_gate_expert(world);
    FacetGateTrial trial;
    FacetGateFlight flight;
    Redrawn again = {.world = world, .size = 80 * 60 * 3};
    again.rgb = malloc(again.size);
    assert_non_null(again.rgb);
    const FacetGateWatch watch = {.frame = compare_frame, .context = &again, .sees = true};
    assert_ok(facet_gate_trial(&trial, world, task_of(world, "pool/blue/3/+1"), 1, 3));
    assert_ok(facet_gate_fly(&flight, world, &trial, &expert, &watch));
    assert_int_equal(again.frames, 10);
    assert_int_equal(again.moved, 9); // all but the first
    free(again.rgb);
    facet_gate_world_destroy(world);
}

static FacetStatus refuse_to_make(FacetGatePilot *pilot, void *context, int worker)
{
    (void)pilot, (void)context;
    return worker == 1 ? status_fail(FACET_BAD_ARGUMENT, "no pilot %d", worker) : status_ok();
}

static void crews_that_fail(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetPool *pool;
    FacetGateFlight flight;
    FacetFactorTask task = factor_task_at(world->space, 0);
    FacetGateCrew crew = {.make = refuse_to_make};
    assert_ok(facet_pool_create(&pool, 2));
    assert_refused(facet_gate_evaluate(&flight, world, &crew, &task, 1, 1, FACET_GATE_FOR_RESULTS,
                                       1, NULL, pool, NULL),
                   "no pilot 1");
    assert_refused(facet_gate_evaluate(&flight, world, &crew, &task, 0, 1, FACET_GATE_FOR_RESULTS,
                                       1, NULL, pool, NULL),
                   "at least one task");
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

static bool stop_soon(void *context, const FacetProgressEvent *event)
{
    int *asked = context;
    assert_string_equal(event->stage, "flights");
    return ++*asked < 5;
}

// A flight is long, so it is left in the middle.
static void a_stop_ends_a_flight(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetGateFlight flights[2];
    FacetFactorTask task = factor_task_at(world->space, 0);
    FacetGateCrew crew = facet_gate_expert_crew(world);
    int asked = 0;
    const FacetProgress progress = {.report = stop_soon, .context = &asked};
    FacetStatus status = facet_gate_evaluate(flights, world, &crew, &task, 1, 2,
                                             FACET_GATE_FOR_RESULTS, 1, NULL, NULL, &progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    assert_int_equal(asked, 5);
    facet_gate_world_destroy(world);
}

static void tally_by_hand(void **unused)
{
    (void)unused;
    const FacetGateFlight flights[] = {{FACET_GATE_SUCCESS, 4.0, 0.1, 0.2, 40, 3},
                                       {FACET_GATE_SUCCESS, 2.0, 0.3, 0.2, 20, 0},
                                       {FACET_GATE_CRASH, 1.0, 2.0, 0.4, 10, 2},
                                       {FACET_GATE_TIMEOUT, 10.0, 5.0, 0.8, 100, 0}};
    FacetGateTally tally = facet_gate_tally(flights, 4);
    assert_int_equal(tally.trials, 4);
    assert_int_equal(tally.ends[FACET_GATE_SUCCESS], 2);
    assert_int_equal(tally.ends[FACET_GATE_CRASH], 1);
    assert_int_equal(tally.ends[FACET_GATE_TIMEOUT], 1);
    assert_near(tally.duration, 3.0, 1e-12);
    assert_near(tally.miss, 0.2, 1e-12);
    assert_near(tally.estimate_error, 0.4, 1e-12);
    assert_int_equal(tally.frames, 170);
    assert_int_equal(tally.refused, 5);
    assert_near(tally.low[FACET_GATE_SUCCESS], 0.15, 0.001); // Wilson's interval of 2 of 4
    assert_near(tally.high[FACET_GATE_SUCCESS], 0.85, 0.001);
    tally = facet_gate_tally(flights, 0);
    assert_near(tally.high[FACET_GATE_CRASH] - tally.low[FACET_GATE_CRASH], 1.0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_expert_passes_in_every_venue),
        cmocka_unit_test(labels_are_what_the_expert_flies),
        cmocka_unit_test(labels_of_wild_states),
        cmocka_unit_test(the_observer_converges),
        cmocka_unit_test(ends_by_hand),
        cmocka_unit_test(lost_attitude_and_obstacles),
        cmocka_unit_test(another_gate_is_just_air),
        cmocka_unit_test(pilots_that_fail),
        cmocka_unit_test(the_truth_does_not_reach_the_controller),
        cmocka_unit_test(gusts_change_sixty_times_a_second),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(frames_show_their_own_time),
        cmocka_unit_test(crews_that_fail),
        cmocka_unit_test(a_stop_ends_a_flight),
        cmocka_unit_test(tally_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
