// One closed-loop flight (see facet/flight.h).
//
// Every step of 1/600 s runs the carrot, the controller, the mixer and one RK4 step, and shows the
// motion to the referee.
#include "base/rng.h"
#include "course/course.h"
#include "math/geometry.h"
#include "rules.h"

void facet_flight_record(FacetFlightTrace *trace, const FacetFlightRun *run)
{
    double time = (double)run->flight.steps * run->setup->model->step;
    if (!trace || trace->count >= trace->capacity) return;
    if (time + 1e-9 < trace->count * trace->interval) return;
    trace->times[trace->count] = time;
    trace->states[trace->count] = run->state;
    trace->arcs[trace->count] = run->carrot.arc;
    trace->count++;
}

FacetVec3 gust_next(FacetVec3 wind, const FacetGusts *gusts, double interval, FacetRng *rng)
{
    double keep = exp(-interval / gusts->time), spread = gusts->speed * sqrt(1.0 - keep * keep);
    double x = keep * wind.x + spread * rng_normal(rng);
    double y = keep * wind.y + spread * rng_normal(rng);
    return vec3(x, y, keep * wind.z + spread * rng_normal(rng));
}

FacetQuadState facet_flight_start(const FacetQuadModel *model, const FacetReference *plan,
                                  double speed)
{
    FacetQuadState state = facet_quad_hover(model, plan->pos[0], plan->yaw[0]);
    int next = 1; // the first waypoint elsewhere: a plan may begin with repeated keypoints
    while (next < FACET_REFERENCE_WAYPOINTS - 1 && plan->arc[next] < 1e-6) next++;
    FacetVec3 along = vec3_unit(vec3_sub(plan->pos[next], plan->pos[0]), vec3(1.0, 0.0, 0.0));
    state.vel_world = vec3_scale(along, speed);
    return state;
}

void facet_flight_begin(FacetFlightRun *run, const FacetFlightSetup *setup,
                        const FacetReference *plan, FacetQuadState start)
{
    *run = (FacetFlightRun){
        .setup = setup,
        .plan = plan,
        .state = start,
        .referee = referee_make(setup->track, setup->half_width),
        .rng = rng_make(setup->gusts.seed, setup->gusts.stream),
        .limit = step_limit(plan, setup->model),
        .flight = {.end = FACET_FLIGHT_TIMED_OUT, .gate_count = setup->track->gate_count},
    };
}

static bool over(FacetFlightRun *run, FacetFlightEnd end)
{
    run->flight.end = end;
    return false;
}

bool facet_flight_step(FacetFlightRun *run)
{
    const FacetFlightSetup *setup = run->setup;
    const FacetQuadModel *model = setup->model;
    const FacetControlPreset *preset = setup->preset;
    if (run->flight.steps >= run->limit) return over(run, FACET_FLIGHT_TIMED_OUT);
    if (setup->gusts.speed > 0.0 && run->flight.steps % GUST_STEPS == 0)
        run->wind = gust_next(run->wind, &setup->gusts, GUST_STEPS * model->step, &run->rng);

    FacetVec3 before = run->state.pos_world;
    FacetSetpoint setpoint = facet_carrot_advance(&run->carrot, &preset->carrot, run->plan, before);
    if (run->carrot.arc >= end_of_path(run->plan)) return over(run, FACET_FLIGHT_FINISHED);
    run->error_sum += run->carrot.distance;
    run->flight.error_max = greater(run->flight.error_max, run->carrot.distance);

    FacetSe3Output output;
    double command[FACET_QUAD_MOTORS];
    facet_se3_control(&output, &preset->gains, &model->params, &run->state, &setpoint);
    facet_quad_mix(command, model, output.wrench);
    facet_quad_step(&run->state, model, command, run->wind);

    double time = (double)run->flight.steps++ * model->step;
    run->flight.crash = crash_check(setup->arena, &run->state);
    if (run->flight.crash != FACET_CRASH_NONE) return over(run, FACET_FLIGHT_CRASHED);
    referee_watch(&run->referee, before, run->state.pos_world, time, model->step);
    run->path += vec3_distance(before, run->state.pos_world);
    return gives_up(&run->referee, setup->give_up) ? over(run, FACET_FLIGHT_GIVEN_UP) : true;
}

void facet_flight_replan(FacetFlightRun *run, const FacetReference *plan)
{
    enum { REACH = 3 }; // m to either side of the same share of the way
    double share = run->carrot.arc / facet_reference_length(run->plan);
    double arc = share * facet_reference_length(plan);
    run->carrot = facet_carrot_locate(plan, run->state.pos_world, arc - REACH, arc + REACH);
    run->plan = plan;
}

FacetFlight facet_flight_result(const FacetFlightRun *run)
{
    FacetFlight flight = run->flight;
    double steps = (double)flight.steps;
    flight.duration = steps * run->setup->model->step;
    flight.speed_mean = flight.steps > 0 ? run->path / flight.duration : 0.0;
    flight.error_mean = flight.steps > 0 ? run->error_sum / steps : 0.0;
    flight.passed = referee_passed(&run->referee);
    for (int i = 0; i < flight.gate_count; i++) flight.gates[i] = run->referee.gates[i];
    return flight;
}

FacetFlight facet_flight_fly(const FacetFlightSetup *setup, const FacetReference *plan,
                             FacetQuadState start, FacetFlightTrace *trace)
{
    FacetFlightRun run;
    facet_flight_begin(&run, setup, plan, start);
    do {
        facet_flight_record(trace, &run);
    } while (facet_flight_step(&run));
    return facet_flight_result(&run);
}
