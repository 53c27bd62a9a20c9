// Training one network of a policy (see train/learner.h).
#include "train/learner.h"

#include "base/rng.h"
#include "diffusion/streams.h"
#include "encoder/frame.h"
#include "train/encoder_backward.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t image_numbers(const Encoder *encoder)
{
    const EncoderConfig *config = encoder_config(encoder);
    return (size_t)config->height * (size_t)config->width * 3;
}

static size_t block_bytes(const Encoder *encoder)
{
    return encoder_table(encoder)->size * sizeof(float);
}

static int feature_width(const LearnerShape *shape)
{
    return shape->encoder ? encoder_config(shape->encoder)->features : 0;
}

// The tensors of the two networks draw from different seeds.
static uint64_t encoder_seed(uint64_t seed)
{
    uint32_t words[4];
    rng_block(words, seed, STREAM_ENCODER, 0);
    return (uint64_t)words[0] << 32 | words[1];
}

LearnerShape learner_shape(const FacetPolicy *policy)
{
    const Observe *o = policy->observe;
    if (!o) return (LearnerShape){0};
    return (LearnerShape){observe_numbers(o), o->steps * o->images, policy->encoder};
}

static FacetStatus check(const LearnerShape *shape, const ScoreNet *net, double jitter)
{
    int width = shape->numbers + shape->images * feature_width(shape);
    if (net->config.context != width)
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected a network with a context of %d, found %d", width,
                           net->config.context);
    if (!(jitter >= 0.0 && jitter <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT, "training: expected a jitter from 0 to 1, found %g",
                           jitter);
    return status_ok();
}

static FacetStatus allocate_encoder(Learner *t, TrainConfig config, int threads)
{
    const Encoder *encoder = t->shape.encoder;
    const TensorTable *table = encoder_table(encoder);
    int images = config.batch * t->shape.images;
    t->params = policy_block(table);
    t->grads = policy_block(table);
    t->inputs = calloc((size_t)images * image_numbers(encoder), sizeof *t->inputs);
    t->features = calloc((size_t)images * (size_t)feature_width(&t->shape), sizeof *t->features);
    if (!t->params || !t->grads || !t->inputs || !t->features)
        return status_fail(FACET_NO_MEMORY, "out of memory for training on %d images at once",
                           images);
    tensor_init(t->params, table, encoder_seed(config.seed));
    TRY(encoder_work_create(&t->work, encoder, images, threads, !t->frozen));
    TRY(optimizer_create(&t->optimizer, table, config.optimizer, t->params));
    optimizer_freeze(t->optimizer, encoder_trained_from(encoder));
    return status_ok();
}

static FacetStatus allocate(Learner *t, const ScoreNet *net, const NoiseSchedule *schedule,
                            TrainConfig config, int threads)
{
    size_t width = (size_t)net->config.context;
    TRY(trainer_create(&t->trainer, net, schedule, config, threads));
    if (!width) return status_ok();
    t->context = calloc((size_t)config.batch * width, sizeof *t->context);
    if (!t->context) return status_fail(FACET_NO_MEMORY, "out of memory for training");
    return t->shape.encoder ? allocate_encoder(t, config, threads) : status_ok();
}

FacetStatus learner_create(Learner **out, LearnerShape shape, const ScoreNet *net,
                           const NoiseSchedule *schedule, TrainConfig config, double jitter,
                           bool freeze_encoder, int threads)
{
    *out = NULL;
    TRY(check(&shape, net, jitter));
    Learner *t = calloc(1, sizeof *t);
    if (!t) return status_fail(FACET_NO_MEMORY, "out of memory for training");
    t->shape = shape;
    t->jitter = jitter;
    t->frozen = freeze_encoder;
    FacetStatus status = allocate(t, net, schedule, config, threads);
    if (!status.ok) {
        learner_free(t);
        return status;
    }
    *out = t;
    return status_ok();
}

void learner_free(Learner *t)
{
    if (!t) return;
    trainer_free(t->trainer);
    optimizer_free(t->optimizer);
    encoder_work_free(t->work);
    free(t->context);
    free(t->params);
    free(t->grads);
    free(t->inputs);
    free(t->features);
    free(t);
}

void learner_set_encoder(Learner *t, const float *params)
{
    memcpy(t->params, params, block_bytes(t->shape.encoder));
    memcpy(t->optimizer->ema, params, block_bytes(t->shape.encoder));
}

long learner_updates(const Learner *t) { return t->trainer->optimizer->updates; }

// ---- The context --------------------------------------------------------------------------------

// The images of a sample are changed alike.
static void change_images(const Learner *t, int sample, FrameJitter jitter)
{
    size_t size = image_numbers(t->shape.encoder), images = (size_t)t->shape.images;
    for (size_t i = (size_t)sample * images; i < ((size_t)sample + 1) * images; i++)
        frame_input(t->inputs + i * size, t->rgb + i * size, (int)(size / 3), jitter);
}

static void jittered_task(void *context, int sample, int worker)
{
    (void)worker;
    const Learner *t = context;
    uint64_t update = (uint64_t)learner_updates(t);
    FacetRng rng =
        rng_make(t->trainer->config.seed, STREAM_IMAGE + (update << 20) + (uint64_t)sample);
    change_images(t, sample,
                  t->jitter > 0.0 ? frame_jitter_draw(&rng, t->jitter) : frame_jitter_none());
}

static void plain_task(void *context, int sample, int worker)
{
    (void)worker;
    change_images(context, sample, frame_jitter_none());
}

// Moves the features between their own block and their places in the contexts.
static void move_features(Learner *t, float *contexts, int count, bool out)
{
    size_t width = (size_t)t->trainer->net->config.context, numbers = (size_t)t->shape.numbers;
    size_t size = width - numbers;
    for (int i = 0; i < count; i++) {
        float *place = contexts + (size_t)i * width + numbers;
        float *own = t->features + (size_t)i * size;
        memcpy(out ? place : own, out ? own : place, size * sizeof *own);
    }
}

// The contexts of the first samples of a batch, with these weights of the encoder.
static const float *make_context(Learner *t, const LearnerBatch *batch, const float *encoder,
                                 int count, void (*change)(void *context, int sample, int worker),
                                 FacetPool *pool)
{
    size_t width = (size_t)t->trainer->net->config.context, numbers = (size_t)t->shape.numbers;
    if (!width) return NULL;
    for (size_t i = 0; i < (size_t)count && numbers; i++)
        memcpy(t->context + i * width, batch->numbers + i * numbers, numbers * sizeof *t->context);
    if (!t->shape.encoder) return t->context;
    t->rgb = batch->rgb;
    pool_for(pool, count, change, t);
    encoder_load(t->work, encoder, pool);
    encoder_forward(t->features, t->work, t->inputs, count * t->shape.images, pool);
    move_features(t, t->context, count, true);
    return t->context;
}

// ---- An update ----------------------------------------------------------------------------------

static TrainReport step_both(Learner *t, const LearnerBatch *batch, FacetPool *pool)
{
    Trainer *trainer = t->trainer;
    int count = trainer->config.batch;
    const float *context = make_context(t, batch, t->params, count, jittered_task, pool);
    TrainReport report = trainer_gradients(trainer, batch->x0, batch->z, context, pool);
    if (!t->frozen) {
        move_features(t, trainer->dcontext, count, false);
        encoder_backward(t->grads, t->work, t->features, pool);
        report.grad_norm = hypot(report.grad_norm, optimizer_norm(t->optimizer, t->grads, pool));
        report.finite = report.finite && isfinite(report.grad_norm);
    }
    if (!report.finite) return report;
    optimizer_step(trainer->optimizer, trainer->params, trainer->grads, report.grad_norm,
                   report.rate, pool);
    if (!t->frozen)
        optimizer_step(t->optimizer, t->params, t->grads, report.grad_norm, report.rate, pool);
    return report;
}

TrainReport learner_gradients(Learner *t, const LearnerBatch *batch, FacetPool *pool)
{
    int count = t->trainer->config.batch;
    const float *context = make_context(t, batch, t->params, count, plain_task, pool);
    return trainer_gradients(t->trainer, batch->x0, batch->z, context, pool);
}

TrainReport learner_step(Learner *t, const LearnerBatch *batch, FacetPool *pool)
{
    if (t->shape.encoder) return step_both(t, batch, pool);
    const float *context = make_context(t, batch, NULL, t->trainer->config.batch, NULL, pool);
    return trainer_step(t->trainer, batch->x0, batch->z, context, pool);
}

TrainLoss learner_loss(Learner *t, const LearnerBatch *batch, int count, uint64_t number,
                       FacetPool *pool)
{
    const float *encoder = t->shape.encoder ? t->optimizer->ema : NULL;
    const float *context = make_context(t, batch, encoder, count, plain_task, pool);
    return trainer_loss(t->trainer, t->trainer->optimizer->ema, batch->x0, batch->z, context, count,
                        number, pool);
}

// ---- Results ------------------------------------------------------------------------------------

void learner_store(FacetPolicy *policy, int network, const Learner *t)
{
    const TensorTable *table = &t->trainer->net->table;
    assert(policy->net->table.size == table->size);
    memcpy(policy->params[network], t->trainer->optimizer->ema, table->size * sizeof(float));
    if (!t->shape.encoder) return;
    assert(encoder_table(policy->encoder)->size == encoder_table(t->shape.encoder)->size);
    memcpy(policy->encoder_params[network], t->optimizer->ema, block_bytes(t->shape.encoder));
}
