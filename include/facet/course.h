// Courses: gates in an arena, tracks through them, openings, and what counts as passed or crashed.
//
// A course is a folder of JSON files: course.json has the arena, the common gates, the openings,
// the range of speeds and the held-out pairs; every other file is a track. docs/courses.md shows
// how to add one.
//
// Only facet_course_load allocates. A course is constant once loaded: any number of threads may
// read it, and all that points into it lives as long as it does.
#ifndef FACET_COURSE_H
#define FACET_COURSE_H

#include <facet/api.h>
#include <facet/quad.h>
#include <facet/status.h>
#include <facet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FACET_COURSE_NAME_MAX = 32, FACET_TRACK_GATES_MAX = 32, FACET_TRACK_POINTS_MAX = 64 };

typedef struct FacetCourseGate {
    char name[FACET_COURSE_NAME_MAX];
    FacetVec3 center; // m
    FacetVec3 normal; // unit, the direction of passage
} FacetCourseGate;

typedef struct FacetOpening {
    char name[FACET_COURSE_NAME_MAX];
    double half_width; // m
} FacetOpening;

typedef struct FacetTrack {
    char name[FACET_COURSE_NAME_MAX];
    char description[80];
    int point_count;
    FacetVec3 points[FACET_TRACK_POINTS_MAX]; // m, the whole path: start, gates and turning points,
                                              // finish
    int gate_count;
    FacetCourseGate
        gates[FACET_TRACK_GATES_MAX]; // in the order they are flown, normals along the flight
} FacetTrack;

typedef struct FacetArena {
    FacetVec3 min, max; // m; the ground is the lower z
} FacetArena;

typedef struct FacetCourseTask {
    int track, opening; // indices into the course
} FacetCourseTask;

typedef struct FacetCourse {
    FacetArena arena;
    double speed_min, speed_max; // m/s, the range the expert searches
    int gate_count, opening_count, track_count, held_out_count;
    FacetCourseGate *gates;
    FacetOpening *openings;
    FacetTrack *tracks;
    FacetCourseTask *held_out;
} FacetCourse;

// Reads a folder. NULL takes the courses that ship with Facet: those in the folder that the
// environment's FACET_DATA names, or above the program or the shared library, or where Facet is
// installed. A failure names the file and the field. Destroy accepts NULL.
FACET_API FacetStatus facet_course_load(FacetCourse **course, const char *folder);
FACET_API void facet_course_destroy(FacetCourse *course);

// Index of a name; the message of a failure names the nearest and all known ones.
FACET_API FacetStatus facet_course_find_track(int *track, const FacetCourse *course,
                                              const char *name);
FACET_API FacetStatus facet_course_find_opening(int *opening, const FacetCourse *course,
                                                const char *name);
FACET_API FacetStatus facet_course_find_task(FacetCourseTask *task, const FacetCourse *course,
                                             const char *name); // "race4/wide"
FACET_API bool facet_course_is_held_out(const FacetCourse *course, FacetCourseTask task);

// ---- Passage ----------------------------------------------------------------------------------

typedef struct FacetPassage {
    bool crossed; // its plane was crossed near the gate, in the right direction
    bool passed;  // and within the half-width
    double miss;  // m from the centre at the crossing, or the least distance if never crossed
    double time;  // s, of the crossing
    double speed; // m/s, at the crossing
    double at[2]; // m from the centre at the crossing, in the gate's plane: to the left and up as
                  // one flies through
} FacetPassage;

// Follows one flight past the gates of one track, which it points to.
typedef struct FacetReferee {
    const FacetTrack *track;
    double half_width; // m
    int next;          // gate to be crossed next
    FacetPassage gates[FACET_TRACK_GATES_MAX];
} FacetReferee;

// ---- Crashes ----------------------------------------------------------------------------------

typedef enum FacetCrashKind {
    FACET_CRASH_NONE,
    FACET_CRASH_GROUND,
    FACET_CRASH_BOUNDS,
    FACET_CRASH_ATTITUDE,  // tilted past 120 degrees
    FACET_CRASH_NONFINITE, // a state that is not a number
} FacetCrashKind;

FACET_API const char *facet_crash_name(FacetCrashKind kind); // "none", "ground", …

#ifdef __cplusplus
}
#endif

#endif
