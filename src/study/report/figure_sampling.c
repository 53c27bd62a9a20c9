// Figures about sampling: gates passed by the number of denoising steps, and the decomposition
// error by noise level.
#include "paper/paper.h"
#include "report/figures.h"

#include <math.h>

enum { WIDTH = 760, LEFT = 70, TOP = 56, HEIGHT = 270, LEVELS_MAX = 200 };

// ---- Denoising steps ----------------------------------------------------------------------------

enum { SWEEP_MAX = 16, SWEEP_LINES = 6 };

typedef struct SweepLine {
    const char *name, *color, *dash;
    double width;
    int count;
    double steps[SWEEP_MAX], share[SWEEP_MAX]; // %
} SweepLine;

static void sweep_add(SweepLine *line, double steps, double share)
{
    if (isnan(steps) || isnan(share) || line->count == SWEEP_MAX) return;
    line->steps[line->count] = steps;
    line->share[line->count++] = 100.0 * share;
}

// Share of gates passed in `mode` of a row of the sweep, among `tasks` ("all" or "held_out").
static double sweep_share(Report *report, const JsonRef *row, const char *mode, const char *tasks)
{
    JsonRef totals = input_member(row, mode), tally = input_member(&totals, tasks);
    double gates = input_number(report, &tally, "gates");
    return gates > 0.0 ? input_number(report, &tally, "passed") / gates : nan("");
}

static void draw_sweep_line(Svg *svg, const Plot *plot, const SweepLine *line)
{
    double points[2 * SWEEP_MAX];
    for (int i = 0; i < line->count; i++) {
        points[2 * i] = plot_x(plot, line->steps[i]);
        points[2 * i + 1] = plot_y(plot, line->share[i]);
    }
    if (line->count > 1)
        svg_curve(svg, points, line->count, line->color, line->width, line->dash, NULL);
    for (int i = 0; i < line->count; i++) {
        char tip[160];
        snprintf(tip, sizeof tip, "%s, %g steps: %.1f %% of gates", line->name, line->steps[i],
                 line->share[i]);
        svg_dot(svg, points[2 * i], points[2 * i + 1], 4, line->color, tip);
    }
}

static void figure_sweep(Json *list, Report *report)
{
    const Figure figure = {"ddim-sweep",
                           "sampling",
                           "Gates passed by denoising steps",
                           "Share of gates passed with fewer DDIM steps, first seed: ours solid, "
                           "the paper's dashed.",
                           WIDTH,
                           TOP + HEIGHT + 100};
    SweepLine lines[SWEEP_LINES] = {
        {.name = "composed, all", .color = "ours_composed", .dash = "", .width = 2.6},
        {.name = "composed, held out", .color = "oracle", .dash = "", .width = 2.6},
        {.name = "joint, all", .color = "ours_joint", .dash = "", .width = 2.6},
        {.name = "paper: composed, all", .color = "ours_composed", .dash = "6 4", .width = 1.6},
        {.name = "paper: held out", .color = "oracle", .dash = "6 4", .width = 1.6},
        {.name = "paper: joint, all", .color = "ours_joint", .dash = "6 4", .width = 1.6},
    };
    JsonRef root = input_root(report, INPUT_EVAL), sweep = input_member(&root, "ddim_sweep");
    double most = 0.0;
    for (int i = 0; i < input_length(&sweep); i++) {
        JsonRef row = input_element(&sweep, i);
        double steps = input_number(report, &row, "steps");
        sweep_add(&lines[0], steps, sweep_share(report, &row, "composed", "all"));
        sweep_add(&lines[1], steps, sweep_share(report, &row, "composed", "held_out"));
        sweep_add(&lines[2], steps, sweep_share(report, &row, "joint", "all"));
        most = fmax(most, isnan(steps) ? 0.0 : steps);
    }
    if (lines[0].count == 0) {
        figure_missing(list, &figure,
                       "There is no sweep over denoising steps: run facet eval "
                       "--json FILE, without --no-sweep.");
        return;
    }
    for (int i = 0; i < PAPER_SWEEP_ROWS; i++) {
        const PaperSweep *paper = &paper_sweep[i];
        sweep_add(&lines[3], paper->steps, paper->composed_all);
        if (lines[1].count > 0) sweep_add(&lines[4], paper->steps, paper->composed_held_out);
        sweep_add(&lines[5], paper->steps, paper->joint_all);
        most = fmax(most, paper->steps);
    }
    Plot plot = {.left = LEFT, .top = TOP, .width = WIDTH - LEFT - 20, .height = HEIGHT};
    plot.x = axis_round(0.0, most, 6);
    plot.y = axis_exact(0.0, 100.0, 20.0);
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    plot_frame(&svg, &plot, "DDIM steps", "gates passed (%)");
    for (int i = SWEEP_LINES - 1; i >= 0; i--) draw_sweep_line(&svg, &plot, &lines[i]);
    for (int i = 0; i < SWEEP_LINES; i++) {
        int column = i % 3, row = i / 3;
        if (lines[i].count == 0) continue; // nothing was held out
        legend_line(&svg, LEFT + column * 225, TOP + HEIGHT + 64 + row * 20, lines[i].color,
                    lines[i].width, lines[i].dash, lines[i].name);
    }
    figure_push(list, &figure, svg_end(&svg));
}

// ---- Decomposition error ------------------------------------------------------------------------

typedef struct Level {
    double t; // of the noise schedule
    double value[2];
} Level;

static const char *const level_keys[2] = {"mean", "p95"};
static const char *const level_names[2] = {"mean", "95th percentile"};
static const char *const level_colors[2] = {"accent", "miss"};

// The noise levels of the file, each at the middle of its first and last time.
static int read_levels(Level out[LEVELS_MAX], Report *report)
{
    JsonRef root = input_root(report, INPUT_CERTIFY);
    JsonRef levels = input_member(&root, "by_noise_level");
    int count = 0;
    for (int i = 0; i < input_length(&levels) && count < LEVELS_MAX; i++) {
        JsonRef level = input_element(&levels, i);
        double t = 0.5 * (input_number(report, &level, "t_first") +
                          input_number(report, &level, "t_last"));
        Level read = {.t = t};
        for (int k = 0; k < 2; k++) read.value[k] = input_number(report, &level, level_keys[k]);
        if (!isnan(t) && !isnan(read.value[0])) out[count++] = read;
    }
    return count;
}

static void figure_decomposition(Json *list, Report *report)
{
    const Figure figure = {"decomposition",
                           "sampling",
                           "Decomposition error by noise level",
                           "How far the composed prediction lies from the joint one at noised "
                           "demonstrations of the training tasks, by the time of the noise "
                           "schedule: 0 is clean.",
                           WIDTH,
                           TOP + HEIGHT + 80};
    Level levels[LEVELS_MAX];
    int count = read_levels(levels, report);
    if (count < 2) {
        figure_missing(list, &figure,
                       "There is no decomposition error by noise level: run facet "
                       "certify --json FILE.");
        return;
    }
    double most = 0.0, last = 0.0;
    for (int i = 0; i < count; i++) {
        last = fmax(last, levels[i].t);
        for (int k = 0; k < 2; k++)
            if (!isnan(levels[i].value[k])) most = fmax(most, levels[i].value[k]);
    }
    Plot plot = {.left = LEFT, .top = TOP, .width = WIDTH - LEFT - 20, .height = HEIGHT};
    plot.x = axis_round(0.0, last, 6);
    plot.y = axis_round(0.0, most, 5);
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    plot_frame(&svg, &plot, "noise time t", "ε_D");
    for (int k = 0; k < 2; k++) {
        double points[2 * LEVELS_MAX];
        int drawn = 0;
        for (int i = 0; i < count; i++) {
            if (isnan(levels[i].value[k])) continue;
            points[2 * drawn] = plot_x(&plot, levels[i].t);
            points[2 * drawn++ + 1] = plot_y(&plot, levels[i].value[k]);
        }
        if (drawn > 1) svg_curve(&svg, points, drawn, level_colors[k], 2.2, k ? "6 4" : "", NULL);
        for (int i = 0; i < count; i++) {
            char tip[120];
            if (isnan(levels[i].value[k])) continue;
            snprintf(tip, sizeof tip, "t = %g, %s: %.3g", levels[i].t, level_names[k],
                     levels[i].value[k]);
            svg_dot(&svg, plot_x(&plot, levels[i].t), plot_y(&plot, levels[i].value[k]), 3.4,
                    level_colors[k], tip);
        }
        legend_line(&svg, LEFT + k * 160, TOP + HEIGHT + 64, level_colors[k], 2.2, k ? "6 4" : "",
                    level_names[k]);
    }
    figure_push(list, &figure, svg_end(&svg));
}

// ---- Theorem 1 ----------------------------------------------------------------------------------

static const char *const product_colors[] = {"accent", "miss", "pass"};
enum { PRODUCT_COLORS = sizeof product_colors / sizeof *product_colors };

// One product of tasks: its bound and its greatest gap, by noise level. What lies below the plot
// is left out.
static void draw_product(Svg *svg, const Plot *plot, Report *report, const JsonRef *product,
                         const char *color)
{
    static const char *const keys[] = {"bound", "max_gap"};
    static const char *const names[] = {"bound 2√(GM)", "greatest gap"};
    JsonRef levels = input_member(product, "levels");
    for (int k = 0; k < 2; k++) {
        double points[2 * LEVELS_MAX];
        char tip[256];
        int count = 0;
        for (int i = 0; i < input_length(&levels) && count < LEVELS_MAX; i++) {
            JsonRef level = input_element(&levels, i);
            double sigma = input_number(report, &level, "sigma");
            double value = input_number(report, &level, keys[k]);
            if (isnan(sigma) || !(value >= plot->y.min)) continue;
            points[2 * count] = plot_x(plot, sigma);
            points[2 * count++ + 1] = plot_y(plot, value);
        }
        snprintf(tip, sizeof tip, "%.100s: %s", input_text(product, "tasks"), names[k]);
        if (count > 1) svg_curve(svg, points, count, color, 2.2, k ? "" : "6 4", tip);
        for (int i = 0; k == 1 && i < count; i++)
            svg_dot(svg, points[2 * i], points[2 * i + 1], 3.4, color, tip);
    }
}

static void figure_interaction(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_CERTIFY);
    JsonRef interaction = input_member(&root, "interaction");
    JsonRef products = input_member(&interaction, "products");
    const Figure figure = {"interaction",
                           "certificates",
                           "Theorem 1 on exact scores",
                           "How far the exact composed score lies from the exact joint one, and "
                           "the theorem's bound on it, by noise level, on full products of "
                           "feasible tasks.",
                           WIDTH,
                           TOP + HEIGHT + 56 + 20.0 * input_length(&products)};
    double least = INFINITY, most = 0.0;
    for (int p = 0; p < input_length(&products); p++) {
        JsonRef product = input_element(&products, p), levels = input_member(&product, "levels");
        for (int i = 0; i < input_length(&levels); i++) {
            JsonRef level = input_element(&levels, i);
            double bound = input_number(report, &level, "bound");
            double gap = input_number(report, &level, "max_gap");
            if (bound > 0.0) least = fmin(least, bound), most = fmax(most, bound);
            if (gap > 0.0) least = fmin(least, gap), most = fmax(most, gap);
        }
    }
    if (!(most > 0.0)) {
        figure_missing(list, &figure,
                       "The exact interaction was not computed: run facet certify "
                       "--json FILE.");
        return;
    }
    Plot plot = {.left = LEFT, .top = TOP, .width = WIDTH - LEFT - 20, .height = HEIGHT};
    plot.x = axis_exact(0.0, 1.0, 0.2);
    plot.y = axis_decades(fmax(least, 1e-6 * most), most);
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    plot_frame(&svg, &plot, "noise σ", "distance of scores");
    double y = TOP + HEIGHT + 60;
    for (int p = 0; p < input_length(&products); p++, y += 20) {
        JsonRef product = input_element(&products, p);
        const char *color = product_colors[p % PRODUCT_COLORS];
        char name[128];
        draw_product(&svg, &plot, report, &product, color);
        snprintf(name, sizeof name, "%.80s (dashed: the bound)", input_text(&product, "tasks"));
        legend_line(&svg, LEFT, y, color, 2.2, "", name);
    }
    figure_push(list, &figure, svg_end(&svg));
}

void figures_sampling(Json *list, Report *report)
{
    figure_sweep(list, report);
    figure_decomposition(list, report);
    figure_interaction(list, report);
}
