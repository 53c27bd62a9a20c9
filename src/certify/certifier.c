// The certificate of one plan, and the tube (see facet/certify.h).
#include "certify/ltv.h"
#include "certify/path.h"
#include "policy/parts.h"

#include <stdlib.h>

struct Certifier {
    const Policy *policy;
    PathTracer *tracer;
    const DenoisingPath *path; // of the last plan
    double *log_norm;          // [steps + 1]
    double *scratch;
};

Status certify_check_policy(const Policy *policy)
{
    const char *method = policy_method_name(policy->method);
    if (policy->method == POLICY_KNET)
        return status_fail("a %s policy has no network that sees several factors, so there is no "
                           "joint score to measure its composition against",
                           method);
    if (policy->method == POLICY_BASELINE || policy->net->config.factors == 0)
        return status_fail("a %s policy is shown no factors, so there is nothing composed to "
                           "certify",
                           method);
    if (policy->encoder)
        return status_fail("a policy that sees has no certificate without a frame");
    return status_ok();
}

Status certifier_create(Certifier **certifier, const Policy *policy, int steps, ThreadPool *pool)
{
    *certifier = NULL;
    TRY(certify_check_policy(policy));
    Certifier *c = calloc(1, sizeof *c);
    if (!c) return status_fail("out of memory for a certificate");
    c->policy = policy;
    Status status = path_tracer_create(&c->tracer, policy, steps, pool);
    if (status.ok) {
        c->log_norm = calloc((size_t)steps + 1, sizeof *c->log_norm);
        c->scratch =
            calloc(ltv_scratch(policy_horizon(policy) * policy_dim(policy)), sizeof *c->scratch);
        if (!c->log_norm || !c->scratch) status = status_fail("out of memory for a certificate");
    }
    if (!status.ok) {
        certifier_destroy(c);
        return status;
    }
    *certifier = c;
    return status_ok();
}

void certifier_destroy(Certifier *certifier)
{
    if (!certifier) return;
    path_tracer_destroy(certifier->tracer);
    free(certifier->log_norm);
    free(certifier->scratch);
    free(certifier);
}

Status certifier_plan(PlanCertificate *certificate, Certifier *c, FactorTask task, uint64_t seed,
                      Progress *progress)
{
    TRY(path_trace(&c->path, c->tracer, task, seed, progress));
    const DenoisingPath *path = c->path;
    int steps = path->steps, n = path->size;
    ltv_log_norms(c->log_norm, path->transition, c->scratch, steps, n);
    *certificate = (PlanCertificate){
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
    return status_ok();
}

void certifier_actions(double *actions, const Certifier *c)
{
    const DenoisingPath *path = c->path;
    normalizer_invert(actions, c->policy->normalizer,
                      path->nominal + (size_t)path->steps * path->size,
                      (size_t)policy_horizon(c->policy));
}

const DenoisingPath *certifier_path(const Certifier *certifier) { return certifier->path; }

// ---- The tube -----------------------------------------------------------------------------------

TubeConstants tube_paper_constants(void) { return (TubeConstants){0.9, 0.05, 0.01}; }

double tube_radius(TubeConstants constants, double command)
{
    if (!(constants.lambda < 1.0)) return INFINITY;
    return (constants.b_kappa * command + constants.w) / (1.0 - constants.lambda);
}
