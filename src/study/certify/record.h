// The results of a study of certificates, one record a (task, steps, turn), and the file they wait
// in until the study is complete.
#ifndef FACET_CERTIFY_RECORD_H
#define FACET_CERTIFY_RECORD_H

#include "base/json.h"
#include "certify/closed_loop.h"
#include "certify/crossing.h"

#include <facet_study/certify.h>

// What is certified of one gate (certify/crossing.h).
typedef struct GateRecord {
    bool crossed;         // by the nominal flight
    double miss;          // m, of the nominal flight
    double radius;        // m, R_g; not finite when the gate has no slope
    double disturbance;   // m, the largest shift seen in gusts
    double reach;         // m, the farthest crossing to first order, without the disturbance
    double slope;         // ||S_g||_2, m a normalised unit
    double probe;         // gap of the first order in the bound's own directions; NaN: not probed
    double bound;         // m, what the certificate states (certify/gates.h)
    double attack;        // the largest shift found over the bound; NaN: not attacked
    bool formula;         // miss + radius + disturbance < half-width
    bool certified;       // as certify/gates.h has it
    bool certified_still; // the same without the disturbance
} GateRecord;

// The certificate of the same plan flown slower: its speeds are exactly the plan's own times the
// pace, its path is the plan's or that repaired at the pace. A slower flight cuts corners less and
// is less sensitive.
typedef struct PaceRecord {
    double pace;  // the highest tried at which every gate is certified; 0 when there is none
    double time;  // s, to the last gate at that pace
    double shift; // m, the repair's largest of a keypoint at that pace; 0 without one
    double fold;  // as CertifyRecord has it
    GateRecord gates[FACET_TRACK_GATES_MAX]; // at that pace
    CrossingCheck check;
} PaceRecord;

typedef struct CertifyRecord {
    FacetCourseTask task;
    int steps;
    int turn;          // of the study's seeds: its seed is the first one + turn
    char failure[200]; // why there is no certificate at all; empty when there is one
    FacetPlanCertificate plan;
    double tube;    // m, largest distance at equal times of the flights of the composed and the
                    // joint plan; of first seeds only, NaN for the others
    int gate_count; // 0 unless this record has its flight certified: what follows
    GateRecord gates[FACET_TRACK_GATES_MAX];
    double fold; // how much allowed errors change a segment along itself, over its length: the most
    double shift;        // m, the repair's largest of a keypoint at the own speed; 0 without one
    CrossingCheck check; // of the gates' slopes, on changes as long as the plan's own bound
    PaceRecord paced;
    ClosedLoop loop;
} CertifyRecord;

// Whether every gate is certified, and there is one.
bool gates_certified(const GateRecord *gates, int count);

// A record as JSON; the course gives the names.
Json *json_from_record(const CertifyRecord *record, const FacetCourse *course);

Json *json_from_check(const CrossingCheck *check);
Json *json_from_loop(const ClosedLoop *loop);

// The records waiting in a file. `key` names what they are results of; a file of something else is
// refused, a file that is not there holds none. *records is allocated, and freed by the caller.
FacetStatus records_read(CertifyRecord **records, int *count, const char *path, const char *key,
                         const FacetCourse *course);
FacetStatus records_write(const char *path, const char *key, const CertifyRecord *records,
                          int count, const FacetCourse *course);

#endif
