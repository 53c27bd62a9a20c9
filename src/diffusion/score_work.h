// The workspace of the score network: what the passes share (private to the room).
#ifndef FACET_DIFFUSION_SCORE_WORK_H
#define FACET_DIFFUSION_SCORE_WORK_H

#include "diffusion/score_pass.h"
#include "nn/epilogue.h"
#include "nn/layers.h"

// Every shard has its own padded block of sequences, and the blocks of all shards lie end to end:
// "seq" below is one such row of blocks, [shards][seq_rows(shard, T)][width].
struct ScoreWork {
    const ScoreNet *net;
    int capacity, shard, shards; // rows, rows a shard, shards at capacity
    int rows;                    // of the last forward pass
    const int *z;                // its factor values, owned by the caller
    Real *memory;

    // Condition, [rows][...]: input, layer 1 before and after Mish, layer 2 before and after, FiLM.
    Real *cond_in, *cond1, *cond1_act, *cond2, *cond2_act, *film;
    // Sequences: x and the output (seq of D), the stream before block l and after the last one,
    // normalised convolutions and the input of each block's second one (seq of C).
    Real *x, *out, *stream[SCORE_BLOCKS_MAX + 1];
    Real *hat[2 * SCORE_BLOCKS_MAX], *mid[SCORE_BLOCKS_MAX];
    Real *rstd[2 * SCORE_BLOCKS_MAX + 1]; // [shards][shard][T]; the last is the head's
    Real *head_hat, *head;

    // Gradients, with `train` only.
    Real *dout, *dx, *dmid;                   // seq of D, D, C
    Real *dfilm, *dcond2, *dcond1, *dcond_in; // [rows][...]
    Real *dvectors;                           // [shards][2 blocks + 1][3][C]
    Real *scratch;                            // [shards][C]
};

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

// The row of a seq where sample r starts.
static inline size_t work_sample(const ScoreWork *work, int r)
{
    return (size_t)(r / work->shard) * work_block(work) +
           seq_start(r % work->shard, work->net->config.horizon);
}

static inline EpilogueParams unit_params(const ScoreNet *net, const Real *params, int unit)
{
    const ScoreUnit *u = &net->units[unit];
    return (EpilogueParams){params + u->bias, params + u->gamma, params + u->beta};
}

static inline EpilogueParams head_params(const ScoreNet *net, const Real *params)
{
    return (EpilogueParams){NULL, params + net->out_gamma, params + net->out_beta};
}

#endif
