// What a policy sees (see policy/sight.h).
#include "policy/sight.h"

#include "encoder/frame.h"

#include <assert.h>
#include <stdlib.h>

struct Sight {
    const Encoder *encoder;
    int room;        // frames at once
    uint8_t *shrunk; // [room][height][width][3]
    float *inputs;   // [room][height][width][3]
    EncoderWork *work;
};

FacetStatus sight_create(Sight **out, const Encoder *encoder, const float *params, int frames,
                         int threads, FacetPool *pool)
{
    assert(frames > 0);
    *out = NULL;
    const EncoderConfig *config = encoder_config(encoder);
    size_t size = (size_t)config->height * (size_t)config->width * 3;
    Sight *s = calloc(1, sizeof *s);
    if (!s) return status_fail(FACET_NO_MEMORY, "out of memory for frames");
    s->encoder = encoder;
    s->room = frames;
    s->shrunk = calloc((size_t)frames * size, sizeof *s->shrunk);
    s->inputs = calloc((size_t)frames * size, sizeof *s->inputs);
    FacetStatus status = encoder_work_create(&s->work, encoder, frames, threads, false);
    if (status.ok && (!s->shrunk || !s->inputs))
        status = status_fail(FACET_NO_MEMORY, "out of memory for %d frames", frames);
    if (!status.ok) {
        sight_free(s);
        return status;
    }
    encoder_load(s->work, params, pool);
    *out = s;
    return status_ok();
}

void sight_free(Sight *sight)
{
    if (!sight) return;
    encoder_work_free(sight->work);
    free(sight->shrunk);
    free(sight->inputs);
    free(sight);
}

typedef struct Frames {
    Sight *sight;
    const uint8_t *frames;
} Frames;

static void frame_task(void *context, int index, int worker)
{
    (void)worker;
    const Frames *frames = context;
    Sight *s = frames->sight;
    const EncoderConfig *c = encoder_config(s->encoder);
    int pixels = c->height * c->width;
    size_t at = (size_t)index * (size_t)pixels * 3, area = (size_t)c->shrink * (size_t)c->shrink;
    frame_shrink(s->shrunk + at, frames->frames + at * area, c->width * c->shrink,
                 c->height * c->shrink, c->shrink);
    frame_input(s->inputs + at, s->shrunk + at, pixels, frame_jitter_none());
}

void sight_features(float *features, Sight *sight, const uint8_t *frames, int count,
                    FacetPool *pool)
{
    assert(count > 0 && count <= sight->room);
    pool_for(pool, count, frame_task, &(Frames){sight, frames});
    encoder_forward(features, sight->work, sight->inputs, count, pool);
}

void sight_shrunk(float *features, Sight *sight, const uint8_t *images, int count, FacetPool *pool)
{
    assert(count > 0 && count <= sight->room);
    const EncoderConfig *c = encoder_config(sight->encoder);
    frame_input(sight->inputs, images, count * c->height * c->width, frame_jitter_none());
    encoder_forward(features, sight->work, sight->inputs, count, pool);
}
