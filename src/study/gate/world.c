// The world of the single gate: venues, the factors of a task, and where its trials start.
#include "base/status.h"
#include "course/course.h"
#include "factor/factor.h"
#include "gate/approach.h"
#include "gate/beacon.h"
#include "gate/gyro.h"
#include "gate/streams.h"
#include "math/geometry.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// ---- The world ----------------------------------------------------------------------------------

static FacetStatus same_names(const FacetGateWorld *world, int index)
{
    const FacetVenue *first = world->venues[0], *venue = world->venues[index];
    bool same = facet_venue_gate_count(first) == facet_venue_gate_count(venue) &&
                facet_venue_color_count(first) == facet_venue_color_count(venue);
    for (int i = 0; same && i < facet_venue_gate_count(first); i++)
        same = strcmp(facet_venue_gate(first, i)->name, facet_venue_gate(venue, i)->name) == 0;
    for (int i = 0; same && i < facet_venue_color_count(first); i++)
        same = strcmp(facet_venue_color_name(first, i), facet_venue_color_name(venue, i)) == 0;
    return same ? status_ok()
                : status_fail(FACET_BAD_ARGUMENT,
                              "venue '%s': expected the gates and colors of '%s', found others",
                              facet_venue_name(venue), facet_venue_name(first));
}

static FacetStatus load_venues(FacetGateWorld *world, const char *courses)
{
    FacetVenueNames names;
    TRY(facet_venue_names(&names, courses));
    world->venues = calloc((size_t)names.count, sizeof *world->venues);
    if (!world->venues)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d venues", names.count);
    for (int i = 0; i < names.count; i++) {
        TRY(facet_venue_load(&world->venues[i], courses, names.name[i]));
        world->venue_count++;
        TRY(same_names(world, i));
    }
    return status_ok();
}

static FacetStatus fill_space(FacetGateWorld *world)
{
    static const char *const sides[] = {"+1", "-1"};
    const char *names[FACET_VENUES_MAX];
    const FacetVenue *first = world->venues[0];
    TRY(facet_factor_space_create(&world->space));
    for (int i = 0; i < world->venue_count; i++) names[i] = facet_venue_name(world->venues[i]);
    TRY(facet_factor_space_add(world->space, "venue", names, world->venue_count));
    for (int i = 0; i < facet_venue_color_count(first); i++)
        names[i] = facet_venue_color_name(first, i);
    TRY(facet_factor_space_add(world->space, "color", names, facet_venue_color_count(first)));
    for (int i = 0; i < facet_venue_gate_count(first); i++)
        names[i] = facet_venue_gate(first, i)->name;
    TRY(facet_factor_space_add(world->space, "gate", names, facet_venue_gate_count(first)));
    return facet_factor_space_add(world->space, "side", sides, 2);
}

FacetStatus facet_gate_world_create(FacetGateWorld **out, const char *courses)
{
    *out = NULL;
    FacetGateWorld *world = calloc(1, sizeof *world);
    if (!world) return status_fail(FACET_NO_MEMORY, "out of memory for a world");
    const FacetQuadParams params = facet_quad_params_default();
    world->model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    world->camera = facet_camera_default();
    world->gyro = gyro_params_default();
    world->beacon = beacon_params_default();
    world->distance_min = 3.0;
    world->distance_max = 10.0;
    world->azimuth_max = 0.25 * FACET_PI;
    world->rise_max = 0.7;
    world->heading_error = 35.0 / 180.0 * FACET_PI;
    world->speed = 2.0;
    world->rate = FACET_GATE_RATE;
    world->time_out = 8.0;
    world->observer_time = FACET_GATE_OBSERVER_TIME;
    world->velocity_time = FACET_GATE_VELOCITY_TIME;
    world->fix_share = FACET_GATE_FIX_SHARE;
    world->fix_floor = FACET_GATE_FIX_FLOOR;
    world->refuse_most = FACET_GATE_REFUSE_MOST;
    FacetStatus status = facet_control_preset(&world->preset, "soft");
    if (status.ok) status = load_venues(world, courses);
    if (status.ok && facet_venue_heading_error(world->venues[0]) > 0.0)
        world->heading_error = facet_venue_heading_error(world->venues[0]);
    if (status.ok) status = fill_space(world);
    if (status.ok)
        *out = world;
    else
        facet_gate_world_destroy(world);
    return status;
}

void facet_gate_world_destroy(FacetGateWorld *world)
{
    if (!world) return;
    for (int i = 0; i < world->venue_count; i++) facet_venue_destroy(world->venues[i]);
    free(world->venues);
    facet_factor_space_destroy(world->space);
    free(world);
}

const FacetVenue *facet_gate_venue(const FacetGateWorld *world, FacetFactorTask task)
{
    return world->venues[task.value[FACET_GATE_FACTOR_VENUE]];
}

FacetCourseGate facet_gate_target(const FacetGateWorld *world, FacetFactorTask task)
{
    FacetCourseGate gate =
        *facet_venue_gate(facet_gate_venue(world, task), task.value[FACET_GATE_FACTOR_GATE]);
    if (task.value[FACET_GATE_FACTOR_SIDE] == 1) gate.normal = vec3_scale(gate.normal, -1.0);
    return gate;
}

bool facet_gate_passed(double *miss, const FacetCourseGate *gate, double half_width,
                       FacetVec3 before, FacetVec3 after)
{
    double fraction;
    if (!course_crossed(&fraction, gate, before, after)) return false;
    FacetVec3 off = vec3_sub(vec3_lerp(before, after, fraction), gate->center);
    FacetVec3 across =
        vec3_unit(vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal), vec3(0.0, 1.0, 0.0));
    FacetVec3 up = vec3_cross(gate->normal, across);
    *miss = vec3_norm(off);
    return fabs(vec3_dot(off, across)) <= half_width && fabs(vec3_dot(off, up)) <= half_width;
}

// ---- Trials -------------------------------------------------------------------------------------

#define HEIGHT_MIN 0.8 // m, of a spawn above the ground

static FacetQuadState draw_spawn(const FacetGateWorld *world, const FacetCourseGate *gate,
                                 FacetRng *rng)
{
    FacetVec3 pos;
    double yaw;
    double distance = rng_range(rng, world->distance_min, world->distance_max);
    double azimuth = rng_range(rng, -world->azimuth_max, world->azimuth_max);
    double rise = rng_range(rng, -world->rise_max, world->rise_max);
    double turn = rng_range(rng, -world->heading_error, world->heading_error);
    rise = greater(rise, HEIGHT_MIN - gate->center.z);
    // The distance is to the centre, so a spawn above or below it is nearer in the plane.
    double level = sqrt(greater(distance * distance - rise * rise, 0.0));
    facet_camera_stand(&pos, &yaw, gate, 1, level, azimuth);
    pos.z += rise;
    return facet_quad_hover(&world->model, pos, yaw + turn);
}

static bool in_frame(const FacetGateWorld *world, const FacetQuadState *state, FacetVec3 point)
{
    double u, v;
    return facet_camera_project(&u, &v, &world->camera, state->pos_world, state->attitude, point) &&
           u >= 0.0 && u < world->camera.width && v >= 0.0 && v < world->camera.height;
}

// Whether the expert's way from a position to 1 m behind the gate keeps clear of everything.
static bool way_is_free(const FacetVenue *venue, const FacetCourseGate *gate, FacetVec3 pos)
{
    enum { POINTS = 96 }; // no more than 0.2 m apart
    FacetVec3 way[POINTS];
    approach_way(way, POINTS, gate, pos, 1.0);
    for (int i = 0; i < POINTS; i++)
        if (facet_venue_clearance(venue, way[i], FACET_GATE_WAY_RADIUS) < FACET_GATE_WAY_RADIUS)
            return false;
    return true;
}

uint64_t facet_gate_number(FacetGatePurpose purpose, uint64_t index)
{
    assert(purpose < FACET_GATE_PURPOSES && index >> GATE_INDEX_BITS == 0);
    return ((uint64_t)purpose << GATE_INDEX_BITS) + index;
}

FacetStatus facet_gate_trial(FacetGateTrial *trial, const FacetGateWorld *world,
                             FacetFactorTask task, uint64_t seed, uint64_t number)
{
    enum { TRIES = 1000 };
    if (!factor_task_complete(world->space, task))
        return status_fail(FACET_BAD_ARGUMENT,
                           "a trial: expected a task with a venue, a color, a gate and a side");
    *trial = (FacetGateTrial){.task = task, .seed = seed, .number = number};
    FacetCourseGate gate = facet_gate_target(world, task);
    FacetRng rng = rng_make(seed, gate_stream(number, GATE_STREAM_SPAWN));
    for (int i = 0; i < TRIES; i++) {
        trial->start = draw_spawn(world, &gate, &rng);
        if (in_frame(world, &trial->start, gate.center) &&
            way_is_free(facet_gate_venue(world, task), &gate, trial->start.pos_world))
            return status_ok();
    }
    char text[FACET_FACTOR_TASK_TEXT];
    facet_factor_task_format(text, world->space, task, FACET_FACTOR_STYLE_VALUES);
    return status_fail(FACET_BAD_FILE,
                       "%.100s: expected a start with a free way to the gate, found none in %d "
                       "tries",
                       text, TRIES);
}

void facet_gate_paint(FacetCameraShot *shot, const FacetGateWorld *world,
                      const FacetGateTrial *trial)
{
    const int *value = trial->task.value;
    facet_camera_paint(shot, facet_gate_venue(world, trial->task), value[FACET_GATE_FACTOR_GATE],
                       value[FACET_GATE_FACTOR_COLOR], trial->seed,
                       gate_stream(trial->number, GATE_STREAM_COLORS));
}
