// Courses beyond facet/course.h: the referee and the crash check.
#ifndef FACET_COURSE_COURSE_H
#define FACET_COURSE_COURSE_H

#include <facet/course.h>

// Reads one track against the gates of a course.
FacetStatus track_load(FacetTrack *track, const char *file, const FacetCourse *course);

// Whether the motion crosses the gate's plane along its normal, and where in [0, 1].
bool course_crossed(double *fraction, const FacetCourseGate *gate, FacetVec3 before,
                    FacetVec3 after);

// A plane crossed farther from the centre than this is not an attempt at the gate.
#define PASSAGE_CAPTURE_RADIUS 2.5 // m

FacetReferee referee_make(const FacetTrack *track, double half_width);

// Looks at the motion from one position to the next over [time, time + step].
void referee_watch(FacetReferee *referee, FacetVec3 before, FacetVec3 after, double time,
                   double step);

int referee_passed(const FacetReferee *referee);

FacetCrashKind crash_check(const FacetArena *arena, const FacetQuadState *state);

#endif
