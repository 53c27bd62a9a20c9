// Figures with one column a task, training and held out apart: passage, the bound on a plan's error
// (the paper's figure of generalisation and certification), and the certificate of every gate.
#include "paper/paper.h"
#include "report/figures.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 960, LEFT = 66, TOP = 62, HEIGHT = 250, LABELS = 128, GAP = 26 };

// The feasible tasks, those of training first.
typedef struct Columns {
    int count, training;
    FacetCourseTask *tasks;
    double step; // px a column
    bool lost;   // memory ran out
} Columns;

static Columns columns_make(const Report *report)
{
    const FacetRace *race = report->race;
    size_t room = (size_t)report->task_count + 1;
    Columns out = {.tasks = calloc(room, sizeof *out.tasks)};
    FacetCourseTask *feasible = calloc(room, sizeof *feasible);
    int count = out.tasks && feasible ? facet_race_feasible_tasks(feasible, race) : 0;
    for (int held_out = 0; held_out < 2; held_out++)
        for (int i = 0; i < count; i++) {
            if (report_held_out(report, feasible[i]) != held_out) continue;
            out.tasks[out.count++] = feasible[i];
            out.training += !held_out;
        }
    out.lost = !out.tasks || !feasible;
    free(feasible);
    out.step = (WIDTH - LEFT - 14.0 - GAP) / fmax(out.count, 4);
    return out;
}

static bool is_held_out(const Columns *columns, int i) { return i >= columns->training; }

// The middle of a column.
static double column_x(const Columns *columns, int i)
{
    return LEFT + columns->step * (i + 0.5) + (is_held_out(columns, i) ? GAP : 0);
}

static double bar_width(const Columns *columns) { return fmin(0.62 * columns->step, 40.0); }

static Plot tasks_plot(Axis y)
{
    return (Plot){.left = LEFT,
                  .top = TOP,
                  .width = WIDTH - LEFT - 14,
                  .height = HEIGHT,
                  .x = axis_exact(0.0, 1.0, 1.0),
                  .y = y};
}

static void draw_columns(Svg *svg, const Figure *figure, const Report *report,
                         const Columns *columns, const Plot *plot, const char *name_y)
{
    svg->lost = svg->lost || columns->lost;
    svg_text(svg, 14, 24, SVG_START, 16, "ink", figure->title);
    plot_frame(svg, plot, "", name_y);
    for (int i = 0; i < columns->count; i++) {
        char name[REPORT_TASK_NAME];
        report_task_name(name, report, columns->tasks[i]);
        svg_text_upwards(svg, column_x(columns, i) + 4, TOP + HEIGHT + 8, SVG_END, 12, "ink", name);
    }
    if (columns->training > 0 && report_main_method(report) != METHOD_EXPERT)
        svg_text(svg, LEFT + 4, TOP - 10, SVG_START, 13, "muted", "training");
    if (columns->training == columns->count) return;
    double x = column_x(columns, columns->training) - 0.5 * columns->step;
    svg_text(svg, x + 2, TOP - 10, SVG_START, 13, "muted", "held out");
    svg_line(svg, x - 0.5 * GAP, TOP - 22, x - 0.5 * GAP, TOP + HEIGHT, "muted", 1, "4 4");
}

// A line from mean - spread to mean + spread, within the axis.
static void draw_spread(Svg *svg, const Plot *plot, double x, double mean, double spread)
{
    if (!(spread > 0.0)) return;
    double low = plot_y(plot, fmax(mean - spread, plot->y.min));
    double high = plot_y(plot, fmin(mean + spread, plot->y.max));
    svg_line(svg, x, low, x, high, "ink", 1.6, NULL);
    svg_line(svg, x - 4, low, x + 4, low, "ink", 1.6, NULL);
    svg_line(svg, x - 4, high, x + 4, high, "ink", 1.6, NULL);
}

// ---- Passage ------------------------------------------------------------------------------------

// Other methods beside the main one's bar.
static const char *const beside[] = {"baseline", "knet", "factored_composed", "oracle"};
enum { BESIDE = sizeof beside / sizeof *beside };

static bool draws_beside(const Report *report, int method)
{
    return method != report_main_method(report) && report_has_method(report, method);
}

static void draw_passage_column(Svg *svg, const Plot *plot, Report *report, const Columns *columns,
                                int i)
{
    int main_method = report_main_method(report);
    FacetCourseTask task = columns->tasks[i];
    const FacetCourse *course = report->race->course;
    double share, spread, x = column_x(columns, i), width = bar_width(columns);
    char tip[256], name[REPORT_TASK_NAME];
    report_task_name(name, report, task);
    if (report_share(&share, &spread, report, main_method, task)) {
        int seeds = report_share_seeds(report, main_method);
        if (seeds > 1 && !isnan(spread))
            snprintf(tip, sizeof tip, "%s, %s: %.0f %% ± %.0f %% of gates over %d seeds", name,
                     report_methods[main_method].short_name, 100.0 * share, 100.0 * spread, seeds);
        else
            snprintf(tip, sizeof tip, "%s, %s: %.0f %% of gates", name,
                     report_methods[main_method].short_name, 100.0 * share);
        double y = plot_y(plot, 100.0 * share), bottom = plot_y(plot, 0.0);
        svg_bar(svg, x - width / 2, y, width, fmax(bottom - y, 1.5), report_methods[main_method].id,
                is_held_out(columns, i), tip);
        draw_spread(svg, plot, x, 100.0 * share, 100.0 * spread);
    }
    for (int k = 0; k < BESIDE; k++) {
        int method = report_method(beside[k]);
        if (!draws_beside(report, method) || !report_share(&share, &spread, report, method, task))
            continue;
        snprintf(tip, sizeof tip, "%s, %s: %.0f %% of gates", name,
                 report_methods[method].short_name, 100.0 * share);
        svg_method_begin(svg, report_methods[method].id);
        svg_dot(svg, x + (k - 1.5) * width / BESIDE, plot_y(plot, 100.0 * share), 3.6,
                report_methods[method].id, tip);
        svg_method_end(svg);
    }
    int paper = paper_passed(course->tracks[task.track].name, course->openings[task.opening].name);
    int gates = course->tracks[task.track].gate_count;
    if (paper < 0 || gates == 0) return;
    snprintf(tip, sizeof tip, "%s, the paper's factored policy: %d of %d gates", name, paper,
             gates);
    svg_diamond(svg, x, plot_y(plot, fmin(100.0 * paper / gates, 100.0)), 5, "ink", tip);
}

static void draw_passage_legend(Svg *svg, const Report *report)
{
    const ReportMethod *main_method = &report_methods[report_main_method(report)];
    double x = LEFT, y = TOP + HEIGHT + LABELS + 4;
    svg_bar(svg, x, y - 11, 22, 12, main_method->id, false, NULL);
    svg_bar(svg, x + 26, y - 11, 22, 12, main_method->id, true, NULL);
    char text[96];
    snprintf(text, sizeof text, "%s (hatched: held out)", main_method->short_name);
    svg_text(svg, x + 56, y, SVG_START, 13, "ink", text);
    x += 290;
    svg_diamond(svg, x + 6, y - 4, 5, "ink", NULL);
    svg_text(svg, x + 18, y, SVG_START, 13, "ink", "paper");
    x += 80;
    for (int k = 0; k < BESIDE; k++) {
        int method = report_method(beside[k]);
        if (!draws_beside(report, method)) continue;
        svg_dot(svg, x + 6, y - 4, 3.6, beside[k], NULL);
        svg_text(svg, x + 16, y, SVG_START, 13, "ink", report_methods[method].short_name);
        x += k == 2 ? 160 : 100;
    }
}

void figures_passage(Json *list, Report *report)
{
    const Figure figure = {"passage",
                           "passage",
                           "Gates passed by task",
                           "Share of gates passed, mean and standard deviation over seeds where "
                           "there are several. Bars are the main method, dots the others, diamonds "
                           "the paper's factored policy.",
                           WIDTH,
                           TOP + HEIGHT + LABELS + 20};
    Columns columns = columns_make(report);
    Plot plot = tasks_plot(axis_exact(0.0, 100.0, 20.0));
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    draw_columns(&svg, &figure, report, &columns, &plot, "gates passed (%)");
    for (int i = 0; i < columns.count; i++) draw_passage_column(&svg, &plot, report, &columns, i);
    draw_passage_legend(&svg, report);
    figure_push(list, &figure, svg_end(&svg));
    free(columns.tasks);
}

// ---- The bound on a plan's error ----------------------------------------------------------------

// Mean over seeds where the file has it, else that of one seed.
static double ltv_of(double *spread, Report *report, FacetCourseTask task)
{
    JsonRef entry = report_certified_task(report, task);
    return report_ltv(spread, report, &entry);
}

static double empirical_of(Report *report, FacetCourseTask task)
{
    JsonRef entry = report_certified_task(report, task);
    return input_number(report, &entry, "c_emp");
}

static void draw_bound_column(Svg *svg, const Plot *plot, Report *report, const Columns *columns,
                              int i)
{
    FacetCourseTask task = columns->tasks[i];
    double spread, value = ltv_of(&spread, report, task), empirical = empirical_of(report, task);
    double x = column_x(columns, i), width = bar_width(columns);
    char tip[256], name[REPORT_TASK_NAME];
    report_task_name(name, report, task);
    if (value > 0.0) {
        if (spread > 0.0)
            snprintf(tip, sizeof tip, "%s: C_LTV %.3g ± %.2g over seeds", name, value, spread);
        else
            snprintf(tip, sizeof tip, "%s: C_LTV %.3g", name, value);
        double y = plot_y(plot, value), bottom = TOP + HEIGHT;
        svg_bar(svg, x - width / 2, y, width, fmax(bottom - y, 1.5), "accent",
                is_held_out(columns, i), tip);
        draw_spread(svg, plot, x, value, spread);
    }
    if (!(empirical > 0.0)) return;
    snprintf(tip, sizeof tip, "%s: measured amplification %.3g", name, empirical);
    svg_diamond(svg, x, plot_y(plot, empirical), 4.5, "ink", tip);
}

static void figure_bounds(Json *list, Report *report, const Columns *columns)
{
    const Figure figure = {"certificate",
                           "certificates",
                           "Bound on a plan's error by task",
                           "C_LTV: how much an error of the score can grow on its way to the plan, "
                           "along the nominal path, mean and standard deviation over seeds where "
                           "there are several. Diamonds: the growth that was measured.",
                           WIDTH,
                           TOP + HEIGHT + LABELS + 20};
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < columns->count; i++) {
        double spread, value = ltv_of(&spread, report, columns->tasks[i]);
        double empirical = empirical_of(report, columns->tasks[i]);
        if (value > 0.0) least = fmin(least, value), most = fmax(most, value + fmax(spread, 0.0));
        if (empirical > 0.0) least = fmin(least, empirical);
    }
    if (!(most > 0.0)) {
        figure_missing(list, &figure, "There are no certificates: run facet certify --json FILE.");
        return;
    }
    Plot plot = tasks_plot(axis_decades(0.7 * least, 1.1 * most));
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    draw_columns(&svg, &figure, report, columns, &plot, "C_LTV");
    for (int i = 0; i < columns->count; i++) draw_bound_column(&svg, &plot, report, columns, i);
    double y = TOP + HEIGHT + LABELS + 4;
    svg_bar(&svg, LEFT, y - 11, 22, 12, "accent", false, NULL);
    svg_bar(&svg, LEFT + 26, y - 11, 22, 12, "accent", true, NULL);
    svg_text(&svg, LEFT + 56, y, SVG_START, 13, "ink", "C_LTV (hatched: held out)");
    svg_diamond(&svg, LEFT + 246, y - 4, 4.5, "ink", NULL);
    svg_text(&svg, LEFT + 258, y, SVG_START, 13, "ink", "measured");
    figure_push(list, &figure, svg_end(&svg));
}

// ---- The certificate of every gate --------------------------------------------------------------

// The part of a gate's half-width that the nominal miss and the bound around it take up; R_g where
// there was no attack and so no bound.
static double taken(Report *report, const JsonRef *gate, bool attacked)
{
    double miss = input_number(report, gate, "miss_nominal");
    double around = input_number(report, gate, attacked ? "bound" : "radius");
    return (miss + around) / input_number(report, gate, "half_width");
}

static void draw_gates_column(Svg *svg, const Plot *plot, Report *report, const Columns *columns,
                              int i)
{
    JsonRef entry = report_certified_task(report, columns->tasks[i]);
    JsonRef gates = input_member(&entry, "gates");
    int count = input_length(&gates);
    bool attacked = input_attacked(&gates);
    char tip[320], name[REPORT_TASK_NAME];
    report_task_name(name, report, columns->tasks[i]);
    for (int g = 0; g < count; g++) {
        JsonRef gate = input_element(&gates, g);
        double share = taken(report, &gate, attacked);
        bool certified = attacked && input_flag(&gate, "certified");
        if (!(share > 0.0)) continue;
        snprintf(tip, sizeof tip, "%s, gate %.40s: %s\nmiss %.3f m + %s %.3g m of %.3g m", name,
                 input_text(&gate, "gate"),
                 certified  ? "certified"
                 : attacked ? "not certified"
                            : "not attacked",
                 input_number(report, &gate, "miss_nominal"), attacked ? "bound" : "R_g",
                 input_number(report, &gate, attacked ? "bound" : "radius"),
                 input_number(report, &gate, "half_width"));
        double x = column_x(columns, i) +
                   0.7 * columns->step * (count > 1 ? (double)g / (count - 1) - 0.5 : 0.0);
        if (certified)
            svg_dot(svg, x, plot_y(plot, share), 3.6, "pass", tip);
        else
            svg_diamond(svg, x, plot_y(plot, share), 3.6, attacked ? "miss" : "muted", tip);
    }
}

static void figure_gates(Json *list, Report *report, const Columns *columns)
{
    const Figure figure = {"certificate-gates",
                           "certificates",
                           "Certificate of every gate",
                           "The nominal miss plus the bound within which the crossing must lie, "
                           "as a share of the half-width. A gate is certified only below 1. Gates "
                           "that were not attacked stand at miss plus R_g, and none is certified.",
                           WIDTH,
                           TOP + HEIGHT + LABELS + 20};
    double least = 1.0, most = 1.0;
    int count = 0;
    for (int i = 0; i < columns->count; i++) {
        JsonRef entry = report_certified_task(report, columns->tasks[i]);
        JsonRef gates = input_member(&entry, "gates");
        for (int g = 0; g < input_length(&gates); g++) {
            JsonRef gate = input_element(&gates, g);
            double share = taken(report, &gate, input_attacked(&gates));
            if (share > 0.0) least = fmin(least, share), most = fmax(most, share), count++;
        }
    }
    if (count == 0) {
        figure_missing(list, &figure, "No gate has a certificate: run facet certify --json FILE.");
        return;
    }
    Plot plot = tasks_plot(axis_decades(0.8 * least, 1.3 * most));
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    draw_columns(&svg, &figure, report, columns, &plot, "share of the half-width");
    svg_line(&svg, LEFT, plot_y(&plot, 1.0), WIDTH - 14, plot_y(&plot, 1.0), "ink", 1.6, "6 4");
    for (int i = 0; i < columns->count; i++) draw_gates_column(&svg, &plot, report, columns, i);
    double y = TOP + HEIGHT + LABELS + 4;
    svg_dot(&svg, LEFT + 6, y - 4, 3.6, "pass", NULL);
    svg_text(&svg, LEFT + 18, y, SVG_START, 13, "ink", "certified");
    svg_diamond(&svg, LEFT + 106, y - 4, 3.6, "miss", NULL);
    svg_text(&svg, LEFT + 118, y, SVG_START, 13, "ink", "not certified");
    svg_diamond(&svg, LEFT + 232, y - 4, 3.6, "muted", NULL);
    svg_text(&svg, LEFT + 244, y, SVG_START, 13, "ink", "not attacked");
    figure_push(list, &figure, svg_end(&svg));
}

void figures_certificates(Json *list, Report *report)
{
    Columns columns = columns_make(report);
    figure_bounds(list, report, &columns);
    figure_gates(list, report, &columns);
    free(columns.tasks);
}
