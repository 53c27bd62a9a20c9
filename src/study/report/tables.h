// The tables of results, by what they are about: sheets for the page and for a terminal.
#ifndef FACET_REPORT_TABLES_H
#define FACET_REPORT_TABLES_H

#include "report/document.h"
#include "report/sheet.h"

// What the flights of the report itself came from.
InputOrigin flights_origin(const Report *report);

// Each gives its sheets to the sink.
void tables_race(SheetSink *sink, Report *report);
void tables_eval(SheetSink *sink, Report *report);
void tables_race_study(SheetSink *sink, Report *report);
void tables_pairs(SheetSink *sink, Report *report);
void tables_operators(SheetSink *sink, Report *report);
void tables_sampling(SheetSink *sink, Report *report);
void tables_steps(SheetSink *sink, Report *report);
void tables_certify(SheetSink *sink, Report *report);
void tables_budget(SheetSink *sink, Report *report); // of its own file, or of the certificate's
void tables_verify(SheetSink *sink, Report *report);
void tables_leave_one_out(SheetSink *sink, Report *report);
void tables_mechanism(SheetSink *sink, Report *report);
void tables_metaworld(SheetSink *sink, Report *report);
void tables_gate(SheetSink *sink, Report *report);

// ---- For a terminal -----------------------------------------------------------------------------

// The sheets of the document that a command made, as a report would have them. The race may be NULL
// for documents of the single gate.
void print_document(FILE *stream, const FacetRace *race, InputKind kind, Json *document);

// The sheets of flights with their totals, and of the highest feasible speeds.
void print_flights(FILE *stream, const FacetRace *race, const FacetRaceResult *results, int count);

// The same for several flights a task, results [samples][tasks]: one row a task.
void print_samples(FILE *stream, const FacetRace *race, const FacetRaceResult *results, int tasks,
                   int samples);
void print_speeds(FILE *stream, const FacetRace *race);

#endif
