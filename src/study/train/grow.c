// A policy with one more value of a factor (see train/new_value.h).
#include "factor/factor.h"
#include "train/new_value.h"

#include <stdlib.h>
#include <string.h>

static FacetStatus parse(int *factor, const char **value, const FacetPolicy *policy,
                         const char *text)
{
    char name[FACET_FACTOR_NAME_SIZE];
    size_t length = strcspn(text, "=");
    int found;
    if (!text[length] || length >= sizeof name)
        return status_fail(FACET_BAD_ARGUMENT, "new value: expected FACTOR=VALUE, found '%.60s'",
                           text);
    memcpy(name, text, length);
    name[length] = '\0';
    *value = text + length + 1;
    TRY(facet_factor_find(factor, policy->space, name));
    if (facet_factor_find_value(&found, policy->space, *factor, *value).ok)
        return status_fail(FACET_BAD_ARGUMENT,
                           "new value: expected one that the policy does not have, found %s '%s'",
                           name, *value);
    return status_ok();
}

static FacetStatus copy_split(FacetFactorSplit **out, const FacetFactorSplit *split,
                              const FacetFactorSpace *space)
{
    TRY(factor_split_create(out, space));
    for (int i = 0; i < facet_factor_split_count(split); i++)
        TRY(factor_split_add(*out, facet_factor_split_task(split, i)));
    return status_ok();
}

static FacetStatus copy_observe(FacetPolicy *out, const FacetPolicy *policy)
{
    const Observe *o = policy->observe;
    if (policy->encoder) TRY(encoder_create(&out->encoder, *encoder_config(policy->encoder)));
    if (!o) return status_ok();
    return observe_create(&out->observe, o->steps, o->execute, o->keys, o->count,
                          o->dim ? o->ranges->min : NULL, o->dim ? o->ranges->max : NULL);
}

// All but the weights.
static FacetStatus copy_settings(FacetPolicy *out, const FacetPolicy *policy, int factor,
                                 const char *value)
{
    const Normalizer *ranges = policy->normalizer;
    out->method = policy->method;
    out->schedule = policy->schedule;
    out->prediction = policy->prediction;
    out->spacing = policy->spacing;
    out->clip = policy->clip;
    out->default_steps = policy->default_steps;
    out->temperature = policy->temperature;
    out->record = policy->record;
    TRY(factor_space_copy(&out->space, policy->space));
    TRY(factor_space_add_value(out->space, factor, value));
    TRY(copy_split(&out->training, policy->training, out->space));
    TRY(copy_split(&out->held_out, policy->held_out, out->space));
    TRY(normalizer_create(&out->normalizer, ranges->min, ranges->max, ranges->dim));
    out->normalizer->knee = ranges->knee;
    TRY(copy_observe(out, policy));
    TRY(policy_build(out, policy->net->config));
    return policy_allocate(out);
}

// The table of the factor that has grown: its rows, the new one, and the null token behind them.
static void copy_embedding(float *out, const FacetPolicy *policy, int factor)
{
    int values = policy->net->config.values[factor], width = policy->net->config.embed, known = 0;
    const float *rows = policy->params[0] + policy->net->embed[factor];
    float *fresh = out + (size_t)values * (size_t)width;
    memcpy(out, rows, (size_t)(values * width) * sizeof *out);
    memcpy(fresh + width, rows + (size_t)values * (size_t)width, (size_t)width * sizeof *out);
    memset(fresh, 0, (size_t)width * sizeof *out);
    for (int v = 0; v < values; v++) {
        if (!facet_policy_knows(policy, factor, v)) continue;
        for (int i = 0; i < width; i++) fresh[i] += rows[v * width + i];
        known++;
    }
    for (int i = 0; i < width; i++) fresh[i] /= (float)known;
}

static void copy_weights(FacetPolicy *out, const FacetPolicy *policy, int factor)
{
    const TensorTable *from = &policy->net->table, *to = &out->net->table;
    for (int i = 0; i < from->count; i++) {
        const Tensor *source = &from->tensors[i], *target = &to->tensors[i];
        if (source->offset == policy->net->embed[factor])
            copy_embedding(out->params[0] + target->offset, policy, factor);
        else
            memcpy(out->params[0] + target->offset, policy->params[0] + source->offset,
                   source->size * sizeof(float));
    }
    if (policy->encoder)
        memcpy(out->encoder_params[0], policy->encoder_params[0],
               encoder_table(policy->encoder)->size * sizeof(float));
}

FacetStatus new_value_policy(FacetPolicy **grown, int *factor, const FacetPolicy *policy,
                             const char *text, const char *path)
{
    const char *value = NULL;
    *grown = NULL;
    if (policy->net->config.factors == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s: expected a policy that is shown factors, found the method %s", path,
                           facet_policy_method_name(policy->method));
    TRY(parse(factor, &value, policy, text));
    FacetPolicy *out = calloc(1, sizeof *out);
    if (!out) return status_fail(FACET_NO_MEMORY, "out of memory for a policy");
    FacetStatus status = copy_settings(out, policy, *factor, value);
    if (!status.ok) {
        facet_policy_destroy(out);
        return status;
    }
    copy_weights(out, policy, *factor);
    *grown = out;
    return status_ok();
}

FacetStatus new_value_task(FacetFactorTask *task, const FacetFactorSpace *space,
                           const FacetDataset *dataset, int demo)
{
    int factors = facet_factor_count(space);
    *task = facet_factor_task_null();
    for (int f = 0; f < factors; f++) {
        int found;
        TRY(facet_factor_find(&found, dataset->space, facet_factor_name(space, f)));
        const char *value =
            facet_factor_value_name(dataset->space, found, dataset->tasks[demo].value[found]);
        TRY(facet_factor_find_value(&task->value[f], space, f, value));
    }
    return status_ok();
}
