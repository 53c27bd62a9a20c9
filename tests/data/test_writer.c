// Writing demonstrations: round trips, equal bytes, and files that appear whole or not at all.
#include "base/file.h"
#include "factor/factor.h"
#include "samples.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void a_file_comes_back(void **state)
{
    (void)state;
    enum { DEMOS = 12 }; // past ten: demo_10 comes behind demo_9, not behind demo_1
    write_sample("demos.h5", DEMOS);
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "demos.h5"));
    FacetFactorSpace *space = sample_space();
    assert_true(factor_space_equal(dataset->space, space));
    assert_int_equal(dataset->demos, DEMOS);
    assert_int_equal(dataset->steps, SAMPLE_STEPS);
    assert_int_equal(dataset->action_dim, SAMPLE_ACTIONS);
    assert_string_equal(dataset->env_args, "{\"env_name\":\"facet-race\",\"type\":2,"
                                           "\"env_kwargs\":{\"rate\":600,\"wind\":[0.5,0]}}");
    assert_int_equal(dataset->observation_count, 2);
    assert_string_equal(dataset->observations[0].name, "gate");
    const FacetDatasetObservation *states, *gates;
    assert_ok(facet_dataset_find_observation(&states, dataset, "state"));
    assert_ok(facet_dataset_find_observation(&gates, dataset, "gate"));
    assert_int_equal(states->dim, SAMPLE_STATES);
    assert_int_equal(gates->dim, 1);
    for (int demo = 0; demo < DEMOS; demo++) {
        assert_int_equal(factor_task_index(space, dataset->tasks[demo]), 4 * demo % 9);
        for (int t = 0; t < SAMPLE_STEPS; t++) {
            const double *action = facet_dataset_actions(dataset, demo) + t * SAMPLE_ACTIONS;
            const double *at = facet_dataset_observed(dataset, states, demo) + t * SAMPLE_STATES;
            for (int i = 0; i < SAMPLE_ACTIONS; i++)
                assert_true(action[i] == sample_action(demo, t, i));
            for (int i = 0; i < SAMPLE_STATES; i++) assert_true(at[i] == sample_state(demo, t, i));
            assert_true(facet_dataset_observed(dataset, gates, demo)[t] == t);
        }
    }
    assert_refused(facet_dataset_find_observation(&states, dataset, "staet"),
                   "no observation 'staet', did you mean 'state'? known: gate, state");
    assert_null(states);
    facet_dataset_destroy(dataset);
    facet_dataset_destroy(NULL);
    facet_factor_space_destroy(space);
}

static void the_smallest_file_comes_back(void **state)
{
    (void)state;
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(&space, "{\"task\":[\"only\"]}", "sample"));
    FacetDatasetLayout layout = {.space = space, .steps = 1, .action_dim = 1};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, "small.h5", &layout));
    double action = -0.1;
    assert_ok(facet_dataset_writer_append(writer, factor_task_at(space, 0), &action, NULL));
    assert_ok(facet_dataset_writer_close(writer));
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "small.h5"));
    assert_int_equal(dataset->demos * dataset->steps * dataset->action_dim, 1);
    assert_true(dataset->actions[0] == action);
    assert_int_equal(dataset->observation_count, 0);
    facet_dataset_destroy(dataset);
    facet_factor_space_destroy(space);
}

static void many_factors_and_values_come_back(void **state)
{
    (void)state;
    // The names of the values alone are past the 64 KiB that an attribute holds in place.
    FacetFactorSpace *space;
    assert_ok(facet_factor_space_create(&space));
    char name[FACET_FACTOR_NAME_SIZE];
    for (int i = 0; i < FACET_FACTOR_MAX; i++) {
        snprintf(name, sizeof name, "factor %d", i);
        assert_ok(factor_space_add_factor(space, name));
        for (int j = 0; j < (i == 3 ? 2000 : 2); j++) {
            snprintf(name, sizeof name, "value %d of a factor with a rather long name", j);
            assert_ok(factor_space_add_value(space, i, name));
        }
    }
    FacetDatasetLayout layout = {.space = space, .steps = 2, .action_dim = 2};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, "many.h5", &layout));
    const double actions[] = {1.0, 2.0, 3.0, 4.0};
    int64_t last = factor_task_count(space) - 1;
    for (int i = 0; i < 3; i++)
        assert_ok(facet_dataset_writer_append(writer, factor_task_at(space, last / (i + 1)),
                                              actions, NULL));
    assert_ok(facet_dataset_writer_close(writer));
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "many.h5"));
    assert_true(factor_space_equal(dataset->space, space));
    for (int i = 0; i < 3; i++)
        assert_true(factor_task_index(space, dataset->tasks[i]) == last / (i + 1));
    facet_dataset_destroy(dataset);
    facet_factor_space_destroy(space);
}

static void equal_demos_give_equal_bytes(void **state)
{
    (void)state;
    write_sample("first.h5", 40);
    // A second passes, so that a time stamp would show, and the heap is not what it was.
    sleep(1);
    void *litter[64];
    for (int i = 0; i < 64; i++) {
        litter[i] = malloc((size_t)(512 << i % 8));
        assert_non_null(litter[i]);
        memset(litter[i], 0xA5, (size_t)(512 << i % 8));
    }
    for (int i = 0; i < 64; i++) free(litter[i]);
    write_sample("second.h5", 40);
    write_sample("other.h5", 39);
    size_t first_size, second_size, other_size;
    char *first = read_bytes(&first_size, "first.h5");
    char *second = read_bytes(&second_size, "second.h5");
    char *other = read_bytes(&other_size, "other.h5");
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    assert_true(other_size < first_size);
    free(first);
    free(second);
    free(other);
}

static void two_files_can_grow_side_by_side(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *a, *b;
    assert_ok(facet_dataset_writer_open(&a, "a.h5", &layout));
    assert_ok(facet_dataset_writer_open(&b, "b.h5", &layout));
    for (int demo = 0; demo < 5; demo++) {
        assert_ok(append_sample(a, space, demo));
        assert_ok(append_sample(b, space, demo));
    }
    assert_ok(facet_dataset_writer_close(a));
    assert_ok(facet_dataset_writer_close(b));
    write_sample("alone.h5", 5);
    size_t a_size, b_size, alone_size;
    char *a_bytes = read_bytes(&a_size, "a.h5"), *b_bytes = read_bytes(&b_size, "b.h5");
    char *alone = read_bytes(&alone_size, "alone.h5");
    assert_int_equal(a_size, alone_size);
    assert_int_equal(b_size, alone_size);
    assert_memory_equal(a_bytes, alone, alone_size);
    assert_memory_equal(b_bytes, alone, alone_size);
    free(a_bytes);
    free(b_bytes);
    free(alone);
    facet_factor_space_destroy(space);
}

static void nothing_appears_before_the_close(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, "demos.h5", &layout));
    assert_ok(append_sample(writer, space, 0));
    assert_int_not_equal(access("demos.h5", F_OK), 0);
    facet_dataset_writer_abort(writer);
    assert_int_equal(scratch_count("."), 0);
    facet_dataset_writer_abort(NULL);
    facet_factor_space_destroy(space);
}

static void an_abort_keeps_what_was_there(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *writer;
    write_bytes("demos.h5", "old", 3);
    assert_ok(facet_dataset_writer_open(&writer, "demos.h5", &layout));
    assert_ok(append_sample(writer, space, 0));
    facet_dataset_writer_abort(writer);
    size_t size;
    char *bytes = read_bytes(&size, "demos.h5");
    assert_int_equal(size, 3);
    free(bytes);
    write_sample("demos.h5", 1);
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "demos.h5"));
    facet_dataset_destroy(dataset);
    assert_int_equal(scratch_count("."), 1);
    facet_factor_space_destroy(space);
}

// Writes five demos where no file may grow past `limit` bytes, as on a disk that is full.
static FacetStatus write_within(rlim_t limit)
{
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = {.rlim_cur = limit, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    FacetDatasetWriter *writer;
    FacetStatus status = facet_dataset_writer_open(&writer, "demos.h5", &layout);
    for (int demo = 0; demo < 5 && status.ok; demo++) status = append_sample(writer, space, demo);
    if (writer) {
        FacetStatus closed = facet_dataset_writer_close(writer);
        if (status.ok) status = closed;
    }
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    facet_factor_space_destroy(space);
    return status;
}

static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    write_sample("whole.h5", 5);
    struct stat whole;
    assert_int_equal(stat("whole.h5", &whole), 0);
    assert_int_equal(scratch_count("."), 1);
    scratch_clean(NULL);
    rlim_t size = (rlim_t)whole.st_size;
    const rlim_t limits[] = {0, 1, 96, 4096, size / 2, size - 1};
    for (int i = 0; i < 6; i++) {
        assert_refused(write_within(limits[i]), "demos.h5: cannot write: File too large");
        assert_int_equal(scratch_count("."), 0);
    }
    assert_ok(write_within(size));
    assert_refused(write_within(size / 2), "cannot write"); // and an older file stays
    assert_int_equal(scratch_count("."), 1);
    assert_int_equal(stat("demos.h5", &whole), 0);
    assert_int_equal(whole.st_size, size);
}

// Writes in a child process that `ending` ends; the child's exit status.
static int write_in_child(void (*ending)(FacetDatasetWriter *writer, const FacetFactorSpace *space))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FacetFactorSpace *space = sample_space();
        FacetDatasetLayout layout = sample_layout(space);
        FacetDatasetWriter *writer;
        if (!facet_dataset_writer_open(&writer, "demos.h5", &layout).ok) _exit(1);
        if (!append_sample(writer, space, 0).ok) _exit(1);
        ending(writer, space);
        _exit(2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void die_at_once(FacetDatasetWriter *writer, const FacetFactorSpace *space)
{
    (void)writer;
    (void)space;
    raise(SIGKILL);
}

static void a_killed_process_leaves_no_file_of_that_name(void **state)
{
    (void)state;
    int status = write_in_child(die_at_once);
    assert_true(WIFSIGNALED(status));
    assert_true(WTERMSIG(status) == SIGKILL);
    assert_int_not_equal(access("demos.h5", F_OK), 0);
    write_sample("demos.h5", 2); // and the next run is not in its way
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "demos.h5"));
    facet_dataset_destroy(dataset);
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    const FacetDatasetField field = {"state", 2};
    FacetDatasetLayout layout = {.space = space,
                                 .steps = 3,
                                 .action_dim = 2,
                                 .observations = &field,
                                 .observation_count = 1};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, "demos.h5", &layout));
    FacetFactorTask task = factor_task_at(space, 0);
    double good[6] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}, bad[6] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0};
    const double *good_states = good, *bad_states = bad;
    assert_ok(facet_dataset_writer_append(writer, task, good, &good_states));
    bad[3] = nan("");
    assert_refused(facet_dataset_writer_append(writer, task, bad, &good_states),
                   "demos.h5: data/demo_1/actions: expected finite numbers, found nan in row 1, "
                   "column 1");
    bad[3] = 3.0;
    bad[4] = HUGE_VAL;
    assert_refused(facet_dataset_writer_append(writer, task, good, &bad_states),
                   "demos.h5: data/demo_1/obs/state: expected finite numbers, found inf in row 2, "
                   "column 0");
    assert_ok(facet_dataset_writer_append(writer, task, good, &good_states));
    assert_ok(facet_dataset_writer_close(writer));
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "demos.h5"));
    assert_int_equal(dataset->demos, 2);
    facet_dataset_destroy(dataset);
    facet_factor_space_destroy(space);
}

static void a_file_without_demos_is_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, "demos.h5", &layout));
    assert_refused(facet_dataset_writer_close(writer),
                   "demos.h5: expected at least one demo to write");
    assert_int_equal(scratch_count("."), 0);
    facet_factor_space_destroy(space);
}

static void wrong_layouts_and_paths_are_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space(), *other;
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *writer;
    assert_refused(facet_dataset_writer_open(&writer, "no/such/folder/demos.h5", &layout),
                   "no/such/folder/demos.h5: cannot create: No such file or directory");
    assert_null(writer);
    assert_refused(facet_dataset_writer_open(&writer, ".", &layout), "expected a file to write");
    assert_refused(facet_dataset_writer_open(&writer, "", &layout), "expected the name of a file");

    layout.env_kwargs = "{";
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: env_kwargs: line 1: expected valid JSON");
    layout.env_kwargs = "[]";
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: env_kwargs: the document: expected an object, found an array of 0");
    layout.env_kwargs = NULL;

    const FacetDatasetField twice[] = {{"state", 1}, {"state", 2}}, slash = {"a/b", 1};
    layout.observations = twice;
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: obs: expected distinct names, found 'state' twice");
    layout.observations = &slash;
    layout.observation_count = 1;
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: obs: expected a name of 1 to 127 bytes without /, found 'a/b'");
    layout.observation_count = 0;

    assert_ok(facet_factor_space_create(&other));
    layout.space = other;
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: factors: expected at least one, found none");
    assert_ok(factor_space_add_factor(other, "num_samples"));
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: factors: num_samples: expected at least one value");
    assert_ok(factor_space_add_value(other, 0, "3"));
    assert_refused(facet_dataset_writer_open(&writer, "demos.h5", &layout),
                   "demos.h5: factors: num_samples: expected another name");
    assert_int_equal(scratch_count("."), 0);
    facet_factor_space_destroy(other);
    facet_factor_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_file_comes_back, scratch_clean),
        cmocka_unit_test_teardown(the_smallest_file_comes_back, scratch_clean),
        cmocka_unit_test_teardown(many_factors_and_values_come_back, scratch_clean),
        cmocka_unit_test_teardown(equal_demos_give_equal_bytes, scratch_clean),
        cmocka_unit_test_teardown(two_files_can_grow_side_by_side, scratch_clean),
        cmocka_unit_test_teardown(nothing_appears_before_the_close, scratch_clean),
        cmocka_unit_test_teardown(an_abort_keeps_what_was_there, scratch_clean),
        cmocka_unit_test_teardown(a_full_disk_leaves_nothing, scratch_clean),
        cmocka_unit_test_teardown(a_killed_process_leaves_no_file_of_that_name, scratch_clean),
        cmocka_unit_test_teardown(numbers_that_are_not_finite_are_refused, scratch_clean),
        cmocka_unit_test_teardown(a_file_without_demos_is_refused, scratch_clean),
        cmocka_unit_test_teardown(wrong_layouts_and_paths_are_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
