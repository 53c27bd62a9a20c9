// Figures of evidence: methods over their trainings, in the race and at the single gate.
#include "report/reports.h"

static FacetRace *race;

static int open_small(void **state)
{
    (void)state;
    race = open_race(SMALL_COURSE, 2);
    return 0;
}

static int close_small(void **state)
{
    (void)state;
    facet_race_close(race);
    return 0;
}

#define SPREAD(mean, least, most, low, high)                                                       \
    "{\"mean\":" mean ",\"least\":" least ",\"most\":" most ",\"low\":" low ",\"high\":" high      \
    ",\"trials\":20}"
#define LEAD(mean, low, high)                                                                      \
    ",\"ours_ahead\":{\"held_out\":{\"mean\":" mean ",\"low\":" low ",\"high\":" high "}}"
#define METHOD(method, key, name, seeds, held_out, share, ahead)                                   \
    "{\"method\":\"" method "\",\"key\":\"" key "\",\"name\":\"" name "\",\"seeds\":" seeds        \
    ",\"gates\":20,\"gates_held_out\":10,\"held_out\":" held_out                                   \
    ",\"speed_share\":{\"left_out\":" share "}" ahead "}"

#define RATE SPREAD("0.5", "0.5", "0.5", "0.25", "0.75")

// A mark of a figure of evidence: a text of the figure that has this tip.
static void assert_mark(const char *svg, const char *shape, const char *place, const char *tip)
{
    char mark[300];
    const char *found = NULL;
    snprintf(mark, sizeof mark, "<%s %s", shape, place);
    for (const char *at = svg; !found && (at = strstr(at, mark)); at++) {
        const char *end = strchr(at, '>'), *words = strstr(at, tip);
        if (words && words < end) found = at;
    }
    if (!found) fail_msg("expected %s with the tip '%s'", mark, tip);
}

// Panels are 162.7 px wide, from 396, 586.7 and 777.3; rows 18 px apart.
static void the_race_study_is_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    static const char text[] = "{\"command\":\"facet reproduce\",\"rows\":[" METHOD(
        "told", "factored_joint", "Told", "[1,2]", SPREAD("0.5", "0.4", "0.6", "0.25", "0.75"),
        "0.5",
        LEAD("0.3", "0.1",
             "0.4")) "," METHOD("ours", "ours_composed", "Ours", "[1]",
                                SPREAD("0.8", "0.8", "0.8", "0.5", "1"), "-0.25",
                                "") "," METHOD("paper", "factored_composed", "Not measured", "[1]",
                                               SPREAD("null", "null", "null", "null", "null"),
                                               "null", "") "]}";
    const char *files[INPUT_KINDS] = {[INPUT_RACE_STUDY] =
                                          scratch_write(&scratch, "study.json", text)};
    Json *document = document_of_files(race, files);
    JsonRef figure = entry_of(document, "figures", "race-study");
    const char *svg = chars_of(&figure, "svg");
    // Several trainings are a dot with a bar, one is a diamond; the axis has the gates there are.
    assert_mark(svg, "circle", "cx=\"477.3\" cy=\"71\"",
                "Told: 5.0&#10;gates of pairs never seen, 2 trainings");
    assert_non_null(
        strstr(svg, "<line x1=\"461.1\" y1=\"71\" x2=\"493.6\" y2=\"71\" class=\"s-ink\""));
    assert_non_null(
        strstr(svg, "<line x1=\"436.7\" y1=\"71\" x2=\"518\" y2=\"71\" class=\"s-ink\""));
    assert_mark(svg, "polygon", "points=\"526.1",
                "Ours: 8.0&#10;gates of pairs never seen, 1 training\"");
    assert_mark(svg, "polygon", "points=\"804.4", "Ours: -25.0&#10;of the size (%), 1 training\"");
    assert_int_equal(count_in(svg, "Not measured"), 1);                // its name, and no mark
    assert_mark(svg, "circle", "cx=\"722.2\" cy=\"71\"", "Told: 3.0"); // of -2 to 4
    // Ours is dashed in two panels, and 0 in that of the leads.
    assert_non_null(strstr(svg, "x1=\"526.1\" y1=\"62\" x2=\"526.1\" y2=\"116\" class=\"s-ours_"));
    assert_int_equal(count_in(svg, "stroke-dasharray"), 3);
    assert_non_null(strstr(svg, "x1=\"640.9\" y1=\"62\" x2=\"640.9\" y2=\"116\" class=\"s-ours_"));
    json_free(document);
    // Without ours nothing is dashed, and nobody is behind or ahead.
    files[INPUT_RACE_STUDY] = scratch_write(
        &scratch, "study.json",
        "{\"command\":\"facet reproduce\",\"rows\":[" METHOD(
            "told", "factored_joint", "Told", "[1]", SPREAD("0.5", "7", "0.6", "0.25", "0.75"),
            "0.5", "") "," METHOD("paper", "factored_composed", "Paper", "[1]", RATE, "0.5",
                                  "") "," METHOD("other", "another", "Other", "[1]", RATE, "0.5",
                                                 "") "]}");
    document = document_of_files(race, files);
    figure = entry_of(document, "figures", "race-study");
    assert_int_equal(count_in(chars_of(&figure, "svg"), "stroke-dasharray"), 0);
    assert_int_equal(count_in(chars_of(&figure, "svg"), "no row of ours"), 1);
    // Methods of the report have their colours, told ones black and others grey, in two panels.
    static const char *const colors[] = {"ink", "factored_composed", "muted"};
    for (int i = 0; i < 3; i++) {
        char mark[40];
        snprintf(mark, sizeof mark, "class=\"s-%s f-bg\"", colors[i]);
        assert_int_equal(count_in(chars_of(&figure, "svg"), mark), 2);
    }
    JsonRef root = json_root(document, "report");
    assert_false(json_has(&root, "told"));
    assert_message(document, files[INPUT_RACE_STUDY],
                   ": rows[0].held_out.least: expected a share from 0 to 1, found 7, left out");
    json_free(document);
    files[INPUT_RACE_STUDY] =
        scratch_write(&scratch, "study.json", "{\"command\":\"facet reproduce\",\"rows\":[]}");
    document = document_of_files(race, files);
    figure = entry_of(document, "figures", "race-study");
    assert_non_null(strstr(chars_of(&figure, "missing"), "no evaluations"));
    json_free(document);
    scratch_end(&scratch);
}

#define TRIALS(cell, method, success, crash, ahead)                                                \
    "{\"cell\":\"" cell "\",\"method\":\"" method                                                  \
    "\",\"seeds\":[1,2,3],\"success\":{\"train\":" SPREAD(                                         \
        "1", "1", "1", "1", "1") ",\"held_out\":" success "},\"crash\":{\"held_out\":" crash       \
                                 "}" ahead "}"

static void the_study_of_the_gate_is_a_figure_a_protocol(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    static const char text[] =
        "{\"command\":\"facet gate "
        "study\",\"protocols\":[{\"name\":\"zero-shot\",\"title\":\"Pool\",\"rows\":[" TRIALS(
            "zero-shot-oracle-ours", "Oracle", SPREAD("0.5", "0.4", "0.6", "0.25", "0.75"),
            SPREAD("0.125", "0", "0.5", "0", "1"),
            LEAD("0.1", "-0.2", "0.4")) "," TRIALS("zero-shot-ours", "Ours",
                                                   SPREAD("0.6", "0.6", "0.6", "0.5", "1"), "null",
                                                   "") "]},{\"name\":\"within\",\"title\":"
                                                       "\"Triples\",\"rows\":[]}]}";
    const char *files[INPUT_KINDS] = {[INPUT_GATE_STUDY] =
                                          scratch_write(&scratch, "study.json", text)};
    Json *document = document_of_files(race, files);
    JsonRef figure = entry_of(document, "figures", "gate-study-1");
    const char *svg = chars_of(&figure, "svg");
    assert_non_null(strstr(svg, ">Pool</text>"));
    assert_mark(svg, "circle", "cx=\"668\" cy=\"71\"",
                "Oracle: 50.0, crashes 12.5&#10;trials (%), 3 trainings");
    assert_mark(svg, "circle", "cx=\"607\" cy=\"71\" r=\"2.6\"", "crashes 12.5");
    assert_int_equal(count_in(svg, "class=\"f-miss s-bg\""), 1); // ours has no number
    assert_non_null(strstr(svg, "class=\"f-oracle s-bg\""));
    assert_mark(svg, "circle", "cx=", "Ours: 60.0&#10;");
    assert_mark(svg, "circle", "cx=", "Oracle: 10.0&#10;points, 3 trainings");
    assert_int_equal(count_in(svg, "stroke-dasharray"), 3); // ours in two panels, and 0
    assert_non_null(strstr(svg, "x1=\"684.3\" y1=\"62\" x2=\"684.3\" y2=\"98\" class=\"s-ours_"));
    figure = entry_of(document, "figures", "gate-study-2");
    assert_non_null(strstr(chars_of(&figure, "missing"), "no evaluations"));
    json_free(document);
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_race_study_is_a_figure),
        cmocka_unit_test(the_study_of_the_gate_is_a_figure_a_protocol),
    };
    return cmocka_run_group_tests(tests, open_small, close_small);
}
