// Figures of what is known and how surely: a row for each method, with its mean over trainings, the
// range of the trainings and the bootstrap's interval; of the race, and of the single gate.
#include "report/figures.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 960, LABELS = 396, TOP = 62, PITCH = 18, BELOW = 46, BETWEEN = 28, MARGIN = 20 };
enum { PANELS = 3, ROWS_MAX = 64 };

// NAN where there is none.
typedef struct Span {
    double mean, least, most; // of trainings
    double low, high;         // the bootstrap's interval
    double crashes;
} Span;

typedef struct Panel {
    const char *title, *unit;
    Axis axis;
    double mark; // a dashed line, or NAN
    Span spans[ROWS_MAX];
} Panel;

typedef struct Evidence {
    Report *report;
    JsonRef rows;
    int count, ours; // which row is ours, or -1
    const char *(*color)(const JsonRef *row);
    const char *name; // of a row, the key of its text
    Panel panels[PANELS];
} Evidence;

static const Span no_span = {NAN, NAN, NAN, NAN, NAN, NAN};

typedef double Reader(Report *report, const JsonRef *at, const char *key);

// Of a rate, whose numbers are shares, or of a lead, which may be below 0.
static Span span_of(Report *report, Reader *read, JsonRef rate, double units)
{
    Span s = no_span;
    s.mean = units * read(report, &rate, "mean");
    s.least = units * read(report, &rate, "least");
    s.most = units * read(report, &rate, "most");
    s.low = units * read(report, &rate, "low");
    s.high = units * read(report, &rate, "high");
    return s;
}

static int rows_of(const JsonRef *rows)
{
    int length = input_length(rows);
    return length < ROWS_MAX ? length : ROWS_MAX;
}

static bool has_means(const Evidence *e)
{
    for (int i = 0; i < e->count; i++)
        if (!isnan(e->panels[0].spans[i].mean)) return true;
    return false;
}

// The mean of ours, or NAN.
static double ours_mean(const Evidence *e, const Panel *panel)
{
    return e->ours >= 0 ? panel->spans[e->ours].mean : nan("");
}

// By how much ours is ahead of each row.
static void lead_panel(Panel *panel, const Evidence *e, const char *unit, double units)
{
    double least = -1.0, most = 1.0;
    *panel = (Panel){.title = "ours ahead, never seen", .unit = unit, .mark = 0.0};
    if (e->ours < 0) panel->title = "no row of ours", panel->mark = NAN;
    for (int i = 0; i < e->count; i++) {
        JsonRef row = input_element(&e->rows, i), ahead = input_member(&row, "ours_ahead");
        Span *span = &panel->spans[i];
        *span = span_of(e->report, input_number, input_member(&ahead, "held_out"), units);
        const double ends[] = {span->mean, span->low, span->high};
        for (int k = 0; k < 3; k++)
            if (!isnan(ends[k])) least = fmin(least, ends[k]), most = fmax(most, ends[k]);
    }
    panel->axis = axis_round(least, most, 4);
}

// ---- Drawing ------------------------------------------------------------------------------------

static double row_y(int row) { return TOP + PITCH * (row + 0.5); }

static void draw_span(Svg *svg, const Plot *plot, const Span *span, double y, int trainings,
                      const char *color, const char *tip)
{
    if (!isnan(span->low) && !isnan(span->high))
        svg_line(svg, plot_x(plot, span->low), y, plot_x(plot, span->high), y, color, 1, NULL);
    if (!isnan(span->least) && !isnan(span->most) && trainings > 1)
        svg_line(svg, plot_x(plot, span->least), y, plot_x(plot, span->most), y, color, 5, NULL);
    if (!isnan(span->crashes)) svg_dot(svg, plot_x(plot, span->crashes), y, 2.6, "miss", tip);
    if (trainings > 1)
        svg_dot(svg, plot_x(plot, span->mean), y, 4.4, color, tip);
    else
        svg_diamond(svg, plot_x(plot, span->mean), y, 4.4, color, tip);
}

static void draw_panel(Svg *svg, const Evidence *e, const Panel *panel, const Plot *plot)
{
    svg_text(svg, plot->left, TOP - 10, SVG_START, 13, "muted", panel->title);
    plot_frame(svg, plot, panel->unit, "");
    if (!isnan(panel->mark)) {
        double x = plot_x(plot, panel->mark);
        svg_line(svg, x, TOP, x, TOP + plot->height, "ours_composed", 1, "4 4");
    }
    for (int i = 0; i < e->count; i++) {
        JsonRef row = input_element(&e->rows, i), seeds = input_member(&row, "seeds");
        const Span *span = &panel->spans[i];
        int trainings = input_length(&seeds);
        char tip[240], crashes[40] = "";
        if (isnan(span->mean)) continue;
        if (!isnan(span->crashes))
            snprintf(crashes, sizeof crashes, ", crashes %.1f", span->crashes);
        snprintf(tip, sizeof tip, "%.80s: %.1f%s\n%.40s, %d training%s", input_text(&row, e->name),
                 span->mean, crashes, panel->unit, trainings, trainings == 1 ? "" : "s");
        draw_span(svg, plot, span, row_y(i), trainings, e->color(&row), tip);
    }
}

static void draw(Json *list, const Evidence *e, Figure figure)
{
    if (!has_means(e)) {
        figure_missing(list, &figure, "There are no evaluations yet.");
        return;
    }
    double height = PITCH * e->count;
    double width = (WIDTH - LABELS - MARGIN - (PANELS - 1) * BETWEEN) / (double)PANELS;
    figure.width = WIDTH;
    figure.height = TOP + height + BELOW;
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    for (int i = 0; i < e->count; i++) {
        JsonRef row = input_element(&e->rows, i);
        svg_text(&svg, LABELS - 10, row_y(i) + 4, SVG_END, 12, "ink", input_text(&row, e->name));
    }
    for (int p = 0; p < PANELS; p++) {
        const Panel *panel = &e->panels[p];
        const Plot plot = {LABELS + p * (width + BETWEEN), TOP, width, height, panel->axis,
                           axis_exact(0.0, 1.0, 1.0)};
        draw_panel(&svg, e, panel, &plot);
    }
    figure_push(list, &figure, svg_end(&svg));
}

#define HOW_TO_READ                                                                                \
    "A dot is the mean of several trainings, the bar their range; a diamond is one training. The " \
    "thin line is the 95 % interval by a bootstrap over tasks and trainings; of a lead the same "  \
    "tasks are drawn for both. Dashed: ours. "

// ---- The race -----------------------------------------------------------------------------------

static const char *race_color(const JsonRef *row)
{
    const char *key = input_text(row, "key");
    if (strncmp(input_text(row, "method"), "told", 4) == 0) return "ink";
    return report_method(key) >= 0 ? key : "muted";
}

// From 0 to 100 at least, and to what there is beyond.
static Axis size_axis(const Panel *panel, int count)
{
    double least = 0.0, most = 100.0;
    for (int i = 0; i < count; i++)
        if (!isnan(panel->spans[i].mean)) {
            least = fmin(least, panel->spans[i].mean);
            most = fmax(most, panel->spans[i].mean);
        }
    return axis_round(least, most, 5);
}

void figures_race_study(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_RACE_STUDY), rows = input_member(&root, "rows");
    Evidence e = {.report = report,
                  .rows = rows,
                  .count = rows_of(&rows),
                  .ours = -1,
                  .color = race_color,
                  .name = "name"};
    const Figure figure = {
        .id = "race-study",
        .group = "passage",
        .title = "Pairs that nobody demonstrated: gates passed, and the size in the speeds",
        .caption = HOW_TO_READ
        "Black: told its task, without dropout. Gates see the path of a track and not the "
        "size; what plans show of the size is on the right: 100 % is each size at its speed, 0 a "
        "policy that ignores it."};
    Panel *passed = &e.panels[0], *size = &e.panels[2];
    double gates = 0.0;
    if (!root.node) return;
    for (int i = 0; i < e.count; i++) {
        JsonRef row = input_element(&rows, i);
        double units = input_number(report, &row, "gates_held_out");
        if (input_is_row(&row, "ours", "ours_composed")) e.ours = i;
        gates = fmax(gates, units);
        passed->spans[i] = span_of(report, input_share, input_member(&row, "held_out"), units);
        size->spans[i] = no_span;
        size->spans[i].mean = 100.0 * input_at(report, &row, "speed_share.left_out");
    }
    passed->title = "passed", passed->unit = "gates of pairs never seen";
    passed->axis = axis_round(0.0, gates, 6);
    passed->mark = ours_mean(&e, passed);
    lead_panel(&e.panels[1], &e, "gates", gates);
    size->title = "size in the speeds", size->unit = "of the size (%)";
    size->axis = size_axis(size, e.count);
    size->mark = ours_mean(&e, size);
    draw(list, &e, figure);
}

// ---- The single gate ----------------------------------------------------------------------------

// By the end of a cell's name, as in "zero-shot-ours".
static const char *gate_color(const JsonRef *row)
{
    static const char *const colors[][2] = {{"baseline", "baseline"},
                                            {"told", "ink"},
                                            {"oracle", "oracle"},
                                            {"oracle-ours", "oracle"},
                                            {"ours", "ours_composed"}};
    const char *cell = input_text(row, "cell");
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++) {
        size_t length = strlen(colors[i][0]), whole = strlen(cell);
        if (whole > length && cell[whole - length - 1] == '-' &&
            strcmp(cell + whole - length, colors[i][0]) == 0)
            return colors[i][1];
    }
    return "factored_composed";
}

static void gate_panel(Panel *panel, const Evidence *e, const char *split, const char *title)
{
    *panel = (Panel){.title = title, .unit = "trials (%)", .axis = axis_exact(0.0, 100.0, 20.0)};
    for (int i = 0; i < e->count; i++) {
        JsonRef row = input_element(&e->rows, i), success = input_member(&row, "success");
        JsonRef crash = input_member(&row, "crash"), rate = input_member(&crash, split);
        panel->spans[i] = span_of(e->report, input_share, input_member(&success, split), 100.0);
        panel->spans[i].crashes = 100.0 * input_share(e->report, &rate, "mean");
    }
    panel->mark = ours_mean(e, panel);
}

void figures_gate_study(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_GATE_STUDY),
            protocols = input_member(&root, "protocols");
    for (int p = 0; p < input_length(&protocols); p++) {
        JsonRef protocol = input_element(&protocols, p), rows = input_member(&protocol, "rows");
        Evidence e = {.report = report,
                      .rows = rows,
                      .count = rows_of(&rows),
                      .ours = -1,
                      .color = gate_color,
                      .name = "method"};
        for (int i = 0; i < e.count; i++) {
            JsonRef row = input_element(&rows, i);
            if (strcmp(gate_color(&row), "ours_composed") == 0) e.ours = i;
        }
        char id[40];
        snprintf(id, sizeof id, "gate-study-%d", p + 1);
        const Figure figure = {.id = id,
                               .group = "gate",
                               .title = input_text(&protocol, "title"),
                               .caption = HOW_TO_READ
                               "Red: crashes. Black: told its task, without dropout."};
        gate_panel(&e.panels[0], &e, "train", "tasks of training");
        gate_panel(&e.panels[1], &e, "held_out", "tasks never seen");
        lead_panel(&e.panels[2], &e, "points", 100.0);
        draw(list, &e, figure);
    }
}
