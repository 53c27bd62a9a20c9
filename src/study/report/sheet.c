// Tables of results, for a terminal and for the page (see sheet.h).
#include "report/sheet.h"

#include "report/document.h"
#include "report/table.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

// ---- Filling ------------------------------------------------------------------------------------

static Json *head_entry(SheetHead head)
{
    Json *entry = json_object();
    json_set_string(entry, "id", head.id);
    json_set_string(entry, "group", head.group);
    json_set_string(entry, "title", head.title);
    json_set_string(entry, "note", head.note ? head.note : "");
    return entry;
}

bool sheet_begin(Sheet *sheet, SheetSink *sink, SheetHead head, InputOrigin origin,
                 const char *missing)
{
    bool page = sink->page && head.place != SHEET_TERMINAL;
    bool terminal = sink->terminal && head.place != SHEET_PAGE;
    if (missing || (!page && !terminal)) {
        if (!page) return false;
        Json *entry = head_entry(head);
        json_set_string(entry, "missing", missing);
        json_push(sink->page, entry);
        return false;
    }
    *sheet = (Sheet){.sink = sink,
                     .head = head,
                     .entry = head_entry(head),
                     .rows = json_array(),
                     .flags = json_array(),
                     .lines = json_array(),
                     .stars = json_array()};
    document_set_text(sheet->entry, "command", origin.command);
    json_set_number(sheet->entry, "seed", origin.seed);
    document_set_text(sheet->entry, "version", origin.version);
    document_set_text(sheet->entry, "source", origin.path);
    return true;
}

void sheet_add_columns(Sheet *sheet, const SheetColumn *columns, int count)
{
    assert(sheet->column_count + count <= SHEET_COLUMNS_MAX && "a sheet has room for its columns");
    memcpy(sheet->columns + sheet->column_count, columns, (size_t)count * sizeof *columns);
    sheet->column_count += count;
    sheet->next = sheet->column_count;
}

void sheet_row(Sheet *sheet, bool held_out, SheetPlace place)
{
    assert(sheet->next == sheet->column_count && "the row before is complete");
    sheet->row = sheet->line = NULL;
    sheet->next = 0;
    if (place != SHEET_TERMINAL) {
        sheet->row = json_push(sheet->rows, json_array());
        json_push_bool(sheet->flags, held_out);
    }
    if (place != SHEET_PAGE) {
        sheet->line = json_push(sheet->lines, json_array());
        json_push_bool(sheet->stars, held_out && sheet->head.starred);
    }
}

void sheet_lose_row(Sheet *sheet)
{
    json_push(sheet->rows, NULL);
    json_push(sheet->lines, NULL);
}

void sheet_group(Sheet *sheet, const char *name)
{
    if (sheet->group && strcmp(sheet->group, name) != 0) {
        json_push_number(sheet->lines, nan(""));
        json_push_bool(sheet->stars, false);
    }
    sheet->group = name;
}

// The rows that get the next cell, NULL for none: the page's, then the terminal's.
static void next_cell(Json *rows[2], Sheet *sheet)
{
    assert(sheet->next < sheet->column_count && "a row has a cell a column");
    const SheetColumn *column = &sheet->columns[sheet->next++];
    rows[0] = column->head ? sheet->row : NULL;
    rows[1] = column->brief ? sheet->line : NULL;
}

void sheet_text(Sheet *sheet, const char *format, ...)
{
    char text[512];
    Json *rows[2];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    next_cell(rows, sheet);
    for (int i = 0; i < 2; i++)
        if (rows[i]) json_push_string(rows[i], text);
}

void sheet_number(Sheet *sheet, double value)
{
    Json *rows[2];
    next_cell(rows, sheet);
    for (int i = 0; i < 2; i++)
        if (rows[i]) json_push_number(rows[i], value);
}

void sheet_shares(Sheet *sheet, double least, double most)
{
    if (isnan(least) || isnan(most))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.0f–%.0f %%", 100.0 * least, 100.0 * most);
}

void sheet_add_numbers(Sheet *sheet, const double *values, int count)
{
    for (int i = 0; i < count; i++) sheet_number(sheet, values[i]);
}

static void member_cell(Sheet *sheet, Report *report, const JsonRef *object, const char *path)
{
    const char *key;
    JsonRef within = input_within(&key, object, path), at = input_member(&within, key);
    bool value, flag = at.node && json_bool(&value, &at).ok;
    if (!sheet->columns[sheet->next].text)
        sheet_number(sheet, input_number(report, &within, key));
    else
        sheet_text(sheet, "%s", !flag ? input_text(&within, key) : value ? "yes" : "no");
}

void sheet_members(Sheet *sheet, Report *report, const JsonRef *object)
{
    while (sheet->next < sheet->column_count && sheet->columns[sheet->next].key)
        member_cell(sheet, report, object, sheet->columns[sheet->next].key);
}

void sheet_task(Sheet *sheet, const JsonRef *entry, SheetPlace place)
{
    sheet_row(sheet, input_flag(entry, "held_out"), place);
    sheet_text(sheet, "%.100s/%.100s", input_text(entry, "track"), input_text(entry, "size"));
}

void sheet_compared(Sheet *sheet, double ours, double paper)
{
    sheet_numbers(sheet, ours, paper, ours - paper);
}

void sheet_lead(Sheet *sheet, Report *report, const JsonRef *entry, const char *group, double scale)
{
    JsonRef leads = input_member(entry, "ours_ahead"), lead = input_member(&leads, group);
    double low = input_number(report, &lead, "low"), high = input_number(report, &lead, "high");
    sheet_number(sheet, scale * input_number(report, &lead, "mean"));
    if (isnan(low) || isnan(high))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.1f to %.1f", scale * low, scale * high);
}

// ---- For the page -------------------------------------------------------------------------------

// The head with the unit, as "Worst miss (m)".
static Json *page_column(const SheetColumn *column)
{
    char name[80];
    snprintf(name, sizeof name, column->unit ? "%s (%s)" : "%s", column->head, column->unit);
    Json *out = json_object();
    json_set_string(out, "name", name);
    json_set_string(out, "align", column->text ? "left" : "right");
    json_set_number(out, "decimals", column->text ? nan("") : column->decimals);
    return out;
}

// Takes the entry with its rows into the list.
static void render_page(Json *list, Sheet *sheet)
{
    Json *columns = json_array();
    for (int i = 0; i < sheet->column_count; i++)
        if (sheet->columns[i].head) json_push(columns, page_column(&sheet->columns[i]));
    json_set(sheet->entry, "columns", columns);
    json_set(sheet->entry, "rows", sheet->rows);
    json_set(sheet->entry, "held_out", sheet->flags);
    json_push(list, sheet->entry);
    sheet->entry = sheet->rows = sheet->flags = NULL;
}

// ---- For a terminal -----------------------------------------------------------------------------

// The terminal's cells, and which of its columns have a value.
typedef struct Lines {
    JsonRef lines, stars;
    int count;
    const SheetColumn *columns[SHEET_COLUMNS_MAX];
    bool shown[SHEET_COLUMNS_MAX];
    int column_count, shown_count;
} Lines;

static bool is_empty(const JsonRef *cell)
{
    const char *text = json_chars(cell);
    return text ? !text[0] : json_is_null(cell);
}

static Lines find_lines(const Sheet *sheet)
{
    Lines out = {.lines = json_root(sheet->lines, ""), .stars = json_root(sheet->stars, "")};
    for (int i = 0; i < sheet->column_count; i++)
        if (sheet->columns[i].brief) out.columns[out.column_count++] = &sheet->columns[i];
    out.count = input_length(&out.lines);
    for (int j = 0; j < out.column_count; j++) {
        for (int i = 0; i < out.count && !out.shown[j]; i++) {
            JsonRef line = input_element(&out.lines, i), cell = input_element(&line, j);
            out.shown[j] = cell.node && !is_empty(&cell);
        }
        out.shown_count += out.shown[j];
    }
    return out;
}

static void number_cell(Table *table, const JsonRef *cell, int decimals)
{
    double value = nan("");
    if (!json_number(&value, cell, -INFINITY, INFINITY).ok)
        table_cell(table, "—");
    else if (fabs(value) >= 1e5)
        table_cell(table, "%.1e", value);
    else
        table_cell(table, "%.*f", decimals, value);
}

static void print_line(Table *table, const Lines *lines, int index)
{
    JsonRef line = input_element(&lines->lines, index), star = input_element(&lines->stars, index);
    if (json_is_null(&line)) {
        table_rule(table);
        return;
    }
    for (int j = 0; j < lines->column_count; j++) {
        JsonRef cell = input_element(&line, j);
        const char *text = json_chars(&cell);
        if (!lines->shown[j]) continue;
        if (text)
            table_cell(table, "%s%s", text, j == 0 && json_is_true(&star) ? "*" : "");
        else
            number_cell(table, &cell, lines->columns[j]->decimals);
    }
}

static void print_table(FILE *stream, const Lines *lines)
{
    char heads[SHEET_COLUMNS_MAX][64];
    TableColumn columns[SHEET_COLUMNS_MAX];
    int count = 0;
    for (int j = 0; j < lines->column_count; j++) {
        const SheetColumn *column = lines->columns[j];
        if (!lines->shown[j]) continue;
        snprintf(heads[count], sizeof heads[count], column->unit ? "%s %s" : "%s", column->brief,
                 column->unit);
        columns[count] = (TableColumn){heads[count], column->text ? TABLE_LEFT : TABLE_RIGHT};
        count++;
    }
    Table *table = table_create(columns, count);
    for (int i = 0; i < lines->count; i++) print_line(table, lines, i);
    table_print(table, stream);
    table_destroy(table);
}

// The note, then what the columns mean, and the star.
static void print_notes(FILE *stream, const Sheet *sheet, const Lines *lines)
{
    char text[2048] = "";
    size_t used = 0;
    const char *note = sheet->head.aside ? sheet->head.aside : sheet->head.note;
    if (note && note[0]) used += (size_t)snprintf(text, sizeof text, "%s ", note);
    for (int j = 0; j < lines->column_count && used < sizeof text; j++)
        if (lines->shown[j] && lines->columns[j]->meaning)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s: %s. ",
                                     lines->columns[j]->brief, lines->columns[j]->meaning);
    bool starred = false;
    for (int i = 0; i < lines->count; i++) {
        JsonRef star = input_element(&lines->stars, i);
        starred = starred || json_is_true(&star);
    }
    if (starred && used < sizeof text) snprintf(text + used, sizeof text - used, "*: held out.");
    if (text[0]) fputc('\n', stream);
    table_note(stream, text);
}

static void render_terminal(const Sheet *sheet)
{
    SheetSink *sink = sheet->sink;
    Lines lines = find_lines(sheet);
    if (lines.shown_count == 0) return;
    if (sink->printed++) fputc('\n', sink->terminal);
    table_note(sink->terminal, sheet->head.title);
    if (sheet->head.title[0]) fputc('\n', sink->terminal);
    print_table(sink->terminal, &lines);
    print_notes(sink->terminal, sheet, &lines);
}

// ---- Both ---------------------------------------------------------------------------------------

void sheet_end(Sheet *sheet)
{
    assert(sheet->next == sheet->column_count && "the last row is complete");
    SheetSink *sink = sheet->sink;
    if (sink->terminal && sheet->head.place != SHEET_PAGE) render_terminal(sheet);
    if (sink->page && sheet->head.place != SHEET_TERMINAL) render_page(sink->page, sheet);
    Json *left[] = {sheet->entry, sheet->rows, sheet->flags, sheet->lines, sheet->stars};
    for (int i = 0; i < SHEET_COUNT(left); i++) json_free(left[i]);
}
