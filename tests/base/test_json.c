// JSON: what each kind of mistake is told, and numbers that come back as they were.
#include "base/file.h"
#include "base/json.h"
#include "testing.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

// A document, its root, and the checks that most tests make on them.
typedef struct Parsed {
    Json *document;
    JsonRef root;
} Parsed;

static Parsed parsed(const char *text)
{
    Parsed out;
    assert_ok(json_parse(&out.document, text, "t.json"));
    out.root = json_root(out.document, "t.json");
    return out;
}

#define assert_says(expression, words)                                                             \
    do {                                                                                           \
        FacetStatus says_ = (expression);                                                          \
        assert_false(says_.ok);                                                                    \
        assert_string_equal(says_.text, (words));                                                  \
    } while (0)

static void broken_text_is_named_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t.json: line 1: expected valid JSON, found the end of the text"},
        {"{\"a\": 1,\n \"b\": }", "t.json: line 2: expected valid JSON, found '}'"},
        {"{\"a\": NaN}", "t.json: line 1: expected valid JSON, found 'NaN}'"},
        {"[1, Infinity]", "t.json: line 1: expected valid JSON, found 'Infinity]'"},
        {"{\"a\": 1} {}", "t.json: line 1: expected valid JSON, found '{}'"},
        {"{\"a\": 1", "t.json: line 1: expected valid JSON, found the end of the text"},
        {"garbage garbage garbage", "t.json: line 1: expected valid JSON, found 'garbage garb'"},
        {"[ööööööööö]", "t.json: line 1: expected valid JSON, found 'öööööö'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Json *document = NULL;
        assert_says(json_parse(&document, cases[i].text, "t.json"), cases[i].message);
        assert_null(document);
    }
}

static void nesting_without_end_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH + 1);
    memset(text, '[', DEPTH);
    text[DEPTH] = '\0';
    Json *document;
    assert_refused(json_parse(&document, text, "t.json"), "expected valid JSON");
    free(text);
}

static void missing_and_mistyped_fields_are_named(void **state)
{
    (void)state;
    Parsed p = parsed("{\"gates\": [{\"position\": [1, 2, null]}, {\"position\": \"here\"}],"
                      " \"speed\": 1e999, \"name\": \"\", \"size\": 3, \"deep\": {\"x\": true}}");
    JsonRef gates, gate, deep;
    double number;
    char text[8];
    FacetVec3 vector;
    int length;
    assert_says(json_member_number(&number, &p.root, "mass", 0.0, 1.0),
                "t.json: mass: expected a value, found nothing");
    assert_says(json_member_number(&number, &p.root, "gates", 0.0, 1.0),
                "t.json: gates: expected a number from 0 to 1, found an array of 2");
    assert_says(json_member_number(&number, &p.root, "speed", 0.0, INFINITY),
                "t.json: speed: expected a finite number of at least 0, found inf");
    assert_says(json_member_number(&number, &p.root, "size", -INFINITY, 2.0),
                "t.json: size: expected a finite number of at most 2, found 3");
    assert_says(json_member_number(&number, &p.root, "name", -INFINITY, INFINITY),
                "t.json: name: expected a finite number, found \"\"");
    assert_says(json_member_string(text, sizeof text, &p.root, "name"),
                "t.json: name: expected a text of 1 to 7 bytes, found \"\"");
    assert_says(json_member_string(text, sizeof text, &p.root, "size"),
                "t.json: size: expected a text of 1 to 7 bytes, found 3");

    assert_ok(json_member(&gates, &p.root, "gates"));
    assert_ok(json_length(&length, &gates));
    assert_int_equal(length, 2);
    assert_ok(json_element(&gate, &gates, 0));
    assert_says(json_member_vec3(&vector, &gate, "position"),
                "t.json: gates[0].position[2]: expected a finite number, found null");
    assert_ok(json_element(&gate, &gates, 1));
    assert_says(json_member_vec3(&vector, &gate, "position"),
                "t.json: gates[1].position: expected three numbers [x, y, z], found \"here\"");
    assert_says(json_element(&gate, &gates, 2),
                "t.json: gates[2]: expected an element, found nothing");

    assert_ok(json_member(&deep, &p.root, "deep"));
    assert_says(json_member_number(&number, &deep, "x", 0.0, 1.0),
                "t.json: deep.x: expected a number from 0 to 1, found true");
    JsonRef leaf;
    assert_ok(json_member(&leaf, &deep, "x"));
    assert_says(json_member(&gate, &leaf, "y"), "t.json: deep.x: expected an object, found true");
    assert_says(json_length(&length, &leaf),
                "t.json: deep.x: expected an array or an object, found true");
    json_free(p.document);
}

static void wrong_root_is_called_the_document(void **state)
{
    (void)state;
    Parsed p = parsed("[1]");
    JsonRef out;
    assert_says(json_member(&out, &p.root, "a"),
                "t.json: the document: expected an object, found an array of 1");
    assert_false(json_has(&p.root, "a"));
    json_free(p.document);
}

static void unknown_and_repeated_fields_are_refused(void **state)
{
    (void)state;
    static const char *const keys[] = {"mass", "inertia", "gates"};
    Parsed p = parsed("{\"mass\": 1, \"inerta\": 2}");
    assert_says(json_only(&p.root, keys, 3), "t.json: no field 'inerta', did you mean 'inertia'? "
                                             "known: mass, inertia, gates");
    json_free(p.document);

    p = parsed("{\"body\": {\"mass\": 1, \"colour\": 2}}");
    JsonRef body;
    assert_ok(json_member(&body, &p.root, "body"));
    assert_says(json_only(&body, keys, 2), "t.json: body: no field 'colour': mass, inertia");
    json_free(p.document);

    p = parsed("{\"body\": {\"mass\": 1, \"inertia\": 2, \"mass\": 3}}");
    assert_ok(json_member(&body, &p.root, "body"));
    assert_says(json_only(&body, keys, 3), "t.json: body.mass: expected once, found again");
    json_free(p.document);

    p = parsed("{\"mass\": 1, \"gates\": []}");
    assert_ok(json_only(&p.root, keys, 3));
    json_free(p.document);
}

static void deep_paths_are_cut_not_overrun(void **state)
{
    (void)state;
    enum { DEPTH = 60 };
    char text[DEPTH * 20 + 20] = "";
    for (int i = 0; i < DEPTH; i++) strcat(text, "{\"a_long_name\":");
    strcat(text, "1");
    for (int i = 0; i < DEPTH; i++) strcat(text, "}");
    Parsed p = parsed(text);
    JsonRef at = p.root, next;
    for (int i = 0; i < DEPTH; i++) {
        assert_ok(json_member(&next, &at, "a_long_name"));
        at = next;
    }
    assert_refused(json_wrong(&at, "less"), "a_long_name.a_long_name");
    json_free(p.document);
}

static void quoted_text_stays_on_one_line(void **state)
{
    (void)state;
    Parsed p = parsed("{\"a\": \"two\\nlines\", \"b\\n\": 1}");
    double number;
    assert_says(json_member_number(&number, &p.root, "a", 0.0, 1.0),
                "t.json: a: expected a number from 0 to 1, found \"two\"");
    assert_refused(json_only(&p.root, (const char *const[]){"a"}, 1), "no field 'b?'");
    json_free(p.document);
}

static void files_name_themselves(void **state)
{
    (void)state;
    Json *document = NULL;
    assert_refused(json_read(&document, "no/such.json"),
                   "no/such.json: cannot open: No such file or directory");
    assert_refused(json_read(&document, "."), ".: cannot read: Is a directory");
    assert_ok(file_write("zero.json", "{\"a\": 1}\0{}", 11));
    assert_says(json_read(&document, "zero.json"),
                "zero.json: expected JSON text, found a zero byte");
    assert_ok(file_write("zero.json", "", 0));
    assert_says(json_read(&document, "zero.json"),
                "zero.json: line 1: expected valid JSON, found the end of the text");
    assert_null(document);
    unlink("zero.json");
}

static void numbers_come_back_bit_for_bit(void **state)
{
    (void)state;
    static const double values[] = {0.0,
                                    -0.0,
                                    1.0,
                                    0.1,
                                    0.1 + 0.2,
                                    1.0 / 3.0,
                                    123456789.0,
                                    9007199254740993.0,
                                    1e22,
                                    -2.2250738585072014e-308,
                                    4.9406564584124654e-324,
                                    1.7976931348623157e308,
                                    3.14159265358979323846};
    enum { COUNT = sizeof values / sizeof *values };
    Json *array = json_array();
    for (int i = 0; i < COUNT; i++) json_push_number(array, values[i]);
    // A document that was made here reads like one that was parsed.
    JsonRef made = json_root(array, "made"), element;
    double number;
    assert_ok(json_element(&element, &made, 4));
    assert_ok(json_number(&number, &element, 0.0, 1.0));
    assert_true(number == values[4]);

    assert_ok(json_write(array, "numbers.json"));
    Json *document;
    assert_ok(json_read(&document, "numbers.json"));
    JsonRef root = json_root(document, "numbers.json");
    for (int i = 0; i < COUNT; i++) {
        assert_ok(json_element(&element, &root, i));
        assert_ok(json_number(&number, &element, -INFINITY, INFINITY));
        assert_memory_equal(&number, &values[i], sizeof number);
    }
    json_free(document);
    unlink("numbers.json");
}

static void documents_are_written_for_people(void **state)
{
    (void)state;
    Json *document = json_object(), *list = json_array();
    json_set_string(document, "name", "a \"b\" ±");
    json_set_number(document, "speed", 0.3);
    json_set_number(document, "count", 24);
    json_set_number(document, "none", NAN);
    json_set_uint64(document, "seed", UINT64_MAX);
    json_set_bool(document, "feasible", true);
    json_push_string(list, "x");
    json_push(list, json_from_vec3(vec3(1.0, 2.5, -3.0)));
    json_set(document, "list", list);
    assert_ok(json_write(document, "people.json"));
    char *text;
    size_t size;
    assert_ok(file_read(&text, &size, "people.json"));
    assert_string_equal(text, "{\n"
                              "\t\"name\":\t\"a \\\"b\\\" ±\",\n"
                              "\t\"speed\":\t0.3,\n"
                              "\t\"count\":\t24,\n"
                              "\t\"none\":\tnull,\n"
                              "\t\"seed\":\t18446744073709551615,\n"
                              "\t\"feasible\":\ttrue,\n"
                              "\t\"list\":\t[\"x\", [1, 2.5, -3]]\n"
                              "}\n");
    free(text);
    unlink("people.json");
}

static void members_can_be_walked(void **state)
{
    (void)state;
    Parsed p = parsed("{\"narrow\": 0.3, \"wide\": 1.0, \"empty\": \"\"}");
    int length;
    JsonRef at;
    double number;
    assert_ok(json_length(&length, &p.root));
    assert_int_equal(length, 3);
    assert_ok(json_element(&at, &p.root, 2));
    assert_string_equal(json_chars(&at), "");
    assert_ok(json_element(&at, &p.root, 1));
    assert_string_equal(json_key(&at), "wide");
    assert_null(json_chars(&at));
    assert_says(json_number(&number, &at, 2.0, 3.0),
                "t.json: wide: expected a number from 2 to 3, found 1");
    assert_true(json_has(&p.root, "narrow"));
    assert_false(json_has(&p.root, "Narrow"));
    json_free(p.document);
}

static void truth_is_true_or_false(void **state)
{
    (void)state;
    Parsed p = parsed("{\"yes\": true, \"no\": false, \"one\": 1}");
    JsonRef at;
    bool value;
    assert_ok(json_member(&at, &p.root, "yes"));
    assert_ok(json_bool(&value, &at));
    assert_true(value);
    assert_ok(json_member(&at, &p.root, "no"));
    assert_ok(json_bool(&value, &at));
    assert_false(value);
    assert_ok(json_member(&at, &p.root, "one"));
    assert_says(json_bool(&value, &at), "t.json: one: expected true or false, found 1");
    json_free(p.document);
}

static void long_lists_take_few_digits(void **state)
{
    (void)state;
    const double values[] = {1.0, -2.5, 0.12345, -0.0004, 1e-9, 100.0, nan(""), -INFINITY, 1e300};
    Json *document = json_object();
    json_set(document, "few", json_from_numbers(values, 8, 3));
    json_set(document, "none", json_from_numbers(values, 0, 3));
    json_set(document, "whole", json_from_numbers(values + 1, 1, 0));
    char *text = json_line(document);
    assert_string_equal(text, "{\"few\":[1,-2.5,0.123,0,0,100,null,null],\"none\":[],"
                              "\"whole\":[-2]}");
    free(text);
    json_free(document);
    document = json_from_numbers(values + 8, 1, 3); // as long as a number gets
    text = json_line(document);
    assert_near(strtod(text + 1, NULL), 1e300, 0.0);
    free(text);
    json_free(document);
}

// ---- When memory runs out -----------------------------------------------------------------------

static long allocations_left = -1; // until one fails; below zero for ever

static void *allocate(size_t size)
{
    if (allocations_left == 0) return NULL;
    if (allocations_left > 0) allocations_left--;
    return malloc(size);
}

// A document with something of every kind, some of it set before what it hangs on is complete.
static Json *make_everything(void)
{
    Json *document = json_object(), *list = json_set(document, "list", json_array());
    Json *inner = json_push(list, json_object());
    json_push_number(list, 0.25);
    json_push_number(list, INFINITY);
    json_push_string(list, "text");
    json_push_bool(list, true);
    json_push(list, json_from_vec3(vec3(1.0, 2.0, 3.0)));
    json_set_number(inner, "number", 1.5);
    json_set_uint64(inner, "seed", UINT64_MAX);
    json_set_string(inner, "name", "race1");
    json_set_bool(inner, "flown", false);
    json_set(document, "numbers", json_from_numbers((const double[]){1.0, 2.5}, 2, 3));
    return document;
}

static void a_document_is_written_whole_or_not_at_all(void **state)
{
    (void)state;
    Json *document = make_everything();
    char *whole = json_line(document);
    assert_non_null(whole);
    json_free(document);
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = allocate, .free_fn = free});
    int failures = 0;
    for (long n = 0;; n++) {
        allocations_left = n;
        document = make_everything();
        char *text = json_line(document);
        bool complete = text != NULL;
        if (complete) assert_string_equal(text, whole);
        failures += !complete;
        free(text);
        allocations_left = n;
        json_free(document);
        FacetStatus status = json_write(make_everything(), "whole.json");
        assert_int_equal(status.ok, access("whole.json", F_OK) == 0);
        if (!status.ok) {
            assert_int_equal(status.code, FACET_NO_MEMORY);
            assert_refused(status, "whole.json: out of memory, not written");
        }
        unlink("whole.json");
        if (complete && status.ok) break;
        // What is lost stays lost when there is memory again.
        allocations_left = n < 30 ? n : 30;
        document = make_everything();
        allocations_left = -1;
        json_set_number(document, "late", 1.0);
        assert_false(json_whole(document));
        assert_null(json_line(document));
        json_free(document);
    }
    allocations_left = -1;
    cJSON_InitHooks(NULL);
    assert_true(failures > 30);
    free(whole);
}

static void what_is_missing_is_lost(void **state)
{
    (void)state;
    Json *document = json_object(), *inner = json_object();
    json_set(document, "inner", inner);
    assert_true(json_whole(document));
    json_set_string(inner, "name", NULL);
    assert_false(json_whole(document));
    assert_null(json_line(document));
    json_free(document);
    document = json_array();
    json_push(document, NULL);
    assert_refused(json_write(document, "lost.json"), "lost.json: out of memory, not written");
    assert_null(json_set(NULL, "key", NULL));
    assert_null(json_set(NULL, "key", json_object())); // leaves nothing behind
    json_set_number(NULL, "key", 1.0);
    assert_null(json_push(NULL, json_array()));
    json_push_string(NULL, "text");
    assert_refused(json_write(NULL, "lost.json"), "lost.json: out of memory");
    assert_null(json_line(NULL));
}

static void children_follow_each_other(void **state)
{
    (void)state;
    Json *document;
    assert_ok(json_parse(&document, "{\"a\": 1, \"b\": [5, 6], \"none\": []}", "test"));
    JsonRef root = json_root(document, "test"), at = {0}, number = {0}, none;
    const char *const keys[] = {"a", "b", "none"};
    int count = 0;
    while (json_next(&at, &root)) {
        JsonRef same;
        assert_ok(json_element(&same, &root, count));
        assert_ptr_equal(at.node, same.node);
        assert_string_equal(at.path, keys[count++]);
    }
    assert_int_equal(count, 3);
    assert_ok(json_member(&at, &root, "b"));
    for (count = 0; json_next(&number, &at); count++)
        assert_string_equal(number.path, count ? "b[1]" : "b[0]");
    assert_int_equal(count, 2);
    assert_ok(json_member(&none, &root, "none"));
    number = (JsonRef){0};
    assert_false(json_next(&number, &none));
    json_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_written_whole_or_not_at_all),
        cmocka_unit_test(what_is_missing_is_lost),
        cmocka_unit_test(broken_text_is_named_with_its_line),
        cmocka_unit_test(nesting_without_end_is_refused),
        cmocka_unit_test(missing_and_mistyped_fields_are_named),
        cmocka_unit_test(wrong_root_is_called_the_document),
        cmocka_unit_test(unknown_and_repeated_fields_are_refused),
        cmocka_unit_test(deep_paths_are_cut_not_overrun),
        cmocka_unit_test(quoted_text_stays_on_one_line),
        cmocka_unit_test(files_name_themselves),
        cmocka_unit_test(numbers_come_back_bit_for_bit),
        cmocka_unit_test(documents_are_written_for_people),
        cmocka_unit_test(members_can_be_walked),
        cmocka_unit_test(truth_is_true_or_false),
        cmocka_unit_test(long_lists_take_few_digits),
        cmocka_unit_test(children_follow_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
