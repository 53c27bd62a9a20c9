// Aligned tables for a person: a header, columns of text and numbers, rules between groups.
//
// A table fills up cell by cell and row by row, and prints once its widths are known. It keeps to
// 80 columns: when it would be wider, the gaps close up first, and then the widest left-aligned
// column is cut with "…". Numbers are never cut.
#ifndef FACET_REPORT_TABLE_H
#define FACET_REPORT_TABLE_H

#include <stdio.h>

typedef enum TableAlign { TABLE_LEFT, TABLE_RIGHT } TableAlign;

typedef struct TableColumn {
    const char *header;
    TableAlign align;
} TableColumn;

typedef struct Table Table;

// The columns are copied. When memory runs out this gives NULL, which the calls below take, and a
// table that lost a cell prints a line that says so in its place.
Table *table_create(const TableColumn *columns, int count);
void table_destroy(Table *table);

// Fills the next cell; after the last column a new row begins by itself.
void table_cell(Table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A line across the table before the next row. Only between rows.
void table_rule(Table *table);

// Prints the rows so far. On a terminal the header is bold and the rules are dim, unless NO_COLOR
// is set.
void table_print(const Table *table, FILE *stream);

// Prints a text beside a table, in lines of at most 80 columns. Prints nothing for an empty one.
void table_note(FILE *stream, const char *text);

#endif
