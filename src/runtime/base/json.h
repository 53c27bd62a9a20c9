// JSON in and out. cJSON stands behind json.c alone.
//
// Reading goes through JsonRef, which knows the file and the path of the field it stands on, so
// that a message can name both: "courses/race1.json: start[2]: expected a finite number, found
// null".
#ifndef FACET_BASE_JSON_H
#define FACET_BASE_JSON_H

#include "base/status.h"
#include "math/geometry.h"

#include <stdint.h>

typedef struct cJSON Json; // opaque outside json.c

// ---- Reading --------------------------------------------------------------------------------

typedef struct JsonRef {
    const Json *node;
    const char *file; // for messages; not owned
    char path[160];   // "gates[3].position"; empty at the root
    int index;        // of an element, or of a member in its object
} JsonRef;

// Parses a file or a text. The document lives until json_free(document).
FacetStatus json_read(Json **document, const char *file);
FacetStatus json_parse(Json **document, const char *text, const char *name);
JsonRef json_root(const Json *document, const char *file);

// A failure at this field, in the one form all messages have.
FacetStatus json_wrong(const JsonRef *at, const char *expected);

// Members and elements. `json_member` fails when the key is missing.
bool json_has(const JsonRef *object, const char *key);
bool json_is_array(const JsonRef *at);
bool json_is_object(const JsonRef *at);
bool json_is_true(const JsonRef *at);
bool json_is_null(const JsonRef *at);
FacetStatus json_member(JsonRef *out, const JsonRef *object, const char *key);
FacetStatus json_element(JsonRef *out, const JsonRef *array, int index);

// Steps to the next child of an array or an object, to the first from an empty reference; false
// behind the last. A loop over many children takes this: an element is found by counting.
bool json_next(JsonRef *at, const JsonRef *array);
FacetStatus json_length(int *out, const JsonRef *array); // of an array or an object
const char *json_key(const JsonRef *at);                 // the name of an object's member

// Refuses a member that is not among `keys`, with the nearest one, and a member given twice.
FacetStatus json_only(const JsonRef *object, const char *const *keys, int count);

// Values. Numbers are finite and lie in [min, max].
FacetStatus json_number(double *out, const JsonRef *at, double min, double max);
FacetStatus json_string(char *out, int size, const JsonRef *at); // not empty
FacetStatus json_bool(bool *out, const JsonRef *at);
FacetStatus json_vec3(FacetVec3 *out, const JsonRef *at);
const char *json_chars(const JsonRef *at); // of a text of any length, or NULL; the document's own
FacetStatus json_member_number(double *out, const JsonRef *object, const char *key, double min,
                               double max);
FacetStatus json_member_bool(bool *out, const JsonRef *object, const char *key);
FacetStatus json_member_string(char *out, int size, const JsonRef *object, const char *key);
FacetStatus json_member_vec3(FacetVec3 *out, const JsonRef *object, const char *key);

// ---- Writing --------------------------------------------------------------------------------

// Nothing here fails at once. When memory runs out, a maker gives NULL, which every other call
// takes, and the document remembers that it lost something, as it does when a text or a child is
// NULL: then it has no text and is not written. What is written is whole.
//
// json_set and json_push take the child and give it back while it lives: a child that is handed to
// a NULL parent is freed, and NULL given back. Who fills a child after handing it over goes on with
// what was given back.
Json *json_object(void);
Json *json_array(void);
void json_free(Json *document);
Json *json_set(Json *object, const char *key, Json *child);
void json_set_number(Json *object, const char *key, double value);   // non-finite becomes null
void json_set_uint64(Json *object, const char *key, uint64_t value); // every digit of it
void json_set_string(Json *object, const char *key, const char *value);
void json_set_bool(Json *object, const char *key, bool value);
Json *json_push(Json *array, Json *child);

// Sets several numbers in their order, as in json_set_numbers(object, {"mean", 1.0}, {"max", 2.0}).
typedef struct JsonNumber {
    const char *key;
    double value;
} JsonNumber;
void json_add_numbers(Json *object, const JsonNumber *numbers, int count);
#define json_set_numbers(object, ...)                                                              \
    json_add_numbers(object, (const JsonNumber[]){__VA_ARGS__},                                    \
                     (int)(sizeof((const JsonNumber[]){__VA_ARGS__}) / sizeof(JsonNumber)))

void json_push_number(Json *array, double value);
void json_push_string(Json *array, const char *value);
void json_push_bool(Json *array, bool value);
Json *json_from_vec3(FacetVec3 v);

// An array of numbers with at most so many decimals, for long lists; it is only to be written, and
// JsonRef cannot look into it. Non-finite becomes null.
Json *json_from_numbers(const double *values, int count, int decimals);

// Whether nothing of a document was lost.
bool json_whole(const Json *document);

// The text of a document without line breaks; the caller frees it. NULL when memory ran out, now or
// before.
char *json_line(const Json *document);

// Writes a document to a file, atomically, and frees it whatever happens. Fails with
// FACET_NO_MEMORY when the document lost something.
FacetStatus json_write(Json *document, const char *path);

#endif
