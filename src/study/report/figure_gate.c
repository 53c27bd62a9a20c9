// One figure a venue, as the left of the paper's figure of the single gate: flights from above.
//
// Bold is the flight whose frames the page shows, with a number where each was taken; blue flew
// through its gate, gray timed out and ends in a ring, red crashed and ends in a cross. The gate of
// the bold flight stands out. All venues are drawn to one scale.
#include "report/figures.h"
#include "report/gate_study.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 440, HEIGHT_MAX = 332, MARGIN = 6 };

#define GRID       5.0  // m
#define REACH      14.0 // m around the gates: what is farther out is not drawn
#define GATE_BAR   0.25 // m, of the frame
#define GATE_DEPTH 3.2  // px, half of what a gate is drawn with

static const char *const end_colors[] = {"accent", "miss", "gate"};
static const char *const end_words[] = {"through the gate", "crashed", "timed out"};

// ---- The map ------------------------------------------------------------------------------------

typedef struct Range {
    double min, max;
} Range;

static void include(Range *range, double value, Range limits)
{
    value = fmin(fmax(value, limits.min), limits.max);
    range->min = fmin(range->min, value);
    range->max = fmax(range->max, value);
}

static double along(FacetVec3 place, int axis) { return axis == 0 ? place.x : place.y; }

// What all flights and gates take up along an axis, with some air around.
static Range range_of(const GateStudy *study, int axis)
{
    const Range everywhere = {-INFINITY, INFINITY};
    Range gates = {INFINITY, -INFINITY};
    for (int i = 0; i < study->gate_count; i++)
        include(&gates, along(study->gates[i].center, axis), everywhere);
    if (study->gate_count == 0) gates = (Range){0.0, 0.0};
    const Range limits = {gates.min - REACH, gates.max + REACH};
    Range out = {gates.min - 2.0, gates.max + 2.0};
    for (int i = 0; i < study->flight_count; i++)
        for (int k = 0; k < study->flights[i].samples; k++)
            include(&out, along(study->flights[i].path[k], axis), limits);
    return (Range){out.min - 1.0, out.max + 1.0};
}

// A map of the venue as wide as the figure, or narrower where it would be too high.
static Plot map_of(const GateStudy *study)
{
    Range x = range_of(study, 0), y = range_of(study, 1);
    Plot map = {.left = MARGIN, .top = MARGIN, .width = WIDTH - 2.0 * MARGIN};
    double scale = map.width / (x.max - x.min);
    map.height = fmin(round(scale * (y.max - y.min)), HEIGHT_MAX);
    double wider = (map.width * (y.max - y.min) / map.height - (x.max - x.min)) / 2.0;
    map.x = axis_exact(x.min - wider, x.max + wider, GRID);
    map.y = axis_exact(y.min, y.max, GRID);
    return map;
}

static void draw_ground(Svg *svg, const Plot *map)
{
    double right = map->left + map->width, bottom = map->top + map->height;
    for (double x = ceil(map->x.min / GRID) * GRID; x <= map->x.max; x += GRID)
        svg_line(svg, plot_x(map, x), map->top, plot_x(map, x), bottom, "grid", 0.6, NULL);
    for (double y = ceil(map->y.min / GRID) * GRID; y <= map->y.max; y += GRID)
        svg_line(svg, map->left, plot_y(map, y), right, plot_y(map, y), "grid", 0.6, NULL);
}

static void draw_scale(Svg *svg, const Plot *map)
{
    double length = map->width * GRID / (map->x.max - map->x.min), y = map->top + map->height - 12;
    double left = map->left + 12;
    svg_line(svg, left, y, left + length, y, "muted", 1.5, NULL);
    svg_line(svg, left, y - 4, left, y + 4, "muted", 1.5, NULL);
    svg_line(svg, left + length, y - 4, left + length, y + 4, "muted", 1.5, NULL);
    svg_text(svg, left + length + 8, y + 4, SVG_START, 13, "muted", "5 m");
}

// ---- Gates --------------------------------------------------------------------------------------

// A rectangle across the way through a gate: so many pixels to each side and along it.
static void gate_area(Svg *svg, const Plot *map, const StudyGate *gate, double side, double depth,
                      const char *color, const char *tip)
{
    double flat = hypot(gate->normal.x, gate->normal.y);
    double nx = flat > 1e-6 ? gate->normal.x / flat : 1.0;
    double ny = flat > 1e-6 ? -gate->normal.y / flat : 0.0; // the picture's y points down
    double x = plot_x(map, gate->center.x), y = plot_y(map, gate->center.y);
    double sx = -ny * side, sy = nx * side, dx = nx * depth, dy = ny * depth;
    const double corners[] = {x + sx + dx, y + sy + dy, x - sx + dx, y - sy + dy,
                              x - sx - dx, y - sy - dy, x + sx - dx, y + sy - dy};
    svg_polygon(svg, corners, 4, color, tip);
}

// The frame as a filled rectangle, with the opening left free in it.
static void draw_gate(Svg *svg, const Plot *map, const GateStudy *study, int index, bool shown)
{
    const StudyGate *gate = &study->gates[index];
    double scale = map->width / (map->x.max - map->x.min);
    double opening = study->half_width * scale, bar = fmax(GATE_BAR * scale, 3.0);
    double depth = shown ? GATE_DEPTH + 1.0 : GATE_DEPTH;
    char tip[160];
    snprintf(tip, sizeof tip, "gate %.60s\nhalf-width %.3g m", gate->name, study->half_width);
    gate_area(svg, map, gate, opening + bar, depth, shown ? "ink" : "gate", tip);
    gate_area(svg, map, gate, opening, depth - 1.2, "bg", NULL);
}

// A gate's name stands where its frame ends, on the side that points up or to the right.
static void name_gate(Svg *svg, const Plot *map, const GateStudy *study, int index, bool shown)
{
    const StudyGate *gate = &study->gates[index];
    double flat = fmax(hypot(gate->normal.x, gate->normal.y), 1e-6);
    double ax = -gate->normal.y / flat, ay = gate->normal.x / flat;
    double sign = ay > 0.3 || (ay > -0.3 && ax > 0.0) ? 1.0 : -1.0;
    double scale = map->width / (map->x.max - map->x.min);
    double off = study->half_width + GATE_BAR + 11.0 / scale;
    svg_text(svg, plot_x(map, gate->center.x + sign * off * ax),
             plot_y(map, gate->center.y + sign * off * ay) + 4.5, SVG_MIDDLE, 12,
             shown ? "ink" : "muted", gate->name);
}

// ---- Flights ------------------------------------------------------------------------------------

static void draw_end(Svg *svg, double x, double y, FacetGateEnd end)
{
    double r = 3.5;
    if (end == FACET_GATE_CRASH) {
        svg_line(svg, x - r, y - r, x + r, y + r, end_colors[end], 1.8, NULL);
        svg_line(svg, x - r, y + r, x + r, y - r, end_colors[end], 1.8, NULL);
    } else if (end == FACET_GATE_TIMEOUT) {
        svg_ellipse(svg, x, y, r, r, end_colors[end], 1.5, NULL, NULL);
    }
}

static void draw_flight(Svg *svg, const Plot *map, const GateStudy *study, int index, bool bold)
{
    const StudyFlight *flight = &study->flights[index];
    const char *color = end_colors[flight->end];
    double *points = calloc(2 * (size_t)flight->samples, sizeof *points);
    if (!points) {
        svg->lost = true;
        return;
    }
    for (int i = 0; i < flight->samples; i++) {
        points[2 * i] = plot_x(map, flight->path[i].x);
        points[2 * i + 1] = plot_y(map, flight->path[i].y);
    }
    const double *last = points + 2 * (flight->samples - 1);
    char tip[256];
    snprintf(tip, sizeof tip, "%.40s gate %.40s, side %.10s\n%s after %.1f s", flight->color,
             study->gates[flight->gate].name, flight->side, end_words[flight->end],
             flight->duration);
    svg_curve(svg, points, flight->samples, color, bold ? 3.4 : 1.3, NULL, tip);
    svg_dot(svg, points[0], points[1], bold ? 4.5 : 2.8, color, NULL);
    draw_end(svg, last[0], last[1], flight->end);
    free(points);
}

// Where the frames were taken, numbered.
static void draw_stations(Svg *svg, const Plot *map, const GateStudy *study,
                          const StudyVenue *venue)
{
    const StudyFlight *flight = &study->flights[venue->shown];
    for (int i = STUDY_FRAMES - 1; i >= 0; i--) {
        FacetVec3 at = study_position(flight, venue->times[i]);
        double x = plot_x(map, at.x), y = plot_y(map, at.y);
        char number[12], tip[64];
        snprintf(number, sizeof number, "%d", i + 1);
        snprintf(tip, sizeof tip, "frame %d, at %.1f s", i + 1, venue->times[i]);
        svg_dot(svg, x, y, 7.5, end_colors[flight->end], tip);
        svg_text(svg, x, y + 4.0, SVG_MIDDLE, 11, "bg", number);
    }
}

// ---- Figures ------------------------------------------------------------------------------------

static char *draw_venue(const Figure *figure, const Plot *map, const GateStudy *study, int index)
{
    const StudyVenue *venue = &study->venues[index];
    int target = venue->shown >= 0 ? study->flights[venue->shown].gate : -1;
    static const FacetGateEnd order[] = {FACET_GATE_TIMEOUT, FACET_GATE_CRASH, FACET_GATE_SUCCESS};
    Svg svg;
    svg_begin(&svg, figure->id, figure->width, figure->height, figure->title, figure->caption);
    svg_clip_begin(&svg, 0, map->left, map->top, map->width, map->height);
    draw_ground(&svg, map);
    for (int g = 0; g < study->gate_count; g++)
        if (g != target) draw_gate(&svg, map, study, g, false);
    for (int e = 0; e < 3; e++)
        for (int i = 0; i < study->flight_count; i++) {
            const StudyFlight *flight = &study->flights[i];
            if (flight->venue == index && flight->end == order[e] && i != venue->shown)
                draw_flight(&svg, map, study, i, false);
        }
    if (target >= 0) draw_gate(&svg, map, study, target, true);
    for (int g = 0; g < study->gate_count; g++) name_gate(&svg, map, study, g, g == target);
    if (venue->shown >= 0) {
        draw_flight(&svg, map, study, venue->shown, true);
        draw_stations(&svg, map, study, venue);
    }
    draw_scale(&svg, map);
    svg_clip_end(&svg);
    return svg_end(&svg);
}

void figures_gate(Json *list, const Report *report)
{
    const GateStudy *study = report->gate;
    if (!study || study->flight_count == 0) return;
    Plot map = map_of(study);
    for (int i = 0; i < study->venue_count; i++) {
        const StudyVenue *venue = &study->venues[i];
        FacetGateTally flown = study_flown(study, i);
        char id[STUDY_ID], title[160], caption[640];
        study_figure_id(id, study, i);
        snprintf(title, sizeof title, "%.80s from above%s", venue->name,
                 venue->held_out ? ", zero-shot" : "");
        snprintf(caption, sizeof caption,
                 "%d flights: %d through the gate (blue), %d timed out (gray, ending in a ring), "
                 "%d crashed (red, ending in a cross). A dot is a start; bold is the flight whose "
                 "frames are shown, with the places of the frames.",
                 flown.trials, flown.ends[FACET_GATE_SUCCESS], flown.ends[FACET_GATE_TIMEOUT],
                 flown.ends[FACET_GATE_CRASH]);
        const Figure figure = {id, "gate", title, caption, WIDTH, map.height + 2.0 * MARGIN};
        figure_push(list, &figure, draw_venue(&figure, &map, study, i));
    }
}
