// Forward and backward passes of the score network (see diffusion/score_pass.h).
//
// Forward: the condition on the calling thread, FiLM in one task a block, then one task a shard.
// Backward: one task a shard takes the gradient of the activations down to the stem; then one task
// a tensor multiplies the kept inputs and gradients of ALL shards in one product, so that weight
// gradients need no copies a shard and no reduction.
#include "diffusion/score_work.h"

#include <assert.h>
#include <stdlib.h>

// ---- Workspace ----------------------------------------------------------------------------------

static Real *carve(Real *base, size_t *used, size_t size)
{
    Real *out = base ? base + *used : NULL;
    *used += (size + TENSOR_ALIGN - 1) / TENSOR_ALIGN * TENSOR_ALIGN;
    return out;
}

// Sets the pointers into `base`, or only counts when it is NULL. Returns the size.
static size_t lay_out(ScoreWork *w, Real *base, bool train)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t rows = (size_t)w->capacity, used = 0;
    size_t seq = (size_t)w->shards * work_block(w), steps = (size_t)w->shards * w->shard;
    size_t film = (size_t)c->blocks * 2 * c->channels, channels = (size_t)c->channels;
    steps *= (size_t)c->horizon;
    w->cond_in = carve(base, &used, rows * (size_t)score_cond_in(c));
    w->cond1 = carve(base, &used, rows * (size_t)c->cond);
    w->cond1_act = carve(base, &used, rows * (size_t)c->cond);
    w->cond2 = carve(base, &used, rows * (size_t)c->cond);
    w->cond2_act = carve(base, &used, rows * (size_t)c->cond);
    w->film = carve(base, &used, rows * film);
    w->x = carve(base, &used, seq * (size_t)c->dim);
    w->out = carve(base, &used, seq * (size_t)c->dim);
    for (int l = 0; l <= c->blocks; l++) w->stream[l] = carve(base, &used, seq * channels);
    for (int l = 0; l < c->blocks; l++) w->mid[l] = carve(base, &used, seq * channels);
    for (int i = 0; i < 2 * c->blocks; i++) w->hat[i] = carve(base, &used, seq * channels);
    for (int i = 0; i <= 2 * c->blocks; i++) w->rstd[i] = carve(base, &used, steps);
    w->head_hat = carve(base, &used, seq * channels);
    w->head = carve(base, &used, seq * channels);
    if (!train) return used;
    w->dout = carve(base, &used, seq * (size_t)c->dim);
    w->dx = carve(base, &used, seq * (size_t)c->dim);
    w->dmid = carve(base, &used, seq * channels);
    w->dfilm = carve(base, &used, rows * film);
    w->dcond2 = carve(base, &used, rows * (size_t)c->cond);
    w->dcond1 = carve(base, &used, rows * (size_t)c->cond);
    w->dcond_in = carve(base, &used, rows * (size_t)score_cond_in(c));
    w->dvectors = carve(base, &used, (size_t)w->shards * (2 * c->blocks + 1) * 3 * channels);
    w->scratch = carve(base, &used, (size_t)w->shards * channels);
    return used;
}

Status score_work_create(ScoreWork **out, const ScoreNet *net, int rows, int shard, bool train)
{
    assert(rows > 0 && shard > 0);
    *out = NULL;
    ScoreWork *w = calloc(1, sizeof *w);
    if (!w) return status_fail("out of memory for the network's workspace");
    w->net = net;
    w->capacity = rows;
    w->shard = shard < rows ? shard : rows;
    w->shards = (rows + w->shard - 1) / w->shard;
    size_t bytes = lay_out(w, NULL, train) * sizeof(Real);
    w->memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!w->memory) {
        score_work_free(w);
        return status_fail("out of memory for a workspace of %d rows (%zu MB)", rows, bytes >> 20);
    }
    memset(w->memory, 0, bytes);
    lay_out(w, w->memory, train);
    *out = w;
    return status_ok();
}

void score_work_free(ScoreWork *work)
{
    if (!work) return;
    free(work->memory);
    free(work);
}

// ---- Forward ------------------------------------------------------------------------------------

typedef struct Pass {
    ScoreWork *work;
    const Real *params;
    const Real *x, *dout; // dense inputs of the forward and the backward pass
    Real *out, *dx, *dparams;
} Pass;

static void condition_forward(ScoreWork *w, const Real *params, const Real *t, const int *z)
{
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    int width = score_cond_in(c), rows = w->rows;
    size_t size = (size_t)rows * c->cond;
    time_embedding(w->cond_in, width, t, rows, c->time_width, false);
    for (int i = 0; i < c->factors; i++)
        embedding_forward(w->cond_in + c->time_width + i * c->embed, width, params + net->embed[i],
                          z + i, c->factors, rows, c->values[i], c->embed);
    linear_forward(w->cond1, w->cond_in, params + net->cond1_weight, params + net->cond1_bias, rows,
                   width, c->cond);
    mish_forward(w->cond1_act, w->cond1, size);
    linear_forward(w->cond2, w->cond1_act, params + net->cond2_weight, params + net->cond2_bias,
                   rows, c->cond, c->cond);
    mish_forward(w->cond2_act, w->cond2, size);
}

// The FiLM of one block for all rows: a slice of the columns of one linear layer.
static void film_task(void *context, int block, int worker)
{
    (void)worker;
    const Pass *pass = context;
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int width = 2 * c->channels, stride = c->blocks * width;
    Real *film = w->film + (size_t)block * width;
    const Real *bias = pass->params + w->net->film_bias + (size_t)block * width;
    for (int r = 0; r < w->rows; r++)
        memcpy(film + (size_t)r * stride, bias, (size_t)width * sizeof *film);
    real_gemm(film, stride, GEMM_PLAIN, w->cond2_act, c->cond, GEMM_PLAIN,
              pass->params + w->net->film_weight + (size_t)block * width, stride, w->rows, width,
              c->cond, R(1));
}

static void forward_shard(void *context, int s, int worker)
{
    (void)worker;
    const Pass *pass = context;
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = pass->params;
    int n = work_samples(w, s), time = c->horizon, channels = c->channels, dim = c->dim;
    int film_stride = c->blocks * 2 * channels;
    size_t base = (size_t)s * work_block(w), at = base * channels, step = (size_t)s * w->shard;
    size_t dense = step * time * dim;

    seq_pack(w->x + base * dim, pass->x + dense, n, time, dim);
    conv1d_forward(w->stream[0] + at, w->x + base * dim, params + net->in_weight,
                   params + net->in_bias, n, time, dim, channels);
    for (int b = 0; b < n; b++) {
        Real *h = w->stream[0] + at + seq_start(b, time) * channels;
        residual_forward(h, h, params + net->position, (size_t)time * channels);
    }
    for (int l = 0; l < c->blocks; l++) {
        const ScoreUnit *first = &net->units[2 * l], *second = first + 1;
        conv1d_product(w->hat[2 * l] + at, w->stream[l] + at, params + first->weight, n, time,
                       channels, channels);
        epilogue_forward(w->mid[l] + at, w->hat[2 * l] + at, w->rstd[2 * l] + step * time,
                         unit_params(net, params, 2 * l),
                         w->film + step * film_stride + (size_t)l * 2 * channels, film_stride, NULL,
                         n, time, channels);
        conv1d_product(w->hat[2 * l + 1] + at, w->mid[l] + at, params + second->weight, n, time,
                       channels, channels);
        epilogue_forward(w->stream[l + 1] + at, w->hat[2 * l + 1] + at,
                         w->rstd[2 * l + 1] + step * time, unit_params(net, params, 2 * l + 1),
                         NULL, 0, w->stream[l] + at, n, time, channels);
    }
    memcpy(w->head_hat + at, w->stream[c->blocks] + at,
           seq_rows(n, time) * (size_t)channels * sizeof(Real));
    epilogue_forward(w->head + at, w->head_hat + at, w->rstd[2 * c->blocks] + step * time,
                     head_params(net, params), NULL, 0, NULL, n, time, channels);
    conv1d_forward(w->out + base * dim, w->head + at, params + net->out_weight,
                   params + net->out_bias, n, time, channels, dim);
    seq_unpack(pass->out + dense, w->out + base * dim, n, time, dim);
}

void score_forward(Real *out, ScoreWork *work, const Real *params, const Real *x, const Real *t,
                   const int *z, int rows, ThreadPool *pool)
{
    assert(rows > 0 && rows <= work->capacity);
    work->rows = rows;
    work->z = z;
    Pass pass = {.work = work, .params = params, .x = x, .out = out};
    condition_forward(work, params, t, z);
    pool_for(pool, work->net->config.blocks, film_task, &pass);
    pool_for(pool, work_shards(work), forward_shard, &pass);
}

// ---- Backward -----------------------------------------------------------------------------------

static void backward_shard(void *context, int s, int worker)
{
    (void)worker;
    const Pass *pass = context;
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = pass->params;
    int n = work_samples(w, s), time = c->horizon, channels = c->channels, dim = c->dim;
    int film_stride = c->blocks * 2 * channels, units = 2 * c->blocks;
    size_t base = (size_t)s * work_block(w), at = base * channels, step = (size_t)s * w->shard;
    size_t dense = step * time * dim, vector = (size_t)3 * channels;
    Real *dvectors = w->dvectors + (size_t)s * (units + 1) * vector;
    Real *scratch = w->scratch + (size_t)s * channels;
    memset(dvectors, 0, (size_t)(units + 1) * vector * sizeof *dvectors);

    Real *dmid = w->dmid + at;
    seq_pack(w->dout + base * dim, pass->dout + dense, n, time, dim);
    conv1d_backward_input(dmid, w->dout + base * dim, params + net->out_weight, n, time, channels,
                          dim, false);
    // The head's normalised activations become the gradient of the stream, and stay that.
    Real *dstream = w->head_hat + at;
    epilogue_backward(dstream, dvectors + (size_t)units * vector, NULL, dmid,
                      w->rstd[units] + step * time, head_params(net, params), NULL, 0, scratch, n,
                      time, channels);
    for (int l = c->blocks - 1; l >= 0; l--) {
        const ScoreUnit *first = &net->units[2 * l], *second = first + 1;
        Real *du1 = w->hat[2 * l] + at, *du2 = w->hat[2 * l + 1] + at;
        size_t film = step * film_stride + (size_t)l * 2 * channels;
        epilogue_backward(du2, dvectors + (size_t)(2 * l + 1) * vector, NULL, dstream,
                          w->rstd[2 * l + 1] + step * time, unit_params(net, params, 2 * l + 1),
                          NULL, 0, scratch, n, time, channels);
        conv1d_backward_input(dmid, du2, params + second->weight, n, time, channels, channels,
                              false);
        epilogue_backward(du1, dvectors + (size_t)(2 * l) * vector, w->dfilm + film, dmid,
                          w->rstd[2 * l] + step * time, unit_params(net, params, 2 * l),
                          w->film + film, film_stride, scratch, n, time, channels);
        conv1d_backward_input(dstream, du1, params + first->weight, n, time, channels, channels,
                              true);
    }
    seq_clear_gaps(dstream, n, time, channels);
    if (!pass->dx) return;
    conv1d_backward_input(w->dx + base * dim, dstream, params + net->in_weight, n, time, dim,
                          channels, false);
    seq_unpack(pass->dx + dense, w->dx + base * dim, n, time, dim);
}

// All rows of a seq that are in use, over all shards.
static int rows_in_use(const ScoreWork *w)
{
    int last = work_shards(w) - 1;
    return (int)((size_t)last * work_block(w) +
                 seq_rows(work_samples(w, last), w->net->config.horizon));
}

// Sums one unit's vector gradients over the shards, in their order.
static void sum_vector(Real *out, const ScoreWork *w, int unit, int which)
{
    const ScoreNetConfig *c = &w->net->config;
    memset(out, 0, (size_t)c->channels * sizeof *out);
    for (int s = 0; s < work_shards(w); s++) {
        size_t at = ((size_t)s * (2 * c->blocks + 1) + unit) * 3 + which;
        column_sums(out, w->dvectors + at * c->channels, 1, c->channels);
    }
}

static void unit_gradients(const Pass *pass, int unit)
{
    const ScoreWork *w = pass->work;
    const ScoreUnit *u = &w->net->units[unit];
    int channels = w->net->config.channels;
    const Real *input = unit % 2 ? w->mid[unit / 2] : w->stream[unit / 2];
    conv1d_backward_weight(pass->dparams + u->weight, input, w->hat[unit], rows_in_use(w), channels,
                           channels, false);
    sum_vector(pass->dparams + u->bias, w, unit, 0);
    sum_vector(pass->dparams + u->gamma, w, unit, 1);
    sum_vector(pass->dparams + u->beta, w, unit, 2);
}

static void film_gradients(const Pass *pass, int block)
{
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int width = 2 * c->channels, stride = c->blocks * width;
    const Real *dfilm = w->dfilm + (size_t)block * width;
    real_gemm(pass->dparams + w->net->film_weight + (size_t)block * width, stride, GEMM_TRANSPOSED,
              w->cond2_act, c->cond, GEMM_PLAIN, dfilm, stride, c->cond, width, w->rows, R(0));
    Real *dbias = pass->dparams + w->net->film_bias + (size_t)block * width;
    memset(dbias, 0, (size_t)width * sizeof *dbias);
    for (int r = 0; r < w->rows; r++) column_sums(dbias, dfilm + (size_t)r * stride, 1, width);
}

static void zero_sums(Real *sums, const Real *dy, int rows, int columns)
{
    memset(sums, 0, (size_t)columns * sizeof *sums);
    column_sums(sums, dy, rows, columns);
}

static void condition_gradients(const Pass *pass)
{
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = pass->params;
    Real *grads = pass->dparams;
    int width = score_cond_in(c), rows = w->rows;
    size_t size = (size_t)rows * c->cond;
    linear_backward_input(w->dcond2, w->dfilm, params + net->film_weight, rows, c->cond,
                          c->blocks * 2 * c->channels);
    mish_backward(w->dcond2, w->dcond2, w->cond2, size);
    linear_backward_weight(grads + net->cond2_weight, w->cond1_act, w->dcond2, rows, c->cond,
                           c->cond, false);
    zero_sums(grads + net->cond2_bias, w->dcond2, rows, c->cond);
    linear_backward_input(w->dcond1, w->dcond2, params + net->cond2_weight, rows, c->cond, c->cond);
    mish_backward(w->dcond1, w->dcond1, w->cond1, size);
    linear_backward_weight(grads + net->cond1_weight, w->cond_in, w->dcond1, rows, width, c->cond,
                           false);
    zero_sums(grads + net->cond1_bias, w->dcond1, rows, c->cond);
    linear_backward_input(w->dcond_in, w->dcond1, params + net->cond1_weight, rows, width, c->cond);
    for (int i = 0; i < c->factors; i++) {
        Real *dtable = grads + net->embed[i];
        memset(dtable, 0, (size_t)(c->values[i] + 1) * c->embed * sizeof *dtable);
        embedding_backward(dtable, w->dcond_in + c->time_width + i * c->embed, width, w->z + i,
                           c->factors, rows, c->values[i], c->embed);
    }
}

static void edge_gradients(const Pass *pass)
{
    ScoreWork *w = pass->work;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    Real *grads = pass->dparams;
    int rows = rows_in_use(w), head = 2 * c->blocks;
    const Real *dstream = w->head_hat;
    conv1d_backward_weight(grads + net->out_weight, w->head, w->dout, rows, c->channels, c->dim,
                           false);
    zero_sums(grads + net->out_bias, w->dout, rows, c->dim);
    sum_vector(grads + net->out_gamma, w, head, 1);
    sum_vector(grads + net->out_beta, w, head, 2);
    conv1d_backward_weight(grads + net->in_weight, w->x, dstream, rows, c->dim, c->channels, false);
    zero_sums(grads + net->in_bias, dstream, rows, c->channels);
    size_t size = (size_t)c->horizon * c->channels;
    memset(grads + net->position, 0, size * sizeof *grads);
    for (int r = 0; r < w->rows; r++)
        column_sums(grads + net->position, dstream + work_sample(w, r) * c->channels, 1, (int)size);
}

static void gradient_task(void *context, int index, int worker)
{
    (void)worker;
    const Pass *pass = context;
    int blocks = pass->work->net->config.blocks;
    if (index == 0)
        condition_gradients(pass);
    else if (index == 1)
        edge_gradients(pass);
    else if (index < 2 + 2 * blocks)
        unit_gradients(pass, index - 2);
    else
        film_gradients(pass, index - 2 - 2 * blocks);
}

void score_backward(Real *dparams, Real *dx, ScoreWork *work, const Real *params, const Real *dout,
                    ThreadPool *pool)
{
    assert(work->dout && "the workspace is not for training");
    Pass pass = {.work = work, .params = params, .dout = dout, .dx = dx, .dparams = dparams};
    pool_for(pool, work_shards(work), backward_shard, &pass);
    if (dparams) pool_for(pool, 2 + 3 * work->net->config.blocks, gradient_task, &pass);
}
