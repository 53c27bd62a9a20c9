// The world of the single gate: venues, the factors of a task, and where its trials start.
#include "gate/approach.h"
#include "gate/streams.h"

#include <stdlib.h>
#include <string.h>

// ---- The world ----------------------------------------------------------------------------------

static Status same_names(const GateWorld *world, int index)
{
    const Venue *first = world->venues[0], *venue = world->venues[index];
    bool same = venue_gate_count(first) == venue_gate_count(venue) &&
                venue_color_count(first) == venue_color_count(venue);
    for (int i = 0; same && i < venue_gate_count(first); i++)
        same = strcmp(venue_gate(first, i)->name, venue_gate(venue, i)->name) == 0;
    for (int i = 0; same && i < venue_color_count(first); i++)
        same = strcmp(venue_color_name(first, i), venue_color_name(venue, i)) == 0;
    return same ? status_ok()
                : status_fail("venue '%s': expected the gates and colors of '%s', found others",
                              venue_name(venue), venue_name(first));
}

static Status load_venues(GateWorld *world, const char *courses)
{
    VenueNames names;
    TRY(venue_names(&names, courses));
    world->venues = calloc((size_t)names.count, sizeof *world->venues);
    if (!world->venues) return status_fail("out of memory for %d venues", names.count);
    for (int i = 0; i < names.count; i++) {
        TRY(venue_load(&world->venues[i], courses, names.name[i]));
        world->venue_count++;
        TRY(same_names(world, i));
    }
    return status_ok();
}

static Status fill_space(GateWorld *world)
{
    static const char *const sides[] = {"+1", "-1"};
    const char *names[VENUES_MAX];
    const Venue *first = world->venues[0];
    TRY(factor_space_create(&world->space));
    for (int i = 0; i < world->venue_count; i++) names[i] = venue_name(world->venues[i]);
    TRY(factor_space_add(world->space, "venue", names, world->venue_count));
    for (int i = 0; i < venue_color_count(first); i++) names[i] = venue_color_name(first, i);
    TRY(factor_space_add(world->space, "color", names, venue_color_count(first)));
    for (int i = 0; i < venue_gate_count(first); i++) names[i] = venue_gate(first, i)->name;
    TRY(factor_space_add(world->space, "gate", names, venue_gate_count(first)));
    return factor_space_add(world->space, "side", sides, 2);
}

Status gate_world_create(GateWorld **out, const char *courses)
{
    *out = NULL;
    GateWorld *world = calloc(1, sizeof *world);
    if (!world) return status_fail("out of memory for a world");
    const QuadParams params = quad_params_default();
    world->model = quad_model(&params, 1.0 / QUAD_RATE);
    world->camera = camera_default();
    world->gyro = gyro_params_default();
    world->distance_min = 3.0;
    world->distance_max = 10.0;
    world->azimuth_max = 0.25 * FACET_PI;
    world->rise_max = 0.7;
    world->heading_error = 35.0 / 180.0 * FACET_PI;
    world->speed = 2.0;
    world->rate = 10.0;
    world->time_out = 8.0;
    world->observer_time = 0.5;
    Status status = control_preset(&world->preset, "soft");
    if (status.ok) status = load_venues(world, courses);
    if (status.ok) status = fill_space(world);
    if (status.ok)
        *out = world;
    else
        gate_world_destroy(world);
    return status;
}

void gate_world_destroy(GateWorld *world)
{
    if (!world) return;
    for (int i = 0; i < world->venue_count; i++) venue_destroy(world->venues[i]);
    free(world->venues);
    factor_space_destroy(world->space);
    free(world);
}

const Venue *gate_venue(const GateWorld *world, FactorTask task)
{
    return world->venues[task.value[GATE_FACTOR_VENUE]];
}

Gate gate_target(const GateWorld *world, FactorTask task)
{
    Gate gate = *venue_gate(gate_venue(world, task), task.value[GATE_FACTOR_GATE]);
    if (task.value[GATE_FACTOR_SIDE] == 1) gate.normal = vec3_scale(gate.normal, -1.0);
    return gate;
}

bool gate_passed(double *miss, const Gate *gate, double half_width, Vec3 before, Vec3 after)
{
    double fraction;
    if (!gate_crossed(&fraction, gate, before, after)) return false;
    Vec3 off = vec3_sub(vec3_lerp(before, after, fraction), gate->center);
    Vec3 across = vec3_unit(vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal), vec3(0.0, 1.0, 0.0));
    Vec3 up = vec3_cross(gate->normal, across);
    *miss = vec3_norm(off);
    return fabs(vec3_dot(off, across)) <= half_width && fabs(vec3_dot(off, up)) <= half_width;
}

// ---- Trials -------------------------------------------------------------------------------------

#define HEIGHT_MIN 0.8 // m, of a spawn above the ground

static QuadState draw_spawn(const GateWorld *world, const Gate *gate, Rng *rng)
{
    Vec3 pos;
    double yaw;
    double distance = rng_range(rng, world->distance_min, world->distance_max);
    double azimuth = rng_range(rng, -world->azimuth_max, world->azimuth_max);
    double rise = rng_range(rng, -world->rise_max, world->rise_max);
    double turn = rng_range(rng, -world->heading_error, world->heading_error);
    rise = greater(rise, HEIGHT_MIN - gate->center.z);
    // The distance is to the centre, so a spawn above or below it is nearer in the plane.
    double level = sqrt(greater(distance * distance - rise * rise, 0.0));
    camera_stand(&pos, &yaw, gate, 1, level, azimuth);
    pos.z += rise;
    return quad_hover(&world->model, pos, yaw + turn);
}

static bool in_frame(const GateWorld *world, const QuadState *state, Vec3 point)
{
    double u, v;
    return camera_project(&u, &v, &world->camera, state->pos_world, state->attitude, point) &&
           u >= 0.0 && u < world->camera.width && v >= 0.0 && v < world->camera.height;
}

// Whether the expert's way from a position to 1 m behind the gate keeps clear of everything.
static bool way_is_free(const Venue *venue, const Gate *gate, Vec3 pos)
{
    enum { POINTS = 96 }; // no more than 0.2 m apart
    Vec3 way[POINTS];
    approach_way(way, POINTS, gate, pos, 1.0);
    for (int i = 0; i < POINTS; i++)
        if (venue_clearance(venue, way[i], GATE_WAY_RADIUS) < GATE_WAY_RADIUS) return false;
    return true;
}

Status gate_trial(GateTrial *trial, const GateWorld *world, FactorTask task, uint64_t seed,
                  uint64_t number)
{
    enum { TRIES = 1000 };
    if (!factor_task_complete(world->space, task))
        return status_fail("a trial: expected a task with a venue, a color, a gate and a side");
    *trial = (GateTrial){.task = task, .seed = seed, .number = number};
    Gate gate = gate_target(world, task);
    Rng rng = rng_make(seed, gate_stream(number, GATE_STREAM_SPAWN));
    for (int i = 0; i < TRIES; i++) {
        trial->start = draw_spawn(world, &gate, &rng);
        if (in_frame(world, &trial->start, gate.center) &&
            way_is_free(gate_venue(world, task), &gate, trial->start.pos_world))
            return status_ok();
    }
    char text[FACTOR_TASK_TEXT];
    factor_task_format(text, world->space, task, FACTOR_STYLE_VALUES);
    return status_fail("%.100s: expected a start with a free way to the gate, found none in %d "
                       "tries",
                       text, TRIES);
}

void gate_paint(CameraShot *shot, const GateWorld *world, const GateTrial *trial)
{
    const int *value = trial->task.value;
    camera_paint(shot, gate_venue(world, trial->task), value[GATE_FACTOR_GATE],
                 value[GATE_FACTOR_COLOR], trial->seed,
                 gate_stream(trial->number, GATE_STREAM_COLORS));
}
