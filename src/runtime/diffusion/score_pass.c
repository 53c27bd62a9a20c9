// The forward pass of the score network (see diffusion/score_pass.h).
//
// The condition runs on the calling thread and FiLM in one task a block. Then a stage of the
// network (stem, two units a block, head) is a function of a range of rows of one shard's block.
// Training runs all stages of a shard as one task; evaluating runs stage by stage, and splits the
// rows of its one block over the threads. All products are packed ones, so a row's result does not
// depend on the split, nor on the rows that are computed with it: not by one bit.
#include "diffusion/score_work.h"
#include "math/gemm_packed.h"

#include <assert.h>

enum { CHUNK_ROWS = 132 }; // rows of a piece of a stage, small enough for the second cache

// y = x w + bias with packed weights; y has `stride` numbers from row to row.
static void affine(Real *y, int stride, const Real *x, const Real *packed, const Real *bias,
                   int rows, int in, int out)
{
    for (int r = 0; r < rows; r++) memcpy(y + (size_t)r * stride, bias, (size_t)out * sizeof *y);
    gemm_packed(y, stride, x, in, packed, rows, out, in, true);
}

// The context's place in the condition's input: the context as it is, or what the embeddings, which
// are there already, select of it.
static void place_context(ScoreWork *w)
{
    const ScoreNetConfig *c = &w->net->config;
    int width = score_cond_in(c), embeds = score_embed_width(c), size = c->context;
    bool selects = score_selects(c);
    if (selects)
        gemm_packed(w->select, size, w->cond_in + c->time_width, width, w->pack_select, w->rows,
                    size, embeds, false);
    for (int r = 0; r < w->rows; r++) {
        const Real *restrict context = w->context + (size_t)r * size;
        Real *restrict place = w->cond_in + (size_t)r * width + score_context_at(c);
        memcpy(place, context, (size_t)size * sizeof *place);
        if (!selects) continue;
        Real *restrict select = w->select + (size_t)r * size;
        for (int i = 0; i < size; i++) {
            select[i] += R(1);
            place[i] *= select[i];
        }
    }
}

static void condition(ScoreWork *w, const Real *t)
{
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params;
    int width = score_cond_in(c), rows = w->rows;
    size_t size = (size_t)rows * c->cond;
    time_embedding(w->cond_in, width, t, rows, c->time_width, false);
    for (int i = 0; i < c->factors; i++)
        embedding_forward(w->cond_in + c->time_width + i * c->embed, width, params + net->embed[i],
                          w->z + i, c->factors, rows, c->values[i], c->embed);
    if (c->context) place_context(w);
    affine(w->cond1, c->cond, w->cond_in, w->pack_cond1, params + net->cond1_bias, rows, width,
           c->cond);
    mish_forward(w->cond1_act, w->cond1, size);
    affine(w->cond2, c->cond, w->cond1_act, w->pack_cond2, params + net->cond2_bias, rows, c->cond,
           c->cond);
    mish_forward(w->cond2_act, w->cond2, size);
}

// The FiLM of one block for all rows: a slice of the columns of one linear layer.
static void film_task(void *context, int block, int worker)
{
    (void)worker;
    ScoreWork *w = context;
    const ScoreNetConfig *c = &w->net->config;
    int width = 2 * c->channels, stride = c->blocks * width;
    affine(w->film + (size_t)block * width, stride, w->cond2_act, w->pack_film[block],
           w->params + w->net->film_bias + (size_t)block * width, w->rows, c->cond, width);
}

// ---- Stages -------------------------------------------------------------------------------------

// A convolution computes no result for the first and the last row of a block, which are zero.
static void conv_rows(Real *y, const Real *x, const Real *packed, int first, int last, int end,
                      int in, int out)
{
    conv1d_rows(y, x, packed, first > 1 ? first : 1, last < end ? last : end - 1, in, out, false);
}

static void stem_rows(ScoreWork *w, int s, int first, int last, int end)
{
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *bias = w->params + net->in_bias, *position = w->params + net->position;
    size_t base = (size_t)s * work_block(w);
    Real *h = w->stream[0] + base * c->channels;
    conv_rows(h, w->x + base * c->dim, w->pack_in, first, last, end, c->dim, c->channels);
    for (int row = first; row < last; row++) {
        Real *restrict y = h + (size_t)row * c->channels;
        if (seq_is_gap(row, c->horizon)) {
            memset(y, 0, (size_t)c->channels * sizeof *y);
            continue;
        }
        int t = row - (int)seq_start(seq_sample(row, c->horizon), c->horizon);
        const Real *restrict p = position + (size_t)t * c->channels;
        for (int i = 0; i < c->channels; i++) y[i] += bias[i] + p[i];
    }
}

static void unit_rows(ScoreWork *w, int unit, int s, int first, int last, int end)
{
    const ScoreNetConfig *c = &w->net->config;
    int l = unit / 2, film_stride = c->blocks * 2 * c->channels;
    size_t at = (size_t)s * work_block(w) * c->channels, sample = (size_t)s * w->shard;
    const Real *film = w->film + sample * film_stride + (size_t)l * 2 * c->channels;
    Real *stream = w->stream[l] + at, *mid = w->mid[l] + at, *next = w->stream[l + 1] + at;
    Real *u = w->hat[unit] + at, *rstd = w->rstd[unit] + sample * c->horizon;
    bool second = unit % 2;
    conv_rows(u, second ? mid : stream, w->pack[unit], first, last, end, c->channels, c->channels);
    epilogue_forward(second ? next : mid, u, rstd, unit_params(w, unit), second ? NULL : film,
                     film_stride, second ? stream : NULL, first, last, c->horizon, c->channels);
}

// The head's norm and Mish need no neighbours; its convolution does.
static void head_rows(ScoreWork *w, int s, int first, int last)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t at = (size_t)s * work_block(w) * c->channels, sample = (size_t)s * w->shard;
    size_t row = at + (size_t)first * c->channels;
    memcpy(w->head_hat + row, w->stream[c->blocks] + row,
           (size_t)(last - first) * c->channels * sizeof(Real));
    epilogue_forward(w->head + at, w->head_hat + at, w->rstd[2 * c->blocks] + sample * c->horizon,
                     head_params(w), NULL, 0, NULL, first, last, c->horizon, c->channels);
}

static void out_rows(ScoreWork *w, int s, int first, int last, int end)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t base = (size_t)s * work_block(w);
    const Real *bias = w->params + w->net->out_bias;
    Real *y = w->out + base * c->dim;
    conv_rows(y, w->head + base * c->channels, w->pack_out, first, last, end, c->channels, c->dim);
    for (int row = first; row < last; row++)
        for (int i = 0; i < c->dim; i++) y[(size_t)row * c->dim + i] += bias[i];
}

// Stage 0 is the stem, then come the units, and the head's convolution is the last. The head's norm
// and Mish go with the last unit.
static void stage_rows(ScoreWork *w, int stage, int s, int first, int last, int end)
{
    int units = 2 * w->net->config.blocks;
    if (stage == 0)
        stem_rows(w, s, first, last, end);
    else if (stage <= units)
        unit_rows(w, stage - 1, s, first, last, end);
    else
        out_rows(w, s, first, last, end);
    if (stage == units) head_rows(w, s, first, last);
}

// ---- The two ways to run them -------------------------------------------------------------------

typedef struct Forward {
    ScoreWork *work;
    const Real *x;
    Real *out;
    int stage, chunks;
} Forward;

static void load_shard(const Forward *pass, int s)
{
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    seq_pack(w->x + (size_t)s * work_block(w) * c->dim,
             pass->x + (size_t)s * w->shard * c->horizon * c->dim, work_samples(w, s), c->horizon,
             c->dim);
}

static void store_shard(const Forward *pass, int s)
{
    const ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    seq_unpack(pass->out + (size_t)s * w->shard * c->horizon * c->dim,
               w->out + (size_t)s * work_block(w) * c->dim, work_samples(w, s), c->horizon, c->dim);
}

static void shard_task(void *context, int s, int worker)
{
    (void)worker;
    const Forward *pass = context;
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int end = (int)seq_rows(work_samples(w, s), c->horizon);
    load_shard(pass, s);
    for (int stage = 0; stage < 2 * c->blocks + 2; stage++) stage_rows(w, stage, s, 0, end, end);
    store_shard(pass, s);
}

static void chunk_task(void *context, int index, int worker)
{
    (void)worker;
    const Forward *pass = context;
    ScoreWork *w = pass->work;
    int end = (int)seq_rows(w->rows, w->net->config.horizon);
    int first = (int)((long)end * index / pass->chunks);
    int last = (int)((long)end * (index + 1) / pass->chunks);
    stage_rows(w, pass->stage, 0, first, last, end);
}

void score_forward(Real *out, ScoreWork *work, const Real *x, const Real *t, const int *z,
                   const Real *context, int rows, FacetPool *pool)
{
    assert(rows > 0 && rows <= work->capacity);
    assert(work->params && "score_load comes first");
    const ScoreNetConfig *c = &work->net->config;
    assert((context || !c->context) && "the network has a context");
    work->rows = rows;
    work->z = z;
    work->context = context;
    condition(work, t);
    pool_for(pool, c->blocks, film_task, work);
    Forward pass = {.work = work, .x = x, .out = out};
    if (work->threads) {
        pool_for(pool, work_shards(work), shard_task, &pass);
        return;
    }
    int end = (int)seq_rows(rows, c->horizon), threads = facet_pool_threads(pool);
    pass.chunks = threads * ((end + threads * CHUNK_ROWS - 1) / (threads * CHUNK_ROWS));
    load_shard(&pass, 0);
    for (pass.stage = 0; pass.stage < 2 * c->blocks + 2; pass.stage++)
        pool_for(pool, pass.chunks, chunk_task, &pass);
    store_shard(&pass, 0);
}
