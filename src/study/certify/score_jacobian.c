// Whole Jacobians of the score network (see diffusion/score_pass.h).
//
// The network is local in time: number d of step t reaches, through the stem and b blocks, only the
// steps within 1 + 2 b of t, or with dilations within 1 and twice their sum. The directions of one
// step (D numbers at every row) go through the network together, on a window of time that widens
// from block to block, and share the slopes of one forward pass. Steps far apart are never
// multiplied: for 8 blocks and 32 steps this saves almost half of the work. Each step is a task of
// its own and fills its own columns.
#include "certify/score_jacobian.h"

#include "certify/score_linear.h"

#include <assert.h>
#include <stdlib.h>

struct ScoreJacobian {
    const ScoreNet *net;
    int rows, threads;
    Real *memory;
    Real *slope;
    Real *scratch; // [threads][scratch_size]: four blocks of C and one of D, for rows D sequences,
                   // and that of winograd_conv
    size_t scratch_size;
    int *row_of; // [rows D]
};

FacetStatus score_jacobian_create(ScoreJacobian **out, const ScoreNet *net, int rows, int threads)
{
    assert(rows > 0 && threads > 0);
    *out = NULL;
    const ScoreNetConfig *c = &net->config;
    ScoreJacobian *k = calloc(1, sizeof *k);
    if (!k) return status_fail(FACET_NO_MEMORY, "out of memory for Jacobians");
    k->net = net;
    k->rows = rows;
    k->threads = threads;
    int directions = rows * c->dim;
    size_t slopes = score_slopes_size(net, rows), seq = seq_rows(directions, c->horizon);
    k->scratch_size =
        seq * (size_t)(4 * c->channels + c->dim) + winograd_scratch(c->channels, c->channels);
    k->memory = calloc(slopes + (size_t)threads * k->scratch_size, sizeof *k->memory);
    k->row_of = calloc((size_t)directions, sizeof *k->row_of);
    if (!k->memory || !k->row_of) {
        score_jacobian_free(k);
        return status_fail(FACET_NO_MEMORY, "out of memory for Jacobians of %d rows", rows);
    }
    k->slope = k->memory;
    k->scratch = k->slope + slopes;
    for (int d = 0; d < directions; d++) k->row_of[d] = d / c->dim;
    *out = k;
    return status_ok();
}

void score_jacobian_free(ScoreJacobian *jacobian)
{
    if (!jacobian) return;
    free(jacobian->memory);
    free(jacobian->row_of);
    free(jacobian);
}

static Window window_around(int t, int reach, int time)
{
    int first = t > reach ? t - reach : 0, end = t + reach + 1;
    return (Window){first, (end < time ? end : time) - first};
}

// Copies n sequences into a wider window, with zeros where it is new.
static void widen(Real *wide, Window to, const Real *narrow, Window from, int n, int channels)
{
    memset(wide, 0, seq_rows(n, to.count) * (size_t)channels * sizeof *wide);
    for (int d = 0; d < n; d++)
        memcpy(wide + (seq_start(d, to.count) + (size_t)(from.first - to.first)) * channels,
               narrow + seq_start(d, from.count) * channels,
               (size_t)from.count * channels * sizeof *wide);
}

typedef struct JacobianPass {
    ScoreJacobian *jacobian;
    ScoreLinear linear;
    Real *out; // [rows][T D][T D]
    Progress *progress;
} JacobianPass;

// The stem along number d of step t is a column of its kernel: tap k carries it to t + 1 - k.
static void stem_columns(Real *stream, const Real *weight, Window window, int t, int rows, int dim,
                         int channels)
{
    memset(stream, 0, seq_rows(rows * dim, window.count) * (size_t)channels * sizeof *stream);
    for (int n = 0; n < rows * dim; n++)
        for (int k = 0; k < 3; k++) {
            int at = t + 1 - k - window.first;
            if (at < 0 || at >= window.count) continue;
            memcpy(stream + (seq_start(n, window.count) + (size_t)at) * channels,
                   weight + ((size_t)k * dim + n % dim) * channels,
                   (size_t)channels * sizeof *stream);
        }
}

// Columns t D, ..., t D + D - 1 of every row's Jacobian, from the n outputs on their window.
static void store_columns(Real *out, const Real *tangents, Window window, int t, int n, int time,
                          int dim)
{
    int size = time * dim;
    for (int d = 0; d < n; d++) {
        Real *column = out + (size_t)(d / dim) * size * size + t * dim + d % dim;
        const Real *tangent = tangents + seq_start(d, window.count) * dim;
        for (int i = 0; i < size; i++) {
            int at = i - window.first * dim;
            bool inside = at >= 0 && at < window.count * dim;
            column[(size_t)i * size] = inside ? tangent[at] : R(0);
        }
    }
}

static FacetStatus step_task(void *context, int t, int worker)
{
    const JacobianPass *pass = context;
    if (pass->progress) TRY(progress_add(pass->progress, 0, NULL));
    const ScoreJacobian *k = pass->jacobian;
    const ScoreLinear *linear = &pass->linear;
    const ScoreWork *w = linear->work;
    const ScoreNetConfig *c = &k->net->config;
    const int *row_of = k->row_of;
    int channels = c->channels, n = w->rows * c->dim, reach = 1;
    size_t block = seq_rows(k->rows * c->dim, c->horizon) * (size_t)channels;
    Real *narrow = k->scratch + (size_t)worker * k->scratch_size, *stream = narrow + block;
    Real *mid = stream + block, *conv = mid + block, *out = conv + block;
    Real *scratch = out + seq_rows(k->rows * c->dim, c->horizon) * (size_t)c->dim;

    Window before = window_around(t, reach, c->horizon), window;
    stem_columns(narrow, w->params + k->net->in_weight, before, t, w->rows, c->dim, channels);
    for (int u = 0; u < 2 * c->blocks; u += 2) {
        int dilation = score_dilation(c, u);
        reach += 2 * dilation;
        window = window_around(t, reach, c->horizon);
        widen(stream, window, narrow, before, n, channels);
        winograd_conv(conv, scratch, stream, w->pack[u], n, window.count, dilation, channels,
                      channels, false);
        score_unit_tangent(mid, conv, linear, u, NULL, row_of, n, window);
        winograd_conv(conv, scratch, mid, w->pack[u + 1], n, window.count, dilation, channels,
                      channels, false);
        score_unit_tangent(narrow, conv, linear, u + 1, stream, row_of, n, window);
        before = window;
    }
    window = window_around(t, reach + 1, c->horizon);
    widen(stream, window, narrow, before, n, channels);
    score_unit_tangent(mid, stream, linear, 2 * c->blocks, NULL, row_of, n, window);
    conv1d_rows(out, mid, w->pack_out, 1, (int)seq_rows(n, window.count) - 1, channels, c->dim);
    store_columns(pass->out, out, window, t, n, c->horizon, c->dim);
    return status_ok();
}

FacetStatus score_jacobian(Real *out, ScoreJacobian *jacobian, const ScoreWork *work,
                           FacetPool *pool, Progress *progress)
{
    assert(work->rows <= jacobian->rows && facet_pool_threads(pool) <= jacobian->threads);
    JacobianPass pass = {jacobian, {work, jacobian->slope}, out, progress};
    score_linearise(&pass.linear, pool);
    return pool_try(pool, jacobian->net->config.horizon, step_task, &pass);
}
