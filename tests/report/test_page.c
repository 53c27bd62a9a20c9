// The page and its figures as files: hostile names, sizes, XML that a parser accepts.
#include "report/page_data.h"
#include "report/reports.h"

#include <sys/wait.h>

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) count++;
    return count;
}

static void figures_are_xml(const char *folder)
{
    char command[512];
    snprintf(command, sizeof command, "/usr/bin/python3 %s/check_svg.py %s/*.svg >/dev/null",
             TEST_DATA, folder);
    int status = system(command);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void remove_folder(const char *folder)
{
    char path[512];
    DIR *stream = opendir(folder);
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        if (entry->d_name[0] != '.') remove(path);
    }
    if (stream) closedir(stream);
    rmdir(folder);
}

static const char hostile[] = "</script><script>alert(1)</script><!--";

// A course whose every text would like to be a script.
static void write_hostile_course(Scratch *scratch)
{
    scratch_write(
        scratch, "course.json",
        "{\"arena\":{\"min\":[-10,-10,0],\"max\":[10,10,5]},\"speeds\":{\"min\":2,"
        "\"max\":3},\"openings\":[{\"name\":\"<b>'x'&amp;\",\"half_width\":1}],\"gates\":["
        "{\"name\":\"]]>\\\"'&lt;<!--\",\"center\":[-2,0,1.5],\"normal\":[1,0,0]},"
        "{\"name\":\"<script>\",\"center\":[2,0,1.5],\"normal\":[1,0,0]}],"
        "\"held_out\":[\"<script>alert(1)<!--/<b>'x'&amp;\"]}");
    scratch_write(scratch, "track.json",
                  "{\"name\":\"<script>alert(1)<!--\",\"description\":\"</script><script>alert(1)"
                  "</script>\\u2028\",\"path\":[[-5,0,1.5],\"]]>\\\"'&lt;<!--\",\"<script>\","
                  "[5,0,1.5]]}");
}

static void hostile_texts_stay_texts(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin(), out = scratch_begin();
    write_hostile_course(&scratch);
    FacetRace *race = open_race(scratch.folder, 1);
    char eval[256], certify[256], figures[64], page_path[64];
    snprintf(eval, sizeof eval, "{\"command\":\"%s\",\"version\":\"%s\",\"plans\":{\"%s\":{}}}",
             hostile, hostile, hostile);
    snprintf(certify, sizeof certify,
             "{\"tasks\":[{\"track\":\"<script>alert(1)<!--\",\"size\":\"<b>'x'&amp;\","
             "\"c_ltv\":3,\"not_certified\":\"%s\xff\xfe\"}]}",
             hostile);
    char *eval_path = strdup(scratch_write(&out, "eval.json", eval));
    char *certify_path = strdup(scratch_write(&out, "certify.json", certify));
    Report *report = open_report(race, eval_path, certify_path);
    Json *document = report_document(report);
    snprintf(figures, sizeof figures, "%s/figures", out.folder);
    snprintf(page_path, sizeof page_path, "%s/page.html", out.folder);
    assert_ok(report_write_page(page_path, document, NULL));
    assert_ok(report_write_figures(figures, document, NULL));

    char *page, *data;
    size_t size;
    assert_ok(file_read(&page, &size, page_path));
    assert_int_equal(strlen(page), size);
    data = data_of(page);
    assert_null(strchr(data, '<'));
    assert_null(strchr(data, '>'));
    assert_null(strchr(data, '&'));
    Json *again;
    assert_ok(json_parse(&again, data, "data"));
    JsonRef root = json_root(again, "data"), tasks, task, source;
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_element(&task, &tasks, 0));
    assert_string_equal(chars_of(&task, "id"), "<script>alert(1)<!--/<b>'x'&amp;");
    source = entry_of(again, "sources", "eval");
    assert_string_equal(chars_of(&source, "command"), hostile);
    JsonRef table = entry_of(again, "tables", "certificates");
    char name[128];
    snprintf(name, sizeof name, "%s??", hostile);
    assert_text_in(&table, 0, "Remark", name);
    assert_text_in(&table, 0, "Task", "<script>alert(1)<!--/<b>'x'&amp;");
    figures_are_xml(figures);
    json_free(again);
    free(data);

    // The page around the data is the one with no data at all.
    Json *nothing = json_object();
    assert_ok(report_write_page(page_path, nothing, NULL));
    char *plain;
    assert_ok(file_read(&plain, &size, page_path));
    assert_int_equal(count_of(plain, "</script"), count_of(page, "</script"));
    assert_int_equal(count_of(plain, "<!--"), count_of(page, "<!--"));
    assert_int_equal(count_of(plain, "id=\"facet-data\">{}</script>"), 1);
    free(plain);
    free(page);
    json_free(nothing);
    json_free(document);
    report_close(report);
    facet_race_close(race);
    remove_folder(figures);
    free(eval_path);
    free(certify_path);
    scratch_end(&out);
    scratch_end(&scratch);
}

// A host that says stop when it is asked for the n-th time; 0 for never.
typedef struct Host {
    int asked, stops_at;
    int plans, flights; // asked for in these stages
} Host;

static bool answer(void *context, const FacetProgressEvent *event)
{
    Host *host = context;
    host->plans += strcmp(event->stage, "plans") == 0;
    host->flights += strcmp(event->stage, "flights") == 0;
    return ++host->asked != host->stops_at;
}

typedef FacetStatus Write(const char *path, const Json *document, const FacetProgress *progress);

// The work asks often, and a stop at any time leaves no file.
static void assert_stops(Write *write, const char *path, const Json *document, int least)
{
    Host host = {0};
    const FacetProgress progress = {.report = answer, .context = &host};
    assert_ok(write(path, document, &progress));
    assert_int_equal(remove(path), 0);
    int asked = host.asked;
    assert_true(asked >= least);
    for (int i = 0; i < 5; i++) {
        host = (Host){.stops_at = 1 + i * (asked - 1) / 4};
        assert_int_equal(write(path, document, &progress).code, FACET_INTERRUPTED);
        assert_int_equal(host.asked, host.stops_at);
        assert_int_equal(access(path, F_OK), -1);
    }
}

// All 20 tasks and all methods: under 5 MB, every figure drawn once and well formed.
static void the_whole_study_fits(void **state)
{
    (void)state;
    Scratch out = scratch_begin();
    FacetRace *race = open_race(TEST_SOURCE "/courses", 0);
    char *eval = write_eval(&out, "eval.json", race, all_methods, 7, "");
    Report *report = open_report(race, eval, NULL);
    Json *document = report_document(report);
    char figures[64], path[160];
    snprintf(figures, sizeof figures, "%s/figures", out.folder);
    snprintf(path, sizeof path, "%s/page.html", out.folder);
    assert_ok(report_write_page(path, document, NULL));
    assert_ok(report_write_figures(figures, document, NULL));
    assert_ok(report_write_animation(figures, report));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_in_range(info.st_size, 1000000, 2500000);
    snprintf(path, sizeof path, "%s/stopped", out.folder);
    assert_stops(report_write_page, path, document, 20);
    assert_stops(report_write_data, path, document, 10);
    Host host = {.stops_at = 3};
    const FacetProgress progress = {.report = answer, .context = &host};
    assert_int_equal(report_write_figures(figures, document, &progress).code, FACET_INTERRUPTED);
    host = (Host){.stops_at = 2};
    report->progress = &progress;
    assert_int_equal(report_add_live(report, TEST_SOURCE "/models/live.safetensors").code,
                     FACET_INTERRUPTED);
    assert_int_equal(host.asked, 2);
    assert_int_equal(host.plans, 2);
    assert_int_equal(report->live.count, 0);
    host = (Host){0};
    assert_ok(report_add_live(report, TEST_SOURCE "/models/live.safetensors"));
    assert_true(host.plans > 20);
    assert_true(host.flights > 20);
    Json *again = read_again(document);
    JsonRef root = json_root(again, "document");
    assert_int_equal(length_of(&root, "flights"), 20 * 8);
    json_free(again);
    figures_are_xml(figures);
    static const char *const names[] = {"grid", "passage", "ddim-sweep", "track-race1",
                                        "track-race8"};
    for (int i = 0; i < 5; i++) {
        char *svg;
        size_t size;
        snprintf(path, sizeof path, "%s/%s.svg", figures, names[i]);
        assert_ok(file_read(&svg, &size, path));
        JsonRef figure = entry_of(document, "figures", names[i]);
        assert_string_equal(svg, chars_of(&figure, "svg"));
        free(svg);
    }
    json_free(document);
    report_close(report);
    facet_race_close(race);
    remove_folder(figures);
    free(eval);
    scratch_end(&out);
}

static void a_page_that_cannot_be_written_leaves_nothing(void **state)
{
    (void)state;
    Json *nothing = json_object();
    FacetStatus status = report_write_page("no-such-folder/page.html", nothing, NULL);
    assert_string_equal(status.text,
                        "no-such-folder/page.html: cannot create: No such file or directory");
    json_free(nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_texts_stay_texts),
        cmocka_unit_test(the_whole_study_fits),
        cmocka_unit_test(a_page_that_cannot_be_written_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
