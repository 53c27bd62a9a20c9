// Factor spaces: named factors with named values (see facet/factor.h).
#include "base/json.h"
#include "base/text.h"
#include "factor/factor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Factor {
    char *name;
    char **values;
    int count, capacity;
} Factor;

struct FacetFactorSpace {
    int count;
    Factor factors[FACET_FACTOR_MAX];
};

static const Factor *factor_at(const FacetFactorSpace *space, int factor)
{
    assert(factor >= 0 && factor < space->count && "the space has this factor");
    return &space->factors[factor];
}

static void free_factor(Factor *factor)
{
    for (int i = 0; i < factor->count; i++) free(factor->values[i]);
    free(factor->values);
    free(factor->name);
    *factor = (Factor){0};
}

// ---- Creating -------------------------------------------------------------------------------

FacetStatus facet_factor_space_create(FacetFactorSpace **space)
{
    *space = calloc(1, sizeof **space);
    return *space ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for a factor space");
}

void facet_factor_space_destroy(FacetFactorSpace *space)
{
    if (!space) return;
    for (int i = 0; i < space->count; i++) free_factor(&space->factors[i]);
    free(space);
}

FacetStatus factor_space_copy(FacetFactorSpace **copy, const FacetFactorSpace *space)
{
    TRY(facet_factor_space_create(copy));
    FacetStatus status = status_ok();
    for (int i = 0; i < space->count && status.ok; i++) {
        const Factor *from = &space->factors[i];
        status = facet_factor_space_add(*copy, from->name, (const char *const *)from->values,
                                        from->count);
    }
    if (!status.ok) {
        facet_factor_space_destroy(*copy);
        *copy = NULL;
    }
    return status;
}

// ---- Adding ---------------------------------------------------------------------------------

static FacetStatus check_letters(const char *kind, const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return status_fail(FACET_BAD_FILE,
                               "%s: expected a name without control characters, found byte %d",
                               kind, *c);
    return status_ok();
}

static FacetStatus check_name(const char *kind, const char *name)
{
    TRY(check_letters(kind, name));
    size_t length = strlen(name);
    if (length == 0 || length >= FACET_FACTOR_NAME_SIZE)
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s '%.80s': expected a name of 1 to %d bytes, found %zu", kind, name,
                           FACET_FACTOR_NAME_SIZE - 1, length);
    const char *separator = strpbrk(name, ",=/");
    if (separator)
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s '%s': expected a name without , = or /, found %c", kind, name,
                           *separator);
    if (name[0] == ' ' || name[length - 1] == ' ')
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s '%s': expected a name without a space at its ends", kind, name);
    if (strcmp(name, "*") == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s '*': expected a name, found the sign of the null token", kind);
    return status_ok();
}

static int find_name(const char *name, char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static void list_factor_names(char *names[FACET_FACTOR_MAX], const FacetFactorSpace *space)
{
    for (int i = 0; i < space->count; i++) names[i] = space->factors[i].name;
}

FacetStatus factor_space_add_factor(FacetFactorSpace *space, const char *name)
{
    TRY(check_name("factor", name));
    char *names[FACET_FACTOR_MAX];
    list_factor_names(names, space);
    if (find_name(name, names, space->count) >= 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "factor '%s': expected distinct names, found it twice", name);
    if (space->count == FACET_FACTOR_MAX)
        return status_fail(FACET_BAD_ARGUMENT,
                           "factor '%s': expected at most %d factors, found one more", name,
                           FACET_FACTOR_MAX);
    char *kept = strdup(name);
    if (!kept) return status_fail(FACET_NO_MEMORY, "out of memory for factor '%s'", name);
    space->factors[space->count++] = (Factor){.name = kept};
    return status_ok();
}

FacetStatus factor_space_add_value(FacetFactorSpace *space, int index, const char *name)
{
    factor_at(space, index);
    Factor *factor = &space->factors[index];
    TRY(check_name(factor->name, name));
    if (find_name(name, factor->values, factor->count) >= 0)
        return status_fail(FACET_BAD_ARGUMENT, "%s '%s': expected distinct names, found it twice",
                           factor->name, name);

    // A factor that still has no value counts as one, so that the order of adding does not matter.
    int64_t others = 1;
    for (int i = 0; i < space->count; i++)
        if (i != index && space->factors[i].count > 0) others *= space->factors[i].count;
    if (factor->count + INT64_C(1) > INT64_MAX / others)
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s '%s': expected at most %lld tasks in a space, found more",
                           factor->name, name, (long long)INT64_MAX);

    if (factor->count == factor->capacity) {
        int capacity = factor->capacity ? 2 * factor->capacity : 8;
        char **values = realloc(factor->values, (size_t)capacity * sizeof *values);
        if (!values)
            return status_fail(FACET_NO_MEMORY, "out of memory for %s '%s'", factor->name, name);
        factor->values = values;
        factor->capacity = capacity;
    }
    char *kept = strdup(name);
    if (!kept) return status_fail(FACET_NO_MEMORY, "out of memory for %s '%s'", factor->name, name);
    factor->values[factor->count++] = kept;
    return status_ok();
}

FacetStatus facet_factor_space_add(FacetFactorSpace *space, const char *name,
                                   const char *const *values, int count)
{
    TRY(factor_space_add_factor(space, name));
    int factor = space->count - 1;
    for (int i = 0; i < count; i++) {
        FacetStatus status = factor_space_add_value(space, factor, values[i]);
        if (!status.ok) {
            free_factor(&space->factors[factor]);
            space->count--;
            return status;
        }
    }
    return status_ok();
}

// ---- Looking --------------------------------------------------------------------------------

int facet_factor_count(const FacetFactorSpace *space) { return space->count; }

int facet_factor_value_count(const FacetFactorSpace *space, int factor)
{
    return factor_at(space, factor)->count;
}

const char *facet_factor_name(const FacetFactorSpace *space, int factor)
{
    return factor_at(space, factor)->name;
}

const char *facet_factor_value_name(const FacetFactorSpace *space, int factor, int value)
{
    const Factor *at = factor_at(space, factor);
    if (value == FACET_FACTOR_NULL) return "*";
    assert(value >= 0 && value < at->count && "the factor has this value");
    return at->values[value];
}

bool factor_space_equal(const FacetFactorSpace *a, const FacetFactorSpace *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) {
        const Factor *fa = &a->factors[i], *fb = &b->factors[i];
        if (strcmp(fa->name, fb->name) != 0 || fa->count != fb->count) return false;
        for (int j = 0; j < fa->count; j++)
            if (strcmp(fa->values[j], fb->values[j]) != 0) return false;
    }
    return true;
}

static FacetStatus find_or_explain(int *index, const char *kind, const char *name,
                                   char *const *names, int count)
{
    *index = find_name(name, names, count);
    if (*index >= 0) return status_ok();
    TRY(check_letters(kind, name));
    enum { LINE = 400 };
    char text[LINE + sizeof ", …"];
    text_unknown(text, LINE, kind, name, (const char *const *)names, count);
    // A list too long for the line ends behind a whole name.
    char *comma = strrchr(text, ',');
    if (strlen(text) == LINE - 1 && comma) strcpy(comma, ", …");
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

FacetStatus facet_factor_find(int *factor, const FacetFactorSpace *space, const char *name)
{
    char *names[FACET_FACTOR_MAX];
    list_factor_names(names, space);
    return find_or_explain(factor, "factor", name, names, space->count);
}

FacetStatus facet_factor_find_value(int *value, const FacetFactorSpace *space, int factor,
                                    const char *name)
{
    const Factor *at = factor_at(space, factor);
    return find_or_explain(value, at->name, name, at->values, at->count);
}

// ---- JSON -----------------------------------------------------------------------------------

char *factor_space_to_json(const FacetFactorSpace *space)
{
    Json *document = json_object();
    for (int i = 0; i < space->count; i++) {
        Json *values = json_array();
        for (int j = 0; j < space->factors[i].count; j++)
            json_push_string(values, space->factors[i].values[j]);
        json_set(document, space->factors[i].name, values);
    }
    char *text = json_line(document);
    json_free(document);
    return text;
}

static FacetStatus add_from_json(FacetFactorSpace *space, const JsonRef *at)
{
    if (!json_is_array(at)) return json_wrong(at, "an array of names");
    int count;
    TRY(json_length(&count, at));
    if (count == 0)
        return status_fail(FACET_BAD_FILE, "%s: %s: expected at least one value, found none",
                           at->file, at->path);
    FacetStatus status = factor_space_add_factor(space, json_key(at));
    JsonRef value = {0};
    while (status.ok && json_next(&value, at)) {
        char name[FACET_FACTOR_NAME_SIZE];
        TRY(json_string(name, sizeof name, &value));
        status = factor_space_add_value(space, space->count - 1, name);
    }
    return status.ok ? status : status_fail(FACET_BAD_FILE, "%s: %s", at->file, status.text);
}

FacetStatus factor_space_from_json(FacetFactorSpace **space, const char *text, const char *source)
{
    *space = NULL;
    Json *document;
    TRY(json_parse(&document, text, source));
    JsonRef root = json_root(document, source);
    int count = 0;
    FacetStatus status = json_is_object(&root) ? json_length(&count, &root)
                                               : json_wrong(&root, "an object of factors");
    if (status.ok && count == 0)
        status =
            status_fail(FACET_BAD_FILE, "%s: expected at least one factor, found none", source);
    if (status.ok) status = facet_factor_space_create(space);
    for (int i = 0; i < count && status.ok; i++) {
        JsonRef factor;
        status = json_element(&factor, &root, i);
        if (status.ok) status = add_from_json(*space, &factor);
    }
    json_free(document);
    if (!status.ok) {
        facet_factor_space_destroy(*space);
        *space = NULL;
    }
    return status;
}
