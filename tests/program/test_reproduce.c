// facet reproduce on a small course and tiny networks: every step, and going on where it stopped.
#include "base/file.h"
#include "base/json.h"
#include "program/program.h"

#include <dirent.h>

#define ARGUMENTS                                                                                  \
    "reproduce --courses " TEST_SOURCE "/tests/race/sample --quiet --epochs 2 --blocks 1 "         \
    "--channels 16 --plans 1 --out test_reproduce"

static void remove_one(const char *name)
{
    DIR *folder = opendir(name);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
        unlink(path);
    }
    if (folder) closedir(folder);
    rmdir(name);
}

static int remove_folder(void **state)
{
    (void)state;
    remove_one("test_reproduce");
    remove_one("test_reproduce_new");
    remove_one("test_reproduce_other");
    remove_one("test_reproduce_course");
    remove_one("test_reproduce_cells");
    return 0;
}

// What was made with other settings is not taken for theirs.
static void refuse_other_settings(void)
{
#define FOLDER "reproduce --quiet --plans 1 --out test_reproduce --courses "
#define COURSE TEST_SOURCE "/tests/race/sample"
#define REFUSE(arguments, wanted, found)                                                           \
    assert_fails(                                                                                  \
        arguments, 1,                                                                              \
        "facet reproduce: test_reproduce/settings.json: expected a folder of this study, "         \
        "with " wanted ", found one with " found ": other settings need another folder\n")
    REFUSE(FOLDER COURSE " --epochs 2 --blocks 1 --channels 16 --seed 7", "seed 7", "seed 1");
    REFUSE(FOLDER COURSE " --epochs 5 --blocks 1 --channels 16", "epochs 5", "epochs 2");
    REFUSE(FOLDER COURSE " --epochs 2 --blocks 1", "channels 0", "channels 16");
    REFUSE("reproduce --quiet --out test_reproduce --courses " COURSE
           " --epochs 2 --blocks 1 --channels 16 --plans 40",
           "plans 40", "plans 1");
    // Cells belong to their settings too, wherever the rest is.
    REFUSE("reproduce --quiet --plans 1 --out test_reproduce_new --cells test_reproduce "
           "--courses " COURSE " --epochs 7 --blocks 1 --channels 16",
           "epochs 7", "epochs 2");
    assert_int_equal(access("test_reproduce_new/settings.json", F_OK), -1);
    assert_int_equal(unlink("test_reproduce/settings.json"), 0);
    assert_fails(ARGUMENTS, 1,
                 "facet reproduce: test_reproduce/demos.h5: expected settings.json beside it, "
                 "which tells how it was made, found none: begin in another folder\n");
}

// Puts a file of the sample course into a folder, with `more` at its end.
static void copy_course(const char *name, const char *more)
{
    char path[512], *bytes;
    size_t size, length = strlen(more);
    snprintf(path, sizeof path, COURSE "/%s", name);
    assert_ok(file_read(&bytes, &size, path));
    char *longer = realloc(bytes, size + length + 1);
    assert_non_null(longer);
    strcpy(longer + size, more);
    snprintf(path, sizeof path, "test_reproduce_course/%s", name);
    assert_ok(file_write(path, longer, size + length));
    free(longer);
}

// A course is known by what it says, not by its place.
static void check_other_course(void)
{
#define COPIED                                                                                     \
    "reproduce --quiet --epochs 2 --blocks 1 --channels 16 --plans 1 --courses "                   \
    "test_reproduce_course --out test_reproduce_other --cells test_reproduce"
    assert_ok(file_make_folder("test_reproduce_course"));
    copy_course("course.json", "");
    copy_course("straight.json", "");
    copy_course("bend.json", "");
    Run same = run(COPIED);
    assert_string_equal(same.err, "");
    assert_int_equal(same.code, 0);
    assert_int_equal(count_steps(same.out), 0);
    copy_course("bend.json", "\n");
    Run other = run(COPIED);
    assert_int_equal(other.code, 1);
    assert_non_null(
        strstr(other.err, "settings.json: expected a folder of this study, with course "));
}

// Begins a folder with the settings of this one, and so many epochs.
static void begin_folder(char epochs)
{
    char *settings, *at;
    size_t size;
    remove_one("test_reproduce_cells");
    assert_ok(file_make_folder("test_reproduce_cells"));
    assert_ok(file_read(&settings, &size, "test_reproduce/settings.json"));
    at = strstr(settings, "epochs 2");
    assert_non_null(at);
    at[strlen("epochs ")] = epochs;
    assert_ok(file_write("test_reproduce_cells/settings.json", settings, size));
    free(settings);
}

// Two plans of a task that was trained on, of one held out, and of one new in name alone.
#define TASK(name, more, gates, share, vehicle)                                                    \
    "{\"track\":\"" name "\",\"size\":\"small\"," more ",\"gates\":" gates                         \
    ",\"speed_generated\":1,\"speed_reference\":1,\"share_all_seeds\":" share                      \
    ",\"share_vehicle\":" vehicle "}"
#define METHOD(key, share)                                                                         \
    "\"" key "\":{\"seeds\":2,\"error_m\":1,\"all_seeds\":{\"crashes\":4},\"speed_order\":{"       \
    "\"right\":3,\"pairs\":5},\"training_run\":{\"rows\":7,\"parameters\":9},\"tasks\":[" TASK(    \
        "a", "\"held_out\":false", "4", "0.5",                                                     \
        "0.25") "," TASK("b", "\"held_out\":true", "2", share,                                     \
                         "0.5") "," TASK("c", "\"held_out\":true,\"same_as\":\"a/small\"", "2",    \
                                         "0", "0") "]}"
#define MADE(keys) "{\"heldout\":[],\"methods\":{" keys "}}"

static double number_of(const JsonRef *row, const char *object, const char *key)
{
    JsonRef within;
    double number;
    assert_ok(json_member(&within, row, object));
    assert_ok(json_member_number(&number, &within, key, -1.0, 100.0));
    return number;
}

// What the rows of the summary say of these cells.
static void check_made_cells(void)
{
    static const char ours[] = MADE(METHOD("ours_composed", "1") "," METHOD("ours_joint", "1"));
    static const char told[] =
        MADE(METHOD("factored_joint", "0.25") "," METHOD("factored_composed", "0.25"));
    Json *document;
    JsonRef list, row, lead;
    begin_folder('2');
    assert_ok(file_write("test_reproduce_cells/ours-1.json", ours, strlen(ours)));
    assert_ok(file_write("test_reproduce_cells/told-1.json", told, strlen(told)));
    Run result = run(ARGUMENTS "_cells --method ours");
    assert_string_equal(result.err, "");
    assert_int_equal(count_steps(result.out), 0);
    assert_ok(json_read(&document, "test_reproduce_cells/study.json"));
    JsonRef root = json_root(document, "study.json");
    assert_ok(json_member(&list, &root, "rows"));
    assert_ok(json_element(&row, &list, 0)); // told
    assert_near(number_of(&row, "training", "mean"), 0.5, 0.0);
    assert_near(number_of(&row, "held_out", "mean"), 0.125, 0.0);
    assert_near(number_of(&row, "held_out_new", "mean"), 0.25, 0.0);
    assert_near(number_of(&row, "vehicle", "mean"), 0.25, 0.0);
    assert_near(number_of(&row, "vehicle_held_out", "mean"), 0.25, 0.0);
    double crashes;
    assert_ok(json_member_number(&crashes, &row, "crashes", 0.0, 100.0));
    assert_near(crashes, 2.0, 0.0); // a plan of every task
    assert_near(number_of(&row, "speed_order", "right"), 3.0, 0.0);
    assert_near(number_of(&row, "speed_order", "pairs"), 5.0, 0.0);
    assert_ok(json_member(&lead, &row, "ours_ahead"));
    assert_near(number_of(&lead, "all", "mean"), 0.1875, 0.0);
    assert_near(number_of(&lead, "held_out", "mean"), 0.375, 0.0);
    json_free(document);
}

// The recipe has 160 epochs; without demonstrations the training ends at once.
static void check_epochs_of_the_recipe(void)
{
    begin_folder('0');
    assert_ok(file_write("test_reproduce_cells/demos.h5", "", 0));
    Run result = run("reproduce --courses " COURSE " --quiet --blocks 1 --channels 16 --plans 1 "
                     "--out test_reproduce_cells --method paper-longer");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.out, "--epochs 560 "));
}

static const char *const methods[] = {
    "ours",      "paper",         "baseline",     "oracle",     "knet",
    "told",      "told-longer",   "paper-longer", "paper-drop", "paper-drop-longer",
    "paper-eps", "composed-loss", "oracle-ours"};
enum { METHODS = sizeof methods / sizeof *methods, PAPERS = 5 };

static bool is_there(const char *method, int seed, const char *suffix)
{
    char path[128];
    snprintf(path, sizeof path, "test_reproduce/%s-%d.%s", method, seed, suffix);
    return access(path, R_OK) == 0;
}

// The row of a method's cell with its first seed, in an open document.
static JsonRef cell_row(Json **document, const char *method, const char *key)
{
    static char path[128];
    JsonRef rows, row;
    snprintf(path, sizeof path, "test_reproduce/%s-1.json", method);
    assert_ok(json_read(document, path));
    JsonRef root = json_root(*document, path);
    assert_ok(json_member(&rows, &root, "methods"));
    assert_ok(json_member(&row, &rows, key));
    return row;
}

static double number_in(const char *method, const char *key, const char *object, const char *member)
{
    Json *document;
    JsonRef row = cell_row(&document, method, key), within;
    double value;
    assert_ok(json_member(&within, &row, object));
    assert_ok(json_member_number(&value, &within, member, 0.0, 1e12));
    json_free(document);
    return value;
}

// The command that trained a policy says this.
static void check_prediction(const char *method, const char *words)
{
    Json *document;
    JsonRef row = cell_row(&document, method, "factored_joint"), trained;
    char command[1000];
    assert_ok(json_member(&trained, &row, "training_run"));
    assert_ok(json_member_string(command, sizeof command, &trained, "command"));
    assert_non_null(strstr(command, words));
    json_free(document);
}

// The controls are what they are called: each differs from its neighbour in one thing.
static void check_controls(void)
{
#define TRAINED(method, key, member) number_in(method, key, "training_run", member)
    assert_near(TRAINED("told", "factored_joint", "drop"), 0.0, 0.0);
    assert_near(TRAINED("told", "factored_joint", "composed_loss"), 0.0, 0.0);
    assert_near(TRAINED("paper-drop", "factored_joint", "drop"),
                TRAINED("ours", "ours_joint", "drop"), 0.0);
    assert_near(TRAINED("paper-drop", "factored_joint", "composed_loss"), 0.0, 0.0);
    assert_near(TRAINED("paper-drop-longer", "factored_joint", "drop"),
                TRAINED("ours", "ours_joint", "drop"), 0.0);
    assert_near(TRAINED("paper-drop-longer", "factored_joint", "composed_loss"), 0.0, 0.0);
    assert_near(TRAINED("paper-drop-longer", "factored_joint", "rows"),
                TRAINED("paper-longer", "factored_joint", "rows"), 0.0);
    assert_near(TRAINED("paper-eps", "factored_joint", "rows"),
                TRAINED("paper", "factored_joint", "rows"), 0.0);
    assert_near(TRAINED("paper-eps", "factored_joint", "drop"),
                TRAINED("paper", "factored_joint", "drop"), 0.0);
    check_prediction("paper-eps", "--predict eps");
    assert_near(TRAINED("composed-loss", "ours_joint", "composed_loss"), 3.0, 0.0);
    assert_true(TRAINED("composed-loss", "ours_joint", "rows") <
                TRAINED("ours", "ours_joint", "rows")); // it has no agreement
    assert_near(TRAINED("ours", "ours_joint", "agreement"), 10.0, 0.0);
    assert_near(TRAINED("oracle-ours", "oracle", "composed_loss"), 3.0, 0.0);
    assert_near(TRAINED("oracle-ours", "oracle", "agreement"), 10.0, 0.0);
    assert_near(TRAINED("paper", "factored_joint", "updates"),
                TRAINED("ours", "ours_joint", "updates"), 0.0);
    assert_near(TRAINED("paper-longer", "factored_joint", "rows"),
                TRAINED("ours", "ours_joint", "rows"), 16.0); // an update that is not whole
    assert_near(TRAINED("told-longer", "factored_joint", "rows"),
                TRAINED("paper-longer", "factored_joint", "rows"), 0.0);
    assert_near(TRAINED("told-longer", "factored_joint", "drop"), 0.0, 0.0);
    // The oracle is judged on the tasks that others were not trained on.
    assert_true(number_in("oracle", "oracle", "held_out", "gates") > 0.0);
    assert_near(number_in("oracle-ours", "oracle", "held_out", "gates"),
                number_in("ours", "ours_composed", "held_out", "gates"), 0.0);
}

// A row's method, key and name.
static void read_words(char words[3][128], const JsonRef *rows, int i)
{
    static const char *const members[] = {"method", "key", "name"};
    JsonRef row;
    assert_ok(json_element(&row, rows, i));
    for (int m = 0; m < 3; m++)
        assert_ok(json_member_string(words[m], sizeof words[m], &row, members[m]));
}

// A row is of the way of inference that its name says, and none before it is of the same plans.
static void check_key(const JsonRef *rows, int i)
{
    char row[3][128], other[3][128];
    read_words(row, rows, i);
    assert_int_equal(strstr(row[1], "joint") != NULL, strstr(row[2], "joint") != NULL);
    for (int k = 0; k < i; k++) {
        read_words(other, rows, k);
        assert_true(strcmp(row[0], other[0]) != 0 || strcmp(row[1], other[1]) != 0);
    }
}

// The summary has the rows of the cells that are there, with so many trainings of ours.
static void check_summary(int rows, int trainings)
{
    Json *document;
    JsonRef list, row = {0}, seeds;
    int count;
    assert_ok(json_read(&document, "test_reproduce/study.json"));
    JsonRef root = json_root(document, "study.json");
    assert_ok(json_member(&list, &root, "rows"));
    assert_ok(json_length(&count, &list));
    assert_int_equal(count, rows);
    for (int i = 0; i < count; i++) {
        char method[32];
        assert_ok(json_element(&row, &list, i));
        assert_ok(json_member_string(method, sizeof method, &row, "method"));
        check_key(&list, i);
        assert_ok(json_member(&seeds, &row, "seeds"));
        int length;
        assert_ok(json_length(&length, &seeds));
        assert_int_equal(length, strcmp(method, "ours") == 0 ? trainings : 1);
    }
    json_free(document);
}

// Of two tasks of a track, by how much the plans' speeds differ, over by how much the references
// do.
static double share_of(const JsonRef *list, int count, bool left_out)
{
    double shown = 0.0, wanted = 0.0;
    for (int i = 0; i < count * count; i++) {
        JsonRef at[2];
        char track[2][32];
        bool held_out[2];
        double speed[2], reference[2];
        for (int k = 0; k < 2; k++) {
            assert_ok(json_element(&at[k], list, k ? i / count : i % count));
            assert_ok(json_member_string(track[k], sizeof track[k], &at[k], "track"));
            assert_ok(json_member_bool(&held_out[k], &at[k], "held_out"));
            assert_ok(json_member_number(&speed[k], &at[k], "speed_generated", 0.0, 1e6));
            assert_ok(json_member_number(&reference[k], &at[k], "speed_reference", 0.0, 1e6));
        }
        bool meant = left_out ? held_out[0] && !held_out[1] : !held_out[0] && !held_out[1];
        if (!meant || strcmp(track[0], track[1]) != 0) continue;
        shown += log(speed[0] / speed[1]) * log(reference[0] / reference[1]);
        wanted += log(reference[0] / reference[1]) * log(reference[0] / reference[1]);
    }
    return shown / wanted;
}

static void check_share(const JsonRef *row, const char *key, double expected)
{
    JsonRef share;
    double found;
    assert_ok(json_member(&share, row, "speed_share"));
    bool there = json_member_number(&found, &share, key, -1e6, 1e6).ok;
    assert_int_equal(there, !isnan(expected)); // a course may have no two such tasks
    if (there) assert_near(found, expected, 1e-9 * fmax(1.0, fabs(expected)));
}

// With one plan a task, a row's speeds are those of the cell's held-out tasks.
static void check_speeds(const char *method, const char *key)
{
    Json *document, *study;
    JsonRef row = cell_row(&document, method, key), list, at;
    int count;
    double off = 0.0, tasks = 0.0, found;
    assert_ok(json_member(&list, &row, "tasks"));
    assert_ok(json_length(&count, &list));
    for (int i = 0; i < count; i++) {
        bool held_out;
        double speed, reference;
        assert_ok(json_element(&at, &list, i));
        assert_ok(json_member_bool(&held_out, &at, "held_out"));
        assert_ok(json_member_number(&speed, &at, "speed_generated", 0.0, 1e6));
        assert_ok(json_member_number(&reference, &at, "speed_reference", 0.0, 1e6));
        off += held_out ? fabs(speed - reference) / reference : 0.0;
        tasks += held_out;
    }
    double learned = share_of(&list, count, false), left_out = share_of(&list, count, true);
    json_free(document);
    assert_true(tasks > 0.0);
    assert_ok(json_read(&study, "test_reproduce/study.json"));
    JsonRef root = json_root(study, "study.json");
    assert_ok(json_member(&list, &root, "rows"));
    assert_ok(json_length(&count, &list));
    for (int i = 0; i < count; i++) {
        char name[2][32];
        assert_ok(json_element(&row, &list, i));
        assert_ok(json_member_string(name[0], sizeof name[0], &row, "method"));
        assert_ok(json_member_string(name[1], sizeof name[1], &row, "key"));
        if (strcmp(name[0], method) == 0 && strcmp(name[1], key) == 0) break;
    }
    assert_ok(json_member_number(&found, &row, "speed_off_held_out", 0.0, 1e6));
    assert_near(found, off / tasks, 1e-9);
    check_share(&row, "learned", learned);
    check_share(&row, "left_out", left_out);
    json_free(study);
}

// How far ours is ahead of each row is the difference of what both say of themselves; of itself no
// row says it.
static void check_leads(void)
{
    Json *document;
    JsonRef list, row = {0}, rate, leads, lead;
    double ours = nan(""), mean, ahead;
    int count, found = 0;
    assert_ok(json_read(&document, "test_reproduce/study.json"));
    JsonRef root = json_root(document, "study.json");
    assert_ok(json_member(&list, &root, "rows"));
    assert_ok(json_length(&count, &list));
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&row, &list, i));
        if (json_has(&row, "ours_ahead")) continue;
        char key[32];
        assert_ok(json_member_string(key, sizeof key, &row, "key"));
        assert_string_equal(key, "ours_composed");
        assert_ok(json_member(&rate, &row, "all"));
        assert_ok(json_member_number(&ours, &rate, "mean", 0.0, 1.0));
        found++;
    }
    assert_int_equal(found, 1);
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&row, &list, i));
        if (!json_has(&row, "ours_ahead")) continue;
        assert_ok(json_member(&rate, &row, "all"));
        assert_ok(json_member_number(&mean, &rate, "mean", 0.0, 1.0));
        assert_ok(json_member(&leads, &row, "ours_ahead"));
        assert_ok(json_member(&lead, &leads, "all"));
        assert_ok(json_member_number(&ahead, &lead, "mean", -1.0, 1.0));
        assert_near(ahead, ours - mean, 1e-12);
        assert_true(json_has(&leads, "held_out"));
    }
    json_free(document);
}

static void makes_everything_and_goes_on(void **state)
{
    (void)state;
    Run plain = run(ARGUMENTS);
    assert_string_equal(plain.err, "");
    assert_int_equal(plain.code, 0);
    for (int i = 0; i < METHODS; i++) // the controls are asked for
        assert_int_equal(is_there(methods[i], 1, "json"), i < PAPERS);
    Run first = run(ARGUMENTS " --controls");
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    assert_int_equal(access("test_reproduce/demos.h5", R_OK), 0);
    for (int i = 0; i < METHODS; i++) {
        assert_true(is_there(methods[i], 1, "safetensors"));
        assert_true(is_there(methods[i], 1, "json"));
        assert_false(is_there(methods[i], 2, "json"));
    }
    check_controls();
    check_summary(23, 1);
    check_leads();
    check_speeds("paper", "factored_composed");
    check_speeds("paper", "factored_joint");
    check_speeds("ours", "ours_track");
    check_speeds("told", "factored_composed");
    check_speeds("told-longer", "factored_composed");
    // A cell that is missing is made again, and nothing else is.
    assert_int_equal(unlink("test_reproduce/oracle-1.safetensors"), 0);
    Run nothing = run(ARGUMENTS);
    assert_int_equal(count_steps(nothing.out), 0);
    assert_int_equal(unlink("test_reproduce/oracle-1.json"), 0);
    Run again = run(ARGUMENTS);
    assert_int_equal(again.code, 0);
    assert_int_equal(count_steps(again.out), 2);
    assert_non_null(strstr(again.out, "--method oracle"));
    assert_non_null(strstr(again.out, "--hold-out course"));
    // One method and one more seed: a cell by itself.
    Run second = run(ARGUMENTS " --seeds 2 --method ours");
    assert_int_equal(second.code, 0);
    assert_int_equal(count_steps(second.out), 2);
    assert_non_null(strstr(second.out, "--seed 2"));
    assert_true(is_there("ours", 2, "json"));
    check_summary(23, 2);
    check_made_cells();
    check_epochs_of_the_recipe();
    check_other_course();
    refuse_other_settings();
}

static void a_method_nobody_knows_is_refused(void **state)
{
    (void)state;
    Run refused = run("reproduce --method tolld");
    assert_int_equal(refused.code, 2);
    assert_non_null(strstr(refused.err, "no method 'tolld', did you mean 'told'?"));
}

static void a_folder_that_cannot_be_made_is_a_failure(void **state)
{
    (void)state;
    assert_fails("reproduce --out /dev/null/inside", 1,
                 "facet reproduce: /dev/null/inside: cannot make the folder: Not a directory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(makes_everything_and_goes_on, remove_folder, remove_folder),
        cmocka_unit_test(a_method_nobody_knows_is_refused),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
