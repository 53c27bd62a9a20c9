// Reports on the small course: what is in them, what bad input becomes, the same bytes every time.
#include "policy/parts.h"
#include "race/eval.h"
#include "report/reports.h"
#include "report/tables.h"

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

static Json *document_with(const char *eval, const char *certify)
{
    Report *report = open_report(race, eval, certify);
    Json *made = report_document(report), *document = read_again(made);
    json_free(made);
    report_close(report);
    return document;
}

static double number_of(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e9, 1e9));
    return value;
}

// ---- Flights ------------------------------------------------------------------------------------

static void the_expert_flies_without_any_file(void **state)
{
    (void)state;
    Json *document = document_with(NULL, NULL);
    JsonRef root = json_root(document, "document"), flights, flight;
    assert_int_equal(length_of(&root, "tasks"), 4);
    assert_int_equal(length_of(&root, "methods"), 1);
    assert_int_equal(length_of(&root, "messages"), 0);
    assert_int_equal(length_of(&root, "flights"), facet_race_feasible_count(race));
    assert_string_equal(chars_of(&root, "main_method"), "expert");
    assert_ok(json_member(&flights, &root, "flights"));
    assert_ok(json_element(&flight, &flights, 0));
    int samples = length_of(&flight, "speeds");
    assert_int_equal(samples, (int)(number_of(&flight, "duration") * REPORT_RATE) + 1);
    assert_int_equal(length_of(&flight, "positions"), 3 * samples);
    assert_int_equal(length_of(&flight, "attitudes"), 4 * samples);
    assert_int_equal(length_of(&flight, "plan"), 128);
    JsonRef table = entry_of(document, "tables", "held-out");
    assert_non_null(strstr(chars_of(&table, "missing"), "facet eval"));
    JsonRef figure = entry_of(document, "figures", "certificate");
    assert_non_null(strstr(chars_of(&figure, "missing"), "facet certify"));
    json_free(document);
}

// Gives a plan that a test wrote down.
static FacetStatus plan_kept(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *with,
                             FacetCourseTask task, uint64_t seed, void *context)
{
    (void)with, (void)task, (void)seed;
    memcpy(chunk, context, FACET_CHUNK_KEYPOINTS * sizeof *chunk);
    return status_ok();
}

// A plan that went through a file flies as it would have before.
static void plans_of_a_file_fly_as_they_did(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *eval = write_eval(&scratch, "eval.json", race, all_methods, 7, "");
    Report *report = open_report(race, eval, NULL);
    FacetCourseTask tasks[4];
    int count = facet_race_feasible_tasks(tasks, race);
    for (int m = 0; m < 7; m++)
        for (int i = 0; i < count; i++) {
            FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
            FacetPlanner expert = facet_race_expert();
            FacetRaceResult wanted;
            assert_ok(expert.plan(plan, race, tasks[i], 1, NULL));
            for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++) plan[k].pos.y += 0.05 * (m + 1);
            const FacetPlanner planner = {.name = "kept", .plan = plan_kept, .context = plan};
            assert_ok(facet_race_fly(&wanted, race, &planner, tasks[i], 1, 0.0));
            int method = report_method(all_methods[m]);
            const ReportFlight *flight = report_flight(report, method, tasks[i]);
            assert_true(flight->flown);
            assert_int_equal(flight->result.flight.passed, wanted.flight.passed);
            assert_near(flight->result.error, wanted.error, 1e-6);
            assert_near(flight->result.flight.duration, wanted.flight.duration, 0.01);
            assert_string_equal(report->origins[method], "eval");
        }
    assert_int_equal(report_main_method(report), report_method("ours_composed"));
    report_close(report);
    free(eval);
    scratch_end(&scratch);
}

// A factored policy is two methods, by how it plans; any other is one.
static void a_policy_is_one_of_the_methods(void **state)
{
    (void)state;
    static const struct {
        FacetPolicyMethod method;
        double composed_weight;
        const char *composed, *joint;
    } cases[] = {
        {FACET_POLICY_FACTORED, 0.0, "factored_composed", "factored_joint"},
        {FACET_POLICY_FACTORED, 3.0, "ours_composed", "ours_joint"},
        {FACET_POLICY_BASELINE, 0.0, "baseline", "baseline"},
        {FACET_POLICY_KNET, 0.0, "knet", "knet"},
        {FACET_POLICY_ORACLE, 3.0, "oracle", "oracle"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const FacetPolicy policy = {.method = cases[i].method,
                                    .record = {.composed_weight = cases[i].composed_weight}};
        assert_int_equal(report_policy_method(&policy, FACET_POLICY_COMPOSED),
                         report_method(cases[i].composed));
        assert_int_equal(report_policy_method(&policy, FACET_POLICY_JOINT),
                         report_method(cases[i].joint));
    }
}

static void the_bytes_are_the_same_on_any_number_of_threads(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *eval = write_eval(&scratch, "eval.json", race, all_methods, 7, "");
    char *texts[2];
    for (int i = 0; i < 2; i++) {
        FacetRace *other = open_race(SMALL_COURSE, i ? 3 : 1);
        Report *report = open_report(other, eval, NULL);
        Json *document = report_document(report);
        texts[i] = json_line(document);
        json_free(document);
        report_close(report);
        facet_race_close(other);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
    free(eval);
    scratch_end(&scratch);
}

// ---- Tables -------------------------------------------------------------------------------------

static void tables_have_the_numbers_of_the_file(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *eval = write_eval(&scratch, "eval.json", race, all_methods, 7, "");
    Json *document = document_with(eval, NULL);
    JsonRef table = entry_of(document, "tables", "passage");
    assert_int_equal(length_of(&table, "rows"), 7);
    assert_int_equal(length_of(&table, "held_out"), 7);
    assert_text_in(&table, 0, "All", "6/10");
    assert_text_in(&table, 6, "All", "12/10"); // as the file has it
    assert_text_in(&table, 0, "Held out", "1/2");
    assert_text_in(&table, 0, "95 %", "10–90 %");
    assert_text_in(&table, 0, "Paper, all", "33/104");
    assert_empty(&table, 0, "Difference"); // of other gates than the paper's
    assert_near(number_in(&table, 3, "Crashes"), 3.0, 0.0);
    assert_string_equal(chars_of(&table, "command"), "facet eval --seeds 3");
    assert_string_equal(chars_of(&table, "version"), "0.9");
    assert_string_equal(chars_of(&table, "source"), eval);
    assert_near(number_of(&table, "seed"), 1.0, 0.0);
    table = entry_of(document, "tables", "held-out");
    assert_text_in(&table, 0, "Task", "straight/large");
    assert_near(number_in(&table, 0, "Oracle"), 50.0, 1e-12);
    assert_near(number_in(&table, 0, "Plan (m/s)"), 3.5, 0.0);
    assert_empty(&table, 0, "Paper, factored");
    table = entry_of(document, "tables", "tracks");
    assert_near(number_in(&table, 0, "Std (%)"), 12.5, 1e-12);
    table = entry_of(document, "tables", "speeds");
    assert_near(number_in(&table, 0, "Difference (m/s)"), -0.5, 1e-12);
    table = entry_of(document, "tables", "inference");
    assert_near(number_in(&table, 1, "Rate (%)"), 80.0, 1e-12);
    assert_near(number_in(&table, 1, "Difference (m)"), 0.02, 1e-12);
    table = entry_of(document, "tables", "ddim-sweep");
    assert_near(number_in(&table, 0, "Composed"), 80.0, 1e-12);
    assert_near(number_in(&table, 0, "Difference, held out"), 10.0, 1e-9);
    assert_near(number_in(&table, 1, "Joint"), 70.0, 1e-12);
    json_free(document);
    free(eval);
    scratch_end(&scratch);
}

// A flight of a task in which gate g is missed by `miss` / (g + 1).
static FacetRaceResult flight_by_hand(const char *task, int passed, double miss, double speed,
                                      double error)
{
    FacetRaceResult result = {.speed_generated = speed, .speed_reference = 4.0, .error = error};
    assert_ok(facet_course_find_task(&result.task, race->course, task));
    FacetFlight *flight = &result.flight;
    flight->gate_count = race->course->tracks[result.task.track].gate_count;
    flight->passed = passed;
    for (int g = 0; g < flight->gate_count; g++) flight->gates[g].miss = miss / (g + 1);
    return result;
}

// All flights of a task are in its row, and no other's.
static void several_flights_of_a_task_are_one_row(void **state)
{
    (void)state;
    enum { TASKS = 2, SAMPLES = 3 };
    FacetRaceResult results[SAMPLES][TASKS] = {
        {flight_by_hand("bend/large", 3, 0.25, 3.0, 0.125),
         flight_by_hand("straight/large", 1, 1.5, 2.0, 0.5)},
        {flight_by_hand("bend/large", 3, 0.5, 3.5, 0.25),
         flight_by_hand("straight/large", 2, 0.75, 2.5, 0.25)},
        {flight_by_hand("bend/large", 2, 1.25, 4.0, 0.375),
         flight_by_hand("straight/large", 0, 2.5, 3.0, 0.75)},
    };
    results[2][1].flight.end = FACET_FLIGHT_CRASHED;
    for (int k = 0; k < SAMPLES; k++) results[k][1].held_out = true;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    print_samples(stream, race, results[0], TASKS, SAMPLES);
    fclose(stream);
    // clear, gates, crashes, the worst miss, half-width, mean speed, reference, mean error
    assert_non_null(strstr(text, "\nbend/large          2   8/9       0   1.25   1.000     3.50    "
                                 "4.00   0.250\n"));
    assert_non_null(strstr(text, "\nstraight/large*     1   3/6       1   2.50   1.000     2.50    "
                                 "4.00   0.500\n"));
    free(text);
}

static const char certificates[] =
    "{\"tasks\":[{\"track\":\"straight\",\"size\":\"large\",\"held_out\":true,\"c_ltv\":4.5,"
    "\"seeds\":[{\"c_ltv\":4.5},{\"c_ltv\":6.5},{\"c_ltv\":null}],\"c_emp\":0.25,\"eps_s\":1.5,"
    "\"gates\":[{\"gate\":\"a\",\"miss_nominal\":0.1,\"radius\":0.3,"
    "\"bound\":0.375,\"attack\":0.9,\"half_width\":1,\"certified\":true},{\"gate\":\"b\",\"miss_"
    "nominal\":0.2,\"radius\":1.3,"
    "\"bound\":1.625,\"attack\":null,\"half_width\":1,\"certified\":false}],\"passage_lower_"
    "bound\":0.9},"
    "{\"track\":\"bend\",\"size\":\"large\",\"c_ltv\":7,\"not_certified\":\"step "
    "3\",\"residual\":"
    "{\"actual\":0.1,\"linearised\":0.3,\"ltv\":0.5}}],"
    "\"constants\":{\"lambda\":0.8,\"b_kappa\":0.1,\"w\":0.02},"
    "\"eps_d\":{\"mean\":1,\"p95\":2,\"max\":3},\"by_noise_level\":[{\"t_first\":0,\"t_last\":4,"
    "\"mean\":2,\"p95\":3},{\"t_first\":5,\"t_last\":9,\"mean\":1,\"p95\":2}],"
    "\"l1\":{\"mean\":5,\"p95\":6,\"max\":7},\"l2\":{\"mean\":1,\"p95\":null,\"max\":\"x\"},"
    "\"sweep\":[{\"steps\":10,\"tasks\":[{\"c_ltv\":80,\"c_emp\":0.5},{\"c_ltv\":90}]}]}";

static void certificates_stand_beside_the_papers(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *path = strdup(scratch_write(&scratch, "certify.json", certificates));
    Json *document = document_with(NULL, path);
    JsonRef root = json_root(document, "document"), tasks, task;
    JsonRef table = entry_of(document, "tables", "certificates");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_near(number_in(&table, 0, "C_LTV"), 5.5, 1e-12); // mean of two seeds
    assert_near(number_in(&table, 0, "std"), sqrt(2.0), 1e-12);
    assert_near(number_in(&table, 1, "C_LTV"), 7.0, 0.0);
    assert_empty(&table, 1, "std");
    assert_text_in(&table, 1, "Remark", "step 3");
    assert_text_in(&table, 0, "Gates certified", "1/2");
    assert_empty(&table, 1, "Gates certified");
    assert_empty(&table, 0, "R_ss (m)");
    table = entry_of(document, "tables", "certificate-gates");
    assert_text_in(&table, 1, "Certified", "no");
    assert_text_in(&table, 0, "Certified", "yes");
    assert_near(number_in(&table, 1, "Radius (m)"), 1.3, 0.0);
    assert_near(number_in(&table, 1, "Bound (m)"), 1.625, 0.0);
    assert_non_null(strstr(chars_of(&table, "note"), "no attack shifts by more than the bound"));
    table = entry_of(document, "tables", "diagnostics");
    assert_near(number_in(&table, 0, "Difference"), 1.0 - 1.70, 1e-12);
    assert_empty(&table, 2, "Maximum");
    table = entry_of(document, "tables", "constants");
    assert_near(number_in(&table, 0, "Difference"), 0.8 - 0.9, 1e-12);
    table = entry_of(document, "tables", "certificate-sweep");
    assert_near(number_in(&table, 0, "C_LTV, mean"), 85.0, 1e-12);
    assert_near(number_in(&table, 0, "C_LTV, max"), 90.0, 0.0);
    assert_near(number_in(&table, 0, "Paper, max"), 498.0, 0.0);
    assert_near(number_in(&table, 0, "C_emp, mean"), 0.5, 0.0);
    table = entry_of(document, "tables", "residual");
    assert_near(number_in(&table, 2, "Ratio to actual"), 5.0, 1e-12);
    assert_near(number_in(&table, 2, "Difference"), 0.5 - 0.938, 1e-12);
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_element(&task, &tasks, 3)); // straight/large
    assert_near(number_of(&task, "certified"), 1.0, 0.0);
    const char *const drawn[] = {"certificate", "certificate-gates", "decomposition"};
    for (int i = 0; i < 3; i++) {
        JsonRef figure = entry_of(document, "figures", drawn[i]);
        assert_non_null(strstr(chars_of(&figure, "svg"), "data-tip"));
    }
    // null is a number that does not exist; a text in its place is said
    JsonRef messages, message;
    assert_int_equal(length_of(&root, "messages"), 1);
    assert_ok(json_member(&messages, &root, "messages"));
    assert_ok(json_element(&message, &messages, 0));
    assert_non_null(strstr(json_chars(&message), "l2.max: not a finite number, left out"));
    json_free(document);
    free(path);
    scratch_end(&scratch);
}

// Of a version that did not attack: miss, R_g and gusts alone.
static const char unattacked[] =
    "{\"command\":\"facet certify\",\"by_noise_level\":[],\"tasks\":[{\"track\":\"straight\","
    "\"size\":\"large\",\"held_out\":true,\"c_ltv\":4.5,\"certified\":true,\"gates\":["
    "{\"gate\":\"a\",\"miss_nominal\":0.1,\"radius\":0.3,\"disturbance\":0.1,\"half_width\":1,"
    "\"certified\":true,\"certified_still\":true},{\"gate\":\"b\",\"miss_nominal\":0.2,"
    "\"radius\":0.4,\"disturbance\":0.1,\"half_width\":1,\"certified\":true,"
    "\"certified_still\":true}],\"paced\":{\"pace\":0.8,\"time\":5,\"gates\":[{\"gate\":\"a\","
    "\"certified\":true},{\"gate\":\"b\",\"certified\":true}]}}]}";

static char *printed(const char *path, InputKind kind)
{
    Json *read;
    char *text = NULL;
    size_t size;
    assert_ok(json_read(&read, path));
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    print_document(stream, race, kind, read);
    fclose(stream);
    json_free(read);
    return text;
}

static void gates_that_were_not_attacked_are_not_certified(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *path = strdup(scratch_write(&scratch, "certify.json", unattacked));
    Json *document = document_with(NULL, path);
    JsonRef root = json_root(document, "document"), tasks, task, certified;
    JsonRef table = entry_of(document, "tables", "certificates");
    assert_text_in(&table, 0, "Gates certified", "not attacked");
    table = entry_of(document, "tables", "certificate-gates");
    assert_text_in(&table, 0, "Certified", "not attacked");
    assert_empty(&table, 0, "Bound (m)"); // R_g is none
    assert_non_null(strstr(chars_of(&table, "note"), "None of them is certified."));
    assert_null(strstr(chars_of(&table, "note"), "no attack shifts"));
    JsonRef figure = entry_of(document, "figures", "certificate-gates");
    assert_non_null(strstr(chars_of(&figure, "svg"), "gate a: not attacked"));
    assert_null(strstr(chars_of(&figure, "svg"), "gate a: certified"));
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_element(&task, &tasks, 3)); // straight/large
    assert_ok(json_member(&certified, &task, "certified"));
    assert_true(json_is_null(&certified));
    char *text = printed(path, INPUT_CERTIFY);
    const char *in_gusts = strstr(text, "in gusts "),
               *pace = strstr(text, "in gusts, at some pace");
    assert_non_null(in_gusts);
    assert_non_null(pace);
    int whole = -1, of = -1, gates = -1;
    assert_int_equal(sscanf(in_gusts, "in gusts %d %d %d", &whole, &of, &gates), 3);
    assert_int_equal(whole, 0);
    assert_int_equal(of, 1);
    assert_int_equal(gates, 0);
    assert_int_equal(sscanf(pace, "in gusts, at some pace %d", &whole), 1);
    assert_int_equal(whole, 0);
    const char *formula = strstr(text, "not certified: the formula alone");
    assert_non_null(formula);
    assert_int_equal(
        sscanf(formula, "not certified: the formula alone %d %d %d", &whole, &of, &gates), 3);
    assert_int_equal(whole, 1);
    assert_int_equal(gates, 2);
    free(text);
    json_free(document);
    free(path);
    scratch_end(&scratch);
}

static const char verified[] =
    "{\"tasks\":[{\"track\":\"straight\",\"size\":\"large\",\"gates\":2,\"passed\":2}],"
    "\"margin\":0.25,\"verification\":[{\"track\":\"straight\",\"size\":\"large\","
    "\"good\":false,\"within_margin\":true,\"rounds\":1,\"reason\":\"9 of 128 flights in gusts "
    "miss a gate, expected 1 or fewer\",\"blocked\":[]}]}";

// A plan that keeps its margin and fails in gusts is no good, and the reader is told why.
static void what_fails_its_check_is_said(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const ReportSetup setup = {
        .files = {[INPUT_VERIFY] = scratch_write(&scratch, "verify.json", verified)},
        .no_defaults = true,
        .version = "1.2.3",
        .command = "facet report"};
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    Json *made = report_document(report), *document = read_again(made);
    JsonRef table = entry_of(document, "tables", "verify");
    assert_text_in(&table, 0, "Remark",
                   "9 of 128 flights in gusts miss a gate, expected 1 or fewer");
    char *text = printed(setup.files[INPUT_VERIFY], INPUT_VERIFY);
    assert_non_null(strstr(text, "9 of 128 flights in gusts miss a gate"));
    assert_non_null(strstr(text, "tasks that are good"));
    free(text);
    json_free(made);
    json_free(document);
    report_close(report);
    scratch_end(&scratch);
}

// Two curves with two numbers of steps and two seeds, and one of a method that there is not.
static const char step_study[] =
    "{\"command\":\"facet eval --step-study\",\"seeds\":2,\"curves\":["
    "{\"method\":\"ours\",\"sampler\":\"ddim\",\"mode\":\"composed\",\"gates\":{\"all\":10,"
    "\"held_out\":2,\"left_out\":0},\"steps\":[{\"steps\":1,\"passed\":[{\"all\":8,\"held_out\":1,"
    "\"left_out\":0},{\"all\":9,\"held_out\":2,\"left_out\":0}],\"crashes\":1,\"spread_m\":0.25,"
    "\"from_last_m\":0.5},{\"steps\":50,\"passed\":[{\"all\":10,\"held_out\":2,\"left_out\":0},"
    "{\"all\":10,\"held_out\":2,\"left_out\":0}],\"crashes\":0,\"spread_m\":0.125,"
    "\"from_last_m\":0}]},"
    "{\"method\":\"factored\",\"sampler\":\"dpmpp\",\"mode\":\"joint\",\"gates\":{\"all\":10,"
    "\"held_out\":2,\"left_out\":0},\"steps\":[{\"steps\":1,\"passed\":[{\"all\":3,\"held_out\":0,"
    "\"left_out\":0}],\"crashes\":0,\"spread_m\":0.25,\"from_last_m\":null}]},"
    "{\"method\":\"theirs\",\"sampler\":\"ddim\",\"mode\":\"composed\",\"steps\":[{}]}]}";

static void the_step_study_is_a_table_and_a_figure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const ReportSetup setup = {
        .files = {[INPUT_STEPS] = scratch_write(&scratch, "steps.json", step_study)},
        .no_defaults = true,
        .version = "1.2.3",
        .command = "facet report"};
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    Json *made = report_document(report), *document = read_again(made);
    JsonRef table = entry_of(document, "tables", "step-study");
    assert_int_equal(length_of(&table, "rows"), 3);
    assert_text_in(&table, 0, "Method", "Factored, composed loss, composed");
    assert_text_in(&table, 0, "Sampler", "DDIM");
    assert_near(number_in(&table, 0, "N"), 1.0, 0.0);
    assert_near(number_in(&table, 0, "All"), 8.5, 1e-12);
    assert_text_in(&table, 0, "Range", "8–9");
    assert_near(number_in(&table, 0, "Held out"), 1.5, 1e-12);
    assert_near(number_in(&table, 0, "Spread (m)"), 0.25, 0.0);
    assert_text_in(&table, 1, "Range, held out", "2–2");
    assert_text_in(&table, 2, "Sampler", "DPM++");
    assert_empty(&table, 2, "Distance (m)");
    JsonRef figure = entry_of(document, "figures", "step-study");
    assert_non_null(
        strstr(chars_of(&figure, "svg"), "Ours, composed, DDIM, N = 1: 8.5 gates (8–9)"));
    json_free(made);
    json_free(document);
    report_close(report);
    scratch_end(&scratch);
}

// Two methods, one of them without a training, a skill without held-out pairs and a broken number.
static const char metaworld_study[] =
    "{\"command\":\"examples/metaworld/run.sh\",\"methods\":[{\"id\":\"expert\",\"name\":"
    "\"Scripted expert\",\"training\":{\"trials\":50,\"success\":50,\"low\":0.93,\"high\":1,"
    "\"seed_least\":1,\"seed_most\":1},\"held_out\":{\"trials\":0,\"success\":0,\"low\":null,"
    "\"high\":null,\"seed_least\":null,\"seed_most\":null},\"skills\":{},\"trainings\":[]},"
    "{\"id\":\"ours\",\"name\":\"Ours\",\"training\":{\"trials\":200,\"success\":150,\"low\":"
    "0.685,\"high\":0.805,\"seed_least\":0.7,\"seed_most\":0.8},\"held_out\":{\"trials\":\"many\"},"
    "\"skills\":{\"reach\":{\"training\":{\"trials\":10,\"success\":9}}},"
    "\"trainings\":[{\"seed\":1},{\"seed\":2}]}]}";

static void the_metaworld_study_is_two_tables(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const ReportSetup setup = {
        .files = {[INPUT_METAWORLD] = scratch_write(&scratch, "metaworld.json", metaworld_study)},
        .no_defaults = true,
        .version = "1.2.3",
        .command = "facet report"};
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    Json *made = report_document(report), *document = read_again(made);
    JsonRef table = entry_of(document, "tables", "metaworld");
    assert_int_equal(length_of(&table, "rows"), 2);
    assert_text_in(&table, 0, "Method", "Scripted expert");
    assert_near(number_in(&table, 0, "Training (%)"), 100.0, 0.0);
    assert_empty(&table, 0, "Held out (%)");
    assert_empty(&table, 0, "95 %, held out");
    assert_near(number_in(&table, 1, "Training (%)"), 75.0, 1e-12);
    assert_text_in(&table, 1, "95 %, training", "68–80 %");
    assert_text_in(&table, 1, "Seeds, training", "70–80 %");
    assert_empty(&table, 1, "Held out (%)");
    assert_near(number_in(&table, 1, "Trainings"), 2.0, 0.0);
    table = entry_of(document, "tables", "metaworld-skills");
    assert_int_equal(length_of(&table, "rows"), 1);
    assert_text_in(&table, 0, "Skill", "reach");
    assert_near(number_in(&table, 0, "Training (%)"), 90.0, 1e-12);
    JsonRef root = json_root(document, "document"), messages, message;
    assert_string_equal(chars_of(&table, "command"), "examples/metaworld/run.sh");
    assert_int_equal(length_of(&root, "messages"), 1);
    assert_ok(json_member(&messages, &root, "messages"));
    assert_ok(json_element(&message, &messages, 0));
    assert_non_null(strstr(json_chars(&message), "held_out.trials: not a finite number"));
    json_free(made);
    json_free(document);
    report_close(report);
    scratch_end(&scratch);
}

static void a_metaworld_study_is_no_evaluation(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *path = scratch_write(&scratch, "metaworld.json", metaworld_study);
    const ReportSetup setup = {.files = {[INPUT_EVAL] = path}, .no_defaults = true};
    Report *report;
    assert_refused(report_open(&report, race, &setup),
                   "expected results of facet eval, found those of examples/metaworld/run.sh");
    scratch_end(&scratch);
}

static void a_report_does_not_miss_metaworld(void **state)
{
    (void)state;
    Json *document = document_with(NULL, NULL);
    char *text = json_line(document);
    assert_null(strstr(text, "etaworld"));
    free(text);
    json_free(document);
}

// ---- Figures ------------------------------------------------------------------------------------

// The lines of a figure that are drawn in ink, which those of spreads alone are; patterns do not
// count.
static int ink_lines(double (*lines)[4], int room, const char *svg)
{
    int count = 0;
    for (const char *at = strstr(svg, "</defs>"); (at = strstr(at, "<line ")); at++) {
        double line[4];
        char class[32];
        assert_int_equal(sscanf(at,
                                "<line x1=\"%lf\" y1=\"%lf\" x2=\"%lf\" y2=\"%lf\" "
                                "class=\"%31[^\"]",
                                &line[0], &line[1], &line[2], &line[3], class),
                         5);
        if (strcmp(class, "s-ink") != 0) continue;
        assert_true(count < room);
        memcpy(lines[count++], line, sizeof line);
    }
    return count;
}

// The one task of the file passes 50 % of its gates, give or take 12.5 %.
static void a_spread_has_a_cap_at_both_ends(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *const method = "ours_composed";
    char *eval = write_eval(&scratch, "eval.json", race, &method, 1, "");
    Json *document = document_with(eval, NULL);
    JsonRef figure = entry_of(document, "figures", "passage");
    double lines[3][4];
    assert_int_equal(ink_lines(lines, 3, chars_of(&figure, "svg")), 3);
    double x = lines[0][0], low = lines[0][1], high = lines[0][3];
    assert_near(lines[0][2], x, 0.0);
    assert_near(low - high, 0.25 * 250.0, 0.11); // px, of a plot 250 high; one decimal is kept
    for (int end = 0; end < 2; end++) {
        const double *cap = lines[1 + end];
        assert_near(cap[0], x - 4.0, 0.11);
        assert_near(cap[2], x + 4.0, 0.11);
        assert_near(cap[1], end ? high : low, 0.0);
        assert_near(cap[3], cap[1], 0.0);
    }
    json_free(document);
    free(eval);
    scratch_end(&scratch);
}

// ---- Bad input ----------------------------------------------------------------------------------

static void a_method_that_is_missing_is_left_out(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *const some[] = {"factored_composed", "no_such_method"};
    char *eval = write_eval(&scratch, "eval.json", race, some, 2, "");
    Json *document = document_with(eval, NULL);
    JsonRef root = json_root(document, "document"), table, messages, message;
    assert_int_equal(length_of(&root, "methods"), 2); // with the expert
    assert_string_equal(chars_of(&root, "main_method"), "factored_composed");
    table = entry_of(document, "tables", "passage");
    assert_int_equal(length_of(&table, "rows"), 1);
    assert_int_equal(length_of(&root, "messages"), 1);
    assert_ok(json_member(&messages, &root, "messages"));
    assert_ok(json_element(&message, &messages, 0));
    assert_non_null(strstr(json_chars(&message), "no_such_method"));
    json_free(document);
    free(eval);
    scratch_end(&scratch);
}

static void numbers_that_are_none_become_null_with_a_message(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *path = scratch_write(
        &scratch, "eval.json",
        "{\"methods\":{\"ours_composed\":{\"all\":{\"passed\":NaN,\"gates\":10,\"low\":-Infinity,"
        "\"high\":Infinity},\"held_out\":{\"passed\":1,\"gates\":1e999},\"error_m\":\"far\"}},"
        "\"plans\":{\"ours_composed\":{\"straight/large\":[[1,2,NaN,3]]}},"
        "\"note\":\"NaN in a text \\\"stays\\\" NaN\"}");
    Json *document = document_with(path, NULL);
    JsonRef root = json_root(document, "document"), messages, message;
    JsonRef table = entry_of(document, "tables", "passage");
    assert_empty(&table, 0, "All");
    assert_empty(&table, 0, "Held out");
    table = entry_of(document, "tables", "inference");
    assert_empty(&table, 0, "Error (m)");
    assert_ok(json_member(&messages, &root, "messages"));
    static const char *const said[] = {
        "4 values are not a number", "straight/large: not a plan of 32 x 4 numbers, not flown",
        "held_out.gates: not a finite number", "error_m: not a finite number"};
    int count = length_of(&root, "messages");
    for (int k = 0; k < 4; k++) {
        bool found = false;
        for (int i = 0; i < count; i++) {
            assert_ok(json_element(&message, &messages, i));
            found = found || strstr(json_chars(&message), said[k]);
        }
        if (!found) fail_msg("no message says '%s'", said[k]);
    }
    json_free(document);
    scratch_end(&scratch);
}

static void assert_same_flight(const ReportFlight *a, const ReportFlight *b)
{
    assert_int_equal(a->flown, b->flown);
    assert_int_equal(a->samples, b->samples);
    assert_memory_equal(&a->result.flight, &b->result.flight, sizeof a->result.flight);
    if (a->samples == 0) return;
    size_t size = (size_t)a->samples * sizeof(double);
    assert_memory_equal(a->positions, b->positions, 3 * size);
    assert_memory_equal(a->attitudes, b->attitudes, 4 * size);
    assert_memory_equal(a->speeds, b->speeds, size);
}

// Flights that were recorded before are taken as they are: nothing is flown again for them, and
// they are the same as those that the report would fly.
static void given_flights_stand_for_those_of_the_report(void **state)
{
    (void)state;
    const ReportSetup setup = {.no_defaults = true, .version = "1", .command = "x", .seed = 1};
    Report *own = open_report(race, NULL, NULL), *given;
    FacetPlanner expert = facet_race_expert();
    FacetCourseTask tasks[32];
    ReportFlight flights[32] = {{0}};
    assert_true(facet_race_task_max(race) <= 32);
    int count = facet_race_feasible_tasks(tasks, race), last = count - 1;
    assert_true(count > 1);
    assert_ok(report_fly(flights, race, &expert, tasks, count, 1, NULL));
    assert_true(flights[last].samples > 10);
    flights[last].speeds[0] += 1.0; // what a flight of the report's own would not have
    assert_ok(report_open(&given, race, &setup));
    report_give_flights(given, METHOD_EXPERT, flights, count);
    assert_null(flights[0].positions);
    assert_ok(report_fly_files(given));
    for (int i = 0; i < last; i++)
        assert_same_flight(report_flight(given, METHOD_EXPERT, tasks[i]),
                           report_flight(own, METHOD_EXPERT, tasks[i]));
    assert_near(report_flight(given, METHOD_EXPERT, tasks[last])->speeds[0],
                report_flight(own, METHOD_EXPERT, tasks[last])->speeds[0] + 1.0, 1e-12);
    assert_string_equal(given->origins[METHOD_EXPERT], "flights");
    report_flights_free(flights, count);
    report_close(given);
    report_close(own);
}

static void a_file_that_is_not_json_is_one_line(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    static const char *const texts[] = {"{\"methods\": {", "[1, 2]", "\"text\"", "{} {}"};
    for (int i = 0; i < 4; i++) {
        const char *path = scratch_write(&scratch, "eval.json", texts[i]);
        const ReportSetup setup = {.files = {[INPUT_EVAL] = path}, .no_defaults = true};
        Report *report;
        FacetStatus status = report_open(&report, race, &setup);
        assert_false(status.ok);
        assert_null(report);
        assert_non_null(strstr(status.text, path));
        assert_null(strchr(status.text, '\n'));
    }
    const ReportSetup setup = {.files = {[INPUT_CERTIFY] = "no-such.json"}, .no_defaults = true};
    Report *report;
    FacetStatus status = report_open(&report, race, &setup);
    assert_string_equal(status.text, "no-such.json: cannot open: No such file or directory");
    scratch_end(&scratch);
}

// Results of another command or of another course are refused, whoever wrote them.
static void results_of_something_else_are_refused(void **state)
{
    (void)state;
    static const struct {
        InputKind kind;
        const char *text, *words;
    } cases[] = {
        {INPUT_EVAL, "{\"command\":\"facet certify --samples 5\",\"tasks\":[]}",
         "file.json: expected results of facet eval, found those of facet certify --samples 5"},
        {INPUT_EVAL, "{\"tasks\":[],\"by_noise_level\":[]}",
         "file.json: expected results of facet eval, found those of facet certify"},
        {INPUT_EVAL, "{\"command\":\"facet eval --step-study\",\"curves\":[]}",
         "expected results of facet eval, found those of facet eval --step-study"},
        {INPUT_STEPS, "{\"command\":\"facet eval --seeds 5\",\"methods\":{}}",
         "expected results of facet eval --step-study, found those of facet eval --seeds 5"},
        {INPUT_VERIFY, "{\"command\":\"facet fly --task bend/small\"}",
         "expected results of facet fly --verify, found those of facet fly --task bend/small"},
        {INPUT_CERTIFY, "{\"command\":\"facet race\",\"planner\":\"policy\"}",
         "expected results of facet certify, found those of facet race"},
        {INPUT_CERTIFY, "{\"command\":\"facet certify --budget\",\"budgets\":[]}",
         "expected results of facet certify, found those of facet certify --budget"},
        {INPUT_BUDGET, "{\"command\":\"facet certify\",\"budgets\":[]}",
         "expected results of facet certify --budget, found those of facet certify"},
        {INPUT_LEAVE_ONE_OUT, "{\"command\":\"facet gate study\",\"protocols\":[]}",
         "expected results of facet study leave-one-out, found those of facet gate study"},
        {INPUT_GATE, "{\"command\":\"facet gate study\",\"protocols\":[]}",
         "expected results of facet gate, found those of facet gate study"},
        {INPUT_GATE, "{\"command\":\"facet gate study --ladder\",\"protocols\":[]}",
         "expected results of facet gate, found those of facet gate study --ladder"},
        {INPUT_GATE, "{\"command\":\"facet gate modality --weights 5\",\"choice\":{}}",
         "expected results of facet gate, found those of facet gate modality --weights 5"},
        {INPUT_GATE_STUDY, "{\"command\":\"facet gate study --ladder\",\"protocols\":[]}",
         "expected results of facet gate study, found those of facet gate study --ladder"},
        {INPUT_GATE_LADDER, "{\"command\":\"facet gate study --seeds 3\",\"protocols\":[]}",
         "expected results of facet gate study --ladder, found those of facet gate study --seeds"},
        {INPUT_MODALITY, "{\"command\":\"facet gate\",\"venues\":{}}",
         "expected results of facet gate modality, found those of facet gate"},
        {INPUT_PAIRS, "{\"command\":\"facet study operators\",\"operators\":[]}",
         "expected results of facet study pairs, found those of facet study operators"},
        {INPUT_GATE_STUDY, "{\"command\":\"facet gate --trials 3\",\"venues\":[]}",
         "expected results of facet gate study, found those of facet gate --trials 3"},
        {INPUT_EVAL,
         "{\"methods\":{\"knet\":{\"tasks\":[{\"track\":\"race1\",\"size\":\"wide\"}]}}}",
         "methods.knet.tasks[0]: expected tasks of this course, found race1/wide"},
        {INPUT_EVAL,
         "{\"methods\":{\"knet\":{\"tasks\":[{\"track\":\"bend\",\"size\":\"large\",\"gates\":7}]}}"
         "}",
         "bend/large: expected the 3 gates of this course, found 7 of another"},
        {INPUT_CERTIFY,
         "{\"by_noise_level\":[],\"tasks\":[{\"track\":\"bend\",\"size\":\"large\",\"gates\":[{}]}]"
         "}",
         "bend/large: expected the 3 gates of this course, found 1 of another"},
        {INPUT_VERIFY,
         "{\"verification\":[],\"tasks\":[{\"track\":\"bend\",\"size\":\"large\",\"gates\":3,"
         "\"speed_reference\":3.9}]}",
         "bend/large: expected the reference speed of this course and vehicle, 4 m/s, found 3.9"},
        {INPUT_LEAVE_ONE_OUT,
         "{\"recipes\":[{\"pairs\":[{\"track\":\"race1\",\"size\":\"wide\"}]}]}",
         "recipes[0].pairs[0]: expected tasks of this course, found race1/wide"},
        {INPUT_OPERATORS,
         "{\"operators\":[],\"methods\":{\"sum\":{\"tasks\":[{\"track\":\"race1\",\"size\":"
         "\"wide\"}]}}}",
         "methods.sum.tasks[0]: expected tasks of this course, found race1/wide"},
        {INPUT_STEPS,
         "{\"curves\":[{\"method\":\"ours\",\"gates\":{\"all\":10}},{\"method\":\"factored\","
         "\"gates\":{\"all\":104}}]}",
         "file.json: curves[1].gates.all: expected the 10 gates of this course, found 104 of "
         "another"},
        {INPUT_STEPS, "{\"curves\":[{\"gates\":{\"all\":9}}]}",
         "expected the 10 gates of this course, found 9 of another"},
        {INPUT_BUDGET, "{\"budgets\":[{\"tasks\":3},{\"tasks\":14}]}",
         "file.json: budgets[1].tasks: expected at most 4 tasks of this course, found 14 of "
         "another"},
    };
    Scratch scratch = scratch_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Report *report;
        ReportSetup setup = {.no_defaults = true, .version = "1", .command = "x"};
        setup.files[cases[i].kind] = scratch_write(&scratch, "file.json", cases[i].text);
        assert_refused(report_open(&report, race, &setup), cases[i].words);
        assert_null(report);
    }
    scratch_end(&scratch);
}

// Members of any other kind than expected never get further than a cell without a number.
static void documents_of_odd_shapes_make_a_report(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    static const char *const texts[] = {
        "{}",
        "{\"methods\":[],\"plans\":[],\"ddim_sweep\":{},\"tasks\":3}",
        "{\"methods\":{\"ours_composed\":7},\"plans\":{\"ours_composed\":\"x\"},\"ddim_sweep\":[1]"
        "}",
        "{\"methods\":{\"ours_composed\":{\"tasks\":[null,{\"track\":5,\"size\":[]}]}},"
        "\"plans\":{\"ours_composed\":{\"straight/large\":null,\"nowhere/wide\":[],\"\":[]}}}",
        "{\"tasks\":[{},null,{\"track\":\"bend\",\"size\":\"small\",\"gates\":{}},7],\"eps_d\":[],"
        "\"constants\":[1],\"interaction\":null,\"verification\":7,\"raw\":[]}",
        "{\"tasks\":[{\"track\":\"bend\",\"size\":\"small\",\"c_ltv\":-1,\"gates\":[{\"gate\":3,"
        "\"radius\":-5,\"half_width\":0,\"miss_nominal\":0},7,null]}],\"eps_d\":{\"levels\":[{},{}]"
        "}}",
        "{\"seed\":-3,\"version\":5,\"command\":{}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *path = scratch_write(&scratch, "odd.json", texts[i]);
        bool eval = strstr(texts[i], "methods"), verify = strstr(texts[i], "verification");
        const char *any = eval || verify ? NULL : path;
        const ReportSetup setup = {.files = {any, eval ? path : any, any, any, verify ? path : any},
                                   .no_defaults = true,
                                   .version = "1",
                                   .command = "x"};
        Report *report;
        assert_ok(report_open(&report, race, &setup));
        assert_ok(report_fly_files(report));
        Json *document = report_document(report), *again = read_again(document);
        json_free(again);
        json_free(document);
        report_close(report);
    }
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_expert_flies_without_any_file),
        cmocka_unit_test(given_flights_stand_for_those_of_the_report),
        cmocka_unit_test(plans_of_a_file_fly_as_they_did),
        cmocka_unit_test(a_policy_is_one_of_the_methods),
        cmocka_unit_test(the_bytes_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(tables_have_the_numbers_of_the_file),
        cmocka_unit_test(several_flights_of_a_task_are_one_row),
        cmocka_unit_test(certificates_stand_beside_the_papers),
        cmocka_unit_test(gates_that_were_not_attacked_are_not_certified),
        cmocka_unit_test(what_fails_its_check_is_said),
        cmocka_unit_test(the_step_study_is_a_table_and_a_figure),
        cmocka_unit_test(the_metaworld_study_is_two_tables),
        cmocka_unit_test(a_metaworld_study_is_no_evaluation),
        cmocka_unit_test(a_report_does_not_miss_metaworld),
        cmocka_unit_test(a_spread_has_a_cap_at_both_ends),
        cmocka_unit_test(a_method_that_is_missing_is_left_out),
        cmocka_unit_test(numbers_that_are_none_become_null_with_a_message),
        cmocka_unit_test(a_file_that_is_not_json_is_one_line),
        cmocka_unit_test(documents_of_odd_shapes_make_a_report),
        cmocka_unit_test(results_of_something_else_are_refused),
    };
    return cmocka_run_group_tests(tests, open_small, close_small);
}
