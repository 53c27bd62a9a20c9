// Demonstrations: labels, round trip through HDF5, the same bytes at any number of threads.
#include "base/file.h"
#include "factor/factor.h"
#include "math/geometry.h"
#include "pools.h"
#include "testing.h"

#include <facet_study/dataset.h>
#include <facet_study/race.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const OUT = "test_demos.h5";

static FacetRace *open_study(int threads)
{
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, test_pool(threads), NULL));
    return race;
}

static FacetDemoOptions few(void)
{
    FacetDemoOptions options = facet_demo_defaults();
    options.rollouts = 3;
    options.seed = 11;
    return options;
}

static void write_and_read(FacetDataset **dataset, const FacetRace *race,
                           const FacetDemoOptions *options)
{
    assert_ok(facet_race_write_demos(OUT, race, options, NULL));
    assert_ok(facet_dataset_read(dataset, OUT));
    unlink(OUT);
}

static void file_holds_every_feasible_task(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetDemoOptions options = few();
    FacetDataset *dataset;
    write_and_read(&dataset, race, &options);
    FacetCourseTask tasks[4];
    int count = facet_race_feasible_tasks(tasks, race);
    assert_int_equal(count, 4);
    assert_int_equal(dataset->demos, 3 * count);
    assert_int_equal(dataset->steps, FACET_CHUNK_KEYPOINTS);
    assert_int_equal(dataset->action_dim, FACET_CHUNK_CHANNELS);
    assert_true(factor_space_equal(dataset->space, race->factors));
    for (int i = 0; i < dataset->demos; i++)
        assert_true(factor_task_equal(dataset->tasks[i], facet_race_factor_task(tasks[i / 3])));
    facet_dataset_destroy(dataset);
    facet_race_close(race);
}

// The label is what the expert commands from the rollout's own start, to the last bit.
static void labels_are_the_experts_commands(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetDemoOptions options = few();
    FacetDataset *dataset;
    write_and_read(&dataset, race, &options);
    const FacetDatasetObservation *states;
    assert_ok(facet_dataset_find_observation(&states, dataset, "state"));
    assert_int_equal(states->dim, 13);
    for (int i = 0; i < dataset->demos; i++) {
        FacetCourseTask task = {dataset->tasks[i].value[0], dataset->tasks[i].value[1]};
        const double *actions = facet_dataset_actions(dataset, i);
        const double *first = facet_dataset_observed(dataset, states, i);
        FacetKeypoint expected[FACET_CHUNK_KEYPOINTS];
        assert_ok(facet_expert_chunk(expected, &race->course->tracks[task.track],
                                     vec3(first[0], first[1], first[2]),
                                     facet_race_reference_speed(race, task)));
        assert_memory_equal(actions, expected, sizeof expected);
    }
    facet_dataset_destroy(dataset);
    facet_race_close(race);
}

static void rollouts_differ_in_start_speed_and_wind(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetDemoOptions options = few();
    FacetDataset *dataset;
    write_and_read(&dataset, race, &options);
    const FacetDatasetObservation *states;
    assert_ok(facet_dataset_find_observation(&states, dataset, "state"));
    const double *a = facet_dataset_observed(dataset, states, 0);
    const double *b = facet_dataset_observed(dataset, states, 1);
    assert_true(a[0] != b[0]);
    assert_true(a[1] != b[1]);
    assert_true(a[2] != b[2]);
    double reference = facet_dataset_actions(dataset, 0)[3];
    for (int i = 0; i < 3; i++) {
        const double *v = facet_dataset_observed(dataset, states, i) + 7;
        double speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        assert_less(0.7 * reference - 1e-9, speed);
        assert_less(speed, reference + 1e-9);
    }
    // With neither spread nor gusts nor a choice of speed, rollouts of a task are all the same.
    facet_dataset_destroy(dataset);
    options.start_spread = options.gust_speed = 0.0;
    options.speed_least = 1.0;
    write_and_read(&dataset, race, &options);
    assert_memory_equal(facet_dataset_actions(dataset, 0), facet_dataset_actions(dataset, 1),
                        sizeof(double) * FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS);
    assert_ok(facet_dataset_find_observation(&states, dataset, "state"));
    assert_memory_equal(facet_dataset_observed(dataset, states, 0),
                        facet_dataset_observed(dataset, states, 1),
                        sizeof(double) * FACET_CHUNK_KEYPOINTS * 13);
    facet_dataset_destroy(dataset);
    facet_race_close(race);
}

// A pilot that flies half a metre aside: the states show it, the labels do not.
static FacetStatus plan_aside(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                              FacetCourseTask task, uint64_t seed, void *context)
{
    FacetPlanner expert = facet_race_expert();
    TRY(expert.plan(chunk, race, task, seed, context));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].pos.z += 0.5;
    return status_ok();
}

// How much higher one set flies than another, in m, on the mean.
static double mean_rise(const FacetDataset *set, const FacetDataset *other)
{
    int rows = set->demos * FACET_CHUNK_KEYPOINTS;
    double rise = 0.0;
    for (int row = 0; row < rows; row++)
        rise +=
            set->observations[0].values[row * 13 + 2] - other->observations[0].values[row * 13 + 2];
    return rise / rows;
}

static void a_pilot_changes_states_and_not_labels(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetDemoOptions options = few();
    FacetPlanner pilot = {.name = "aside", .plan = plan_aside};
    FacetDataset *alone, *piloted;
    write_and_read(&alone, race, &options);
    options.pilot = &pilot;
    write_and_read(&piloted, race, &options);
    size_t size =
        sizeof(double) * (size_t)alone->demos * FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS;
    assert_memory_equal(alone->actions, piloted->actions, size);
    double rise = mean_rise(piloted, alone);
    assert_less(0.1, rise); // half of the stretches, half a metre, less what takes time
    assert_less(rise, 0.5);
    facet_dataset_destroy(alone);
    facet_dataset_destroy(piloted);
    facet_race_close(race);
}

// Who says nothing about shares gets half of the stretches from the pilot.
static void a_pilot_flies_half_of_a_rollout(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetDemoOptions options = few();
    FacetPlanner pilot = {.name = "aside", .plan = plan_aside};
    FacetDataset *none, *usual, *all;
    options.rollouts = 20;
    write_and_read(&none, race, &options);
    options.pilot = &pilot;
    write_and_read(&usual, race, &options);
    options.pilot_share = 1.0;
    write_and_read(&all, race, &options);
    assert_near(mean_rise(usual, none) / mean_rise(all, none), 0.5, 0.1);
    facet_dataset_destroy(none);
    facet_dataset_destroy(usual);
    facet_dataset_destroy(all);
    facet_race_close(race);
}

static void the_same_bytes_at_any_number_of_threads(void **state)
{
    (void)state;
    char *texts[3];
    size_t sizes[3];
    static const int threads[3] = {1, 2, 4};
    FacetDemoOptions options = few();
    for (int i = 0; i < 3; i++) {
        FacetRace *race = open_study(threads[i]);
        assert_ok(facet_race_write_demos(OUT, race, &options, NULL));
        assert_ok(file_read(&texts[i], &sizes[i], OUT));
        unlink(OUT);
        facet_race_close(race);
    }
    for (int i = 1; i < 3; i++) {
        assert_int_equal(sizes[i], sizes[0]);
        assert_memory_equal(texts[i], texts[0], sizes[0]);
    }
    for (int i = 0; i < 3; i++) free(texts[i]);
}

static void another_seed_gives_other_demonstrations(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetDemoOptions options = few();
    FacetDataset *first, *other;
    write_and_read(&first, race, &options);
    options.seed++;
    write_and_read(&other, race, &options);
    assert_true(first->actions[0] != other->actions[0]);
    facet_dataset_destroy(first);
    facet_dataset_destroy(other);
    facet_race_close(race);
}

static void a_full_disk_leaves_no_file(void **state)
{
    (void)state;
    FacetRace *race = open_study(1);
    FacetDemoOptions options = few();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, 20000});
        FacetStatus status = facet_race_write_demos(OUT, race, &options, NULL);
        _exit(status.ok ? 1 : strstr(status.text, OUT) ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_not_equal(access(OUT, F_OK), 0);
    facet_race_close(race);
}

typedef struct Watcher {
    long stop_at, done;
    bool complete;
} Watcher;

static bool stop_there(void *context, const FacetProgressEvent *event)
{
    Watcher *watcher = context;
    assert_string_equal(event->stage, "demos");
    watcher->done = event->done;
    watcher->complete = event->done == event->total;
    return event->done < watcher->stop_at;
}

static void a_host_that_says_stop_gets_no_file(void **state)
{
    (void)state;
    FacetDemoOptions options = few();
    for (int threads = 1; threads <= 2; threads++) {
        FacetRace *race = open_study(threads);
        for (long stop_at = 0; stop_at <= 2; stop_at++) {
            Watcher watcher = {.stop_at = stop_at};
            const FacetProgress progress = {.report = stop_there, .context = &watcher};
            FacetStatus status = facet_race_write_demos(OUT, race, &options, &progress);
            assert_int_equal(status.code, FACET_INTERRUPTED);
            assert_refused(status, "test_demos.h5: interrupted, not written");
            assert_int_equal(watcher.done, stop_at); // and it is not asked again
            assert_int_not_equal(access(OUT, F_OK), 0);
        }
        Watcher watcher = {.stop_at = LONG_MAX};
        const FacetProgress progress = {.report = stop_there, .context = &watcher};
        assert_ok(facet_race_write_demos(OUT, race, &options, &progress));
        assert_true(watcher.complete);
        facet_race_close(race);
        unlink(OUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_holds_every_feasible_task),
        cmocka_unit_test(labels_are_the_experts_commands),
        cmocka_unit_test(rollouts_differ_in_start_speed_and_wind),
        cmocka_unit_test(a_pilot_changes_states_and_not_labels),
        cmocka_unit_test(a_pilot_flies_half_of_a_rollout),
        cmocka_unit_test(the_same_bytes_at_any_number_of_threads),
        cmocka_unit_test(another_seed_gives_other_demonstrations),
        cmocka_unit_test(a_full_disk_leaves_no_file),
        cmocka_unit_test(a_host_that_says_stop_gets_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
