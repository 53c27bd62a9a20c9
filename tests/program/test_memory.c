// Training the race study's policies takes less than 300 MB.
#include "program/program.h"
#include "scratch.h"

#include <sys/resource.h>

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "

// What the shipped demonstrations take beside the few of this test.
enum { LIMIT_MB = 300, DEMONSTRATIONS_MB = 25 };

// The most that any program that has ended took, MB.
static double peak_of_children(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return (double)usage.ru_maxrss / 1024.0;
}

static void training_stays_under_its_limit(void **state)
{
    (void)state;
#ifdef TEST_SANITIZED
    skip(); // they take several times the memory
#endif
    Run demos = run("demos " SAMPLE "--rollouts 11 --out demos.h5");
    assert_string_equal(demos.err, "");
    double before = peak_of_children();
    // The network and the batch of the default recipe, with the composed loss: 80 rows an update.
    Run train = run("train --data demos.h5 --out policy --epochs 1 --composed-loss 3 --threads 2 "
                    "--quiet");
    assert_string_equal(train.err, "");
    assert_int_equal(train.code, 0);
    double peak = peak_of_children();
    print_message("demonstrations %.0f MB, training %.0f MB\n", before, peak);
    assert_less(before, peak);
    assert_less(peak, LIMIT_MB - DEMONSTRATIONS_MB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(training_stays_under_its_limit)};
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
