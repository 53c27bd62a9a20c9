// The single-gate study as a report shows it, read from the document of facet gate (docs/json.md).
//
// What is missing or broken is left out, with a note that names the field. The texts are those of
// the report's own copy of the document.
#ifndef FACET_REPORT_GATE_STUDY_H
#define FACET_REPORT_GATE_STUDY_H

#include "report/input.h"

#include <facet_study/gate.h>

#define STUDY_RATE 10.0 // samples of a flight a second
enum { STUDY_FRAMES = 3 };

typedef struct StudyGate {
    const char *name;
    FacetVec3 center, normal;
} StudyGate;

typedef struct StudyFlight {
    int venue, gate;
    const char *color, *side;
    FacetGateEnd end;
    double duration; // s, or NaN
    int samples;
    FacetVec3 *path; // [samples]
} StudyFlight;

typedef struct StudyVenue {
    const char *name;
    bool held_out;
    FacetGateTally counts;            // 0 trials when it is not known
    int shown;                        // the flight with frames, or -1
    double times[STUDY_FRAMES];       // s
    const char *frames[STUDY_FRAMES]; // PNG files in base64
} StudyVenue;

typedef struct GateStudy {
    double half_width; // m, of the openings
    int venue_count, gate_count, flight_count;
    StudyVenue *venues;
    StudyGate *gates;
    StudyFlight *flights;
} GateStudy;

// Reads the document that the report has. NULL when there is none, or none with venues.
GateStudy *gate_study_read(Report *report);
void gate_study_free(GateStudy *study);

// Counts of an object's member with the members trials, success, crash and timeout, and their
// intervals; 0 trials when it is not there.
FacetGateTally study_counts(Report *report, const JsonRef *object, const char *key);

// The same of the object itself, or what is wrong with it.
FacetStatus study_read_counts(FacetGateTally *out, const JsonRef *at);

// The flights of a venue that are in the document, by how they ended.
FacetGateTally study_flown(const GateStudy *study, int venue);

// Where a flight is at a time; it has samples.
FacetVec3 study_position(const StudyFlight *flight, double time);

// "gate-pool": the id of a venue's figure. It has the venue's number when its name is no plain
// word.
enum { STUDY_ID = 64 };
void study_figure_id(char out[STUDY_ID], const GateStudy *study, int venue);

#endif
