// The tables of a report, by what they are about.
#ifndef FACET_REPORT_TABLES_H
#define FACET_REPORT_TABLES_H

#include "report/document.h"
#include "report/sheet.h"

// What the flights of the report itself came from.
InputOrigin flights_origin(const Report *report);

// Each adds its tables to the list.
void tables_race(Json *list, Report *report);
void tables_eval(Json *list, Report *report);
void tables_sampling(Json *list, Report *report);
void tables_certify(Json *list, Report *report);
void tables_verify(Json *list, Report *report);
void tables_gate(Json *list, Report *report);

#endif
