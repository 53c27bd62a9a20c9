// Training a policy that sees (see train/image_trainer.h).
#include "train/image_trainer.h"

#include "base/rng.h"
#include "diffusion/streams.h"
#include "encoder/frame.h"
#include "train/encoder_backward.h"
#include "train/training.h"

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

// The tensors of the two networks draw from different seeds.
static uint64_t encoder_seed(uint64_t seed)
{
    uint32_t words[4];
    rng_block(words, seed, STREAM_ENCODER, 0);
    return (uint64_t)words[0] << 32 | words[1];
}

static FacetStatus check(const Encoder *encoder, const ScoreNet *net, double jitter)
{
    int features = encoder_config(encoder)->features;
    if (net->config.context != features)
        return status_fail(FACET_BAD_ARGUMENT,
                           "training: expected a network with a context of %d features, found %d",
                           features, net->config.context);
    if (!(jitter >= 0.0 && jitter <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT, "training: expected a jitter from 0 to 1, found %g",
                           jitter);
    return status_ok();
}

static FacetStatus allocate(ImageTrainer *t, const ScoreNet *net, const NoiseSchedule *schedule,
                            TrainConfig config, int threads)
{
    const TensorTable *table = encoder_table(t->encoder);
    TRY(trainer_create(&t->trainer, net, schedule, config, threads));
    size_t batch = (size_t)config.batch;
    t->params = policy_block(table);
    t->grads = policy_block(table);
    t->inputs = calloc(batch * image_numbers(t->encoder), sizeof *t->inputs);
    t->features = calloc(batch * (size_t)net->config.context, sizeof *t->features);
    if (!t->params || !t->grads || !t->inputs || !t->features)
        return status_fail(FACET_NO_MEMORY, "out of memory for training on %d images at once",
                           config.batch);
    tensor_init(t->params, table, encoder_seed(config.seed));
    TRY(encoder_work_create(&t->work, t->encoder, config.batch, threads, !t->frozen));
    TRY(optimizer_create(&t->optimizer, table, config.optimizer, t->params));
    optimizer_freeze(t->optimizer, encoder_trained_from(t->encoder));
    return status_ok();
}

FacetStatus image_trainer_create(ImageTrainer **out, const Encoder *encoder, const ScoreNet *net,
                                 const NoiseSchedule *schedule, TrainConfig config, double jitter,
                                 bool freeze_encoder, int threads)
{
    *out = NULL;
    TRY(check(encoder, net, jitter));
    ImageTrainer *t = calloc(1, sizeof *t);
    if (!t) return status_fail(FACET_NO_MEMORY, "out of memory for training");
    t->encoder = encoder;
    t->jitter = jitter;
    t->frozen = freeze_encoder;
    FacetStatus status = allocate(t, net, schedule, config, threads);
    if (!status.ok) {
        image_trainer_free(t);
        return status;
    }
    *out = t;
    return status_ok();
}

void image_trainer_free(ImageTrainer *t)
{
    if (!t) return;
    trainer_free(t->trainer);
    optimizer_free(t->optimizer);
    encoder_work_free(t->work);
    free(t->params);
    free(t->grads);
    free(t->inputs);
    free(t->features);
    free(t);
}

void image_trainer_set_encoder(ImageTrainer *t, const float *params)
{
    memcpy(t->params, params, block_bytes(t->encoder));
    memcpy(t->optimizer->ema, params, block_bytes(t->encoder));
}

long image_trainer_updates(const ImageTrainer *t) { return t->trainer->optimizer->updates; }

// ---- An update ----------------------------------------------------------------------------------

static void image_task(void *context, int sample, int worker)
{
    (void)worker;
    ImageTrainer *t = context;
    size_t size = image_numbers(t->encoder), at = (size_t)sample * size;
    uint64_t update = (uint64_t)image_trainer_updates(t);
    FacetRng rng =
        rng_make(t->trainer->config.seed, STREAM_IMAGE + (update << 20) + (uint64_t)sample);
    FrameJitter jitter = t->jitter > 0.0 ? frame_jitter_draw(&rng, t->jitter) : frame_jitter_none();
    frame_input(t->inputs + at, t->images + at, (int)(size / 3), jitter);
}

TrainReport image_trainer_step(ImageTrainer *t, const uint8_t *images, const float *x0,
                               const int *z, FacetPool *pool)
{
    Trainer *trainer = t->trainer;
    int batch = trainer->config.batch;
    t->images = images;
    pool_for(pool, batch, image_task, t);
    encoder_load(t->work, t->params, pool);
    encoder_forward(t->features, t->work, t->inputs, batch, pool);
    TrainReport report = trainer_gradients(trainer, x0, z, t->features, pool);
    if (!t->frozen) {
        encoder_backward(t->grads, t->work, trainer->dcontext, pool);
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

// ---- Results and checkpoints --------------------------------------------------------------------

void image_trainer_store(FacetPolicy *policy, const ImageTrainer *t)
{
    const TensorTable *table = &t->trainer->net->table;
    assert(policy->net->table.size == table->size && policy->encoder);
    assert(encoder_table(policy->encoder)->size == encoder_table(t->encoder)->size);
    memcpy(policy->params[0], t->trainer->optimizer->ema, table->size * sizeof(float));
    memcpy(policy->encoder_params, t->optimizer->ema, block_bytes(t->encoder));
}
