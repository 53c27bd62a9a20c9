// How long the Jacobians of a denoising step take: those of the three branches of a composed score,
// 128 x 128 each, at one action.
//
// Beside it stand the same Jacobians by tangents along every axis, which do not use that the
// network is local in time, and the forward pass they all share; the contenders take turns and the
// medians are compared. Usage: jacobian [threads] [rounds]
#include "bench.h"
#include "certify/score_jacobian.h"
#include "certify/score_tangent.h"
#include "diffusion/sampler.h"
#include "train/optim.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 100, BRANCHES = 3 };

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (rounds < 1 || rounds > ROUNDS_MAX) rounds = 5;
    ScoreNetConfig shape = score_net_default();
    shape.factors = 2, shape.values[0] = 8, shape.values[1] = 3;
    FacetPool *pool;
    ScoreNet *net;
    Sampler *sampler;
    ScoreJacobian *jacobian;
    ScoreTangent *tangent;
    must(facet_pool_create(&pool, threads));
    threads = facet_pool_threads(pool);
    must(score_net_create(&net, shape));
    must(sampler_create(&sampler, net, 1, threads));
    must(score_jacobian_create(&jacobian, net, BRANCHES, threads));
    int size = shape.horizon * shape.dim, directions = BRANCHES * size;
    must(score_tangent_create(&tangent, net, BRANCHES, directions));

    size_t square = (size_t)size * size;
    float *params = calloc(net->table.size, sizeof *params), *x = calloc((size_t)size, sizeof *x);
    float *p = calloc((size_t)size, sizeof *p), *out = calloc(BRANCHES * square, sizeof *out);
    float *axes = calloc(BRANCHES * square, sizeof *axes);
    float *columns = calloc(BRANCHES * square, sizeof *columns);
    int *row_of = calloc((size_t)directions, sizeof *row_of);
    if (!params || !x || !p || !out || !axes || !columns || !row_of)
        must(status_fail(FACET_NO_MEMORY, "out of memory"));
    tensor_init(params, &net->table, 1);
    const Tensor *head = tensor_find(&net->table, "out.weight"); // it begins at zero
    for (size_t i = 0; i < head->size; i++) params[head->offset + i] = 0.02f * sinf((float)i);
    sampler_load(sampler, params, pool);
    sampler_noise(x, 1, 0, size);
    for (int d = 0; d < directions; d++) {
        row_of[d] = d / size;
        axes[(size_t)d * size + d % size] = 1.0f;
    }

    const int z[2] = {1, 1};
    double forward[ROUNDS_MAX], windows[ROUNDS_MAX], tangents[ROUNDS_MAX];
    for (int i = -1; i < rounds; i++) { // the first round warms up
        int slot = i < 0 ? 0 : i;
        double t0 = wall_seconds();
        sampler_predict(p, sampler, x, 50, COMPOSE_FACTORS, NULL, z, NULL, 1, pool);
        double t1 = wall_seconds();
        score_jacobian(out, jacobian, sampler_work(sampler), pool, NULL);
        double t2 = wall_seconds();
        score_tangent(columns, tangent, sampler_work(sampler), axes, row_of, directions, pool);
        double t3 = wall_seconds();
        forward[slot] = t1 - t0, windows[slot] = t2 - t1, tangents[slot] = t3 - t2;
    }
    double gap = 0.0;
    for (int r = 0; r < BRANCHES; r++)
        for (int i = 0; i < size; i++)
            for (int j = 0; j < size; j++) {
                double a = (double)out[((size_t)r * size + i) * size + j];
                double b = (double)columns[((size_t)r * size + j) * size + i];
                gap = fmax(gap, fabs(a - b));
            }
    double once = median(forward, rounds), ours = median(windows, rounds);
    double full = median(tangents, rounds);
    printf("forward pass        %8.1f ms, %d branches on %d threads\n", once * 1e3, BRANCHES,
           threads);
    printf("jacobians           %8.1f ms, %d of %d x %d\n", ours * 1e3, BRANCHES, size, size);
    printf("by all tangents     %8.1f ms, %.2f times as long, largest difference %.1e\n",
           full * 1e3, full / ours, gap);

    score_tangent_free(tangent);
    score_jacobian_free(jacobian);
    sampler_free(sampler);
    score_net_free(net);
    facet_pool_destroy(pool);
    free(params);
    free(x);
    free(p);
    free(out);
    free(axes);
    free(columns);
    free(row_of);
    return 0;
}
