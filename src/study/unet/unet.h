// A temporal U-Net of the study alone: Diffusion Policy's ConditionalUnet1D (Chi et al. 2023) in
// little, to be compared with the score network, which keeps time at full resolution.
//
//   condition  c = W2 Mish(W1 [time(t); e_1(z_1); ...; e_K(z_K)] + b1) + b2
//   FiLM       (scale, shift) = Wf Mish(c) + bf                       for each residual block
//   unit       Mish(norm(conv(h)))                 kernel 3; norm over 8 groups of channels
//   block      h <- unit(FiLM(unit(h))) + h        or + conv(h), kernel 1, to another width
//   down       each level: block, block; then, but for the last, conv of stride 2
//   middle     block, block
//   up         for each level but the first, from the last: [h; what the level gave], block, block,
//              transposed conv of kernel 4 and stride 2
//   head       out = conv(unit(h))                                           kernel 1
//
// As in the reference, what the first level gave is joined to nothing, steps are not told where
// they stand, and the norm takes mean and variance over the channels of a group at ALL steps of a
// plan: an output depends on every step. Not as there: FiLM is m (1 + scale) + shift, the condition
// is made as the score network makes it, and the head starts at zero.
#ifndef FACET_UNET_UNET_H
#define FACET_UNET_UNET_H

#include "diffusion/score_net.h"
#include "nn/tensor.h"

enum { UNET_LEVELS_MAX = 4, UNET_GROUPS = 8, UNET_STEPS_MAX = 8 * UNET_LEVELS_MAX };

typedef struct UnetConfig {
    int horizon; // T, time steps of a plan: a multiple of 2^(levels - 1)
    int dim;     // D, numbers a step
    int levels;
    int widths[UNET_LEVELS_MAX]; // channels of each level, multiples of UNET_GROUPS
    int cond;                    // width of the condition
    int time_width;              // width of the time embedding, even and at least 4
    int embed;                   // width of a factor's embedding
    int factors;                 // K, may be 0
    int values[SCORE_FACTORS_MAX];
} UnetConfig;

// Three levels of C/4, C/2 and 2C/3 channels, which are made multiples of 8, with a condition of C:
// near in parameters to a score network of 4 blocks of C channels. All else is that network's.
UnetConfig unet_like(const ScoreNetConfig *network);

// Offsets in the parameter block.
typedef struct UnetUnit {
    size_t weight, bias, gamma, beta; // [3][in][out], [out], [out], [out]
} UnetUnit;

typedef enum UnetKind {
    UNET_BLOCK, // two units and a residual
    UNET_DOWN,  // half as many steps
    UNET_UP,    // twice as many
    UNET_JOIN,  // what an earlier step gave, behind its own channels
    UNET_HEAD,  // a unit, and the output's convolution
} UnetKind;

// What happens to the activations, one after the other.
typedef struct UnetStep {
    UnetKind kind;
    int in, out;           // channels
    int time_in, time_out; // steps of a plan
    UnetUnit units[2];
    size_t weight, bias; // of a residual of another width [1][in][out], of the way down
                         // [3][in][out] or up [in][4][out], or of the output [1][C][D]
    int film;            // of a block: where its scale and shift stand among all of a row
    int joined;          // of a join: the number of the step whose output it takes
} UnetStep;

typedef struct Unet {
    UnetConfig config;
    TensorTable table;
    size_t embed[SCORE_FACTORS_MAX]; // [values + 1][embed]
    size_t cond1_weight, cond1_bias; // [time_width + K embed][cond], [cond]
    size_t cond2_weight, cond2_bias; // [cond][cond], [cond]
    size_t film_weight, film_bias;   // [cond][film], [film]
    int film;                        // scales and shifts of all blocks
    UnetStep steps[UNET_STEPS_MAX];
    int step_count;
} Unet;

// Refuses sizes that make no network. Free accepts NULL.
FacetStatus unet_create(Unet **net, UnetConfig config);
void unet_free(Unet *net);

// Width of what the condition is computed from.
static inline int unet_cond_in(const UnetConfig *config)
{
    return config->time_width + config->factors * config->embed;
}

// Whether a block's residual goes through a convolution.
static inline bool unet_projects(const UnetStep *step) { return step->in != step->out; }

int unet_blocks(const Unet *net);

// Floating-point operations of the products of one forward pass of one row.
double unet_flops(const Unet *net);

#endif
