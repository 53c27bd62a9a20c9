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

#include <facet/api.h>
#include <facet/course.h>
#include <facet/pool.h>
#include <facet/status.h>
#include <facet/types.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Venues -----------------------------------------------------------------------------------

enum { FACET_VENUE_GATES_MAX = 16, FACET_VENUE_COLORS_MAX = 16, FACET_VENUES_MAX = 64 };

typedef struct FacetVenue FacetVenue; // constant once loaded; any number of threads may draw it

// The names of the venues in a folder of courses, in natural order. NULL takes the courses that
// ship with Facet.
typedef struct FacetVenueNames {
    int count;
    char name[FACET_VENUES_MAX][FACET_COURSE_NAME_MAX];
} FacetVenueNames;

FACET_API FacetStatus facet_venue_names(FacetVenueNames *names, const char *courses);

// Loads the venue of that name; the message of a failure names the known ones, or the file and the
// field that is wrong.
FACET_API FacetStatus facet_venue_load(FacetVenue **venue, const char *courses, const char *name);
FACET_API void facet_venue_destroy(FacetVenue *venue);

FACET_API const char *facet_venue_name(const FacetVenue *venue);
FACET_API int facet_venue_gate_count(const FacetVenue *venue);
FACET_API const FacetCourseGate *facet_venue_gate(const FacetVenue *venue, int gate);
FACET_API double facet_venue_half_width(const FacetVenue *venue); // m, of a gate's opening
FACET_API int facet_venue_color_count(const FacetVenue *venue);
FACET_API const char *facet_venue_color_name(const FacetVenue *venue, int color);

// The most that a trial's start looks away from its gate, rad; 0 when the venues' file leaves it
// open.
FACET_API double facet_venue_heading_error(const FacetVenue *venue);

// Index of a name; the message of a failure names all known ones.
FACET_API FacetStatus facet_venue_find_gate(int *gate, const FacetVenue *venue, const char *name);
FACET_API FacetStatus facet_venue_find_color(int *color, const FacetVenue *venue, const char *name);

// Whether anything solid (a gate's frame, the ground, an obstacle) lies on the segment between two
// points.
FACET_API bool facet_venue_blocked(const FacetVenue *venue, FacetVec3 from_world,
                                   FacetVec3 to_world);

// The distance from a point to the nearest solid surface, m, or `reach` when none is nearer.
FACET_API double facet_venue_clearance(const FacetVenue *venue, FacetVec3 point_world,
                                       double reach);

// ---- The camera -------------------------------------------------------------------------------

typedef struct FacetCamera {
    int width, height;    // pixels
    double fov;           // rad, horizontal field of view
    double tilt;          // rad, of the optical axis above the body's x axis
    FacetVec3 mount_body; // m, the pinhole in the body's frame
    int samples;          // rays a pixel, at fixed places in it: 1, 2, 4 or 8
    double exposure;      // factor on the light; 1 suits the shipped venues
    double full_well;     // electrons of a white pixel, whose shot noise follows; 0 for none
    double read_noise;    // standard deviation of the read-out, white being 1
    bool reference;       // traces by trying every surface: slow, to check the fast one
} FacetCamera;

// 320x240, 90 degrees, tilted up by 15 degrees, one ray a pixel, with a small sensor's noise.
FACET_API FacetCamera facet_camera_default(void);

// What one frame shows.
typedef struct FacetCameraShot {
    FacetVec3 pos_world;                   // m, of the body
    FacetQuat attitude;                    // body to world
    uint8_t colors[FACET_VENUE_GATES_MAX]; // of each gate, an index into the venue's colours
    double time;                           // s, moves the water
    uint64_t look;         // 0: the venue as it is; else its colours, patterns and light
                           // are drawn from this number
    uint64_t seed, stream; // of the sensor's noise; give every frame a stream of its own
} FacetCameraShot;

// Paints one gate, and the others in other colours, each drawn from (seed, stream); or all in the
// same, where the venues' file says so.
FACET_API void facet_camera_paint(FacetCameraShot *shot, const FacetVenue *venue, int gate,
                                  int color, uint64_t seed, uint64_t stream);

// Draws a frame: height rows of width pixels of red, green and blue. With a pool its threads share
// the rows; without one (NULL) the calling thread draws alone. The bytes are the same either way.
FACET_API void facet_camera_render(uint8_t *rgb, const FacetCamera *camera, const FacetVenue *venue,
                                   const FacetCameraShot *shot, FacetPool *pool);

// Where a point of the world appears, in pixels; false when it is not in front of the camera.
FACET_API bool facet_camera_project(double *u, double *v, const FacetCamera *camera,
                                    FacetVec3 pos_world, FacetQuat attitude, FacetVec3 point_world);

// The body's pose at a gate: `distance` m away from its centre in the horizontal plane and
// `azimuth` rad off its axis, level and heading for the centre. Side +1 flies along the gate's
// normal, side -1 against it.
FACET_API void facet_camera_stand(FacetVec3 *pos_world, double *yaw, const FacetCourseGate *gate,
                                  int side, double distance, double azimuth);

#ifdef __cplusplus
}
#endif

#endif
