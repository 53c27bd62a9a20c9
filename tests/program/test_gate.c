// facet gate and its parts as a user runs them.
#include "base/file.h"
#include "program/in_scratch.h"
#include "report/page_data.h"

#include <signal.h>
#include <time.h>

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

// ---- The expert ---------------------------------------------------------------------------------

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

// The errors of the first offset on the way that is flown under these options, all distances
// together.
static double errors_on_the_way(const char *options)
{
    char command[200];
    snprintf(command, sizeof command,
             "gate eval --policy @/p --train 1 --held-out 0 --quiet --json @/eval.json %s",
             options);
    done(command);
    JsonRef root, at, bins, bin;
    Json *document = read_json(&root, "eval.json");
    int count;
    double sum = 0.0;
    assert_ok(json_member(&at, &root, "offset_error"));
    assert_ok(json_member(&bins, &at, "train"));
    assert_ok(json_length(&count, &bins));
    for (int i = 0; i < count; i++) {
        double along;
        assert_ok(json_element(&bin, &bins, i));
        if (!json_has(&bin, "along_m")) continue;
        assert_ok(json_member_number(&along, &bin, "along_m", 0.0, 1e3));
        sum += along;
    }
    json_free(document);
    return sum;
}

// Each option of fixes leads another way.
static void the_observers_options_are_heard(void)
{
    static const char *const options[] = {"--velocity-time 0.1", "--observer-time 3",
                                          "--fix-share 2", "--fix-floor 0.1"};
    double usual = errors_on_the_way("");
    assert_near(errors_on_the_way("--velocity-time 4 --observer-time 0.3"), usual, 0.0);
    for (int i = 0; i < 4; i++) assert_true(fabs(errors_on_the_way(options[i]) - usual) > 1e-9);
}

// A policy keeps the version and commit that trained it, which here are those of the evaluation.
static void check_version(const JsonRef *evaluation, const JsonRef *training)
{
    char version[32], commit[64], expected[100], found[64];
    assert_ok(json_member_string(version, sizeof version, evaluation, "version"));
    assert_ok(json_member_string(commit, sizeof commit, evaluation, "commit"));
    assert_ok(json_member_string(found, sizeof found, training, "version"));
    snprintf(expected, sizeof expected, "%s+%.12s%s", version, commit,
             strstr(commit, "-dirty") ? ".dirty" : "");
    assert_string_equal(found, strcmp(commit, "unknown") == 0 ? version : expected);
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
    check_version(&root, &at);
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

    the_observers_options_are_heard();

    // Several samples of a frame; all but the first fix may be refused.
    done("gate eval --policy @/p --train 1 --held-out 0 --quiet --json @/eval.json "
         "--samples-a-frame 3 --fix-floor 0.001 --refuse 1e-9 --refuse-most 1000 "
         "--velocity-time 2 --observer-time 3 --fix-share 4");
    document = read_json(&root, "eval.json");
    successes_of(&root, "train", 2);
    assert_ok(json_member(&at, &root, "fixes"));
    assert_int_equal(count_of(&at, "samples_a_frame"), 3);
    assert_int_equal(count_of(&at, "refuse_most"), 1000);
    assert_int_equal(count_of(&at, "velocity_time_s"), 2);
    assert_int_equal(count_of(&at, "observer_time_s"), 3);
    assert_int_equal(count_of(&at, "share"), 4);
    assert_true(count_of(&at, "frames") > 4);
    assert_int_equal(count_of(&at, "refused"), count_of(&at, "frames") - 2);
    json_free(document);
    refused("gate eval --policy @/p --fix-share 0 --refuse 3", 2,
            "--refuse: expected weighed fixes, found --fix-share 0 beside it, with which it means "
            "nothing");
    refused("gate eval --policy @/p --fix-share 0 --fix-floor 0.3", 2,
            "--fix-floor: expected weighed fixes, found --fix-share 0 beside it");
    refused("gate eval --policy @/p --velocity-time 0.01", 2,
            "--velocity-time: expected 0 or no less than the 0.1 s of a frame, found 0.01");
    refused("gate eval --policy @/p --fix-share 0 --velocity-time 2", 2,
            "--velocity-time: expected weighed fixes, found --fix-share 0 beside it");

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
        cmocka_unit_test_setup_teardown(frames_become_a_pilot, begin, end),
        cmocka_unit_test_setup_teardown(unseen_tasks_are_held_out, begin, end),
        cmocka_unit_test_setup_teardown(the_shipped_policy_flies, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
