// The onboard camera: a ray-traced pinhole in venues that are data.
//
// A venue is a JSON file of materials, light, things and clutter in courses/venues/; the gates,
// which stand at the same places in every venue, and their colours are in venues.json beside them.
// docs/camera.md shows how to add one.
//
// Frames: the body has x forward, y left, z up. The camera looks along the body's x axis, tilted up
// by Camera.tilt. Image coordinates (u, v) are in pixels from the top left corner, u to the right
// and v down; the centre of the first pixel is (0.5, 0.5).
#ifndef FACET_CAMERA_H
#define FACET_CAMERA_H

#include <facet/course.h>
#include <facet/math.h>
#include <facet/pool.h>
#include <facet/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Venues -----------------------------------------------------------------------------------

enum { VENUE_GATES_MAX = 16, VENUE_COLORS_MAX = 16, VENUES_MAX = 64 };

typedef struct Venue Venue; // constant once loaded; any number of threads may draw it

// The names of the venues in a folder of courses, in natural order. NULL takes the courses that
// ship with Facet.
typedef struct VenueNames {
    int count;
    char name[VENUES_MAX][COURSE_NAME_MAX];
} VenueNames;

Status venue_names(VenueNames *names, const char *courses);

// Loads the venue of that name; the message of a failure names the known ones, or the file and the
// field that is wrong.
Status venue_load(Venue **venue, const char *courses, const char *name);
void venue_destroy(Venue *venue);

const char *venue_name(const Venue *venue);
int venue_gate_count(const Venue *venue);
const Gate *venue_gate(const Venue *venue, int gate);
double venue_half_width(const Venue *venue); // m, of a gate's opening
int venue_color_count(const Venue *venue);
const char *venue_color_name(const Venue *venue, int color);

// Index of a name; the message of a failure names all known ones.
Status venue_find_gate(int *gate, const Venue *venue, const char *name);
Status venue_find_color(int *color, const Venue *venue, const char *name);

// Whether anything solid (a gate's frame, the ground, an obstacle) lies on the segment between two
// points.
bool venue_blocked(const Venue *venue, Vec3 from_world, Vec3 to_world);

// The distance from a point to the nearest solid surface, m, or `reach` when none is nearer.
double venue_clearance(const Venue *venue, Vec3 point_world, double reach);

// ---- The camera -------------------------------------------------------------------------------

typedef struct Camera {
    int width, height; // pixels
    double fov;        // rad, horizontal field of view
    double tilt;       // rad, of the optical axis above the body's x axis
    Vec3 mount_body;   // m, the pinhole in the body's frame
    int samples;       // rays a pixel, at fixed places in it: 1, 2, 4 or 8
    double exposure;   // factor on the light; 1 suits the shipped venues
    double full_well;  // electrons of a white pixel, whose shot noise follows; 0 for none
    double read_noise; // standard deviation of the read-out, white being 1
    bool reference;    // traces by trying every surface: slow, to check the fast one
} Camera;

// 320x240, 90 degrees, tilted up by 15 degrees, one ray a pixel, with a small sensor's noise.
Camera camera_default(void);

// What one frame shows.
typedef struct CameraShot {
    Vec3 pos_world;                  // m, of the body
    Quat attitude;                   // body to world
    uint8_t colors[VENUE_GATES_MAX]; // of each gate, an index into the venue's colours
    double time;                     // s, moves the water
    uint64_t look;                   // 0: the venue as it is; else its colours, patterns and light
                                     // are drawn from this number
    uint64_t seed, stream;           // of the sensor's noise; give every frame a stream of its own
} CameraShot;

// Paints one gate, and the others in other colours, each drawn from (seed, stream).
void camera_paint(CameraShot *shot, const Venue *venue, int gate, int color, uint64_t seed,
                  uint64_t stream);

// Draws a frame: height rows of width pixels of red, green and blue. With a pool its threads share
// the rows; without one (NULL) the calling thread draws alone. The bytes are the same either way.
void camera_render(uint8_t *rgb, const Camera *camera, const Venue *venue, const CameraShot *shot,
                   ThreadPool *pool);

// Where a point of the world appears, in pixels; false when it is not in front of the camera.
bool camera_project(double *u, double *v, const Camera *camera, Vec3 pos_world, Quat attitude,
                    Vec3 point_world);

// The body's pose at a gate: `distance` m away from its centre in the horizontal plane and
// `azimuth` rad off its axis, level and heading for the centre. Side +1 flies along the gate's
// normal, side -1 against it.
void camera_stand(Vec3 *pos_world, double *yaw, const Gate *gate, int side, double distance,
                  double azimuth);

#ifdef __cplusplus
}
#endif

#endif
