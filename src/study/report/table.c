// Aligned tables for a person (see table.h).
#include "table.h"

#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_WIDTH = 80, TABLE_NARROWEST = 4, TABLE_CELL_MAX = 256 };

struct Table {
    int columns;
    TableAlign *align;
    char **cells; // row after row, the header first; a rule is a row of NULL
    int count, capacity;
    bool lost; // a cell, as memory ran out
};

static void append(Table *table, char *cell)
{
    if (table->count == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 64;
        char **cells = realloc(table->cells, (size_t)capacity * sizeof *cells);
        if (!cells) {
            free(cell);
            table->lost = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    table->cells[table->count++] = cell;
}

Table *table_create(const TableColumn *columns, int count)
{
    assert(count > 0 && "a table has columns");
    Table *table = calloc(1, sizeof *table);
    if (table) table->align = calloc((size_t)count, sizeof *table->align);
    if (!table || !table->align) {
        table_destroy(table);
        return NULL;
    }
    table->columns = count;
    for (int i = 0; i < count; i++) {
        table->align[i] = columns[i].align;
        table_cell(table, "%s", columns[i].header);
    }
    return table;
}

void table_destroy(Table *table)
{
    if (!table) return;
    for (int i = 0; i < table->count; i++) free(table->cells[i]);
    free(table->cells);
    free(table->align);
    free(table);
}

void table_cell(Table *table, const char *format, ...)
{
    if (!table) return;
    char text[TABLE_CELL_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_clean(text);
    char *cell = strdup(text);
    if (cell)
        append(table, cell);
    else
        table->lost = true;
}

void table_rule(Table *table)
{
    if (!table || table->lost) return;
    assert(table->count % table->columns == 0 && "a rule stands between rows");
    for (int i = 0; i < table->columns; i++) append(table, NULL);
}

// ---- Printing -------------------------------------------------------------------------------

// How a table is laid out: the width of each column, and the spaces between two.
typedef struct Layout {
    int *width;
    int gap, total;
    bool colour;
} Layout;

static bool wants_colour(FILE *stream)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((refused && refused[0]) || (terminal && strcmp(terminal, "dumb") == 0)) return false;
    int descriptor = fileno(stream);
    return descriptor >= 0 && isatty(descriptor);
}

static int widest_text_column(const Table *table, const int *width)
{
    int widest = -1;
    for (int j = 0; j < table->columns; j++)
        if (table->align[j] == TABLE_LEFT && (widest < 0 || width[j] > width[widest])) widest = j;
    return widest;
}

static Layout lay_out(const Table *table, FILE *stream)
{
    Layout layout = {.gap = 2, .colour = wants_colour(stream)};
    layout.width = calloc((size_t)table->columns, sizeof *layout.width);
    if (!layout.width) return layout;
    for (int i = 0; i < table->count; i++) {
        int *width = &layout.width[i % table->columns];
        int own = table->cells[i] ? text_width(table->cells[i]) : 0;
        if (own > *width) *width = own;
    }
    int gaps = table->columns - 1, sum = 0;
    for (int j = 0; j < table->columns; j++) sum += layout.width[j];
    if (sum + layout.gap * gaps > TABLE_WIDTH) layout.gap = 1;
    for (; sum + layout.gap * gaps > TABLE_WIDTH; sum--) {
        int widest = widest_text_column(table, layout.width);
        if (widest < 0 || layout.width[widest] <= TABLE_NARROWEST) break;
        layout.width[widest]--;
    }
    layout.total = sum + layout.gap * gaps;
    return layout;
}

static void print_spaces(FILE *stream, int count) { fprintf(stream, "%*s", count, ""); }

// Prints at most `width` columns of a text; one that is longer ends in "…".
static void print_cut(FILE *stream, const char *text, int width)
{
    if (text_width(text) <= width) {
        fputs(text, stream);
        return;
    }
    const char *end = text;
    for (int used = 1; used < width; used++) end += text_character(end);
    fprintf(stream, "%.*s…", (int)(end - text), text);
}

static void print_row(FILE *stream, const Table *table, const Layout *layout, char **cells)
{
    int pending = 0; // spaces owed before the next text, so that no line ends in spaces
    for (int j = 0; j < table->columns; j++) {
        int width = text_width(cells[j]);
        int padding = width < layout->width[j] ? layout->width[j] - width : 0;
        if (j > 0) pending += layout->gap;
        if (table->align[j] == TABLE_RIGHT) pending += padding;
        if (width > 0) {
            print_spaces(stream, pending);
            print_cut(stream, cells[j], layout->width[j]);
            pending = 0;
        }
        if (table->align[j] == TABLE_LEFT) pending += padding;
    }
}

static void print_rule(FILE *stream, const Layout *layout)
{
    fputs(layout->colour ? "\033[2m" : "", stream);
    for (int i = 0; i < layout->total; i++) fputs("─", stream);
    fputs(layout->colour ? "\033[0m\n" : "\n", stream);
}

void table_print(const Table *table, FILE *stream)
{
    Layout layout = table && !table->lost ? lay_out(table, stream) : (Layout){0};
    if (!layout.width) {
        fputs("(no memory for this table)\n", stream);
        return;
    }
    assert(table->count % table->columns == 0 && "the last row is complete");
    fputs(layout.colour ? "\033[1m" : "", stream);
    print_row(stream, table, &layout, table->cells);
    fputs(layout.colour ? "\033[0m\n" : "\n", stream);
    print_rule(stream, &layout);
    for (int i = table->columns; i < table->count; i += table->columns) {
        if (!table->cells[i]) {
            print_rule(stream, &layout);
        } else {
            print_row(stream, table, &layout, &table->cells[i]);
            fputc('\n', stream);
        }
    }
    free(layout.width);
}

void table_note(FILE *stream, const char *text)
{
    int used = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        char word[TABLE_CELL_MAX];
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        int width = text_width(word);
        bool breaks = used > 0 && used + 1 + width > TABLE_WIDTH;
        fprintf(stream, "%s%s", breaks ? "\n" : used > 0 ? " " : "", word);
        used = breaks || used == 0 ? width : used + 1 + width;
        text += length;
    }
    if (used > 0) fputc('\n', stream);
}
