// facet gate study: cells, their summary, what is refused and what goes on where it stopped.
#include "base/file.h"
#include "program/in_scratch.h"

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(&scratch, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// What a study's cell holds: two tasks, one of them held out. Then one that flies worse.
static const char cell[] = "{\"tasks\": [{\"task\": \"pool/red/1/+1\", \"held_out\": false, "
                           "\"trials\": 8, \"success\": 6, \"crash\": 1, \"timeout\": 1},"
                           "{\"task\": \"pool/red/1/-1\", \"held_out\": true, "
                           "\"trials\": 4, \"success\": 1, \"crash\": 2, \"timeout\": 1}]}";
static const char worse[] = "{\"tasks\": [{\"task\": \"pool/red/1/+1\", \"held_out\": false, "
                            "\"trials\": 8, \"success\": 2, \"crash\": 5, \"timeout\": 1},"
                            "{\"task\": \"pool/red/1/-1\", \"held_out\": true, "
                            "\"trials\": 4, \"success\": 0, \"crash\": 2, \"timeout\": 2}]}";

static void check_seeds(const JsonRef *row, int expected, double rate)
{
    JsonRef seeds, success, held_out;
    int count;
    double mean;
    assert_ok(json_member(&seeds, row, "seeds"));
    assert_ok(json_length(&count, &seeds));
    assert_int_equal(count, expected);
    assert_ok(json_member(&success, row, "success"));
    assert_ok(json_member(&held_out, &success, "held_out"));
    assert_ok(json_member_number(&mean, &held_out, "mean", 0.0, 1.0));
    assert_near(mean, rate, 1e-12);
}

// Ours is ahead by so much on tasks that training saw and on others.
static void check_lead(const JsonRef *row, double train, double held_out)
{
    JsonRef lead, at;
    double mean;
    assert_ok(json_member(&lead, row, "ours_ahead"));
    assert_ok(json_member(&at, &lead, "train"));
    assert_ok(json_member_number(&mean, &at, "mean", -1.0, 1.0));
    assert_near(mean, train, 1e-12);
    assert_ok(json_member(&at, &lead, "held_out"));
    assert_ok(json_member_number(&mean, &at, "mean", -1.0, 1.0));
    assert_near(mean, held_out, 1e-12);
}

// On the mean of a row's trainings, of tasks of a split.
static double success_of(const JsonRef *row, const char *split)
{
    JsonRef success, at;
    double mean;
    assert_ok(json_member(&success, row, "success"));
    assert_ok(json_member(&at, &success, split));
    assert_ok(json_member_number(&mean, &at, "mean", 0.0, 1.0));
    return mean;
}

// Every row of a protocol is held against ours of that protocol, which stands in row 5.
static void check_leads(const JsonRef *protocol)
{
    JsonRef table, ours, row;
    int count;
    assert_ok(json_member(&table, protocol, "rows"));
    assert_ok(json_length(&count, &table));
    assert_int_equal(count, 8);
    assert_ok(json_element(&ours, &table, 5));
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&row, &table, i));
        if (i != 5)
            check_lead(&row, success_of(&ours, "train") - success_of(&row, "train"),
                       success_of(&ours, "held_out") - success_of(&row, "held_out"));
    }
}

// Of a study with venues of this hash.
static void write_settings(const char *venues)
{
    char text[300];
    snprintf(
        text, sizeof text,
        "{\"settings\": \"seed 1, demos 600, updates 10000, rounds 2, flights 100, train 0, "
        "held-out 0, venues %s, observer time 0.3, velocity time 4, samples a frame 1, fix share "
        "0.25, fix floor 1.5, refuse 0, "
        "refuse most 3\"}",
        venues);
    write_text("settings.json", text);
}

// A cell of so many tasks, all with the most trials that one may have.
static void write_large_cell(const char *name, int tasks)
{
    FILE *file = fopen(scratch_path(&scratch, name), "w");
    assert_non_null(file);
    for (int i = 0; i < tasks; i++)
        fprintf(file,
                "%s{\"task\": \"t%d\", \"held_out\": true, \"trials\": 1000000, \"success\": "
                "1000000, \"crash\": 0, \"timeout\": 0}",
                i ? "," : "{\"tasks\": [", i);
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
}

// What the cells of other seeds, or all of them together, cannot be is refused.
static void refuse_wrong_cells(void)
{
    static const char other[] = "{\"tasks\": [{\"task\": \"pool/red/1/+1\", \"held_out\": true, "
                                "\"trials\": 8, \"success\": 6, \"crash\": 1, \"timeout\": 1},"
                                "{\"task\": \"pool/red/1/-1\", \"held_out\": true, "
                                "\"trials\": 4, \"success\": 1, \"crash\": 2, \"timeout\": 1}]}";
    write_text("zero-shot-baseline-2.json", other);
    refused("gate study --out @", 1,
            "zero-shot-baseline-2.json: tasks[0]: expected the task of the other seeds");
    write_large_cell("zero-shot-baseline-1.json", 600);
    write_large_cell("zero-shot-baseline-2.json", 600);
    refused("gate study --out @", 1,
            "zero-shot-baseline-2.json: tasks[400]: expected fewer trials in all");
    write_text("zero-shot-baseline-1.json", cell);
    write_text("zero-shot-baseline-2.json", cell);
}

// A row of which the policy is missing trains it with these words, and flies it with those. As many
// operations as ours are 1.645 times the updates.
static void check_controls(void)
{
    static const struct {
        const char *cell, *model, *trained, *flown;
    } rows[] = {
        {"zero-shot-longer", "zero-shot-longer", " --hold-out venue=pool --updates 16450 ",
         " --mode composed "},
        {"zero-shot-told", "zero-shot-told", " --drop venue=1,color=0,gate=0,side=0 ",
         " --mode joint "},
        {"zero-shot-drop5", "zero-shot-drop5", " --drop 0.5 ", " --mode composed "},
        {"zero-shot-oracle-ours", "oracle-ours", " --method oracle --composed-loss 0.3 ",
         " --mode composed --hold-out venue=pool "},
        {"within-told", "within-told", " --method factored --drop 0 ", " --mode joint "},
        {"zero-shot-drop-null", "zero-shot-drop", " --drop venue=0.4 ", " --open venue "},
    };
    write_text("all.h5", "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64], line[100];
        snprintf(name, sizeof name, "%s-1.json", rows[i].cell);
        snprintf(line, sizeof line, "gate study --out @ --method %s", rows[i].cell);
        assert_int_equal(unlink(scratch_path(&scratch, name)), 0);
        Run result = facet(line);
        assert_int_equal(result.code, 1); // no frames are in the files
        assert_non_null(strstr(result.out, rows[i].trained));
        snprintf(name, sizeof name, "%s-1.safetensors", rows[i].model);
        write_text(name, "");
        result = facet(line);
        assert_int_equal(result.code, 1);
        assert_non_null(strstr(result.out, rows[i].flown));
    }
}

// A study whose cells are all there shows its tables and makes nothing, neither policies nor
// frames; without one of them it makes what that one needs.
static void a_study_goes_on_where_it_stopped(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "zero-shot-baseline", "zero-shot-told", "zero-shot-factored", "zero-shot-longer",
        "zero-shot-drop5",    "zero-shot-ours", "zero-shot-oracle",   "zero-shot-oracle-ours",
        "within-baseline",    "within-told",    "within-factored",    "within-longer",
        "within-drop5",       "within-ours",    "within-oracle",      "within-oracle-ours",
        "zero-shot-joint",    "zero-shot-null", "zero-shot-drop",     "zero-shot-drop-null",
        "zero-shot-frozen"};
    char hash[17];
    write_text("zero-shot.h5", "");
    refused("gate study --out @", 1, "zero-shot.h5: expected settings.json beside it");
    write_settings("0");
    Run other = facet("gate study --out @");
    const char *venues = strstr(other.err, "with venues ");
    assert_non_null(venues);
    snprintf(hash, sizeof hash, "%s", venues + strlen("with venues "));
    write_settings(hash);
    refused("gate study --out @ --rounds 3", 1, "with rounds 3, found one with rounds 2");
    refused("gate study --out @ --near 0.5", 1, "with near 0.5, found one with observer time 0.3");
    refused("gate study --out @ --samples-a-frame 4 --refuse 3", 1,
            "with samples a frame 4, found one with samples a frame 1");
    refused("gate study --out @ --fix-share 0", 1,
            "with fix share 0, found one with velocity time 4");
    // Samples weigh fixes without a share.
    refused("gate study --out @ --fix-share 0 --samples-a-frame 4 --refuse 3", 1,
            "with samples a frame 4, found one with samples a frame 1");
    refused("gate study --out @ --observer-time 0.31", 1,
            "with observer time 0.31, found one with observer time 0.3");
    refused("gate study --out @ --velocity-time 3", 1,
            "with velocity time 3, found one with velocity time 4");
    refused("gate study --out @ --method zero-shot-our", 2, "did you mean 'zero-shot-ours'?");
    // No hours of training before trials that cannot be flown.
    refused("gate study --out @ --velocity-time 0.05", 2,
            "--velocity-time: expected 0 or no less than the 0.1 s of a frame, found 0.05");
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s-1.json", cells[i]);
        write_text(name, cell);
    }
    write_text("zero-shot-baseline-2.json", cell);
    write_text("zero-shot-told-1.json", worse);
    write_text("within-ours-1.json", worse);
    // The cells belong to these settings, in whatever folder the rest is.
    refused("gate study --out @/other --cells @ --updates 7", 1,
            "with updates 7, found one with updates 10000");
    Run result = facet("gate study --out @");
    assert_int_equal(result.code, 0);
    assert_null(strstr(result.out, "$ facet"));
    assert_true(has_line(result.out, "Baseline 16 75.0 51–90 % 41.7 12.5 34.4")); // of two seeds
    assert_true(has_line(result.out, "Told, no dropout* 4 0.0 0–49 % — 50.0 —"));
    assert_fits(result.out);
    JsonRef root, list, protocol, table, row, tally;
    Json *document = read_json(&root, "study.json");
    assert_ok(json_member(&list, &root, "protocols"));
    assert_ok(json_element(&protocol, &list, 0));
    assert_text(&protocol, "name", "zero-shot");
    assert_ok(json_member(&table, &protocol, "rows"));
    assert_ok(json_element(&row, &table, 0));
    assert_ok(json_member(&tally, &row, "held_out"));
    assert_int_equal(count_of(&tally, "crash"), 4);
    check_seeds(&row, 2, 0.25);
    check_lead(&row, 0.0, 0.0);
    assert_ok(json_element(&row, &table, 1));
    check_seeds(&row, 1, 0.0);
    check_lead(&row, 0.5, 0.25);
    assert_ok(json_element(&row, &table, 5));
    assert_text(&row, "cell", "zero-shot-ours");
    assert_false(json_has(&row, "ours_ahead"));
    for (int p = 0; p < 2; p++) {
        assert_ok(json_element(&protocol, &list, p));
        check_leads(&protocol);
    }
    json_free(document);
    refuse_wrong_cells();
    // A checkpoint beside a policy says that it is not finished, and so do frames of a round, which
    // go last; these have no frames. The rows that are not asked for are left as they are.
    write_text("within.h5", "");
    write_text("within-ours-1.safetensors", "");
    write_text("within-ours-1.safetensors.round2.h5", "");
    assert_int_equal(unlink(scratch_path(&scratch, "within-ours-1.json")), 0);
    result = facet("gate study --out @");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.out, "$ facet gate train"));
    assert_int_equal(unlink(scratch_path(&scratch, "within-ours-1.safetensors.round2.h5")), 0);
    write_text("within-ours-1.safetensors.ckpt", "");
    result = facet("gate study --out @ --method zero-shot-ours");
    assert_int_equal(result.code, 0);
    assert_null(strstr(result.out, "$ facet"));
    result = facet("gate study --out @");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.out, "$ facet gate train"));
    assert_non_null(strstr(result.out, "within-ours-1.safetensors"));
    assert_null(strstr(result.out, "$ facet gate demos"));
    assert_non_null(strstr(result.err, "within"));
    // All triples are held out but the five that training sees.
    int triples = 0;
    for (const char *at = result.out; (at = strstr(at, "--hold-out color=")); at++) triples++;
    assert_int_equal(triples, 25);
    assert_null(strstr(result.out, "color=red,gate=1,side=+1"));
    assert_non_null(strstr(result.out, "color=blue,gate=5,side=-1"));
    check_controls();
}

// Courses in which nothing can be flown, so that a study stops at its first step.
static void write_courses(void)
{
    static const char *const folders[] = {"c",
                                          "c/venues",
                                          "c/ladder",
                                          "c/ladder/first",
                                          "c/ladder/first/venues",
                                          "c/ladder/layout",
                                          "c/ladder/layout/venues"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(scratch_path(&scratch, folders[i]), 0777), 0);
    write_text("c/venues/venues.json", "{}");
    write_text("c/ladder/first/venues/venues.json", "{\"scenes\": \"nowhere\"}");
    write_text("c/ladder/layout/venues/venues.json", "{}");
}

// What is not the default of a fix is told to the trials.
static void check_options_of_fixes(void)
{
#define FIXES                                                                                      \
    " --observer-time 1 --velocity-time 2 --fix-share 0.5 --samples-a-frame 2 --fix-floor 1 "      \
    "--refuse 3 --refuse-most 4 "
    static const char study[] =
        "gate study --ladder --out @/fixes --courses @/c --method first-ours" FIXES;
    assert_int_equal(facet(study).code, 1);
    write_text("fixes/first.h5", "");
    write_text("fixes/first-ours-1.safetensors", "");
    assert_non_null(strstr(facet(study).out, FIXES));
}

// From the first study to the second, one change at a time.
static void the_ladder_has_a_rung_a_change(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "first-baseline",  "first-ours",         "first-longer-baseline", "first-longer-ours",
        "layout-baseline", "layout-ours",        "colors-baseline",       "colors-ours",
        "looks-baseline",  "looks-ours",         "selection-ours",        "resolution-baseline",
        "resolution-ours", "zero-shot-baseline", "zero-shot-ours"};
#define LADDER "gate study --ladder --out @/l --courses @/c "
    write_courses();
    refused(LADDER "--method zero-shot-told", 2, "no row 'zero-shot-told'");
    Run result = facet(LADDER "--method first-ours");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.out, "3 parts to do, about "));
    assert_non_null(
        strstr(result.out, "first.h5 --flights 480 --shrink 2 --redrawn 0 --hold-out "));
    assert_non_null(strstr(result.out, "/c/ladder/first --seed 1"));
    assert_non_null(strstr(result.err, "nowhere"));
    // With frames there, it trains.
    write_text("l/first.h5", "");
    write_text("l/zero-shot.h5", "");
    result = facet(LADDER "--method first-ours");
    assert_non_null(strstr(result.out, "--composed-loss 0.3 --encoder small160 --no-selection "));
    assert_non_null(strstr(result.out, "--updates 2000 --rounds 2 --flights 100 --redrawn 0 "));
    result = facet(LADDER "--method first-baseline");
    assert_non_null(strstr(result.out, "--encoder small160 --hold-out venue=pool"));
    result = facet(LADDER "--method zero-shot-ours");
    assert_non_null(
        strstr(result.out, "--composed-loss 0.3 --hold-out venue=pool --updates 10000"));
    assert_non_null(strstr(result.out, "/c --resume"));
    // Beside it the first study, as long as today's.
    result = facet(LADDER "--method first-longer-ours");
    assert_non_null(
        strstr(result.out, "first-longer.h5 --flights 600 --shrink 2 --redrawn 0 --hold-out "));
    assert_non_null(strstr(result.out, "/c/ladder/first --seed 1"));
    write_text("l/first-longer.h5", "");
    result = facet(LADDER "--method first-longer-ours");
    assert_non_null(strstr(result.out, "--composed-loss 0.3 --encoder small160 --no-selection "));
    assert_non_null(strstr(result.out, "--updates 10000 --rounds 2 --flights 100 --redrawn 0 "));
    // With a policy there, it flies it as asked for.
#define ALIKE "gate study --ladder --out @/m --courses @/c --method first-ours --fix-share 0"
    assert_int_equal(facet(ALIKE).code, 1);
    write_text("m/first.h5", "");
    write_text("m/first-ours-1.safetensors", "");
    result = facet(ALIKE);
    assert_non_null(strstr(result.out, "$ facet gate eval"));
    assert_non_null(strstr(result.out, " --fix-share 0 "));
    assert_null(strstr(result.out, "-time "));
    check_options_of_fixes();
    // Trials of another seed are another study's.
    refused(ALIKE " --trials-seed 7", 1, "expected a folder of this study, with trials seed 7");
#define OTHERS "gate study --ladder --out @/n --courses @/c --method first-ours --trials-seed 7"
    assert_int_equal(facet(OTHERS).code, 1);
    write_text("n/first.h5", "");
    assert_non_null(strstr(facet(OTHERS).out, " --seed 1 ")); // of the training
    write_text("n/first-ours-1.safetensors", "");
    result = facet(OTHERS);
    assert_non_null(strstr(result.out, "$ facet gate eval"));
    assert_non_null(strstr(result.out, " --seed 7 "));
    // A row is flown as soon as it can be, and not after the trainings of others.
    write_text("m/first-baseline-1.safetensors", "");
    assert_int_equal(unlink(scratch_path(&scratch, "m/first-ours-1.safetensors")), 0);
    result = facet(ALIKE " --method first-baseline");
    assert_non_null(strstr(result.out, "$ facet gate eval"));
    assert_null(strstr(result.out, "$ facet gate train"));
    // With all cells there, it shows them.
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char name[64];
        snprintf(name, sizeof name, "l/%s-1.json", cells[i]);
        write_text(name, cell);
    }
    result = facet(LADDER);
    assert_int_equal(result.code, 0);
    assert_null(strstr(result.out, "$ facet"));
    assert_non_null(strstr(result.out, "First study, baseline"));
    assert_non_null(strstr(result.out, "First study, longer, ours"));
    assert_non_null(strstr(result.out, "+ selection, ours"));
    assert_fits(result.out);
    write_text("c/ladder/layout/venues/venues.json", "{ }");
    refused(LADDER, 1, "with ladder/layout ");
}

// What docs tell to type goes on with the cells that ship: their settings are the program's own
// words.
static void shipped_cells_are_of_the_settings_that_docs_name(void **state)
{
    (void)state;
#define TOGETHER "--observer-time 0.5 --velocity-time 0.5"
    static const struct {
        const char *cells, *row, *settings;
    } studies[] = {
        {"gate", "zero-shot-ours", "--seeds 3"},
        {"gate-fresh", "zero-shot-ours", "--trials-seed 2"},
        {"gate-velocity-0.5", "zero-shot-ours", "--seeds 3 " TOGETHER},
        {"gate-floor-0.2", "zero-shot-ours", TOGETHER " --fix-floor 0.2"},
        {"gate-5000", "zero-shot-ours", TOGETHER " --fix-floor 0.2 --updates 5000"},
        {"gate-plain", "zero-shot-ours", "--observer-time 0.5 --fix-share 0 --updates 5000"},
        {"gate-ladder", "first-ours", "--ladder " TOGETHER},
    };
    char results[FILE_PATH_MAX], line[2 * FILE_PATH_MAX];
    assert_ok(file_shipped(results, "results"));
    for (size_t i = 0; i < sizeof studies / sizeof *studies; i++) {
        snprintf(line, sizeof line, "gate study %s --method %s --cells %s/%s --out @/%s",
                 studies[i].settings, studies[i].row, results, studies[i].cells, studies[i].cells);
        assert_null(strstr(done(line).out, "$ facet"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_study_goes_on_where_it_stopped, begin, end),
        cmocka_unit_test_setup_teardown(the_ladder_has_a_rung_a_change, begin, end),
        cmocka_unit_test_setup_teardown(shipped_cells_are_of_the_settings_that_docs_name, begin,
                                        end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
