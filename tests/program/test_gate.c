// facet gate and its parts as a user runs them.
#include "base/file.h"
#include "program/in_scratch.h"
#include "report/page_data.h"

#include <signal.h>
#include <time.h>

static int count_of(const JsonRef *object, const char *key)
{
    double value = -1.0;
    assert_ok(json_member_number(&value, object, key, 0.0, 1e9));
    return (int)value;
}

static void assert_text(const JsonRef *object, const char *key, const char *expected)
{
    JsonRef at;
    assert_ok(json_member(&at, object, key));
    assert_string_equal(json_chars(&at), expected);
}

// A tally adds up; returns its successes.
static int successes_of(const JsonRef *object, const char *key, int trials)
{
    JsonRef at;
    assert_ok(json_member(&at, object, key));
    assert_int_equal(count_of(&at, "trials"), trials);
    int success = count_of(&at, "success");
    assert_int_equal(success + count_of(&at, "crash") + count_of(&at, "timeout"), trials);
    return success;
}

// ---- The expert
// -----------------------------------------------------------------------------------

static void the_expert_flies_every_venue(void **state)
{
    (void)state;
    static const char *const names[] = {"Field", "industrial", "piazza", "pool"};
    done("gate --expert --trials 2 --no-report --quiet --json @/a.json");
    JsonRef root, venues;
    Json *document = read_json(&root, "a.json");
    assert_text(&root, "policy", "expert");
    assert_text(&root, "held_out_venue", "");
    assert_ok(json_member(&venues, &root, "venues"));
    for (int i = 0; i < 4; i++) assert_int_equal(successes_of(&venues, names[i], 2), 2);
    json_free(document);
    // One venue alone, and the same flights on one thread.
    done("gate --expert --trials 2 --no-report --quiet --venue piazza --threads 1 --json @/b.json");
    document = read_json(&root, "b.json");
    int count;
    assert_ok(json_member(&venues, &root, "venues"));
    assert_ok(json_length(&count, &venues));
    assert_int_equal(count, 1);
    assert_int_equal(successes_of(&venues, "piazza", 2), 2);
    json_free(document);
}

static void the_page_shows_flights_and_frames(void **state)
{
    (void)state;
    Run result = facet("gate --expert --trials 1 --venue Field --quiet --report @/gate.html");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "The flights with camera frames: "));
    char *page;
    size_t size;
    assert_ok(file_read(&page, &size, scratch_path(&scratch, "gate.html")));
    char *text = data_of(page);
    free(page);
    int pictures = 0;
    for (const char *at = text; (at = strstr(at, "iVBORw0KGgo")); at++) pictures++;
    assert_true(pictures >= 3); // three frames of a flight
    assert_non_null(strstr(text, "Field"));
    free(text);
    refused("gate --expert --trials 1 --report @/gate.html/below.html", 1, "gate.html");
    refused("gate --expert --trials 1 --no-report --json @/no/such.json", 1, "no/such.json");
}

// ---- Words that are not known -------------------------------------------------------------------

static void wrong_words_are_answered_with_the_known_ones(void **state)
{
    (void)state;
    refused("gate --expert --no-report --venue poool", 1,
            "facet gate: no venue 'poool', did you mean 'pool'? known: Field, industrial, piazza, "
            "pool\n");
    refused("gate demos --out @/f.h5 --hold-out venue=poool", 1,
            "no venue 'poool', did you mean 'pool'? known: Field, industrial, piazza, pool\n");
    refused("gate demos --out @/f.h5 --hold-out color=mauve", 1,
            "facet gate demos: task 'color=mauve': no color 'mauve': red, white, blue\n");
    refused("gate demos --out @/f.h5 --hold-out gate=9", 1, "no gate '9'");
    refused("gate demos --out @/f.h5 --hold-out gate=9", 1, "1, 2, 3, 4, 5\n");
    refused("gate demos --out @/f.h5 --hold-out side=2", 1, "no side '2': +1, -1\n");
    refused("gate demos --out @/f.h5 --hold-out place=pool", 1, "no factor 'place'");
    refused("gate demos --out @/f.h5 --hold-out */*/*/*", 1,
            "facet gate demos: expected tasks to fly, found all held out\n");
    refused("gate demos --out @/f.h5 --shrink 7 --flights 1", 1,
            "shrink: expected a divisor of 320 and 240, found 7");
    refused("gate flyy", 2, "facet gate: no part of gate 'flyy'");
    refused("gate trian", 2,
            "did you mean 'train'? known: demos, train, eval, study, certify, beacon, modality\n");
    refused("gate demos", 2, "facet gate demos: expected --out FILE\n");
    refused("gate train --out @/p", 2, "facet gate train: expected --data FILE\n");
    refused("gate train --data @/f.h5", 2, "facet gate train: expected --out POLICY\n");
    refused("gate eval", 2, "facet gate eval: expected --policy FILE\n");
    refused("gate train --data @/f.h5 --out @/p", 1, "f.h5");
    refused("gate train --data @/f.h5 --out @/p --method factord", 1, "'factord'");
    refused("gate --expert --no-report --mode both", 2, "expected --expert or --mode, found both");
    assert_int_equal(access(scratch_path(&scratch, "f.h5"), F_OK), -1);
}

static void policies_that_cannot_fly_are_refused(void **state)
{
    (void)state;
    refused("gate --no-report --policy @/missing.safetensors", 1, "missing.safetensors");
    refused("gate eval --policy @/missing.safetensors", 1, "missing.safetensors");
    const char *const blind = TEST_SOURCE "/models/race-factored.safetensors";
    const char *const parts[] = {"gate --no-report --policy", "gate eval --policy"};
    for (int i = 0; i < 2; i++) {
        char line[400];
        snprintf(line, sizeof line, "%s %s", parts[i], blind);
        refused(line, 1,
                "race-factored.safetensors: expected a policy that sees, found one without an "
                "encoder\n");
    }
}

// ---- The study ----------------------------------------------------------------------------------

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
    snprintf(text, sizeof text,
             "{\"settings\": \"seed 1, demos 600, updates 10000, rounds 2, flights 100, train 0, "
             "held-out 0, venues %s, samples a frame 1, fix share 0.25, fix floor 1.5, refuse 0, "
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
    refused("gate study --out @ --near 0.5", 1, "with near 0.5, found one with samples a frame 1");
    refused("gate study --out @ --samples-a-frame 4 --refuse 3", 1,
            "with samples a frame 4, found one with samples a frame 1");
    refused("gate study --out @ --fix-share 0", 1,
            "with fix share 0, found one with samples a frame 1");
    refused("gate study --out @ --method zero-shot-our", 2, "did you mean 'zero-shot-ours'?");
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

// From the first study to the second, one change at a time.
static void the_ladder_has_a_rung_a_change(void **state)
{
    (void)state;
    static const char *const cells[] = {
        "first-baseline",  "first-ours",          "layout-baseline", "layout-ours",
        "colors-baseline", "colors-ours",         "looks-baseline",  "looks-ours",
        "selection-ours",  "resolution-baseline", "resolution-ours", "zero-shot-baseline",
        "zero-shot-ours"};
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
    // With a policy there, it flies it as asked for.
#define ALIKE "gate study --ladder --out @/m --courses @/c --method first-ours --fix-share 0"
    assert_int_equal(facet(ALIKE).code, 1);
    write_text("m/first.h5", "");
    write_text("m/first-ours-1.safetensors", "");
    result = facet(ALIKE);
    assert_non_null(strstr(result.out, "$ facet gate eval"));
    assert_non_null(strstr(result.out, " --fix-share 0 "));
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
    assert_non_null(strstr(result.out, "+ selection, ours"));
    assert_fits(result.out);
    write_text("c/ladder/layout/venues/venues.json", "{ }");
    refused(LADDER, 1, "with ladder/layout ");
}

// ---- From frames to rates -----------------------------------------------------------------------

#define TRAIN                                                                                      \
    "gate train --data @/f.h5 --hold-out side=-1 --rounds 1 --flights 2 --batch 4 --draws 1 "      \
    "--blocks 1 --channels 16 --drop side=0.2 --quiet --resume "

// The training in a process that is killed as soon as the frames of its round are there.
static void train_until_the_round(const char *arguments, const char *round)
{
    char words[512], *argv[32] = {(char[]){"facet"}};
    in_scratch(words, sizeof words, arguments);
    int argc = 1, status;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout)) _exit(126);
        execv(FACET_PROGRAM, argv);
        _exit(127);
    }
    const char *path = scratch_path(&scratch, round);
    while (access(path, F_OK) != 0 && waitpid(child, &status, WNOHANG) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    assert_int_equal(access(path, F_OK), 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void assert_same_log(const char *a, const char *b)
{
    char first[8192], second[8192];
    FILE *stream = fopen(scratch_path(&scratch, a), "rb");
    assert_non_null(stream);
    read_back(first, sizeof first, stream);
    stream = fopen(scratch_path(&scratch, b), "rb");
    assert_non_null(stream);
    read_back(second, sizeof second, stream);
    assert_string_equal(first, second);
}

static void frames_become_a_pilot(void **state)
{
    (void)state;
    Run result = facet("gate demos --out @/f.h5 --flights 4 --quiet");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "f.h5: 4 flights of 4 tasks"));

    // Killed after its round has flown, it goes on as if nothing had been.
    train_until_the_round(TRAIN "--out @/p --updates 40", "p.round1.h5");
    refused("gate train --data @/f.h5 --out @/p", 1,
            "p.round1.h5: there is an unfinished training");
    done(TRAIN "--out @/p --updates 40 --json @/train.json");
    done(TRAIN "--out @/straight --updates 40");
    assert_same_log("p.csv", "straight.csv");
    assert_int_equal(access(scratch_path(&scratch, "p.round1.h5"), F_OK), -1);
    assert_int_equal(access(scratch_path(&scratch, "p.ckpt"), F_OK), -1);
    JsonRef root, at;
    Json *document = read_json(&root, "train.json");
    assert_int_equal(count_of(&root, "updates"), 40);
    assert_int_equal(count_of(&root, "tasks"), 2); // of four, two from the other side
    json_free(document);

    done("gate eval --policy @/p --train 1 --held-out 1 --quiet --json @/eval.json "
         "--skip venue=industrial --skip venue=piazza --skip venue=pool --skip color=white "
         "--skip color=blue --skip gate=3 --skip gate=4 --skip gate=5");
    document = read_json(&root, "eval.json");
    successes_of(&root, "train", 2);
    successes_of(&root, "held_out", 2);
    assert_ok(json_member(&at, &root, "venues"));
    successes_of(&at, "Field", 4);
    assert_ok(json_member(&at, &root, "offset_error"));
    assert_ok(json_member(&at, &root, "training_run")); // the policy's own record
    assert_int_equal(count_of(&at, "updates"), 40);
    assert_int_equal(count_of(&at, "seed"), 1);
    assert_true(json_has(&at, "command") && json_has(&at, "frames"));
    JsonRef drops, drop;
    double hidden;
    assert_ok(json_member(&drops, &at, "drop")); // one a factor, as they differ
    assert_ok(json_element(&drop, &drops, 3));
    assert_ok(json_number(&hidden, &drop, 0.0, 1.0));
    assert_near(hidden, 0.2, 0.0);
    assert_ok(json_member(&at, &root, "fixes"));
    assert_int_equal(count_of(&at, "samples_a_frame"), 1);
    assert_int_equal(count_of(&at, "refused"), 0); // weighed, and none too far off
    json_free(document);
    done("gate eval --policy @/p --train 1 --held-out 0 --fix-share 0 --quiet --json @/eval.json");
    document = read_json(&root, "eval.json");
    assert_ok(json_member(&at, &root, "fixes"));
    assert_false(json_has(&at, "refused")); // all have one weight
    json_free(document);

    // Several samples of a frame; all but the first fix may be refused.
    done("gate eval --policy @/p --train 1 --held-out 0 --quiet --json @/eval.json "
         "--samples-a-frame 3 --fix-floor 0.001 --refuse 1e-9 --refuse-most 1000");
    document = read_json(&root, "eval.json");
    successes_of(&root, "train", 2);
    assert_ok(json_member(&at, &root, "fixes"));
    assert_int_equal(count_of(&at, "samples_a_frame"), 3);
    assert_int_equal(count_of(&at, "refuse_most"), 1000);
    assert_true(count_of(&at, "frames") > 4);
    assert_int_equal(count_of(&at, "refused"), count_of(&at, "frames") - 2);
    json_free(document);
    refused("gate eval --policy @/p --fix-share 0 --refuse 3", 2,
            "--refuse: expected weighed fixes, found --fix-share 0 beside it, with which it means "
            "nothing");
    refused("gate eval --policy @/p --fix-share 0 --fix-floor 0.3", 2,
            "--fix-floor: expected weighed fixes, found --fix-share 0 beside it");

    // Words of eval, which looks at the policy first.
    refused("gate eval --policy @/p --skip venue=poool", 1,
            "no venue 'poool', did you mean 'pool'?");
    refused("gate eval --policy @/p --hold-out color=mauve", 1,
            "no color 'mauve': red, white, blue");
    refused("gate eval --policy @/p --open vnue", 1, "no factor 'vnue', did you mean 'venue'?");
    refused("gate eval --policy @/p --skip */*/*/*", 1, "expected trials to fly, found none");

    // It never saw the other venues.
    done("gate --policy @/p --venue Field --trials 1 --no-report --quiet --json @/gate.json");
    document = read_json(&root, "gate.json");
    assert_text(&root, "held_out_venue", "industrial");
    json_free(document);
}

// Training never showed red/2/-1, though nobody asked it to hold anything out.
static void unseen_tasks_are_held_out(void **state)
{
    (void)state;
#define SEEN                                                                                       \
    "gate eval --policy @/p --train 1 --held-out 1 --quiet --json @/eval.json "                    \
    "--skip venue=industrial --skip venue=piazza --skip venue=pool --skip color=white "            \
    "--skip color=blue --skip gate=3 --skip gate=4 --skip gate=5 "
    done("gate demos --out @/f.h5 --flights 3 --hold-out color=red,gate=2,side=-1 --quiet");
    done("gate train --data @/f.h5 --out @/p --rounds 0 --updates 1 --batch 1 --draws 1 --blocks 1 "
         "--channels 8 --quiet");
    done(SEEN);
    JsonRef root;
    Json *document = read_json(&root, "eval.json");
    successes_of(&root, "train", 3);
    successes_of(&root, "held_out", 1);
    json_free(document);
    refused(SEEN "--hold-out color=red,gate=2", 1,
            "--hold-out: expected tasks that the policy was not trained on, found "
            "Field/red/2/+1\n");
}

// ---- The policy that ships ----------------------------------------------------------------------

static void the_shipped_policy_flies(void **state)
{
    (void)state;
    if (access(TEST_SOURCE "/models/gate-factored.safetensors", F_OK) != 0) {
        print_message("models/gate-factored.safetensors is not there: nothing to fly\n");
        skip();
    }
    done("gate --venue Field --trials 6 --no-report --quiet --json @/gate.json");
    JsonRef root, venues;
    Json *document = read_json(&root, "gate.json");
    assert_ok(json_member(&venues, &root, "venues"));
    int successes = successes_of(&venues, "Field", 6);
    assert_text(&root, "held_out_venue", "pool");
    json_free(document);
    assert_true(successes >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_expert_flies_every_venue, begin, end),
        cmocka_unit_test_setup_teardown(the_page_shows_flights_and_frames, begin, end),
        cmocka_unit_test_setup_teardown(wrong_words_are_answered_with_the_known_ones, begin, end),
        cmocka_unit_test_setup_teardown(policies_that_cannot_fly_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_study_goes_on_where_it_stopped, begin, end),
        cmocka_unit_test_setup_teardown(the_ladder_has_a_rung_a_change, begin, end),
        cmocka_unit_test_setup_teardown(frames_become_a_pilot, begin, end),
        cmocka_unit_test_setup_teardown(unseen_tasks_are_held_out, begin, end),
        cmocka_unit_test_setup_teardown(the_shipped_policy_flies, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
