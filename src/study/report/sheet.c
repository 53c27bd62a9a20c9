// A table of a report while it is being filled (see sheet.h).
#include "report/sheet.h"

#include <math.h>
#include <stdarg.h>

static Json *head_entry(SheetHead head)
{
    Json *entry = json_object();
    json_set_string(entry, "id", head.id);
    json_set_string(entry, "group", head.group);
    json_set_string(entry, "title", head.title);
    json_set_string(entry, "note", head.note);
    return entry;
}

static void set_text(Json *object, const char *key, const char *text)
{
    if (text && text[0])
        json_set_string(object, key, text);
    else
        json_set_number(object, key, nan(""));
}

Sheet sheet_begin(SheetHead head, InputOrigin origin)
{
    Sheet sheet = {.entry = head_entry(head),
                   .columns = json_array(),
                   .rows = json_array(),
                   .flags = json_array()};
    set_text(sheet.entry, "command", origin.command);
    json_set_number(sheet.entry, "seed", origin.seed);
    set_text(sheet.entry, "version", origin.version);
    set_text(sheet.entry, "source", origin.path);
    return sheet;
}

static void add_column(Sheet *sheet, const char *name, const char *align, double decimals)
{
    Json *column = json_object();
    json_set_string(column, "name", name);
    json_set_string(column, "align", align);
    json_set_number(column, "decimals", decimals);
    json_push(sheet->columns, column);
}

void sheet_text_column(Sheet *sheet, const char *name) { add_column(sheet, name, "left", nan("")); }

void sheet_number_column(Sheet *sheet, const char *name, int decimals)
{
    add_column(sheet, name, "right", decimals);
}

void sheet_row(Sheet *sheet, bool held_out)
{
    sheet->row = json_array();
    json_push(sheet->rows, sheet->row);
    json_push_bool(sheet->flags, held_out);
}

void sheet_text(Sheet *sheet, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_push_string(sheet->row, text);
}

void sheet_number(Sheet *sheet, double value) { json_push_number(sheet->row, value); }

void sheet_end(Json *list, Sheet *sheet)
{
    json_set(sheet->entry, "columns", sheet->columns);
    json_set(sheet->entry, "rows", sheet->rows);
    json_set(sheet->entry, "held_out", sheet->flags);
    json_push(list, sheet->entry);
}

void sheet_missing(Json *list, SheetHead head, const char *message)
{
    Json *entry = head_entry(head);
    json_set_string(entry, "missing", message);
    json_push(list, entry);
}
