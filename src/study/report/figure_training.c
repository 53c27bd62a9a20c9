// The figure of trainings: losses by update, of the batches and of what nothing is learned from.
#include "base/text.h"
#include "report/figures.h"
#include "report/training_log.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 760, LEFT = 66, TOP = 66, PANEL = 310, BETWEEN = 56, HEIGHT = 190, ROW = 270 };

static const struct {
    const char *name, *color, *dash;
} lines[TRAINING_COLUMNS] = {
    [TRAINING_DENOISE] = {"training", "muted", ""},
    [TRAINING_COMPOSED] = {"training, composed", "muted", "3 3"},
    [TRAINING_VALID] = {"validation", "accent", ""},
    [TRAINING_VALID_COMPOSED] = {"validation, composed", "accent", "6 4"},
    [TRAINING_HELD_OUT] = {"held-out tasks", "miss", ""},
    [TRAINING_HELD_OUT_COMPOSED] = {"held-out tasks, composed", "miss", "6 4"},
};

// The name of the policy beside a log.
static void policy_name(char out[80], const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, 80, "%.79s", slash ? slash + 1 : path);
    char *end = strstr(out, ".safetensors.csv");
    if (!end) end = strstr(out, ".csv");
    if (end) *end = '\0';
    text_clean(out);
}

static Axis loss_axis(const TrainingLog *log)
{
    double least = INFINITY, most = 0.0;
    for (int c = 0; c < TRAINING_COLUMNS; c++)
        for (int i = 0; i < log->curves[c].count; i++) {
            least = fmin(least, log->curves[c].loss[i]);
            most = fmax(most, log->curves[c].loss[i]);
        }
    return most > 0.0 ? axis_decades(fmax(least, 1e-6 * most), most) : axis_decades(0.1, 1.0);
}

static void draw_curve(Svg *svg, const Plot *plot, const TrainingLog *log, int c)
{
    const TrainingCurve *curve = &log->curves[c];
    bool looked = c >= TRAINING_VALID;
    double points[2 * TRAINING_POINTS];
    char tip[120];
    for (int i = 0; i < curve->count; i++) {
        points[2 * i] = plot_x(plot, curve->update[i]);
        points[2 * i + 1] = plot_y(plot, fmax(curve->loss[i], plot->y.min));
        snprintf(tip, sizeof tip, "%s, update %.0f: %.5f", lines[c].name, curve->update[i],
                 curve->loss[i]);
        if (looked) svg_dot(svg, points[2 * i], points[2 * i + 1], 2.6, lines[c].color, tip);
    }
    if (curve->count > 1)
        svg_curve(svg, points, curve->count, lines[c].color, looked ? 2.2 : 1.4, lines[c].dash,
                  lines[c].name);
}

static void draw_log(Svg *svg, const TrainingLog *log, int place)
{
    int column = place % 2, row = place / 2;
    Plot plot = {.left = LEFT + column * (PANEL + BETWEEN),
                 .top = TOP + row * ROW,
                 .width = PANEL,
                 .height = HEIGHT,
                 .x = axis_round(0.0, (double)log->updates, 5),
                 .y = loss_axis(log)};
    char name[80], title[160];
    policy_name(name, log->path);
    snprintf(title, sizeof title, "%s", name);
    if (log->networks > 1)
        snprintf(title, sizeof title, "%s: %d networks, one after the other", name, log->networks);
    svg_text(svg, plot.left, plot.top - 12, SVG_START, 13, "ink", title);
    plot_frame(svg, &plot, "updates", column ? "" : "loss");
    for (int c = 0; c < TRAINING_COLUMNS; c++) draw_curve(svg, &plot, log, c);
}

void figures_training(Json *list, const Report *report)
{
    int rows = (report->training_count + 1) / 2;
    const Figure figure = {"training",
                           "Training",
                           "Losses of trainings",
                           "Losses by update. Those of training are means over pieces of it, with "
                           "factors dropped as the policy was trained; those of validation and of "
                           "held-out tasks are of demonstrations that nothing is learned from, at "
                           "most 128 samples of them, with all factors shown and composed.",
                           WIDTH,
                           TOP + (double)ROW * rows + 24};
    if (report->training_count == 0) return;
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 26, SVG_START, 16, "ink", figure.title);
    for (int i = 0; i < report->training_count; i++) draw_log(&svg, &report->training[i], i);
    double x = LEFT, y = figure.height - 30;
    for (int c = 0; c < TRAINING_COLUMNS; c++) {
        if (c == TRAINING_HELD_OUT) x = LEFT, y += 20;
        x = legend_line(&svg, x, y, lines[c].color, 2.2, lines[c].dash, lines[c].name);
    }
    figure_push(list, &figure, svg_end(&svg));
}
