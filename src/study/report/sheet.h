// A table of a report while it is being filled, row by row and cell by cell.
#ifndef FACET_REPORT_SHEET_H
#define FACET_REPORT_SHEET_H

#include "report/input.h"

typedef struct Sheet {
    Json *entry, *columns, *rows, *flags, *row;
} Sheet;

// What stands above and below a table.
typedef struct SheetHead {
    const char *id, *group, *title, *note;
} SheetHead;

Sheet sheet_begin(SheetHead head, InputOrigin origin);
void sheet_text_column(Sheet *sheet, const char *name);
void sheet_number_column(Sheet *sheet, const char *name, int decimals);
void sheet_row(Sheet *sheet, bool held_out); // begins a row
void sheet_text(Sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_number(Sheet *sheet, double value); // NaN is a cell without a number
void sheet_end(Json *list, Sheet *sheet);

// A table that cannot be filled, with a sentence that says why.
void sheet_missing(Json *list, SheetHead head, const char *message);

#endif
