// The score network: a plain temporal ConvNet that keeps time at full resolution, so that it
// denoises locally (paper, Section 4.1: a 1D temporal ConvNet of 4.3M parameters with one
// embedding and one null token a factor).
//
//   selection  context' = context (1 + G [e_1(z_1); ...; e_K(z_K)])     number by number
//   condition  c = W2 Mish(W1 [time(t); e_1(z_1); ...; e_K(z_K); context'] + b1) + b2
//   FiLM       (scale_l, shift_l) = Wf_l Mish(c) + bf_l                       for block l
//   stem       h = conv(x) + position                    or conv(x) alone
//   block l    u = FiLM_l(Mish(norm(conv(h)))),  h <- h + Mish(norm(conv(u)))
//   head       out = conv(Mish(norm(h)))
//
// Convolutions have kernel 3, those of a block with its dilation, 1 unless told otherwise; the norm
// is over the channels of each time step. An output sees no farther than 2 steps and twice the sum
// of the dilations. A factor's value is an index, or EMBEDDING_NULL for its null token. The context
// is a vector that the caller gives with each row, such as the features of an image; most networks
// have none. The factors select what is read from it: which of the things that are seen matters. G
// starts at zero, where the context is taken as it is; a network without factors has no G and
// always takes it so. What the output means (noise, velocity or clean sample) is the schedule's
// matter (diffusion/schedule.h).
#ifndef FACET_DIFFUSION_SCORE_NET_H
#define FACET_DIFFUSION_SCORE_NET_H

#include "nn/tensor.h"

enum { SCORE_FACTORS_MAX = 8, SCORE_BLOCKS_MAX = 64 };

typedef struct ScoreNetConfig {
    int horizon;    // T, time steps of a chunk
    int dim;        // D, numbers a time step
    int blocks;     // residual blocks
    int channels;   // C, width of the blocks
    int cond;       // width of the condition
    int time_width; // width of the time embedding, even and at least 4
    int embed;      // width of a factor's embedding
    int factors;    // K, may be 0
    int values[SCORE_FACTORS_MAX];
    int context;                    // width of a row's context vector, 0 for none
    int dilation[SCORE_BLOCKS_MAX]; // of each block's convolutions, 0 for 1
    bool no_position;               // steps are not told where they stand
} ScoreNetConfig;

// 8 blocks of 256 channels for chunks of 32 x 4, no factors yet; with factors of 8 and 3 values it
// has 4.34 million parameters.
ScoreNetConfig score_net_default(void);

// Offsets in the parameter block.
typedef struct ScoreUnit {
    size_t weight, bias, gamma, beta; // [3][C][C], [C], [C], [C]
} ScoreUnit;

typedef struct ScoreNet {
    ScoreNetConfig config;
    TensorTable table;
    size_t embed[SCORE_FACTORS_MAX];       // [values + 1][embed]
    size_t cond1_weight, cond1_bias;       // [time_width + K embed + context][cond], [cond]
    size_t cond2_weight, cond2_bias;       // [cond][cond], [cond]
    size_t film_weight, film_bias;         // [cond][blocks 2 C], [blocks 2 C]
    size_t in_weight, in_bias, position;   // [3][D][C], [C], [T][C] if there is one
    ScoreUnit units[2 * SCORE_BLOCKS_MAX]; // two a block
    size_t out_gamma, out_beta, out_weight, out_bias; // [C], [C], [3][C][D], [D]
    size_t select_weight; // [K embed][context], of a network that selects
} ScoreNet;

// Refuses sizes that make no network.
FacetStatus score_net_create(ScoreNet **net, ScoreNetConfig config);
void score_net_free(ScoreNet *net);

// The dilation of a unit: of block unit / 2.
static inline int score_dilation(const ScoreNetConfig *config, int unit)
{
    int dilation = config->dilation[unit / 2];
    return dilation ? dilation : 1;
}

// How many steps away from its own an output can see: stem, blocks and head.
static inline int score_reach(const ScoreNetConfig *config)
{
    int reach = 2;
    for (int unit = 0; unit < 2 * config->blocks; unit++) reach += score_dilation(config, unit);
    return reach;
}

// Whether blocks see their nearest neighbours and steps know where they stand, as by default.
static inline bool score_is_plain(const ScoreNetConfig *config)
{
    return !config->no_position && score_reach(config) == 2 + 2 * config->blocks;
}

// Whether the factors select what is read from the context.
static inline bool score_selects(const ScoreNetConfig *config)
{
    return config->context > 0 && config->factors > 0;
}

// Width of the embeddings of all factors, which stand side by side.
static inline int score_embed_width(const ScoreNetConfig *config)
{
    return config->factors * config->embed;
}

// Where the context starts in the vector that the condition is computed from, and its whole width.
static inline int score_context_at(const ScoreNetConfig *config)
{
    return config->time_width + score_embed_width(config);
}

static inline int score_cond_in(const ScoreNetConfig *config)
{
    return score_context_at(config) + config->context;
}

// Floating-point operations of the products of one forward pass of one row.
double score_net_flops(const ScoreNet *net);

#endif
