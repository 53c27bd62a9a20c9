// The encoder's workspace: its memory, and the packed weights (see encoder/encoder.h).
#include "base/memory.h"
#include "encoder/parts.h"
#include "math/gemm_packed.h"

#include <assert.h>
#include <stdlib.h>

static Real *carve(Real *base, size_t *used, size_t size)
{
    Real *out = base ? base + *used : NULL;
    *used += (size + TENSOR_ALIGN - 1) / TENSOR_ALIGN * TENSOR_ALIGN;
    return out;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t slots(const EncoderWork *w, bool kept)
{
    return (size_t)(kept ? w->capacity : w->threads * w->group);
}

static size_t packed_size(const EncoderUnit *unit, bool backward)
{
    Conv2d c = unit->conv;
    if (!unit_takes_winograd(unit)) return conv2d_packed_size(c, backward);
    return backward ? winograd_image_packed_size(c.out, c.in)
                    : winograd_image_packed_size(c.in, c.out);
}

static void lay_out_packed(EncoderWork *w, Real *base, size_t *used)
{
    const Encoder *e = w->encoder;
    for (int i = 0; i < e->unit_count; i++) {
        const EncoderUnit *unit = &e->units[i];
        w->pack[i] = carve(base, used, packed_size(unit, false));
        if (i > 0 && work_keeps(w, unit->level))
            w->pack_back[i] = carve(base, used, packed_size(unit, true));
    }
}

// The results of convolutions that are not kept take turns in two buffers: a skip's must last while
// the block's other two come and go.
static void lay_out_units(EncoderWork *w, Real *base, size_t *used)
{
    const Encoder *e = w->encoder;
    size_t spare = 0;
    for (int i = 0; i < e->unit_count; i++)
        if (!work_keeps(w, e->units[i].level))
            spare = larger(spare, image_size(image_bordered(e->units[i].out, 0)));
    Real *shared = carve(base, used, slots(w, false) * spare);
    Real *shared_skip = carve(base, used, slots(w, false) * spare);
    bool is_skip[ENCODER_UNITS_MAX] = {false};
    for (int b = 0; b < e->block_count; b++)
        if (e->blocks[b].skip != ENCODER_NONE) is_skip[e->blocks[b].skip] = true;
    for (int i = 0; i < e->unit_count; i++) {
        const EncoderUnit *unit = &e->units[i];
        bool kept = work_keeps(w, unit->level);
        w->stat[i] = carve(base, used, slots(w, kept) * 4 * (size_t)unit->out.channels);
        w->u_size[i] = kept ? image_size(image_bordered(unit->out, 0)) : spare;
        if (kept)
            w->u[i] = carve(base, used, slots(w, true) * w->u_size[i]);
        else
            w->u[i] = is_skip[i] ? shared_skip : shared;
        if (!is_skip[i])
            w->h[i] = carve(base, used,
                            slots(w, work_keeps_result(w, unit->level)) * image_size(unit->out));
        size_t moments = (size_t)unit_strips(unit) * 2 * (size_t)e->config.groups;
        w->moments_size = larger(w->moments_size, moments);
        w->scratch_size = larger(w->scratch_size, image_size(unit->out));
    }
}

static void lay_out_head(EncoderWork *w, Real *base, size_t *used)
{
    const Encoder *e = w->encoder;
    size_t images = slots(w, true), features = (size_t)e->config.features;
    size_t pooled = images * (size_t)encoder_pooled_width(e);
    w->pooled = carve(base, used, pooled);
    w->turned = carve(base, used, pooled);
    w->head_hat = carve(base, used, images * features);
    w->head_rstd = carve(base, used, images);
    if (!w->train) return;
    w->dpooled = carve(base, used, pooled);
    w->dhead = carve(base, used, images * features);
    w->dhead_rows = carve(base, used, gemm_packed_size(e->config.features, w->capacity));
    w->dhead_columns = carve(base, used, gemm_packed_size(w->capacity, e->config.features));
}

static void lay_out_scratch(EncoderWork *w, Real *base, size_t *used)
{
    const Encoder *e = w->encoder;
    size_t threads = (size_t)w->threads;
    for (int i = 0; i < e->unit_count; i++) {
        Conv2d c = e->units[i].conv;
        if (unit_takes_winograd(&e->units[i]))
            w->winograd_size =
                larger(w->winograd_size, w->train ? winograd_image_gradient_scratch(c.in, c.out)
                                                  : winograd_image_scratch(c.in, c.out));
    }
    w->moments = carve(base, used, threads * w->moments_size);
    w->winograd = carve(base, used, threads * w->winograd_size);
}

// Sets the pointers into `base`, or only counts when it is NULL. Returns the size.
static size_t lay_out(EncoderWork *w, Real *base)
{
    const Encoder *e = w->encoder;
    size_t used = 0;
    lay_out_packed(w, base, &used);
    w->input = carve(base, &used, slots(w, work_keeps(w, 0)) * image_size(e->units[0].in));
    lay_out_units(w, base, &used);
    if (e->config.stem_pool)
        w->pool = carve(base, &used, slots(w, work_keeps_result(w, 0)) * image_size(e->pooled));
    w->softmax = carve(base, &used, slots(w, w->train) * softmax_size(e));
    lay_out_head(w, base, &used);
    lay_out_scratch(w, base, &used);
    if (!w->train) return used;
    w->shards = carve(base, &used, ENCODER_SHARDS * encoder_units_size(e));
    for (int i = 0; i < 4; i++)
        w->scratch[i] = carve(base, &used, slots(w, false) * w->scratch_size);
    return used;
}

FacetStatus encoder_work_create(EncoderWork **out, const Encoder *encoder, int images, int threads,
                                bool train)
{
    assert(images > 0 && threads > 0);
    *out = NULL;
    EncoderWork *w = calloc(1, sizeof *w);
    if (!w) return status_fail(FACET_NO_MEMORY, "out of memory for the encoder's workspace");
    w->encoder = encoder;
    w->capacity = images;
    w->threads = threads;
    w->group = images < ENCODER_GROUP ? images : ENCODER_GROUP;
    w->train = train;
    size_t bytes = lay_out(w, NULL) * sizeof(Real);
    size_t chosen = encoder->config.stem_pool ? slots(w, work_keeps(w, 0)) *
                                                    image_size(image_bordered(encoder->pooled, 0))
                                              : 1;
    w->memory = memory_block(bytes);
    w->bytes = calloc(chosen, 1);
    if (!w->memory || !w->bytes) {
        encoder_work_free(w);
        return status_fail(FACET_NO_MEMORY,
                           "out of memory for an encoder's workspace of %d images (%zu MB)", images,
                           (bytes + chosen) >> 20);
    }
    lay_out(w, w->memory);
    w->chosen = w->bytes;
    *out = w;
    return status_ok();
}

void encoder_work_free(EncoderWork *work)
{
    if (!work) return;
    free(work->memory);
    free(work->bytes);
    free(work);
}

// ---- Parameters ---------------------------------------------------------------------------------

// The weights of unit i / 2, forwards or backwards.
static void pack_task(void *context, int i, int worker)
{
    (void)worker;
    EncoderWork *w = context;
    const EncoderUnit *unit = &w->encoder->units[i / 2];
    const Real *weight = w->params + unit->weight;
    Conv2d c = unit->conv;
    bool backward = i % 2, winograd = unit_takes_winograd(unit);
    Real *packed = backward ? w->pack_back[i / 2] : w->pack[i / 2];
    if (!packed) return;
    if (winograd && backward)
        winograd_image_pack_backward(packed, weight, c.in, c.out);
    else if (winograd)
        winograd_image_pack(packed, weight, c.in, c.out);
    else if (backward)
        conv2d_pack_backward(packed, weight, c);
    else
        conv2d_pack(packed, weight, c);
}

// Without a norm the input's border is what the weights were trained to see there.
static void fill_input_border(EncoderWork *w)
{
    const Encoder *e = w->encoder;
    ImageShape s = e->units[0].in;
    const Real *pad = w->params + e->input_pad;
    for (size_t i = 0; i < slots(w, work_keeps(w, 0)); i++) {
        Real *input = w->input + i * image_size(s);
        for (int y = -s.border; y < s.height + s.border; y++)
            for (int x = -s.border; x < s.width + s.border; x++) {
                bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
                if (!inside) memcpy(input + image_at(s, y, x), pad, 3 * sizeof *pad);
            }
    }
}

void encoder_load(EncoderWork *work, const Real *params, FacetPool *pool)
{
    work->params = params;
    if (!work->encoder->config.groups) fill_input_border(work);
    pool_for(pool, 2 * work->encoder->unit_count, pack_task, work);
}
