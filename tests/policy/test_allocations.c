// A longer training allocates no more than a short one: nothing is allocated in an update.
#include "allocations.h"
#include "waves.h"

static long allocations_of(int epochs)
{
    TrainOptions options = tiny_training();
    TrainSummary summary;
    options.epochs = epochs;
    options.composed_weight = 1.0;
    options.threads = 2;
    long before = allocations;
    assert_ok(policy_train(&summary, "waves.h5", "policy", &options));
    assert_int_equal(summary.updates, 3 * epochs);
    return allocations - before;
}

static void an_update_allocates_nothing(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    long few = allocations_of(10);
    assert_true(few > 20);
    assert_int_equal(allocations_of(90), few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_update_allocates_nothing, clean_folder),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
