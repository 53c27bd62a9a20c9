// Initial values, AdamW, clipping, moving average and learning rate (see train/optim.h).
#include "train/optim.h"

#include "base/memory.h"
#include "base/rng.h"
#include "math/geometry.h"

#include <assert.h>
#include <stdlib.h>

enum { CHUNK = 1 << 16 };

void tensor_init(Real *params, const TensorTable *table, uint64_t seed)
{
    memset(params, 0, table->size * sizeof *params);
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        FacetRng rng = rng_make(seed, (uint64_t)i);
        Real *out = params + tensor->offset;
        for (size_t j = 0; j < tensor->size; j++) {
            double value = tensor->scale;
            if (tensor->init == INIT_UNIFORM) value = rng_range(&rng, -value, value);
            if (tensor->init == INIT_NORMAL) value *= rng_normal(&rng);
            out[j] = (Real)value;
        }
    }
}

// The optimizer works in chunks of one tensor each, so that a chunk has one decay and the split
// does not depend on the number of threads.
FacetStatus optimizer_create(Optimizer **out, const TensorTable *table, OptimizerConfig config,
                             const Real *params)
{
    *out = NULL;
    Optimizer *o = calloc(1, sizeof *o);
    if (!o) return status_fail(FACET_NO_MEMORY, "out of memory for the optimizer");
    o->config = config;
    o->table = table;
    for (int i = 0; i < table->count; i++)
        o->chunks += (int)((table->tensors[i].size + CHUNK - 1) / CHUNK);
    size_t chunks = (size_t)o->chunks;
    o->m = memory_block(table->size * sizeof *o->m);
    o->v = memory_block(table->size * sizeof *o->v);
    o->ema = memory_block(table->size * sizeof *o->ema);
    o->chunk_tensor = calloc(chunks, sizeof *o->chunk_tensor);
    o->chunk_start = calloc(chunks, sizeof *o->chunk_start);
    o->chunk_size = calloc(chunks, sizeof *o->chunk_size);
    o->chunk_square = calloc(chunks, sizeof *o->chunk_square);
    if (!o->m || !o->v || !o->ema || !o->chunk_tensor || !o->chunk_start || !o->chunk_size ||
        !o->chunk_square) {
        optimizer_free(o);
        return status_fail(FACET_NO_MEMORY, "out of memory for the optimizer of %zu parameters",
                           table->parameters);
    }
    memcpy(o->ema, params, table->size * sizeof *o->ema);
    int chunk = 0;
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        for (size_t start = 0; start < tensor->size; start += CHUNK, chunk++) {
            o->chunk_tensor[chunk] = i;
            o->chunk_start[chunk] = tensor->offset + start;
            o->chunk_size[chunk] = tensor->size - start < CHUNK ? tensor->size - start : CHUNK;
        }
    }
    o->last = o->chunks;
    *out = o;
    return status_ok();
}

void optimizer_free(Optimizer *o)
{
    if (!o) return;
    free(o->m);
    free(o->v);
    free(o->ema);
    free(o->chunk_tensor);
    free(o->chunk_start);
    free(o->chunk_size);
    free(o->chunk_square);
    free(o);
}

void optimizer_freeze(Optimizer *o, size_t before)
{
    int kept = 0;
    for (int i = 0; i < o->chunks; i++) {
        if (o->table->tensors[o->chunk_tensor[i]].offset < before) continue;
        o->chunk_tensor[kept] = o->chunk_tensor[i];
        o->chunk_start[kept] = o->chunk_start[i];
        o->chunk_size[kept++] = o->chunk_size[i];
    }
    o->chunks = o->last = kept;
}

typedef struct NormTask {
    Optimizer *optimizer;
    const Real *grads;
} NormTask;

static void norm_chunk(void *context, int task_index, int worker)
{
    (void)worker;
    NormTask *task = context;
    Optimizer *o = task->optimizer;
    int index = o->first + task_index;
    const Real *g = task->grads + o->chunk_start[index];
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < o->chunk_size[index]; i++) sum += (double)g[i] * (double)g[i];
    o->chunk_square[index] = sum;
}

void optimizer_squares(Optimizer *o, const Real *grads, FacetPool *pool)
{
    pool_for(pool, o->last - o->first, norm_chunk, &(NormTask){o, grads});
}

double optimizer_sum(const Optimizer *o)
{
    double sum = 0.0;
    for (int i = 0; i < o->chunks; i++) sum += o->chunk_square[i];
    return sqrt(sum);
}

double optimizer_norm(Optimizer *o, const Real *grads, FacetPool *pool)
{
    optimizer_squares(o, grads, pool);
    return optimizer_sum(o);
}

typedef struct StepTask {
    Optimizer *optimizer;
    Real *params;
    const Real *grads;
    Real scale;            // of the gradients, from clipping
    Real rate, shrink;     // rate / (1 - b1^n), and 1 - rate decay
    Real second, ema_keep; // 1 / (1 - b2^n), and the moving average's decay
} StepTask;

static void step_chunk(void *context, int task_index, int worker)
{
    (void)worker;
    const StepTask *task = context;
    Optimizer *o = task->optimizer;
    int index = o->first + task_index;
    size_t start = o->chunk_start[index], size = o->chunk_size[index];
    Real *restrict p = task->params + start, *restrict m = o->m + start, *restrict v = o->v + start;
    Real *restrict ema = o->ema + start;
    const Real *restrict grads = task->grads + start;
    Real b1 = R(o->config.beta1), b2 = R(o->config.beta2), epsilon = R(o->config.epsilon);
    Real c1 = R(1.0 - o->config.beta1), c2 = R(1.0 - o->config.beta2);
    Real shrink = o->table->tensors[o->chunk_tensor[index]].decay ? task->shrink : R(1);
    Real rate = task->rate, scale = task->scale, second = task->second;
    Real keep = task->ema_keep, take = R(1) - keep;
#pragma omp simd
    for (size_t i = 0; i < size; i++) {
        Real g = grads[i] * scale;
        m[i] = b1 * m[i] + c1 * g;
        v[i] = b2 * v[i] + c2 * g * g;
        p[i] = p[i] * shrink - rate * m[i] / (real_sqrt(v[i] * second) + epsilon);
        ema[i] = keep * ema[i] + take * p[i];
    }
}

void optimizer_step(Optimizer *o, Real *params, const Real *grads, double norm, double rate,
                    FacetPool *pool)
{
    double n = (double)++o->updates;
    double clip = o->config.clip_norm;
    StepTask task = {
        .optimizer = o,
        .params = params,
        .grads = grads,
        .scale = R(clip > 0.0 && norm > clip ? clip / norm : 1.0),
        .rate = R(rate / (1.0 - pow(o->config.beta1, n))),
        .shrink = R(1.0 - rate * o->config.weight_decay),
        .second = R(1.0 / (1.0 - pow(o->config.beta2, n))),
        .ema_keep = R(optimizer_ema_decay(o->config.ema_decay, o->updates)),
    };
    pool_for(pool, o->last - o->first, step_chunk, &task);
}

#ifndef FACET_REAL_DOUBLE

OptimizerConfig optimizer_default(void)
{
    return (OptimizerConfig){.beta1 = 0.95,
                             .beta2 = 0.999,
                             .epsilon = 1e-8,
                             .weight_decay = 1e-6,
                             .clip_norm = 1.0,
                             .ema_decay = 0.9999};
}

double optimizer_rate(double peak, double floor, long warmup, long total, long n)
{
    if (n < warmup) return peak * (double)n / (double)warmup;
    if (total <= warmup) return peak;
    double done = clamp((double)(n - warmup) / (double)(total - warmup), 0.0, 1.0);
    return peak * (floor + (1.0 - floor) * 0.5 * (1.0 + cos(FACET_PI * done)));
}

double optimizer_ema_decay(double decay, long n)
{
    return fmin(decay, 1.0 - pow(1.0 + (double)n, -0.75));
}

#endif
