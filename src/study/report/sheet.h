// A table of results, filled once and rendered for every reader: aligned text for a terminal, data
// for the page.
//
// A column says how each of them shows it. What only one of them needs is left out by the other:
// a column, a row or the whole sheet.
#ifndef FACET_REPORT_SHEET_H
#define FACET_REPORT_SHEET_H

#include "report/input.h"

enum { SHEET_COLUMNS_MAX = 24 };

// Who gets a sheet or a row.
typedef enum SheetPlace { SHEET_BOTH, SHEET_PAGE, SHEET_TERMINAL } SheetPlace;

// Where sheets go: to the list of a page's data, to a stream of 80 columns, or to both.
typedef struct SheetSink {
    Json *page;
    FILE *terminal;
    int printed; // sheets so far, which a blank line parts
} SheetSink;

// What stands above and below a table.
typedef struct SheetHead {
    const char *id, *group, *title, *note;
    const char *aside; // the note on the terminal; NULL for the same
    SheetPlace place;
    bool starred; // the terminal marks held-out rows with *
} SheetHead;

typedef struct SheetColumn {
    const char *head;    // on the page; NULL leaves the column out there
    const char *brief;   // on the terminal; NULL leaves the column out there
    const char *key;     // of the member that sheet_members puts there, "a.b" for one within a
    const char *unit;    // "m"; NULL without
    const char *meaning; // for the terminal, as a half-sentence; NULL when the head says it all
    int decimals;        // of numbers
    bool text;           // stands at the left
} SheetColumn;

// Columns of text and of numbers: the head, the brief and for numbers the decimals, then what else
// there is, as NUMBER("Worst miss", "miss", 2, .unit = "m").
#define TEXT(first, ...)                                                                           \
    {                                                                                              \
        .text = true, .head = first, .brief = __VA_ARGS__                                          \
    }
#define NUMBER(first, second, ...)                                                                 \
    {                                                                                              \
        .head = first, .brief = second, .decimals = __VA_ARGS__                                    \
    }

typedef struct Sheet {
    SheetSink *sink;
    SheetHead head;
    SheetColumn columns[SHEET_COLUMNS_MAX];
    int column_count, next;           // the next cell's column
    const char *group;                // of the row
    Json *entry, *rows, *flags, *row; // for the page
    Json *lines, *stars, *line;       // for the terminal
} Sheet;

// Begins a sheet. False when there is nothing to fill: the sink has no reader for it, or `missing`
// says why it cannot be filled, which goes to the page. It is NULL when it can.
bool sheet_begin(Sheet *sheet, SheetSink *sink, SheetHead head, InputOrigin origin,
                 const char *missing);

// Adds columns, all of them before the first row.
void sheet_add_columns(Sheet *sheet, const SheetColumn *columns, int count);
#define sheet_columns(sheet, ...)                                                                  \
    sheet_add_columns(sheet, (const SheetColumn[]){__VA_ARGS__},                                   \
                      SHEET_COUNT(((const SheetColumn[]){__VA_ARGS__})))
#define SHEET_COUNT(items) (int)(sizeof(items) / sizeof *(items))

void sheet_row(Sheet *sheet, bool held_out, SheetPlace place); // begins a row

// Puts a line across the terminal's table when the next row is of another group than the last one.
// The name lives as long as the sheet.
void sheet_group(Sheet *sheet, const char *name);

// The next cell of the row.
void sheet_text(Sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_number(Sheet *sheet, double value); // NaN is a cell without a number

// The next cell: shares from least to most as "47–88 %", without a number if one of them is NaN.
void sheet_shares(Sheet *sheet, double least, double most);

// The next cells.
void sheet_add_numbers(Sheet *sheet, const double *values, int count);
#define sheet_numbers(sheet, ...)                                                                  \
    sheet_add_numbers(sheet, (const double[]){__VA_ARGS__},                                        \
                      SHEET_COUNT(((const double[]){__VA_ARGS__})))

// The next cells from members of an object, as far as the columns have keys. A number that is
// missing or wrong is a cell without one; true and false become yes and no.
void sheet_members(Sheet *sheet, Report *report, const JsonRef *object);

// Begins the row of a task's entry, with its name in the first cell.
void sheet_task(Sheet *sheet, const JsonRef *entry, SheetPlace place);
#define TASK_COLUMN TEXT("Task", "task")

// The next three cells: ours, the paper's and the difference.
void sheet_compared(Sheet *sheet, double ours, double paper);

// The next two cells, from a member `ours_ahead` of an entry: by how much ours is ahead in a group,
// and the 95 % interval as "-0.5 to 4.5", both times `scale`.
void sheet_lead(Sheet *sheet, Report *report, const JsonRef *entry, const char *group,
                double scale);

// Renders the sheet and frees it. The terminal leaves out columns without a single value.
void sheet_end(Sheet *sheet);

// Memory ran out for a row: what holds the sheet is not written.
void sheet_lose_row(Sheet *sheet);

#endif
