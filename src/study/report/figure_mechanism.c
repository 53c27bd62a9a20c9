// The figure of the mechanism study: gates passed by plans of pairs that training did not show, by
// how many keypoints an output sees; by whether training hides factors; and by what else the
// networks differ in.
#include "report/figures.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 900, LEFT = 66, TOP = 74, HEIGHT = 270, LABELS = 110, MARGIN = 14 };
enum { FIELD = 340, HIDING = 190, BETWEEN = 66 }; // widths of panels, and of what is between them
enum { SERIES_MAX = 8, POINTS_MAX = 32, VARIANTS_MAX = 64 };

// A loss, and a way of inference, is a curve.
static const char *const colors[] = {"factored_composed", "ours_composed", "oracle", "knet"};
enum { COLORS = sizeof colors / sizeof *colors };
static const struct {
    const char *key, *name, *dash;
} modes[] = {{"composed", "composed", ""}, {"joint", "joint", "5 4"}};

typedef struct Mechanism {
    Report *report;
    JsonRef rows;
    double losses[SERIES_MAX];
    int loss_count;
    Plot field, hiding, other;
} Mechanism;

static double loss_of(const Mechanism *m, const JsonRef *row)
{
    return input_number(m->report, row, "composed_loss");
}

// The losses in the order in which they come.
static void find_losses(Mechanism *m)
{
    for (int i = 0; i < input_length(&m->rows); i++) {
        JsonRef row = input_element(&m->rows, i);
        double loss = loss_of(m, &row);
        int k = 0;
        while (k < m->loss_count && m->losses[k] != loss) k++;
        if (k == m->loss_count && k < SERIES_MAX && !isnan(loss)) m->losses[m->loss_count++] = loss;
    }
}

static double of_left_out(const Mechanism *m, const JsonRef *row, const char *mode, const char *key)
{
    char path[60];
    snprintf(path, sizeof path, "left_out.%s.%s", mode, key);
    return input_at(m->report, row, path);
}

// In percent.
static double gates_of(const Mechanism *m, const JsonRef *row, const char *mode)
{
    return 100.0 * of_left_out(m, row, mode, "share");
}

static bool has_gates(const Mechanism *m)
{
    for (int i = 0; i < input_length(&m->rows); i++) {
        JsonRef row = input_element(&m->rows, i);
        if (!isnan(gates_of(m, &row, "composed")) || !isnan(gates_of(m, &row, "joint")))
            return true;
    }
    return false;
}

// Whether a network differs in how far it sees, or in nothing.
static bool is_field(const JsonRef *row)
{
    const char *kind = input_text(row, "kind");
    return strcmp(kind, "blocks") == 0 || strcmp(kind, "dilation") == 0;
}

static bool is_unet(const JsonRef *row) { return strcmp(input_text(row, "kind"), "unet") == 0; }

static void draw_square(Svg *svg, double x, double y, const char *color, bool empty,
                        const char *tip)
{
    const double outer[] = {x - 5, y - 5, x + 5, y - 5, x + 5, y + 5, x - 5, y + 5};
    const double inner[] = {x - 3, y - 3, x + 3, y - 3, x + 3, y + 3, x - 3, y + 3};
    svg_polygon(svg, outer, 4, color, tip);
    if (empty) svg_polygon(svg, inner, 4, "bg", tip);
}

// The network that the row differs from in its dropout alone, or itself.
static JsonRef same_network(const Mechanism *m, const JsonRef *row)
{
    const char *of = input_text(row, "of");
    for (int i = 0; of[0] && i < input_length(&m->rows); i++) {
        JsonRef other = input_element(&m->rows, i);
        if (strcmp(input_text(&other, "variant"), of) == 0 && loss_of(m, &other) == loss_of(m, row))
            return other;
    }
    return *row;
}

// A mark: round, for a dilated network a diamond, and for a U-Net a square, which is empty for
// joint plans.
static void draw_mark(Svg *svg, const Mechanism *m, const Plot *plot, const JsonRef *row, double x,
                      const char *mode, const char *color)
{
    char tip[200];
    JsonRef network = same_network(m, row);
    double gates = gates_of(m, row, mode), y = plot_y(plot, gates);
    snprintf(tip, sizeof tip, "%.40s, %s: %.0f %% of the gates, %.3f m off, training %.3f m",
             input_text(row, "name"), mode, gates, of_left_out(m, row, mode, "error_m"),
             input_at(m->report, row, "training.composed.error_m"));
    if (is_unet(&network))
        draw_square(svg, x, y, color, strcmp(mode, "joint") == 0, tip);
    else if (strcmp(input_text(&network, "kind"), "dilation") == 0)
        svg_diamond(svg, x, y, 5, color, tip);
    else
        svg_dot(svg, x, y, 3.8, color, tip);
}

// The gates by the field, of one loss and mode, in the order of what is seen.
static void draw_curve(Svg *svg, const Mechanism *m, int loss, int mode)
{
    double points[2 * POINTS_MAX], after = -1.0;
    int count = 0;
    const char *color = colors[loss % COLORS];
    for (;;) {
        JsonRef next = {0};
        double seen = INFINITY;
        for (int i = 0; i < input_length(&m->rows); i++) {
            JsonRef row = input_element(&m->rows, i);
            double at = input_number(m->report, &row, "seen");
            if (!is_field(&row) || loss_of(m, &row) != m->losses[loss] || !(at > after) ||
                !(at < seen) || isnan(gates_of(m, &row, modes[mode].key)))
                continue;
            seen = at;
            next = row;
        }
        if (!next.node || count == POINTS_MAX) break;
        after = seen;
        points[2 * count] = plot_x(&m->field, seen);
        points[2 * count + 1] = plot_y(&m->field, gates_of(m, &next, modes[mode].key));
        draw_mark(svg, m, &m->field, &next, points[2 * count++], modes[mode].key, color);
    }
    if (count > 1) svg_curve(svg, points, count, color, 2, modes[mode].dash, NULL);
}

// The U-Net beside the curves: it sees as much as the farthest of them.
static void draw_unet(Svg *svg, const Mechanism *m, int loss, int mode)
{
    for (int i = 0; i < input_length(&m->rows); i++) {
        JsonRef row = input_element(&m->rows, i);
        double seen = input_number(m->report, &row, "seen");
        if (is_unet(&row) && loss_of(m, &row) == m->losses[loss] && !isnan(seen) &&
            !isnan(gates_of(m, &row, modes[mode].key)))
            draw_mark(svg, m, &m->field, &row, plot_x(&m->field, seen), modes[mode].key,
                      colors[loss % COLORS]);
    }
}

// What hiding factors does, composed: a line a network and loss, from the one that trains with it
// to the one that does not.
static void draw_hiding(Svg *svg, const Mechanism *m)
{
    static const char *const sides[] = {"hidden", "never hidden"};
    const double places[] = {0.2, 0.8};
    for (int side = 0; side < 2; side++)
        svg_text(svg, plot_x(&m->hiding, places[side]), TOP + HEIGHT + 17, SVG_MIDDLE, 12, "ink",
                 sides[side]);
    for (int i = 0; i < input_length(&m->rows); i++) {
        JsonRef never = input_element(&m->rows, i), hidden = same_network(m, &never);
        const JsonRef *ends[] = {&hidden, &never};
        double points[4];
        int loss = 0;
        if (hidden.node == never.node) continue;
        while (loss < m->loss_count - 1 && m->losses[loss] != loss_of(m, &never)) loss++;
        if (isnan(gates_of(m, &hidden, "composed")) || isnan(gates_of(m, &never, "composed")))
            continue;
        for (int side = 0; side < 2; side++) {
            points[2 * side] = plot_x(&m->hiding, places[side]);
            points[2 * side + 1] = plot_y(&m->hiding, gates_of(m, ends[side], "composed"));
            draw_mark(svg, m, &m->hiding, ends[side], points[2 * side], "composed",
                      colors[loss % COLORS]);
        }
        svg_curve(svg, points, 2, colors[loss % COLORS], 2, "", NULL);
    }
}

// The variants whose field is the default's: the default, then those of other kinds.
static int other_variants(JsonRef *out, const Mechanism *m)
{
    int count = 0;
    for (int i = 0; i < input_length(&m->rows) && count < VARIANTS_MAX; i++) {
        JsonRef row = input_element(&m->rows, i);
        bool first = strcmp(input_text(&row, "variant"), "default") == 0;
        bool elsewhere = is_field(&row) || is_unet(&row) || input_text(&row, "of")[0];
        if (loss_of(m, &row) == m->losses[0] && (first || !elsewhere)) out[count++] = row;
    }
    return count;
}

// Losses stand side by side.
static double beside(const Mechanism *m, int loss)
{
    return 10 * (loss - 0.5 * (m->loss_count - 1));
}

static void draw_others(Svg *svg, const Mechanism *m)
{
    JsonRef columns[VARIANTS_MAX];
    int count = other_variants(columns, m);
    for (int c = 0; c < count; c++) {
        double middle = plot_x(&m->other, (c + 0.5) / count);
        const char *name = input_text(&columns[c], "variant");
        svg_text_upwards(svg, middle + 4, TOP + HEIGHT + 8, SVG_END, 12, "ink",
                         input_text(&columns[c], "name"));
        for (int i = 0; i < input_length(&m->rows); i++) {
            JsonRef row = input_element(&m->rows, i);
            if (strcmp(input_text(&row, "variant"), name) != 0) continue;
            for (int k = 0; k < m->loss_count; k++)
                if (loss_of(m, &row) == m->losses[k] && !isnan(gates_of(m, &row, "composed")))
                    draw_mark(svg, m, &m->other, &row, middle + beside(m, k), "composed",
                              colors[k % COLORS]);
        }
    }
}

// A line a loss.
static void draw_legend(Svg *svg, const Mechanism *m)
{
    for (int k = 0; k < m->loss_count; k++) {
        double x = LEFT, y = TOP + HEIGHT + LABELS + 20 * k;
        for (int mode = 0; mode < 2; mode++) {
            char name[60];
            if (m->losses[k] > 0.0)
                snprintf(name, sizeof name, "composed loss %g, %s", m->losses[k], modes[mode].name);
            else
                snprintf(name, sizeof name, "the paper's loss, %s", modes[mode].name);
            x = legend_line(svg, x, y, colors[k % COLORS], 2, modes[mode].dash, name);
        }
    }
}

void figures_mechanism(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_MECHANISM);
    Mechanism m = {.report = report, .rows = input_member(&root, "variants")};
    find_losses(&m);
    const Figure figure = {
        "mechanism",
        "passage",
        "What makes composition work",
        "Gates passed on pairs that training did not show, by how many of the "
        "plan's 32 keypoints an output sees: dots are stacks of 1 to 6 blocks, "
        "diamonds four blocks with dilations, squares a U-Net (empty: joint). "
        "Middle: whether training hides factors, composed. Right: other changes "
        "to the four blocks, composed. Gates see the path of a track and not the "
        "size: a policy that ignores the size passes many.",
        WIDTH,
        TOP + HEIGHT + LABELS + 20.0 * m.loss_count};
    if (!report->inputs[INPUT_MECHANISM].document) return;
    if (!has_gates(&m)) {
        figure_missing(list, &figure, "No network was measured: run facet study mechanism.");
        return;
    }
    Axis gates = axis_exact(0.0, 100.0, 20.0);
    Axis names = axis_exact(0.0, 1.0, 1.0); // names stand below
    double middle = LEFT + FIELD + BETWEEN, right = middle + HIDING + BETWEEN;
    m.field = (Plot){LEFT, TOP, FIELD, HEIGHT, axis_exact(0.0, 32.0, 8.0), gates};
    m.hiding = (Plot){middle, TOP, HIDING, HEIGHT, names, gates};
    m.other = (Plot){right, TOP, WIDTH - MARGIN - right, HEIGHT, names, gates};
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    svg_text(&svg, LEFT, TOP - 12, SVG_START, 13, "muted", "pairs left out, by what is seen");
    svg_text(&svg, middle, TOP - 12, SVG_START, 13, "muted", "by whether factors are hidden");
    svg_text(&svg, right, TOP - 12, SVG_START, 13, "muted", "other changes");
    plot_frame(&svg, &m.field, "keypoints that an output sees", "gates passed (%)");
    plot_frame(&svg, &m.hiding, "", "gates passed (%)");
    plot_frame(&svg, &m.other, "", "gates passed (%)");
    for (int k = 0; k < m.loss_count; k++)
        for (int mode = 0; mode < 2; mode++) {
            draw_curve(&svg, &m, k, mode);
            draw_unet(&svg, &m, k, mode);
        }
    draw_hiding(&svg, &m);
    draw_others(&svg, &m);
    draw_legend(&svg, &m);
    figure_push(list, &figure, svg_end(&svg));
}
