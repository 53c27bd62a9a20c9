// The figure of leave-one-pair-out: how far off the plans of each pair are that training did not
// show, and the bound for a new one.
#include "report/figures.h"

#include <math.h>

enum { WIDTH = 960, LEFT = 66, TOP = 62, HEIGHT = 250, LABELS = 128, GAP = 26 };

static const char *const colors[] = {"ours_composed", "factored_composed", "oracle", "knet"};
enum { COLORS = sizeof colors / sizeof *colors };

// Where the pairs stand: those left out, then those that the course holds out.
typedef struct PairColumns {
    int left_out, held_out;
    double step; // px a column
} PairColumns;

static double pair_x(const PairColumns *columns, int i)
{
    return LEFT + columns->step * (i + 0.5) + (i >= columns->left_out ? GAP : 0);
}

// The largest error of a keypoint of any pair, or of a bound that is larger.
static double largest_error(Report *report, const JsonRef *recipes)
{
    static const char *const lists[] = {"pairs", "bounds", "check"};
    double most = 0.0;
    for (int i = 0; i < input_length(recipes); i++)
        for (int k = 0; k < 3; k++) {
            JsonRef recipe = input_element(recipes, i), list = input_member(&recipe, lists[k]);
            Summary errors = input_summary(report, &list, "largest_m", false);
            if (errors.count > 0) most = fmax(most, errors.most);
        }
    return most;
}

static void draw_names(Svg *svg, const PairColumns *columns, const JsonRef *recipe)
{
    JsonRef pairs = input_member(recipe, "pairs"), check = input_member(recipe, "check");
    for (int i = 0; i < columns->left_out + columns->held_out; i++) {
        bool held_out = i >= columns->left_out;
        JsonRef pair = input_element(held_out ? &check : &pairs, i - held_out * columns->left_out);
        char name[80];
        snprintf(name, sizeof name, "%.32s/%.32s", input_text(&pair, "track"),
                 input_text(&pair, "size"));
        svg_text_upwards(svg, pair_x(columns, i) + 4, TOP + HEIGHT + 8, SVG_END, 12, "ink", name);
    }
    svg_text(svg, LEFT + 4, TOP - 10, SVG_START, 13, "muted", "left out of training in turn");
    if (columns->held_out == 0) return;
    double x = pair_x(columns, columns->left_out) - 0.5 * columns->step;
    svg_text(svg, x + 2, TOP - 10, SVG_START, 13, "muted", "held out: the check");
    svg_line(svg, x - 0.5 * GAP, TOP - 22, x - 0.5 * GAP, TOP + HEIGHT, "muted", 1, "4 4");
}

static void draw_recipe(Svg *svg, const Plot *plot, Report *report, const PairColumns *columns,
                        const JsonRef *recipe, int number, int recipes)
{
    JsonRef pairs = input_member(recipe, "pairs"), check = input_member(recipe, "check");
    JsonRef bounds = input_member(recipe, "bounds"), bound = input_element(&bounds, 0);
    const char *color = colors[number % COLORS];
    double radius = input_number(report, &bound, "largest_m");
    double aside = 0.3 * columns->step * (number - 0.5 * (recipes - 1));
    for (int i = 0; i < columns->left_out + columns->held_out; i++) {
        bool held_out = i >= columns->left_out;
        JsonRef pair = input_element(held_out ? &check : &pairs, i - held_out * columns->left_out);
        double error = input_number(report, &pair, "largest_m"), x = pair_x(columns, i) + aside;
        char tip[200];
        if (isnan(error)) continue;
        snprintf(tip, sizeof tip, "%.32s/%.32s: %.3f m at most, %.0f of %.0f gates",
                 input_text(&pair, "track"), input_text(&pair, "size"), error,
                 input_number(report, &pair, "passed"), input_number(report, &pair, "crossings"));
        if (held_out)
            svg_diamond(svg, x, plot_y(plot, error), 5, color, tip);
        else
            svg_dot(svg, x, plot_y(plot, error), 4.4, color, tip);
    }
    if (!isnan(radius))
        svg_line(svg, LEFT, plot_y(plot, radius), WIDTH - 14, plot_y(plot, radius), color, 1.6,
                 "6 4");
}

void figures_leave_one_out(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_LEAVE_ONE_OUT);
    JsonRef recipes = input_member(&root, "recipes"), first = input_element(&recipes, 0);
    JsonRef pairs = input_member(&first, "pairs"), check = input_member(&first, "check");
    PairColumns columns = {.left_out = input_length(&pairs), .held_out = input_length(&check)};
    int count = input_length(&recipes);
    double most = largest_error(report, &recipes), x = LEFT;
    const Figure figure = {"leave-one-out",
                           "certificates",
                           "Plans of pairs that training did not show",
                           "The largest distance of a keypoint from the expert's, of networks "
                           "that did not learn the pair. Dashed: the conformal bound for a new "
                           "pair, at the most that the pairs left out can speak for.",
                           WIDTH,
                           TOP + HEIGHT + LABELS + 20};
    if (!report->inputs[INPUT_LEAVE_ONE_OUT].document) return;
    if (columns.left_out == 0 || !(most > 0.0)) {
        figure_missing(list, &figure, "No pair was left out: run facet study leave-one-out.");
        return;
    }
    columns.step = (WIDTH - LEFT - 14.0 - GAP) / (columns.left_out + columns.held_out);
    const Plot plot = {.left = LEFT,
                       .top = TOP,
                       .width = WIDTH - LEFT - 14,
                       .height = HEIGHT,
                       .x = axis_exact(0.0, 1.0, 1.0),
                       .y = axis_round(0.0, most, 5)};
    Svg svg;
    svg_begin(&svg, figure.id, figure.width, figure.height, figure.title, figure.caption);
    svg_text(&svg, 14, 24, SVG_START, 16, "ink", figure.title);
    plot_frame(&svg, &plot, "", "largest distance (m)");
    draw_names(&svg, &columns, &first);
    for (int i = 0; i < count; i++) {
        JsonRef recipe = input_element(&recipes, i);
        char name[REPORT_RECIPE_NAME];
        draw_recipe(&svg, &plot, report, &columns, &recipe, i, count);
        report_recipe_name(name, report, &recipe);
        x = legend_line(&svg, x, TOP + HEIGHT + LABELS + 4, colors[i % COLORS], 2.2, "6 4", name);
    }
    figure_push(list, &figure, svg_end(&svg));
}
