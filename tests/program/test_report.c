// facet report, and the page of facet race, as a user runs them.
#include "base/file.h"
#include "base/json.h"
#include "program/program.h"
#include "scratch.h"

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void a_report_of_nothing_but_flights(void **state)
{
    (void)state;
    Run result = run("report " SAMPLE "--json data.json --figures figures");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_string_equal(result.out, "out/report.html\n");
    assert_true(exists("out/report.html") && exists("figures/track-bend.svg"));
    Json *document;
    assert_ok(json_read(&document, "data.json"));
    JsonRef root = json_root(document, "data"), tasks;
    int count;
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_length(&count, &tasks));
    assert_int_equal(count, 4);
    json_free(document);
}

// A course that is named is another study, even where it has the shipped one's tracks: nothing that
// ships is flown on it.
static void a_course_of_ones_own_has_the_expert_alone(void **state)
{
    (void)state;
    Run result = run("report --quiet --courses " TEST_SOURCE "/courses --out own.html --json "
                     "own.json");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    Json *document;
    JsonRef methods, method;
    char id[32];
    int count;
    assert_ok(json_read(&document, "own.json"));
    JsonRef root = json_root(document, "own.json");
    assert_ok(json_member(&methods, &root, "methods"));
    assert_ok(json_length(&count, &methods));
    assert_int_equal(count, 1);
    assert_ok(json_element(&method, &methods, 0));
    assert_ok(json_member_string(id, sizeof id, &method, "id"));
    assert_string_equal(id, "expert");
    json_free(document);
}

static void the_single_gate_joins_the_report(void **state)
{
    (void)state;
    Run result = run("report " SAMPLE
                     "--out gate.html --json data.json --figures figures --gate " TEST_SOURCE
                     "/tests/report/gate.json");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_true(exists("gate.html") && exists("figures/gate-pool.svg"));
    Json *document;
    assert_ok(json_read(&document, "data.json"));
    JsonRef root = json_root(document, "data"), gate, venues;
    int count;
    assert_ok(json_member(&gate, &root, "gate"));
    assert_ok(json_member(&venues, &gate, "venues"));
    assert_ok(json_length(&count, &venues));
    assert_int_equal(count, 4);
    json_free(document);
}

// Those that no flight of this run is part of.
static void figures_of_docs_are_those_of_the_results(void **state)
{
    (void)state;
    static const char *const names[] = {"race-study",  "gate-study-1",     "gate-study-2",
                                        "mechanism",   "leave-one-out",    "step-study",
                                        "budget",      "certificate",      "ddim-sweep",
                                        "interaction", "certificate-gates"};
    assert_int_equal(run("report --quiet --out docs.html --figures drawn").code, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[400], *drawn, *kept;
        size_t size;
        snprintf(path, sizeof path, "drawn/%s.svg", names[i]);
        assert_ok(file_read(&drawn, &size, path));
        snprintf(path, sizeof path, TEST_SOURCE "/docs/figures/%s.svg", names[i]);
        assert_ok(file_read(&kept, &size, path));
        if (strcmp(drawn, kept) != 0)
            fail_msg("docs/figures/%s.svg is not what facet report --figures draws", names[i]);
        free(drawn);
        free(kept);
    }
}

static void losses_of_trainings_join_the_report(void **state)
{
    (void)state;
    assert_int_equal(run("demos " SAMPLE "--rollouts 2 --out demos.h5").code, 0);
    Run result = run("train --data demos.h5 --out p.safetensors --blocks 1 --channels 8 --embed 4 "
                     "--updates 10 --batch 4 --hold-out bend/large --quiet");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, " parameters in all"));
    assert_null(strstr(result.out, "0.00 M"));
    result = run("report " SAMPLE "--out losses.html --figures losses --training p.safetensors.csv "
                 "--training p.safetensors.csv");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_true(exists("losses.html") && exists("losses/training.svg"));
    result = run("report " SAMPLE "--out losses.html --training nothing.csv");
    assert_int_equal(result.code, 1);
    assert_string_equal(result.err, "facet report: nothing.csv: cannot open: No such file or "
                                    "directory\n");
}

static void a_race_writes_its_page(void **state)
{
    (void)state;
    Run result = run("race " SAMPLE "--report pages/mine.html --json race.json");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "pages/mine.html\n"));
    assert_true(exists("pages/mine.html"));
    Json *document;
    assert_ok(json_read(&document, "race.json"));
    JsonRef root = json_root(document, "race"), plans, expert, plan;
    int count;
    assert_ok(json_member(&plans, &root, "plans"));
    assert_ok(json_member(&expert, &plans, "expert"));
    assert_ok(json_member(&plan, &expert, "straight/large"));
    assert_ok(json_length(&count, &plan));
    assert_int_equal(count, 32);
    char command[256];
    assert_ok(json_member_string(command, sizeof command, &root, "command"));
    assert_null(strstr(command, "mine.html")); // changes nothing in the results
    json_free(document);

    result = run("race " SAMPLE "--no-report");
    assert_int_equal(result.code, 0);
    assert_null(strstr(result.out, ".html"));
    assert_false(exists("out/race.html"));
}

static void bad_input_is_one_line(void **state)
{
    (void)state;
    FILE *broken = fopen("broken.json", "w");
    assert_non_null(broken);
    fputs("{\"methods\": {\n", broken);
    assert_int_equal(fclose(broken), 0);
    assert_fails(
        "report " SAMPLE "--out no.html --eval broken.json", 1,
        "facet report: broken.json: line 2: expected valid JSON, found the end of the text\n");
    assert_false(exists("no.html"));
    assert_fails("report " SAMPLE "--out no.html --certify missing.json", 1,
                 "facet report: missing.json: cannot open: No such file or directory\n");
    assert_fails(
        "report " SAMPLE "--out no.html --gate broken.json", 1,
        "facet report: broken.json: line 2: expected valid JSON, found the end of the text\n");
    assert_fails("report " SAMPLE "--out no.html --gate missing.json", 1,
                 "facet report: missing.json: cannot open: No such file or directory\n");
    assert_fails("report " SAMPLE "--out broken.json/page.html", 1,
                 "facet report: broken.json: expected a folder, found something else\n");
    assert_fails("race " SAMPLE "--report broken.json/page.html", 1,
                 "facet race: broken.json: expected a folder, found something else\n");
    assert_false(exists("no.html"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_report_of_nothing_but_flights),
        cmocka_unit_test(a_course_of_ones_own_has_the_expert_alone),
        cmocka_unit_test(the_single_gate_joins_the_report),
        cmocka_unit_test(figures_of_docs_are_those_of_the_results),
        cmocka_unit_test(losses_of_trainings_join_the_report),
        cmocka_unit_test(a_race_writes_its_page),
        cmocka_unit_test(bad_input_is_one_line),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
