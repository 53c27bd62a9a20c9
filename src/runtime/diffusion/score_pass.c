// The forward pass of the score network (see diffusion/score_pass.h).
//
// The condition runs on the calling thread and FiLM in one task a block. Then come the stages:
// stem, two units a block, head. Many rows are cut into pieces of a few samples, which the threads
// take one by one, while a stage's weights stay in their caches. Of few rows the threads share out
// each part of a stage: the tiles of its convolution's input, the product by columns, so that each
// thread reads its part of the weights alone, and the tiles of the result. All products are packed
// ones, so a row's result does not depend on the way, nor on the rows that are computed with it:
// not by one bit.
#include "diffusion/score_work.h"
#include "math/gemm_packed.h"

#include <assert.h>

enum { PIECE = SCORE_SHARD }; // samples that one thread takes through the whole network

// y = x w + bias with packed weights; y has `stride` numbers from row to row.
static void affine(Real *y, int stride, const Real *x, const Real *packed, const Real *bias,
                   int rows, int in, int out)
{
    for (int r = 0; r < rows; r++) memcpy(y + (size_t)r * stride, bias, (size_t)out * sizeof *y);
    gemm_packed(y, stride, x, in, packed, rows, out, in, true);
}

// The context's place in the condition's input: the context as it is, or what the embeddings, which
// are there already, select of it.
static void place_context(ScoreWork *w, int rows)
{
    const ScoreNetConfig *c = &w->net->config;
    int width = score_cond_in(c), embeds = score_embed_width(c), size = c->context;
    bool selects = score_selects(c);
    if (selects)
        gemm_packed(w->select, size, w->cond_in + c->time_width, width, w->pack_select, rows, size,
                    embeds, false);
    for (int r = 0; r < rows; r++) {
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

static void condition(ScoreWork *w, const Real *t, int rows)
{
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params;
    int width = score_cond_in(c);
    size_t size = (size_t)rows * c->cond;
    time_embedding(w->cond_in, width, t, rows, c->time_width, false);
    for (int i = 0; i < c->factors; i++)
        embedding_forward(w->cond_in + c->time_width + i * c->embed, width, params + net->embed[i],
                          w->z + i, c->factors, rows, c->values[i], c->embed);
    if (c->context) place_context(w, rows);
    affine(w->cond1, c->cond, w->cond_in, w->pack_cond1, params + net->cond1_bias, rows, width,
           c->cond);
    mish_forward(w->cond1_act, w->cond1, size);
    affine(w->cond2, c->cond, w->cond1_act, w->pack_cond2, params + net->cond2_bias, rows, c->cond,
           c->cond);
    mish_forward(w->cond2_act, w->cond2, size);
}

typedef struct Film {
    ScoreWork *work;
    int rows;
} Film;

// The FiLM of one block for all rows: a slice of the columns of one linear layer.
static void film_task(void *context, int block, int worker)
{
    (void)worker;
    const Film *film = context;
    ScoreWork *w = film->work;
    const ScoreNetConfig *c = &w->net->config;
    int width = 2 * c->channels, stride = c->blocks * width;
    affine(w->films + (size_t)block * width, stride, w->cond2_act, w->pack_film[block],
           w->params + w->net->film_bias + (size_t)block * width, film->rows, c->cond, width);
}

// ---- Stages -------------------------------------------------------------------------------------

// Steps [first, last) of one sample's stem.
static void stem_steps(ScoreWork *w, int sample, int first, int last)
{
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *bias = w->params + net->in_bias;
    size_t row = work_sample(w, sample);
    conv1d_rows(w->stream[0], w->x, w->pack_in, (int)row + first, (int)row + last, c->dim,
                c->channels);
    for (int t = first; t < last; t++) {
        Real *restrict y = w->stream[0] + (row + (size_t)t) * c->channels;
        if (c->no_position) {
            for (int i = 0; i < c->channels; i++) y[i] += bias[i];
            continue;
        }
        const Real *restrict p = w->params + net->position + (size_t)t * c->channels;
        for (int i = 0; i < c->channels; i++) y[i] += bias[i] + p[i];
    }
}

// What a unit's convolution reads, at the first row of a sample.
static const Real *unit_source(const ScoreWork *w, int unit, int sample)
{
    const Real *block = unit % 2 ? w->mid[unit / 2] : w->stream[unit / 2];
    return block + work_sample(w, sample) * w->net->config.channels;
}

// Steps [first, last) of one sample after a unit's convolution, and of the head's norm and Mish,
// which need no neighbours, after the last one.
static void finish_steps(ScoreWork *w, int unit, int sample, int first, int last)
{
    const ScoreNetConfig *c = &w->net->config;
    int l = unit / 2, time = c->horizon, film_stride = c->blocks * 2 * c->channels;
    size_t at = (work_sample(w, sample) - 1) * c->channels, steps = (size_t)sample * time;
    const Real *film = w->film + (size_t)sample * film_stride + (size_t)l * 2 * c->channels;
    Real *stream = w->stream[l] + at, *mid = w->mid[l] + at, *next = w->stream[l + 1] + at;
    bool second = unit % 2;
    epilogue_forward(second ? next : mid, w->hat[unit] + at, w->rstd[unit] + steps,
                     unit_params(w, unit), second ? NULL : film, film_stride,
                     second ? stream : NULL, 1 + first, 1 + last, time, c->channels);
    if (unit + 1 < 2 * c->blocks) return;
    size_t row = at + (size_t)(1 + first) * c->channels;
    memcpy(w->head_hat + row, w->stream[c->blocks] + row,
           (size_t)(last - first) * c->channels * sizeof(Real));
    epilogue_forward(w->head + at, w->head_hat + at, w->rstd[2 * c->blocks] + steps, head_params(w),
                     NULL, 0, NULL, 1 + first, 1 + last, time, c->channels);
}

static void out_steps(ScoreWork *w, int sample, int first, int last)
{
    const ScoreNetConfig *c = &w->net->config;
    const Real *bias = w->params + w->net->out_bias;
    size_t row = work_sample(w, sample);
    conv1d_rows(w->out, w->head, w->pack_out, (int)row + first, (int)row + last, c->channels,
                c->dim);
    for (int t = first; t < last; t++)
        for (int i = 0; i < c->dim; i++) w->out[(row + (size_t)t) * c->dim + i] += bias[i];
}

// Tile `index` of the samples from `sample` on at a unit: whose it is, and which of that sample's.
static int tile_of(int *sample, const ScoreWork *w, int unit, int index)
{
    int tiles = work_tiles(w, unit);
    *sample += index / tiles;
    return index % tiles;
}

static void tile_input(Real *v, size_t matrix, const ScoreWork *w, int unit, int sample, int index)
{
    const ScoreNetConfig *c = &w->net->config;
    int tile = tile_of(&sample, w, unit, index);
    winograd_input(v + (size_t)index * winograd_row(c->channels), matrix,
                   unit_source(w, unit, sample), tile, c->horizon, score_dilation(c, unit),
                   c->channels);
}

static void tile_output(const Real *m, size_t matrix, ScoreWork *w, int unit, int sample, int index)
{
    const ScoreNetConfig *c = &w->net->config;
    int tile = tile_of(&sample, w, unit, index), dilation = score_dilation(c, unit);
    int first = winograd_first(tile, c->horizon, dilation);
    int steps = winograd_steps(tile, c->horizon, dilation);
    Real *u = w->hat[unit] + work_sample(w, sample) * c->channels;
    winograd_output(u, m + (size_t)index * winograd_row(c->channels), matrix, tile, c->horizon,
                    dilation, c->channels, false);
    if (dilation == 1) {
        finish_steps(w, unit, sample, first, first + steps);
        return;
    }
    for (int i = 0; i < steps; i++, first += dilation)
        finish_steps(w, unit, sample, first, first + 1);
}

// ---- Many rows: a thread takes some samples through a stage -------------------------------------

typedef struct Forward {
    ScoreWork *work;
    const Real *x;
    Real *out;
    int unit;         // whose turn it is: -1 is the stem, and the head comes after the last
    int pieces;       // of many rows
    int tiles, parts; // of few rows
} Forward;

static size_t sample_size(const ScoreWork *w)
{
    return (size_t)w->net->config.horizon * w->net->config.dim;
}

static void load_sample(const Forward *pass, int sample)
{
    ScoreWork *w = pass->work;
    size_t size = sample_size(w);
    memcpy(w->x + work_sample(w, sample) * w->net->config.dim, pass->x + (size_t)sample * size,
           size * sizeof(Real));
}

static void store_sample(const Forward *pass, int sample)
{
    const ScoreWork *w = pass->work;
    size_t size = sample_size(w);
    memcpy(pass->out + (size_t)sample * size, w->out + work_sample(w, sample) * w->net->config.dim,
           size * sizeof(Real));
}

static int piece_end(const ScoreWork *w, int first)
{
    return w->rows - first < PIECE ? w->rows : first + PIECE;
}

static void piece_stem(const Forward *pass, int piece)
{
    ScoreWork *w = pass->work;
    for (int i = piece * PIECE; i < piece_end(w, piece * PIECE); i++) {
        load_sample(pass, i);
        stem_steps(w, i, 0, w->net->config.horizon);
    }
}

// A unit for the samples of a piece, in groups of tiles.
static void piece_unit(const Forward *pass, int piece, int worker)
{
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    int unit = pass->unit, end = piece_end(w, piece * PIECE);
    int tiles = work_tiles(w, unit), group = WINOGRAD_GROUP / tiles;
    Real *scratch = w->scratch + (size_t)worker * w->scratch_size;
    if (group < 1) group = 1;
    for (int first = piece * PIECE; first < end; first += group) {
        int samples = end - first < group ? end - first : group, rows = samples * tiles;
        size_t matrix = winograd_matrix(rows, c->channels);
        Real *v = scratch, *m = v + WINOGRAD_POINTS * matrix;
        for (int i = 0; i < rows; i++) tile_input(v, matrix, w, unit, first, i);
        winograd_product(m, v, w->pack[unit], rows, c->channels, c->channels, 0, 1);
        for (int i = 0; i < rows; i++) tile_output(m, matrix, w, unit, first, i);
    }
}

static void piece_out(const Forward *pass, int piece)
{
    ScoreWork *w = pass->work;
    for (int i = piece * PIECE; i < piece_end(w, piece * PIECE); i++) {
        out_steps(w, i, 0, w->net->config.horizon);
        store_sample(pass, i);
    }
}

// A stage of one piece: the stem, a unit or the head. In training the next unit is packed
// meanwhile.
static void piece_task(void *context, int index, int worker)
{
    const Forward *pass = context;
    int first = pass->work->first; // a piece of training is a shard
    if (index >= pass->pieces)
        score_pack_part(pass->work, pass->unit + 1, false, index - pass->pieces);
    else if (pass->unit < 0)
        piece_stem(pass, first + index);
    else if (pass->unit < 2 * pass->work->net->config.blocks)
        piece_unit(pass, first + index, worker);
    else
        piece_out(pass, first + index);
}

static void forward_pieces(Forward *pass, FacetPool *pool)
{
    const ScoreWork *w = pass->work;
    pass->pieces = w->trains ? work_share(w) : (w->rows + PIECE - 1) / PIECE;
    for (pass->unit = -1; pass->unit <= 2 * w->net->config.blocks; pass->unit++) {
        int packs = w->trains ? score_pack_parts(w, pass->unit + 1) : 0;
        pool_for(pool, pass->pieces + packs, piece_task, pass);
    }
}

// ---- Few rows: the threads share out each stage -------------------------------------------------

static void share_stem(void *context, int sample, int worker)
{
    (void)worker;
    const Forward *pass = context;
    load_sample(pass, sample);
    stem_steps(pass->work, sample, 0, pass->work->net->config.horizon);
}

static void share_input(void *context, int part, int worker)
{
    (void)worker;
    const Forward *pass = context;
    ScoreWork *w = pass->work;
    size_t matrix = winograd_matrix(pass->tiles, w->net->config.channels);
    int end = pass->tiles * (part + 1) / pass->parts;
    for (int i = pass->tiles * part / pass->parts; i < end; i++)
        tile_input(w->scratch, matrix, w, pass->unit, 0, i);
}

static void share_product(void *context, int part, int worker)
{
    (void)worker;
    const Forward *pass = context;
    ScoreWork *w = pass->work;
    int channels = w->net->config.channels;
    Real *v = w->scratch, *m = v + WINOGRAD_POINTS * winograd_matrix(pass->tiles, channels);
    winograd_product(m, v, w->pack[pass->unit], pass->tiles, channels, channels, part, pass->parts);
}

static void share_output(void *context, int part, int worker)
{
    (void)worker;
    const Forward *pass = context;
    ScoreWork *w = pass->work;
    size_t matrix = winograd_matrix(pass->tiles, w->net->config.channels);
    int end = pass->tiles * (part + 1) / pass->parts;
    for (int i = pass->tiles * part / pass->parts; i < end; i++)
        tile_output(w->scratch + WINOGRAD_POINTS * matrix, matrix, w, pass->unit, 0, i);
}

static void share_out(void *context, int sample, int worker)
{
    (void)worker;
    const Forward *pass = context;
    out_steps(pass->work, sample, 0, pass->work->net->config.horizon);
    store_sample(pass, sample);
}

static void forward_shared(Forward *pass, FacetPool *pool)
{
    ScoreWork *w = pass->work;
    const ScoreNetConfig *c = &w->net->config;
    pass->parts = facet_pool_threads(pool);
    pool_for(pool, w->rows, share_stem, pass);
    for (pass->unit = 0; pass->unit < 2 * c->blocks; pass->unit++) {
        pass->tiles = w->rows * work_tiles(w, pass->unit);
        pool_for(pool, pass->parts, share_input, pass);
        pool_for(pool, pass->parts, share_product, pass);
        pool_for(pool, pass->parts, share_output, pass);
    }
    pool_for(pool, w->rows, share_out, pass);
}

// ---- The pass -----------------------------------------------------------------------------------

void score_condition(ScoreWork *work, const Real *t, const int *z, const Real *context, int rows,
                     FacetPool *pool)
{
    assert(rows > 0 && rows <= work->conditions);
    assert(work->params && "score_load comes first");
    assert((context || !work->net->config.context) && "the network has a context");
    work->z = z;
    work->context = context;
    condition(work, t, rows);
    pool_for(pool, work->net->config.blocks, film_task, &(Film){work, rows});
}

void score_forward_under(Real *out, ScoreWork *work, const Real *x, int first, int rows,
                         FacetPool *pool)
{
    int threads = facet_pool_threads(pool);
    assert(rows > 0 && rows <= work->capacity && first + rows <= work->conditions);
    assert(threads <= work->threads);
    const ScoreNetConfig *c = &work->net->config;
    work->rows = rows;
    work->film = work->films + (size_t)first * c->blocks * 2 * c->channels;
    Forward pass = {.work = work, .x = x, .out = out};
    if (work->trains || threads == 1 || rows >= PIECE * threads || rows > work_shared_rows(work))
        forward_pieces(&pass, pool);
    else
        forward_shared(&pass, pool);
}

void score_forward(Real *out, ScoreWork *work, const Real *x, const Real *t, const int *z,
                   const Real *context, int rows, FacetPool *pool)
{
    score_condition(work, t, z, context, rows, pool);
    score_forward_under(out, work, x, 0, rows, pool);
}
