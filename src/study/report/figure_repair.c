// The figure of repair before flight: the plans that it changed, before and after, from above.
#include "report/figures.h"

#include "math/geometry.h"

#include <math.h>

enum { WIDTH = 960, LEFT = 66, TOP = 74, PANEL = 400, BETWEEN = 74, HEIGHT = 200, ROW = 262 };
enum { PANELS_MAX = 8 };

// How far a repair has to go to be shown.
#define SHIFT_LEAST  0.01 // m
#define SLOWED_LEAST 0.01

// A plan that was changed.
typedef struct Change {
    FacetCourseTask task;
    const ReportFlight *before, *after;
    double shift; // m, the largest of a keypoint
    double speed; // the least share that a keypoint keeps
} Change;

static Change change_of(const Report *report, int raw, int verified, FacetCourseTask task)
{
    Change out = {.task = task,
                  .before = report_flight(report, raw, task),
                  .after = report_flight(report, verified, task),
                  .speed = 1.0};
    const FacetKeypoint *a = out.before->result.plan, *b = out.after->result.plan;
    if (!out.before->flown || !out.after->flown) return out;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        out.shift = fmax(out.shift, vec3_norm(vec3_sub(b[i].pos, a[i].pos)));
        if (a[i].speed > 0.0) out.speed = fmin(out.speed, b[i].speed / a[i].speed);
    }
    return out;
}

// The plans that were changed most, in the order of the course.
static int find_changes(Change out[PANELS_MAX], const Report *report)
{
    const FacetCourse *course = report->race->course;
    int raw = report_method("ours_composed"), verified = report_method("verified"), count = 0;
    if (!report_has_method(report, raw) || !report_has_method(report, verified)) return 0;
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            Change change = change_of(report, raw, verified, (FacetCourseTask){t, o});
            if (change.shift < SHIFT_LEAST && change.speed > 1.0 - SLOWED_LEAST) continue;
            if (count == PANELS_MAX) { // drops the one that moved least
                int least = 0;
                for (int i = 1; i < count; i++)
                    if (out[i].shift < out[least].shift) least = i;
                if (out[least].shift > change.shift) continue;
                for (int i = least; i + 1 < count; i++) out[i] = out[i + 1];
                count--;
            }
            out[count++] = change;
        }
    return count;
}

// Axes of one scale around both plans.
static Plot panel_plot(const Change *change, int index)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 2 * FACET_CHUNK_KEYPOINTS; k++) {
        const FacetRaceResult *result = k % 2 ? &change->after->result : &change->before->result;
        const FacetVec3 at = result->plan[k / 2].pos;
        low[0] = fmin(low[0], at.x), high[0] = fmax(high[0], at.x);
        low[1] = fmin(low[1], at.y), high[1] = fmax(high[1], at.y);
    }
    double wide = high[0] - low[0] + 2.0, tall = high[1] - low[1] + 2.0;
    double scale = fmin(PANEL / wide, HEIGHT / tall);
    double x = 0.5 * (low[0] + high[0]), y = 0.5 * (low[1] + high[1]);
    int row = index / 2, column = index % 2;
    Plot plot = {.left = LEFT + column * (PANEL + BETWEEN),
                 .top = TOP + row * ROW,
                 .width = PANEL,
                 .height = HEIGHT};
    Axis round = axis_round(0.0, PANEL / scale, 6);
    plot.x = axis_exact(x - 0.5 * PANEL / scale, x + 0.5 * PANEL / scale, round.tick);
    plot.y = axis_exact(y - 0.5 * HEIGHT / scale, y + 0.5 * HEIGHT / scale, round.tick);
    return plot;
}

static void draw_gates(Svg *svg, const Plot *plot, const Report *report, const Change *change)
{
    const FacetTrack *track = &report->race->course->tracks[change->task.track];
    double half = report->race->course->openings[change->task.opening].half_width;
    for (int g = 0; g < track->gate_count; g++) {
        const FacetCourseGate *gate = &track->gates[g];
        double flat = hypot(gate->normal.x, gate->normal.y), across[2] = {1.0, 0.0};
        bool before = change->before->result.flight.gates[g].passed;
        bool after = change->after->result.flight.gates[g].passed;
        char tip[120];
        snprintf(tip, sizeof tip, "gate %s: %s before, %s after", gate->name,
                 before ? "passed" : "missed", after ? "passed" : "missed");
        if (flat > 1e-6) across[0] = -gate->normal.y / flat, across[1] = gate->normal.x / flat;
        const double ends[] = {plot_x(plot, gate->center.x - half * across[0]),
                               plot_y(plot, gate->center.y - half * across[1]),
                               plot_x(plot, gate->center.x + half * across[0]),
                               plot_y(plot, gate->center.y + half * across[1])};
        svg_curve(svg, ends, 2, before ? "pass" : "miss", 3.2, before ? "" : "4 3", tip);
    }
}

static void draw_plan(Svg *svg, const Plot *plot, const ReportFlight *flight, const char *id)
{
    double points[2 * FACET_CHUNK_KEYPOINTS];
    int method = report_method(id);
    svg_method_begin(svg, id);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        const FacetKeypoint *at = &flight->result.plan[i];
        char tip[120];
        points[2 * i] = plot_x(plot, at->pos.x);
        points[2 * i + 1] = plot_y(plot, at->pos.y);
        snprintf(tip, sizeof tip, "keypoint %d: %.2f m/s", i + 1, at->speed);
        svg_dot(svg, points[2 * i], points[2 * i + 1], 2.2, id, tip);
    }
    svg_curve(svg, points, FACET_CHUNK_KEYPOINTS, id, 1.6, report_methods[method].dash, NULL);
    svg_method_end(svg);
}

static void draw_change(Svg *svg, const Report *report, const Change *change, int index)
{
    const FacetFlight *before = &change->before->result.flight;
    const FacetFlight *after = &change->after->result.flight;
    Plot plot = panel_plot(change, index);
    char title[200], name[REPORT_TASK_NAME];
    report_task_name(name, report, change->task);
    snprintf(title, sizeof title, "%s: %d → %d of %d gates, moved %.2f m, %.2f of the speed", name,
             before->passed, after->passed, after->gate_count, change->shift, change->speed);
    svg_text(svg, plot.left, plot.top - 10, SVG_START, 13, "ink", title);
    plot_frame(svg, &plot, "x (m)", index % 2 ? "" : "y (m)");
    svg_clip_begin(svg, index, plot.left, plot.top, plot.width, plot.height);
    draw_gates(svg, &plot, report, change);
    draw_plan(svg, &plot, change->before, "ours_composed");
    draw_plan(svg, &plot, change->after, "verified");
    svg_clip_end(svg);
}

void figures_repair(Json *list, Report *report)
{
    Change changes[PANELS_MAX];
    int count = find_changes(changes, report);
    if (count == 0) return;
    int rows = (count + 1) / 2;
    const Figure figure = {"repair",
                           "race",
                           "Plans before and after repair",
                           "The keypoints of the plans that repair moved most, from above, before "
                           "and after. Gates that the raw plan misses are dashed; speed is the "
                           "least share that a keypoint keeps.",
                           WIDTH,
                           TOP + (double)ROW * rows + 14};
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 24, SVG_START, 16, "ink", figure.title);
    for (int i = 0; i < count; i++) draw_change(&svg, report, &changes[i], i);
    double x = LEFT;
    x = legend_line(&svg, x, figure.height - 12, "ours_composed", 1.6,
                    report_methods[report_method("ours_composed")].dash, "as the policy made it");
    legend_line(&svg, x, figure.height - 12, "verified", 1.6,
                report_methods[report_method("verified")].dash, "repaired");
    figure_push(list, &figure, svg_end(&svg));
}
