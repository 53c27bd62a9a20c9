// Courses: gates in an arena, tracks through them, openings, and what counts as passed or crashed.
//
// A course is a folder of JSON files: course.json has the arena, the common gates, the openings,
// the range of speeds and the held-out pairs; every other file is a track. docs/courses.md shows
// how to add one.
#ifndef FACET_COURSE_H
#define FACET_COURSE_H

#include <facet/math.h>
#include <facet/quad.h>
#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { COURSE_NAME_MAX = 32, TRACK_GATES_MAX = 32, TRACK_POINTS_MAX = 64 };

typedef struct Gate {
    char name[COURSE_NAME_MAX];
    Vec3 center; // m
    Vec3 normal; // unit, the direction of passage
} Gate;

typedef struct Opening {
    char name[COURSE_NAME_MAX];
    double half_width; // m
} Opening;

typedef struct Track {
    char name[COURSE_NAME_MAX];
    char description[80];
    int point_count;
    Vec3 points[TRACK_POINTS_MAX]; // m, the whole path: start, gates and turning points, finish
    int gate_count;
    Gate gates[TRACK_GATES_MAX]; // in the order they are flown, normals along the flight
} Track;

typedef struct Arena {
    Vec3 min, max; // m; the ground is the lower z
} Arena;

typedef struct CourseTask {
    int track, opening; // indices into the course
} CourseTask;

typedef struct Course {
    Arena arena;
    double speed_min, speed_max; // m/s, the range the expert searches
    int gate_count, opening_count, track_count, held_out_count;
    Gate *gates;
    Opening *openings;
    Track *tracks;
    CourseTask *held_out;
} Course;

// Reads a folder. NULL takes the courses that ship with Facet.
Status course_load(Course **course, const char *folder);
void course_destroy(Course *course);

// Reads one track against the gates of a course.
Status track_load(Track *track, const char *file, const Course *course);

// Index of a name; the message of a failure names the nearest and all known ones.
Status course_find_track(int *track, const Course *course, const char *name);
Status course_find_opening(int *opening, const Course *course, const char *name);
Status course_find_task(CourseTask *task, const Course *course, const char *name); // "race4/wide"
bool course_is_held_out(const Course *course, CourseTask task);

// ---- Passage ----------------------------------------------------------------------------------

typedef struct GateResult {
    bool crossed; // its plane was crossed near the gate, in the right direction
    bool passed;  // and within the half-width
    double miss;  // m from the centre at the crossing, or the least distance if never crossed
    double time;  // s, of the crossing
    double speed; // m/s, at the crossing
} GateResult;

// Whether the motion crosses the gate's plane along its normal, and where in [0, 1].
bool gate_crossed(double *fraction, const Gate *gate, Vec3 before, Vec3 after);

// Follows one flight past the gates of one track.
typedef struct Referee {
    const Track *track;
    double half_width;
    int next; // gate to be crossed next
    GateResult gates[TRACK_GATES_MAX];
} Referee;

// A plane crossed farther from the centre than this is not an attempt at the gate.
#define GATE_CAPTURE_RADIUS 2.5 // m

Referee referee_make(const Track *track, double half_width);

// Looks at the motion from one position to the next over [time, time + step].
void referee_watch(Referee *referee, Vec3 before, Vec3 after, double time, double step);

int referee_passed(const Referee *referee);

// ---- Crashes ----------------------------------------------------------------------------------

typedef enum CrashKind {
    CRASH_NONE,
    CRASH_GROUND,
    CRASH_BOUNDS,
    CRASH_ATTITUDE,  // tilted past 120 degrees
    CRASH_NONFINITE, // a state that is not a number
} CrashKind;

CrashKind crash_check(const Arena *arena, const QuadState *state);
const char *crash_name(CrashKind kind);

#ifdef __cplusplus
}
#endif

#endif
