// The gates of one certified plan, repaired or raw: at its own speed and slower.
//
// The first order is trusted to a quarter, so what a certificate states is not R_g but the bound
// 1.25 R_g: errors that move the crossing by a few percent more than R_g are found easily. A gate
// is certified when the allowed errors cannot fold the path, trusted to a quarter as well, miss +
// bound + disturbance < half-width, the flight differs from its first order by at most a quarter in
// the bound's own directions, and an attack (certify/attack.h) finds no shift beyond the bound.
#ifndef FACET_CERTIFY_GATES_H
#define FACET_CERTIFY_GATES_H

#include "base/progress.h"
#include "certify/attack.h"
#include "certify/study.h"

// The share by which the first order may be off: in the bound's own directions, in the bound, and
// in the fold.
#define GATES_TRUST 0.25

// What became of a gate: the first test that it fails, or that is still to come.
typedef enum GateFinding {
    GATE_FOLDS,      // 1.25 fold >= 1
    GATE_TIGHT,      // miss + bound >= limit: no room, even in still air
    GATE_UNPROBED,   // its probe is NaN
    GATE_BENT,       // probe > 0.25
    GATE_UNATTACKED, // its attack is NaN
    GATE_BROKEN,     // the attack found a shift beyond the bound
    GATE_STILL,      // certified in still air, with no room for the disturbance
    GATE_CERTIFIED,
} GateFinding;

// The rules of a certificate, on the gate's miss, bound, disturbance, probe and attack and the
// path's fold. `limit` is the half-width, m; 0 for a gate without a slope to rest on.
GateFinding gate_find(const GateRecord *gate, double fold, double limit);

// Puts gate `index` of the target to the test: the probe and then the attack, where its opening has
// room for the bound and its slope at two steps is one. Fills probe, attack and whether it is
// certified; `rows` [steps][2][128] is scratch.
FacetStatus gate_test(GateRecord *gate, AttackRunner *runner, const AttackTarget *target, int index,
                      double fold, double *rows);

// The plan with every crossing near its centre at a pace, which is what a certificate has the most
// room with: the path is repaired, and the speeds stay those of the plan, bit for bit. *shift is
// the largest of a keypoint, m. `progress` may be NULL.
FacetStatus gates_centre(double *shift, FacetKeypoint out[FACET_CHUNK_KEYPOINTS],
                         const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                         FacetCourseTask task, double pace, const FacetProgress *progress);

// Fills what depends on the flight of the record's plan, whose path is `path`: its gates at its own
// speed and slower, repaired if the options say so, and the closed loop along the raw plan.
FacetStatus gates_certify(CertifyRecord *record, const DenoisingPath *path,
                          const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], AttackRunner *runner,
                          const FacetRace *race, const FacetPolicy *policy,
                          const CertifyOptions *options, Progress *progress);

#endif
