// Drawing figures as SVG text (see svg.h).
#include "report/svg.h"

#include "base/text.h"
#include "report/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- Colours ------------------------------------------------------------------------------------

static const SvgColor own_colors[] = {
    {"ink", "#1f2328", "#e6edf3"},  {"muted", "#59636e", "#9aa4af"},
    {"grid", "#d8dee4", "#30363d"}, {"bg", "#ffffff", "#0d1117"},
    {"gate", "#8c959f", "#768390"}, {"accent", "#0550ae", "#6cb0ff"},
    {"pass", "#11734b", "#45d39a"}, {"miss", "#c4320a", "#ff8f57"},
};
enum { OWN_COLORS = sizeof own_colors / sizeof *own_colors };

const SvgColor *svg_color(int index)
{
    static SvgColor of_methods[REPORT_METHODS];
    if (index < OWN_COLORS) return &own_colors[index];
    int method = index - OWN_COLORS;
    if (method >= REPORT_METHODS) return NULL;
    of_methods[method] = (SvgColor){report_methods[method].id, report_methods[method].light,
                                    report_methods[method].dark};
    return &of_methods[method];
}

static const char *light_of(const char *id)
{
    const SvgColor *color;
    for (int i = 0; (color = svg_color(i)); i++)
        if (strcmp(color->id, id) == 0) return color->light;
    return "none";
}

// ---- Text ---------------------------------------------------------------------------------------

void svg_print(Svg *svg, const char *format, ...)
{
    if (!svg->out) return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(svg->out, format, arguments);
    va_end(arguments);
}

void svg_escape(Svg *svg, const char *text)
{
    while (*text) {
        int length = text_character(text);
        unsigned char c = (unsigned char)*text;
        if (length == 0 || (c < ' ' && c != '\n'))
            svg_print(svg, "?"), text++;
        else if (strchr("<>&\"'\n", c))
            svg_print(svg, "&#%d;", c), text++;
        else
            svg_print(svg, "%.*s", length, text), text += length;
    }
}

// A coordinate with at most one decimal.
static void put(Svg *svg, double value)
{
    double tenths = round(value * 10.0);
    if (fmod(tenths, 10.0) == 0.0)
        svg_print(svg, "%.0f", tenths / 10.0 + 0.0);
    else
        svg_print(svg, "%.1f", tenths / 10.0);
}

static void attribute(Svg *svg, const char *name, double value)
{
    svg_print(svg, " %s=\"", name);
    put(svg, value);
    svg_print(svg, "\"");
}

static void stroke(Svg *svg, const char *color, double width, const char *dash)
{
    svg_print(svg, " class=\"s-%s\" stroke=\"%s\" stroke-width=\"%g\"", color, light_of(color),
              width);
    if (dash && dash[0]) svg_print(svg, " stroke-dasharray=\"%s\"", dash);
}

static void fill(Svg *svg, const char *color)
{
    svg_print(svg, " class=\"f-%s\" fill=\"%s\"", color, light_of(color));
}

static void tip_attribute(Svg *svg, const char *tip)
{
    if (!tip) return;
    svg_print(svg, " data-tip=\"");
    svg_escape(svg, tip);
    svg_print(svg, "\"");
}

// ---- The document -------------------------------------------------------------------------------

static void style(Svg *svg)
{
    const SvgColor *color;
    svg_print(svg, "%s",
              "<style>.facet-figure text{font-family:system-ui,-apple-system,\"Segoe UI\","
              "\"Liberation Sans\",Arial,sans-serif}@media (prefers-color-scheme:dark){");
    for (int i = 0; (color = svg_color(i)); i++)
        svg_print(svg, ".facet-figure .s-%s{stroke:%s}.facet-figure .f-%s{fill:%s}", color->id,
                  color->dark, color->id, color->dark);
    svg_print(svg, "}</style>");
}

// Stripes of every colour that a bar may have.
static void hatches(Svg *svg, const char *id)
{
    const SvgColor *color;
    svg_print(svg, "<defs>");
    for (int i = 0; (color = svg_color(i)); i++) {
        svg_print(svg,
                  "<pattern id=\"%s-hatch-%s\" width=\"6\" height=\"6\" "
                  "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
                  "<rect width=\"6\" height=\"6\" opacity=\"0.18\"",
                  id, color->id);
        fill(svg, color->id);
        svg_print(svg, "/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\"");
        stroke(svg, color->id, 5, NULL);
        svg_print(svg, "/></pattern>");
    }
    svg_print(svg, "</defs>");
}

void svg_begin(Svg *svg, const char *id, double width, double height, const char *title,
               const char *description)
{
    *svg = (Svg){.id = id};
    svg->out = open_memstream(&svg->text, &svg->size);
    svg_print(svg,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"facet-figure\" viewBox=\"0 0 %g "
              "%g\" width=\"%g\" height=\"%g\" role=\"img\" fill=\"none\"><title>",
              width, height, width, height);
    svg_escape(svg, title);
    svg_print(svg, "</title><desc>");
    svg_escape(svg, description);
    svg_print(svg, "</desc>");
    style(svg);
    hatches(svg, id);
    svg_print(svg, "<rect width=\"%g\" height=\"%g\"", width, height);
    fill(svg, "bg");
    svg_print(svg, "/>");
}

char *svg_end(Svg *svg)
{
    svg_print(svg, "</svg>\n");
    if (!svg->out) return NULL;
    bool failed = svg->lost || ferror(svg->out);
    if (fclose(svg->out) == 0 && !failed) return svg->text;
    free(svg->text);
    return NULL;
}

// ---- Shapes -------------------------------------------------------------------------------------

static const char *const anchors[] = {"start", "middle", "end"};

void svg_text(Svg *svg, double x, double y, SvgAnchor anchor, double size, const char *color,
              const char *text)
{
    svg_print(svg, "<text");
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    svg_print(svg, " text-anchor=\"%s\" font-size=\"%g\" font-family=\"sans-serif\"",
              anchors[anchor], size);
    fill(svg, color);
    svg_print(svg, ">");
    svg_escape(svg, text);
    svg_print(svg, "</text>");
}

void svg_text_upwards(Svg *svg, double x, double y, SvgAnchor anchor, double size,
                      const char *color, const char *text)
{
    svg_print(svg,
              "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"%s\" "
              "font-size=\"%g\" font-family=\"sans-serif\"",
              x, y, anchors[anchor], size);
    fill(svg, color);
    svg_print(svg, ">");
    svg_escape(svg, text);
    svg_print(svg, "</text>");
}

void svg_line(Svg *svg, double x1, double y1, double x2, double y2, const char *color, double width,
              const char *dash)
{
    svg_print(svg, "<line");
    attribute(svg, "x1", x1);
    attribute(svg, "y1", y1);
    attribute(svg, "x2", x2);
    attribute(svg, "y2", y2);
    stroke(svg, color, width, dash);
    svg_print(svg, "/>");
}

static void rectangle(Svg *svg, double x, double y, double width, double height)
{
    svg_print(svg, "<rect");
    attribute(svg, "x", x);
    attribute(svg, "y", y);
    attribute(svg, "width", width);
    attribute(svg, "height", height);
}

void svg_bar(Svg *svg, double x, double y, double width, double height, const char *color,
             bool hatched, const char *tip)
{
    rectangle(svg, x, y, width, height);
    if (hatched)
        svg_print(svg, " fill=\"url(#%s-hatch-%s)\"", svg->id, color);
    else
        fill(svg, color);
    tip_attribute(svg, tip);
    svg_print(svg, "/>");
}

void svg_box(Svg *svg, double x, double y, double width, double height, const char *color,
             double line, const char *dash)
{
    rectangle(svg, x, y, width, height);
    stroke(svg, color, line, dash);
    svg_print(svg, "/>");
}

void svg_dot(Svg *svg, double x, double y, double radius, const char *color, const char *tip)
{
    svg_print(svg, "<circle");
    attribute(svg, "cx", x);
    attribute(svg, "cy", y);
    attribute(svg, "r", radius);
    svg_print(svg, " class=\"f-%s s-bg\" fill=\"%s\" stroke=\"%s\"", color, light_of(color),
              light_of("bg")); // a rim sets it off from what lies behind
    tip_attribute(svg, tip);
    svg_print(svg, "/>");
}

// The points of a line or an area, [count][2].
static void put_points(Svg *svg, const double *points, int count)
{
    svg_print(svg, " points=\"");
    for (int i = 0; i < 2 * count; i++) {
        if (i > 0) svg_print(svg, " ");
        put(svg, points[i]);
    }
    svg_print(svg, "\"");
}

void svg_diamond(Svg *svg, double x, double y, double radius, const char *color, const char *tip)
{
    const double points[] = {x, y - radius, x + radius, y, x, y + radius, x - radius, y};
    svg_print(svg, "<polygon");
    put_points(svg, points, 4);
    svg_print(svg, " class=\"s-%s f-bg\" stroke=\"%s\" stroke-width=\"1.8\" fill=\"%s\"", color,
              light_of(color), light_of("bg"));
    tip_attribute(svg, tip);
    svg_print(svg, "/>");
}

void svg_ellipse(Svg *svg, double x, double y, double rx, double ry, const char *color,
                 double width, const char *dash, const char *tip)
{
    svg_print(svg, "<ellipse");
    attribute(svg, "cx", x);
    attribute(svg, "cy", y);
    attribute(svg, "rx", rx);
    attribute(svg, "ry", ry);
    stroke(svg, color, width, dash);
    tip_attribute(svg, tip);
    svg_print(svg, "/>");
}

void svg_polygon(Svg *svg, const double *points, int count, const char *color, const char *tip)
{
    svg_print(svg, "<polygon");
    put_points(svg, points, count);
    fill(svg, color);
    tip_attribute(svg, tip);
    svg_print(svg, "/>");
}

void svg_curve(Svg *svg, const double *points, int count, const char *color, double width,
               const char *dash, const char *tip)
{
    svg_print(svg, "<polyline");
    put_points(svg, points, count);
    svg_print(svg, " stroke-linejoin=\"round\"");
    stroke(svg, color, width, dash);
    tip_attribute(svg, tip);
    svg_print(svg, "/>");
}

void svg_clip_begin(Svg *svg, int number, double x, double y, double width, double height)
{
    svg_print(svg, "<clipPath id=\"%s-clip-%d\">", svg->id, number);
    rectangle(svg, x, y, width, height);
    svg_print(svg, "/></clipPath><g clip-path=\"url(#%s-clip-%d)\">", svg->id, number);
}

void svg_clip_end(Svg *svg) { svg_print(svg, "</g>"); }

void svg_method_begin(Svg *svg, const char *method)
{
    svg_print(svg, "<g class=\"method\" data-method=\"%s\">", method);
}

void svg_method_end(Svg *svg) { svg_print(svg, "</g>"); }

// ---- Plots --------------------------------------------------------------------------------------

// The round number nearest above: 1, 2 or 5 times a power of ten.
static double round_step(double step)
{
    double decade = pow(10.0, floor(log10(step))), share = step / decade;
    return decade * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

Axis axis_round(double min, double max, int marks)
{
    if (!(max - min > 1e-9)) max = min + 1.0;
    double tick = round_step((max - min) / marks);
    return (Axis){floor(min / tick + 1e-9) * tick, ceil(max / tick - 1e-9) * tick, tick, false};
}

Axis axis_exact(double min, double max, double tick) { return (Axis){min, max, tick, false}; }

Axis axis_decades(double min, double max)
{
    double low = floor(log10(min) + 1e-9), high = ceil(log10(max) - 1e-9);
    return (Axis){pow(10.0, low), pow(10.0, high > low ? high : low + 1.0), 0.0, true};
}

static double share_of(const Axis *axis, double value)
{
    if (axis->logarithmic)
        return log(fmin(fmax(value, axis->min), axis->max) / axis->min) /
               log(axis->max / axis->min);
    return (value - axis->min) / (axis->max - axis->min);
}

double plot_x(const Plot *plot, double value)
{
    return plot->left + plot->width * share_of(&plot->x, value);
}

double plot_y(const Plot *plot, double value)
{
    return plot->top + plot->height * (1.0 - share_of(&plot->y, value));
}

// The k-th mark of an axis. False past the last.
static bool mark_at(double *value, const Axis *axis, int k)
{
    *value = axis->logarithmic ? axis->min * pow(10.0, k)
                               : (ceil(axis->min / axis->tick - 1e-6) + k) * axis->tick;
    return *value <= axis->max * (1.0 + 1e-9) + 1e-9;
}

static void mark_text(char out[32], const Axis *axis, double value)
{
    if (axis->logarithmic && (value >= 1e5 || value <= 1e-4))
        snprintf(out, 32, "%.0e", value);
    else if (fabs(value) < 1e-9)
        snprintf(out, 32, "0");
    else
        snprintf(out, 32, "%.6g", value);
}

void plot_frame(Svg *svg, const Plot *plot, const char *name_x, const char *name_y)
{
    char text[32];
    double bottom = plot->top + plot->height, right = plot->left + plot->width, value;
    for (int k = 0; name_y[0] && mark_at(&value, &plot->y, k); k++) {
        double y = plot_y(plot, value);
        svg_line(svg, plot->left, y, right, y, "grid", 1, NULL);
        mark_text(text, &plot->y, value);
        svg_text(svg, plot->left - 6, y + 4, SVG_END, 12, "muted", text);
    }
    for (int k = 0; name_x[0] && mark_at(&value, &plot->x, k); k++) {
        double x = plot_x(plot, value);
        svg_line(svg, x, plot->top, x, bottom, "grid", 1, NULL);
        mark_text(text, &plot->x, value);
        svg_text(svg, x, bottom + 17, SVG_MIDDLE, 12, "muted", text);
    }
    svg_line(svg, plot->left, bottom, right, bottom, "muted", 1, NULL);
    svg_line(svg, plot->left, plot->top, plot->left, bottom, "muted", 1, NULL);
    if (name_x[0])
        svg_text(svg, plot->left + plot->width / 2, bottom + 36, SVG_MIDDLE, 13, "ink", name_x);
    if (name_y[0])
        svg_text_upwards(svg, plot->left - (plot->y.logarithmic && plot->y.min < 1e-3 ? 54 : 42),
                         plot->top + plot->height / 2, SVG_MIDDLE, 13, "ink", name_y);
}

double legend_line(Svg *svg, double x, double y, const char *color, double width, const char *dash,
                   const char *text)
{
    svg_line(svg, x, y - 4, x + 24, y - 4, color, width, dash);
    svg_text(svg, x + 30, y, SVG_START, 13, "ink", text);
    return x + 30 + 7.2 * text_width(text) + 18;
}
