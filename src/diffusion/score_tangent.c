// Directional derivatives of the score network with respect to its noisy input (see
// diffusion/score_pass.h). Many directions share one linearisation: the slopes of the rows of the
// last forward pass are computed once, and the directions go through the convolutions as a batch.
#include "diffusion/score_work.h"

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

Status score_tangent_create(ScoreTangent **out, const ScoreNet *net, int rows, int directions)
{
    assert(rows > 0 && directions > 0);
    *out = NULL;
    const ScoreNetConfig *c = &net->config;
    ScoreTangent *k = calloc(1, sizeof *k);
    if (!k) return status_fail("out of memory for tangents");
    k->net = net;
    k->rows = rows;
    k->directions = directions;
    k->shards = (directions + TANGENT_SHARD - 1) / TANGENT_SHARD;
    size_t channels = (size_t)c->channels, dim = (size_t)c->dim;
    size_t slopes = (size_t)rows * (2 * c->blocks + 1) * c->horizon * channels;
    size_t seq = (size_t)k->shards * seq_rows(TANGENT_SHARD, c->horizon);
    size_t size = slopes + seq * (2 * dim + 3 * channels);
    k->memory = calloc(size, sizeof *k->memory);
    if (!k->memory) {
        score_tangent_free(k);
        return status_fail("out of memory for %d tangents of %d rows", directions, rows);
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
    const ScoreWork *work;
    const Real *tx;
    Real *tout;
    const int *row_of;
    int directions;
} TangentPass;

// The slopes of unit u (the head is the last unit) at row r.
static Real *slope_of(const ScoreTangent *k, int r, int u)
{
    const ScoreNetConfig *c = &k->net->config;
    return k->slope + ((size_t)r * (2 * c->blocks + 1) + u) * c->horizon * c->channels;
}

static void slope_task(void *context, int r, int worker)
{
    (void)worker;
    const TangentPass *pass = context;
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    size_t at = work_sample(w, r) * c->channels;
    for (int u = 0; u < 2 * c->blocks; u++) {
        const Real *film = w->film + ((size_t)r * c->blocks + u / 2) * 2 * c->channels;
        epilogue_slope(slope_of(pass->tangent, r, u), w->hat[u] + at, unit_params(w, u),
                       u % 2 ? NULL : film, c->horizon, c->channels);
    }
    epilogue_slope(slope_of(pass->tangent, r, 2 * c->blocks), w->head_hat + at, head_params(w),
                   NULL, c->horizon, c->channels);
}

// The epilogue of unit u for the n directions of shard s: th from tu, both seqs of the shard.
static void unit_tangent(const TangentPass *pass, Real *th, Real *tu, int u, const Real *hat,
                         const Real *residual, int s, int n)
{
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    for (int d = 0; d < n; d++) {
        int r = pass->row_of[s * TANGENT_SHARD + d];
        size_t at = seq_start(d, c->horizon) * c->channels;
        epilogue_tangent(th + at, tu + at, slope_of(pass->tangent, r, u),
                         hat + work_sample(w, r) * c->channels, w->rstd[u] + (size_t)r * c->horizon,
                         residual ? residual + at : NULL, c->horizon, c->channels);
    }
    seq_clear_gaps(th, n, c->horizon, c->channels);
}

static void tangent_shard(void *context, int s, int worker)
{
    (void)worker;
    const TangentPass *pass = context;
    const ScoreTangent *k = pass->tangent;
    const ScoreWork *w = pass->work;
    const ScoreNet *net = k->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params;
    int time = c->horizon, channels = c->channels, dim = c->dim;
    int left = pass->directions - s * TANGENT_SHARD;
    int n = left < TANGENT_SHARD ? left : TANGENT_SHARD;
    int inner = (int)seq_rows(n, time) - 1;
    size_t base = (size_t)s * seq_rows(TANGENT_SHARD, time);
    size_t dense = (size_t)s * TANGENT_SHARD * time * dim;
    Real *x = k->x + base * dim, *out = k->out + base * dim;
    Real *stream = k->stream + base * channels, *mid = k->mid + base * channels;
    Real *conv = k->conv + base * channels;

    seq_pack(x, pass->tx + dense, n, time, dim);
    conv1d_tangent(stream, x, params + net->in_weight, n, time, dim, channels);
    for (int u = 0; u < 2 * c->blocks; u += 2) {
        conv1d_rows(conv, stream, w->pack[u], 1, inner, channels, channels, false);
        unit_tangent(pass, mid, conv, u, w->hat[u], NULL, s, n);
        conv1d_rows(conv, mid, w->pack[u + 1], 1, inner, channels, channels, false);
        unit_tangent(pass, stream, conv, u + 1, w->hat[u + 1], stream, s, n);
    }
    unit_tangent(pass, mid, stream, 2 * c->blocks, w->head_hat, NULL, s, n);
    conv1d_tangent(out, mid, params + net->out_weight, n, time, channels, dim);
    seq_unpack(pass->tout + dense, out, n, time, dim);
}

void score_tangent(Real *tout, ScoreTangent *tangent, const ScoreWork *work, const Real *tx,
                   const int *row_of, int directions, ThreadPool *pool)
{
    assert(directions > 0 && directions <= tangent->directions && work->rows <= tangent->rows);
    for (int d = 0; d < directions; d++) assert(row_of[d] >= 0 && row_of[d] < work->rows);
    TangentPass pass = {tangent, work, tx, tout, row_of, directions};
    pool_for(pool, work->rows, slope_task, &pass);
    pool_for(pool, (directions + TANGENT_SHARD - 1) / TANGENT_SHARD, tangent_shard, &pass);
}
