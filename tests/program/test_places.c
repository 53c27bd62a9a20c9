// No output destroys an input or another output, and no work begins whose results have no place.
#include "base/file.h"
#include "policy/waves.h"
#include "program/program.h"

#define COURSE TEST_SOURCE "/tests/race/sample"
#define TINY   "--blocks 1 --channels 8 --embed 4 --epochs 2 --quiet "

static int begin(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    write_waves("waves.h5", WAVE_TASKS, false);
    Run trained = run("train --data waves.h5 --out policy " TINY);
    if (trained.code != 0) print_error("%s", trained.err);
    return trained.code == 0 ? 0 : -1;
}

// Refuses the command and leaves a file as it was.
static void assert_spared(const char *arguments, const char *file, const char *message)
{
    char *before, *after;
    size_t size, size_after;
    assert_ok(file_read(&before, &size, file));
    assert_fails(arguments, 2, message);
    assert_ok(file_read(&after, &size_after, file));
    assert_int_equal(size_after, size);
    assert_memory_equal(after, before, size);
    free(before);
    free(after);
}

static void an_output_is_no_input(void **state)
{
    (void)state;
    assert_spared(
        "train --data waves.h5 --out waves.h5", "waves.h5",
        "facet train: --out: expected another file than that of --data, found waves.h5\n");
    assert_spared("export --policy policy --onnx ./policy", "policy",
                  "facet export: --onnx: expected another file than that of --policy, found "
                  "./policy, which is policy\n");
    assert_spared("sample --policy policy --task a/s --json policy", "policy",
                  "facet sample: --json: expected another file than that of --policy, found "
                  "policy\n");
    assert_spared("fly --policy policy --json policy", "policy",
                  "facet fly: --json: expected another file than that of --policy, found policy\n");
    assert_spared("eval policy --json policy", "policy",
                  "facet eval: --json: expected another file than that of POLICY, found policy\n");
    assert_ok(file_write("eval.json", "{}", 2));
    assert_spared("report --eval eval.json --out eval.json", "eval.json",
                  "facet report: --out: expected another file than that of --eval, found "
                  "eval.json\n");
    assert_ok(file_write("pilot.round1.h5", "frames", 6));
    assert_spared("gate train --data pilot.round1.h5 --out pilot --resume", "pilot.round1.h5",
                  "facet gate train: --out: expected another file than that of --data, found "
                  "pilot.round1.h5\n");
    assert_ok(file_write("pilot.round8.h5", "frames", 6));
    assert_spared("gate train --data pilot.round8.h5 --out pilot --rounds 8", "pilot.round8.h5",
                  "facet gate train: --out: expected another file than that of --data, found "
                  "pilot.round8.h5\n");
}

// A study's folder is its own, but for the file that its results go to without --json.
static void an_output_is_not_among_a_studys_files(void **state)
{
    (void)state;
#define AMONG(command, option, file, folder)                                                       \
    "facet " command ": --json: expected another file than that of --" option ", found " file      \
    ", which is in " folder "\n"
    assert_ok(file_make_folder("study"));
    assert_ok(file_write("study/demos.h5", "demos", 5));
    assert_spared("reproduce --out study --json study/demos.h5", "study/demos.h5",
                  AMONG("reproduce", "out", "study/demos.h5", "study"));
    assert_spared("reproduce --out ./study --json study/../study/demos.h5", "study/demos.h5",
                  AMONG("reproduce", "out", "study/../study/demos.h5", "./study"));
    assert_int_equal(symlink("study", "study-link"), 0);
    assert_spared("study leave-one-out --out study-link --json study/demos.h5", "study/demos.h5",
                  AMONG("study leave-one-out", "out", "study/demos.h5", "study-link"));
    assert_spared("study pairs --cells study --json study/demos.h5", "study/demos.h5",
                  AMONG("study pairs", "cells", "study/demos.h5", "study"));
    assert_spared("study mechanism --cells study --json study/demos.h5", "study/demos.h5",
                  AMONG("study mechanism", "cells", "study/demos.h5", "study"));
    assert_spared("gate study --out study --json study/demos.h5", "study/demos.h5",
                  AMONG("gate study", "out", "study/demos.h5", "study"));
    assert_int_equal(symlink("study/demos.h5", "demos-link"), 0);
    assert_spared("reproduce --out study --json demos-link", "study/demos.h5",
                  AMONG("reproduce", "out", "demos-link", "study"));
    // Neither the folder nor the file has to be there.
    assert_fails("gate study --out new/folder --json new/folder/zero-shot.h5", 2,
                 AMONG("gate study", "out", "new/folder/zero-shot.h5", "new/folder"));
    assert_fails("reproduce --out new --json new", 2,
                 "facet reproduce: --json: expected another file than that of --out, found new\n");
    assert_fails("report --out figures/flight.svg --figures figures", 2,
                 "facet report: --out: expected another file than that of --figures, found "
                 "figures/flight.svg, which is in figures\n");
    // These are spared: the next mistake is named. A device is no file of the folder's, though a
    // link there leads to it.
    assert_ok(file_make_folder("odd"));
    assert_int_equal(symlink("/dev/null", "odd/demos.h5"), 0);
    assert_fails("reproduce --out odd --json /dev/null --method none", 2,
                 "facet reproduce: no method 'none': ours, paper, baseline, oracle, knet, told, "
                 "told-longer, paper-longer, paper-drop, paper-drop-longer, paper-eps, "
                 "composed-loss, oracle-ours, recipe-v, "
                 "recipe-eps\n");
    assert_fails("reproduce --out study --json study/study.json --method none", 2,
                 "facet reproduce: no method 'none': ours, paper, baseline, oracle, knet, told, "
                 "told-longer, paper-longer, paper-drop, paper-drop-longer, paper-eps, "
                 "composed-loss, oracle-ours, recipe-v, "
                 "recipe-eps\n");
    assert_fails("report --out figures/page.html --figures figures --courses none", 1,
                 "facet report: none/course.json: cannot open: No such file or directory\n");
}

static void links_do_not_hide_an_input(void **state)
{
    (void)state;
    assert_int_equal(symlink("waves.h5", "link.h5"), 0);
    assert_int_equal(link("policy", "hard"), 0);
    assert_spared("train --data waves.h5 --out link.h5", "waves.h5",
                  "facet train: --out: expected another file than that of --data, found link.h5, "
                  "which is waves.h5\n");
    assert_spared("sample --policy policy --task a/s --json hard", "policy",
                  "facet sample: --json: expected another file than that of --policy, found hard, "
                  "which is policy\n");
    assert_ok(file_make_folder("courses"));
    assert_ok(file_write("courses/course.json", "{}", 2));
    assert_spared("speeds --courses courses --json courses/course.json", "courses/course.json",
                  "facet speeds: --json: expected another file than that of --courses, found "
                  "courses/course.json, which is in courses\n");
}

static void two_outputs_are_two_files(void **state)
{
    (void)state;
    assert_fails("train --data waves.h5 --out p --json ./p", 2,
                 "facet train: --json: expected another file than that of --out, found ./p, which "
                 "is p\n");
    assert_fails("train --data waves.h5 --out p --json p.csv", 2,
                 "facet train: --json: expected another file than that of --out, found p.csv\n");
    assert_fails("train --data waves.h5 --out p --json p.ckpt", 2,
                 "facet train: --json: expected another file than that of --out, found p.ckpt\n");
    assert_fails("demos --out d --json d", 2,
                 "facet demos: --json: expected another file than that of --out, found d\n");
    assert_fails("train --data p.csv --out p", 2,
                 "facet train: --out: expected another file than that of --data, found p.csv\n");
    assert_int_equal(access("p", F_OK), -1);
    assert_int_equal(access("d", F_OK), -1);
    // Devices take all there is.
    assert_int_equal(run("sample --policy policy --task a/s --steps 2 --json /dev/null").code, 0);
    assert_fails("race --report /dev/null --json /dev/null --courses none", 1,
                 "facet race: none/course.json: cannot open: No such file or directory\n");
}

// Nobody named the policy that ships, and it is read all the same.
static void what_ships_is_spared(void **state)
{
    (void)state;
    assert_ok(file_make_folder("data/models"));
    assert_int_equal(rename("policy", "data/models/race-factored.safetensors"), 0);
    setenv("FACET_DATA", "data", 1);
    const char *policy = "data/models/race-factored.safetensors";
    assert_spared("fly --json data/models/race-factored.safetensors", policy,
                  "facet fly: --json: expected another file than that of what the command reads, "
                  "found data/models/race-factored.safetensors\n");
    assert_spared("eval --json data/models/race-factored.safetensors", policy,
                  "facet eval: --json: expected another file than that of what the command reads, "
                  "found data/models/race-factored.safetensors, which is in data/models\n");
    unsetenv("FACET_DATA");
    assert_int_equal(rename("data/models/race-factored.safetensors", "policy"), 0);
}

static void places_are_tried_before_the_work(void **state)
{
    (void)state;
    assert_fails("train --data waves.h5 --out p --json no/such/place", 1,
                 "facet train: no/such/place: cannot create: No such file or directory\n");
    assert_int_equal(access("p", F_OK), -1);
    assert_int_equal(access("p.csv", F_OK), -1);
    assert_fails("sample --policy policy --task a/s --json .", 1,
                 "facet sample: .: expected a file to write, found a folder\n");
    assert_fails("train --data waves.h5 --out /dev/null", 1,
                 "facet train: /dev/null: expected a file to write, found a device or a pipe\n");
    assert_fails("gate certify --json no/such/place", 1,
                 "facet gate certify: no/such/place: cannot create: No such file or directory\n");
}

static void devices_and_pipes_are_no_inputs(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_fails("sample --policy pipe --task a/s", 1,
                 "facet sample: pipe: expected a file to read, found a device or a pipe\n");
    assert_fails("speeds --quiet --quad /dev/zero", 1,
                 "facet speeds: /dev/zero: expected a file to read, found a device or a pipe\n");
}

static void options_are_not_ignored(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        {"fly --margin 0.2",
         "facet fly: --margin: expected --verify beside it, without which it means nothing\n"},
        {"fly --tries 3",
         "facet fly: --tries: expected --verify beside it, without which it means nothing\n"},
        {"fly --expert --mode joint", "facet fly: expected --expert or --mode, found both\n"},
        {"race --report x --no-report",
         "facet race: expected --no-report or --report, found both\n"},
        {"gate --expert --open venue", "facet gate: expected --expert or --open, found both\n"},
        {"sample --policy policy --task a/s --task b/s",
         "facet sample: --task: expected once, found again with 'b/s'\n"},
        {"certify --confidence 0.9", "facet certify: --confidence: expected --samples beside it, "
                                     "without which it means nothing\n"},
        {"eval --step-study --steps 5",
         "facet eval: expected --step-study or --steps, found both\n"},
        {"train --data waves.h5 --out p --epochs 2 --updates 5",
         "facet train: expected --epochs or --updates, found both\n"},
        {"fly --verify --confidence 0.9", "facet fly: --confidence: expected --samples beside it, "
                                          "without which it means nothing\n"},
        {"fly --verify --least 0.9",
         "facet fly: --least: expected --samples beside it, without which it means nothing\n"},
        {"fly --samples 3 --least 0.9",
         "facet fly: --least: expected --verify beside it, without which it means nothing\n"},
        {"camera --at 1,2,3 --rise 1", "facet camera: expected --at or --rise, found both\n"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_fails(lines[i][0], 2, lines[i][1]);
    static const char *const of_a_course[] = {
        "task nonsense/zzz",
        "courses nowhere",
        "steps 3",
        "seeds 2",
        "sweep",
        "samples 9",
        "gusts 1",
        "raw",
        "slowest 0.5",
        "quad waves.h5",
        "preset race",
        "budget",
        "leave-one-out policy",
    };
    for (size_t i = 0; i < sizeof of_a_course / sizeof *of_a_course; i++) {
        char line[200], message[200];
        const char *option = of_a_course[i];
        snprintf(line, sizeof line, "certify --policy policy --data waves.h5 --%s", option);
        snprintf(message, sizeof message, "facet certify: expected --data or --%.*s, found both\n",
                 (int)strcspn(option, " "), option);
        assert_fails(line, 2, message);
    }
    assert_fails("fly --expert --quiet --courses " COURSE " --task bend/large --task bend/large", 1,
                 "facet fly: task bend/large: expected once, found again\n");
    Run refused = run("gate demos --json x");
    assert_int_equal(refused.code, 2);
    assert_non_null(strstr(refused.err, "no option '--json'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_output_is_no_input),
        cmocka_unit_test(an_output_is_not_among_a_studys_files),
        cmocka_unit_test(links_do_not_hide_an_input),
        cmocka_unit_test(two_outputs_are_two_files),
        cmocka_unit_test(what_ships_is_spared),
        cmocka_unit_test(places_are_tried_before_the_work),
        cmocka_unit_test(devices_and_pipes_are_no_inputs),
        cmocka_unit_test(options_are_not_ignored),
    };
    return cmocka_run_group_tests(tests, begin, scratch_leave);
}
