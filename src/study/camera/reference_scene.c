// Ray queries without a tree: every ray against every surface, each quad as two triangles
// (Möller and Trumbore 1997), in double. The tests hold the fast tracer to it. Distances from a
// point to surfaces.
#include "camera/scene.h"

static FacetVec3 corner(const Mesh *mesh, int quad, int k)
{
    Point p = mesh->corners[4 * quad + k];
    return vec3((double)p.x, (double)p.y, (double)p.z);
}

// Where origin + t direction meets the triangle abc, or infinity.
static double meet(FacetVec3 origin, FacetVec3 direction, double near, FacetVec3 a, FacetVec3 b,
                   FacetVec3 c)
{
    FacetVec3 ab = vec3_sub(b, a), ac = vec3_sub(c, a), from_a = vec3_sub(origin, a);
    FacetVec3 p = vec3_cross(direction, ac), q = vec3_cross(from_a, ab);
    double det = vec3_dot(ab, p);
    if (det == 0.0) return (double)INFINITY; // along the plane, or no area
    double u = vec3_dot(from_a, p) / det, v = vec3_dot(direction, q) / det;
    double t = vec3_dot(ac, q) / det;
    return u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t >= near ? t : (double)INFINITY;
}

static void trace_one(Hits *hits, const Mesh *mesh, const Rays *rays, int lane)
{
    FacetVec3 origin = vec3((double)rays->origin.x[lane], (double)rays->origin.y[lane],
                            (double)rays->origin.z[lane]);
    FacetVec3 direction = vec3((double)rays->direction.x[lane], (double)rays->direction.y[lane],
                               (double)rays->direction.z[lane]);
    double near = (double)rays->near, nearest = (double)rays->far[lane];
    for (int quad = 0; quad < mesh->quads; quad++) {
        FacetVec3 a = corner(mesh, quad, 0), b = corner(mesh, quad, 1);
        FacetVec3 c = corner(mesh, quad, 2), d = corner(mesh, quad, 3);
        double first = meet(origin, direction, near, a, b, d),
               second = meet(origin, direction, near, c, d, b);
        double t = lesser(first, second);
        if (!(t < nearest)) continue;
        FacetVec3 normal = first <= second ? vec3_cross(vec3_sub(b, a), vec3_sub(d, a))
                                           : vec3_cross(vec3_sub(d, c), vec3_sub(b, c));
        nearest = t;
        hits->hit[lane] = -1;
        hits->quad[lane] = quad;
        hits->distance[lane] = (float)t;
        hits->normal.x[lane] = (float)normal.x;
        hits->normal.y[lane] = (float)normal.y;
        hits->normal.z[lane] = (float)normal.z;
    }
}

void mesh_trace(Hits *hits, const Mesh *mesh, const Rays *rays, int packets)
{
    for (int i = 0; i < packets; i++) {
        hits[i] = (Hits){.distance = rays[i].far, .normal.z = lanes(1.0f)};
        for (int lane = 0; lane < BATCH_LANES; lane++)
            if (rays[i].active[lane]) trace_one(&hits[i], mesh, &rays[i], lane);
    }
}

void mesh_blocked(LanesMask *blocked, const Mesh *mesh, const Rays *rays, int packets)
{
    Hits hits[PACKETS_MAX];
    mesh_trace(hits, mesh, rays, packets);
    for (int i = 0; i < packets; i++) blocked[i] = hits[i].hit;
}

// ---- Distances ----------------------------------------------------------------------------------

static double segment_distance(FacetVec3 p, FacetVec3 a, FacetVec3 b)
{
    FacetVec3 ab = vec3_sub(b, a), ap = vec3_sub(p, a);
    double square = vec3_dot(ab, ab);
    double t = square > 0.0 ? clamp(vec3_dot(ap, ab) / square, 0.0, 1.0) : 0.0;
    return vec3_norm(vec3_axpy(ap, -t, ab));
}

// To the plane where the foot of the perpendicular lies within the edges, else to the edges.
static double triangle_distance(FacetVec3 p, FacetVec3 a, FacetVec3 b, FacetVec3 c)
{
    FacetVec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
    double area = vec3_norm(normal);
    bool above = area > 0.0 &&
                 vec3_dot(normal, vec3_cross(vec3_sub(b, a), vec3_sub(p, a))) >= 0.0 &&
                 vec3_dot(normal, vec3_cross(vec3_sub(c, b), vec3_sub(p, b))) >= 0.0 &&
                 vec3_dot(normal, vec3_cross(vec3_sub(a, c), vec3_sub(p, c))) >= 0.0;
    if (above) return fabs(vec3_dot(normal, vec3_sub(p, a))) / area;
    return lesser(segment_distance(p, a, b),
                  lesser(segment_distance(p, b, c), segment_distance(p, c, a)));
}

double mesh_quad_distance(const Mesh *mesh, int quad, FacetVec3 point)
{
    FacetVec3 a = corner(mesh, quad, 0), b = corner(mesh, quad, 1);
    FacetVec3 c = corner(mesh, quad, 2), d = corner(mesh, quad, 3);
    return lesser(triangle_distance(point, a, b, d), triangle_distance(point, c, d, b));
}

double mesh_clearance(const Mesh *mesh, FacetVec3 point, double reach)
{
    for (int quad = 0; quad < mesh->quads; quad++)
        reach = lesser(reach, mesh_quad_distance(mesh, quad, point));
    return reach;
}
