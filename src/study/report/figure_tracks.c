// One figure a track, as the paper's figure of all tracks: the flown paths of every method from
// above and from the side, and the speed along the path. It shows the held-out opening of the track
// where there is one, else the standard one.
#include "report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, PANEL_HEIGHT = 268, PANEL_TOP = 56 };

// The opening to show: held out, then named standard, then any. False when none was flown.
static bool choose_task(FacetCourseTask *task, const Report *report, int track)
{
    const FacetCourse *course = report->race->course;
    int best = 0;
    for (int o = 0; o < course->opening_count; o++) {
        FacetCourseTask candidate = {track, o};
        if (!report_flight(report, METHOD_EXPERT, candidate)->flown) continue;
        int rank = report_held_out(report, candidate)                  ? 3
                   : strcmp(course->openings[o].name, "standard") == 0 ? 2
                                                                       : 1;
        if (rank > best) best = rank, *task = candidate;
    }
    return best > 0;
}

// What a panel shows of a sample: x and y in the panel's units.
typedef enum View { VIEW_ABOVE, VIEW_SIDE, VIEW_SPEED } View;

static void sample_at(double out[2], const ReportFlight *flight, int i, double arc, View view)
{
    const double *at = flight->positions + 3 * i;
    out[0] = view == VIEW_SPEED ? arc : at[0];
    out[1] = view == VIEW_ABOVE ? at[1] : view == VIEW_SIDE ? at[2] : flight->speeds[i];
}

static double step_of(const ReportFlight *flight, int i)
{
    const double *a = flight->positions + 3 * (i - 1), *b = a + 3;
    return sqrt((b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]) +
                (b[2] - a[2]) * (b[2] - a[2]));
}

// The curve of a flight in a panel, without points that lie closer than a pixel or two.
static void draw_flight(Svg *svg, const Plot *plot, const ReportFlight *flight, int method,
                        View view)
{
    const ReportMethod *drawn = &report_methods[method];
    double *points = calloc(2 * (size_t)flight->samples + 2, sizeof *points);
    if (!points) svg->lost = true;
    double arc = 0.0;
    int count = 0;
    for (int i = 0; points && i < flight->samples; i++) {
        double at[2];
        if (i > 0) arc += step_of(flight, i);
        sample_at(at, flight, i, arc, view);
        double x = plot_x(plot, at[0]), y = plot_y(plot, at[1]);
        const double *last = points + 2 * (count - 1);
        if (count > 0 && i + 1 < flight->samples && hypot(x - last[0], y - last[1]) < 1.5) continue;
        points[2 * count] = x;
        points[2 * count++ + 1] = y;
    }
    const FacetRaceResult *r = &flight->result;
    char tip[256];
    snprintf(tip, sizeof tip,
             "%s: %d of %d gates%s\nplan %.2f m/s, flown %.2f m/s\n%.2f m from "
             "the expert's path",
             drawn->short_name, r->flight.passed, r->flight.gate_count,
             r->flight.end == FACET_FLIGHT_CRASHED ? ", crashed" : "", r->speed_generated,
             r->flight.speed_mean, r->error);
    svg_method_begin(svg, drawn->id);
    if (count > 1) svg_curve(svg, points, count, drawn->id, drawn->width, drawn->dash, tip);
    svg_method_end(svg);
    free(points);
}

// Gates as the main method's flight met them: the opening is a circle, seen from above or the side.
static void draw_gates(Svg *svg, const Plot *plot, const Report *report, FacetCourseTask task,
                       View view)
{
    const FacetTrack *track = &report->race->course->tracks[task.track];
    double half = report->race->course->openings[task.opening].half_width;
    int method = report_main_method(report);
    const ReportFlight *flight = report_flight(report, method, task);
    for (int g = 0; g < track->gate_count; g++) {
        const FacetCourseGate *gate = &track->gates[g];
        const FacetPassage *result = &flight->result.flight.gates[g];
        FacetVec3 n = gate->normal;
        char tip[256];
        if (flight->flown)
            snprintf(tip, sizeof tip, "gate %s, half-width %.3g m\n%s: %s, %.2f m from the centre",
                     gate->name, half, report_methods[method].short_name,
                     result->passed ? "passed" : "missed", result->miss);
        else
            snprintf(tip, sizeof tip, "gate %s, half-width %.3g m", gate->name, half);
        const char *color = !flight->flown ? "gate" : result->passed ? "pass" : "miss";
        const char *dash = flight->flown && !result->passed ? "4 3" : "";
        double scale_x = plot->width / (plot->x.max - plot->x.min);
        double scale_y = plot->height / (plot->y.max - plot->y.min);
        if (view == VIEW_SIDE) {
            double rx = half * sqrt(fmax(0.0, 1.0 - n.x * n.x));
            double rz = half * sqrt(fmax(0.0, 1.0 - n.z * n.z));
            svg_ellipse(svg, plot_x(plot, gate->center.x), plot_y(plot, gate->center.z),
                        fmax(rx * scale_x, 1.0), rz * scale_y, color, 1.2, dash, tip);
        } else {
            double flat = hypot(n.x, n.y), across[2] = {1.0, 0.0};
            if (flat > 1e-6) across[0] = -n.y / flat, across[1] = n.x / flat;
            const double ends[] = {plot_x(plot, gate->center.x - half * across[0]),
                                   plot_y(plot, gate->center.y - half * across[1]),
                                   plot_x(plot, gate->center.x + half * across[0]),
                                   plot_y(plot, gate->center.y + half * across[1])};
            svg_curve(svg, ends, 2, color, 3.2, dash, tip);
        }
    }
}

// ---- Panels -------------------------------------------------------------------------------------

typedef struct Range {
    double min, max;
} Range;

static void include(Range *range, double value)
{
    range->min = fmin(range->min, value);
    range->max = fmax(range->max, value);
}

// What the expert's flight and the gates take up, with a margin, for an axis of the world.
static Range range_of(const Report *report, FacetCourseTask task, int axis)
{
    const ReportFlight *flight = report_flight(report, METHOD_EXPERT, task);
    const FacetTrack *track = &report->race->course->tracks[task.track];
    double half = report->race->course->openings[task.opening].half_width;
    Range out = {INFINITY, -INFINITY};
    for (int i = 0; i < flight->samples; i++) include(&out, flight->positions[3 * i + axis]);
    for (int g = 0; g < track->gate_count; g++) {
        const FacetVec3 c = track->gates[g].center;
        double at = axis == 0 ? c.x : axis == 1 ? c.y : c.z;
        include(&out, at - half);
        include(&out, at + half);
    }
    return (Range){out.min - 0.6, out.max + 0.6};
}

// An axis of exactly this range with round marks.
static Axis fitted(Range range, int marks)
{
    Axis round = axis_round(range.min, range.max, marks);
    return axis_exact(range.min, range.max, round.tick);
}

// Widens one range so that both axes have the same scale.
static void equal_scale(Range *x, Range *y, double width, double height)
{
    double scale = fmin(width / (x->max - x->min), height / (y->max - y->min));
    double grow_x = (width / scale - (x->max - x->min)) / 2.0;
    double grow_y = (height / scale - (y->max - y->min)) / 2.0;
    *x = (Range){x->min - grow_x, x->max + grow_x};
    *y = (Range){y->min - grow_y, y->max + grow_y};
}

static Plot speed_panel(const Report *report, FacetCourseTask task)
{
    double longest = 0.0, fastest = 0.0;
    for (int m = 0; m < REPORT_METHODS; m++) {
        const ReportFlight *flight = report_flight(report, m, task);
        double arc = 0.0;
        for (int i = 0; flight->flown && i < flight->samples; i++) {
            if (i > 0) arc += step_of(flight, i);
            fastest = fmax(fastest, flight->speeds[i]);
        }
        longest = fmax(longest, arc);
    }
    Plot plot = {.left = 716, .top = PANEL_TOP, .width = 230, .height = PANEL_HEIGHT};
    plot.x = fitted((Range){0.0, fmax(longest, 1.0)}, 5);
    plot.y = axis_round(0.0, fmax(fastest, 1.0), 5);
    return plot;
}

static void draw_panel(Svg *svg, const Plot *plot, const Report *report, FacetCourseTask task,
                       View view)
{
    svg_clip_begin(svg, (int)view, plot->left, plot->top, plot->width, plot->height);
    if (view != VIEW_SPEED) draw_gates(svg, plot, report, task, view);
    int last = report_main_method(report); // above the others
    for (int m = 0; m < REPORT_METHODS; m++) {
        const ReportFlight *flight = report_flight(report, m, task);
        if (flight->flown && m != last) draw_flight(svg, plot, flight, m, view);
    }
    const ReportFlight *flight = report_flight(report, last, task);
    if (flight->flown) draw_flight(svg, plot, flight, last, view);
    svg_clip_end(svg);
}

// ---- Figures ------------------------------------------------------------------------------------

static char *draw_track(const Figure *figure, const Report *report, FacetCourseTask task)
{
    Svg svg;
    svg_begin(&svg, figure->id, figure->width, figure->height, figure->title, figure->caption);
    svg_text(&svg, 14, 24, SVG_START, 16, "ink", figure->title);
    Plot above = {.left = 58, .top = PANEL_TOP, .width = 330, .height = PANEL_HEIGHT};
    Plot side = {.left = 452, .top = PANEL_TOP, .width = 196, .height = PANEL_HEIGHT};
    Range x = range_of(report, task, 0), y = range_of(report, task, 1),
          z = range_of(report, task, 2);
    side.x = fitted(x, 4);
    side.y = fitted((Range){fmin(0.0, z.min), z.max}, 5);
    equal_scale(&x, &y, above.width, above.height);
    above.x = fitted(x, 6);
    above.y = fitted(y, 5);
    Plot speed = speed_panel(report, task);
    svg_text(&svg, above.left, PANEL_TOP - 10, SVG_START, 13, "muted", "from above");
    svg_text(&svg, side.left, PANEL_TOP - 10, SVG_START, 13, "muted", "from the side");
    svg_text(&svg, speed.left, PANEL_TOP - 10, SVG_START, 13, "muted", "speed along the path");
    plot_frame(&svg, &above, "x (m)", "y (m)");
    plot_frame(&svg, &side, "x (m)", "z (m)");
    plot_frame(&svg, &speed, "path flown (m)", "speed (m/s)");
    draw_panel(&svg, &above, report, task, VIEW_ABOVE);
    draw_panel(&svg, &side, report, task, VIEW_SIDE);
    draw_panel(&svg, &speed, report, task, VIEW_SPEED);
    figure_legend(&svg, report, 58, PANEL_TOP + PANEL_HEIGHT + 66, WIDTH - 14);
    return svg_end(&svg);
}

// A name for files: the track's own when it is made of letters, digits, - and _, else its number.
static void track_id(char out[64], const FacetTrack *track, int index)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (track->name[0] && strspn(track->name, plain) == strlen(track->name))
        snprintf(out, 64, "track-%s", track->name);
    else
        snprintf(out, 64, "track-number-%d", index + 1);
}

void figures_tracks(Json *list, Report *report)
{
    const FacetCourse *course = report->race->course;
    for (int t = 0; t < course->track_count; t++) {
        FacetCourseTask task;
        char id[64], title[160], name[REPORT_TASK_NAME];
        if (!choose_task(&task, report, t)) continue;
        bool held_out = report_held_out(report, task);
        track_id(id, &course->tracks[t], t);
        report_task_name(name, report, task);
        snprintf(title, sizeof title, "%s%s", name,
                 held_out                                      ? ", held out: never trained on"
                 : report_main_method(report) == METHOD_EXPERT ? ""
                                                               : ", a training pair");
        const Figure figure = {
            id,
            "tracks",
            title,
            "Flown paths of every method from above and from the side, and their speed along the "
            "path. Gates are drawn at their openings, dashed where the main method missed.",
            WIDTH,
            PANEL_TOP + PANEL_HEIGHT + 82 + figure_legend_height(report, 58, WIDTH - 14)};
        figure_push(list, &figure, draw_track(&figure, report, task));
    }
}
