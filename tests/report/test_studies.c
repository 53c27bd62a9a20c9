// Reports of studies beside the paper's: leave-one-pair-out, the budget of Theorem 2, and plans
// before and after repair.
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

// The document of a report with files of these kinds, NULL for none.
static Json *document_with(const char *files[INPUT_KINDS])
{
    ReportSetup setup = {.no_defaults = true, .version = "1.2.3", .command = "facet report"};
    for (int i = 0; i < INPUT_KINDS; i++) setup.files[i] = files[i];
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    assert_ok(report_fly_files(report));
    Json *made = report_document(report), *document = read_again(made);
    json_free(made);
    report_close(report);
    return document;
}

static bool has_entry(const Json *document, const char *list_name, const char *id)
{
    JsonRef root = json_root(document, "document"), list, entry = {0};
    assert_ok(json_member(&list, &root, list_name));
    while (json_next(&entry, &list))
        if (strcmp(chars_of(&entry, "id"), id) == 0) return true;
    return false;
}

// Two recipes; the second has a pair without a number, and no check.
static const char leave_one_out[] =
    "{\"command\":\"facet study leave-one-out --check\",\"recipes\":["
    "{\"composed_loss\":3,\"parameters\":1000,\"pairs\":[{\"track\":\"bend\",\"size\":\"small\","
    "\"largest_m\":0.5,\"mean_m\":0.25,\"speed_ratio\":1.5,\"passed\":4,\"crossings\":6,"
    "\"crashes\":1}],\"bounds\":[{\"alpha\":0.5,\"confidence\":0.5,\"largest_m\":0.5,\"mean_m\":"
    "0.25}],\"check\":[{\"track\":\"straight\",\"size\":\"large\",\"largest_m\":0.75,\"mean_m\":"
    "0.125,\"speed_ratio\":1,\"passed\":4,\"crossings\":4,\"crashes\":0,\"held_out\":true,"
    "\"within\":false,\"jackknife_m\":1.25,\"within_jackknife\":true}]},"
    "{\"composed_loss\":0,\"parameters\":1000,\"pairs\":[{\"track\":\"bend\",\"size\":\"small\","
    "\"largest_m\":null}],\"bounds\":[{\"confidence\":0.5,\"largest_m\":null}]}]}";

static void leaving_pairs_out_is_three_tables_and_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *files[INPUT_KINDS] = {[INPUT_LEAVE_ONE_OUT] =
                                          scratch_write(&scratch, "study.json", leave_one_out)};
    Json *document = document_with(files);
    JsonRef table = entry_of(document, "tables", "leave-one-out");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Task", "bend/small");
    assert_text_in(&table, 0, "Recipe", "composed loss 3");
    assert_near(number_in(&table, 0, "Largest (m)"), 0.5, 0.0);
    assert_near(number_in(&table, 0, "Mean (m)"), 0.25, 0.0);
    assert_near(number_in(&table, 0, "Speed"), 1.5, 0.0);
    assert_text_in(&table, 0, "Gates", "4/6");
    assert_text_in(&table, 1, "Recipe", "the paper's loss");
    assert_empty(&table, 1, "Largest (m)");
    table = entry_of(document, "tables", "new-pair");
    assert_near(number_in(&table, 0, "Pairs"), 1.0, 0.0);
    assert_near(number_in(&table, 0, "Probability"), 0.5, 0.0);
    assert_near(number_in(&table, 0, "Largest (m)"), 0.5, 0.0);
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
    Json *document = document_with(files);
    JsonRef table = entry_of(document, "tables", "budget");
    assert_int_equal(length_of(&table, "rows"), 4);
    assert_near(number_in(&table, 0, "Sum"), 7.5, 0.0);
    json_free(document);
    files[INPUT_BUDGET] = budget;
    document = document_with(files);
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

// The second method's plans stand 0.05 m beside the first one's.
static void repaired_plans_are_drawn_beside_the_raw_ones(void **state)
{
    (void)state;
    static const char *const methods[] = {"ours_composed", "verified"};
    Scratch scratch = scratch_begin();
    char *eval = write_eval(&scratch, "eval.json", race, methods, 2, "");
    char *alone = write_eval(&scratch, "alone.json", race, methods, 1, "");
    const char *files[INPUT_KINDS] = {[INPUT_EVAL] = eval};
    Json *document = document_with(files);
    JsonRef figure = entry_of(document, "figures", "repair");
    assert_non_null(strstr(chars_of(&figure, "svg"), "moved 0.05 m, 1.00 of the speed"));
    json_free(document);
    files[INPUT_EVAL] = alone;
    document = document_with(files);
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
        cmocka_unit_test(the_budget_is_a_table_and_a_figure),
        cmocka_unit_test(repaired_plans_are_drawn_beside_the_raw_ones),
    };
    return cmocka_run_group_tests(tests, open_small, close_small);
}
