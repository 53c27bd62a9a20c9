// The encoder's parts: its units and blocks, and the workspace that the passes share (private to
// the room).
#ifndef FACET_ENCODER_PARTS_H
#define FACET_ENCODER_PARTS_H

#include "encoder/encoder.h"
#include "nn/winograd_image.h"

enum {
    ENCODER_UNITS_MAX = 1 + 3 * ENCODER_STAGES_MAX * ENCODER_BLOCKS_MAX,
    ENCODER_NONE = -1,
    ENCODER_BORDER = 1,        // of every activation: the reach of a 3x3 kernel
    ENCODER_STRIP_PIXELS = 64, // of a unit's result, at least, that are computed in one go
    ENCODER_SHARDS = 8,        // sets of images whose gradients are summed apart
    ENCODER_GROUP = 4,         // images that go through the network together, at most
};

// A convolution and its norm.
typedef struct EncoderUnit {
    Conv2d conv;
    ImageShape in, out;  // with their borders; u, the convolution's result, is dense
    int level;           // 0 for the stem, s for stage s
    size_t weight, bias; // offsets in the block of parameters; bias where there is no norm
    size_t gamma, beta;  // where there is one
} EncoderUnit;

typedef struct EncoderBlock {
    int first, second,
        skip; // units; skip is ENCODER_NONE where the block's input is added as it is
} EncoderBlock;

struct Encoder {
    EncoderConfig config;
    TensorTable table;
    EncoderUnit units[ENCODER_UNITS_MAX]; // the stem is unit 0
    int unit_count;
    EncoderBlock blocks[ENCODER_STAGES_MAX * ENCODER_BLOCKS_MAX];
    int block_count;
    ImageShape pooled; // what the first block takes
    size_t input_pad;  // the offset of the input's border, where there is no norm
    size_t head_weight, head_bias, head_gamma, head_beta;
    size_t trained_from;
};

// The head's input: keypoints along u and along v and the mean, [channels] each, then the last
// activation, dense, where the head takes it.
enum { ENCODER_POOLS = 3 };

static inline ImageShape encoder_last(const Encoder *e)
{
    return e->units[e->blocks[e->block_count - 1].second].out;
}

static inline int encoder_pooled_width(const Encoder *e)
{
    ImageShape last = encoder_last(e);
    int flat = e->config.flat ? last.height * last.width : 0;
    return (ENCODER_POOLS + flat) * last.channels;
}

// The trained units' part of the block of parameters; the head's tensors stand after it.
static inline size_t encoder_units_size(const Encoder *e)
{
    return e->head_weight - e->trained_from;
}

static inline bool encoder_trains(const Encoder *e, int level) { return level >= e->config.frozen; }

// Floating-point operations of a unit's product.
static inline double unit_flops(const EncoderUnit *unit)
{
    double taps = (double)unit->conv.kernel * unit->conv.kernel;
    return 2.0 * unit->out.height * unit->out.width * taps * unit->conv.in * unit->conv.out;
}

static inline bool unit_takes_winograd(const EncoderUnit *unit)
{
    return winograd_image_takes(unit->conv, unit->in);
}

static inline int unit_strips(const EncoderUnit *unit)
{
    int strips = unit->out.height * unit->out.width / ENCODER_STRIP_PIXELS;
    if (strips > unit->out.height) strips = unit->out.height;
    return strips > 1 ? strips : 1;
}

#define EncoderStat REAL_NAME(EncoderStat)

// A unit's norm at one image, [channels] each.
typedef struct EncoderStat {
    Real *scale, *shift, *mean, *rstd;
} EncoderStat;

// What an image leaves behind is kept where the backward pass will read it: [images][...]. The rest
// is scratch, with a slot for every image that is on its way: [threads][group][...].
struct EncoderWork {
    const Encoder *encoder;
    int capacity, threads;
    int group; // images that go through the network together, at most
    bool train;
    int images;         // of the last forward pass
    const Real *params; // owned by the caller
    Real *memory;
    uint8_t *bytes;

    Real *pack[ENCODER_UNITS_MAX], *pack_back[ENCODER_UNITS_MAX];
    Real *input;                      // with the border of the stem's kernel
    Real *u[ENCODER_UNITS_MAX];       // the convolution's result, dense
    size_t u_size[ENCODER_UNITS_MAX]; // from slot to slot
    Real *h[ENCODER_UNITS_MAX];       // the activation; none for a skip
    Real *stat[ENCODER_UNITS_MAX];    // [4][channels]
    Real *pool;                       // the activation after the max pool
    uint8_t *chosen;                  // by the max pool
    Real *softmax;                    // of the head's keypoints
    Real *pooled, *turned;            // the head's input, [images][width] and [width][images]
    Real *head_hat, *head_rstd;       // of its norm, [images][features] and [images]

    Real *moments; // [threads][strips][groups][2]
    size_t moments_size;
    Real *winograd; // [threads][winograd_size]
    size_t winograd_size;

    // For training.
    Real *shards;     // [ENCODER_SHARDS][trained part of the block, without the head]
    Real *scratch[4]; // [threads][group][scratch_size]: gradients of activations; the last has a
                      // border
    size_t scratch_size;
    Real *dpooled;                    // [images][pooled width]
    Real *dhead;                      // [images][features], before the norm
    Real *dhead_rows, *dhead_columns; // packed: itself, and its transpose
};

// Whether the backward pass reads what this level computed.
static inline bool work_keeps(const EncoderWork *w, int level)
{
    return w->train && encoder_trains(w->encoder, level);
}

// Whether it reads the activation that goes out of this level.
static inline bool work_keeps_result(const EncoderWork *w, int level)
{
    return w->train && encoder_trains(w->encoder, level + 1);
}

// The part of a buffer of `size` numbers a slot that belongs to an image.
static inline Real *work_part(Real *buffer, size_t size, bool kept, int image, int slot)
{
    return buffer + (size_t)(kept ? image : slot) * size;
}

static inline EncoderStat stat_of(const EncoderWork *w, int unit, int image, int slot)
{
    const EncoderUnit *part = &w->encoder->units[unit];
    size_t channels = (size_t)part->out.channels;
    Real *at = work_part(w->stat[unit], 4 * channels, work_keeps(w, part->level), image, slot);
    return (EncoderStat){at, at + channels, at + 2 * channels, at + 3 * channels};
}

// The activation that unit 0 or a block hands on, and the others' buffers, at one image.
static inline Real *input_of(const EncoderWork *w, int image, int slot)
{
    return work_part(w->input, image_size(w->encoder->units[0].in), work_keeps(w, 0), image, slot);
}

static inline Real *u_of(const EncoderWork *w, int unit, int image, int slot)
{
    bool kept = work_keeps(w, w->encoder->units[unit].level);
    return work_part(w->u[unit], w->u_size[unit], kept, image, slot);
}

static inline Real *h_of(const EncoderWork *w, int unit, int image, int slot)
{
    const EncoderUnit *part = &w->encoder->units[unit];
    return work_part(w->h[unit], image_size(part->out), work_keeps_result(w, part->level), image,
                     slot);
}

static inline Real *pool_of(const EncoderWork *w, int image, int slot)
{
    return work_part(w->pool, image_size(w->encoder->pooled), work_keeps_result(w, 0), image, slot);
}

static inline uint8_t *chosen_of(const EncoderWork *w, int image, int slot)
{
    size_t size = image_size(image_bordered(w->encoder->pooled, 0));
    return w->chosen + (size_t)(work_keeps(w, 0) ? image : slot) * size;
}

// What block b takes.
static inline Real *block_input(const EncoderWork *w, int b, int image, int slot)
{
    if (b > 0) return h_of(w, w->encoder->blocks[b - 1].second, image, slot);
    return w->encoder->config.stem_pool ? pool_of(w, image, slot) : h_of(w, 0, image, slot);
}

// Rows of the head's weights, and so numbers of its input, that one task of a pool takes.
enum { ENCODER_HEAD_ROWS = 64 };

static inline int encoder_head_chunks(const Encoder *e)
{
    return (encoder_pooled_width(e) + ENCODER_HEAD_ROWS - 1) / ENCODER_HEAD_ROWS;
}

// features [images][features] from the pooled activations of all images: one pass over weights
// that are far larger than what is multiplied by them.
#define encoder_head_forward REAL_NAME(encoder_head_forward)
void encoder_head_forward(Real *features, EncoderWork *work, FacetPool *pool);

static inline size_t softmax_size(const Encoder *e)
{
    return image_size(image_bordered(encoder_last(e), 0));
}

#endif
