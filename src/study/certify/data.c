// Diagnostics over a file of demonstrations (see certify/diagnostics.h).
#include "certify/diagnostics.h"
#include "factor/factor.h"
#include "policy/sight.h"
#include "train/learner.h"
#include "train/samples.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS_MAX = 4096 }; // looked at, spread over the file

// The chunks that are looked at.
typedef struct Chunks {
    const FacetPolicy *policy;
    Samples samples;
    int count;
    FacetFactorTask *tasks; // [count]
    double *actions;        // [count][T][D]
    float *contexts;        // [count][context]
    float *x, *numbers;     // of one of them
    uint8_t *rgb;
    Sight *sight;
} Chunks;

static FacetStatus read_samples(Chunks *c, const char *data, bool training)
{
    const FacetPolicy *policy = c->policy;
    const Observe *o = policy->observe;
    const char *keys[OBSERVE_KEYS_MAX];
    const FacetDatasetRequest request = {keys, o ? o->count : 0, NULL, NULL};
    FacetDataset *dataset;
    for (int i = 0; o && i < o->count; i++) keys[i] = o->keys[i].name;
    TRY(facet_dataset_read_some(&dataset, data, &request));
    bool *mask = calloc((size_t)dataset->demos, sizeof *mask);
    FacetStatus status =
        mask ? samples_fit_space(policy->space, dataset)
             : status_fail(FACET_NO_MEMORY, "out of memory for %d demonstrations", dataset->demos);
    if (status.ok) status = samples_fit(policy, dataset);
    if (status.ok && facet_dataset_select(mask, dataset, policy->training, training) > 0)
        status = samples_add(&c->samples, policy, policy_horizon(policy), dataset, mask, !o);
    free(mask);
    facet_dataset_destroy(dataset);
    return status.ok ? status : status_fail(status.code, "%s: %s", data, status.text);
}

static FacetStatus allocate(Chunks *c, FacetPool *pool)
{
    const ScoreNetConfig *net = &c->policy->net->config;
    LearnerShape shape = learner_shape(c->policy);
    size_t count = (size_t)c->count, size = (size_t)net->horizon * (size_t)net->dim, image = 0;
    if (shape.encoder) {
        const EncoderConfig *config = encoder_config(shape.encoder);
        image = 3 * (size_t)config->width * (size_t)config->height;
    }
    c->tasks = calloc(count, sizeof *c->tasks);
    c->actions = calloc(count * size, sizeof *c->actions);
    c->contexts = calloc(count * (size_t)net->context + 1, sizeof *c->contexts);
    c->x = calloc(size, sizeof *c->x);
    c->numbers = calloc((size_t)shape.numbers + 1, sizeof *c->numbers);
    c->rgb = calloc((size_t)shape.images * image + 1, 1);
    if (!c->tasks || !c->actions || !c->contexts || !c->x || !c->numbers || !c->rgb)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d chunks", c->count);
    if (!shape.encoder) return status_ok();
    return sight_create(&c->sight, shape.encoder, c->policy->encoder_params[0], shape.images,
                        facet_pool_threads(pool), pool);
}

static void take_chunk(Chunks *c, int i, FacetPool *pool)
{
    const ScoreNetConfig *net = &c->policy->net->config;
    int size = net->horizon * net->dim, factors = facet_factor_count(c->policy->space);
    int from = (int)((int64_t)i * c->samples.count / c->count), z[FACET_FACTOR_MAX];
    LearnerShape shape = learner_shape(c->policy);
    float *context = c->contexts + (size_t)i * (size_t)net->context;
    samples_get(c->x, z, c->numbers, c->rgb, &c->samples, from, factors);
    c->tasks[i] = facet_factor_task_null();
    memcpy(c->tasks[i].value, z, (size_t)factors * sizeof *z);
    double *actions = c->actions + (size_t)i * (size_t)size;
    for (int k = 0; k < size; k++) actions[k] = (double)c->x[k];
    normalizer_invert(actions, c->policy->normalizer, actions, (size_t)net->horizon);
    memcpy(context, c->numbers, (size_t)shape.numbers * sizeof *context);
    if (c->sight) sight_shrunk(context + shape.numbers, c->sight, c->rgb, shape.images, pool);
}

static void free_chunks(Chunks *c)
{
    samples_free(&c->samples);
    sight_free(c->sight);
    free(c->tasks);
    free(c->actions);
    free(c->contexts);
    free(c->x);
    free(c->numbers);
    free(c->rgb);
}

FacetStatus certify_data(FacetCertifyDiagnostics *diagnostics, int *chunks,
                         const FacetPolicy *policy, const char *data, bool training, int samples,
                         uint64_t seed, FacetPool *pool, const FacetProgress *progress)
{
    Chunks c = {.policy = policy};
    FacetStatus status = read_samples(&c, data, training);
    *chunks = c.count = c.samples.count < CHUNKS_MAX ? c.samples.count : CHUNKS_MAX;
    if (status.ok && c.count) status = allocate(&c, pool);
    for (int i = 0; i < c.count && status.ok; i++) take_chunk(&c, i, pool);
    if (status.ok && c.count)
        status = certify_diagnose(diagnostics, policy, c.tasks, c.actions,
                                  policy->observe ? c.contexts : NULL, c.count, samples, seed, pool,
                                  progress);
    free_chunks(&c);
    return status;
}
