// Reading frames allocates nothing after the first time, and neither does adding them but for the
// labels, which double their room.
#include "allocations.h"
#include "images.h"

static void reading_allocates_nothing(void **state)
{
    (void)state;
#ifdef FACET_SHARED
    skip(); // the linker does not see into a shared library
#endif
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    assert_ok(write_frames("frames.h5", 100, 100, pool));
    FacetImageSet *set;
    assert_ok(open_one(&set, "frames.h5"));
    static uint8_t rgb[100 * FRAME_BYTES];
    int64_t frames[100];
    for (int n = 0; n < 100; n++) frames[n] = 99 - n;
    long before = allocations;
    assert_ok(facet_image_set_read(rgb, set, frames, 1, pool));
    long first = allocations - before;
    assert_true(first > 0);
    for (int i = 1; i <= 100; i++) assert_ok(facet_image_set_read(rgb, set, frames, i, pool));
    assert_ok(facet_image_set_read(rgb, set, frames, 100, NULL));
    assert_int_equal(allocations - before, first);
    facet_image_set_close(set);
    facet_pool_destroy(pool);
}

static void adding_allocates_for_the_labels_alone(void **state)
{
    (void)state;
#ifdef FACET_SHARED
    skip();
#endif
    enum { STEP = 100 };
    FacetFactorSpace *space = sample_space();
    FacetImageWriter *writer;
    static uint8_t rgb[STEP * FRAME_BYTES];
    static double actions[STEP * FRAME_ACTIONS];
    FacetFactorTask tasks[STEP];
    int flights[STEP] = {0};
    for (int n = 0; n < STEP; n++) {
        sample_frame(rgb + n * FRAME_BYTES, n);
        tasks[n] = factor_task_at(space, 0);
    }
    assert_ok(facet_image_writer_create(&writer, "frames.h5", space, frame_shape, NULL));
    assert_ok(facet_image_writer_add(writer, rgb, actions, tasks, flights, STEP, NULL));
    long before = allocations;
    for (int n = 1; n < 1000 / STEP; n++)
        assert_ok(facet_image_writer_add(writer, rgb, actions, tasks, flights, STEP, NULL));
    assert_int_equal(allocations - before, 2 * 3); // 512, then 1024 of actions, tasks, flights
    assert_ok(facet_image_writer_finish(writer));
    facet_factor_space_destroy(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(reading_allocates_nothing, scratch_clean),
        cmocka_unit_test_teardown(adding_allocates_for_the_labels_alone, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
