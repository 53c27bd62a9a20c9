// The product of a path's steps against central differences of the sampler, in double.
#ifndef FACET_TESTS_CERTIFY_CHAIN_H
#define FACET_TESTS_CERTIFY_CHAIN_H

#include "certify/path.h"
#include "linalg/gemm.h"
#include "policy/policies.h"

#include <math.h>

static inline double largest(const double *a, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i]));
    return most;
}

// The sampler goes the path's steps in double, in this context (NULL for none).
static inline void assert_product_is_jacobian(const DenoisingPath *path, Sampler *sampler,
                                              const SamplerPlan *plan, const int *z,
                                              const double *context, FacetPool *pool)
{
    enum { N = TINY_SIZE };
    double phi[N * N], next[N * N];
    assert_int_equal(path->size, N);
    for (int i = 0; i < N * N; i++) phi[i] = i / N == i % N;
    for (int k = 0; k < path->steps; k++) {
        linalg_gemm_reference_f64(next, N, GEMM_PLAIN, path->transition + (size_t)k * N * N, N,
                                  GEMM_PLAIN, phi, N, N, N, N, 0.0);
        memcpy(phi, next, sizeof phi);
    }
    for (int column = 0; column < N; column++) {
        double ends[2][N];
        for (int side = 0; side < 2; side++) {
            memcpy(ends[side], path->nominal, sizeof ends[side]);
            ends[side][column] += side ? -1e-5 : 1e-5;
            assert_ok(sampler_run(ends[side], NULL, sampler, plan, COMPOSE_FACTORS, NULL, z,
                                  context, 1, pool));
        }
        for (int i = 0; i < N; i++)
            assert_near(phi[i * N + column], (ends[0][i] - ends[1][i]) / 2e-5,
                        1e-4 * largest(phi, N * N));
    }
}

#endif
