// What a policy takes beside its task, from the options and the demonstrations (see
// train/training.h).
#include "train/links.h"
#include "train/training.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2, HORIZON = 16, EXECUTE = 8 }; // unless told otherwise

// ---- Ranges -------------------------------------------------------------------------------------

// The range of each number of an observation over the demos of the mask.
static void find_ranges(double *min, double *max, const FacetDataset *dataset, const bool *mask,
                        const FacetDatasetObservation *of)
{
    for (int i = 0; i < of->dim; i++) {
        min[i] = HUGE_VAL;
        max[i] = -HUGE_VAL;
    }
    for (int demo = 0; demo < dataset->demos; demo++) {
        if (!mask[demo]) continue;
        const double *values = facet_dataset_observed(dataset, of, demo);
        for (int row = 0; row < facet_dataset_length(dataset, demo); row++, values += of->dim)
            for (int i = 0; i < of->dim; i++) {
                min[i] = fmin(min[i], values[i]);
                max[i] = fmax(max[i], values[i]);
            }
    }
}

// The keys and their ranges side by side; returns the numbers of a step.
static int list_keys(FacetPolicyKey *keys, double *min, double *max, const FacetDataset *dataset,
                     const bool *mask)
{
    int dim = 0;
    for (int i = 0; i < dataset->observation_count; i++) {
        const FacetDatasetObservation *of = &dataset->observations[i];
        keys[i] = (FacetPolicyKey){.dim = of->dim, .width = of->width, .height = of->height};
        static_assert(sizeof keys[i].name == sizeof of->name, "names fit");
        strcpy(keys[i].name, of->name);
        if (of->dim) find_ranges(min + dim, max + dim, dataset, mask, of);
        dim += of->dim;
    }
    return dim;
}

// ---- Images -------------------------------------------------------------------------------------

// The largest whole factor that leaves 60 pixels or more of the shorter side.
static int shrink_for(int width, int height)
{
    enum { SIDE = 60, SHRINK_MAX = 16 };
    int side = width < height ? width : height, shrink = 1;
    for (int s = 2; s <= SHRINK_MAX && side / s >= SIDE; s++)
        if (width % s == 0 && height % s == 0) shrink = s;
    return shrink;
}

static FacetStatus make_encoder(FacetPolicy *policy, const FacetTrainOptions *o)
{
    const Observe *observe = policy->observe;
    EncoderConfig config;
    TRY(encoder_config_find(&config, o->encoder ? o->encoder : "small"));
    for (int i = 0; i < observe->count; i++) {
        const FacetPolicyKey *key = &observe->keys[i];
        if (!key->width) continue;
        config.shrink = shrink_for(key->width, key->height);
        config.width = key->width / config.shrink;
        config.height = key->height / config.shrink;
    }
    return encoder_create(&policy->encoder, config);
}

// ---- All of it ----------------------------------------------------------------------------------

static FacetStatus make_observe(Training *t, const FacetDataset *dataset, const bool *mask,
                                FacetPolicyKey *keys, double *min, double *max)
{
    const FacetTrainOptions *o = t->options;
    int steps = o->observe_steps ? o->observe_steps : STEPS;
    int horizon = training_horizon(t, dataset);
    int execute = o->execute ? o->execute : EXECUTE < horizon ? EXECUTE : horizon;
    if (execute > horizon)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected at most %d actions to execute, the horizon, found %d", horizon,
                           execute);
    list_keys(keys, min, max, dataset, mask);
    TRY(observe_create(&t->policy->observe, steps, execute, keys, dataset->observation_count, min,
                       max));
    for (int i = 0; i < dataset->demos; i++)
        t->padded += mask[i] && facet_dataset_length(dataset, i) < horizon;
    if (t->policy->observe->images) return make_encoder(t->policy, o);
    if (!o->encoder) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "expected no encoder for observations without images, found '%s'",
                       o->encoder);
}

FacetStatus training_observe(Training *t, const FacetDataset *dataset, const bool *mask)
{
    int count = dataset->observation_count;
    size_t dim = 0;
    if (count > OBSERVE_KEYS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected at most %d observations, found %d",
                           OBSERVE_KEYS_MAX, count);
    for (int i = 0; i < count; i++) dim += (size_t)dataset->observations[i].dim;
    FacetPolicyKey *keys = calloc((size_t)count, sizeof *keys);
    double *ranges = calloc(2 * dim + 1, sizeof *ranges);
    FacetStatus status = keys && ranges
                             ? make_observe(t, dataset, mask, keys, ranges, ranges + dim)
                             : status_fail(FACET_NO_MEMORY, "out of memory for observations");
    free(keys);
    free(ranges);
    return status;
}

int training_horizon(const Training *t, const FacetDataset *dataset)
{
    if (t->options->observe_count == 0) return dataset->steps;
    return t->options->horizon ? t->options->horizon : HORIZON;
}

// ---- Remarks ------------------------------------------------------------------------------------

// Names the observed numbers that never change: "state 3, state 4".
static void name_constants(char *out, size_t size, const Observe *o)
{
    out[0] = '\0';
    for (int k = 0; k < o->count; k++)
        for (int i = 0; i < o->keys[k].dim; i++) {
            int channel = o->keys[k].at + i;
            size_t used = strlen(out);
            if (o->ranges->min[channel] != o->ranges->max[channel] || used + 40 > size) continue;
            snprintf(out + used, size - used, "%s%.30s %d", used ? ", " : "", o->keys[k].name, i);
        }
}

// Names the numbers of an action that never change: "2 = 0.5, 3 = 1".
static void name_constant_actions(char *out, size_t size, const Normalizer *ranges)
{
    out[0] = '\0';
    for (int i = 0; i < ranges->dim; i++) {
        size_t used = strlen(out);
        if (ranges->min[i] != ranges->max[i] || used + 40 > size) continue;
        snprintf(out + used, size - used, "%s%d = %.6g", used ? ", " : "", i, ranges->min[i]);
    }
}

static int only_demo(const Samples *s, int factor, int value)
{
    int count = 0;
    for (int i = 0; i < s->demos; i++) count += s->z[i * s->factors + factor] == value;
    return count == 1;
}

// Names the held-out tasks whose sum no training tasks determine: "b/m, c/s". Returns their number.
static FacetStatus name_unlinked(char *out, size_t size, int *count, const FacetPolicy *policy)
{
    int held_out = facet_factor_split_count(policy->held_out);
    bool *linked = calloc((size_t)held_out + 1, sizeof *linked);
    if (!linked) return status_fail(FACET_NO_MEMORY, "out of memory for %d tasks", held_out);
    FacetStatus status = links_find(linked, policy->held_out, policy->training);
    out[0] = '\0';
    *count = 0;
    for (int i = 0; status.ok && i < held_out; i++) {
        char task[FACET_FACTOR_TASK_TEXT];
        size_t used = strlen(out);
        if (linked[i]) continue;
        facet_factor_task_format(task, policy->space, facet_factor_split_task(policy->held_out, i),
                                 FACET_FACTOR_STYLE_VALUES);
        if (used + strlen(task) + 8 < size)
            snprintf(out + used, size - used, "%s%s", used ? ", " : "", task);
        else if (used + 8 < size && !strstr(out, "…"))
            snprintf(out + used, size - used, ", …");
        *count += 1;
    }
    free(linked);
    return status;
}

FacetStatus training_remarks(char *out, size_t size, const Training *t)
{
    const FacetPolicy *policy = t->policy;
    const Observe *o = policy->observe;
    char names[200];
    size_t used = 0;
    out[0] = '\0';
    if (o && o->shown < o->dim) {
        name_constants(names, sizeof names, o);
        used += (size_t)snprintf(out, size,
                                 "%d of %d observed numbers never change and are left out: %s\n",
                                 o->dim - o->shown, o->dim, names);
    }
    int constants = normalizer_constants(policy->normalizer);
    if (constants && used < size) {
        name_constant_actions(names, sizeof names, policy->normalizer);
        used += (size_t)snprintf(out + used, size - used,
                                 "%d of %d numbers of an action never change and stay as they "
                                 "are: %s\n",
                                 constants, policy->normalizer->dim, names);
    }
    if (t->padded && used < size)
        used += (size_t)snprintf(out + used, size - used,
                                 "%d demonstrations are shorter than the horizon of %d: their last "
                                 "action is repeated\n",
                                 t->padded, t->samples.horizon);
    bool looks = t->checked[CHECK_VALID].count || t->checked[CHECK_HELD_OUT].count;
    if (looks && policy->networks > 1 && used < size)
        used += (size_t)snprintf(out + used, size - used,
                                 "losses of what is not learned are each network's own, of its "
                                 "value's demonstrations: they are in %.200s alone\n",
                                 t->csv);
    int unlinked = 0;
    TRY(name_unlinked(names, sizeof names, &unlinked, policy));
    if (unlinked && used < size)
        used += (size_t)snprintf(out + used, size - used,
                                 "%d held-out tasks have values that no chain of training tasks "
                                 "links, so that nothing says what their sum is: %s\n",
                                 unlinked, names);
    for (int f = 0; f < facet_factor_count(policy->space); f++)
        for (int v = 0; v < facet_factor_value_count(policy->space, f) && used < size; v++)
            if (only_demo(&t->samples, f, v))
                used += (size_t)snprintf(out + used, size - used,
                                         "%s '%s' has one demonstration alone\n",
                                         facet_factor_name(policy->space, f),
                                         facet_factor_value_name(policy->space, f, v));
    return status_ok();
}
