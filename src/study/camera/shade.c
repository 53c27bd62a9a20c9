// The light that comes back along a ray: sun with shadows, light from all round, mirrors, haze.
//
//   light = color (around(n) + sun visible max(0, n.l)) + emit color
//
// Water and polished surfaces mix in what a second ray sees in the mirrored direction: Schlick's
// share m + (1 - m)(1 - cos)^5 on water, a gentler rise towards grazing on solids.
#include "camera/scene.h"

// Nothing lies farther away.
#define FAR_AWAY 1e4f // m

// A ray that leaves a surface begins this far off it, and meets nothing nearer than this.
#define LIFT     2e-3f // m
#define RAY_NEAR 1e-3f // m

static void trace(Hits *hits, const Frame *frame, const Rays *rays, int packets)
{
    if (frame->reference)
        mesh_trace(hits, &frame->venue->mesh, rays, packets);
    else
        embree_trace(hits, frame->venue->tracer, rays, packets);
}

static void blocked(LanesMask *out, const Frame *frame, const Rays *rays, int packets)
{
    if (frame->reference)
        mesh_blocked(out, &frame->venue->mesh, rays, packets);
    else
        embree_blocked(out, frame->venue->tracer, rays, packets);
}

LANES_INLINE Lanes3 spread(const float v[3])
{
    return lanes3(lanes(v[0]), lanes(v[1]), lanes(v[2]));
}

LANES_INLINE Lanes3 normalized(Lanes3 v)
{
    return lanes3_scale(v, 1.0f / lanes_sqrt(lanes_max(lanes3_dot(v, v), lanes(1e-30f))));
}

// What the rays of a packet met, with everything that its light depends on.
typedef struct Surface {
    Lanes3 point, normal; // the normal is of unit length and faces the viewer
    Lanes3 color;
    Lanes emit;
    Lanes mirror; // share of the mirrored light
    Lanes sun;    // share of the sun's light that arrives
    LanesMask unshaded;
} Surface;

// The lanes of one material.
static void apply_material(Surface *s, const Frame *frame, int id, LanesMask mask, const Rays *rays,
                           const Lanes *foot)
{
    const Material *m = &frame->look->materials[id];
    Lanes3 color, normal = s->normal;
    if (m->pattern == PATTERN_WATER) {
        water_normal(&normal, m, &s->point, foot, frame->time);
        water_color(&color, m, &s->point, &normal, &rays->direction, foot, frame->time);
    } else {
        material_color(&color, m, &s->point, &s->normal, foot);
    }
    s->normal = lanes3_select(mask, normal, s->normal);
    s->color = lanes3_select(mask, color, s->color);
    s->emit = lanes_select(mask, lanes(m->emit), s->emit);
    if (m->unshaded || m->emit > 0.0f) s->unshaded |= mask;
    if (m->mirror <= 0.0f) return;
    Lanes graze = 1.0f + lanes3_dot(rays->direction, normal);
    graze = lanes_clamp(graze, lanes(0.0f), lanes(1.0f));
    Lanes fourth = graze * graze * graze * graze;
    Lanes share = m->pattern == PATTERN_WATER
                      ? m->mirror + (1.0f - m->mirror) * fourth * graze
                      : lanes_min(m->mirror * (1.0f + 4.0f * fourth), lanes(1.0f));
    s->mirror = lanes_select(mask, share, s->mirror);
}

// One vector at a time: a compiler fills the whole structure by a slow instruction.
LANES_INLINE void clear(Surface *s)
{
    const Lanes zero = lanes(0.0f);
    s->point = s->normal = s->color = lanes3(zero, zero, zero);
    s->emit = s->mirror = s->sun = zero;
    s->unshaded = (LanesMask){0};
}

// The material of each lane, -1 where nothing was met.
LANES_INLINE LanesMask materials_met(const Hits *hits, const uint8_t *material)
{
    const int32_t *quad = hits->quad;
    LanesMask id = {material[quad[0]], material[quad[1]], material[quad[2]], material[quad[3]],
                    material[quad[4]], material[quad[5]], material[quad[6]], material[quad[7]]};
    return id | ~hits->hit;
}

static void find_surface(Surface *s, const Frame *frame, const Rays *rays, const Hits *hits)
{
    clear(s);
    if (!lanes_bits(hits->hit)) return;
    Lanes distance = lanes_select(hits->hit, hits->distance, lanes(0.0f));
    s->point = lanes3_axpy(rays->origin, distance, rays->direction);
    Lanes3 normal = normalized(hits->normal);
    Lanes cosine = -lanes3_dot(normal, rays->direction);
    Lanes sign = lanes_select(cosine < 0.0f, lanes(-1.0f), lanes(1.0f));
    s->normal = lanes3_scale(normal, sign);
    // The mean of a pixel's width and of its length on a slanted surface.
    Lanes slant = lanes_sqrt(lanes_max(cosine * sign, lanes(0.02f)));
    Lanes foot = (rays->travelled + distance) * frame->pixel / slant;

    LanesMask id = materials_met(hits, frame->venue->mesh.material);
    for (unsigned left = lanes_bits(hits->hit); left;) {
        int32_t first = id[__builtin_ctz(left)];
        LanesMask mask = id == first;
        apply_material(s, frame, first, mask, rays, &foot);
        left &= ~lanes_bits(mask);
    }
    Lanes3 to_sun = spread(frame->look->light.sun_direction);
    s->sun = lanes_max(lanes3_dot(s->normal, to_sun), lanes(0.0f));
}

// The ways to eight places on the sun's disc, one a lane: where it is wide, neighbouring pixels see
// different parts of it, and so do the rays of one pixel. `part` is the place that lane 0 looks at.
LANES_INLINE Lanes3 ways_to_sun(const Light *light, int part)
{
    static const float ring[2][2 * BATCH_LANES] = {
        {0.35f, -0.86f, 0.61f, -0.24f, -0.56f, 0.93f, -0.33f, 0.10f, //
         0.35f, -0.86f, 0.61f, -0.24f, -0.56f, 0.93f, -0.33f, 0.10f},
        {0.20f, 0.31f, -0.69f, -0.52f, 0.78f, 0.12f, -0.90f, 0.86f, //
         0.20f, 0.31f, -0.69f, -0.52f, 0.78f, 0.12f, -0.90f, 0.86f},
    };
    Lanes3 sun = spread(light->sun_direction);
    if (light->softness <= 0.0f) return sun;
    Lanes ring_x = lanes_load(ring[0] + part), ring_y = lanes_load(ring[1] + part);
    const Lanes3 oblique = lanes3(lanes(0.36f), lanes(0.48f), lanes(0.8f));
    Lanes3 side = normalized(lanes3_cross(sun, oblique)), other = lanes3_cross(sun, side);
    Lanes3 way = lanes3_axpy(sun, light->softness * ring_x, side);
    return normalized(lanes3_axpy(way, light->softness * ring_y, other));
}

// What stands in the sun's way leaves the surface without its light.
static void cast_shadows(Surface *surfaces, const Frame *frame, const Hits *hits, int part,
                         int packets)
{
    const Light *light = &frame->look->light;
    const Lanes3 to_sun = ways_to_sun(light, part);
    Rays rays[PACKETS_MAX];
    LanesMask dark[PACKETS_MAX];
    int owner[PACKETS_MAX], count = 0;
    for (int i = 0; i < packets; i++) {
        const Surface *s = &surfaces[i];
        LanesMask active = hits[i].hit & (s->sun > 0.0f) & ~s->unshaded;
        if (!lanes_bits(active)) continue;
        rays[count] = (Rays){.origin = lanes3_axpy(s->point, lanes(LIFT), s->normal),
                             .direction = to_sun,
                             .near = RAY_NEAR,
                             .far = lanes(light->reach),
                             .active = active};
        owner[count++] = i;
    }
    if (count == 0) return;
    blocked(dark, frame, rays, count);
    for (int k = 0; k < count; k++) {
        Lanes *sun = &surfaces[owner[k]].sun;
        *sun = lanes_select(dark[k], lanes(0.0f), *sun);
    }
}

static void light_surface(Lanes3 *out, const Light *light, const Surface *s)
{
    Lanes3 around =
        lanes3_mix(spread(light->below), spread(light->above), 0.5f + 0.5f * s->normal.z);
    Lanes3 arriving = lanes3_axpy(around, s->sun, spread(light->sun_color));
    arriving = lanes3_add(arriving, lanes3(s->emit, s->emit, s->emit));
    *out = lanes3_mul(s->color, arriving);
}

static void aim_mirrored(Rays *mirrored, const Surface *s, const Rays *rays, const Hits *hits,
                         const LanesMask *active)
{
    Lanes along = -2.0f * lanes3_dot(rays->direction, s->normal);
    Lanes3 direction = lanes3_axpy(rays->direction, along, s->normal);
    // A wave may send it below the surface; the next wave would send it up again.
    LanesMask flat =
        lanes_abs(hits->normal.z) > 10.0f * (lanes_abs(hits->normal.x) + lanes_abs(hits->normal.y));
    direction.z = lanes_select(flat & (rays->direction.z < 0.0f),
                               lanes_max(lanes_abs(direction.z), lanes(0.01f)), direction.z);
    *mirrored = (Rays){.origin = lanes3_axpy(s->point, lanes(LIFT), s->normal),
                       .direction = normalized(direction),
                       .near = RAY_NEAR,
                       .far = lanes(FAR_AWAY),
                       .travelled = rays->travelled + hits->distance,
                       .active = *active};
}

// What lies between the camera and the surfaces, and beside them.
static void add_air(Lanes3 *out, const Frame *frame, const Rays *rays, const Hits *hits,
                    int packets)
{
    const Light *light = &frame->look->light;
    for (int i = 0; i < packets; i++) {
        Lanes way = rays[i].travelled + hits[i].distance;
        Lanes3 solid = lanes3_mix(out[i], spread(light->haze), way / (way + light->haze_distance));
        Lanes3 sky = solid;
        if (lanes_bits(rays[i].active & ~hits[i].hit))
            sky_color(&sky, &frame->look->sky, light, &rays[i].direction);
        out[i] = lanes3_select(hits[i].hit, solid, sky);
    }
}

// In a mirror everything is in the sun, and there are no mirrors.
static void shade_mirrored(Lanes3 *out, const Frame *frame, const Rays *rays, int packets)
{
    Hits hits[PACKETS_MAX];
    trace(hits, frame, rays, packets);
    for (int i = 0; i < packets; i++) {
        Surface surface;
        find_surface(&surface, frame, &rays[i], &hits[i]);
        light_surface(&out[i], &frame->look->light, &surface);
    }
    add_air(out, frame, rays, hits, packets);
}

static void mix_mirrored(Lanes3 *out, const Frame *frame, const Surface *surfaces, const Rays *rays,
                         const Hits *hits, int packets)
{
    Rays mirrored[PACKETS_MAX];
    Lanes3 seen[PACKETS_MAX];
    int owner[PACKETS_MAX], count = 0;
    for (int i = 0; i < packets; i++) {
        LanesMask active = hits[i].hit & (surfaces[i].mirror > 0.0f);
        if (!lanes_bits(active)) continue;
        aim_mirrored(&mirrored[count], &surfaces[i], &rays[i], &hits[i], &active);
        owner[count++] = i;
    }
    if (count == 0) return;
    shade_mirrored(seen, frame, mirrored, count);
    for (int k = 0; k < count; k++) {
        Lanes3 *to = &out[owner[k]];
        Lanes3 mixed = lanes3_mix(*to, seen[k], surfaces[owner[k]].mirror);
        *to = lanes3_select(mirrored[k].active, mixed, *to);
    }
}

void shade(Lanes3 *out, const Frame *frame, const Rays *rays, int part, int packets)
{
    const Light *light = &frame->look->light;
    Hits hits[PACKETS_MAX];
    Surface surfaces[PACKETS_MAX];
    trace(hits, frame, rays, packets);
    for (int i = 0; i < packets; i++) find_surface(&surfaces[i], frame, &rays[i], &hits[i]);
    if (light->reach > 0.0f) cast_shadows(surfaces, frame, hits, part, packets);
    for (int i = 0; i < packets; i++) light_surface(&out[i], light, &surfaces[i]);
    mix_mirrored(out, frame, surfaces, rays, hits, packets);
    add_air(out, frame, rays, hits, packets);
}
