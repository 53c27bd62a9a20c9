// What a venue is made of once it is loaded: surfaces, their materials, the light and the sky.
//
// Light is linear, white being 1. Colours in the files are as a picture shows them and become light
// by squaring, which undoes the sensor's square-root response.
#ifndef FACET_CAMERA_SCENE_H
#define FACET_CAMERA_SCENE_H

#include "math/lanes.h"

#include <facet_study/camera.h>

// ---- Surfaces -----------------------------------------------------------------------------------

typedef struct Point {
    float x, y, z;
} Point;

// Four-sided surfaces, seen from both sides. A triangle repeats its last corner.
typedef struct Mesh {
    int quads, capacity;
    Point *corners;    // [quads][4], round the edge
    uint8_t *material; // [quads]
} Mesh;

// Eight rays, and what they meet first. Tracers take several packets at once, and are fastest when
// those run side by side.
enum { PACKETS_MAX = 8 };

typedef struct Rays {
    Lanes3 origin, direction; // m, unit
    float near;               // m, nothing before is met, so that a surface does not meet itself
    Lanes far;                // m, nothing beyond is met
    Lanes travelled;          // m, from the camera to the origin
    LanesMask active;
} Rays;

typedef struct Hits {
    Lanes distance; // m
    Lanes3 normal;  // along the surface's normal, of any length and sign; up where not hit
    LanesMask hit;  // of the active ones
    int32_t quad[BATCH_LANES]; // 0 where not hit
} Hits;

// The fast tracer: Embree stands behind embree_scene.c alone.
typedef struct EmbreeScene EmbreeScene;
FacetStatus embree_create(EmbreeScene **scene, const Mesh *mesh);
void embree_destroy(EmbreeScene *scene);
void embree_trace(Hits *hits, const EmbreeScene *scene, const Rays *rays, int packets);
void embree_blocked(LanesMask *blocked, const EmbreeScene *scene, const Rays *rays, int packets);
double embree_clearance(const EmbreeScene *scene, const Mesh *mesh, FacetVec3 point, double reach);

// The plain one, which tries every surface.
void mesh_trace(Hits *hits, const Mesh *mesh, const Rays *rays, int packets);
void mesh_blocked(LanesMask *blocked, const Mesh *mesh, const Rays *rays, int packets);
double mesh_clearance(const Mesh *mesh, FacetVec3 point, double reach);

// The distance from a point to one surface, m.
double mesh_quad_distance(const Mesh *mesh, int quad, FacetVec3 point);

// ---- Materials ----------------------------------------------------------------------------------

typedef enum Pattern {
    PATTERN_PLAIN,   // the first colour
    PATTERN_NOISE,   // patches between the first two
    PATTERN_GRASS,   // blades and patches of the first two, worn places of the third
    PATTERN_TILES,   // tiles between the first two, joints of the third
    PATTERN_BRICKS,  // the same in shifted rows
    PATTERN_STRIPES, // the first two in turn
    PATTERN_RIBS,    // the first two in waves, as corrugated sheet
    PATTERN_FACADE,  // walls of the first, windows of the second with frames of the third
    PATTERN_WATER,   // waves above tiles
    PATTERN_COUNT,
} Pattern;

// The first materials are the gates', one each, whose colours a frame chooses.
enum { MATERIALS_MAX = 48 + FACET_VENUE_GATES_MAX };

typedef struct Material {
    char name[FACET_COURSE_NAME_MAX];
    Pattern pattern;
    float color[3][3]; // light
    float scale[2];    // m, of the pattern along the surface and up
    float joint;       // m, width of joints
    float slant;       // of stripes: metres along for each metre up
    float variation;   // 0..1, unevenness of the colour
    float mirror;      // 0..1, share of light reflected head-on
    float emit;        // light it gives off, as a factor on its colour
    bool unshaded;     // always in the sun: saves the look for what might cast a shadow on it
    float lanes;       // m, between the dark lines under water; 0 for none
    float depth;       // m, of water
    float wave_height; // m
    float wave_length; // m
} Material;

// ---- Light --------------------------------------------------------------------------------------

typedef struct Sky {
    float zenith[3], horizon[3];
    float cloud[3], cloud_shade[3]; // their bright and dark parts
    float cover;                    // 0..1, share of the sky under clouds
    float cloud_scale;              // size of a cloud over its height
} Sky;

typedef struct Light {
    float sun_direction[3];   // unit, towards the sun
    float sun_color[3];       // light on a surface that faces it
    float softness;           // radius of the sun over its distance: 0 for sharp shadows
    float reach;              // m, things farther from a place cast no shadow on it
    float above[3], below[3]; // light from all round, on surfaces that face up and down
    float haze[3];
    float haze_distance; // m at which half of what is seen is haze; infinite for none
} Light;

typedef struct GateColor {
    char name[FACET_COURSE_NAME_MAX];
    float color[3]; // light
} GateColor;

// What can change from one frame to another without moving anything.
typedef struct Look {
    int material_count;
    Material materials[MATERIALS_MAX];
    Sky sky;
    Light light;
} Look;

// Other colours, patterns and light, drawn from a number: materials from `first` on are changed.
void look_redraw(Look *look, int first, uint64_t number);

struct FacetVenue {
    char name[FACET_COURSE_NAME_MAX];
    Look look;
    int gate_count, color_count;
    FacetCourseGate gates[FACET_VENUE_GATES_MAX];
    GateColor colors[FACET_VENUE_COLORS_MAX];
    double half_width, bar, thickness; // m, of the opening, and of the frame around it
    bool one_color;                    // all gates wear the colour of the one that is painted
    double heading_error;              // rad, or 0 when the file does not say
    Mesh mesh;
    EmbreeScene *tracer;
};

// ---- Building the surfaces ----------------------------------------------------------------------

// Where a shape stands: turned about z, scaled, moved.
typedef struct Placement {
    FacetVec3 at;
    double yaw, scale;
} Placement;

Placement placement_inside(const Placement *outer, const Placement *inner);

// Each returns false when memory runs out.
bool mesh_add_box(Mesh *mesh, const Placement *place, FacetVec3 size, int material);
bool mesh_add_rect(Mesh *mesh, const Placement *place, double width, double depth, int material);
bool mesh_add_cylinder(Mesh *mesh, const Placement *place, double radius, double top_radius,
                       double height, int material);
bool mesh_add_ball(Mesh *mesh, const Placement *place, FacetVec3 size, int material);
bool mesh_add_gate(Mesh *mesh, const FacetVenue *venue, int index, int pole_material);
void mesh_free(Mesh *mesh);

// Reads the two files of a venue and builds its surfaces.
FacetStatus venue_parse_common(FacetVenue *venue, const char *file);

// Where the first of them says that the others are, from its own folder; "" when it does not.
FacetStatus venue_parse_scenes(char *out, int size, const char *file);
FacetStatus venue_parse(FacetVenue *venue, const char *file);

// ---- Shading ------------------------------------------------------------------------------------

// What stays the same over one frame.
typedef struct Frame {
    const FacetVenue *venue;
    const Look *look;
    bool reference;
    float pixel; // rad, the width of one
    float time;  // s
} Frame;

// The light that comes back along the rays of at most PACKETS_MAX packets. `part`, 0..7, is the
// place on the disc of a wide sun that lane 0 looks at.
void shade(Lanes3 *light, const Frame *frame, const Rays *rays, int part, int packets);

// The colour of a material at points p with unit normals n that face the viewer; `foot` is the
// width in metres that a pixel covers there.
void material_color(Lanes3 *color, const Material *material, const Lanes3 *p, const Lanes3 *n,
                    const Lanes *foot);

// Normals of moving water, and the light from below its surface seen along `direction`.
void water_normal(Lanes3 *normal, const Material *material, const Lanes3 *p, const Lanes *foot,
                  float time);
void water_color(Lanes3 *color, const Material *material, const Lanes3 *p, const Lanes3 *n,
                 const Lanes3 *direction, const Lanes *foot, float time);

void sky_color(Lanes3 *color, const Sky *sky, const Light *light, const Lanes3 *direction);

// ---- The sensor ---------------------------------------------------------------------------------

// Three numbers of mean 0 and variance 1 a lane, nearly normal, from the block (seed, stream,
// pixel) of the counter-based generator.
void sensor_noise(Lanes3 *noise, uint64_t seed, uint64_t stream, const LanesMask *pixel);

#endif
