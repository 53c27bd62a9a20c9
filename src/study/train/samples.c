// What a training draws from (see train/samples.h).
#include "train/samples.h"

#include "encoder/frame.h"
#include "factor/factor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static size_t frame_bytes(const Samples *s)
{
    const EncoderConfig *config = encoder_config(s->encoder);
    return 3 * (size_t)config->width * (size_t)config->height;
}

static int64_t row_count(const Samples *s) { return s->starts ? s->starts[s->demos] : 0; }

// ---- Fitting ------------------------------------------------------------------------------------

static FacetStatus fit_key(const FacetPolicyKey *key, const FacetDatasetObservation *of)
{
    if (of->dim == key->dim && of->width == key->width && of->height == key->height)
        return status_ok();
    if (key->dim)
        return status_fail(FACET_BAD_FILE, "observation '%s': expected %d numbers, found %d",
                           key->name, key->dim, of->dim);
    return status_fail(FACET_BAD_FILE,
                       "observation '%s': expected images of %d x %d pixels, found %d x %d",
                       key->name, key->width, key->height, of->width, of->height);
}

FacetStatus samples_fit(const FacetPolicy *policy, const FacetDataset *dataset)
{
    const Observe *o = policy->observe;
    if (dataset->action_dim != policy_dim(policy))
        return status_fail(FACET_BAD_FILE, "expected actions of %d numbers, found %d",
                           policy_dim(policy), dataset->action_dim);
    if (!o && dataset->steps != policy_horizon(policy))
        return status_fail(FACET_BAD_FILE, "expected demonstrations of %d rows, found %d",
                           policy_horizon(policy), dataset->steps);
    for (int i = 0; o && i < o->count; i++) TRY(fit_key(&o->keys[i], &dataset->observations[i]));
    return status_ok();
}

FacetStatus samples_fit_space(const FacetFactorSpace *space, const FacetDataset *dataset)
{
    if (factor_space_equal(space, dataset->space)) return status_ok();
    char *expected = factor_space_to_json(space), *found = factor_space_to_json(dataset->space);
    FacetStatus status =
        status_fail(FACET_BAD_FILE, "expected the factors %.200s, found %.200s",
                    expected ? expected : "of the policy", found ? found : "others");
    free(expected);
    free(found);
    return status;
}

// ---- Adding -------------------------------------------------------------------------------------

static bool grow(void *block, size_t count, size_t size)
{
    void **at = block;
    if (count == 0 || size == 0) return true;
    void *larger = count <= SIZE_MAX / size ? realloc(*at, count * size) : NULL;
    if (larger) *at = larger;
    return larger;
}

// Room for what a dataset adds.
static FacetStatus reserve(Samples *s, int demos, int64_t rows, int64_t count, bool images)
{
    size_t all = (size_t)s->demos + (size_t)demos, all_rows = (size_t)(row_count(s) + rows);
    size_t all_count = (size_t)(s->count + count);
    const Observe *o = s->observe;
    bool begun = s->starts;
    bool complete = s->count + count <= INT_MAX && grow(&s->demo, all_count, sizeof *s->demo) &&
                    grow(&s->first, all_count, sizeof *s->first) &&
                    grow(&s->starts, all + 1, sizeof *s->starts) &&
                    grow(&s->z, all * (size_t)(s->factors + 1), sizeof *s->z) &&
                    grow(&s->source, all, sizeof *s->source) &&
                    grow(&s->actions, all_rows * (size_t)s->dim, sizeof *s->actions) &&
                    (!o || grow(&s->numbers, all_rows * (size_t)o->shown, sizeof *s->numbers)) &&
                    (!images || grow(&s->pixels, all_rows * (size_t)o->images, frame_bytes(s)));
    if (!complete)
        return status_fail(FACET_NO_MEMORY, "out of memory for %lld samples of %zu demonstrations",
                           (long long)(s->count + count), all);
    if (!begun) s->starts[0] = 0;
    return status_ok();
}

static void add_actions(Samples *s, const FacetPolicy *policy, const FacetDataset *dataset,
                        int demo, double *row)
{
    int length = facet_dataset_length(dataset, demo);
    const double *actions = facet_dataset_actions(dataset, demo);
    float *out = s->actions + (size_t)row_count(s) * (size_t)s->dim;
    for (int i = 0; i < length; i++, actions += s->dim) {
        normalizer_apply(row, policy->normalizer, actions, 1);
        for (int d = 0; d < s->dim; d++) *out++ = (float)row[d];
    }
}

// The observation of a key; the dataset was read for them.
static const FacetDatasetObservation *observed(const FacetDataset *dataset,
                                               const FacetPolicyKey *key)
{
    for (int i = 0; i < dataset->observation_count; i++)
        if (strcmp(dataset->observations[i].name, key->name) == 0) return &dataset->observations[i];
    return NULL;
}

// The numbers of one row of a dataset, side by side.
static void gather(double *row, const Observe *o, const FacetDataset *dataset, int64_t at)
{
    for (int k = 0; k < o->count; k++) {
        const FacetPolicyKey *key = &o->keys[k];
        if (key->dim)
            memcpy(row + key->at, observed(dataset, key)->values + (size_t)at * (size_t)key->dim,
                   (size_t)key->dim * sizeof *row);
    }
}

static void add_pixels(Samples *s, uint8_t *out, const FacetDataset *dataset, int64_t at)
{
    const EncoderConfig *config = encoder_config(s->encoder);
    for (int k = 0; k < s->observe->count; k++) {
        const FacetPolicyKey *key = &s->observe->keys[k];
        size_t size = 3 * (size_t)key->width * (size_t)key->height;
        if (key->width)
            frame_shrink(out + (size_t)key->at * frame_bytes(s),
                         observed(dataset, key)->pixels + (size_t)at * size, key->width,
                         key->height, config->shrink);
    }
}

static void add_observed(Samples *s, const FacetDataset *dataset, int demo, double *row)
{
    const Observe *o = s->observe;
    for (int64_t at = dataset->starts[demo], to = row_count(s); at < dataset->starts[demo + 1];
         at++, to++) {
        if (o->dim) {
            gather(row, o, dataset, at);
            observe_apply(s->numbers + (size_t)to * (size_t)o->shown, o, row);
        }
        if (s->pixels)
            add_pixels(s, s->pixels + (size_t)to * (size_t)o->images * frame_bytes(s), dataset, at);
    }
}

// One sample a demo, or one a row.
static void add_samples(Samples *s, int length, bool whole)
{
    for (int i = 0; i < (whole ? 1 : length); i++) {
        s->demo[s->count] = s->demos;
        s->first[s->count++] = i;
    }
}

static void add_demo(Samples *s, const FacetPolicy *policy, const FacetDataset *dataset, int demo,
                     double *row, bool whole)
{
    int length = facet_dataset_length(dataset, demo);
    add_actions(s, policy, dataset, demo, row);
    if (s->numbers || s->pixels) add_observed(s, dataset, demo, row);
    for (int f = 0; f < s->factors; f++)
        s->z[s->demos * s->factors + f] = dataset->tasks[demo].value[f];
    s->source[s->demos] = s->sources + demo;
    add_samples(s, length, whole);
    s->starts[s->demos + 1] = row_count(s) + length;
    s->demos++;
}

FacetStatus samples_add(Samples *s, const FacetPolicy *policy, int horizon,
                        const FacetDataset *dataset, const bool *mask, bool whole)
{
    const Observe *o = policy->observe;
    int demos = 0;
    int64_t rows = 0;
    s->horizon = horizon;
    s->dim = dataset->action_dim;
    s->factors = facet_factor_count(policy->space);
    s->observe = o;
    s->encoder = policy->encoder;
    for (int i = 0; i < dataset->demos; i++) {
        if (!mask[i]) continue;
        demos++;
        rows += facet_dataset_length(dataset, i);
    }
    TRY(reserve(s, demos, rows, whole ? demos : rows, !whole && o && o->images));
    size_t width = (size_t)s->dim + (o ? (size_t)o->dim : 0);
    double *row = calloc(width, sizeof *row);
    if (!row) return status_fail(FACET_NO_MEMORY, "out of memory for demonstrations");
    for (int i = 0; i < dataset->demos; i++)
        if (mask[i]) add_demo(s, policy, dataset, i, row, whole);
    s->sources += dataset->demos;
    free(row);
    return status_ok();
}

void samples_free(Samples *s)
{
    free(s->demo);
    free(s->first);
    free(s->starts);
    free(s->z);
    free(s->source);
    free(s->actions);
    free(s->numbers);
    free(s->pixels);
    *s = (Samples){0};
}

// ---- Drawing ------------------------------------------------------------------------------------

static void get_observed(float *numbers, uint8_t *rgb, const Samples *s, int demo, int first)
{
    const Observe *o = s->observe;
    size_t shown = (size_t)o->shown, images = rgb ? (size_t)o->images * frame_bytes(s) : 0;
    for (int step = 0; step < o->steps; step++) {
        int back = first - (o->steps - 1 - step);
        size_t row = (size_t)(s->starts[demo] + (back > 0 ? back : 0)), at = (size_t)step;
        if (shown) memcpy(numbers + at * shown, s->numbers + row * shown, shown * sizeof *numbers);
        if (rgb) memcpy(rgb + at * images, s->pixels + row * images, images);
    }
}

void samples_get(float *x, int *z, float *numbers, uint8_t *rgb, const Samples *s, int i,
                 int factors)
{
    int demo = s->demo[i], first = s->first[i];
    int64_t last = s->starts[demo + 1] - 1;
    size_t dim = (size_t)s->dim;
    for (int k = 0; k < s->horizon; k++) {
        int64_t row = s->starts[demo] + first + k;
        memcpy(x + (size_t)k * dim, s->actions + (size_t)(row < last ? row : last) * dim,
               dim * sizeof *x);
    }
    memcpy(z, s->z + (size_t)demo * (size_t)s->factors, (size_t)factors * sizeof *z);
    if (s->pixels || s->numbers) get_observed(numbers, s->pixels ? rgb : NULL, s, demo, first);
}
