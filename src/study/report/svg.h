// Drawing figures as SVG text.
//
// Every coloured thing has the light colour as an attribute and a class, s-ID for a stroke and f-ID
// for a fill, by which a style sheet gives it the dark one. All text is escaped here.
#ifndef FACET_REPORT_SVG_H
#define FACET_REPORT_SVG_H

#include <stdbool.h>
#include <stdio.h>

// ---- Colours ------------------------------------------------------------------------------------

typedef struct SvgColor {
    const char *id, *light, *dark;
} SvgColor;

// Those of figures ("ink", "muted", "grid", "bg", "gate", "accent", "pass", "miss"), then those of
// the methods. NULL past the last.
const SvgColor *svg_color(int index);

// ---- Drawing ------------------------------------------------------------------------------------

typedef struct Svg {
    FILE *out;
    char *text;
    size_t size;
    const char *id;
    bool lost; // a part of it, as memory ran out
} Svg;

// A figure of so many pixels, on the background's colour. The id begins the ids of its parts.
void svg_begin(Svg *svg, const char *id, double width, double height, const char *title,
               const char *description);
// The text, which the caller frees, or NULL when memory ran out for any part of it.
char *svg_end(Svg *svg);

void svg_escape(Svg *svg, const char *text);
void svg_print(Svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef enum SvgAnchor { SVG_START, SVG_MIDDLE, SVG_END } SvgAnchor;

void svg_text(Svg *svg, double x, double y, SvgAnchor anchor, double size, const char *color,
              const char *text);
void svg_text_upwards(Svg *svg, double x, double y, SvgAnchor anchor, double size,
                      const char *color, const char *text);
void svg_line(Svg *svg, double x1, double y1, double x2, double y2, const char *color, double width,
              const char *dash);

// A rectangle; `hatched` fills it with stripes instead. The tip may be NULL.
void svg_bar(Svg *svg, double x, double y, double width, double height, const char *color,
             bool hatched, const char *tip);
void svg_box(Svg *svg, double x, double y, double width, double height, const char *stroke,
             double line, const char *dash);
void svg_dot(Svg *svg, double x, double y, double radius, const char *color, const char *tip);
void svg_diamond(Svg *svg, double x, double y, double radius, const char *color, const char *tip);
void svg_ellipse(Svg *svg, double x, double y, double rx, double ry, const char *color,
                 double width, const char *dash, const char *tip);

// A filled area with corners [count][2].
void svg_polygon(Svg *svg, const double *points, int count, const char *color, const char *tip);

// A line through points [count][2].
void svg_curve(Svg *svg, const double *points, int count, const char *color, double width,
               const char *dash, const char *tip);

// What is drawn in between shows only within a rectangle. The number tells a figure's rectangles
// apart.
void svg_clip_begin(Svg *svg, int number, double x, double y, double width, double height);
void svg_clip_end(Svg *svg);

// What is drawn in between belongs to a method.
void svg_method_begin(Svg *svg, const char *method);
void svg_method_end(Svg *svg);

// ---- Plots --------------------------------------------------------------------------------------

typedef struct Axis {
    double min, max;
    double tick; // distance of the marks; unused by a logarithmic axis
    bool logarithmic;
} Axis;

// Round limits and marks around [min, max], about `marks` of them.
Axis axis_round(double min, double max, int marks);
Axis axis_exact(double min, double max, double tick);
Axis axis_decades(double min, double max); // both above 0

typedef struct Plot {
    double left, top, width, height; // px
    Axis x, y;
} Plot;

double plot_x(const Plot *plot, double value);
double plot_y(const Plot *plot, double value);

// Grid, marks with numbers and the axes' names; an empty name leaves the marks of its axis out.
void plot_frame(Svg *svg, const Plot *plot, const char *name_x, const char *name_y);

// One entry of a legend; returns where the next one begins.
double legend_line(Svg *svg, double x, double y, const char *color, double width, const char *dash,
                   const char *text);

#endif
