// Intervals of rates against published values and limits.
#include "testing.h"

#include "math/statistics.h"

static void wilson_matches_known_values(void **state)
{
    (void)state;
    // Newcombe (1998), method 3.
    Interval a = wilson_interval(81, 263), b = wilson_interval(15, 148), c = wilson_interval(1, 29);
    assert_near(a.low, 0.2553, 5e-5);
    assert_near(a.high, 0.3662, 5e-5);
    assert_near(b.low, 0.0624, 5e-5);
    assert_near(b.high, 0.1605, 5e-5);
    assert_near(c.low, 0.0061, 5e-5);
    assert_near(c.high, 0.1718, 5e-5);
}

static void wilson_at_the_ends(void **state)
{
    (void)state;
    Interval none = wilson_interval(0, 20), all = wilson_interval(20, 20),
             nothing = wilson_interval(0, 0);
    assert_near(none.low, 0.0, 1e-15);
    assert_near(none.high, 0.1611, 5e-5); // Newcombe (1998)
    assert_near(all.high, 1.0, 1e-15);
    assert_near(all.low, 1.0 - none.high, 1e-12);
    assert_near(nothing.low, 0.0, 0.0);
    assert_near(nothing.high, 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_matches_known_values),
        cmocka_unit_test(wilson_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
