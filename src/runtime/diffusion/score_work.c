// The workspace of the score network: its memory, and the packed weights (see
// diffusion/score_pass.h).
#include "diffusion/score_work.h"

#include "base/memory.h"
#include "math/gemm_packed.h"

#include <assert.h>
#include <stdlib.h>

static Real *carve(Real *base, size_t *used, size_t size)
{
    Real *out = base ? base + *used : NULL;
    *used += (size + TENSOR_ALIGN - 1) / TENSOR_ALIGN * TENSOR_ALIGN;
    return out;
}

static void lay_out_packed(ScoreWork *w, Real *base, size_t *used)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t unit = winograd_packed_size(c->channels, c->channels);
    if (score_selects(c))
        w->pack_select = carve(base, used, gemm_packed_size(c->context, score_embed_width(c)));
    w->pack_cond1 = carve(base, used, gemm_packed_size(c->cond, score_cond_in(c)));
    w->pack_cond2 = carve(base, used, gemm_packed_size(c->cond, c->cond));
    w->pack_in = carve(base, used, gemm_packed_size(c->channels, 3 * c->dim));
    w->pack_out = carve(base, used, gemm_packed_size(c->dim, 3 * c->channels));
    for (int i = 0; i < 2 * c->blocks; i++)
        w->pack[i] = w->trains && i > 1 ? w->pack[i - 2] : carve(base, used, unit);
    for (int l = 0; l < c->blocks; l++)
        w->pack_film[l] = carve(base, used, gemm_packed_size(2 * c->channels, c->cond));
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// What training keeps beside that, for a seq of so many rows.
static void lay_out_gradients(ScoreWork *w, Real *base, size_t *used, int seq)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t rows = (size_t)w->capacity, channels = (size_t)c->channels, dim = (size_t)c->dim;
    w->dout = carve(base, used, (size_t)seq * dim);
    w->dx = carve(base, used, (size_t)seq * dim);
    w->dmid = carve(base, used, (size_t)seq * channels);
    w->dfilm = carve(base, used, rows * (size_t)c->blocks * 2 * channels);
    w->dcond2 = carve(base, used, rows * (size_t)c->cond);
    w->dcond1 = carve(base, used, rows * (size_t)c->cond);
    w->dcond_in = carve(base, used, rows * (size_t)score_cond_in(c));
    w->dselect = carve(base, used, score_selects(c) ? rows * (size_t)c->context : 0);
    w->dvectors = carve(base, used, (size_t)w->shards * (2 * c->blocks + 1) * 3 * channels);
    w->dnorm = carve(base, used, (size_t)w->shards * channels);
    w->scratch_size = larger(w->scratch_size, conv1d_scratch(seq, c->dim, c->channels));
    w->scratch_size = larger(w->scratch_size, conv1d_scratch(seq, c->channels, c->dim));
    w->scratch_size = larger(w->scratch_size, winograd_gradient_scratch(c->channels, c->channels));
}

// A lane uses the same few buffers for all blocks: what is read again is still in the cache.
static void lay_out_activations(ScoreWork *w, Real *base, size_t *used, size_t seq)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t size = seq * (size_t)c->channels;
    for (int l = 0; l <= c->blocks; l++)
        w->stream[l] = w->lane && l > 1 ? w->stream[l - 2] : carve(base, used, size);
    for (int l = 0; l < c->blocks; l++)
        w->mid[l] = w->lane && l > 0 ? w->mid[0] : carve(base, used, size);
    for (int i = 0; i < 2 * c->blocks; i++)
        w->hat[i] = w->lane && i > 0 ? w->hat[0] : carve(base, used, size);
    w->head_hat = w->lane ? w->hat[0] : carve(base, used, size);
    w->head = w->lane ? w->mid[0] : carve(base, used, size);
}

// Sets the pointers into `base`, or only counts when it is NULL. Returns the size.
static size_t lay_out(ScoreWork *w, Real *base)
{
    const ScoreNetConfig *c = &w->net->config;
    size_t conditions = (size_t)w->conditions, used = 0, seq = (size_t)w->shards * work_block(w);
    size_t steps = (size_t)w->shards * w->shard * c->horizon;
    size_t film = (size_t)c->blocks * 2 * c->channels;
    size_t dim = (size_t)c->dim, cond = (size_t)c->cond, cond_in = (size_t)score_cond_in(c);
    size_t selected = score_selects(c) ? conditions * (size_t)c->context : 0;
    if (!w->lane) lay_out_packed(w, base, &used);
    w->select = carve(base, &used, selected);
    w->cond_in = carve(base, &used, conditions * cond_in);
    w->cond1 = carve(base, &used, conditions * cond);
    w->cond1_act = carve(base, &used, conditions * cond);
    w->cond2 = carve(base, &used, conditions * cond);
    w->cond2_act = carve(base, &used, conditions * cond);
    w->films = carve(base, &used, conditions * film);
    w->x = carve(base, &used, seq * dim);
    w->out = carve(base, &used, seq * dim);
    lay_out_activations(w, base, &used, seq);
    for (int i = 0; i <= 2 * c->blocks; i++) w->rstd[i] = carve(base, &used, steps);
    // A group of tiles, or one sample where that has more.
    int tiles = work_most_tiles(w);
    w->scratch_size = 2 * WINOGRAD_POINTS *
                      winograd_matrix(tiles > WINOGRAD_GROUP ? tiles : WINOGRAD_GROUP, c->channels);
    if (w->trains) lay_out_gradients(w, base, &used, (int)seq);
    w->scratch = carve(base, &used, (size_t)w->threads * w->scratch_size);
    return used;
}

typedef enum Purpose {
    TO_EVALUATE,
    TO_TRAIN,
    TO_SHARE, // a lane
} Purpose;

static FacetStatus create(ScoreWork **out, const ScoreNet *net, int rows, int threads,
                          Purpose purpose)
{
    int shard = purpose == TO_TRAIN ? SCORE_SHARD : rows;
    assert(rows > 0 && threads > 0);
    *out = NULL;
    ScoreWork *w = calloc(1, sizeof *w);
    if (!w) return status_fail(FACET_NO_MEMORY, "out of memory for the network's workspace");
    w->net = net;
    w->capacity = rows;
    w->shard = shard;
    w->shards = (rows + shard - 1) / shard;
    w->conditions = score_conditions(rows, purpose == TO_TRAIN);
    w->threads = threads;
    w->trains = purpose == TO_TRAIN;
    w->lane = purpose == TO_SHARE;
    w->last = w->shards;
    size_t bytes = lay_out(w, NULL) * sizeof(Real);
    w->memory = memory_block(bytes);
    if (!w->memory) {
        score_work_free(w);
        return status_fail(FACET_NO_MEMORY, "out of memory for a workspace of %d rows (%zu MB)",
                           rows, bytes >> 20);
    }
    lay_out(w, w->memory);
    *out = w;
    return status_ok();
}

FacetStatus score_work_create(ScoreWork **work, const ScoreNet *net, int rows, int threads)
{
    return create(work, net, rows, threads, TO_EVALUATE);
}

FacetStatus score_work_create_train(ScoreWork **work, const ScoreNet *net, int rows, int threads)
{
    return create(work, net, rows, threads, TO_TRAIN);
}

FacetStatus score_lane_create(ScoreWork **work, const ScoreNet *net, int rows)
{
    return create(work, net, rows, 1, TO_SHARE);
}

void score_work_free(ScoreWork *work)
{
    if (!work) return;
    free(work->memory);
    free(work);
}

void score_limit(ScoreWork *work, int first, int last)
{
    assert(work->trains && 0 <= first && first <= last && last <= work->shards);
    work->first = first;
    work->last = last;
}

// One task packs one unit, and with it a share of the rest.
static void pack_task(void *context, int unit, int worker)
{
    (void)worker;
    ScoreWork *w = context;
    const ScoreNet *net = w->net;
    const ScoreNetConfig *c = &net->config;
    const Real *params = w->params, *weight = params + net->units[unit].weight;
    if (!w->trains) winograd_pack(w->pack[unit], weight, c->channels, c->channels);
    if (unit % 2 == 0) {
        int film = 2 * c->channels, stride = c->blocks * film;
        gemm_pack(w->pack_film[unit / 2], GEMM_PLAIN,
                  params + net->film_weight + (size_t)(unit / 2) * film, stride, c->cond, 0, film,
                  c->cond);
    }
    int width = score_cond_in(c);
    if (unit == 0) {
        conv1d_pack(w->pack_in, params + net->in_weight, c->dim, c->channels);
        gemm_pack(w->pack_cond1, GEMM_PLAIN, params + net->cond1_weight, c->cond, width, 0, c->cond,
                  width);
    }
    if (unit == 1) {
        conv1d_pack(w->pack_out, params + net->out_weight, c->channels, c->dim);
        gemm_pack(w->pack_cond2, GEMM_PLAIN, params + net->cond2_weight, c->cond, c->cond, 0,
                  c->cond, c->cond);
        if (score_selects(c)) {
            int embeds = score_embed_width(c);
            gemm_pack(w->pack_select, GEMM_PLAIN, params + net->select_weight, c->context, embeds,
                      0, c->context, embeds);
        }
    }
}

void score_load(ScoreWork *work, const Real *params, FacetPool *pool)
{
    work->params = params;
    pool_for(pool, 2 * work->net->config.blocks, pack_task, work);
}

int score_pack_parts(const ScoreWork *work, int unit)
{
    const ScoreNetConfig *c = &work->net->config;
    return unit >= 0 && unit < 2 * c->blocks ? gemm_packed_panels(c->channels) : 0;
}

void score_pack_part(ScoreWork *work, int unit, bool backward, int part)
{
    int channels = work->net->config.channels;
    const Real *weight = work->params + work->net->units[unit].weight;
    if (backward)
        winograd_pack_backward_panel(work->pack[unit], weight, part, channels, channels);
    else
        winograd_pack_panel(work->pack[unit], weight, part, channels, channels);
}

void score_share(ScoreWork *lane, const ScoreWork *with)
{
    assert(lane->lane && lane->net == with->net && with->params);
    lane->params = with->params;
    lane->pack_select = with->pack_select;
    lane->pack_cond1 = with->pack_cond1;
    lane->pack_cond2 = with->pack_cond2;
    lane->pack_in = with->pack_in;
    lane->pack_out = with->pack_out;
    memcpy(lane->pack, with->pack, sizeof lane->pack);
    memcpy(lane->pack_film, with->pack_film, sizeof lane->pack_film);
}
