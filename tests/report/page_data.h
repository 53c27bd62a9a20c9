// What a page holds, for tests that look into one.
#ifndef FACET_TESTS_REPORT_PAGE_DATA_H
#define FACET_TESTS_REPORT_PAGE_DATA_H

#include "base/json.h"
#include "picture/base64.h"
#include "picture/deflate.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

// The data that a page holds packed.
static inline char *unpacked(const Json *packed)
{
    JsonRef root = json_root(packed, "page"), text;
    double bytes;
    size_t size;
    assert_ok(json_member_number(&bytes, &root, "bytes", 1, 1e9));
    assert_ok(json_member(&text, &root, "deflated"));
    uint8_t *stream = base64_decode(&size, json_chars(&text));
    char *data = calloc((size_t)bytes + 1, 1);
    Inflater *inflater = inflater_create();
    assert_non_null(stream);
    assert_non_null(data);
    assert_non_null(inflater);
    assert_int_equal(inflater_unpack((uint8_t *)data, (size_t)bytes, inflater, stream, size),
                     INFLATE_DONE);
    inflater_destroy(inflater);
    free(stream);
    return data;
}

// What a page shows: the text between the tags of its data, unpacked where that is packed.
static inline char *data_of(const char *page)
{
    const char *open = strstr(page, "id=\"facet-data\">");
    assert_non_null(open);
    open = strchr(open, '>') + 1;
    const char *close = strstr(open, "</script>");
    assert_non_null(close);
    char *text = strndup(open, (size_t)(close - open));
    Json *document;
    assert_ok(json_parse(&document, text, "page"));
    JsonRef root = json_root(document, "page");
    if (json_has(&root, "deflated")) {
        free(text);
        text = unpacked(document);
    }
    json_free(document);
    return text;
}

#endif
