// Shapes as four-sided surfaces: boxes, rectangles, cylinders and cones, balls, and gates.
#include "camera/scene.h"

#include <stdlib.h>

enum { ROUND_SIDES = 10, BALL_RINGS = 5 };

static FacetVec3 place_point(const Placement *place, FacetVec3 local)
{
    double c = cos(place->yaw), s = sin(place->yaw), k = place->scale;
    return vec3_add(place->at, vec3(k * (c * local.x - s * local.y),
                                    k * (s * local.x + c * local.y), k * local.z));
}

Placement placement_inside(const Placement *outer, const Placement *inner)
{
    return (Placement){.at = place_point(outer, inner->at),
                       .yaw = outer->yaw + inner->yaw,
                       .scale = outer->scale * inner->scale};
}

static bool grow(Mesh *mesh)
{
    if (mesh->quads < mesh->capacity) return true;
    int capacity = mesh->capacity ? 2 * mesh->capacity : 256;
    Point *corners = realloc(mesh->corners, (size_t)capacity * 4 * sizeof *corners);
    if (corners) mesh->corners = corners;
    uint8_t *material = realloc(mesh->material, (size_t)capacity);
    if (material) mesh->material = material;
    if (!corners || !material) return false;
    mesh->capacity = capacity;
    return true;
}

void mesh_free(Mesh *mesh)
{
    free(mesh->corners);
    free(mesh->material);
    *mesh = (Mesh){0};
}

static bool add_quad(Mesh *mesh, const Placement *place, FacetVec3 a, FacetVec3 b, FacetVec3 c,
                     FacetVec3 d, int material)
{
    if (!grow(mesh)) return false;
    const FacetVec3 local[4] = {a, b, c, d};
    for (int k = 0; k < 4; k++) {
        FacetVec3 p = place_point(place, local[k]);
        mesh->corners[4 * mesh->quads + k] = (Point){(float)p.x, (float)p.y, (float)p.z};
    }
    mesh->material[mesh->quads++] = (uint8_t)material;
    return true;
}

bool mesh_add_rect(Mesh *mesh, const Placement *place, double width, double depth, int material)
{
    double x = 0.5 * width, y = 0.5 * depth;
    return add_quad(mesh, place, vec3(-x, -y, 0.0), vec3(x, -y, 0.0), vec3(x, y, 0.0),
                    vec3(-x, y, 0.0), material);
}

// Stands on the place, which is the middle of its underside.
bool mesh_add_box(Mesh *mesh, const Placement *place, FacetVec3 size, int material)
{
    FacetVec3 corner[8];
    for (int i = 0; i < 8; i++)
        corner[i] = vec3(i & 1 ? 0.5 * size.x : -0.5 * size.x, i & 2 ? 0.5 * size.y : -0.5 * size.y,
                         i & 4 ? size.z : 0.0);
    static const int faces[6][4] = {{0, 1, 3, 2}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 3, 7, 5}};
    for (int f = 0; f < 6; f++) {
        const int *k = faces[f];
        if (!add_quad(mesh, place, corner[k[0]], corner[k[1]], corner[k[2]], corner[k[3]],
                      material))
            return false;
    }
    return true;
}

static FacetVec3 round_point(int side, double radius_x, double radius_y, double z)
{
    double angle = 2.0 * FACET_PI * (side % ROUND_SIDES) / ROUND_SIDES;
    return vec3(radius_x * cos(angle), radius_y * sin(angle), z);
}

// A cone when top_radius is 0. The lids are fans of quads about the axis.
bool mesh_add_cylinder(Mesh *mesh, const Placement *place, double radius, double top_radius,
                       double height, int material)
{
    for (int i = 0; i < ROUND_SIDES; i++) {
        FacetVec3 a = round_point(i, radius, radius, 0.0),
                  b = round_point(i + 1, radius, radius, 0.0);
        FacetVec3 c = round_point(i + 1, top_radius, top_radius, height);
        FacetVec3 d = round_point(i, top_radius, top_radius, height);
        if (!add_quad(mesh, place, a, b, c, d, material)) return false;
    }
    for (int lid = 0; lid < 2; lid++) {
        double r = lid ? top_radius : radius, z = lid ? height : 0.0;
        if (r <= 0.0) continue;
        for (int i = 0; i < ROUND_SIDES; i += 2)
            if (!add_quad(mesh, place, vec3(0.0, 0.0, z), round_point(i, r, r, z),
                          round_point(i + 1, r, r, z), round_point(i + 2, r, r, z), material))
                return false;
    }
    return true;
}

// An ellipsoid of that size whose middle is the place.
bool mesh_add_ball(Mesh *mesh, const Placement *place, FacetVec3 size, int material)
{
    for (int ring = 0; ring < BALL_RINGS; ring++) {
        double low = FACET_PI * (ring / (double)BALL_RINGS - 0.5);
        double high = FACET_PI * ((ring + 1) / (double)BALL_RINGS - 0.5);
        for (int i = 0; i < ROUND_SIDES; i++) {
            double x = 0.5 * size.x, y = 0.5 * size.y, z = 0.5 * size.z;
            FacetVec3 a = round_point(i, x * cos(low), y * cos(low), z * sin(low));
            FacetVec3 b = round_point(i + 1, x * cos(low), y * cos(low), z * sin(low));
            FacetVec3 c = round_point(i + 1, x * cos(high), y * cos(high), z * sin(high));
            FacetVec3 d = round_point(i, x * cos(high), y * cos(high), z * sin(high));
            if (!add_quad(mesh, place, a, b, c, d, material)) return false;
        }
    }
    return true;
}

// A square frame around the opening, on two poles that reach the ground.
bool mesh_add_gate(Mesh *mesh, const FacetVenue *venue, int index, int pole_material)
{
    const FacetCourseGate *gate = &venue->gates[index];
    double half = venue->half_width, bar = venue->bar, thick = venue->thickness;
    // x runs along the normal, y across the opening.
    Placement whole = {.at = vec3(gate->center.x, gate->center.y, 0.0),
                       .yaw = atan2(gate->normal.y, gate->normal.x),
                       .scale = 1.0};
    double z = gate->center.z, outer = half + bar, across = half + 0.5 * bar;
    bool ok = true;
    for (int i = 0; i < 2 && ok; i++) {
        double sign = i ? 1.0 : -1.0, foot = z - outer;
        Placement upright = {.at = vec3(0.0, sign * across, foot), .scale = 1.0};
        Placement beam = {.at = vec3(0.0, 0.0, z + sign * across - 0.5 * bar), .scale = 1.0};
        Placement pole = {.at = vec3(0.0, sign * across, 0.0), .scale = 1.0};
        upright = placement_inside(&whole, &upright);
        beam = placement_inside(&whole, &beam);
        pole = placement_inside(&whole, &pole);
        ok = mesh_add_box(mesh, &upright, vec3(thick, bar, 2.0 * outer), index) &&
             mesh_add_box(mesh, &beam, vec3(thick, 2.0 * half, bar), index) &&
             (foot <= 0.0 ||
              mesh_add_box(mesh, &pole, vec3(0.4 * thick, 0.4 * thick, foot), pole_material));
    }
    return ok;
}
