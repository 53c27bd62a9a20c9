// The tables of a report in the order that the page shows them, and those of its own flights.
#include "report/tables.h"

#include "paper/paper.h"

#include <math.h>

InputOrigin flights_origin(const Report *report)
{
    return (InputOrigin){.path = "flights of this page",
                         .command = report->command,
                         .version = report->version,
                         .seed = (double)report->seed};
}

static const char *outcome(const FacetFlight *flight)
{
    if (flight->end == FACET_FLIGHT_CRASHED) return facet_crash_name(flight->crash);
    if (flight->end == FACET_FLIGHT_TIMED_OUT) return "timed out";
    return flight->passed == flight->gate_count ? "clear" : "missed";
}

static double worst_miss(const FacetFlight *flight)
{
    double worst = 0.0;
    for (int i = 0; i < flight->gate_count; i++) worst = fmax(worst, flight->gates[i].miss);
    return worst;
}

static void race_row(Sheet *sheet, const Report *report, const FacetRaceResult *result)
{
    const FacetCourse *course = report->race->course;
    const FacetOpening *opening = &course->openings[result->task.opening];
    const FacetFlight *flight = &result->flight;
    int paper = paper_passed(course->tracks[result->task.track].name, opening->name);
    char name[REPORT_TASK_NAME];
    report_task_name(name, report, result->task);
    sheet_row(sheet, result->held_out);
    sheet_text(sheet, "%s", name);
    sheet_text(sheet, "%s", result->held_out ? "held out" : "training");
    sheet_number(sheet, flight->passed);
    sheet_number(sheet, flight->gate_count);
    sheet_number(sheet, paper >= 0 ? paper : nan(""));
    sheet_number(sheet, paper >= 0 ? flight->passed - paper : nan(""));
    sheet_number(sheet, worst_miss(flight));
    sheet_number(sheet, opening->half_width);
    sheet_number(sheet, result->speed_generated);
    sheet_number(sheet, result->speed_reference);
    sheet_number(sheet, result->error);
    sheet_text(sheet, "%s", outcome(flight));
}

// The flights of the main method, a row a task.
static void table_flights(Json *list, const Report *report)
{
    int method = report_main_method(report);
    char title[160];
    snprintf(title, sizeof title, "Flights: %s", report_methods[method].name);
    Sheet sheet = sheet_begin(
        (SheetHead){"race", "race", title,
                    "Miss is the distance from a gate's centre, the worst of the flight; error the "
                    "mean distance from the expert's path."},
        flights_origin(report));
    sheet_text_column(&sheet, "Task");
    sheet_text_column(&sheet, "Split");
    sheet_number_column(&sheet, "Passed", 0);
    sheet_number_column(&sheet, "Gates", 0);
    sheet_number_column(&sheet, "Paper", 0);
    sheet_number_column(&sheet, "Difference", 0);
    sheet_number_column(&sheet, "Worst miss (m)", 2);
    sheet_number_column(&sheet, "Half-width (m)", 3);
    sheet_number_column(&sheet, "Plan (m/s)", 2);
    sheet_number_column(&sheet, "Reference (m/s)", 2);
    sheet_number_column(&sheet, "Error (m)", 3);
    sheet_text_column(&sheet, "Outcome");
    for (int i = 0; i < report->task_count; i++) {
        const ReportFlight *flight = &report->flights[method * report->task_count + i];
        if (flight->flown) race_row(&sheet, report, &flight->result);
    }
    sheet_end(list, &sheet);
}

// The highest feasible speed of every task beside the paper's.
static void table_speed_map(Json *list, const Report *report)
{
    const FacetCourse *course = report->race->course;
    Sheet sheet = sheet_begin(
        (SheetHead){"speed-map", "race", "Highest feasible speeds",
                    "The expert's highest speed that clears every gate; — is infeasible, or a task "
                    "that the paper does not have."},
        flights_origin(report));
    sheet_text_column(&sheet, "Task");
    sheet_number_column(&sheet, "Gates", 0);
    sheet_number_column(&sheet, "Ours (m/s)", 2);
    sheet_number_column(&sheet, "Paper (m/s)", 1);
    sheet_number_column(&sheet, "Difference", 2);
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            FacetCourseTask task = {t, o};
            const FacetSpeedCell *cell = facet_speed_map_at(&report->race->speeds, task);
            double ours = cell->feasible ? cell->speed : nan("");
            double paper = paper_speed(course->tracks[t].name, course->openings[o].name);
            if (!(paper > 0.0)) paper = nan("");
            char name[REPORT_TASK_NAME];
            report_task_name(name, report, task);
            sheet_row(&sheet, facet_course_is_held_out(course, task));
            sheet_text(&sheet, "%s", name);
            sheet_number(&sheet, course->tracks[t].gate_count);
            sheet_number(&sheet, ours);
            sheet_number(&sheet, paper);
            sheet_number(&sheet, ours - paper);
        }
    sheet_end(list, &sheet);
}

void tables_race(Json *list, Report *report)
{
    table_flights(list, report);
    table_speed_map(list, report);
}

Json *document_tables(Report *report)
{
    Json *out = json_array();
    if (report->race) {
        tables_eval(out, report);
        tables_race(out, report);
        tables_sampling(out, report);
        tables_certify(out, report);
        tables_verify(out, report);
    }
    tables_gate(out, report);
    return out;
}
