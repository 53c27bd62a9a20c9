// Factor spaces: names, lookups, copies and JSON.
#include "spaces.h"

#include <stdlib.h>

static void names_keep_their_order(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    assert_int_equal(facet_factor_count(space), 2);
    assert_string_equal(facet_factor_name(space, 0), "track");
    assert_string_equal(facet_factor_name(space, 1), "size");
    assert_int_equal(facet_factor_value_count(space, 0), 4);
    assert_int_equal(facet_factor_value_count(space, 1), 3);
    assert_string_equal(facet_factor_value_name(space, 0, 2), "race10");
    assert_string_equal(facet_factor_value_name(space, 1, 0), "narrow");
    assert_string_equal(facet_factor_value_name(space, 1, FACET_FACTOR_NULL), "*");
    facet_factor_space_destroy(space);
}

static void lookups_find_and_explain(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    int index = 7;
    assert_ok(facet_factor_find(&index, space, "size"));
    assert_int_equal(index, 1);
    assert_ok(facet_factor_find_value(&index, space, 0, "slalom"));
    assert_int_equal(index, 3);
    assert_refused(facet_factor_find(&index, space, "trak"),
                   "no factor 'trak', did you mean 'track'?");
    assert_refused(facet_factor_find(&index, space, "trak"), "known: track, size");
    assert_refused(facet_factor_find_value(&index, space, 0, "salom"),
                   "no track 'salom', did you mean 'slalom'? known: race1, race2, race10, slalom");
    assert_refused(facet_factor_find_value(&index, space, 1, "Wide"), "did you mean 'wide'?");
    assert_refused(facet_factor_find_value(&index, space, 1, "gigantic"), "no size 'gigantic'");
    assert_refused(facet_factor_find_value(&index, space, 1, "a\nb"),
                   "size: expected a name without control characters, found byte 10");
    facet_factor_space_destroy(space);
}

static void bad_names_are_refused_and_change_nothing(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space(), *before;
    assert_ok(factor_space_copy(&before, space));
    char long_name[FACET_FACTOR_NAME_SIZE + 1];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[FACET_FACTOR_NAME_SIZE] = '\0';
    const struct {
        const char *name, *words;
    } cases[] = {
        {"", "1 to 63 bytes, found 0"},        {long_name, "1 to 63 bytes, found 64"},
        {"a,b", "without , = or /, found ,"},  {"a=b", "without , = or /, found ="},
        {"a/b", "without , = or /, found /"},  {" a", "without a space at its ends"},
        {"a ", "without a space at its ends"}, {"a\tb", "without control characters, found byte 9"},
        {"*", "the sign of the null token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(factor_space_add_factor(space, cases[i].name), cases[i].words);
        assert_refused(factor_space_add_value(space, 1, cases[i].name), cases[i].words);
    }
    assert_refused(factor_space_add_factor(space, "size"), "factor 'size': expected distinct");
    assert_refused(factor_space_add_value(space, 1, "wide"), "size 'wide': expected distinct");
    const char *const twice[] = {"red", "blue", "red"};
    assert_refused(facet_factor_space_add(space, "colour", twice, 3), "colour 'red'");
    assert_true(factor_space_equal(space, before));
    assert_ok(factor_space_add_value(space, 0, "wide")); // the same name in another factor
    long_name[FACET_FACTOR_NAME_SIZE - 1] = '\0';
    assert_ok(factor_space_add_value(space, 0, long_name));
    assert_ok(factor_space_add_value(space, 0, "two words"));
    facet_factor_space_destroy(before);
    facet_factor_space_destroy(space);
}

static void sixteen_factors_fit_and_no_more(void **state)
{
    (void)state;
    FacetFactorSpace *space;
    assert_ok(facet_factor_space_create(&space));
    char name[16];
    for (int i = 0; i < FACET_FACTOR_MAX; i++) {
        snprintf(name, sizeof name, "f%d", i);
        assert_ok(factor_space_add_factor(space, name));
    }
    assert_refused(factor_space_add_factor(space, "f16"), "at most 16 factors");
    assert_int_equal(facet_factor_count(space), FACET_FACTOR_MAX);
    facet_factor_space_destroy(space);
}

static void many_values_fit(void **state)
{
    (void)state;
    FacetFactorSpace *space;
    assert_ok(facet_factor_space_create(&space));
    assert_ok(factor_space_add_factor(space, "track"));
    char name[16];
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "race%d", i);
        assert_ok(factor_space_add_value(space, 0, name));
    }
    int value;
    assert_ok(facet_factor_find_value(&value, space, 0, "race1999"));
    assert_int_equal(value, 1999);
    // The list of known names does not fit on the line: it ends behind a whole name.
    FacetStatus status = facet_factor_find_value(&value, space, 0, "slalom");
    assert_false(status.ok);
    size_t length = strlen(status.text);
    assert_true(length > 10);
    assert_true(length < 450);
    assert_string_equal(status.text + length - strlen(", …"), ", …");
    facet_factor_space_destroy(space);
}

static void a_space_cannot_outgrow_its_numbers(void **state)
{
    (void)state;
    // 15 factors of 18 values have 18^15 = 6.7e18 tasks, below 2^63 - 1 = 9.2e18; a sixteenth
    // factor may have one value and not two.
    FacetFactorSpace *space;
    assert_ok(facet_factor_space_create(&space));
    char name[16];
    int64_t tasks = 1;
    for (int i = 0; i < FACET_FACTOR_MAX; i++) {
        snprintf(name, sizeof name, "f%d", i);
        assert_ok(factor_space_add_factor(space, name));
        for (int j = 0; i < 15 && j < 18; j++) {
            snprintf(name, sizeof name, "v%d", j);
            assert_ok(factor_space_add_value(space, i, name));
        }
        if (i < 15) tasks *= 18;
    }
    assert_ok(factor_space_add_value(space, 15, "one"));
    assert_true(factor_task_count(space) == tasks);
    assert_refused(factor_space_add_value(space, 15, "two"), "at most 9223372036854775807 tasks");
    FacetFactorTask last = factor_task_at(space, tasks - 1);
    assert_int_equal(last.value[0], 17);
    assert_true(factor_task_index(space, last) == tasks - 1);
    facet_factor_space_destroy(space);
}

static void a_copy_is_equal_and_apart(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space(), *copy;
    assert_ok(factor_space_copy(&copy, space));
    assert_true(factor_space_equal(space, copy));
    assert_ok(factor_space_add_value(copy, 1, "huge"));
    assert_false(factor_space_equal(space, copy));
    assert_int_equal(facet_factor_value_count(space, 1), 3);
    facet_factor_space_destroy(space);
    assert_string_equal(facet_factor_value_name(copy, 1, 3), "huge");
    facet_factor_space_destroy(copy);
    facet_factor_space_destroy(NULL);
}

static void spaces_differ_by_name_order_and_size(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space(), *other;
    const char *const texts[] = {
        "{\"track\":[\"race1\",\"race2\",\"race10\",\"slalom\"]}",
        "{\"track\":[\"race1\",\"race2\",\"race10\",\"slalom\"],\"size\":[\"narrow\",\"wide\","
        "\"standard\"]}",
        "{\"track\":[\"race1\",\"race2\",\"race10\",\"slalom\"],\"sizes\":[\"narrow\","
        "\"standard\",\"wide\"]}",
        "{\"size\":[\"narrow\",\"standard\",\"wide\"],\"track\":[\"race1\",\"race2\",\"race10\","
        "\"slalom\"]}",
    };
    for (int i = 0; i < 4; i++) {
        assert_ok(factor_space_from_json(&other, texts[i], "text"));
        assert_false(factor_space_equal(space, other));
        facet_factor_space_destroy(other);
    }
    facet_factor_space_destroy(space);
}

static void json_round_trip_keeps_order_and_letters(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space(), *back;
    assert_ok(factor_space_add_value(space, 0, "Zürich \"Süd\" \\ 東"));
    char *text = factor_space_to_json(space);
    assert_string_equal(text, "{\"track\":[\"race1\",\"race2\",\"race10\",\"slalom\","
                              "\"Zürich \\\"Süd\\\" \\\\ 東\"],"
                              "\"size\":[\"narrow\",\"standard\",\"wide\"]}");
    assert_ok(factor_space_from_json(&back, text, "text"));
    assert_true(factor_space_equal(space, back));
    free(text);
    facet_factor_space_destroy(back);
    facet_factor_space_destroy(space);
}

static void wrong_json_is_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *words;
    } cases[] = {
        {"", "line 1: expected valid JSON"},
        {"{\"track\":[\"a\"}", "line 1: expected valid JSON"},
        {"[\"a\"]", "expected an object of factors, found an array of 1"},
        {"null", "expected an object of factors, found null"},
        {"{}", "demos.h5: expected at least one factor, found none"},
        {"{\"track\":[]}", "demos.h5: track: expected at least one value, found none"},
        {"{\"track\":\"a\"}", "demos.h5: track: expected an array of names, found \"a\""},
        {"{\"track\":{\"a\":\"b\"}}", "demos.h5: track: expected an array of names, found an obj"},
        {"{\"track\":[\"a\",3]}", "demos.h5: track[1]: expected a text of 1 to 63 bytes, found 3"},
        {"{\"track\":[\"a\",\"\"]}", "demos.h5: track[1]: expected a text of 1 to 63 bytes"},
        {"{\"track\":[\"a\",\"a\"]}", "demos.h5: track 'a': expected distinct names"},
        {"{\"track\":[\"a/b\"]}", "demos.h5: track 'a/b': expected a name without , = or /"},
        {"{\"a\":[\"x\"],\"a\":[\"y\"]}", "demos.h5: factor 'a': expected distinct names"},
        {"{\"a\\nb\":[\"x\"]}", "demos.h5: factor: expected a name without control"},
        {"{\"\":[\"x\"]}", "demos.h5: factor ''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FacetFactorSpace *space = race_space(), *kept = space;
        assert_refused(factor_space_from_json(&space, cases[i].text, "demos.h5"), cases[i].words);
        assert_null(space);
        facet_factor_space_destroy(kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_order),
        cmocka_unit_test(lookups_find_and_explain),
        cmocka_unit_test(bad_names_are_refused_and_change_nothing),
        cmocka_unit_test(sixteen_factors_fit_and_no_more),
        cmocka_unit_test(many_values_fit),
        cmocka_unit_test(a_space_cannot_outgrow_its_numbers),
        cmocka_unit_test(a_copy_is_equal_and_apart),
        cmocka_unit_test(spaces_differ_by_name_order_and_size),
        cmocka_unit_test(json_round_trip_keeps_order_and_letters),
        cmocka_unit_test(wrong_json_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
