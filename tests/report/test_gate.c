// The single gate in a report: beside a race and alone, what broken fields become, hostile names.
#include "report/gate_study.h"
#include "report/page_data.h"
#include "report/reports.h"

#include <sys/wait.h>

#define SAMPLE_GATE TEST_DATA "/gate.json" // made by make_gate.py

static Report *open_gate(const FacetRace *race, const char *path)
{
    const ReportSetup setup = {.files = {[INPUT_GATE] = path},
                               .no_defaults = true,
                               .version = "1.2.3",
                               .command = "facet report",
                               .seed = 1};
    Report *report;
    assert_ok(report_open(&report, race, &setup));
    assert_ok(report_fly_files(report));
    return report;
}

static Json *document_of(const char *path)
{
    Report *report = open_gate(NULL, path);
    Json *made = report_document(report), *document = read_again(made);
    json_free(made);
    report_close(report);
    return document;
}

static Json *document_of_text(Scratch *scratch, const char *text)
{
    return document_of(scratch_write(scratch, "gate.json", text));
}

static JsonRef venue_at(const Json *document, int index)
{
    JsonRef root = json_root(document, "document"), gate, venues, venue;
    assert_ok(json_member(&gate, &root, "gate"));
    assert_ok(json_member(&venues, &gate, "venues"));
    assert_ok(json_element(&venue, &venues, index));
    return venue;
}

static double number_of(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e9, 1e9));
    return value;
}

// ---- What is in it ------------------------------------------------------------------------------

static void venues_have_their_counts_and_frames(void **state)
{
    (void)state;
    static const char *const names[] = {"Field", "industrial", "piazza", "pool"};
    static const int success[] = {17, 16, 18, 13};
    Json *document = document_of(SAMPLE_GATE);
    JsonRef root = json_root(document, "document"), gate;
    assert_int_equal(length_of(&root, "messages"), 0);
    assert_false(json_has(&root, "tasks"));
    assert_int_equal(length_of(&root, "sources"), 1);
    assert_int_equal(length_of(&root, "figures"), 4);
    assert_ok(json_member(&gate, &root, "gate"));
    assert_int_equal(length_of(&gate, "venues"), 4);
    assert_string_equal(chars_of(&gate, "mode"), "composed");
    for (int i = 0; i < 4; i++) {
        JsonRef venue = venue_at(document, i), held_out, frames, frame;
        double time = 0.0, distance = 100.0;
        assert_string_equal(chars_of(&venue, "name"), names[i]);
        assert_ok(json_member(&held_out, &venue, "held_out"));
        assert_int_equal(json_is_true(&held_out), i == 3);
        assert_int_equal((int)number_of(&venue, "success"), success[i]);
        assert_ok(json_member(&frames, &venue, "frames"));
        assert_int_equal(length_of(&venue, "frames"), 3);
        for (int k = 0; k < 3; k++) { // in order, and ever nearer
            assert_ok(json_element(&frame, &frames, k));
            assert_true(number_of(&frame, "time") > time);
            assert_true(number_of(&frame, "distance") < distance);
            time = number_of(&frame, "time");
            distance = number_of(&frame, "distance");
            assert_memory_equal(chars_of(&frame, "png"), "iVBORw0KGgo", 11);
        }
        JsonRef figure = entry_of(document, "figures", chars_of(&venue, "figure"));
        assert_string_equal(chars_of(&figure, "group"), "gate");
        assert_non_null(strstr(chars_of(&figure, "svg"), "through the gate after"));
    }
    JsonRef pool = venue_at(document, 3);
    assert_near(number_of(&pool, "low"), 0.4329, 1e-4); // Wilson, 13 of 20
    assert_near(number_of(&pool, "high"), 0.8188, 1e-4);
    json_free(document);
}

static void tables_have_rates_intervals_and_the_papers(void **state)
{
    (void)state;
    Json *document = document_of(SAMPLE_GATE);
    JsonRef table = entry_of(document, "tables", "gate-venues");
    assert_int_equal(length_of(&table, "rows"), 5);
    assert_text_in(&table, 0, "Venue", "Field");
    assert_near(number_in(&table, 0, "Success (%)"), 85.0, 1e-12);
    assert_text_in(&table, 0, "95 %, success", "64–95 %");
    assert_empty(&table, 0, "Paper, success");
    assert_text_in(&table, 3, "Venue", "all of training");
    assert_near(number_in(&table, 3, "Trials"), 60.0, 0.0);
    assert_near(number_in(&table, 3, "Crash (%)"), 100.0 * 5 / 60, 1e-12);
    assert_near(number_in(&table, 3, "Paper, success"), 63.3, 0.0);
    assert_near(number_in(&table, 3, "Paper, crash"), 10.6, 0.0);
    assert_text_in(&table, 4, "Split", "zero-shot");
    assert_near(number_in(&table, 4, "Time-out (%)"), 20.0, 1e-12);
    assert_text_in(&table, 4, "95 %, time-out", "8–42 %");
    assert_near(number_in(&table, 4, "Paper, success"), 36.7, 0.0);
    assert_string_equal(chars_of(&table, "command"), "facet gate --seed 1");
    table = entry_of(document, "tables", "gate-protocol-1");
    assert_string_equal(chars_of(&table, "title"), "Zero-shot venue: pool held out");
    assert_text_in(&table, 3, "Method", "Factored");
    assert_text_in(&table, 3, "Split", "zero-shot");
    assert_near(number_in(&table, 3, "Success (%)"), 100.0 * 71 / 120, 1e-12);
    assert_near(number_in(&table, 3, "Paper, crash"), 15.0, 0.0);
    assert_empty(&table, 5, "Paper, success"); // the paper has no oracle here
    table = entry_of(document, "tables", "gate-protocol-2");
    assert_text_in(&table, 1, "Split", "held out");
    assert_empty(&table, 0, "Paper, crash"); // null in the file
    table = entry_of(document, "tables", "gate-ablations");
    assert_int_equal(length_of(&table, "rows"), 6);
    assert_text_in(&table, 5, "Change", "frozen encoder");
    assert_near(number_in(&table, 5, "Crash (%)"), 50.0, 1e-12);
    json_free(document);
}

// facet gate study writes its tables as a document of their own, which counts first.
static void a_study_may_have_its_own_file(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *path = strdup(scratch_write(
        &scratch, "study.json",
        "{\"command\":\"facet gate study\",\"protocols\":[{\"name\":\"zero-shot\",\"title\":\"Z\","
        "\"rows\":[{\"method\":\"Ours\",\"train\":{\"trials\":4,\"success\":3,\"crash\":1,"
        "\"timeout\":0},\"held_out\":{\"trials\":0,\"success\":0,\"crash\":0,\"timeout\":0},"
        "\"paper\":{}}]}],\"ablations\":[]}"));
    for (int with = 0; with < 2; with++) {
        const ReportSetup setup = {
            .files = {[INPUT_GATE] = with ? SAMPLE_GATE : NULL, [INPUT_GATE_STUDY] = path},
            .no_defaults = true,
            .version = "1",
            .command = "facet report"};
        Report *report;
        assert_ok(report_open(&report, NULL, &setup));
        Json *made = report_document(report), *document = read_again(made);
        JsonRef root = json_root(document, "document");
        JsonRef table = entry_of(document, "tables", "gate-protocol-1");
        assert_int_equal(length_of(&root, "messages"), 0);
        assert_int_equal(length_of(&root, "tables"), 1 + with);
        assert_int_equal(length_of(&table, "rows"), 1);
        assert_near(number_in(&table, 0, "Success (%)"), 75.0, 1e-12);
        assert_string_equal(chars_of(&table, "command"), "facet gate study");
        json_free(document);
        json_free(made);
        report_close(report);
    }
    free(path);
    scratch_end(&scratch);
}

static void it_stands_beside_a_race(void **state)
{
    (void)state;
    FacetRace *race = open_race(SMALL_COURSE, 1);
    for (int with = 0; with < 2; with++) {
        Report *report = open_gate(race, with ? SAMPLE_GATE : NULL);
        Json *made = report_document(report), *document = read_again(made);
        JsonRef root = json_root(document, "document");
        assert_int_equal(length_of(&root, "tasks"), 4);
        assert_int_equal(json_has(&root, "gate"), with);
        assert_int_equal(length_of(&root, "sources"), 6 + with);
        JsonRef tables, table;
        assert_ok(json_member(&tables, &root, "tables"));
        int count = 0;
        for (int i = 0; i < length_of(&root, "tables"); i++) {
            assert_ok(json_element(&table, &tables, i));
            count += strcmp(chars_of(&table, "group"), "gate") == 0;
        }
        assert_int_equal(count, with ? 4 : 0);
        json_free(document);
        json_free(made);
        report_close(report);
    }
    facet_race_close(race);
}

// What facet gate hands over in memory is the page of what it would have written.
static void a_page_of_a_run_needs_no_file(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *path = strdup(scratch_path(&scratch, "gate.html"));
    const ReportSetup setup = {
        .no_defaults = true, .version = "1.2.3", .command = "facet gate", .seed = 1};
    const double places[] = {0, -4, 1.8, 0, -2, 1.8, 0, 1, 1.8};
    Json *gate = json_object(), *venues = json_object(), *counts = json_object();
    Json *gates = json_array(), *one = json_object(), *flights = json_array();
    Json *flight = json_object(), *way = json_array();
    json_set_number(counts, "trials", 1);
    json_set_number(counts, "success", 1);
    json_set_number(counts, "crash", 0);
    json_set_number(counts, "timeout", 0);
    json_set(venues, "hall", counts);
    json_set(gate, "venues", venues);
    json_set_string(one, "name", "3");
    json_set(one, "center", json_from_vec3(vec3(0, 0, 1.8)));
    json_set(one, "normal", json_from_vec3(vec3(0, 1, 0)));
    json_push(gates, one);
    json_set(gate, "gates", gates);
    json_set_string(flight, "venue", "hall");
    json_set_string(flight, "color", "red");
    json_set_string(flight, "gate", "3");
    json_set_string(flight, "side", "+1");
    json_set_string(flight, "end", "success");
    json_set_number(flight, "duration", 0.2);
    for (int i = 0; i < 3; i++) json_push(way, json_from_numbers(places + 3 * i, 3, 3));
    json_set(flight, "path", way);
    json_push(flights, flight);
    json_set(gate, "flights", flights);
    assert_ok(report_write_gate(path, gate, &setup));

    char *page;
    size_t size;
    assert_ok(file_read(&page, &size, path));
    char *data = data_of(page);
    assert_non_null(strstr(data, "\"messages\":[]"));
    assert_non_null(
        strstr(data, "\"name\":\"hall\",\"held_out\":false,\"trials\":1,\"success\":1"));
    assert_non_null(strstr(data, "hall from above"));
    assert_non_null(strstr(data, "all venues")); // none is held out
    free(data);
    free(page);
    FacetStatus status = report_write_gate("no-such-folder/gate.html", gate, &setup);
    assert_string_equal(status.text,
                        "no-such-folder/gate.html: cannot create: No such file or directory");
    json_free(gate);
    free(path);
    scratch_end(&scratch);
}

// ---- Broken fields ------------------------------------------------------------------------------

#define COUNTS "{\"trials\":2,\"success\":1,\"crash\":1,\"timeout\":0}"
#define GATES  "\"gates\":[{\"name\":\"3\",\"center\":[0,0,1.8],\"normal\":[0,1,0]}],"
#define FLIGHT(extra)                                                                              \
    "{\"venue\":\"pool\",\"color\":\"red\",\"gate\":\"3\",\"side\":\"+1\",\"end\":\"success\","    \
    "\"duration\":4.5,\"path\":[[0,-4,1.8],[0,1,1.8]]" extra "}"
#define FRAME "{\"time\":1,\"png\":\"iVBORw0KGgoA\"}"

static const struct {
    const char *text, *said;
} broken[] = {
    {"{}", ": venues: expected a value, found nothing, left out"},
    {"{\"venues\":[]}", ": venues: expected an object with venues, found an array of 0, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "},\"held_out_venue\":\"lake\"," GATES "\"flights\":[]}",
     ": held_out_venue: expected one of the venues, found \"lake\", left out"},
    {"{\"venues\":{\"pool\":{\"trials\":2,\"success\":1,\"crash\":1,\"timeout\":1}}," GATES
     "\"flights\":[]}",
     ": venues.pool: expected success, crash and timeout to add up to 2 trials, found 1, 1 and 1, "
     "left out"},
    {"{\"venues\":{\"pool\":{\"trials\":2,\"success\":1.5}}," GATES "\"flights\":[]}",
     ": venues.pool.success: expected a whole number, found 1.5, left out"},
    {"{\"venues\":{\"pool\":{\"trials\":-2}}," GATES "\"flights\":[]}",
     ": venues.pool.trials: expected a number from 0 to 1e+06, found -2, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "},\"gates\":{},\"flights\":[]}",
     ": gates: expected a list, found an object, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "},\"gates\":[{\"name\":\"3\",\"center\":[0,0]}],\"flights\":"
     "[]}",
     ": gates[0].center: expected three numbers [x, y, z], found an array of 2, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES "\"half_width\":-1,\"flights\":[]}",
     ": half_width: expected a number from 0.01 to 100, found -1, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES "\"flights\":7}",
     ": flights: expected a list, found 7, left out"},
    {"{\"venues\":{\"lake\":" COUNTS "}," GATES "\"flights\":[" FLIGHT("") "]}",
     ": flights[0].venue: expected one of the venues, found \"pool\", left out"},
    {"{\"venues\":{\"pool\":" COUNTS "},\"gates\":[],\"flights\":[" FLIGHT("") "]}",
     ": flights[0].gate: expected one of the gates, found \"3\", left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES
     "\"flights\":[{\"venue\":\"pool\",\"color\":\"red\","
     "\"gate\":\"3\",\"side\":\"+1\",\"end\":\"lost\"}]}",
     ": flights[0].end: expected success, crash or timeout, found \"lost\", left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES
     "\"flights\":[{\"venue\":\"pool\",\"color\":\"red\","
     "\"gate\":\"3\",\"side\":\"+1\",\"end\":\"crash\",\"duration\":1,\"path\":[[0,0,1],[0,null,1]]"
     "}"
     "]}",
     ": flights[0].path[1][1]: expected a finite number, found null, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES
     "\"flights\":[{\"venue\":\"pool\",\"color\":\"red\","
     "\"gate\":\"3\",\"side\":\"+1\",\"end\":\"crash\",\"duration\":1,\"path\":[[0,1e200,1]]}]}",
     ": flights[0].path[0]: expected a place within 100 km, found [0, 1e+200, 1], left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES
     "\"flights\":[" FLIGHT(",\"frames\":[" FRAME "]") "]}",
     ": flights[0].frames: expected a list of three frames, found an array of 1, left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES "\"flights\":[" FLIGHT(
         ",\"frames\":[" FRAME "," FRAME ",{\"time\":2,\"png\":\"data:text/html,hello\"}]") "]}",
     ": flights[0].frames[2].png: expected a PNG file in base64, found \"data:text/html,hello\", "
     "left out"},
    {"{\"venues\":{\"pool\":" COUNTS "}," GATES
     "\"flights\":[],\"study\":{\"protocols\":[{\"name\":"
     "\"zero-shot\",\"rows\":[{\"method\":\"Factored\",\"train\":{\"trials\":\"many\"}}]}]}}",
     ": study.protocols[0].rows[0].train.trials: expected a number from 0 to 1e+06, found "
     "\"many\", left out"},
};

static void a_broken_field_is_one_line(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char *path = strdup(scratch_path(&scratch, "gate.json"));
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        Json *document = document_of_text(&scratch, broken[i].text);
        assert_message(document, path, broken[i].said);
        json_free(document);
    }
    free(path);
    scratch_end(&scratch);
}

// What is whole is shown although something else is broken.
static void the_rest_is_shown(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    Json *document =
        document_of_text(&scratch, "{\"venues\":{\"pool\":" COUNTS ",\"lake\":7}," GATES
                                   "\"flights\":[null," FLIGHT(",\"frames\":[]") ",{}," FLIGHT(
                                       ",\"frames\":[" FRAME "," FRAME "," FRAME "]") "]}");
    JsonRef root = json_root(document, "document"), venue = venue_at(document, 0);
    assert_int_equal(length_of(&root, "messages"), 3);
    assert_int_equal(length_of(&root, "figures"), 2);
    assert_int_equal(length_of(&venue, "frames"), 3);
    JsonRef figure = entry_of(document, "figures", "gate-pool");
    assert_non_null(strstr(chars_of(&figure, "caption"), "2 flights: 2 through"));
    venue = venue_at(document, 1);
    assert_int_equal(length_of(&venue, "frames"), 0);
    assert_false(json_has(&venue, "shown"));
    JsonRef table = entry_of(document, "tables", "gate-venues");
    assert_empty(&table, 1, "Success (%)");
    assert_near(number_in(&table, 2, "Trials"), 2.0, 0.0);
    json_free(document);
    scratch_end(&scratch);
}

static void documents_of_odd_shapes_make_a_page(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    static const char *const texts[] = {
        "{\"venues\":{\"\":null,\"a\":[],\"b\":\"x\"},\"gates\":[null,1,{}],\"flights\":[[],{},1]}",
        "{\"venues\":{\"a\":{}},\"study\":[],\"policy\":{},\"mode\":3,\"held_out_venue\":[]}",
        "{\"venues\":{\"a\":{}},\"study\":{\"protocols\":{\"a\":1},\"ablations\":[null,7,{}]}}",
        "{\"venues\":{\"a\":{}},\"study\":{\"protocols\":[null,{\"rows\":7},{\"rows\":[{}]}]}}",
        "{\"venues\":{\"a\":" COUNTS "},\"gates\":[{\"name\":\"3\",\"center\":[0,0,0],\"normal\":"
        "[0,0,1]}],\"flights\":[{\"venue\":\"a\",\"color\":\"\",\"gate\":\"3\"},{\"venue\":\"a\","
        "\"color\":\"x\",\"gate\":\"3\",\"side\":\"+1\",\"end\":\"timeout\",\"duration\":0,"
        "\"path\":[[0,0,0]]}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Json *document = document_of_text(&scratch, texts[i]);
        JsonRef root = json_root(document, "document");
        assert_true(json_has(&root, "gate"));
        json_free(document);
    }
    scratch_end(&scratch);
}

static void hostile_names_stay_texts(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    Json *document = document_of_text(
        &scratch,
        "{\"venues\":{\"../</script><script>\\\"'&\":" COUNTS "},\"gates\":[{\"name\":\"]]><!--\","
        "\"center\":[0,0,1],\"normal\":[1,0,0]}],\"flights\":[{\"venue\":\"../</script><script>"
        "\\\"'&\",\"color\":\"<b>\\\"\",\"gate\":\"]]><!--\",\"side\":\"'>\",\"end\":\"crash\","
        "\"duration\":1,\"path\":[[0,0,1],[1,1,1]]}]}");
    char folder[256], command[640];
    snprintf(folder, sizeof folder, "%s", scratch_path(&scratch, "figures"));
    assert_ok(report_write_figures(folder, document, NULL));
    snprintf(command, sizeof command,
             "/usr/bin/python3 %s/check_svg.py %s/gate-number-1.svg >/dev/null", TEST_DATA, folder);
    int status = system(command);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    snprintf(command, sizeof command, "%s/gate-number-1.svg", folder);
    remove(command);
    rmdir(folder);
    json_free(document);
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(venues_have_their_counts_and_frames),
        cmocka_unit_test(tables_have_rates_intervals_and_the_papers),
        cmocka_unit_test(a_study_may_have_its_own_file),
        cmocka_unit_test(it_stands_beside_a_race),
        cmocka_unit_test(a_page_of_a_run_needs_no_file),
        cmocka_unit_test(a_broken_field_is_one_line),
        cmocka_unit_test(the_rest_is_shown),
        cmocka_unit_test(documents_of_odd_shapes_make_a_page),
        cmocka_unit_test(hostile_names_stay_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
