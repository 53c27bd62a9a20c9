// JSON texts: parsed, and every value visited and asked for in all ways.
#include "base/json.h"
#include "fuzz.h"

#include <math.h>

static void visit(const JsonRef *at)
{
    double number;
    bool flag;
    char text[64];
    FacetVec3 vector;
    (void)json_number(&number, at, -INFINITY, INFINITY);
    (void)json_string(text, sizeof text, at);
    (void)json_bool(&flag, at);
    (void)json_vec3(&vector, at);
    static const char *const keys[] = {"a", "name"};
    (void)json_only(at, keys, 2);
    JsonRef child = {0};
    if (json_is_array(at) || json_is_object(at))
        while (json_next(&child, at)) visit(&child);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Json *document;
    char *text = fuzz_text(bytes, size);
    if (json_parse(&document, text, "text").ok) {
        JsonRef root = json_root(document, "text");
        visit(&root);
        free(json_line(document));
    }
    json_free(document);
    free(text);
    return 0;
}
