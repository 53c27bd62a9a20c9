// Writing image files: round trips, equal bytes, and files that appear whole or not at all.
#include "factor/factor.h"
#include "images.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void a_file_comes_back(void **state)
{
    (void)state;
    enum { FRAMES = 150 }; // more than one batch
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    assert_ok(write_frames("frames.h5", FRAMES, 70, pool));
    assert_int_equal(scratch_count("."), 1);
    FacetImageSet *set;
    assert_ok(open_one(&set, "frames.h5"));
    FacetFactorSpace *space = sample_space();
    assert_true(factor_space_equal(facet_image_set_space(set), space));
    assert_int_equal(facet_image_set_count(set), FRAMES);
    FacetFrameShape shape = facet_image_set_shape(set);
    assert_memory_equal(&shape, &frame_shape, sizeof shape);
    assert_string_equal(facet_image_set_settings(set), SAMPLE_SETTINGS);
    static uint8_t rgb[FRAMES * FRAME_BYTES];
    static int64_t order[FRAMES];
    for (int n = 0; n < FRAMES; n++) {
        expect_labels(set, n, n);
        assert_int_equal(facet_image_set_file(set, n), 0);
        order[n] = n * 77 % FRAMES; // every frame once, out of order
    }
    FacetPool *pools[] = {pool, NULL};
    for (int i = 0; i < 2; i++) {
        memset(rgb, 0, sizeof rgb);
        assert_ok(facet_image_set_read(rgb, set, order, FRAMES, pools[i]));
        for (int n = 0; n < FRAMES; n++) expect_image(rgb + n * FRAME_BYTES, (int)order[n]);
    }
    const int64_t same[] = {9, 9, 3, 9};
    assert_ok(facet_image_set_read(rgb, set, same, 4, pool));
    for (int n = 0; n < 4; n++) expect_image(rgb + n * FRAME_BYTES, (int)same[n]);
    assert_ok(facet_image_set_read(rgb, set, NULL, 0, pool));
    facet_image_set_close(set);
    facet_image_set_close(NULL);
    facet_factor_space_destroy(space);
    facet_pool_destroy(pool);
}

static void several_files_are_one_set(void **state)
{
    (void)state;
    assert_ok(write_frames("a.h5", 5, 5, NULL));
    assert_ok(write_frames("b.h5", 1, 1, NULL));
    assert_ok(write_frames("c.h5", 7, 2, NULL));
    const char *const paths[] = {"a.h5", "b.h5", "c.h5"};
    FacetImageSet *set;
    assert_ok(facet_image_set_open(&set, paths, 3));
    assert_int_equal(facet_image_set_count(set), 13);
    const int sizes[] = {5, 1, 7};
    uint8_t rgb[13 * FRAME_BYTES];
    int64_t frames[13];
    for (int n = 0; n < 13; n++) frames[n] = 12 - n;
    assert_ok(facet_image_set_read(rgb, set, frames, 13, NULL));
    for (int file = 0, n = 0; file < 3; file++)
        for (int i = 0; i < sizes[file]; i++, n++) {
            assert_int_equal(facet_image_set_file(set, n), file);
            expect_labels(set, n, i);
            expect_image(rgb + (12 - n) * FRAME_BYTES, i);
        }
    facet_image_set_close(set);
}

static void a_file_without_settings_comes_back(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetImageWriter *writer;
    assert_ok(facet_image_writer_create(&writer, "frames.h5", space, frame_shape, NULL));
    assert_ok(add_frames(writer, space, 0, 0, NULL));
    assert_ok(add_frames(writer, space, 0, 1, NULL));
    assert_ok(facet_image_writer_finish(writer));
    FacetImageSet *set;
    assert_ok(open_one(&set, "frames.h5"));
    assert_string_equal(facet_image_set_settings(set), "");
    facet_image_set_close(set);
    facet_factor_space_destroy(space);
}

static void expect_equal_files(const char *one, const char *other)
{
    size_t size, other_size;
    char *bytes = read_bytes(&size, one), *other_bytes = read_bytes(&other_size, other);
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other_bytes, size);
    free(bytes);
    free(other_bytes);
}

static void threads_and_steps_change_no_byte(void **state)
{
    (void)state;
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 3));
    assert_ok(write_frames("one.h5", 200, 200, NULL));
    assert_ok(write_frames("three.h5", 200, 200, pool));
    assert_ok(write_frames("steps.h5", 200, 17, pool));
    expect_equal_files("one.h5", "three.h5");
    expect_equal_files("one.h5", "steps.h5");
    facet_pool_destroy(pool);
}

static void two_files_can_grow_side_by_side(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetImageWriter *a, *b;
    assert_ok(facet_image_writer_create(&a, "a.h5", space, frame_shape, SAMPLE_SETTINGS));
    assert_ok(facet_image_writer_create(&b, "b.h5", space, frame_shape, SAMPLE_SETTINGS));
    for (int n = 0; n < 10; n++) {
        assert_ok(add_frames(a, space, n, 1, NULL));
        assert_ok(add_frames(b, space, n, 1, NULL));
    }
    assert_ok(facet_image_writer_finish(a));
    assert_ok(facet_image_writer_finish(b));
    expect_equal_files("a.h5", "b.h5");
    facet_factor_space_destroy(space);
}

// ---- Whole or not at all ----------------------------------------------------------------------

static void abandoning_keeps_what_was_there(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    write_bytes("frames.h5", "before", 6);
    FacetImageWriter *writer;
    assert_ok(facet_image_writer_create(&writer, "frames.h5", space, frame_shape, NULL));
    assert_ok(add_frames(writer, space, 0, 100, NULL));
    assert_int_equal(scratch_count("."), 2);
    facet_image_writer_abandon(writer);
    facet_image_writer_abandon(NULL);
    assert_int_equal(scratch_count("."), 1);
    size_t size;
    char *bytes = read_bytes(&size, "frames.h5");
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, "before", 6);
    free(bytes);
    facet_factor_space_destroy(space);
}

static void limit_files(rlim_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static FacetStatus write_within(rlim_t size)
{
    limit_files(size);
    FacetStatus status = write_frames("frames.h5", 400, 50, NULL);
    limit_files(RLIM_INFINITY);
    return status;
}

static void a_full_disk_leaves_nothing(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_ok(write_within(RLIM_INFINITY));
    struct stat whole;
    assert_int_equal(stat("frames.h5", &whole), 0);
    assert_int_equal(scratch_count("."), 1);
    scratch_clean(NULL);
    rlim_t size = (rlim_t)whole.st_size;
    // From the first byte to the last, through the header, the frames, their index and the labels.
    for (rlim_t limit = 0; limit < size; limit += limit < 4096 ? 96 : size / 37) {
        assert_refused(write_within(limit), "frames.h5: cannot write: File too large");
        assert_int_equal(scratch_count("."), 0);
    }
    assert_refused(write_within(size - 1), "frames.h5: cannot write: File too large");
    assert_int_equal(scratch_count("."), 0);
    assert_ok(write_within(size));
    assert_refused(write_within(size / 2), "cannot write"); // and an older file stays
    assert_int_equal(scratch_count("."), 1);
    FacetImageSet *set;
    assert_ok(open_one(&set, "frames.h5"));
    facet_image_set_close(set);
    signal(SIGXFSZ, SIG_DFL);
}

static void a_writer_past_a_full_disk_stays_broken(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    FacetFactorSpace *space = sample_space();
    FacetImageWriter *writer;
    assert_ok(facet_image_writer_create(&writer, "frames.h5", space, frame_shape, NULL));
    limit_files(20000);
    assert_refused(add_frames(writer, space, 0, 100, NULL), "cannot write: File too large");
    limit_files(RLIM_INFINITY);
    assert_refused(add_frames(writer, space, 100, 1, NULL), "frames.h5: not written, for frames");
    assert_refused(facet_image_writer_finish(writer), "frames.h5: not written, for frames");
    assert_int_equal(scratch_count("."), 0);
    facet_factor_space_destroy(space);
    signal(SIGXFSZ, SIG_DFL);
}

static void a_killed_writer_is_swept_by_the_next(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FacetFactorSpace *space = sample_space();
        FacetImageWriter *writer;
        if (!facet_image_writer_create(&writer, "frames.h5", space, frame_shape, NULL).ok) _exit(1);
        if (!add_frames(writer, space, 0, 100, NULL).ok) _exit(1);
        raise(SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(scratch_count("."), 1);
    assert_int_not_equal(access("frames.h5", F_OK), 0);
    assert_ok(write_frames("frames.h5", 3, 3, NULL));
    assert_int_equal(scratch_count("."), 1);
    assert_int_equal(access("frames.h5", F_OK), 0);
}

// ---- Refusals ---------------------------------------------------------------------------------

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space();
    FacetImageWriter *writer;
    assert_ok(facet_image_writer_create(&writer, "frames.h5", space, frame_shape, NULL));
    assert_ok(add_frames(writer, space, 0, 2, NULL));
    uint8_t rgb[2 * FRAME_BYTES] = {0};
    double actions[2 * FRAME_ACTIONS] = {[FRAME_ACTIONS + 7] = (double)NAN};
    const FacetFactorTask tasks[] = {factor_task_at(space, 0), factor_task_at(space, 1)};
    const int flights[] = {0, 0};
    assert_refused(facet_image_writer_add(writer, rgb, actions, tasks, flights, 2, NULL),
                   "frames.h5: actions: frame 3: expected finite numbers, found nan in step 2, "
                   "channel 1");
    assert_ok(add_frames(writer, space, 2, 2, NULL)); // the writer goes on without them
    assert_ok(facet_image_writer_finish(writer));
    FacetImageSet *set;
    assert_ok(open_one(&set, "frames.h5"));
    assert_int_equal(facet_image_set_count(set), 4);
    for (int n = 0; n < 4; n++) expect_labels(set, n, n);
    facet_image_set_close(set);
    facet_factor_space_destroy(space);
}

static void wrong_paths_and_spaces_are_refused(void **state)
{
    (void)state;
    FacetFactorSpace *space = sample_space(), *empty;
    FacetImageWriter *writer;
    assert_refused(facet_image_writer_create(&writer, "no/such/f.h5", space, frame_shape, NULL),
                   "no/such/f.h5: cannot create: No such file or directory");
    assert_null(writer);
    assert_refused(facet_image_writer_create(&writer, ".", space, frame_shape, NULL),
                   ".: expected a file to write, found a folder");
    assert_ok(facet_factor_space_create(&empty));
    assert_refused(facet_image_writer_create(&writer, "f.h5", empty, frame_shape, NULL),
                   "f.h5: factors: expected at least one, found none");
    assert_ok(factor_space_add_factor(empty, "venue"));
    assert_refused(facet_image_writer_create(&writer, "f.h5", empty, frame_shape, NULL),
                   "f.h5: factors: venue: expected at least one value, found none");
    assert_ok(facet_image_writer_create(&writer, "f.h5", space, frame_shape, NULL));
    assert_refused(facet_image_writer_finish(writer), "f.h5: expected at least one frame to write");
    assert_int_equal(scratch_count("."), 0);
    facet_factor_space_destroy(empty);
    facet_factor_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_file_comes_back, scratch_clean),
        cmocka_unit_test_teardown(several_files_are_one_set, scratch_clean),
        cmocka_unit_test_teardown(a_file_without_settings_comes_back, scratch_clean),
        cmocka_unit_test_teardown(threads_and_steps_change_no_byte, scratch_clean),
        cmocka_unit_test_teardown(two_files_can_grow_side_by_side, scratch_clean),
        cmocka_unit_test_teardown(abandoning_keeps_what_was_there, scratch_clean),
        cmocka_unit_test_teardown(a_full_disk_leaves_nothing, scratch_clean),
        cmocka_unit_test_teardown(a_writer_past_a_full_disk_stays_broken, scratch_clean),
        cmocka_unit_test_teardown(a_killed_writer_is_swept_by_the_next, scratch_clean),
        cmocka_unit_test_teardown(numbers_that_are_not_finite_are_refused, scratch_clean),
        cmocka_unit_test_teardown(wrong_paths_and_spaces_are_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
