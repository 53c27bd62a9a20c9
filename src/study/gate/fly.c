// One flight of the single gate: frames, fixes, the approach, the quadrotor, and how it ends.
//
// Every 1/600 s the controller flies the estimated state along the approach. At a frame the pilot's
// first offset o_0 gives the fix  p = gate - R o_0  with the gyro's attitude R, and the approach
// gets the speed  |o_0 - o_10| / 1 s,  the expert's mean over the second to come. The controller
// sees the observer's estimate alone, whoever the pilot is. Where the pilot says how uncertain o_0
// is, the fix has that variance and the square of what a fix is off at least.
#include "course/course.h"
#include "flight/flight.h"
#include "gate/approach.h"
#include "gate/beacon.h"
#include "gate/observer.h"
#include "gate/streams.h"

#include <stdlib.h>

enum {
    SPEED_OFFSET = 10, // the offset that tells the speed: 1 s ahead
    CHECK_STEPS = 5,   // simulation steps between two looks for a crash: 120 a second
    WIND_STEPS = 10,   // and between two changes of the wind
};

#define FIX_REACH 100.0 // m, a fix farther from the gate is brought this near

static const FacetArena everywhere = {{-1e4, -1e4, -1e4}, {1e4, 1e4, 1e4}};

typedef struct Run {
    const FacetGateWorld *world;
    const FacetGateTrial *trial;
    const FacetVenue *venue;
    FacetCourseGate gate;
    int frame_steps; // simulation steps a frame
    FacetQuadState truth;
    Gyro gyro;
    Beacon beacon;
    Observer observer;
    Approach approach;
    FacetGusts gusts, fix_errors; // the wandering error of a fix has the statistics of wind
    FacetRng gust_rng, fix_rng;
    FacetVec3 wind, fix_error; // m/s, share of the distance
    FacetGateFlight flight;
} Run;

static FacetStatus check_beacon(const FacetBeaconParams *beacon)
{
    const double errors[] = {beacon->bias, beacon->noise, beacon->survey};
    for (int i = 0; i < 3; i++)
        if (!(errors[i] >= 0.0 && isfinite(errors[i])))
            return status_fail(FACET_BAD_ARGUMENT,
                               "beacon: expected errors of 0 m or more, found %g", errors[i]);
    return status_ok();
}

static FacetStatus check_settings(const FacetGateWorld *world)
{
    TRY(check_beacon(&world->beacon));
    double fastest = 1.0 / world->model.step, most = GATE_STREAMS - GATE_STREAM_FRAMES - 1;
    if (!(world->rate > 0.0 && world->rate <= fastest))
        return status_fail(FACET_BAD_ARGUMENT,
                           "frames: expected a rate above 0 and at most %g Hz, found %g", fastest,
                           world->rate);
    if (!(world->time_out > 0.0 && world->time_out * world->rate < most))
        return status_fail(FACET_BAD_ARGUMENT,
                           "a flight: expected a time-out of at most %g frames, found %g s at %g "
                           "Hz",
                           most, world->time_out, world->rate);
    if (!(world->observer_time * world->rate >= 0.1 &&
          (world->velocity_time == 0.0 || world->velocity_time >= 1.0 / world->rate)))
        return status_fail(
            FACET_BAD_ARGUMENT,
            "the observer: expected a time of no less than %g s, and for the velocity 0 s or no "
            "less than the %g s of a frame, found %g and %g",
            0.1 / world->rate, 1.0 / world->rate, world->observer_time, world->velocity_time);
    if (!(world->fix_share >= 0.0 && isfinite(world->fix_share)))
        return status_fail(FACET_BAD_ARGUMENT,
                           "fixes: expected that they are off by a share of 0 or more of their "
                           "distance, found %g",
                           world->fix_share);
    if (!(world->fix_floor > 0.0 && isfinite(world->fix_floor)))
        return status_fail(FACET_BAD_ARGUMENT,
                           "fixes: expected that they are off by more than 0 m at least, found %g",
                           world->fix_floor);
    return status_ok();
}

static void begin(Run *run, const FacetGateWorld *world, const FacetGateTrial *trial)
{
    const FacetGateDisturbance *by = &trial->disturbance;
    uint64_t seed = trial->seed, gust_stream = gate_stream(trial->number, GATE_STREAM_GUSTS),
             fix_stream = gate_stream(trial->number, GATE_STREAM_FIX);
    FacetQuat attitude = trial->start.attitude;
    run->world = world;
    run->trial = trial;
    run->venue = facet_gate_venue(world, trial->task);
    run->gate = facet_gate_target(world, trial->task);
    run->frame_steps = (int)lround(1.0 / (world->rate * world->model.step));
    run->truth = trial->start;
    run->gyro =
        gyro_make(&world->gyro, attitude, seed, gate_stream(trial->number, GATE_STREAM_GYRO));
    run->beacon = beacon_make(world, trial->task.value[FACET_GATE_FACTOR_VENUE], seed,
                              gate_stream(trial->number, GATE_STREAM_BEACON));
    run->observer = observer_make(&world->model, attitude, run->frame_steps * world->model.step,
                                  world->observer_time,
                                  world->velocity_time > 0.0 ? world->velocity_time : HUGE_VAL);
    run->observer.refuse_sigma = world->refuse_sigma;
    run->observer.refuse_most = world->refuse_most;
    run->gusts = (FacetGusts){by->gust_speed, by->time, seed, gust_stream};
    run->fix_errors = (FacetGusts){by->fix_error, by->time, seed, fix_stream};
    run->gust_rng = rng_make(seed, gust_stream);
    run->fix_rng = rng_make(seed, fix_stream);
    run->wind = run->fix_error = vec3(0.0, 0.0, 0.0);
    run->flight = (FacetGateFlight){.end = FACET_GATE_TIMEOUT,
                                    .miss = vec3_distance(run->truth.pos_world, run->gate.center)};
}

// ---- Frames -------------------------------------------------------------------------------------

static void draw(uint8_t *rgb, const Run *run, double time)
{
    const FacetGateTrial *trial = run->trial;
    FacetCameraShot shot = {
        .pos_world = run->truth.pos_world,
        .attitude = run->truth.attitude,
        .time = time,
        .look = trial->look,
        .seed = trial->seed,
        .stream = gate_stream(trial->number, GATE_STREAM_FRAMES + run->flight.frames),
    };
    facet_gate_paint(&shot, run->world, trial);
    facet_camera_render(rgb, &run->world->camera, run->venue, &shot, NULL);
}

void facet_gate_first_frame(uint8_t *rgb, const FacetGateWorld *world, const FacetGateTrial *trial)
{
    Run run;
    begin(&run, world, trial);
    draw(rgb, &run, 0.0);
}

static FacetStatus check_offsets(const double *offsets, int frame)
{
    for (int i = 0; i < FACET_GATE_HORIZON * FACET_GATE_DIM; i++)
        if (!isfinite(offsets[i]))
            return status_fail(FACET_BAD_ARGUMENT,
                               "frame %d: offset %d of the pilot: expected a finite number, found "
                               "%g",
                               frame, i / FACET_GATE_DIM, offsets[i]);
    return status_ok();
}

// The variance of the plan's first offset; 0 when the pilot does not say.
static FacetStatus said_variance(double *variance, const FacetGatePilot *pilot, int frame)
{
    *variance = pilot->variance ? *pilot->variance : 0.0;
    if (*variance >= 0.0 && isfinite(*variance)) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "frame %d: variance of the pilot: expected a finite number of 0 or more, "
                       "found %g",
                       frame, *variance);
}

static FacetVec3 offset_at(const double *offsets, int k)
{
    return vec3(offsets[FACET_GATE_DIM * k], offsets[FACET_GATE_DIM * k + 1],
                offsets[FACET_GATE_DIM * k + 2]);
}

// The position that the first offset tells, with the error that a disturbed trial adds.
static FacetVec3 position_fix(Run *run, FacetVec3 offset)
{
    double range = vec3_norm(offset);
    if (range > FIX_REACH) offset = vec3_scale(offset, FIX_REACH / range);
    if (run->fix_errors.speed > 0.0) {
        double interval = run->frame_steps * run->world->model.step;
        run->fix_error = gust_next(run->fix_error, &run->fix_errors, interval, &run->fix_rng);
        offset = vec3_axpy(offset, lesser(range, FIX_REACH), run->fix_error);
    }
    Mat3 axes = quat_to_mat3(run->gyro.attitude);
    return vec3_sub(run->gate.center, mat3_mul_vec3(axes, offset));
}

// How far off a fix is expected to be before the pilot says how sure it is, m^2; 0 without weights.
static double expected_variance(const FacetGateWorld *world, const FacetGatePilot *pilot,
                                FacetVec3 offset)
{
    if (!pilot->variance && !(world->fix_share > 0.0)) return 0.0;
    double off = world->fix_share * lesser(vec3_norm(offset), FIX_REACH);
    return world->fix_floor * world->fix_floor + off * off;
}

static FacetStatus take_frame(Run *run, uint8_t *rgb, double time, const FacetGatePilot *pilot,
                              const FacetGateWatch *watch)
{
    const FacetGateWorld *world = run->world;
    double offsets[FACET_GATE_HORIZON * FACET_GATE_DIM], sensed[FACET_GATE_SENSED];
    FacetGateView view = {.rgb = rgb,
                          .trial = run->trial,
                          .frame = run->flight.frames,
                          .truth = &run->truth,
                          .sensed = sensed};
    beacon_numbers(sensed, beacon_read(&run->beacon, run->truth.pos_world), run->gyro.attitude);
    if (rgb) draw(rgb, run, time);
    TRY(pilot->plan(offsets, pilot->context, &view));
    TRY(check_offsets(offsets, view.frame));
    TRY(said_variance(&view.variance, pilot, view.frame));
    FacetVec3 first = offset_at(offsets, 0), later = offset_at(offsets, SPEED_OFFSET);
    double speed = vec3_distance(first, later) / (SPEED_OFFSET * FACET_GATE_CHUNK_STEP);
    double expected = expected_variance(world, pilot, first) + view.variance;
    bool taken = observer_fix(&run->observer, position_fix(run, first), expected);
    const FacetQuadState *estimate = &run->observer.state;
    approach_build(&run->approach, &run->gate, estimate->pos_world, estimate->vel_world,
                   clamp(speed, 0.5, 1.5 * world->speed));
    run->flight.estimate_error += vec3_distance(estimate->pos_world, run->truth.pos_world);
    run->flight.frames++;
    run->flight.refused += !taken;
    return watch && watch->frame ? watch->frame(watch->context, &view, offsets, estimate->pos_world)
                                 : status_ok();
}

// ---- Motion -------------------------------------------------------------------------------------

static void move(Run *run)
{
    const FacetQuadModel *model = &run->world->model;
    FacetSetpoint to = approach_setpoint(&run->approach, &run->world->preset.carrot,
                                         run->observer.state.pos_world);
    FacetSe3Output output;
    double command[FACET_QUAD_MOTORS];
    facet_se3_control(&output, &run->world->preset.gains, &model->params, &run->observer.state,
                      &to);
    facet_quad_mix(command, model, output.wrench);
    facet_quad_step(&run->truth, model, command, run->wind);
    FacetVec3 reading = gyro_step(&run->gyro, run->truth.omega_body, model->step);
    observer_step(&run->observer, model, command, run->gyro.attitude, reading);
}

static bool crashed(const Run *run)
{
    return crash_check(&everywhere, &run->truth) != FACET_CRASH_NONE ||
           facet_venue_clearance(run->venue, run->truth.pos_world, FACET_GATE_BODY_RADIUS) <
               FACET_GATE_BODY_RADIUS;
}

// One step of the simulation. False when the flight is over.
static bool advance(Run *run, long step)
{
    const FacetGateWorld *world = run->world;
    FacetVec3 before = run->truth.pos_world;
    if (run->gusts.speed > 0.0 && step % WIND_STEPS == 0)
        run->wind =
            gust_next(run->wind, &run->gusts, WIND_STEPS * world->model.step, &run->gust_rng);
    move(run);
    FacetVec3 after = run->truth.pos_world;
    double crossing;
    bool passed =
        facet_gate_passed(&crossing, &run->gate, facet_venue_half_width(run->venue), before, after);
    if ((passed || step % CHECK_STEPS == 0) && crashed(run)) {
        run->flight.end = FACET_GATE_CRASH;
        return false;
    }
    run->flight.miss = lesser(run->flight.miss, vec3_distance(after, run->gate.center));
    if (!passed) return true;
    run->flight.end = FACET_GATE_SUCCESS;
    run->flight.miss = crossing;
    return false;
}

static FacetStatus fly(Run *run, uint8_t *rgb, const FacetGatePilot *pilot,
                       const FacetGateWatch *watch)
{
    double dt = run->world->model.step;
    long limit = lround(run->world->time_out / dt), step = 0;
    for (bool flying = true; flying && step < limit; step++) {
        if (step % run->frame_steps == 0)
            TRY(take_frame(run, rgb, (double)step * dt, pilot, watch));
        flying = advance(run, step);
    }
    run->flight.duration = (double)step * dt;
    run->flight.estimate_error /= run->flight.frames;
    return status_ok();
}

FacetStatus facet_gate_fly(FacetGateFlight *flight, const FacetGateWorld *world,
                           const FacetGateTrial *trial, const FacetGatePilot *pilot,
                           const FacetGateWatch *watch)
{
    TRY(check_settings(world));
    uint8_t *rgb = NULL;
    if (pilot->sees || (watch && watch->sees)) {
        rgb = malloc((size_t)world->camera.width * (size_t)world->camera.height * 3);
        if (!rgb)
            return status_fail(FACET_NO_MEMORY, "out of memory for a frame of %dx%d",
                               world->camera.width, world->camera.height);
    }
    Run run;
    begin(&run, world, trial);
    FacetStatus status = fly(&run, rgb, pilot, watch);
    free(rgb);
    if (status.ok) *flight = run.flight;
    return status;
}

const char *facet_gate_end_name(FacetGateEnd end)
{
    static const char *const names[FACET_GATE_ENDS] = {"success", "crash", "timeout"};
    return names[end];
}
