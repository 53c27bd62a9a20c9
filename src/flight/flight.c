// One closed-loop flight (see facet/flight.h).
//
// Every step of 1/600 s runs the carrot, the controller, the mixer and one RK4 step, and shows the
// motion to the referee. Gusts change ten times slower, as a first-order Gauss-Markov process with
// exact discretisation.
#include <facet/flight.h>

enum { GUST_STEPS = 10 }; // simulation steps between two changes of the wind

static Vec3 next_wind(Vec3 wind, const Gusts *gusts, double interval, Rng *rng)
{
    double keep = exp(-interval / gusts->time), spread = gusts->speed * sqrt(1.0 - keep * keep);
    return vec3(keep * wind.x + spread * rng_normal(rng), keep * wind.y + spread * rng_normal(rng),
                keep * wind.z + spread * rng_normal(rng));
}

static void record(FlightTrace *trace, double time, const QuadState *state, double arc)
{
    if (!trace || trace->count >= trace->capacity) return;
    if (time + 1e-9 < trace->count * trace->interval) return;
    trace->times[trace->count] = time;
    trace->states[trace->count] = *state;
    trace->arcs[trace->count] = arc;
    trace->count++;
}

QuadState flight_start(const QuadModel *model, const Reference *plan, double speed)
{
    QuadState state = quad_hover(model, plan->pos[0], plan->yaw[0]);
    int next = 1; // the first waypoint elsewhere: a plan may begin with repeated keypoints
    while (next < REFERENCE_WAYPOINTS - 1 && plan->arc[next] < 1e-6) next++;
    Vec3 along = vec3_unit(vec3_sub(plan->pos[next], plan->pos[0]), vec3(1.0, 0.0, 0.0));
    state.vel_world = vec3_scale(along, speed);
    return state;
}

Flight flight_fly(const FlightSetup *setup, const Reference *plan, QuadState state,
                  FlightTrace *trace)
{
    const QuadModel *model = setup->model;
    const double end_of_path = reference_length(plan) - 0.05;
    const long limit = (long)((2.0 * reference_duration(plan) + 2.0) / model->step);
    Flight flight = {.end = FLIGHT_TIMED_OUT, .gate_count = setup->track->gate_count};
    Referee referee = referee_make(setup->track, setup->half_width);
    Carrot carrot = {0};
    Rng rng = rng_make(setup->gusts.seed, setup->gusts.stream);
    Vec3 wind = vec3(0.0, 0.0, 0.0);
    double path = 0.0, error_sum = 0.0;

    for (; flight.steps < limit; flight.steps++) {
        double time = (double)flight.steps * model->step;
        record(trace, time, &state, carrot.arc);
        if (setup->gusts.speed > 0.0 && flight.steps % GUST_STEPS == 0)
            wind = next_wind(wind, &setup->gusts, GUST_STEPS * model->step, &rng);

        Setpoint setpoint = carrot_advance(&carrot, &setup->preset->carrot, plan, state.pos_world);
        error_sum += carrot.distance;
        flight.error_max = fmax(flight.error_max, carrot.distance);
        if (carrot.arc >= end_of_path) {
            flight.end = FLIGHT_FINISHED;
            break;
        }
        Se3Output output;
        double command[QUAD_MOTORS];
        se3_control(&output, &setup->preset->gains, &model->params, &state, &setpoint);
        quad_mix(command, model, output.wrench);
        Vec3 before = state.pos_world;
        quad_step(&state, model, command, wind);

        flight.crash = crash_check(setup->arena, &state);
        if (flight.crash != CRASH_NONE) {
            flight.end = FLIGHT_CRASHED;
            break;
        }
        referee_watch(&referee, before, state.pos_world, time, model->step);
        path += vec3_distance(before, state.pos_world);
    }
    flight.duration = (double)flight.steps * model->step;
    flight.speed_mean = flight.duration > 0.0 ? path / flight.duration : 0.0;
    flight.error_mean = error_sum / (double)(flight.steps + 1);
    flight.passed = referee_passed(&referee);
    for (int i = 0; i < flight.gate_count; i++) flight.gates[i] = referee.gates[i];
    return flight;
}
