// Drawing: escaped texts, round axes, points where they belong.
#include "report/svg.h"
#include "testing.h"

#include <stdlib.h>

static char *escaped(const char *text)
{
    Svg svg = {0};
    svg.out = open_memstream(&svg.text, &svg.size);
    assert_non_null(svg.out);
    svg_escape(&svg, text);
    assert_int_equal(fclose(svg.out), 0);
    return svg.text;
}

static void assert_escaped(const char *text, const char *expected)
{
    char *out = escaped(text);
    assert_string_equal(out, expected);
    free(out);
}

static void texts_cannot_leave_their_place(void **state)
{
    (void)state;
    assert_escaped("plain – ε", "plain – ε");
    assert_escaped("<a b=\"c\" d='e'>&amp;", "&#60;a b=&#34;c&#34; d=&#39;e&#39;&#62;&#38;amp;");
    assert_escaped("two\nlines", "two&#10;lines");
    assert_escaped("\x01\x1b[31m", "??[31m"); // XML has no place for these
    assert_escaped("\xff\xc3.", "??.");
}

static void axes_are_round(void **state)
{
    (void)state;
    Axis axis = axis_round(0.03, 9.7, 5);
    assert_near(axis.min, 0.0, 0.0);
    assert_near(axis.max, 10.0, 1e-12);
    assert_near(axis.tick, 2.0, 1e-12);
    axis = axis_round(-0.31, 0.18, 5);
    assert_near(axis.min, -0.4, 1e-12);
    assert_near(axis.max, 0.2, 1e-12);
    assert_near(axis.tick, 0.1, 1e-12);
    axis = axis_round(3.0, 3.0, 4); // nothing to span
    assert_true(axis.max > axis.min && axis.tick > 0.0);
    axis = axis_decades(0.2, 35.0);
    assert_near(axis.min, 0.1, 1e-12);
    assert_near(axis.max, 100.0, 1e-9);
    axis = axis_decades(1.0, 1.0);
    assert_near(axis.max / axis.min, 10.0, 1e-9);
}

static void values_fall_into_the_frame(void **state)
{
    (void)state;
    Plot plot = {.left = 100, .top = 50, .width = 200, .height = 80};
    plot.x = axis_exact(-1.0, 1.0, 0.5);
    plot.y = axis_decades(1.0, 100.0);
    assert_near(plot_x(&plot, -1.0), 100.0, 1e-9);
    assert_near(plot_x(&plot, 0.5), 250.0, 1e-9);
    assert_near(plot_y(&plot, 1.0), 130.0, 1e-9);
    assert_near(plot_y(&plot, 10.0), 90.0, 1e-9);
    assert_near(plot_y(&plot, 1e9), 50.0, 1e-9); // held at the frame
    assert_near(plot_y(&plot, 0.0), 130.0, 1e-9);
}

// All texts of a drawing, in their order, with a space between two.
static void texts_of(char *out, const char *svg)
{
    *out = '\0';
    for (const char *at = svg; (at = strstr(at, "<text")); at++) {
        const char *text = strchr(at, '>') + 1;
        if (*out) strcat(out, " ");
        strncat(out, text, strcspn(text, "<"));
    }
}

static void assert_marks(Axis axis, const char *expected)
{
    const Plot plot = {.width = 200, .height = 80, .x = axis, .y = axis_exact(0.0, 1.0, 1.0)};
    char texts[200];
    Svg svg;
    svg_begin(&svg, "fig", 200, 80, "", "");
    plot_frame(&svg, &plot, "name", "");
    char *drawing = svg_end(&svg);
    texts_of(texts, drawing);
    assert_string_equal(texts, expected);
    free(drawing);
}

static void marks_stand_at_all_round_numbers_of_an_axis(void **state)
{
    (void)state;
    assert_marks(axis_exact(0.0, 1.0, 0.5), "0 0.5 1 name");
    assert_marks(axis_exact(0.2, 1.2, 0.5), "0.5 1 name"); // its ends are no round numbers
    // -0.3 / 0.1 is a little more than -3, and still has its mark.
    assert_marks(axis_exact(-0.3, 0.3, 0.1), "-0.3 -0.2 -0.1 0 0.1 0.2 0.3 name");
    assert_marks(axis_decades(0.1, 10.0), "0.1 1 10 name");
}

static void every_colour_has_a_light_and_a_dark(void **state)
{
    (void)state;
    const SvgColor *color;
    int count = 0;
    for (; (color = svg_color(count)); count++) {
        assert_int_equal(strlen(color->light), 7);
        assert_int_equal(strlen(color->dark), 7);
        for (int i = 0; i < count; i++) assert_string_not_equal(svg_color(i)->id, color->id);
    }
    assert_true(count > 8);
}

// A drawing has its colours as attributes, and as classes for the page.
static void a_drawing_has_colours_and_classes(void **state)
{
    (void)state;
    Svg svg;
    svg_begin(&svg, "fig", 100, 50, "a <title>", "what it shows");
    svg_method_begin(&svg, "oracle");
    svg_curve(&svg, (double[]){1.0, 2.0, 3.04, -0.04}, 2, "oracle", 2.0, "2 3", "one\n\"two\"");
    svg_method_end(&svg);
    svg_bar(&svg, 1, 2, 3, 4, "accent", true, NULL);
    char *text = svg_end(&svg);
    assert_non_null(strstr(text, "<title>a &#60;title&#62;</title><desc>what it shows</desc>"));
    assert_non_null(strstr(text,
                           "<g class=\"method\" data-method=\"oracle\"><polyline points=\"1 2 3 "
                           "0\" stroke-linejoin=\"round\" class=\"s-oracle\" stroke=\"#"));
    assert_non_null(
        strstr(text, "stroke-dasharray=\"2 3\" data-tip=\"one&#10;&#34;two&#34;\"/></g>"));
    assert_non_null(strstr(text, "fill=\"url(#fig-hatch-accent)\""));
    assert_non_null(strstr(text, "prefers-color-scheme:dark"));
    free(text);
}

// Where there was no memory for the stream, all calls are taken and there is no text.
static void without_memory_there_is_no_drawing(void **state)
{
    (void)state;
    Svg svg = {.id = "none"};
    svg_text(&svg, 1, 2, SVG_START, 12, "ink", "text");
    svg_line(&svg, 0, 0, 1, 1, "ink", 1.0, "");
    assert_null(svg_end(&svg));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_cannot_leave_their_place),
        cmocka_unit_test(axes_are_round),
        cmocka_unit_test(values_fall_into_the_frame),
        cmocka_unit_test(marks_stand_at_all_round_numbers_of_an_axis),
        cmocka_unit_test(every_colour_has_a_light_and_a_dark),
        cmocka_unit_test(a_drawing_has_colours_and_classes),
        cmocka_unit_test(without_memory_there_is_no_drawing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
