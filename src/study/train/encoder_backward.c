// The encoder's backward pass (see encoder/encoder.h).
//
// The head goes first, for all images at once. Then the images are dealt out to a fixed number of
// shards. One task a shard takes its images down the network, group by group, and sums their
// gradients in a block of its own; then the blocks are summed in the order of the shards.
#include "train/encoder_backward.h"

#include "encoder/parts.h"
#include "nn/image_epilogue.h"
#include "train/encoder_head_backward.h"
#include "train/image_epilogue_backward.h"
#include "train/image_layers_backward.h"
#include "train/layers_backward.h"
#include "train/winograd_image_backward.h"

#include <assert.h>

typedef struct Backward {
    EncoderWork *work;
    Real *dparams;
    int shards;
} Backward;

// A group of images of a shard. grads is the shard's block, placed so that the table's offsets
// index it. The gradients of the images' activations are work->scratch_size apart.
typedef struct Pass {
    const EncoderWork *work;
    Real *grads;
    int first, count, worker;
    bool adds;                // to gradients of the shard that are there already
    Real *g, *middle, *below; // dense gradients, which take turns
    Real *du;                 // with a border
} Pass;

static Real *grad_of(const Pass *pass, size_t offset)
{
    return pass->grads + (offset - pass->work->encoder->trained_from);
}

static size_t gradient_at(const Pass *pass, int i) { return (size_t)i * pass->work->scratch_size; }

// From g, the gradient of what follows the norm, to the gradients of the unit's vectors and to du,
// for image i of the group. h, where it is given, is the result of a ReLU that g goes through
// first.
static void norm_backward_image(const Pass *pass, int unit, Real *g, const Real *h, int i)
{
    const EncoderWork *w = pass->work;
    const EncoderUnit *part = &w->encoder->units[unit];
    EncoderStat stat = stat_of(w, unit, pass->first + i, pass->worker);
    const Real *u = u_of(w, unit, pass->first + i, pass->worker);
    Real *du = pass->du + gradient_at(pass, i);
    int groups = w->encoder->config.groups, channels = part->out.channels;
    Real sums[2 * IMAGE_CHANNELS_MAX];
    norm_sums(sums, g, h, part->out, u, stat.mean);
    if (groups) {
        norm_input(du, part->out, grad_of(pass, part->gamma), grad_of(pass, part->beta), g, u, sums,
                   stat.mean, stat.rstd, w->params + part->gamma, groups);
        return;
    }
    column_sums(grad_of(pass, part->bias), sums, 1, channels);
    image_clear_border(du, part->out);
    image_put(du, part->out, g);
}

static void clear_vectors(const Pass *pass, const EncoderUnit *part)
{
    size_t bytes = (size_t)part->out.channels * sizeof(Real);
    if (!pass->work->encoder->config.groups) {
        memset(grad_of(pass, part->bias), 0, bytes);
        return;
    }
    memset(grad_of(pass, part->gamma), 0, bytes);
    memset(grad_of(pass, part->beta), 0, bytes);
}

// The same for the group; with relu, g is the gradient of the unit's activation.
static void norm_backward_unit(const Pass *pass, int unit, Real *g, bool relu)
{
    if (!pass->adds) clear_vectors(pass, &pass->work->encoder->units[unit]);
    for (int i = 0; i < pass->count; i++) {
        const Real *h = relu ? h_of(pass->work, unit, pass->first + i, pass->worker) : NULL;
        norm_backward_image(pass, unit, g + gradient_at(pass, i), h, i);
    }
}

static void winograd_backward_unit(const Pass *pass, int unit, const Real *x, Real *dx,
                                   bool accumulate)
{
    const EncoderWork *w = pass->work;
    const EncoderUnit *part = &w->encoder->units[unit];
    Real *scratch = w->winograd + (size_t)pass->worker * w->winograd_size;
    WinogradImages xs = {part->in, image_size(part->in), pass->count};
    WinogradImages dxs = {image_bordered(part->in, 0), w->scratch_size, pass->count};
    WinogradImages dus = {part->out, w->scratch_size, pass->count};
    winograd_image_backward_weight(grad_of(pass, part->weight), scratch, x, xs, pass->du, dus,
                                   pass->adds);
    if (dx)
        winograd_image_conv(dx, dxs, scratch, pass->du, dus, w->pack_back[unit], accumulate, NULL);
}

static void direct_backward_unit(const Pass *pass, int unit, const Real *x, Real *dx,
                                 bool accumulate)
{
    const EncoderWork *w = pass->work;
    const EncoderUnit *part = &w->encoder->units[unit];
    for (int i = 0; i < pass->count; i++) {
        const Real *du = pass->du + gradient_at(pass, i);
        conv2d_backward_weight(grad_of(pass, part->weight), x + (size_t)i * image_size(part->in),
                               part->in, du, part->out, part->conv, pass->adds || i > 0);
        if (dx)
            conv2d_backward_input(dx + gradient_at(pass, i), image_bordered(part->in, 0), du,
                                  part->out, w->pack_back[unit], part->conv, accumulate);
    }
}

// From du to the gradient of the unit's weights, and of its input x where `dx` is given.
static void conv_backward_unit(const Pass *pass, int unit, const Real *x, Real *dx, bool accumulate)
{
    if (unit_takes_winograd(&pass->work->encoder->units[unit]))
        winograd_backward_unit(pass, unit, x, dx, accumulate);
    else
        direct_backward_unit(pass, unit, x, dx, accumulate);
}

// The gradient of a block's result is that of an input which is added as it is.
static void copy_gradients(const Pass *pass, Real *to, size_t size)
{
    for (int i = 0; i < pass->count; i++)
        memcpy(to + gradient_at(pass, i), pass->g + gradient_at(pass, i), size * sizeof *to);
}

// Takes g from the result of block b to its input; nothing below a block whose input is frozen.
static void block_backward(Pass *pass, int b, bool input_too)
{
    const EncoderWork *w = pass->work;
    const Encoder *e = w->encoder;
    const EncoderBlock *block = &e->blocks[b];
    const EncoderUnit *first = &e->units[block->first];
    const Real *x = block_input(w, b, pass->first, pass->worker);
    const Real *middle = h_of(w, block->first, pass->first, pass->worker);
    Real *below = input_too ? pass->below : NULL;
    norm_backward_unit(pass, block->second, pass->g, true);
    conv_backward_unit(pass, block->second, middle, pass->middle, false);
    bool added = block->skip == ENCODER_NONE && below; // the input itself, to the result
    if (added) copy_gradients(pass, below, image_size(image_bordered(first->in, 0)));
    norm_backward_unit(pass, block->first, pass->middle, true);
    conv_backward_unit(pass, block->first, x, below, added);
    if (block->skip != ENCODER_NONE) {
        norm_backward_unit(pass, block->skip, pass->g, false);
        conv_backward_unit(pass, block->skip, x, below, true);
    }
    pass->below = pass->g;
    if (below) pass->g = below;
}

static void stem_backward(Pass *pass)
{
    const EncoderWork *w = pass->work;
    const Encoder *e = w->encoder;
    ImageShape dense = image_bordered(e->units[0].out, 0);
    for (int i = 0; e->config.stem_pool && i < pass->count; i++)
        max_pool_backward(pass->middle + gradient_at(pass, i), dense,
                          pass->g + gradient_at(pass, i), image_bordered(e->pooled, 0),
                          chosen_of(w, pass->first + i, pass->worker));
    norm_backward_unit(pass, 0, e->config.stem_pool ? pass->middle : pass->g, true);
    conv_backward_unit(pass, 0, input_of(w, pass->first, pass->worker), NULL, false);
}

// From the gradient of what the head takes to that of the last activation.
static void pools_backward(const Pass *pass, int i)
{
    const EncoderWork *w = pass->work;
    const Encoder *e = w->encoder;
    ImageShape last = image_bordered(encoder_last(e), 0);
    size_t width = (size_t)encoder_pooled_width(e), image = (size_t)pass->first + (size_t)i;
    const Real *dpooled = w->dpooled + image * width;
    Real *g = pass->g + gradient_at(pass, i);
    keypoints_backward(g, last, dpooled, w->softmax + image * softmax_size(e),
                       w->pooled + image * width);
    mean_pool_backward(g, last, dpooled + 2 * last.channels);
    if (e->config.flat)
        column_sums(g, dpooled + ENCODER_POOLS * last.channels, 1, (int)softmax_size(e));
}

static void group_backward(Pass *pass)
{
    const Encoder *e = pass->work->encoder;
    for (int i = 0; i < pass->count; i++) pools_backward(pass, i);
    for (int b = e->block_count - 1; b >= 0; b--) {
        int level = e->units[e->blocks[b].first].level;
        int below = b > 0 ? e->units[e->blocks[b - 1].first].level : 0;
        if (!encoder_trains(e, level)) return;
        block_backward(pass, b, encoder_trains(e, below));
    }
    if (encoder_trains(e, 0)) stem_backward(pass);
}

// The images [first, last) of shard s.
static int shard_start(const Backward *b, int s) { return s * b->work->images / b->shards; }

static void shard_task(void *context, int s, int worker)
{
    const Backward *b = context;
    EncoderWork *w = b->work;
    size_t size = encoder_units_size(w->encoder),
           at = (size_t)worker * (size_t)w->group * w->scratch_size;
    Real *grads = w->shards + (size_t)s * size;
    int first = shard_start(b, s), last = shard_start(b, s + 1);
    for (int i = first; i < last; i += w->group) {
        Pass pass = {.work = w,
                     .grads = grads,
                     .first = i,
                     .count = last - i < w->group ? last - i : w->group,
                     .worker = worker,
                     .adds = i > first,
                     .g = w->scratch[0] + at,
                     .middle = w->scratch[1] + at,
                     .below = w->scratch[2] + at,
                     .du = w->scratch[3] + at};
        group_backward(&pass);
    }
}

enum { SUM_CHUNK = 1 << 13 };

static void sum_task(void *context, int chunk, int worker)
{
    (void)worker;
    const Backward *b = context;
    const Encoder *e = b->work->encoder;
    size_t size = encoder_units_size(e), start = (size_t)chunk * SUM_CHUNK;
    size_t count = size - start < SUM_CHUNK ? size - start : SUM_CHUNK;
    Real *out = b->dparams + e->trained_from + start;
    memcpy(out, b->work->shards + start, count * sizeof *out);
    for (int s = 1; s < b->shards; s++)
        column_sums(out, b->work->shards + (size_t)s * size + start, 1, (int)count);
}

void encoder_backward(Real *dparams, EncoderWork *work, const Real *dfeatures, FacetPool *pool)
{
    assert(work->train && "the workspace is not for training");
    assert(work->images > 0 && facet_pool_threads(pool) <= work->threads);
    const Encoder *e = work->encoder;
    int shards = work->images < ENCODER_SHARDS ? work->images : ENCODER_SHARDS;
    Backward b = {work, dparams, shards};
    memset(dparams, 0, e->trained_from * sizeof *dparams);
    encoder_head_backward(dparams, work, dfeatures, pool);
    pool_for(pool, shards, shard_task, &b);
    size_t size = encoder_units_size(e);
    pool_for(pool, (int)((size + SUM_CHUNK - 1) / SUM_CHUNK), sum_task, &b);
}
