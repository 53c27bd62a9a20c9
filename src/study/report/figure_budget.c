// The figure of Theorem 2's budget by noise level: a row of panels a loss, a column a set of
// states.
#include "report/figures.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 760, LEFT = 66, TOP = 66, PANEL = 310, BETWEEN = 56, HEIGHT = 190, ROW = 262 };
enum { LEVELS_MAX = 200, LINES = 4, ROWS_MAX = 4 };

static const struct {
    const char *key, *name, *color, *dash;
    double times; // 2 K - 1 in front of eta
} lines[LINES] = {
    {"interaction", "2√(GM)", "accent", "6 4", 1.0},
    {"eta", "3η", "miss", "6 4", 3.0},
    {"total", "their sum: the bound", "ink", "", 1.0},
    {"measured", "measured", "pass", "", 1.0},
};

static const struct {
    const char *key, *title;
} sets[] = {{"along_network", "along the network's paths"},
            {"along_exact", "along the exact score's paths"}};

static const char *loss_name(const JsonRef *budget)
{
    return strcmp(input_text(budget, "method"), "ours") == 0 ? "Ours" : "The paper's loss";
}

// One quantity of a panel. What lies below the plot, as the interaction at little noise, is left
// out.
static void draw_line(Svg *svg, Report *report, const Plot *plot, const JsonRef *levels, int line)
{
    double points[2 * LEVELS_MAX];
    int count = 0;
    for (int i = 0; i < input_length(levels) && count < LEVELS_MAX; i++) {
        JsonRef level = input_element(levels, i);
        double sigma = input_number(report, &level, "sigma");
        double value = lines[line].times * input_number(report, &level, lines[line].key);
        if (isnan(sigma) || !(value >= plot->y.min)) continue;
        points[2 * count] = plot_x(plot, sigma);
        points[2 * count++ + 1] = plot_y(plot, fmin(value, plot->y.max));
    }
    if (count > 1)
        svg_curve(svg, points, count, lines[line].color, 2.2, lines[line].dash, lines[line].name);
}

static double largest_total(Report *report, const JsonRef *budgets)
{
    double most = 0.0;
    for (int i = 0; i < input_length(budgets); i++)
        for (int set = 0; set < 2; set++) {
            JsonRef budget = input_element(budgets, i);
            JsonRef levels = input_member(&budget, sets[set].key);
            Summary total = input_summary(report, &levels, "total", false);
            if (total.count > 0) most = fmax(most, total.most);
        }
    return most;
}

void figures_budget(Json *list, Report *report)
{
    InputKind kind = report->inputs[INPUT_BUDGET].document ? INPUT_BUDGET : INPUT_CERTIFY;
    JsonRef root = input_root(report, kind), budgets = input_member(&root, "budgets");
    int rows = input_length(&budgets) < ROWS_MAX ? input_length(&budgets) : ROWS_MAX;
    const Figure figure = {"budget",
                           "certificates",
                           "The budget of Theorem 2 by noise level",
                           "The bound on the composed score's error, its terms, and the error "
                           "measured, in terms of the noise: the largest over the training tasks' "
                           "states along the network's own paths, and along the exact score's.",
                           WIDTH,
                           TOP + (double)ROW * rows + 10};
    double most = largest_total(report, &budgets);
    if (!(most > 0.0)) {
        figure_missing(list, &figure,
                       "There is no budget: run facet certify --budget --json FILE.");
        return;
    }
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    for (int row = 0; row < rows; row++)
        for (int set = 0; set < 2; set++) {
            JsonRef budget = input_element(&budgets, row);
            JsonRef levels = input_member(&budget, sets[set].key);
            char title[120];
            Plot plot = {.left = LEFT + set * (PANEL + BETWEEN),
                         .top = TOP + row * ROW,
                         .width = PANEL,
                         .height = HEIGHT,
                         .x = axis_exact(0.0, 1.0, 0.2),
                         .y = axis_decades(fmin(1e-3, most / 10.0), most)};
            snprintf(title, sizeof title, "%s, %s", loss_name(&budget), sets[set].title);
            svg_text(&svg, plot.left, plot.top - 12, SVG_START, 13, "ink", title);
            plot_frame(&svg, &plot, "noise σ", set ? "" : "error of the noise");
            for (int line = 0; line < LINES; line++) draw_line(&svg, report, &plot, &levels, line);
        }
    double x = LEFT;
    for (int line = 0; line < LINES; line++)
        x = legend_line(&svg, x, figure.height - 10, lines[line].color, 2.2, lines[line].dash,
                        lines[line].name);
    figure_push(list, &figure, svg_end(&svg));
}
