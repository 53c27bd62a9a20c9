// Directional derivatives of the score network with respect to its noisy input (see
// diffusion/score_pass.h). Many directions share one linearisation: the slopes of the rows of the
// last forward pass are computed once, and the directions go through the convolutions as a batch.
#include "certify/score_tangent.h"
#include "certify/score_linear.h"
#include "nn/reference_layers.h"

#include <assert.h>
#include <stdlib.h>

enum { TANGENT_SHARD = 8 }; // directions that go through the network together

struct ScoreTangent {
    const ScoreNet *net;
    int rows, directions, shards;
    Real *memory;
    Real *slope;               // [rows][2 blocks + 1][T][C]
    Real *x, *out;             // [shards][seq of D]
    Real *stream, *mid, *conv; // [shards][seq of C]
};

FacetStatus score_tangent_create(ScoreTangent **out, const ScoreNet *net, int rows, int directions)
{
    assert(rows > 0 && directions > 0);
    *out = NULL;
    const ScoreNetConfig *c = &net->config;
    ScoreTangent *k = calloc(1, sizeof *k);
    if (!k) return status_fail(FACET_NO_MEMORY, "out of memory for tangents");
    k->net = net;
    k->rows = rows;
    k->directions = directions;
    k->shards = (directions + TANGENT_SHARD - 1) / TANGENT_SHARD;
    size_t channels = (size_t)c->channels, dim = (size_t)c->dim;
    size_t slopes = score_slopes_size(net, rows);
    size_t seq = (size_t)k->shards * seq_rows(TANGENT_SHARD, c->horizon);
    size_t size = slopes + seq * (2 * dim + 3 * channels);
    k->memory = calloc(size, sizeof *k->memory);
    if (!k->memory) {
        score_tangent_free(k);
        return status_fail(FACET_NO_MEMORY, "out of memory for %d tangents of %d rows", directions,
                           rows);
    }
    k->slope = k->memory;
    k->x = k->slope + slopes;
    k->out = k->x + seq * dim;
    k->stream = k->out + seq * dim;
    k->mid = k->stream + seq * channels;
    k->conv = k->mid + seq * channels;
    *out = k;
    return status_ok();
}

void score_tangent_free(ScoreTangent *tangent)
{
    if (!tangent) return;
    free(tangent->memory);
    free(tangent);
}

typedef struct TangentPass {
    ScoreTangent *tangent;
    ScoreLinear linear;
    const Real *tx;
    Real *tout;
    const int *row_of;
    int directions;
} TangentPass;

static void tangent_shard(void *context, int s, int worker)
{
    (void)worker;
    const TangentPass *pass = context;
    const ScoreTangent *k = pass->tangent;
    const ScoreLinear *linear = &pass->linear;
    const ScoreWork *w = linear->work;
    const ScoreNet *net = k->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params;
    int time = c->horizon, channels = c->channels, dim = c->dim;
    int left = pass->directions - s * TANGENT_SHARD;
    int n = left < TANGENT_SHARD ? left : TANGENT_SHARD;
    size_t base = (size_t)s * seq_rows(TANGENT_SHARD, time);
    size_t dense = (size_t)s * TANGENT_SHARD * time * dim;
    Real *x = k->x + base * dim, *out = k->out + base * dim;
    Real *stream = k->stream + base * channels, *mid = k->mid + base * channels;
    Real *conv = k->conv + base * channels;
    const int *row_of = pass->row_of + s * TANGENT_SHARD;
    const Window all = {0, time};

    seq_pack(x, pass->tx + dense, n, time, dim);
    conv1d_tangent(stream, x, params + net->in_weight, n, time, dim, channels);
    for (int u = 0; u < 2 * c->blocks; u += 2) {
        int dilation = score_dilation(c, u);
        conv1d_dilated(conv, stream, params + net->units[u].weight, n, time, dilation, channels,
                       channels);
        score_unit_tangent(mid, conv, linear, u, NULL, row_of, n, all);
        conv1d_dilated(conv, mid, params + net->units[u + 1].weight, n, time, dilation, channels,
                       channels);
        score_unit_tangent(stream, conv, linear, u + 1, stream, row_of, n, all);
    }
    score_unit_tangent(mid, stream, linear, 2 * c->blocks, NULL, row_of, n, all);
    conv1d_tangent(out, mid, params + net->out_weight, n, time, channels, dim);
    seq_unpack(pass->tout + dense, out, n, time, dim);
}

void score_tangent(Real *tout, ScoreTangent *tangent, const ScoreWork *work, const Real *tx,
                   const int *row_of, int directions, FacetPool *pool)
{
    assert(directions > 0 && directions <= tangent->directions && work->rows <= tangent->rows);
    for (int d = 0; d < directions; d++) assert(row_of[d] >= 0 && row_of[d] < work->rows);
    TangentPass pass = {tangent, {work, tangent->slope}, tx, tout, row_of, directions};
    score_linearise(&pass.linear, pool);
    pool_for(pool, (directions + TANGENT_SHARD - 1) / TANGENT_SHARD, tangent_shard, &pass);
}
