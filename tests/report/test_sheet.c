// One sheet, rendered to the terminal and to the page's data.
#include "base/text.h"
#include "report/sheet.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>

// Rows from a document, with what is missing in it, and what only one of the readers gets.
static const char flights[] =
    "[{\"track\": \"race1\", \"size\": \"wide\", \"held_out\": true, \"passed\": 8,"
    "  \"flown\": {\"speed\": 2.456}, \"clear\": true},"
    " {\"track\": \"race2\", \"size\": \"wide\", \"passed\": null, \"clear\": false}]";

static void fill(SheetSink *sink, SheetPlace place)
{
    static Report report;
    Json *document;
    assert_ok(json_parse(&document, flights, "flights.json"));
    JsonRef list = json_root(document, "flights.json");
    const SheetHead head = {"flights",    "race",         "What was flown",
                            "Two tasks.", .place = place, .starred = true};
    Sheet sheet;
    if (sheet_begin(&sheet, sink, head, (InputOrigin){"a.json", "facet fly", "1.0", 7}, NULL)) {
        sheet_columns(&sheet, TASK_COLUMN, NUMBER("Passed", "gates", 0, .key = "passed"),
                      NUMBER("Speed", "speed", 2, .key = "flown.speed", .unit = "m/s",
                             .meaning = "the mean of the flight"),
                      TEXT("Clear", "clear", .key = "clear"), NUMBER("Large", NULL, 1),
                      NUMBER(NULL, "bound", 0), NUMBER("Paper", "paper", 1));
        for (int i = 0; i < 2; i++) {
            JsonRef entry = input_element(&list, i);
            sheet_group(&sheet, input_text(&entry, "track"));
            sheet_task(&sheet, &entry, SHEET_BOTH);
            sheet_members(&sheet, &report, &entry);
            sheet_numbers(&sheet, 0.5, 1.25e7, NAN);
        }
        sheet_row(&sheet, false, SHEET_PAGE);
        sheet_text(&sheet, "for the page");
        sheet_numbers(&sheet, 1, 2);
        sheet_text(&sheet, "%s", "");
        sheet_numbers(&sheet, 3, 4, 5);
        sheet_row(&sheet, false, SHEET_TERMINAL);
        sheet_text(&sheet, "for a person");
        sheet_numbers(&sheet, 1, 2);
        sheet_text(&sheet, "%s", "");
        sheet_numbers(&sheet, 3, 4, NAN);
        sheet_end(&sheet);
    }
    json_free(document);
}

// What is printed; the caller frees it.
static char *printed(SheetPlace place)
{
    char *text = NULL;
    size_t size = 0;
    SheetSink sink = {.terminal = open_memstream(&text, &size)};
    assert_non_null(sink.terminal);
    fill(&sink, place);
    fclose(sink.terminal);
    return text;
}

// The paper's column has no number in any line, and the last row but one is the page's.
static void the_terminal_gets_an_aligned_table(void **state)
{
    (void)state;
    char *text = printed(SHEET_BOTH);
    assert_string_equal(text, "What was flown\n"
                              "\n"
                              "task          gates  speed m/s  clear    bound\n"
                              "──────────────────────────────────────────────\n"
                              "race1/wide*       8       2.46  yes    1.2e+07\n"
                              "──────────────────────────────────────────────\n"
                              "race2/wide        —          —  no     1.2e+07\n"
                              "for a person      1       2.00               4\n"
                              "\n"
                              "Two tasks. speed: the mean of the flight. *: held out.\n");
    free(text);
}

static void the_page_gets_the_same_as_data(void **state)
{
    (void)state;
    SheetSink sink = {.page = json_array()};
    fill(&sink, SHEET_BOTH);
    char *text = json_line(sink.page);
    assert_string_equal(
        text,
        "[{\"id\":\"flights\",\"group\":\"race\",\"title\":\"What was flown\",\"note\":\"Two "
        "tasks.\",\"command\":\"facet fly\",\"seed\":7,\"version\":\"1.0\",\"source\":\"a.json\","
        "\"columns\":[{\"name\":\"Task\",\"align\":\"left\",\"decimals\":null},"
        "{\"name\":\"Passed\",\"align\":\"right\",\"decimals\":0},"
        "{\"name\":\"Speed (m/s)\",\"align\":\"right\",\"decimals\":2},"
        "{\"name\":\"Clear\",\"align\":\"left\",\"decimals\":null},"
        "{\"name\":\"Large\",\"align\":\"right\",\"decimals\":1},"
        "{\"name\":\"Paper\",\"align\":\"right\",\"decimals\":1}],"
        "\"rows\":[[\"race1/wide\",8,2.456,\"yes\",0.5,null],"
        "[\"race2/wide\",null,null,\"no\",0.5,null],[\"for the page\",1,2,\"\",3,5]],"
        "\"held_out\":[true,false,false]}]");
    free(text);
    json_free(sink.page);
}

static void a_sheet_goes_only_where_it_belongs(void **state)
{
    (void)state;
    char *text = printed(SHEET_PAGE);
    assert_string_equal(text, "");
    free(text);
    SheetSink sink = {.page = json_array()};
    fill(&sink, SHEET_TERMINAL);
    text = json_line(sink.page);
    assert_string_equal(text, "[]");
    free(text);
    json_free(sink.page);
}

static void what_is_missing_is_said_on_the_page_alone(void **state)
{
    (void)state;
    const SheetHead head = {"eval", "passage", "Passage", .note = "First seed."};
    char *text = NULL;
    size_t size = 0;
    SheetSink sink = {.page = json_array(), .terminal = open_memstream(&text, &size)};
    Sheet sheet;
    assert_false(sheet_begin(&sheet, &sink, head, (InputOrigin){0}, "Run facet eval."));
    fclose(sink.terminal);
    assert_string_equal(text, "");
    free(text);
    text = json_line(sink.page);
    assert_string_equal(text, "[{\"id\":\"eval\",\"group\":\"passage\",\"title\":\"Passage\","
                              "\"note\":\"First seed.\",\"missing\":\"Run facet eval.\"}]");
    free(text);
    json_free(sink.page);
}

// Title, table and notes, whatever their length.
static void no_line_is_wider_than_80_columns(void **state)
{
    (void)state;
    static const char words[] = "More words on ε and ‖dε‖ than one line of a terminal has room "
                                "for, and then as many again, so that they take up three";
    char *text = NULL;
    size_t size = 0;
    SheetSink sink = {.terminal = open_memstream(&text, &size)};
    const SheetHead head = {"wide", "race", words, words, .aside = words};
    Sheet sheet;
    assert_true(sheet_begin(&sheet, &sink, head, (InputOrigin){0}, NULL));
    sheet_columns(&sheet, TEXT("Words", "words", .meaning = words), NUMBER("Number", "number", 3));
    sheet_row(&sheet, false, SHEET_BOTH);
    sheet_text(&sheet, "%s", words);
    sheet_number(&sheet, 0.1234);
    sheet_end(&sheet);
    fclose(sink.terminal);
    int lines = 0;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1, lines++) {
        *end = '\0';
        if (text_width(line) > 80) print_error("%s\n", line);
        assert_true(text_width(line) <= 80);
    }
    assert_int_equal(lines, 2 + 1 + 3 + 1 + 4);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_terminal_gets_an_aligned_table),
        cmocka_unit_test(the_page_gets_the_same_as_data),
        cmocka_unit_test(a_sheet_goes_only_where_it_belongs),
        cmocka_unit_test(what_is_missing_is_said_on_the_page_alone),
        cmocka_unit_test(no_line_is_wider_than_80_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
