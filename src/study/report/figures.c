// The figures of a report, in the order that the page shows them, and what they share.
#include "report/figures.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Json *document_colors(void)
{
    Json *out = json_array();
    const SvgColor *color;
    for (int i = 0; (color = svg_color(i)); i++) {
        Json *entry = json_object();
        json_set_string(entry, "id", color->id);
        json_set_string(entry, "light", color->light);
        json_set_string(entry, "dark", color->dark);
        json_push(out, entry);
    }
    return out;
}

static Json *figure_entry(const Figure *figure)
{
    Json *entry = json_object();
    json_set_string(entry, "id", figure->id);
    json_set_string(entry, "group", figure->group);
    json_set_string(entry, "title", figure->title);
    json_set_string(entry, "caption", figure->caption);
    return entry;
}

void figure_push(Json *list, const Figure *figure, char *svg)
{
    Json *entry = figure_entry(figure);
    json_set_number(entry, "width", figure->width);
    json_set_number(entry, "height", figure->height);
    json_set_string(entry, "svg", svg);
    json_push(list, entry);
    free(svg);
}

void figure_missing(Json *list, const Figure *figure, const char *message)
{
    Json *entry = figure_entry(figure);
    json_set_string(entry, "missing", message);
    json_push(list, entry);
}

// ---- Legend -------------------------------------------------------------------------------------

enum { LEGEND_LINE = 20 };

// Walks through the legend's entries and draws them when there is an `svg`. Returns the last y.
static double walk_legend(Svg *svg, const Report *report, double left, double top, double right)
{
    double x = left, y = top;
    for (int i = 0; i < REPORT_METHODS; i++) {
        const ReportMethod *method = &report_methods[i];
        if (!report_has_method(report, i)) continue;
        double width = 48 + 7.2 * text_width(method->short_name);
        if (x > left && x + width > right) x = left, y += LEGEND_LINE;
        if (svg) {
            svg_method_begin(svg, method->id);
            legend_line(svg, x, y, method->id, method->width, method->dash, method->short_name);
            svg_method_end(svg);
        }
        x += width;
    }
    return y;
}

double figure_legend(Svg *svg, const Report *report, double left, double top, double right)
{
    return walk_legend(svg, report, left, top, right);
}

double figure_legend_height(const Report *report, double left, double right)
{
    return walk_legend(NULL, report, left, 0.0, right);
}

// ---- Shares -------------------------------------------------------------------------------------

static JsonRef eval_method_entry(const Report *report, int method)
{
    JsonRef root = input_root(report, INPUT_EVAL), methods = input_member(&root, "methods");
    return input_member(&methods, report_methods[method].id);
}

bool report_share(double *share, double *spread, Report *report, int method, FacetCourseTask task)
{
    JsonRef entry = eval_method_entry(report, method), tasks = input_member(&entry, "tasks");
    *share = *spread = nan("");
    for (int i = 0; i < input_length(&tasks); i++) {
        JsonRef row = input_element(&tasks, i);
        FacetCourseTask found;
        if (!input_task(&found, report, &row) || found.track != task.track ||
            found.opening != task.opening)
            continue;
        *share = input_number(report, &row, "share_all_seeds");
        *spread = input_number(report, &row, "share_std");
        return !isnan(*share);
    }
    const ReportFlight *flight = report_flight(report, method, task);
    if (entry.node || !flight->flown || flight->result.flight.gate_count == 0) return false;
    *share = (double)flight->result.flight.passed / flight->result.flight.gate_count;
    return true;
}

int report_share_seeds(Report *report, int method)
{
    JsonRef entry = eval_method_entry(report, method);
    double seeds = input_number(report, &entry, "seeds");
    return seeds >= 1.0 && seeds <= 1e6 ? (int)seeds : 1;
}

Json *document_figures(Report *report)
{
    Json *out = json_array();
    if (report->race) {
        figures_overview(out, report);
        figures_passage(out, report);
        figures_race_study(out, report);
        figures_repair(out, report);
        figures_tracks(out, report);
        figures_sampling(out, report);
        figures_steps(out, report);
        figures_certificates(out, report);
        figures_budget(out, report);
        figures_leave_one_out(out, report);
        figures_mechanism(out, report);
    }
    figures_training(out, report);
    figures_gate(out, report);
    figures_gate_study(out, report);
    return out;
}
