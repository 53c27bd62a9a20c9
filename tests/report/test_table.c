// Tables come out exactly as they should look.
#include "base/text.h"
#include "report/table.h"
#include "testing.h"

#include <stdlib.h>

// What a table prints; the caller frees it.
static char *printed(Table *table)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    table_print(table, stream);
    fclose(stream);
    table_destroy(table);
    return text;
}

static void columns_are_aligned(void **state)
{
    (void)state;
    Table *table = table_create(
        (TableColumn[]){{"track", TABLE_LEFT}, {"gates", TABLE_RIGHT}, {"speed", TABLE_RIGHT}}, 3);
    table_cell(table, "race1");
    table_cell(table, "%d", 8);
    table_cell(table, "%.2f", 4.5);
    table_cell(table, "corkscrew");
    table_cell(table, "%d", 10);
    table_cell(table, "—");
    table_rule(table);
    table_cell(table, "all");
    table_cell(table, "%d", 18);
    table_cell(table, "4.50 ± 0.1");
    char *text = printed(table);
    assert_string_equal(text, "track      gates       speed\n"
                              "────────────────────────────\n"
                              "race1          8        4.50\n"
                              "corkscrew     10           —\n"
                              "────────────────────────────\n"
                              "all           18  4.50 ± 0.1\n");
    free(text);
}

static void no_line_ends_in_spaces(void **state)
{
    (void)state;
    Table *table = table_create((TableColumn[]){{"a", TABLE_LEFT}, {"note", TABLE_LEFT}}, 2);
    table_cell(table, "1");
    table_cell(table, "‖x‖");
    table_cell(table, "2");
    table_cell(table, "%s", "");
    char *text = printed(table);
    assert_string_equal(text, "a  note\n"
                              "───────\n"
                              "1  ‖x‖\n"
                              "2\n");
    free(text);
}

static void empty_table_is_its_header(void **state)
{
    (void)state;
    char *text = printed(table_create((TableColumn[]){{"track", TABLE_LEFT}}, 1));
    assert_string_equal(text, "track\n─────\n");
    free(text);
}

static void newlines_cannot_break_a_row(void **state)
{
    (void)state;
    Table *table = table_create((TableColumn[]){{"name", TABLE_LEFT}}, 1);
    table_cell(table, "a\nb\033[1m");
    char *text = printed(table);
    assert_string_equal(text, "name\n───────\na?b?[1m\n");
    free(text);
}

static void wide_tables_are_cut_to_80_columns(void **state)
{
    (void)state;
    Table *table = table_create(
        (TableColumn[]){{"file", TABLE_LEFT}, {"why", TABLE_LEFT}, {"count", TABLE_RIGHT}}, 3);
    table_cell(table, "%s", "a/name/of/forty/characters/or/so/abc.json");
    table_cell(table, "%s", "ööööö: a long reason, much longer than what there is room for here");
    table_cell(table, "%d", 123456);
    char *text = printed(table);
    char *line = text;
    int lines = 0;
    for (char *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
        *end = '\0';
        assert_true(text_width(line) <= 80);
        if (lines == 2) {
            assert_int_equal(text_width(line), 80);
            assert_non_null(strstr(line, "…"));
            assert_string_equal(line + strlen(line) - 6, "123456"); // numbers are never cut
        }
    }
    assert_int_equal(lines, 3);
    free(text);
}

static void gaps_close_before_text_is_cut(void **state)
{
    (void)state;
    Table *table = table_create((TableColumn[]){{"a", TABLE_LEFT}, {"b", TABLE_LEFT}}, 2);
    table_cell(table, "%s", "0123456789012345678901234567890123456789");
    table_cell(table, "%s", "012345678901234567890123456789012345678");
    char *text = printed(table);
    assert_non_null(strstr(text, "\n0123456789012345678901234567890123456789 "
                                 "012345678901234567890123456789012345678\n"));
    free(text);
}

static void numbers_alone_may_be_wider(void **state)
{
    (void)state;
    enum { COLUMNS = 12 };
    TableColumn columns[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) columns[i] = (TableColumn){"12345678", TABLE_RIGHT};
    char *text = printed(table_create(columns, COLUMNS));
    assert_int_equal(strcspn(text, "\n"), COLUMNS * 9 - 1);
    free(text);
}

// A table that there was no memory for takes every call, and says so where it would stand.
static void without_memory_a_line_says_so(void **state)
{
    (void)state;
    table_cell(NULL, "race1");
    table_rule(NULL);
    char *text = printed(NULL);
    assert_string_equal(text, "(no memory for this table)\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned),
        cmocka_unit_test(no_line_ends_in_spaces),
        cmocka_unit_test(empty_table_is_its_header),
        cmocka_unit_test(newlines_cannot_break_a_row),
        cmocka_unit_test(wide_tables_are_cut_to_80_columns),
        cmocka_unit_test(gaps_close_before_text_is_cut),
        cmocka_unit_test(numbers_alone_may_be_wider),
        cmocka_unit_test(without_memory_a_line_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
