// What a policy is told of the world beside its task (see policy/observe.h).
#include "policy/observe.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static FacetStatus check_key(const FacetPolicyKey *key)
{
    bool numbers = key->dim > 0 && !key->width && !key->height;
    bool image = key->dim == 0 && key->width > 0 && key->height > 0;
    if (!key->name[0] || !memchr(key->name, '\0', sizeof key->name))
        return status_fail(FACET_BAD_ARGUMENT, "observations: expected keys with names");
    if (!numbers && !image)
        return status_fail(FACET_BAD_ARGUMENT,
                           "observation '%s': expected numbers or images, found a width of %d and "
                           "%d x %d pixels",
                           key->name, key->dim, key->width, key->height);
    return status_ok();
}

static FacetStatus expect(const char *what, int found, int low, int high)
{
    if (found >= low && found <= high) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT, "observations: expected %s from %d to %d, found %d",
                       what, low, high, found);
}

// Takes the keys over, and counts what they have.
static FacetStatus take_keys(Observe *o, const FacetPolicyKey *keys)
{
    const FacetPolicyKey *image = NULL;
    for (int i = 0; i < o->count; i++) {
        const FacetPolicyKey *key = &keys[i];
        TRY(check_key(key));
        for (int j = 0; j < i; j++)
            if (strcmp(keys[j].name, key->name) == 0)
                return status_fail(FACET_BAD_ARGUMENT, "observation '%s' is named twice",
                                   key->name);
        if (key->width && image && (image->width != key->width || image->height != key->height))
            return status_fail(FACET_BAD_ARGUMENT,
                               "observation '%s': expected images of %d x %d pixels, as in '%s', "
                               "found %d x %d",
                               key->name, image->width, image->height, image->name, key->width,
                               key->height);
        if (key->width) image = key;
        o->keys[i] = *key;
        o->keys[i].at = key->width ? o->images++ : o->dim;
        TRY(expect("widths of a key", key->dim, 0, OBSERVE_DIM_MAX));
        o->dim += key->dim;
    }
    return expect("numbers of a step", o->dim, 0, OBSERVE_DIM_MAX);
}

static FacetStatus take_ranges(Observe *o, const double *min, const double *max)
{
    if (!o->dim) return status_ok();
    TRY(normalizer_create(&o->ranges, min, max, o->dim));
    o->channels = calloc((size_t)o->dim, sizeof *o->channels);
    if (!o->channels) return status_fail(FACET_NO_MEMORY, "out of memory for observations");
    for (int i = 0; i < o->dim; i++)
        if (o->ranges->min[i] != o->ranges->max[i]) o->channels[o->shown++] = i;
    if (o->shown || o->images) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "observations: expected numbers that change, found %d constants", o->dim);
}

FacetStatus observe_create(Observe **observe, int steps, int execute, const FacetPolicyKey *keys,
                           int count, const double *min, const double *max)
{
    *observe = NULL;
    TRY(expect("steps", steps, 1, OBSERVE_STEPS_MAX));
    TRY(expect("actions to execute", execute, 1, 1 << 20));
    TRY(expect("keys", count, 1, OBSERVE_KEYS_MAX));
    Observe *o = calloc(1, sizeof *o);
    if (!o) return status_fail(FACET_NO_MEMORY, "out of memory for observations");
    o->steps = steps;
    o->execute = execute;
    o->count = count;
    FacetStatus status = take_keys(o, keys);
    if (status.ok) status = take_ranges(o, min, max);
    if (!status.ok) {
        observe_free(o);
        return status;
    }
    *observe = o;
    return status_ok();
}

void observe_free(Observe *observe)
{
    if (!observe) return;
    normalizer_destroy(observe->ranges);
    free(observe->channels);
    free(observe);
}

int observe_numbers(const Observe *observe) { return observe->steps * observe->shown; }

int observe_context(const Observe *observe, int features)
{
    return observe_numbers(observe) + observe->steps * observe->images * features;
}

void observe_apply(float *out, const Observe *o, const double *numbers)
{
    for (int i = 0; i < o->shown; i++) {
        int channel = o->channels[i];
        double min = o->ranges->min[channel], max = o->ranges->max[channel];
        out[i] = (float)(2.0 * ((numbers[channel] - min) / (max - min)) - 1.0);
    }
}

FacetStatus observe_find(int *key, const Observe *observe, const char *name)
{
    const char *names[OBSERVE_KEYS_MAX];
    for (*key = 0; *key < observe->count; ++*key) {
        names[*key] = observe->keys[*key].name;
        if (strcmp(names[*key], name) == 0) return status_ok();
    }
    char text[400];
    text_unknown(text, sizeof text, "observation", name, names, observe->count);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

// ---- As metadata of a file ----------------------------------------------------------------------

static void push_ranges(Json *key, const double *min, const double *max, int dim)
{
    Json *low = json_array(), *high = json_array();
    for (int i = 0; i < dim; i++) {
        json_push_number(low, min[i]);
        json_push_number(high, max[i]);
    }
    json_set(key, "min", low);
    json_set(key, "max", high);
}

Json *observe_to_json(const Observe *o)
{
    Json *out = json_object(), *keys = json_array();
    json_set_number(out, "steps", o->steps);
    json_set_number(out, "execute", o->execute);
    for (int i = 0; i < o->count; i++) {
        const FacetPolicyKey *key = &o->keys[i];
        Json *entry = json_object();
        json_set_string(entry, "name", key->name);
        if (key->dim) {
            push_ranges(entry, o->ranges->min + key->at, o->ranges->max + key->at, key->dim);
        } else {
            json_set_number(entry, "width", key->width);
            json_set_number(entry, "height", key->height);
        }
        json_push(keys, entry);
    }
    json_set(out, "keys", keys);
    return out;
}

static FacetStatus whole(int *out, const JsonRef *root, const char *name, int max)
{
    double value;
    TRY(json_member_number(&value, root, name, 1.0, (double)max));
    *out = (int)value;
    JsonRef at;
    TRY(json_member(&at, root, name));
    return *out == value ? status_ok() : json_wrong(&at, "a whole number");
}

static FacetStatus read_range(double *out, int *dim, int used, const JsonRef *entry,
                              const char *name)
{
    JsonRef array, at;
    TRY(json_member(&array, entry, name));
    TRY(json_length(dim, &array));
    if (!json_is_array(&array) || *dim < 1 || *dim > OBSERVE_DIM_MAX - used)
        return json_wrong(&array, "1 to 4096 numbers in all");
    for (int i = 0; i < *dim; i++) {
        TRY(json_element(&at, &array, i));
        TRY(json_number(&out[used + i], &at, -INFINITY, INFINITY));
    }
    return status_ok();
}

// A key, and its ranges behind those of the keys before it.
static FacetStatus read_key(FacetPolicyKey *key, double *min, double *max, int used,
                            const JsonRef *entry)
{
    JsonRef at;
    int highs;
    *key = (FacetPolicyKey){.at = used};
    TRY(json_member(&at, entry, "name"));
    const char *name = json_chars(&at);
    if (!name || !name[0] || strlen(name) >= sizeof key->name) return json_wrong(&at, "a name");
    strcpy(key->name, name);
    if (!json_has(entry, "min")) {
        TRY(whole(&key->width, entry, "width", 1 << 15));
        return whole(&key->height, entry, "height", 1 << 15);
    }
    TRY(read_range(min, &key->dim, used, entry, "min"));
    TRY(read_range(max, &highs, used, entry, "max"));
    if (highs == key->dim) return status_ok();
    TRY(json_member(&at, entry, "max"));
    return json_wrong(&at, "as many numbers as in min");
}

static FacetStatus read_keys(Observe **observe, double *min, double *max, const JsonRef *root)
{
    FacetPolicyKey keys[OBSERVE_KEYS_MAX];
    JsonRef array, entry;
    int steps, execute, count, used = 0;
    TRY(whole(&steps, root, "steps", OBSERVE_STEPS_MAX));
    TRY(whole(&execute, root, "execute", 1 << 20));
    TRY(json_member(&array, root, "keys"));
    TRY(json_length(&count, &array));
    if (!json_is_array(&array) || count < 1 || count > OBSERVE_KEYS_MAX)
        return json_wrong(&array, "1 to 64 keys");
    for (int i = 0; i < count; i++) {
        TRY(json_element(&entry, &array, i));
        TRY(read_key(&keys[i], min, max, used, &entry));
        used += keys[i].dim;
    }
    FacetStatus status = observe_create(observe, steps, execute, keys, count, min, max);
    return status.ok ? status : status_fail(FACET_BAD_FILE, "%s: %s", root->file, status.text);
}

FacetStatus observe_from_json(Observe **observe, const JsonRef *root)
{
    *observe = NULL;
    double *ranges = calloc(2 * OBSERVE_DIM_MAX, sizeof *ranges);
    if (!ranges) return status_fail(FACET_NO_MEMORY, "out of memory for observations");
    FacetStatus status = read_keys(observe, ranges, ranges + OBSERVE_DIM_MAX, root);
    free(ranges);
    return status;
}
