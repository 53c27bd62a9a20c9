// The workspace of the score network: what the passes share (private to the room).
#ifndef FACET_DIFFUSION_SCORE_WORK_H
#define FACET_DIFFUSION_SCORE_WORK_H

#include "diffusion/score_pass.h"
#include "nn/epilogue.h"
#include "nn/layers.h"
#include "nn/winograd.h"

// Every shard has its own padded block of sequences, and the blocks of all shards lie end to end:
// "seq" below is one such row of blocks, [shards][seq_rows(shard, T)][width]. A workspace that only
// evaluates has one shard.
struct ScoreWork {
    const ScoreNet *net;
    int capacity, shard, shards; // rows, rows a shard, shards at capacity
    int conditions;              // rows whose FiLM is computed at once
    int threads;                 // of the largest pool
    bool trains;
    bool lane;           // keeps nothing of a pass, and has the packed weights of another
    int first, last;     // shards that are computed; `last` may lie behind those in use
    int rows;            // of the last forward pass
    const int *z;        // the conditions' factor values, owned by the caller
    const Real *context; // the conditions' context, owned by the caller
    const Real *params;  // owned by the caller
    Real *memory;

    // Packed weights: selection, condition, stem, head, units, the FiLM of each block. Weights in
    // training are used once, so a workspace that trains has two places that the units take in
    // turn: one is used while the next unit is packed, and both stay in the cache.
    Real *pack_select, *pack_cond1, *pack_cond2;
    Real *pack_in, *pack_out, *pack[2 * SCORE_BLOCKS_MAX];
    Real *pack_film[SCORE_BLOCKS_MAX];

    // [conditions][context]: what the context is multiplied by, of a network that selects.
    Real *select;
    // Condition, [conditions][...]: input, layer 1 before and after Mish, layer 2 before and after,
    // FiLM, and where that of the last forward pass begins.
    Real *cond_in, *cond1, *cond1_act, *cond2, *cond2_act, *films;
    const Real *film;
    // Sequences: x and the output (seq of D), the stream before block l and after the last one,
    // normalised convolutions and the input of each block's second one (seq of C).
    Real *x, *out, *stream[SCORE_BLOCKS_MAX + 1];
    Real *hat[2 * SCORE_BLOCKS_MAX], *mid[SCORE_BLOCKS_MAX];
    Real *rstd[2 * SCORE_BLOCKS_MAX + 1]; // [rows][T]; the last is the head's
    Real *head_hat, *head;

    // Gradients, for training only.
    Real *dout, *dx, *dmid;                   // seq of D, D, C
    Real *dfilm, *dcond2, *dcond1, *dcond_in; // [rows][...]
    Real *dselect;                            // [rows][context]
    Real *dvectors;                           // [shards][2 blocks + 1][3][C]
    Real *dnorm;                              // [shards][C]

    Real *scratch; // [threads][scratch_size]; all of it for few rows that are shared out
    size_t scratch_size;
};

// Tiles of a sample at a unit, and the most at any.
static inline int work_tiles(const ScoreWork *work, int unit)
{
    const ScoreNetConfig *c = &work->net->config;
    return winograd_tiles(c->horizon, score_dilation(c, unit));
}

static inline int work_most_tiles(const ScoreWork *work)
{
    int most = 0;
    for (int unit = 0; unit < 2 * work->net->config.blocks; unit += 2)
        if (work_tiles(work, unit) > most) most = work_tiles(work, unit);
    return most;
}

// The most rows whose tiles fit in the scratch of all threads.
static inline int work_shared_rows(const ScoreWork *work)
{
    const ScoreNetConfig *c = &work->net->config;
    size_t row = 2 * WINOGRAD_POINTS * winograd_matrix(work_most_tiles(work), c->channels);
    return (int)((size_t)work->threads * work->scratch_size / row);
}

// The parts in which a unit of a workspace that trains is packed, and one of them, forwards or
// backwards. There are none of a unit that is not there.
#define score_pack_parts REAL_NAME(score_pack_parts)
#define score_pack_part  REAL_NAME(score_pack_part)
int score_pack_parts(const ScoreWork *work, int unit);
void score_pack_part(ScoreWork *work, int unit, bool backward, int part);

// Rows of one shard's block, and the samples that shard s holds when `rows` are in use.
static inline size_t work_block(const ScoreWork *work)
{
    return seq_rows(work->shard, work->net->config.horizon);
}

static inline int work_samples(const ScoreWork *work, int s)
{
    int left = work->rows - s * work->shard;
    return left < work->shard ? left : work->shard;
}

static inline int work_shards(const ScoreWork *work)
{
    return (work->rows + work->shard - 1) / work->shard;
}

// How many of the shards in use are computed, from `first` on.
static inline int work_share(const ScoreWork *work)
{
    int last = work->last < work_shards(work) ? work->last : work_shards(work);
    return last > work->first ? last - work->first : 0;
}

// The row of a seq where sample r starts.
static inline size_t work_sample(const ScoreWork *work, int r)
{
    return (size_t)(r / work->shard) * work_block(work) +
           seq_start(r % work->shard, work->net->config.horizon);
}

static inline EpilogueParams unit_params(const ScoreWork *work, int unit)
{
    const ScoreUnit *u = &work->net->units[unit];
    const Real *params = work->params;
    return (EpilogueParams){params + u->bias, params + u->gamma, params + u->beta};
}

static inline EpilogueParams head_params(const ScoreWork *work)
{
    const Real *params = work->params;
    return (EpilogueParams){NULL, params + work->net->out_gamma, params + work->net->out_beta};
}

#endif
