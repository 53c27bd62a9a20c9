// A flight that moves, for a reader who has run nothing yet: the plan of a held-out task from noise
// to path, then its flight in real time. One SVG, which repeats for ever and follows light and
// dark. Where nothing moves, it shows the end.
#include "report/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, HEIGHT = 420, MARGIN = 34, RING = 40, FRAMES_MAX = 13, STRIDE = 2 };

#define NOISE_HELD 0.6 // s that the noise is shown before it moves
#define DENOISING  3.0 // s until the plan stands
#define END_HELD   2.5 // s

// The world from above and from the south, without perspective.
typedef struct View {
    FacetVec3 right, up;
    double scale, x, y; // px a metre, and where the world's origin stands
} View;

typedef struct Scene {
    const Report *report;
    const ReportFlight *flight;
    const FacetTrack *track;
    FacetCourseTask task;
    double half_width;
    double length; // s, of the whole animation
    int method;
    View view;
} Scene;

typedef struct Point {
    double x, y; // px
} Point;

static Point seen(const View *view, FacetVec3 p)
{
    return (Point){view->x + view->scale * vec3_dot(view->right, p),
                   view->y - view->scale * vec3_dot(view->up, p)};
}

static FacetVec3 place(const double *positions, int index)
{
    return vec3(positions[3 * index], positions[3 * index + 1], positions[3 * index + 2]);
}

// ---- What is shown ------------------------------------------------------------------------------

// The held-out task with the most gates that the main method flies whole.
static bool choose(Scene *scene, const Report *report)
{
    const FacetCourse *course = report->race->course;
    scene->report = report;
    scene->method = report_main_method(report);
    for (int i = 0; i < report->task_count; i++) {
        FacetCourseTask task = {i / course->opening_count, i % course->opening_count};
        const ReportFlight *flight = report_flight(report, scene->method, task);
        const FacetFlight *result = &flight->result.flight;
        if (!flight->flown || !flight->result.held_out || flight->samples < 2) continue;
        if (result->passed < result->gate_count) continue;
        if (scene->flight && result->gate_count <= scene->flight->result.flight.gate_count)
            continue;
        scene->flight = flight;
        scene->task = task;
    }
    if (!scene->flight) return false;
    scene->track = &course->tracks[scene->task.track];
    scene->half_width = course->openings[scene->task.opening].half_width;
    scene->length = DENOISING + (scene->flight->samples - 1) / REPORT_RATE + END_HELD;
    return true;
}

// A point of a gate's ring.
static FacetVec3 ring_point(const Scene *scene, const FacetCourseGate *gate, double angle)
{
    FacetVec3 side = vec3_unit(vec3_cross(vec3(0, 0, 1), gate->normal), vec3(0, 1, 0));
    FacetVec3 above = vec3_cross(gate->normal, side);
    double across = scene->half_width * cos(angle), up = scene->half_width * sin(angle);
    return vec3_add(gate->center, vec3_add(vec3_scale(side, across), vec3_scale(above, up)));
}

typedef struct Bounds {
    double left, right, top, bottom;
} Bounds;

static void reach(Bounds *bounds, const View *view, FacetVec3 p)
{
    Point at = seen(view, p);
    bounds->left = fmin(bounds->left, at.x);
    bounds->right = fmax(bounds->right, at.x);
    bounds->top = fmin(bounds->top, at.y);
    bounds->bottom = fmax(bounds->bottom, at.y);
}

// Puts gates, their feet and the flight into the picture.
static void aim(Scene *scene)
{
    const FacetVec3 eye = vec3_unit(vec3(-0.2, -0.7, 0.62), vec3(0, 0, 1));
    View *view = &scene->view;
    view->right = vec3_unit(vec3_cross(vec3(0, 0, 1), eye), vec3(1, 0, 0));
    view->up = vec3_cross(eye, view->right);
    view->scale = 1.0;
    Bounds bounds = {1e9, -1e9, 1e9, -1e9};
    for (int i = 0; i < scene->track->gate_count; i++) {
        const FacetCourseGate *gate = &scene->track->gates[i];
        reach(&bounds, view, vec3(gate->center.x, gate->center.y, 0.0));
        for (int k = 0; k < 4; k++)
            reach(&bounds, view, ring_point(scene, gate, k * 0.5 * FACET_PI));
    }
    for (int i = 0; i < scene->flight->samples; i++)
        reach(&bounds, view, place(scene->flight->positions, i));
    double wide = bounds.right - bounds.left, tall = bounds.bottom - bounds.top;
    view->scale = fmin((WIDTH - 2.0 * MARGIN) / wide, (HEIGHT - 3.2 * MARGIN) / tall);
    view->x = WIDTH / 2.0 - view->scale * (bounds.left + bounds.right) / 2.0;
    view->y = HEIGHT / 2.0 + 0.6 * MARGIN - view->scale * (bounds.top + bounds.bottom) / 2.0;
}

// ---- Animated attributes ------------------------------------------------------------------------

static void animate_begin(Svg *svg, const Scene *scene, const char *attribute, const char *mode)
{
    svg_print(svg,
              "<animate attributeName=\"%s\" dur=\"%.2fs\" repeatCount=\"indefinite\" "
              "calcMode=\"%s\" keyTimes=\"",
              attribute, scene->length, mode);
}

// A time of the animation as a share of its length; the first is 0 and the last 1.
static void key_time(Svg *svg, const Scene *scene, double seconds)
{
    double share = fmin(fmax(seconds / scene->length, 0.0), 1.0);
    svg_print(svg, "%s%.5g", share > 0.0 ? ";" : "", share);
}

// Seen from one time on until another.
static void shown_between(Svg *svg, const Scene *scene, double from, double until)
{
    animate_begin(svg, scene, "opacity", "discrete");
    key_time(svg, scene, 0.0);
    if (from > 0.0) key_time(svg, scene, from);
    if (until < scene->length) key_time(svg, scene, until);
    svg_print(svg, "\" values=\"%s1%s\"/>", from > 0.0 ? "0;" : "",
              until < scene->length ? ";0" : "");
}

// The times of the flight's samples that are drawn, with the hold before and after.
static void flight_times(Svg *svg, const Scene *scene)
{
    key_time(svg, scene, 0.0);
    for (int i = 0; i < scene->flight->samples; i += STRIDE)
        key_time(svg, scene, DENOISING + i / REPORT_RATE);
    key_time(svg, scene, scene->length);
    svg_print(svg, "\" values=\"");
}

// ---- The parts ----------------------------------------------------------------------------------

static void draw_ground(Svg *svg, const Scene *scene)
{
    const FacetArena *arena = &scene->report->race->course->arena;
    svg_print(svg, "<g opacity=\"0.7\">");
    for (double x = ceil(arena->min.x / 2) * 2; x <= arena->max.x; x += 2) {
        Point a = seen(&scene->view, vec3(x, arena->min.y, 0)),
              b = seen(&scene->view, vec3(x, arena->max.y, 0));
        svg_line(svg, a.x, a.y, b.x, b.y, "grid", 1, NULL);
    }
    for (double y = ceil(arena->min.y / 2) * 2; y <= arena->max.y; y += 2) {
        Point a = seen(&scene->view, vec3(arena->min.x, y, 0)),
              b = seen(&scene->view, vec3(arena->max.x, y, 0));
        svg_line(svg, a.x, a.y, b.x, b.y, "grid", 1, NULL);
    }
    svg_print(svg, "</g>");
}

static void draw_ring(Svg *svg, const Scene *scene, const FacetCourseGate *gate, const char *color,
                      double width)
{
    double points[2 * (RING + 1)];
    for (int k = 0; k <= RING; k++) {
        Point at = seen(&scene->view, ring_point(scene, gate, 2.0 * FACET_PI * k / RING));
        points[2 * k] = at.x;
        points[2 * k + 1] = at.y;
    }
    svg_curve(svg, points, RING + 1, color, width, NULL, NULL);
}

// Gates turn to the colour of a passed one as the vehicle goes through.
static void draw_gates(Svg *svg, const Scene *scene)
{
    for (int i = 0; i < scene->track->gate_count; i++) {
        const FacetCourseGate *gate = &scene->track->gates[i];
        FacetVec3 c = gate->center, low = ring_point(scene, gate, -0.5 * FACET_PI);
        FacetVec3 high = ring_point(scene, gate, 0.5 * FACET_PI);
        Point foot = seen(&scene->view, vec3(c.x, c.y, 0)), rim = seen(&scene->view, low);
        Point label = seen(&scene->view, high);
        char number[8];
        snprintf(number, sizeof number, "%d", i + 1);
        svg_line(svg, foot.x, foot.y, rim.x, rim.y, "gate", 1.5, NULL);
        draw_ring(svg, scene, gate, "gate", 2.5);
        svg_print(svg, "<g>");
        draw_ring(svg, scene, gate, "pass", 3.5);
        shown_between(svg, scene, DENOISING + scene->flight->result.flight.gates[i].time,
                      scene->length);
        svg_print(svg, "</g>");
        svg_text(svg, label.x, label.y - 6, SVG_MIDDLE, 13, "muted", number);
    }
}

static void put_chunk(Svg *svg, const Scene *scene, const double *chunk)
{
    for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++) {
        const double *key = chunk + FACET_CHUNK_CHANNELS * k;
        Point at = seen(&scene->view, vec3(key[0], key[1], key[2]));
        svg_print(svg, "%s%.1f,%.1f", k ? " " : "", at.x, at.y);
    }
}

// The way of the task's plan from noise, if the report has it.
static const double *chunk_at(const Scene *scene, int step)
{
    const ReportDenoising *way = &scene->report->denoising;
    for (int i = 0; i < way->count; i++)
        if (way->method == scene->method && way->tasks[i].track == scene->task.track &&
            way->tasks[i].opening == scene->task.opening)
            return way->path + ((size_t)step * (size_t)way->count + (size_t)i) *
                                   FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS;
    return NULL;
}

static void draw_plan(Svg *svg, const Scene *scene)
{
    int steps = scene->report->denoising.steps;
    if (steps < 1 || !chunk_at(scene, steps)) return;
    int frames = steps < FRAMES_MAX - 1 ? steps : FRAMES_MAX - 1;
    svg_print(svg, "<polyline class=\"s-accent\" fill=\"none\" stroke=\"#0550ae\" "
                   "stroke-width=\"1.6\" stroke-dasharray=\"2 4\" stroke-linecap=\"round\" "
                   "points=\"");
    put_chunk(svg, scene, chunk_at(scene, steps));
    svg_print(svg, "\">");
    animate_begin(svg, scene, "points", "linear");
    key_time(svg, scene, 0.0);
    for (int i = 0; i <= frames; i++)
        key_time(svg, scene, NOISE_HELD + (DENOISING - NOISE_HELD - 0.3) * i / frames);
    key_time(svg, scene, scene->length);
    svg_print(svg, "\" values=\"");
    put_chunk(svg, scene, chunk_at(scene, 0));
    for (int i = 0; i <= frames; i++) {
        svg_print(svg, ";");
        put_chunk(svg, scene, chunk_at(scene, steps * i / frames));
    }
    svg_print(svg, ";");
    put_chunk(svg, scene, chunk_at(scene, steps));
    svg_print(svg, "\"/></polyline>");
}

// The flown path grows behind the vehicle: an offset of its dash, as long as all of it.
static void draw_trail(Svg *svg, const Scene *scene)
{
    const ReportFlight *flight = scene->flight;
    const ReportMethod *method = &report_methods[scene->method];
    double total = 0.0, flown = 0.0;
    svg_print(svg,
              "<polyline class=\"s-%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"3\" "
              "stroke-linejoin=\"round\" pathLength=\"1\" stroke-dasharray=\"1\" points=\"",
              method->id, method->light);
    Point before = seen(&scene->view, place(flight->positions, 0));
    for (int i = 0; i < flight->samples; i++) {
        Point at = seen(&scene->view, place(flight->positions, i));
        svg_print(svg, "%s%.1f,%.1f", i ? " " : "", at.x, at.y);
        total += hypot(at.x - before.x, at.y - before.y);
        before = at;
    }
    svg_print(svg, "\">");
    animate_begin(svg, scene, "stroke-dashoffset", "linear");
    flight_times(svg, scene);
    svg_print(svg, "1");
    before = seen(&scene->view, place(flight->positions, 0));
    for (int i = 0; i < flight->samples; i++) {
        Point at = seen(&scene->view, place(flight->positions, i));
        flown += hypot(at.x - before.x, at.y - before.y);
        before = at;
        if (i % STRIDE == 0) svg_print(svg, ";%.4g", fmax(1.0 - flown / total, 0.0));
    }
    svg_print(svg, ";0\"/></polyline>");
}

// Its arms as seen, three times their size: front to rear, one by one.
static void put_arms(Svg *svg, const Scene *scene, int sample)
{
    static const double ends[4][2] = {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    const double *q = scene->flight->attitudes + 4 * (size_t)sample, reach_m = 0.42;
    const Mat3 attitude = quat_to_mat3((FacetQuat){q[0], q[1], q[2], q[3]});
    FacetVec3 center = place(scene->flight->positions, sample);
    for (int i = 0; i < 4; i++) {
        FacetVec3 body = vec3(reach_m * ends[i][0], reach_m * ends[i][1], 0.0);
        Point at = seen(&scene->view, vec3_add(center, mat3_mul_vec3(attitude, body)));
        svg_print(svg, "%c%.1f %.1f", i % 2 ? 'L' : 'M', at.x, at.y);
    }
}

// Two arms with a disc at each of their ends.
static void draw_drone(Svg *svg, const Scene *scene)
{
    const ReportMethod *method = &report_methods[scene->method];
    svg_print(svg,
              "<marker id=\"flight-rotor\" viewBox=\"-4 -4 8 8\" markerWidth=\"3.4\" "
              "markerHeight=\"3.4\"><circle class=\"f-%s\" fill=\"%s\" r=\"3.6\"/></marker>"
              "<path class=\"s-%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" "
              "marker-start=\"url(#flight-rotor)\" marker-mid=\"url(#flight-rotor)\" "
              "marker-end=\"url(#flight-rotor)\" d=\"",
              method->id, method->light, method->id, method->light);
    put_arms(svg, scene, scene->flight->samples - 1);
    svg_print(svg, "\">");
    animate_begin(svg, scene, "d", "linear");
    flight_times(svg, scene);
    put_arms(svg, scene, 0);
    for (int i = 0; i < scene->flight->samples; i += STRIDE) {
        svg_print(svg, ";");
        put_arms(svg, scene, i);
    }
    svg_print(svg, ";");
    put_arms(svg, scene, scene->flight->samples - 1);
    svg_print(svg, "\"/></path>");
}

static void draw_words(Svg *svg, const Scene *scene)
{
    char text[160], name[REPORT_TASK_NAME];
    int gates = scene->track->gate_count;
    report_task_name(name, scene->report, scene->task);
    snprintf(text, sizeof text, "%s: training never showed this track with this opening", name);
    svg_text(svg, 16, 28, SVG_START, 16, "ink", text);
    svg_print(svg, "<g opacity=\"0\">");
    svg_text(svg, 16, 50, SVG_START, 14, "muted", "The plan, from noise to path");
    shown_between(svg, scene, 0.0, DENOISING);
    svg_print(svg, "</g><g>");
    svg_text(svg, 16, 50, SVG_START, 14, "muted", "Its flight, in real time");
    shown_between(svg, scene, DENOISING, scene->length);
    svg_print(svg, "</g>");
    for (int i = 0; i <= gates; i++) {
        const FacetPassage *passages = scene->flight->result.flight.gates;
        double from = i ? DENOISING + passages[i - 1].time : DENOISING;
        double until = i < gates ? DENOISING + passages[i].time : scene->length;
        snprintf(text, sizeof text, "%d of %d gates", i, gates);
        svg_print(svg, "<g opacity=\"%d\">", i == gates);
        svg_text(svg, WIDTH - 16, 28, SVG_END, 16, i == gates ? "pass" : "ink", text);
        shown_between(svg, scene, from, until);
        svg_print(svg, "</g>");
    }
}

FacetStatus report_write_animation(const char *folder, const Report *report)
{
    Scene scene = {0};
    if (!report->race || !choose(&scene, report)) return status_ok();
    aim(&scene);
    Svg svg;
    svg_begin(&svg, "flight", WIDTH, HEIGHT, "A flight of a task that training never showed",
              "A plan forms from noise, and a quadrotor flies it through the gates.");
    draw_ground(&svg, &scene);
    draw_gates(&svg, &scene);
    draw_plan(&svg, &scene);
    draw_trail(&svg, &scene);
    draw_drone(&svg, &scene);
    draw_words(&svg, &scene);
    char *text = svg_end(&svg), path[FILE_PATH_MAX];
    if (!text) return status_fail(FACET_NO_MEMORY, "out of memory for the moving figure");
    snprintf(path, sizeof path, "%.900s/flight.svg", folder);
    FacetStatus status = file_write(path, text, strlen(text));
    free(text);
    return status;
}
