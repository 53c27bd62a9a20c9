// The reader of JSON in web/wasm/cjson: what it takes, what it refuses, and where it stopped.
#include "cjson/cJSON.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static cJSON *parse(const char *text)
{
    const char *end = NULL;
    cJSON *node = cJSON_ParseWithOpts(text, &end, true);
    assert_true(end >= text && end <= text + strlen(text));
    return node;
}

static void a_document_is_read(void **state)
{
    (void)state;
    cJSON *root =
        parse(" {\"a\":[1,-2.5e3, 0 ,true,false,null],\n\"b\":{\"c\":\"x\"},\"A\":\"\"} ");
    assert_non_null(root);
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(root, "a");
    assert_true(cJSON_IsArray(a));
    assert_int_equal(cJSON_GetArraySize(a), 6);
    assert_true(cJSON_GetArrayItem(a, 1)->valuedouble == -2500.0);
    assert_true(cJSON_IsTrue(cJSON_GetArrayItem(a, 3)));
    assert_true(cJSON_IsBool(cJSON_GetArrayItem(a, 4)) && !cJSON_IsTrue(cJSON_GetArrayItem(a, 4)));
    assert_true(cJSON_IsNull(cJSON_GetArrayItem(a, 5)));
    assert_null(cJSON_GetArrayItem(a, 6));
    assert_null(cJSON_GetArrayItem(a, -1));
    const cJSON *b = cJSON_GetObjectItemCaseSensitive(root, "b");
    assert_string_equal(cJSON_GetObjectItemCaseSensitive(b, "c")->valuestring, "x");
    assert_true(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(root, "A")));
    assert_null(cJSON_GetObjectItemCaseSensitive(root, "B"));
    assert_null(cJSON_GetObjectItemCaseSensitive(NULL, "B"));
    cJSON_Delete(root);
    cJSON_Delete(NULL);
}

static void escapes_become_bytes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac"},
        {"\"\\ud83d\\ude81\"", "\xf0\x9f\x9a\x81"},
        {"\"\xc3\xa9\"", "\xc3\xa9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *node = parse(cases[i][0]);
        assert_non_null(node);
        assert_string_equal(node->valuestring, cases[i][1]);
        cJSON_Delete(node);
    }
}

static void what_is_not_json_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",      " ",    "{",       "[1,]",      "{\"a\"}",     "{\"a\":1,}",  "{a:1}",
        "[1 2]", "01",   "1.",      ".5",        "+1",          "1e",          "nan",
        "tru",   "\"a",  "\"\\x\"", "\"\\u12\"", "\"\n\"",      "\"\\ud800\"", "\"\\udc00\"",
        "[] []", "{} x", "'a'",     "[1}",       "\"\\u0000\"", "\\",          "-",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cJSON *node = parse(wrong[i]);
        if (node) fail_msg("taken: %s", wrong[i]);
    }
    char deep[4001];
    memset(deep, '[', 4000);
    deep[4000] = '\0';
    assert_null(parse(deep));
    const char *text = "{\"a\": 1,\n\"b\" 2}", *end = NULL;
    assert_null(cJSON_ParseWithOpts(text, &end, true));
    assert_string_equal(end, "2}");
}

// Every beginning of a document is refused, and leaks nothing.
static void cut_texts_are_refused(void **state)
{
    (void)state;
    static const char whole[] = "{\"a\":[1,{\"b\":\"\\u00e9x\"},true],\"c\":-1.5e-3}";
    char cut[sizeof whole];
    for (size_t length = 0; length + 1 < sizeof whole; length++) {
        memcpy(cut, whole, length);
        cut[length] = '\0';
        assert_null(parse(cut));
    }
    cJSON *node = parse(whole);
    assert_non_null(node);
    cJSON_Delete(node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_read),
        cmocka_unit_test(escapes_become_bytes),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(cut_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
