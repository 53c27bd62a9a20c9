// What a whole study of certificates comes to: numbers over its plans, gates and products.
#ifndef FACET_CERTIFY_SUMMARY_H
#define FACET_CERTIFY_SUMMARY_H

#include "certify/exact.h"
#include "certify/study.h"

// A bound where it holds, NaN where it stopped being finite.
double bound_value(FacetCertifyBound bound);

// C eps of Corollary "ss": how far an error of at most eps_s moves a plan when it grows by C.
double command_bound(double growth, double eps_s);

// Appendix D: how much the score changes with some of the factors. eps_D + sum L_i over those that
// change, and L_joint times the norm of a change of 1 in each.
double factored_change(double eps_d, const double *lipschitz, int changed);
double joint_change(double joint, int changed);

// "not certified: C_LTV is not finite at step 3 of 50", or an empty text.
enum { RECORD_FAILURE = 240 };
void record_failure(char out[RECORD_FAILURE], const CertifyRecord *record);

// What a crossing uses of the half-width: miss, bound and disturbance, m.
double crossing_used(const GateRecord *gate);

// The gate that uses the most, or the first one of which that is not finite.
int gates_tightest(const GateRecord *gates, int count);

// Closed-loop constants that hold along the plan of every task with these steps and the first seed;
// not finite when there is none that contracts.
FacetTubeConstants study_constants(const CertifyStudy *study, const CertifyOptions *options);

// The greatest of each number over the products, and whether Theorem 1 held on all.
InteractionReport products_worst(const ExactProducts *products);

#endif
