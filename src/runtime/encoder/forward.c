// The encoder's forward pass (see encoder/encoder.h).
//
// A pass is a row of steps, each cut into strips of rows: the convolutions with the moments of
// their results, then the norm with what follows it. Images go in groups, so that Winograd's
// products have enough tiles. With enough images every group is one task; with few, the strips of
// each step are shared out. The strips are the same either way.
#include "encoder/parts.h"
#include "nn/image_epilogue.h"

#include <assert.h>

// The pass of a group of images. `worker` names its scratch.
typedef struct Pass {
    EncoderWork *work;
    FacetPool *pool; // of the strips, or NULL to run them here
    int first, count, worker;
    int image, slot; // that the step works on
    int unit, block; // of the step
} Pass;

static void turn_to(Pass *pass, int i)
{
    pass->image = pass->first + i;
    pass->slot = pass->worker * pass->work->group + i;
}

typedef void (*Step)(void *context, int strip, int worker);

// Below this many floating-point operations, waking the pool costs more than it saves.
static const double share_from = 2e6;

static void run_strips(Pass *pass, int strips, Step step, double operations)
{
    if (pass->pool && operations >= share_from)
        pool_for(pass->pool, strips, step, pass);
    else
        for (int i = 0; i < strips; i++) step(pass, i, 0);
}

static Real *moments_of(const Pass *pass)
{
    return pass->work->moments + (size_t)pass->worker * pass->work->moments_size;
}

// The rows of strip i of a unit's result.
static int strip_row(const EncoderUnit *unit, int i)
{
    return i * unit->out.height / unit_strips(unit);
}

static const Real *unit_input(const Pass *pass)
{
    const EncoderWork *w = pass->work;
    if (pass->unit == 0) return input_of(w, pass->image, pass->slot);
    const EncoderBlock *block = &w->encoder->blocks[pass->block];
    return pass->unit == block->second ? h_of(w, block->first, pass->image, pass->slot)
                                       : block_input(w, pass->block, pass->image, pass->slot);
}

// A strip's result, unless Winograd's products have made it, and its moments.
static void conv_step(void *context, int strip, int worker)
{
    (void)worker;
    const Pass *pass = context;
    const EncoderWork *w = pass->work;
    const EncoderUnit *unit = &w->encoder->units[pass->unit];
    ImageShape dense = image_bordered(unit->out, 0);
    int first = strip_row(unit, strip), last = strip_row(unit, strip + 1);
    int groups = w->encoder->config.groups;
    Real *u = u_of(w, pass->unit, pass->image, pass->slot);
    if (!unit_takes_winograd(unit))
        conv2d_rows(u, dense, unit_input(pass), unit->in, w->pack[pass->unit], unit->conv, first,
                    last);
    if (groups)
        moments_strip(moments_of(pass) + (size_t)strip * 2 * (size_t)groups,
                      u + image_at(dense, first, 0), (last - first) * dense.width, dense.channels,
                      groups);
}

// The norm's scale and shift from the strips' moments, in their order.
static void finish_moments(const Pass *pass)
{
    const EncoderWork *w = pass->work;
    const EncoderUnit *unit = &w->encoder->units[pass->unit];
    int groups = w->encoder->config.groups, channels = unit->out.channels;
    EncoderStat stat = stat_of(w, pass->unit, pass->image, pass->slot);
    if (!groups) {
        for (int c = 0; c < channels; c++) {
            stat.scale[c] = 1, stat.rstd[c] = 1, stat.mean[c] = 0;
            stat.shift[c] = w->params[unit->bias + (size_t)c];
        }
        return;
    }
    Real *sum = moments_of(pass);
    int row = unit->out.width * (channels / groups); // numbers of a group in a row of pixels
    for (int i = 1; i < unit_strips(unit); i++) {
        int first = strip_row(unit, i), last = strip_row(unit, i + 1);
        moments_merge(sum, sum + (size_t)i * 2 * (size_t)groups, (Real)(first * row),
                      (Real)((last - first) * row), groups);
    }
    norm_affine(stat.scale, stat.shift, stat.mean, stat.rstd, sum, (Real)(unit->out.height * row),
                w->params + unit->gamma, w->params + unit->beta, channels, groups);
}

static AffineSkip skip_of(const Pass *pass)
{
    const EncoderWork *w = pass->work;
    const Encoder *e = w->encoder;
    if (pass->unit == 0) return (AffineSkip){0};
    const EncoderBlock *block = &e->blocks[pass->block];
    if (pass->unit == block->first) return (AffineSkip){0};
    if (block->skip == ENCODER_NONE)
        return (AffineSkip){.x = block_input(w, pass->block, pass->image, pass->slot),
                            .shape = e->units[block->first].in};
    EncoderStat stat = stat_of(w, block->skip, pass->image, pass->slot);
    return (AffineSkip){.x = u_of(w, block->skip, pass->image, pass->slot),
                        .shape = image_bordered(e->units[block->skip].out, 0),
                        .scale = stat.scale,
                        .shift = stat.shift};
}

static void norm_step(void *context, int strip, int worker)
{
    (void)worker;
    const Pass *pass = context;
    const EncoderWork *w = pass->work;
    const EncoderUnit *unit = &w->encoder->units[pass->unit];
    EncoderStat stat = stat_of(w, pass->unit, pass->image, pass->slot);
    affine_relu_rows(h_of(w, pass->unit, pass->image, pass->slot), unit->out,
                     u_of(w, pass->unit, pass->image, pass->slot), stat.scale, stat.shift,
                     skip_of(pass), strip_row(unit, strip), strip_row(unit, strip + 1));
}

static void pool_step(void *context, int row, int worker)
{
    (void)worker;
    const Pass *pass = context;
    const EncoderWork *w = pass->work;
    max_pool_rows(pool_of(w, pass->image, pass->slot), w->encoder->pooled,
                  chosen_of(w, pass->image, pass->slot), h_of(w, 0, pass->image, pass->slot),
                  w->encoder->units[0].out, row, row + 1);
}

// The results of all images of the group.
static void run_winograd(Pass *pass)
{
    const EncoderWork *w = pass->work;
    const EncoderUnit *unit = &w->encoder->units[pass->unit];
    turn_to(pass, 0);
    WinogradImages us = {image_bordered(unit->out, 0), w->u_size[pass->unit], pass->count};
    WinogradImages xs = {unit->in, image_size(unit->in), pass->count};
    winograd_image_conv(u_of(w, pass->unit, pass->image, pass->slot), us,
                        w->winograd + (size_t)pass->worker * w->winograd_size, unit_input(pass), xs,
                        w->pack[pass->unit], false, pass->pool);
}

static void run_conv(Pass *pass, int unit)
{
    const EncoderUnit *part = &pass->work->encoder->units[unit];
    bool winograd = unit_takes_winograd(part);
    pass->unit = unit;
    if (winograd) run_winograd(pass);
    for (int i = 0; i < pass->count; i++) {
        turn_to(pass, i);
        run_strips(pass, unit_strips(part), conv_step, winograd ? 0.0 : unit_flops(part));
        finish_moments(pass);
    }
}

static void run_unit(Pass *pass, int unit)
{
    const EncoderUnit *part = &pass->work->encoder->units[unit];
    run_conv(pass, unit);
    for (int i = 0; i < pass->count; i++) {
        turn_to(pass, i);
        run_strips(pass, unit_strips(part), norm_step, 8.0 * (double)image_size(part->out));
    }
}

// What the head takes of the last activation.
static void run_pools(const Pass *pass)
{
    const EncoderWork *w = pass->work;
    const Encoder *e = w->encoder;
    ImageShape s = encoder_last(e);
    const Real *h = h_of(w, e->blocks[e->block_count - 1].second, pass->image, pass->slot);
    Real *pooled = w->pooled + (size_t)pass->image * (size_t)encoder_pooled_width(e);
    Real *softmax = work_part(w->softmax, softmax_size(e), w->train, pass->image, pass->slot);
    keypoints_forward(pooled, softmax, h, s);
    mean_pool_forward(pooled + 2 * s.channels, h, s);
    if (e->config.flat) image_take(pooled + ENCODER_POOLS * s.channels, h, s);
}

static void run_stem(Pass *pass, const Real *inputs)
{
    const EncoderWork *w = pass->work;
    const Encoder *e = w->encoder;
    ImageShape in = e->units[0].in;
    for (int i = 0; i < pass->count; i++) {
        turn_to(pass, i);
        image_put(input_of(w, pass->image, pass->slot), in,
                  inputs + (size_t)pass->image * image_size(image_bordered(in, 0)));
    }
    run_unit(pass, 0);
    for (int i = 0; e->config.stem_pool && i < pass->count; i++) {
        turn_to(pass, i);
        run_strips(pass, e->pooled.height, pool_step, 18.0 * (double)image_size(e->pooled));
    }
}

static void run_group(Pass *pass, const Real *inputs)
{
    const Encoder *e = pass->work->encoder;
    run_stem(pass, inputs);
    for (int b = 0; b < e->block_count; b++) {
        const EncoderBlock *block = &e->blocks[b];
        pass->block = b;
        if (block->skip != ENCODER_NONE) run_conv(pass, block->skip);
        run_unit(pass, block->first);
        run_unit(pass, block->second);
    }
    for (int i = 0; i < pass->count; i++) {
        turn_to(pass, i);
        run_pools(pass);
    }
}

typedef struct Forward {
    EncoderWork *work;
    FacetPool *pool; // of the strips, or NULL
    const Real *inputs;
    int group;
} Forward;

static void group_task(void *context, int index, int worker)
{
    const Forward *forward = context;
    int first = index * forward->group, left = forward->work->images - first;
    Pass pass = {.work = forward->work,
                 .pool = forward->pool,
                 .first = first,
                 .count = left < forward->group ? left : forward->group,
                 .worker = worker};
    run_group(&pass, forward->inputs);
}

// Groups are as large as leaves one for every thread.
static int group_size(const EncoderWork *work, int threads)
{
    int group = work->images / threads;
    return group < 1 ? 1 : group < work->group ? group : work->group;
}

void encoder_forward(Real *features, EncoderWork *work, const Real *inputs, int images,
                     FacetPool *pool)
{
    int threads = facet_pool_threads(pool);
    assert(images <= work->capacity && threads <= work->threads);
    work->images = images;
    Forward forward = {work, NULL, inputs, group_size(work, threads)};
    if (images >= threads) {
        pool_for(pool, (images + forward.group - 1) / forward.group, group_task, &forward);
    } else {
        forward.pool = pool;
        for (int i = 0; i < images; i++) group_task(&forward, i, 0);
    }
    encoder_head_forward(features, work, pool);
}
