// The factor grid: tracks across openings, what was trained on, what was held out, gates passed.
#include "report/figures.h"

#include <math.h>

enum { CELL_WIDTH = 128, CELL_HEIGHT = 40, GRID_LEFT = 250, GRID_TOP = 78 };

static void draw_cell(Svg *svg, Report *report, FacetCourseTask task, double x, double y)
{
    int method = report_main_method(report);
    const ReportFlight *flight = report_flight(report, method, task);
    double inner_x = x + 3, inner_y = y + 3, width = CELL_WIDTH - 6, height = CELL_HEIGHT - 6;
    char name[REPORT_TASK_NAME], tip[256], text[32];
    if (!flight->flown) {
        bool feasible = facet_speed_map_at(&report->race->speeds, task)->feasible;
        svg_box(svg, inner_x, inner_y, width, height, "grid", 1, "3 3");
        svg_text(svg, x + CELL_WIDTH / 2.0, y + 25, SVG_MIDDLE, 13, "muted",
                 feasible ? "not flown" : "infeasible");
        return;
    }
    const FacetFlight *f = &flight->result.flight;
    bool held_out = flight->result.held_out, clear = f->passed == f->gate_count;
    double share = f->gate_count > 0 ? (double)f->passed / f->gate_count : 0.0;
    const char *color = clear ? "pass" : "miss";
    report_task_name(name, report, task);
    snprintf(tip, sizeof tip, "%s, %s\n%s: %d of %d gates, plan %.2f m/s, reference %.2f m/s", name,
             held_out                  ? "held out"
             : method == METHOD_EXPERT ? "flown by the expert"
                                       : "training",
             report_methods[method].short_name, f->passed, f->gate_count,
             flight->result.speed_generated, flight->result.speed_reference);
    svg_bar(svg, inner_x, inner_y + height - 5, width * share, 5, color, false, NULL);
    svg_box(svg, inner_x, inner_y, width, height, held_out ? "accent" : "grid", held_out ? 2.4 : 1,
            NULL);
    snprintf(text, sizeof text, "%d/%d", f->passed, f->gate_count);
    svg_text(svg, x + CELL_WIDTH / 2.0, y + 24, SVG_MIDDLE, 15, clear ? "ink" : "miss", text);
    svg_print(svg,
              "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill-opacity=\"0\" "
              "fill=\"#000\" data-tip=\"",
              inner_x, inner_y, width, height);
    svg_escape(svg, tip);
    svg_print(svg, "\"/>");
}

static char *draw_grid(const Figure *figure, Report *report)
{
    const FacetCourse *course = report->race->course;
    char text[160];
    Svg svg;
    svg_begin(&svg, figure->id, figure->width, figure->height, figure->title, figure->caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure->title);
    for (int o = 0; o < course->opening_count; o++) {
        double x = GRID_LEFT + (o + 0.5) * CELL_WIDTH;
        svg_text(&svg, x, GRID_TOP - 24, SVG_MIDDLE, 14, "ink", course->openings[o].name);
        snprintf(text, sizeof text, "± %.3g m", course->openings[o].half_width);
        svg_text(&svg, x, GRID_TOP - 8, SVG_MIDDLE, 12, "muted", text);
    }
    for (int t = 0; t < course->track_count; t++) {
        double y = GRID_TOP + t * CELL_HEIGHT;
        svg_text(&svg, 14, y + 18, SVG_START, 14, "ink", course->tracks[t].name);
        snprintf(text, sizeof text, "%s, %d gates", course->tracks[t].description,
                 course->tracks[t].gate_count);
        svg_text(&svg, 14, y + 34, SVG_START, 12, "muted", text);
        for (int o = 0; o < course->opening_count; o++)
            draw_cell(&svg, report, (FacetCourseTask){t, o}, GRID_LEFT + o * CELL_WIDTH, y);
    }
    double y = GRID_TOP + course->track_count * CELL_HEIGHT + 24;
    svg_box(&svg, 14, y - 12, 24, 14, "accent", 2.4, NULL);
    svg_text(&svg, 46, y, SVG_START, 13, "ink", "held out of training");
    svg_box(&svg, 196, y - 12, 24, 14, "grid", 1, NULL);
    svg_text(&svg, 228, y, SVG_START, 13, "ink", "trained on");
    svg_bar(&svg, 316, y - 5, 24, 5, "pass", false, NULL);
    svg_text(&svg, 348, y, SVG_START, 13, "ink", "every gate");
    svg_bar(&svg, 436, y - 5, 24, 5, "miss", false, NULL);
    svg_text(&svg, 468, y, SVG_START, 13, "ink", "gates missed");
    return svg_end(&svg);
}

void figures_overview(Json *list, Report *report)
{
    const FacetCourse *course = report->race->course;
    char title[160];
    snprintf(title, sizeof title, "Gates passed by track and opening: %s",
             report_methods[report_main_method(report)].short_name);
    const Figure figure = {
        "grid",
        "overview",
        title,
        "Every pair of a track and an opening. The framed pairs were held out of training: the "
        "policy saw their track and their opening, but never together.",
        fmax(GRID_LEFT + course->opening_count * CELL_WIDTH + 14, 600),
        GRID_TOP + course->track_count * CELL_HEIGHT + 40};
    figure_push(list, &figure, draw_grid(&figure, report));
}
