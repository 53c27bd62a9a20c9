// The gates of one certified plan, repaired or raw: at its own speed and slower.
//
// The first order is trusted to a quarter, so what a certificate states is not R_g but the bound
// 1.25 R_g: errors that move the crossing by a few percent more than R_g are found easily. A gate
// is certified when the allowed errors cannot fold the path, miss + bound + disturbance <
// half-width, the flight differs from its first order by at most a quarter in the bound's own
// directions, and an attack (certify/attack.h) finds no shift beyond the bound.
#ifndef FACET_CERTIFY_GATES_H
#define FACET_CERTIFY_GATES_H

#include "base/progress.h"
#include "certify/attack.h"
#include "certify/study.h"

// The share by which the first order may be off: in the bound's own directions, and in the bound.
#define GATES_TRUST 0.25

// Fills what depends on the flight of the record's plan, whose path is `path`: its gates at its own
// speed and slower, repaired if the options say so, and the closed loop along the raw plan.
FacetStatus gates_certify(CertifyRecord *record, const DenoisingPath *path,
                          const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], AttackRunner *runner,
                          const FacetRace *race, const FacetPolicy *policy,
                          const CertifyOptions *options, Progress *progress);

#endif
