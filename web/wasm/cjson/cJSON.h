// What base/json.c reads JSON with, written for builds that have no libcjson: the same names and
// the same meaning. Nothing in a page writes JSON, so the makers and printers are declared, for
// json.c to compile, and not there.
#ifndef FACET_WASM_CJSON_H
#define FACET_WASM_CJSON_H

#include <stdbool.h>

typedef struct cJSON {
    struct cJSON *next, *child;
    int type;
    char *valuestring;  // of a text
    double valuedouble; // of a number
    char *string;       // of a member: its key
} cJSON;

enum { cJSON_Invalid, cJSON_False, cJSON_True, cJSON_NULL, cJSON_Number, cJSON_String };
enum { cJSON_Array = cJSON_String + 1, cJSON_Object, cJSON_Raw };

// Parses a whole text; NULL when it is not JSON, with *end at what was not expected.
cJSON *cJSON_ParseWithOpts(const char *text, const char **end, int whole);
void cJSON_Delete(cJSON *node);

// Of no node at all they say what they say of a node of another kind.
int cJSON_GetArraySize(const cJSON *node);
cJSON *cJSON_GetArrayItem(const cJSON *node, int index);
cJSON *cJSON_GetObjectItemCaseSensitive(const cJSON *node, const char *key);

static inline bool cJSON_Is(const cJSON *node, int type) { return node && node->type == type; }
#define cJSON_IsTrue(node)   cJSON_Is(node, cJSON_True)
#define cJSON_IsBool(node)   (cJSON_Is(node, cJSON_True) || cJSON_Is(node, cJSON_False))
#define cJSON_IsNull(node)   cJSON_Is(node, cJSON_NULL)
#define cJSON_IsNumber(node) cJSON_Is(node, cJSON_Number)
#define cJSON_IsString(node) cJSON_Is(node, cJSON_String)
#define cJSON_IsArray(node)  cJSON_Is(node, cJSON_Array)
#define cJSON_IsObject(node) cJSON_Is(node, cJSON_Object)
#define cJSON_IsRaw(node)    cJSON_Is(node, cJSON_Raw)

cJSON *cJSON_CreateNull(void);
cJSON *cJSON_CreateBool(int value);
cJSON *cJSON_CreateString(const char *text);
cJSON *cJSON_CreateRaw(const char *text);
cJSON *cJSON_CreateArray(void);
cJSON *cJSON_CreateObject(void);
int cJSON_AddItemToArray(cJSON *array, cJSON *child);
int cJSON_AddItemToObject(cJSON *object, const char *key, cJSON *child);
char *cJSON_Print(const cJSON *node);
char *cJSON_PrintUnformatted(const cJSON *node);

#endif
