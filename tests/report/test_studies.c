// Reports of studies beside the paper's: leave-one-pair-out, the mechanism, operators, numbers of
// pairs, the budget of Theorem 2, plans before and after repair, the ladder and two senses.
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

static bool has_entry(const Json *document, const char *list_name, const char *id)
{
    JsonRef root = json_root(document, "document"), list, entry = {0};
    assert_ok(json_member(&list, &root, list_name));
    while (json_next(&entry, &list))
        if (strcmp(chars_of(&entry, "id"), id) == 0) return true;
    return false;
}

// Three recipes; the last has a pair without a number, and no check.
static const char leave_one_out[] =
    "{\"command\":\"facet study leave-one-out --check\",\"recipes\":["
    "{\"composed_loss\":3,\"parameters\":1000,\"pairs\":[{\"track\":\"bend\",\"size\":\"small\","
    "\"largest_m\":0.5,\"mean_m\":0.25,\"speed_ratio\":1.5,\"passed\":4,\"crossings\":6,"
    "\"crashes\":1,\"joint_apart_m\":0.0625}],\"bounds\":[{\"alpha\":0.5,\"confidence\":0.5,"
    "\"largest_m\":0.5,\"mean_m\":"
    "0.25}],\"check\":[{\"track\":\"straight\",\"size\":\"large\",\"largest_m\":0.75,\"mean_m\":"
    "0.125,\"speed_ratio\":1,\"passed\":4,\"crossings\":4,\"crashes\":0,\"held_out\":true,"
    "\"within\":false,\"jackknife_m\":1.25,\"within_jackknife\":true}]},"
    "{\"composed_loss\":3,\"agreement\":10,\"parameters\":1000,\"pairs\":[],"
    "\"bounds\":[{\"confidence\":0.5,\"largest_m\":1}]},"
    "{\"composed_loss\":0,\"parameters\":1000,\"pairs\":[{\"track\":\"bend\",\"size\":\"small\","
    "\"largest_m\":null}],\"bounds\":[{\"confidence\":0.5,\"largest_m\":null}]}]}";

static void leaving_pairs_out_is_three_tables_and_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *files[INPUT_KINDS] = {[INPUT_LEAVE_ONE_OUT] =
                                          scratch_write(&scratch, "study.json", leave_one_out)};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "leave-one-out");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Task", "bend/small");
    assert_text_in(&table, 0, "Recipe", "composed loss 3");
    assert_near(number_in(&table, 0, "Largest (m)"), 0.5, 0.0);
    assert_near(number_in(&table, 0, "Mean (m)"), 0.25, 0.0);
    assert_near(number_in(&table, 0, "Speed"), 1.5, 0.0);
    assert_near(number_in(&table, 0, "Joint apart (m)"), 0.0625, 0.0);
    assert_text_in(&table, 0, "Gates", "4/6");
    assert_text_in(&table, 1, "Recipe", "the paper's loss");
    assert_empty(&table, 1, "Largest (m)");
    table = entry_of(document, "tables", "new-pair");
    assert_near(number_in(&table, 0, "Pairs"), 1.0, 0.0);
    assert_near(number_in(&table, 0, "Probability"), 0.5, 0.0);
    assert_near(number_in(&table, 0, "Largest (m)"), 0.5, 0.0);
    assert_text_in(&table, 1, "Recipe", "loss 3, agreement 10");
    table = entry_of(document, "tables", "new-pair-check");
    assert_int_equal(length_of(&table, "rows"), 1);
    assert_near(number_in(&table, 0, "Bound (m)"), 0.5, 0.0);
    assert_text_in(&table, 0, "Within", "no");
    assert_near(number_in(&table, 0, "Jackknife+ (m)"), 1.25, 0.0);
    JsonRef figure = entry_of(document, "figures", "leave-one-out");
    assert_non_null(strstr(chars_of(&figure, "svg"), "bend/small: 0.500 m at most, 4 of 6 gates"));
    assert_non_null(strstr(chars_of(&figure, "svg"), "straight/large: 0.750 m at most"));
    json_free(document);
    scratch_end(&scratch);
}

#define TALLY(error, share)                                                                        \
    "{\"pairs\":4,\"error_m\":" error                                                              \
    ",\"median_m\":0.25,\"least_m\":0.125,\"most_m\":1.5,\"share\":" share "}"
#define VARIANT_OF(of, name, kind, seen, loss, error, share)                                       \
    "{" of "\"variant\":\"" name "\",\"name\":\"the " name "\",\"kind\":\"" kind                   \
    "\",\"composed_loss\":" loss ",\"folds\":2,\"field\":21,\"seen\":" seen                        \
    ",\"speed_share\":{\"composed\":{\"learned\":0.5,\"left_out\":0.25},\"joint\":{"               \
    "\"learned\":1,\"left_out\":0.375}}"                                                           \
    ",\"parameters\":1000,\"left_out\":{\"composed\":" TALLY(error, share) ",\"joint\":" TALLY(    \
        "0.5", "0.9") "},\"training\":{\"composed\":" TALLY("0.0625", "1") "}}"

#define VARIANT(name, kind, seen, loss, error, share)                                              \
    VARIANT_OF("", name, kind, seen, loss, error, share)

#define FOUR      VARIANT("default", "blocks", "17.5", "0", "1", "0.6")
#define WHOLE     VARIANT("whole", "dilation", "32", "0", "2", "0.75")
#define PLACES    VARIANT("no-position", "position", "17.5", "0", "3", "0.25")
#define UNET      VARIANT("unet", "unet", "32", "0", "2.5", "0.125")
#define UNCOUNTED VARIANT("default", "blocks", "17.5", "3", "null", "null")
#define NEVER     VARIANT_OF("\"of\":\"whole\",", "never", "dropout", "32", "0", "4", "0.5")
#define WHOLE_3   VARIANT("whole", "dilation", "32", "3", "2", "0.8")
#define NEVER_3   VARIANT_OF("\"of\":\"whole\",", "never", "dropout", "32", "3", "4", "1")
#define ALONE     VARIANT_OF("\"of\":\"default\",", "alone", "dropout", "17.5", "3", "4", "0.5")
#define NETWORKS                                                                                   \
    FOUR "," WHOLE "," PLACES "," UNET "," UNCOUNTED "," NEVER "," WHOLE_3 "," NEVER_3 "," ALONE

// Where the text that ends with these words begins, in px from the left.
static double x_of(const char *svg, const char *words)
{
    const char *at = strstr(svg, words);
    assert_non_null(at);
    while (strncmp(at, " x=\"", 4) != 0) at--;
    return strtod(at + 4, NULL);
}

// Two losses; the second has one network without a number, and so nothing to join with it.
static void the_mechanism_is_a_table_and_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    static const char text[] =
        "{\"command\":\"facet study mechanism\",\"variants\":[" NETWORKS "]}";
    const char *files[INPUT_KINDS] = {[INPUT_MECHANISM] =
                                          scratch_write(&scratch, "study.json", text)};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "mechanism");
    assert_int_equal(length_of(&table, "rows"), 9);
    assert_text_in(&table, 1, "Network", "the whole");
    assert_near(number_in(&table, 1, "Composed, left out (m)"), 2.0, 0.0);
    assert_near(number_in(&table, 1, "Joint, left out (m)"), 0.5, 0.0);
    assert_near(number_in(&table, 1, "Composed, training (m)"), 0.0625, 0.0);
    assert_near(number_in(&table, 1, "Gates, left out (%)"), 75.0, 0.0);
    assert_near(number_in(&table, 1, "Size in speeds, left out (%)"), 25.0, 1e-12);
    assert_near(number_in(&table, 1, "Size in speeds, joint (%)"), 37.5, 1e-12);
    assert_near(number_in(&table, 1, "Size in speeds, training (%)"), 50.0, 1e-12);
    assert_empty(&table, 4, "Composed, left out (m)");
    JsonRef figure = entry_of(document, "figures", "mechanism");
    const char *svg = chars_of(&figure, "svg");
    assert_non_null(
        strstr(svg, "the whole, composed: 75 % of the gates, 2.000 m off, training 0.062 m"));
    assert_non_null(strstr(svg, "the no-position, composed: 25 % of the gates, 3.000 m"));
    // Beside the curve and not among the changes on the right, where names stand below the marks.
    assert_non_null(strstr(svg, "the unet, composed: 12 % of the gates, 2.500 m"));
    assert_non_null(strstr(svg, "the unet, joint: 90 % of the gates, 0.500 m"));
    assert_int_equal(count_in(svg, "the unet, composed"), 1);
    assert_int_equal(count_in(svg, "the unet, joint"), 2); // a square in a square is empty
    assert_null(strstr(svg, ">the unet</text>"));
    assert_non_null(strstr(svg, ">the no-position</text>"));
    assert_int_equal(count_in(svg, ">the default</text>"), 1);
    assert_non_null(strstr(svg, "composed loss 3, joint"));
    // A network whose factors are never hidden stands in the middle, joined with the one like it.
    assert_int_equal(count_in(svg, "the never, composed: 50 % of the gates, 4.000 m"), 1);
    assert_int_equal(count_in(svg, "the whole, composed: 75 %"), 2);
    assert_int_equal(count_in(svg, "the alone, composed"), 0);
    assert_null(strstr(svg, ">the never</text>"));
    assert_near(x_of(svg, ">hidden</text>"), 510.0, 0.0);
    assert_near(x_of(svg, ">never hidden</text>"), 624.0, 0.0);
    // From 75 to 50 %, and with the other loss from 80 to 100 %.
#define JOINED(points, color)                                                                      \
    "points=\"" points "\" stroke-linejoin=\"round\" class=\"s-" color "\""
    assert_non_null(strstr(svg, JOINED("510 141.5 624 209", "factored_composed")));
    assert_non_null(strstr(svg, JOINED("510 128 624 74", "ours_composed")));
    json_free(document);
    scratch_end(&scratch);
}

#define LEVELS(total)                                                                              \
    "[{\"sigma\":1,\"g\":1,\"m\":1,\"interaction\":2,\"gap\":1,\"eta\":0.5,\"total\":" total       \
    ",\"measured\":0.5,\"l1\":6.5,\"l2\":1.25,\"changed\":13.25},{\"sigma\":0.5,\"interaction\":"  \
    "0,\"eta\":1,\"total\":3,\"measured\":1}]"
#define BUDGET(method, total)                                                                      \
    "{\"method\":\"" method                                                                        \
    "\",\"along_network\":" LEVELS(total) ",\"along_exact\":" LEVELS("3.5") "}"

// The budget of its own file, with both losses, comes before that of a certificate.
static void the_budget_is_a_table_and_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char certify[200], budget[200];
    strcpy(certify, scratch_write(&scratch, "certify.json",
                                  "{\"command\":\"facet certify\",\"by_noise_level\":[],"
                                  "\"budgets\":[" BUDGET("ours", "7.5") "]}"));
    strcpy(budget, scratch_write(&scratch, "budget.json",
                                 "{\"command\":\"facet certify --budget\",\"budgets\":[" BUDGET(
                                     "ours", "5.5") "," BUDGET("factored", "9.5") "]}"));
    const char *files[INPUT_KINDS] = {[INPUT_CERTIFY] = certify};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "budget");
    assert_int_equal(length_of(&table, "rows"), 4);
    assert_near(number_in(&table, 0, "Sum"), 7.5, 0.0);
    json_free(document);
    files[INPUT_BUDGET] = budget;
    document = document_of_files(race, files);
    table = entry_of(document, "tables", "budget");
    assert_int_equal(length_of(&table, "rows"), 8);
    assert_text_in(&table, 0, "Loss", "ours");
    assert_text_in(&table, 0, "States", "network's");
    assert_near(number_in(&table, 0, "Sum"), 5.5, 0.0);
    assert_near(number_in(&table, 0, "L₁δ₁"), 6.5, 0.0);
    assert_near(number_in(&table, 0, "L₂δ₂"), 1.25, 0.0);
    assert_near(number_in(&table, 0, "Sum, changed"), 13.25, 0.0);
    assert_text_in(&table, 4, "Loss", "paper's");
    assert_near(number_in(&table, 4, "Sum"), 9.5, 0.0);
    assert_empty(&table, 1, "G");
    JsonRef figure = entry_of(document, "figures", "budget");
    assert_non_null(strstr(chars_of(&figure, "svg"), "The paper&#39;s loss, along the exact"));
    json_free(document);
    scratch_end(&scratch);
}

#define TOTALS(passed)                                                                             \
    "{\"all_seeds\":{\"all\":{\"passed\":" passed                                                  \
    ",\"gates\":520},\"training\":{\"passed\":300,\"gates\":370},"                                 \
    "\"held_out\":{\"passed\":100,\"gates\":150}}}"

// A row an operator; the router's weights are no numbers.
static void operators_are_a_table(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *files[INPUT_KINDS] = {
        [INPUT_OPERATORS] = scratch_write(
            &scratch, "operators.json",
            "{\"command\":\"facet study operators\",\"operators\":[{\"mode\":\"product\",\"name\":"
            "\"product of experts (PoCo)\",\"weights\":[0.25,0.75],\"networks\":12,\"parameters\":"
            "52000000,\"rows\":336000,\"passes\":2},{\"mode\":\"router\",\"name\":\"router\","
            "\"weights\":[null,null],\"networks\":12,\"parameters\":52500000,\"passes\":3}],"
            "\"methods\":{\"product\":" TOTALS("400") ",\"router\":" TOTALS("401") "}}")};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "operators");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Operator", "product of experts (PoCo)");
    assert_text_in(&table, 0, "Weights", "0.2, 0.8");
    assert_near(number_in(&table, 0, "Networks"), 12.0, 0.0);
    assert_near(number_in(&table, 0, "Parameters (M)"), 52.0, 1e-9);
    assert_near(number_in(&table, 0, "Rows of training (M)"), 0.336, 1e-9);
    assert_near(number_in(&table, 0, "Passes a step"), 2.0, 0.0);
    assert_text_in(&table, 0, "All", "400/520");
    assert_text_in(&table, 0, "Training", "300/370");
    assert_text_in(&table, 0, "Held out", "100/150");
    assert_text_in(&table, 1, "Weights", "learned");
    assert_text_in(&table, 1, "All", "401/520");
    assert_empty(&table, 1, "Rows of training (M)");
    assert_true(has_entry(document, "sources", "operators"));
    json_free(document);
    files[INPUT_OPERATORS] = NULL;
    document = document_of_files(race, files);
    assert_false(has_entry(document, "tables", "operators"));
    json_free(document);
    scratch_end(&scratch);
}

#define RATE(mean) "{\"mean\":" mean ",\"least\":0.25,\"most\":0.75,\"low\":0.125,\"high\":0.875}"

#define FIELD(key, mean) ",\"" key "\":" RATE(mean)
#define PAIRS_OURS                                                                                 \
    "{\"method\":\"ours\",\"pairs\":8,\"splits\":2,\"speed_off_held_out\":0.25"                    \
    ",\"speed_off_last\":0.125,\"joint\":{\"held_out\":{\"mean\":0.6},"                            \
    "\"speed_off_held_out\":0.375}"
#define OURS_LEFT   FIELD("held_out", "0.5") FIELD("held_out_new", "0.4") FIELD("last", "0.3")
#define PAIRS_PAPER "{\"method\":\"paper\",\"pairs\":11,\"splits\":1"
#define HALF_A_RATE ",\"held_out\":{\"most\":0.5,\"high\":0.5}"

// A row a loss and number of pairs; rates that are not there are cells without a number.
static void numbers_of_pairs_are_a_table(void **state)
{
    (void)state;
    static const char text[] =
        "{\"command\":\"facet study pairs\",\"orders\":[],\"rows\":[" PAIRS_OURS FIELD("training",
                                                                                       "0.9")
            OURS_LEFT "}," PAIRS_PAPER FIELD("training", "0.8") HALF_A_RATE "}]}";
    Scratch scratch = scratch_begin();
    const char *files[INPUT_KINDS] = {[INPUT_PAIRS] = scratch_write(&scratch, "pairs.json", text)};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "pairs");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Loss", "ours");
    assert_near(number_in(&table, 0, "Pairs"), 8.0, 0.0);
    assert_near(number_in(&table, 0, "Splits"), 2.0, 0.0);
    assert_near(number_in(&table, 0, "Training (%)"), 90.0, 1e-9);
    assert_near(number_in(&table, 0, "Left out (%)"), 50.0, 1e-9);
    assert_near(number_in(&table, 0, "New (%)"), 40.0, 1e-9);
    assert_near(number_in(&table, 0, "Last (%)"), 30.0, 1e-9);
    assert_near(number_in(&table, 0, "Speeds off, left out (%)"), 25.0, 1e-9);
    assert_near(number_in(&table, 0, "Speeds off, last (%)"), 12.5, 1e-9);
    assert_near(number_in(&table, 0, "Left out, joint (%)"), 60.0, 1e-9);
    assert_near(number_in(&table, 0, "Speeds off, joint (%)"), 37.5, 1e-9);
    assert_empty(&table, 1, "Left out, joint (%)");
    assert_empty(&table, 1, "Speeds off, left out (%)");
    assert_empty(&table, 1, "Speeds off, last (%)");
    assert_text_in(&table, 0, "Left out, range of the splits", "25–75 %");
    assert_text_in(&table, 0, "95 %, left out", "12–88 %");
    assert_text_in(&table, 1, "Loss", "the paper's");
    assert_near(number_in(&table, 1, "Training (%)"), 80.0, 1e-9);
    assert_empty(&table, 1, "Left out (%)");
    assert_empty(&table, 1, "Left out, range of the splits"); // half of one is none
    assert_empty(&table, 1, "95 %, left out");
    assert_true(has_entry(document, "sources", "pairs"));
    json_free(document);
    files[INPUT_PAIRS] = NULL;
    document = document_of_files(race, files);
    assert_false(has_entry(document, "tables", "pairs"));
    json_free(document);
    scratch_end(&scratch);
}

#define LEAD "{\"mean\":0.25,\"low\":-0.125,\"high\":0.5}"

// By how much ours is ahead of a row, in gates and in points; without it the cells are empty.
static void leads_stand_beside_rows(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char races[200], gate[200];
    strcpy(races, scratch_write(
                      &scratch, "race.json",
                      "{\"command\":\"facet reproduce\",\"rows\":[{\"name\":\"Told\",\"gates\":40,"
                      "\"method\":\"told\",\"key\":\"factored_joint\",\"held_out\":{\"mean\":"
                      "0.75},\"gates_held_out\":8,\"seeds\":[1,2],\"speed_share\":{"
                      "\"learned\":0.75,\"left_out\":-0.25},\"ours_ahead\":{"
                      "\"held_out\":" LEAD "}},{\"name\":\"Longer\",\"method\":"
                      "\"told-longer\",\"key\":\"factored_joint\",\"held_out\":{\"mean\":"
                      "0.875},\"gates_held_out\":8,\"seeds\":[1]},"
                      "{\"name\":\"Ours\",\"method\":\"ours\","
                      "\"key\":\"ours_composed\",\"gates\":9,\"gates_held_out\":8,"
                      "\"held_out\":{\"mean\":7,\"low\":7,\"high\":1},"
                      "\"vehicle\":{\"mean\":7}}]}"));
    strcpy(gate,
           scratch_write(&scratch, "gate.json",
                         "{\"command\":\"facet gate study\",\"protocols\":[{\"name\":\"zero\","
                         "\"rows\":[{\"method\":\"Told\",\"train\":{\"trials\":20,\"success\":9,"
                         "\"crash\":1,\"timeout\":10},\"held_out\":{\"trials\":20,\"success\":9,"
                         "\"crash\":1,\"timeout\":10},\"ours_ahead\":{\"train\":" LEAD "}}]}]}"));
    const char *files[INPUT_KINDS] = {[INPUT_RACE_STUDY] = races, [INPUT_GATE_STUDY] = gate};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "race-study");
    assert_near(number_in(&table, 0, "Ours ahead, held out"), 2.0, 1e-12);
    assert_text_in(&table, 0, "95 %, ours ahead", "-1.0 to 4.0");
    assert_near(number_in(&table, 0, "Size in speeds, learned (%)"), 75.0, 1e-12);
    assert_near(number_in(&table, 0, "Size in speeds, held out (%)"), -25.0, 1e-12);
    assert_empty(&table, 2, "Size in speeds, held out (%)");
    assert_empty(&table, 2, "Ours ahead, held out");
    assert_empty(&table, 2, "95 %, ours ahead");
    assert_empty(&table, 2, "Held out"); // no share is 7
    assert_empty(&table, 2, "95 %, held out");
    assert_empty(&table, 2, "Vehicle of 0.125 m");
    JsonRef root = json_root(document, "report"), told;
    assert_ok(json_member(&told, &root, "told"));
    const struct {
        const char *key;
        double value;
    } wanted[] = {{"held_out", 6.0},
                  {"gates", 8.0},
                  {"trainings", 2.0},
                  {"longer_held_out", 7.0},
                  {"longer_trainings", 1.0}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        double value;
        assert_ok(json_member_number(&value, &told, wanted[i].key, 0.0, 100.0));
        assert_near(value, wanted[i].value, 1e-12);
    }
    table = entry_of(document, "tables", "gate-protocol-1");
    assert_near(number_in(&table, 0, "Ours ahead, points"), 25.0, 1e-12);
    assert_text_in(&table, 0, "95 %, ours ahead", "-12.5 to 50.0");
    assert_empty(&table, 1, "Ours ahead, points");
    json_free(document);
    scratch_end(&scratch);
}

#define TOLD(method, gates)                                                                        \
    "{\"method\":\"" method "\",\"key\":\"factored_joint\",\"gates_held_out\":" gates              \
    ",\"held_out\":{\"mean\":0.5},\"seeds\":[1]}"

// A network that was flown on other gates than ours says nothing beside it.
static void being_told_is_of_as_many_gates(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *files[INPUT_KINDS] = {
        [INPUT_RACE_STUDY] = scratch_write(
            &scratch, "race.json",
            "{\"command\":\"facet reproduce\",\"rows\":[" TOLD("told", "8") "," TOLD(
                "told-longer",
                "9") ",{\"method\":\"ours\",\"key\":\"ours_composed\",\"gates_held_out\":8}]}")};
    Json *document = document_of_files(race, files);
    JsonRef root = json_root(document, "report"), told;
    assert_ok(json_member(&told, &root, "told"));
    assert_true(json_has(&told, "held_out"));
    assert_false(json_has(&told, "longer_held_out"));
    json_free(document);
    scratch_end(&scratch);
}

#define COUNTS(success, timeout)                                                                   \
    "{\"trials\":20,\"success\":" success ",\"crash\":1,\"timeout\":" timeout "}"

// They stand beside the tables of the study itself, and have their own numbers.
static void the_ladder_and_two_senses_are_tables_of_their_own(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char ladder[200], modality[200], study[200];
    strcpy(study,
           scratch_write(&scratch, "study.json",
                         "{\"command\":\"facet gate study\",\"protocols\":[{\"name\":"
                         "\"within-venue\",\"rows\":[{\"method\":\"Baseline\",\"train\":" COUNTS(
                             "9", "10") ",\"held_out\":" COUNTS("8", "11") "}]}]}"));
    strcpy(ladder,
           scratch_write(&scratch, "ladder.json",
                         "{\"command\":\"facet gate study --ladder\",\"protocols\":[{\"name\":"
                         "\"ladder\",\"title\":\"One change at a time\",\"rows\":[{\"method\":"
                         "\"+ looks, ours\",\"train\":" COUNTS("15", "4") ",\"held_out\":" COUNTS(
                             "10", "9") "}]}]}"));
    strcpy(modality,
           scratch_write(&scratch, "modality.json",
                         "{\"command\":\"facet gate modality\",\"choice\":{\"tried\":[{\"weight\":"
                         "0.5,\"train\":" COUNTS(
                             "12", "7") "}]},\"rows\":[{\"name\":\"both\",\"weight\":"
                                        "0.5,\"train\":" COUNTS("14", "5") ",\"held_out\":" COUNTS(
                                            "11", "8") "}]}"));
    const char *files[INPUT_KINDS] = {
        [INPUT_GATE_STUDY] = study, [INPUT_GATE_LADDER] = ladder, [INPUT_MODALITY] = modality};
    Json *document = document_of_files(race, files);
    JsonRef table = entry_of(document, "tables", "gate-protocol-1");
    assert_text_in(&table, 1, "Split", "held out");
    assert_near(number_in(&table, 1, "Success (%)"), 40.0, 1e-9);
    table = entry_of(document, "tables", "gate-ladder-1");
    assert_string_equal(chars_of(&table, "title"), "One change at a time");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Method", "+ looks, ours");
    assert_near(number_in(&table, 0, "Success (%)"), 75.0, 1e-9);
    assert_text_in(&table, 1, "Split", "zero-shot");
    assert_near(number_in(&table, 1, "Success (%)"), 50.0, 1e-9);
    table = entry_of(document, "tables", "gate-choice");
    assert_near(number_in(&table, 0, "Success (%)"), 60.0, 1e-9);
    table = entry_of(document, "tables", "gate-modality");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Senses", "both");
    assert_text_in(&table, 0, "Weight", "0.50");
    assert_near(number_in(&table, 0, "Success (%)"), 70.0, 1e-9);
    assert_near(number_in(&table, 1, "Success (%)"), 55.0, 1e-9);
    assert_true(has_entry(document, "sources", "gate-ladder"));
    assert_true(has_entry(document, "sources", "modality"));
    json_free(document);
    scratch_end(&scratch);
}

#define HEAD                                                                                       \
    "network,update,epoch,loss,denoise,composed,grad_norm,rate,valid,valid_composed,held_out,"     \
    "held_out_composed\n"

static FacetStatus open_with_logs(Report **report, const char *const *logs, int count)
{
    const ReportSetup setup = {.no_defaults = true,
                               .version = "1.2.3",
                               .command = "facet report",
                               .training = logs,
                               .training_count = count};
    return report_open(report, race, &setup);
}

// The second log is of two networks, and its last row is being written.
static void losses_of_trainings_are_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char first[200], second[200];
    strcpy(first, scratch_write(&scratch, "a<b.safetensors.csv",
                                HEAD "0,1,0,0.9,0.5,0.4,3,1e-05,,,,\n"
                                     "0,2,0,0.8,0.4,0.4,3,1e-05,0.25,0.125,0.375,0.3125\n"
                                     "0,3,0,nan,nan,inf,3,1e-05,,,,\n"
                                     "0,4,0,0.7,0.3,0.4,3,1e-05,0.1875,0.0625,,\n"));
    strcpy(second, scratch_write(&scratch, "knet.safetensors.csv",
                                 HEAD "0,1,0,0.9,0.5,0,3,1e-05,,,,\n"
                                      "1,1,0,0.8,0.4,0,3,1e-05,0.5,0.5,,\n1,2,0,0.7"));
    const char *logs[] = {first, second};
    Report *report;
    assert_ok(open_with_logs(&report, logs, 2));
    assert_int_equal(report->training[0].updates, 4);
    assert_int_equal(report->training[1].updates, 2);
    assert_int_equal(report->training[1].networks, 2);
    assert_int_equal(report->training[0].curves[TRAINING_DENOISE].count, 3);
    assert_int_equal(report->training[1].curves[TRAINING_COMPOSED].count, 0);
    assert_near(report->training[0].curves[TRAINING_VALID].last, 0.1875, 0.0);
    Json *made = report_document(report), *document = read_again(made);
    JsonRef figure = entry_of(document, "figures", "training");
    const char *svg = chars_of(&figure, "svg");
    assert_non_null(strstr(svg, "validation, update 2: 0.25000"));
    assert_non_null(strstr(svg, "validation, composed, update 4: 0.06250"));
    assert_non_null(strstr(svg, "held-out tasks, update 2: 0.37500"));
    assert_non_null(strstr(svg, "held-out tasks, composed, update 2: 0.31250"));
    assert_non_null(strstr(svg, ">a&#60;b<"));
    assert_non_null(strstr(svg, "knet: 2 networks, one after the other"));
    assert_true(has_entry(document, "sources", "training"));
    json_free(made);
    json_free(document);
    report_close(report);
    const char *files[INPUT_KINDS] = {NULL};
    document = document_of_files(race, files);
    assert_false(has_entry(document, "figures", "training"));
    json_free(document);
    scratch_end(&scratch);
}

// A long log becomes means over pieces, none of which is lost.
static void a_long_log_is_drawn_by_its_means(void **state)
{
    (void)state;
    enum { ROWS = 1234 };
    Scratch scratch = scratch_begin();
    char *text = malloc(200 + 80 * ROWS), *at = text;
    assert_non_null(text);
    at += sprintf(at, HEAD);
    for (int i = 1; i <= ROWS; i++) at += sprintf(at, "0,%d,0,1,%d,0,3,1e-05,,,,\n", i, i);
    const char *log = scratch_write(&scratch, "long.csv", text);
    Report *report;
    assert_ok(open_with_logs(&report, &log, 1));
    const TrainingCurve *curve = &report->training[0].curves[TRAINING_DENOISE];
    assert_int_equal(curve->count, TRAINING_POINTS);
    for (int i = 0; i < curve->count; i++) assert_near(curve->loss[i], curve->update[i], 1e-9);
    assert_near(curve->loss[0], 4.0, 0.0); // the first seven rows
    assert_near(curve->loss[TRAINING_POINTS - 1], ROWS - 2.5, 0.6);
    report_close(report);
    free(text);
    scratch_end(&scratch);
}

static void another_file_is_no_log(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "expected the losses of facet train, found another head line"},
        {"a,b,c\n1,2,3\n", "expected the losses of facet train, found another head line"},
        {HEAD, "expected the losses of updates, found none"},
        {HEAD "0,1,0,0.9\n", "row 1: expected 12 cells, found 4"},
        {HEAD "x,1,0,0.9,0.5,0.4,3,1e-05,,,,\n", "row 1: expected a network, found 'x'"},
        {HEAD "0,1,0,0.9,0.5,0.4,3,1e-05,,,,\n0,2,0,0.9,much,0.4,3,1e-05,,,,\n",
         "row 2, denoise: expected a number, found 'much'"},
        {HEAD "0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n",
         "row 1: expected 12 cells, found more than 32"},
    };
    Scratch scratch = scratch_begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *log = scratch_write(&scratch, "log.csv", wrong[i].text);
        Report *report;
        assert_refused(open_with_logs(&report, &log, 1), wrong[i].words);
    }
    scratch_end(&scratch);
}

// The second method's plans stand 0.05 m beside the first one's.
static void repaired_plans_are_drawn_beside_the_raw_ones(void **state)
{
    (void)state;
    static const char *const methods[] = {"ours_composed", "verified"};
    Scratch scratch = scratch_begin();
    char *eval = write_eval(&scratch, "eval.json", race, methods, 2, "");
    char *alone = write_eval(&scratch, "alone.json", race, methods, 1, "");
    const char *files[INPUT_KINDS] = {[INPUT_EVAL] = eval};
    Json *document = document_of_files(race, files);
    JsonRef figure = entry_of(document, "figures", "repair");
    assert_non_null(strstr(chars_of(&figure, "svg"), "moved 0.05 m, 1.00 of the speed"));
    json_free(document);
    files[INPUT_EVAL] = alone;
    document = document_of_files(race, files);
    assert_false(has_entry(document, "figures", "repair"));
    json_free(document);
    free(eval);
    free(alone);
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaving_pairs_out_is_three_tables_and_a_figure),
        cmocka_unit_test(the_mechanism_is_a_table_and_a_figure),
        cmocka_unit_test(the_budget_is_a_table_and_a_figure),
        cmocka_unit_test(operators_are_a_table),
        cmocka_unit_test(leads_stand_beside_rows),
        cmocka_unit_test(being_told_is_of_as_many_gates),
        cmocka_unit_test(numbers_of_pairs_are_a_table),
        cmocka_unit_test(the_ladder_and_two_senses_are_tables_of_their_own),
        cmocka_unit_test(losses_of_trainings_are_a_figure),
        cmocka_unit_test(a_long_log_is_drawn_by_its_means),
        cmocka_unit_test(another_file_is_no_log),
        cmocka_unit_test(repaired_plans_are_drawn_beside_the_raw_ones),
    };
    return cmocka_run_group_tests(tests, open_small, close_small);
}
