// Tasks: texts, numbers and null tokens.
#include "spaces.h"

static void both_texts_name_the_same_task(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    const char *const texts[] = {"slalom/standard", " slalom / standard ",
                                 "track=slalom,size=standard", "size=standard,track=slalom",
                                 " size = standard , track = slalom "};
    for (int i = 0; i < 5; i++) {
        FacetFactorTask task;
        assert_ok(facet_factor_task_parse(&task, space, texts[i], FACET_FACTOR_MISSING_REFUSED));
        assert_int_equal(task.value[0], 3);
        assert_int_equal(task.value[1], 1);
        assert_int_equal(task.value[2], FACET_FACTOR_NULL);
        assert_true(factor_task_complete(space, task));
    }
    facet_factor_space_destroy(space);
}

static void wrong_texts_are_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    const struct {
        const char *text, *words;
    } cases[] = {
        {"", "expected a task such as VALUE/VALUE or NAME=VALUE, found nothing"},
        {"  ", "found nothing"},
        {"race1", "task 'race1': expected track/size, found 1 value"},
        {"race1/wide/x", "expected track/size, found 3 values"},
        {"rcae1/wide", "task 'rcae1/wide': no track 'rcae1', did you mean 'race1'?"},
        {"race1/", "no size ''"},
        {"race1/*", "no size '*'"},
        {"wide/race1", "no track 'wide'"},
        {"track=race1", "expected a value of every factor, found none of size"},
        {"track=race1,size=wide,track=race1", "expected track once, found it twice"},
        {"track=race1,siez=wide", "no factor 'siez', did you mean 'size'?"},
        {"track=race1,size=", "no size ''"},
        {"track=race1,size=*", "no size '*'"},
        {"track=race1,", "expected NAME=VALUE, found ''"},
        {"track=race1,wide", "expected NAME=VALUE, found 'wide'"},
        {"track=race1=race2,size=wide", "no track 'race1=race2'"},
        {"=race1,size=wide", "no factor ''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FacetFactorTask task = {{0}};
        assert_refused(
            facet_factor_task_parse(&task, space, cases[i].text, FACET_FACTOR_MISSING_REFUSED),
            cases[i].words);
        assert_true(factor_task_equal(task, facet_factor_task_null()));
    }
    facet_factor_space_destroy(space);
}

static void a_word_beyond_any_name_is_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    // The longest name there is, and texts that start with it and go on.
    char text[1024], *end = text + FACET_FACTOR_NAME_SIZE - 1;
    memset(text, 'x', sizeof text);
    *end = '\0';
    assert_ok(factor_space_add_value(space, 0, text));
    FacetFactorTask task;
    for (int extra = 0; extra < 300; extra++) {
        memset(text, 'x', sizeof text);
        strcpy(end + extra, "/wide");
        FacetStatus status =
            facet_factor_task_parse(&task, space, text, FACET_FACTOR_MISSING_REFUSED);
        assert_int_equal(status.ok, extra == 0);
    }
    facet_factor_space_destroy(space);
}

static void a_missing_factor_may_be_null(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    const struct {
        const char *text;
        int track, size;
    } cases[] = {
        {"track=race2", 1, FACET_FACTOR_NULL},
        {"size=wide", FACET_FACTOR_NULL, 2},
        {"race2/*", 1, FACET_FACTOR_NULL},
        {"*/wide", FACET_FACTOR_NULL, 2},
        {"track=*,size=wide", -1, 2},
        {"*/*", FACET_FACTOR_NULL, FACET_FACTOR_NULL},
        {"race2/wide", 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FacetFactorTask task;
        assert_ok(facet_factor_task_parse(&task, space, cases[i].text, FACET_FACTOR_MISSING_NULL));
        assert_int_equal(task.value[0], cases[i].track);
        assert_int_equal(task.value[1], cases[i].size);
        assert_true(factor_task_valid(space, task));
        assert_int_equal(factor_task_complete(space, task),
                         cases[i].track >= 0 && cases[i].size >= 0);
    }
    FacetFactorTask task;
    assert_refused(facet_factor_task_parse(&task, space, "", FACET_FACTOR_MISSING_NULL),
                   "found nothing");
    assert_refused(facet_factor_task_parse(&task, space, "race2", FACET_FACTOR_MISSING_NULL),
                   "found 1 value");
    facet_factor_space_destroy(space);
}

static void texts_come_back(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    char text[FACET_FACTOR_TASK_TEXT];
    FacetFactorTask task, back;
    assert_ok(facet_factor_task_parse(&task, space, "race10/wide", FACET_FACTOR_MISSING_REFUSED));
    facet_factor_task_format(text, space, task, FACET_FACTOR_STYLE_VALUES);
    assert_string_equal(text, "race10/wide");
    facet_factor_task_format(text, space, task, FACET_FACTOR_STYLE_PAIRS);
    assert_string_equal(text, "track=race10,size=wide");
    for (int track = FACET_FACTOR_NULL; track < 4; track++)
        for (int size = FACET_FACTOR_NULL; size < 3; size++)
            for (int style = FACET_FACTOR_STYLE_VALUES; style <= FACET_FACTOR_STYLE_PAIRS;
                 style++) {
                task = facet_factor_task_null();
                task.value[0] = track;
                task.value[1] = size;
                facet_factor_task_format(text, space, task, (FacetFactorStyle)style);
                assert_ok(facet_factor_task_parse(&back, space, text, FACET_FACTOR_MISSING_NULL));
                assert_true(factor_task_equal(task, back));
            }
    facet_factor_space_destroy(space);
}

static void the_longest_text_fits(void **state)
{
    (void)state;
    FacetFactorSpace *space;
    assert_ok(facet_factor_space_create(&space));
    FacetFactorTask task = facet_factor_task_null(), back;
    char name[FACET_FACTOR_NAME_SIZE], text[FACET_FACTOR_TASK_TEXT];
    for (int i = 0; i < FACET_FACTOR_MAX; i++) {
        memset(name, 'a' + i, sizeof name - 1);
        name[sizeof name - 1] = '\0';
        assert_ok(factor_space_add_factor(space, name));
        assert_ok(factor_space_add_value(space, i, name));
        task.value[i] = 0;
    }
    facet_factor_task_format(text, space, task, FACET_FACTOR_STYLE_PAIRS);
    assert_int_equal(strlen(text), FACET_FACTOR_MAX * (2 * (FACET_FACTOR_NAME_SIZE - 1) + 2) - 1);
    assert_ok(facet_factor_task_parse(&back, space, text, FACET_FACTOR_MISSING_REFUSED));
    assert_true(factor_task_equal(task, back));
    assert_refused(facet_factor_task_parse(&back, space, "x", FACET_FACTOR_MISSING_REFUSED),
                   "task 'x'");
    facet_factor_space_destroy(space);
}

static void numbers_run_through_the_product(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    assert_int_equal(factor_task_count(space), 12);
    int64_t number = 0;
    for (int track = 0; track < 4; track++)
        for (int size = 0; size < 3; size++, number++) {
            FacetFactorTask task = factor_task_at(space, number);
            assert_int_equal(task.value[0], track);
            assert_int_equal(task.value[1], size);
            assert_int_equal(factor_task_index(space, task), number);
        }
    facet_factor_space_destroy(space);
}

static void foreign_tasks_are_not_valid(void **state)
{
    (void)state;
    FacetFactorSpace *space = race_space();
    FacetFactorTask task = facet_factor_task_null();
    task.value[1] = 3;
    assert_false(factor_task_valid(space, task));
    task.value[1] = -2;
    assert_false(factor_task_valid(space, task));
    task.value[1] = 2;
    assert_true(factor_task_valid(space, task));
    task.value[2] = 0;
    assert_false(factor_task_valid(space, task));
    facet_factor_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_texts_name_the_same_task),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(a_word_beyond_any_name_is_refused),
        cmocka_unit_test(a_missing_factor_may_be_null),
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(the_longest_text_fits),
        cmocka_unit_test(numbers_run_through_the_product),
        cmocka_unit_test(foreign_tasks_are_not_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
