// What a whole study of certificates comes to (see certify/summary.h).
#include "certify/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double bound_value(FacetCertifyBound bound) { return bound.step < 0 ? bound.value : nan(""); }

double command_bound(double growth, double eps_s) { return growth * eps_s; }

double factored_change(double eps_d, const double *lipschitz, int changed)
{
    double sum = eps_d;
    for (int i = 0; i < changed; i++) sum += lipschitz[i];
    return sum;
}

double joint_change(double joint, int changed) { return joint * sqrt(changed); }

static void describe_bound(char out[RECORD_FAILURE], const char *name, FacetCertifyBound bound,
                           int steps)
{
    if (bound.step < 0 || out[0]) return;
    snprintf(out, RECORD_FAILURE, "not certified: %s is not finite at step %d of %d", name,
             bound.step + 1, steps);
}

void record_failure(char out[RECORD_FAILURE], const CertifyRecord *record)
{
    out[0] = '\0';
    if (record->failure[0]) snprintf(out, RECORD_FAILURE, "not certified: %.190s", record->failure);
    describe_bound(out, "C_LTV", record->plan.ltv, record->steps);
    describe_bound(out, "C_ode", record->plan.ode, record->steps);
}

double crossing_used(const GateRecord *gate)
{
    return gate->miss + gate->bound + gate->disturbance;
}

int gates_tightest(const GateRecord *gates, int count)
{
    int tightest = 0;
    for (int g = 0; g < count; g++) {
        double used = crossing_used(&gates[g]);
        if (!isfinite(used)) return g;
        if (used > crossing_used(&gates[tightest])) tightest = g;
    }
    return tightest;
}

FacetTubeConstants study_constants(const CertifyStudy *study, const CertifyOptions *options)
{
    int count = options->task_count;
    ClosedLoop *loops = calloc((size_t)count + 1, sizeof *loops);
    FacetTubeConstants worst = {1.0, nan(""), nan("")};
    for (int t = 0; loops && t < count; t++)
        loops[t] = certify_study_record(study, options->tasks[t], options->steps, 0)->loop;
    if (loops) worst = closed_loop_worst(loops, count);
    free(loops);
    return worst;
}

InteractionReport products_worst(const ExactProducts *products)
{
    InteractionReport worst = {.holds = true};
    for (int i = 0; i < products->count; i++) {
        const InteractionReport *report = &products->product[i].report;
        worst.g = fmax(worst.g, report->g);
        worst.m = fmax(worst.m, report->m);
        worst.bound = fmax(worst.bound, report->bound);
        worst.max_gap = fmax(worst.max_gap, report->max_gap);
        worst.worst_ratio = fmax(worst.worst_ratio, report->worst_ratio);
        worst.holds = worst.holds && report->holds;
    }
    return worst;
}
