// The certificate of one plan, and the tube (see facet_study/certify.h).
#include "certify/ltv.h"
#include "certify/path.h"
#include "paper/paper.h"
#include "policy/parts.h"

#include <assert.h>
#include <stdlib.h>

struct FacetCertifier {
    const FacetPolicy *policy;
    PathTracer *tracer;
    const DenoisingPath *path; // of the last plan
    double *log_norm;          // [steps + 1]
    double *scratch;
};

FacetStatus certify_check_policy(const FacetPolicy *policy)
{
    const char *method = facet_policy_method_name(policy->method);
    if (policy->method == FACET_POLICY_KNET)
        return status_fail(FACET_NOT_FOUND,
                           "a %s policy has no network that sees several factors, so there is no "
                           "joint score to measure its composition against",
                           method);
    if (policy->method == FACET_POLICY_BASELINE || policy->net->config.factors == 0)
        return status_fail(FACET_NOT_FOUND,
                           "a %s policy is shown no factors, so there is nothing composed to "
                           "certify",
                           method);
    return status_ok();
}

FacetStatus certify_check_blind(const FacetPolicy *policy)
{
    TRY(certify_check_policy(policy));
    if (policy->observe)
        return status_fail(FACET_NOT_FOUND,
                           "a policy that takes observations has no certificate without them");
    return status_ok();
}

FacetStatus facet_certifier_create(FacetCertifier **certifier, const FacetPolicy *policy, int steps,
                                   FacetPool *pool)
{
    *certifier = NULL;
    TRY(certify_check_policy(policy));
    FacetCertifier *c = calloc(1, sizeof *c);
    if (!c) return status_fail(FACET_NO_MEMORY, "out of memory for a certificate");
    c->policy = policy;
    FacetStatus status = path_tracer_create(&c->tracer, policy, steps, pool);
    if (status.ok) {
        c->log_norm = calloc((size_t)steps + 1, sizeof *c->log_norm);
        c->scratch =
            calloc(ltv_scratch(policy_horizon(policy) * policy_dim(policy)), sizeof *c->scratch);
        if (!c->log_norm || !c->scratch)
            status = status_fail(FACET_NO_MEMORY, "out of memory for a certificate");
    }
    if (!status.ok) {
        facet_certifier_destroy(c);
        return status;
    }
    *certifier = c;
    return status_ok();
}

void facet_certifier_destroy(FacetCertifier *certifier)
{
    if (!certifier) return;
    path_tracer_destroy(certifier->tracer);
    free(certifier->log_norm);
    free(certifier->scratch);
    free(certifier);
}

FacetStatus facet_certifier_look(FacetCertifier *certifier, const uint8_t *frame)
{
    return path_look(certifier->tracer, frame);
}

// The bounds of the path traced last.
static void certify_path(FacetPlanCertificate *certificate, FacetCertifier *c)
{
    const DenoisingPath *path = c->path;
    int steps = path->steps, n = path->size;
    ltv_log_norms(c->log_norm, path->transition, c->scratch, steps, n);
    *certificate = (FacetPlanCertificate){
        .steps = steps,
        .ltv = ltv_bound(path->step, c->log_norm, steps),
        .ode = gronwall_integral(path->step, steps),
        .product = gronwall_product(path->step, steps),
        .path = ltv_path_bound(path->step, c->log_norm, steps),
        .linear = ltv_linear(path, c->scratch),
    };
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double gap = path->nominal[(size_t)steps * n + i] - path->joint_end[i];
        sum += gap * gap;
    }
    certificate->actual = sqrt(sum);
    for (int k = 0; k < steps; k++)
        certificate->eps_s = fmax(certificate->eps_s, path->step[k].mismatch);
    certificate->amplification =
        certificate->eps_s > 0.0 ? certificate->actual / certificate->eps_s : 0.0;
}

FacetStatus facet_certifier_plan(FacetPlanCertificate *certificate, FacetCertifier *c,
                                 FacetFactorTask task, uint64_t seed, const FacetProgress *progress)
{
    TRY(path_trace(&c->path, c->tracer, task, seed, progress));
    certify_path(certificate, c);
    return status_ok();
}

FacetStatus facet_certifier_plan_from(FacetPlanCertificate *certificate, FacetCertifier *c,
                                      FacetFactorTask task, uint64_t seed, uint64_t number,
                                      const FacetProgress *progress)
{
    TRY(path_trace_from(&c->path, c->tracer, task, seed, number, progress));
    certify_path(certificate, c);
    return status_ok();
}

// ---- The plan last certified --------------------------------------------------------------------

// Its end in normalised units.
static const double *plan_end(const DenoisingPath *path)
{
    return path->nominal + (size_t)path->steps * path->size;
}

void facet_certifier_actions(double *actions, const FacetCertifier *c)
{
    normalizer_invert(actions, c->policy->normalizer, plan_end(c->path),
                      (size_t)policy_horizon(c->policy));
}

void facet_certifier_joint_actions(double *actions, const FacetCertifier *c)
{
    normalizer_invert(actions, c->policy->normalizer, c->path->joint_end,
                      (size_t)policy_horizon(c->policy));
}

FacetCertifyBound facet_certifier_row_bound(FacetCertifier *c, int row)
{
    int dim = policy_dim(c->policy);
    assert(row >= 0 && row < policy_horizon(c->policy));
    return ltv_rows_bound(c->path, c->scratch, row * dim, dim);
}

double facet_certifier_row_reach(const FacetCertifier *c, int row, double radius)
{
    const Normalizer *normalizer = c->policy->normalizer;
    int dim = policy_dim(c->policy);
    const double *y = plan_end(c->path) + (size_t)row * dim;
    double clip = c->policy->clip, steepest = 0.0;
    for (int i = 0; i < dim; i++) {
        double low = y[i] - radius, high = y[i] + radius;
        if (!isfinite(low) || !isfinite(high)) return INFINITY;
        if (clip > 0.0 && (low < -clip || high > clip)) return INFINITY;
        // The slope is constant, or convex in y: it is largest at an end.
        steepest = fmax(steepest, fmax(normalizer_slope(normalizer, i, low),
                                       normalizer_slope(normalizer, i, high)));
    }
    return steepest * radius;
}

const DenoisingPath *certifier_path(const FacetCertifier *certifier) { return certifier->path; }

// ---- The tube -----------------------------------------------------------------------------------

FacetTubeConstants facet_tube_paper_constants(void)
{
    return (FacetTubeConstants){paper_constants.lambda, paper_constants.b_kappa, paper_constants.w};
}

double facet_tube_radius(FacetTubeConstants constants, double command)
{
    if (!(constants.lambda < 1.0)) return INFINITY;
    return (constants.b_kappa * command + constants.w) / (1.0 - constants.lambda);
}
