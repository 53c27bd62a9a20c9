// The figure of the step study: gates passed by the number of denoising steps, of all tasks and of
// those held out.
#include "report/figures.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 760, LEFT = 58, TOP = 74, PANEL = 310, BETWEEN = 64, HEIGHT = 260, CELLS_MAX = 32 };

typedef struct Panel {
    const char *tasks, *title;
    Plot plot;
    double gates;
} Panel;

// The method that draws a curve; -1 for one that is not known.
static int curve_method(const JsonRef *curve)
{
    char id[40];
    snprintf(id, sizeof id, "%.16s_%.16s", input_text(curve, "method"), input_text(curve, "mode"));
    return report_method(id);
}

static bool is_ddim(const JsonRef *curve)
{
    return strcmp(input_text(curve, "sampler"), "ddim") == 0;
}

// Grid and names of a panel. Marks stand at the numbers of steps that were flown.
static void draw_panel(Svg *svg, Report *report, const Panel *panel, const JsonRef *cells)
{
    const Plot *plot = &panel->plot;
    char title[80], text[16];
    snprintf(title, sizeof title, "%s: %.0f gates", panel->title, panel->gates);
    svg_text(svg, plot->left, plot->top - 12, SVG_START, 13, "ink", title);
    plot_frame(svg, plot, "", "gates passed (%)");
    double bottom = plot->top + plot->height;
    for (int i = 0; i < input_length(cells); i++) {
        JsonRef cell = input_element(cells, i);
        double steps = input_number(report, &cell, "steps");
        if (!(steps >= plot->x.min && steps <= plot->x.max)) continue;
        snprintf(text, sizeof text, "%.0f", steps);
        svg_line(svg, plot_x(plot, steps), plot->top, plot_x(plot, steps), bottom, "grid", 1, NULL);
        svg_text(svg, plot_x(plot, steps), bottom + 17, SVG_MIDDLE, 12, "muted", text);
    }
    svg_text(svg, plot->left + plot->width / 2, bottom + 36, SVG_MIDDLE, 13, "ink",
             "denoising steps N");
}

static void draw_curve(Svg *svg, Report *report, const Panel *panel, const JsonRef *curve)
{
    int method = curve_method(curve), count = 0;
    JsonRef cells = input_member(curve, "steps");
    double points[2 * CELLS_MAX];
    if (method < 0) return;
    const ReportMethod *drawn = &report_methods[method];
    svg_method_begin(svg, drawn->id);
    for (int i = 0; i < input_length(&cells) && count < CELLS_MAX; i++) {
        JsonRef cell = input_element(&cells, i), seeds = input_member(&cell, "passed");
        Summary passed = input_summary(report, &seeds, panel->tasks, false);
        double steps = input_number(report, &cell, "steps");
        char tip[200];
        if (!(steps >= panel->plot.x.min) || passed.count == 0) continue;
        points[2 * count] = plot_x(&panel->plot, steps);
        points[2 * count + 1] = plot_y(&panel->plot, 100.0 * passed.mean / panel->gates);
        snprintf(tip, sizeof tip, "%s, %s, N = %g: %.1f gates (%g–%g)", drawn->short_name,
                 is_ddim(curve) ? "DDIM" : "DPM-Solver++", steps, passed.mean, passed.least,
                 passed.most);
        svg_dot(svg, points[2 * count], points[2 * count + 1], 3.4, drawn->id, tip);
        count++;
    }
    if (count > 1) svg_curve(svg, points, count, drawn->id, 2.2, is_ddim(curve) ? "" : "5 4", NULL);
    svg_method_end(svg);
}

static void draw_legend(Svg *svg, const JsonRef *curves)
{
    for (int i = 0; i < input_length(curves); i++) {
        JsonRef curve = input_element(curves, i);
        int method = curve_method(&curve), column = i % 2, row = i / 2;
        char name[80];
        if (method < 0) continue;
        snprintf(name, sizeof name, "%s, %s", report_methods[method].short_name,
                 is_ddim(&curve) ? "DDIM" : "DPM-Solver++");
        svg_method_begin(svg, report_methods[method].id);
        legend_line(svg, LEFT + column * 350, TOP + HEIGHT + 66 + row * 20,
                    report_methods[method].id, 2.2, is_ddim(&curve) ? "" : "5 4", name);
        svg_method_end(svg);
    }
}

void figures_steps(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_STEPS), curves = input_member(&root, "curves");
    const Figure figure = {"step-study",
                           "sampling",
                           "Gates passed with few steps",
                           "Gates passed by the number of denoising steps, mean over the seeds: "
                           "both losses, composed and joint, DDIM solid and DPM-Solver++ dashed.",
                           WIDTH,
                           TOP + HEIGHT + 76 + 10.0 * input_length(&curves)};
    JsonRef first = input_element(&curves, 0), cells = input_member(&first, "steps");
    JsonRef end = input_element(&cells, input_length(&cells) - 1);
    double most = input_number(report, &end, "steps");
    Panel panels[2] = {{.tasks = "all", .title = "All tasks"},
                       {.tasks = "held_out", .title = "Held-out tasks"}};
    panels[0].gates = input_at(report, &first, "gates.all");
    panels[1].gates = input_at(report, &first, "gates.held_out");
    int count = panels[1].gates > 0.0 ? 2 : 1; // nothing was held out
    if (!(most > 1.0) || !(panels[0].gates > 0.0)) {
        figure_missing(list, &figure,
                       "There is no step study: run facet eval --step-study --json FILE.");
        return;
    }
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    for (int p = 0; p < count; p++) {
        Panel *panel = &panels[p];
        panel->plot = (Plot){.left = LEFT + p * (PANEL + BETWEEN),
                             .top = TOP,
                             .width = PANEL,
                             .height = HEIGHT,
                             .x = {.min = 1.0, .max = most, .logarithmic = true},
                             .y = axis_exact(0.0, 100.0, 20.0)};
        draw_panel(&svg, report, panel, &cells);
        for (int i = 0; i < input_length(&curves); i++) {
            JsonRef curve = input_element(&curves, i);
            draw_curve(&svg, report, panel, &curve);
        }
    }
    draw_legend(&svg, &curves);
    figure_push(list, &figure, svg_end(&svg));
}
