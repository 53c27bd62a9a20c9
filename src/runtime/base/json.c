// JSON through cJSON (see json.h).
#include "json.h"

#include "file.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Reading --------------------------------------------------------------------------------

// How many bytes of a line to quote: at most `most`, whole characters, up to a control character.
static int first_bytes(const char *text, int most)
{
    int used = 0, length;
    while ((unsigned char)text[used] >= ' ' && (length = text_character(text + used)) > 0 &&
           used + length <= most)
        used += length;
    return used;
}

FacetStatus json_parse(Json **document, const char *text, const char *name)
{
    const char *end = NULL;
    *document = cJSON_ParseWithOpts(text, &end, true);
    if (*document) return status_ok();
    int line = 1;
    for (const char *c = text; end && c < end; c++) line += *c == '\n';
    char found[24] = "the end of the text";
    if (end && *end) snprintf(found, sizeof found, "'%.*s'", first_bytes(end, 12), end);
    return status_fail(FACET_BAD_FILE, "%s: line %d: expected valid JSON, found %s", name, line,
                       found);
}

FacetStatus json_read(Json **document, const char *file)
{
    *document = NULL;
    char *text;
    size_t size;
    TRY(file_read(&text, &size, file));
    FacetStatus status =
        strlen(text) == size
            ? json_parse(document, text, file)
            : status_fail(FACET_BAD_FILE, "%s: expected JSON text, found a zero byte", file);
    free(text);
    return status;
}

JsonRef json_root(const Json *document, const char *file)
{
    return (JsonRef){.node = document, .file = file};
}

// A number read from a text, or one made here with its own spelling (see number_node).
static bool is_number(const Json *node) { return cJSON_IsNumber(node) || cJSON_IsRaw(node); }

static bool is_vector(const Json *node)
{
    if (!cJSON_IsArray(node) || cJSON_GetArraySize(node) != 3) return false;
    for (const Json *child = node->child; child; child = child->next)
        if (!is_number(child)) return false;
    return true;
}

static void describe(char *out, size_t size, const Json *node)
{
    if (cJSON_IsString(node))
        snprintf(out, size, "\"%.*s\"", first_bytes(node->valuestring, 40), node->valuestring);
    else if (is_number(node))
        snprintf(out, size, "%.10g", node->valuedouble);
    else if (is_vector(node))
        snprintf(out, size, "[%.6g, %.6g, %.6g]", node->child->valuedouble,
                 node->child->next->valuedouble, node->child->next->next->valuedouble);
    else if (cJSON_IsArray(node))
        snprintf(out, size, "an array of %d", cJSON_GetArraySize(node));
    else
        snprintf(out, size, "%s",
                 cJSON_IsObject(node) ? "an object"
                 : cJSON_IsBool(node) ? (cJSON_IsTrue(node) ? "true" : "false")
                 : cJSON_IsNull(node) ? "null"
                                      : "nothing");
}

FacetStatus json_wrong(const JsonRef *at, const char *expected)
{
    char found[64];
    describe(found, sizeof found, at->node);
    return status_fail(FACET_BAD_FILE, "%s: %s: expected %s, found %s", at->file,
                       at->path[0] ? at->path : "the document", expected, found);
}

bool json_has(const JsonRef *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object->node, key) != NULL;
}

bool json_is_array(const JsonRef *at) { return cJSON_IsArray(at->node); }
bool json_is_object(const JsonRef *at) { return cJSON_IsObject(at->node); }
bool json_is_true(const JsonRef *at) { return cJSON_IsTrue(at->node); }
bool json_is_null(const JsonRef *at) { return cJSON_IsNull(at->node); }

FacetStatus json_member(JsonRef *out, const JsonRef *object, const char *key)
{
    if (!cJSON_IsObject(object->node)) return json_wrong(object, "an object");
    *out = (JsonRef){.node = cJSON_GetObjectItemCaseSensitive(object->node, key),
                     .file = object->file};
    snprintf(out->path, sizeof out->path, "%.100s%s%.50s", object->path, object->path[0] ? "." : "",
             key);
    if (!out->node) return json_wrong(out, "a value");
    return status_ok();
}

// Stands on a child of an array or an object.
static void enter(JsonRef *out, const JsonRef *array, const Json *node, int index)
{
    *out = (JsonRef){.node = node, .file = array->file, .index = index};
    if (cJSON_IsObject(array->node) && node)
        snprintf(out->path, sizeof out->path, "%.100s%s%.50s", array->path,
                 array->path[0] ? "." : "", node->string);
    else
        snprintf(out->path, sizeof out->path, "%.140s[%d]", array->path, index);
}

FacetStatus json_element(JsonRef *out, const JsonRef *array, int index)
{
    const Json *node = cJSON_GetArrayItem(array->node, index);
    enter(out, array, node, index);
    return node ? status_ok() : json_wrong(out, "an element");
}

bool json_next(JsonRef *at, const JsonRef *array)
{
    bool first = !at->node;
    const Json *node = first ? array->node->child : at->node->next;
    if (node) enter(at, array, node, first ? 0 : at->index + 1);
    return node;
}

FacetStatus json_length(int *out, const JsonRef *array)
{
    if (!cJSON_IsArray(array->node) && !cJSON_IsObject(array->node))
        return json_wrong(array, "an array or an object");
    *out = cJSON_GetArraySize(array->node);
    return status_ok();
}

const char *json_key(const JsonRef *at) { return at->node->string ? at->node->string : ""; }

FacetStatus json_only(const JsonRef *object, const char *const *keys, int count)
{
    if (!cJSON_IsObject(object->node)) return json_wrong(object, "an object");
    for (const Json *child = object->node->child; child; child = child->next) {
        bool known = false;
        for (int i = 0; i < count; i++) known = known || strcmp(child->string, keys[i]) == 0;
        if (known && cJSON_GetObjectItemCaseSensitive(object->node, child->string) != child)
            return status_fail(FACET_BAD_FILE, "%s: %s%s%s: expected once, found again",
                               object->file, object->path, object->path[0] ? "." : "",
                               child->string);
        if (known) continue;
        char text[320];
        text_unknown(text, sizeof text, "field", child->string, keys, count);
        return status_fail(FACET_BAD_FILE, "%s: %s%s%s", object->file, object->path,
                           object->path[0] ? ": " : "", text);
    }
    return status_ok();
}

FacetStatus json_number(double *out, const JsonRef *at, double min, double max)
{
    bool fits = is_number(at->node) && isfinite(at->node->valuedouble) &&
                at->node->valuedouble >= min && at->node->valuedouble <= max;
    if (!fits) {
        char expected[96];
        if (isfinite(min) && isfinite(max))
            snprintf(expected, sizeof expected, "a number from %g to %g", min, max);
        else if (isfinite(min))
            snprintf(expected, sizeof expected, "a finite number of at least %g", min);
        else if (isfinite(max))
            snprintf(expected, sizeof expected, "a finite number of at most %g", max);
        else
            snprintf(expected, sizeof expected, "a finite number");
        return json_wrong(at, expected);
    }
    *out = at->node->valuedouble;
    return status_ok();
}

FacetStatus json_string(char *out, int size, const JsonRef *at)
{
    if (!cJSON_IsString(at->node) || !at->node->valuestring[0] ||
        (int)strlen(at->node->valuestring) >= size) {
        char expected[64];
        snprintf(expected, sizeof expected, "a text of 1 to %d bytes", size - 1);
        return json_wrong(at, expected);
    }
    strcpy(out, at->node->valuestring);
    return status_ok();
}

FacetStatus json_bool(bool *out, const JsonRef *at)
{
    if (!cJSON_IsBool(at->node)) return json_wrong(at, "true or false");
    *out = cJSON_IsTrue(at->node);
    return status_ok();
}

const char *json_chars(const JsonRef *at)
{
    return cJSON_IsString(at->node) ? at->node->valuestring : NULL;
}

FacetStatus json_vec3(FacetVec3 *out, const JsonRef *at)
{
    if (!cJSON_IsArray(at->node) || cJSON_GetArraySize(at->node) != 3)
        return json_wrong(at, "three numbers [x, y, z]");
    double values[3];
    for (int i = 0; i < 3; i++) {
        JsonRef element;
        TRY(json_element(&element, at, i));
        TRY(json_number(&values[i], &element, -INFINITY, INFINITY));
    }
    *out = vec3(values[0], values[1], values[2]);
    return status_ok();
}

FacetStatus json_member_number(double *out, const JsonRef *object, const char *key, double min,
                               double max)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    return json_number(out, &at, min, max);
}

FacetStatus json_member_bool(bool *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    if (!cJSON_IsBool(at.node)) return json_wrong(&at, "true or false");
    *out = cJSON_IsTrue(at.node);
    return status_ok();
}

FacetStatus json_member_string(char *out, int size, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    return json_string(out, size, &at);
}

FacetStatus json_member_vec3(FacetVec3 *out, const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    return json_vec3(out, &at);
}

// ---- Writing --------------------------------------------------------------------------------

// Marks a node whose child was lost. cJSON keeps to the bits below.
enum { LOST = 1 << 16 };

Json *json_object(void) { return cJSON_CreateObject(); }
Json *json_array(void) { return cJSON_CreateArray(); }
void json_free(Json *document) { cJSON_Delete(document); }

bool json_whole(const Json *node)
{
    if (!node || node->type & LOST) return false;
    for (const Json *child = node->child; child; child = child->next)
        if (!json_whole(child)) return false;
    return true;
}

// A node with its own spelling of a number.
static Json *raw_number(const char *digits, double value)
{
    Json *node = cJSON_CreateRaw(digits);
    if (node) node->valuedouble = value;
    return node;
}

// A number in the fewest digits that read back as the same double. cJSON's own spelling is off by
// a last bit now and then.
static Json *number_node(double value)
{
    if (!isfinite(value)) return cJSON_CreateNull();
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    return raw_number(digits, value);
}

// A child without a key still gets a place, which takes no memory: its maker may be filling it.
Json *json_set(Json *object, const char *key, Json *child)
{
    if (!object) {
        cJSON_Delete(child);
        return NULL;
    }
    if (!child || !cJSON_AddItemToObject(object, key, child)) {
        object->type |= LOST;
        cJSON_AddItemToArray(object, child);
    }
    return child;
}

void json_set_number(Json *object, const char *key, double value)
{
    json_set(object, key, number_node(value));
}

void json_add_numbers(Json *object, const JsonNumber *numbers, int count)
{
    for (int i = 0; i < count; i++) json_set_number(object, numbers[i].key, numbers[i].value);
}

void json_set_uint64(Json *object, const char *key, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    json_set(object, key, raw_number(digits, (double)value));
}

void json_set_string(Json *object, const char *key, const char *value)
{
    json_set(object, key, cJSON_CreateString(value));
}

void json_set_bool(Json *object, const char *key, bool value)
{
    json_set(object, key, cJSON_CreateBool(value));
}

Json *json_push(Json *array, Json *child)
{
    if (!array) {
        cJSON_Delete(child);
        return NULL;
    }
    if (!cJSON_AddItemToArray(array, child)) array->type |= LOST;
    return child;
}

void json_push_number(Json *array, double value) { json_push(array, number_node(value)); }

void json_push_string(Json *array, const char *value)
{
    json_push(array, cJSON_CreateString(value));
}

void json_push_bool(Json *array, bool value) { json_push(array, cJSON_CreateBool(value)); }

Json *json_from_vec3(FacetVec3 v)
{
    Json *array = json_array();
    json_push_number(array, v.x);
    json_push_number(array, v.y);
    json_push_number(array, v.z);
    return array;
}

Json *json_from_numbers(const double *values, int count, int decimals)
{
    enum { WIDEST = 352 }; // of any double, in full
    size_t room = WIDEST + 2, used = 0;
    char *text = malloc(room);
    if (!text) return NULL;
    text[used++] = '[';
    for (int i = 0; i < count; i++) {
        char *longer = room - used < WIDEST ? realloc(text, room *= 2) : text;
        if (!longer) {
            free(text);
            return NULL;
        }
        text = longer;
        char *number = text + used;
        int length = isfinite(values[i]) ? snprintf(number, WIDEST, "%.*f", decimals, values[i])
                                         : snprintf(number, WIDEST, "null");
        if (strchr(number, '.')) {
            while (number[length - 1] == '0') length--;
            if (number[length - 1] == '.') length--;
        }
        if (length == 2 && number[0] == '-' && number[1] == '0') number[0] = '0', length = 1;
        used += (size_t)length;
        text[used++] = ',';
    }
    if (count == 0) used++;
    text[used - 1] = ']';
    text[used] = '\0';
    Json *node = cJSON_CreateRaw(text);
    free(text);
    return node;
}

// The text of a document as a person reads it, or NULL when memory ran out.
static char *json_text(const Json *document)
{
    return json_whole(document) ? cJSON_Print(document) : NULL;
}

char *json_line(const Json *document)
{
    return json_whole(document) ? cJSON_PrintUnformatted(document) : NULL;
}

FacetStatus json_write(Json *document, const char *path)
{
    char *text = json_text(document);
    json_free(document);
    if (!text) return status_fail(FACET_NO_MEMORY, "%s: out of memory, not written", path);
    size_t length = strlen(text);
    text[length] = '\n'; // in place of the terminating zero: the file ends with a newline
    FacetStatus status = file_write(path, text, length + 1);
    free(text);
    return status;
}
