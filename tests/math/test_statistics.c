// Intervals of rates against published values and limits.
#include "math/statistics.h"
#include "testing.h"

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

// P(X >= k) for n trials of rate p, summed term by term.
static double binomial_tail(int k, int n, double p)
{
    double tail = 0.0;
    for (int i = k; i <= n; i++) {
        double log_term = i * log(p) + (n - i) * log1p(-p);
        for (int j = 1; j <= i; j++) log_term += log((double)(n - i + j)) - log((double)j);
        tail += exp(log_term);
    }
    return tail;
}

static void incomplete_beta_matches_closed_forms(void **state)
{
    (void)state;
    for (double x = 0.0; x <= 1.0; x += 0.125) {
        assert_near(incomplete_beta(x, 1.0, 1.0), x, 1e-13);
        assert_near(incomplete_beta(x, 3.0, 1.0), x * x * x, 1e-13);
        assert_near(incomplete_beta(x, 1.0, 4.0), 1.0 - pow(1.0 - x, 4.0), 1e-13);
        assert_near(incomplete_beta(x, 0.5, 0.5), 2.0 / acos(-1.0) * asin(sqrt(x)), 1e-13);
        assert_near(incomplete_beta(x, 2.5, 7.0) + incomplete_beta(1.0 - x, 7.0, 2.5), 1.0, 1e-13);
    }
    const int cases[][2] = {{1, 2}, {3, 10}, {29, 50}, {95, 100}, {480, 500}};
    for (int i = 0; i < 5; i++)
        for (double p = 0.05; p < 1.0; p += 0.1) {
            int k = cases[i][0], n = cases[i][1];
            assert_near(incomplete_beta(p, k, n - k + 1.0), binomial_tail(k, n, p), 2e-12);
        }
}

static void clopper_pearson_matches_closed_forms(void **state)
{
    (void)state;
    for (int n = 1; n <= 1000; n *= 10) {
        assert_near(clopper_pearson_lower(0, n, 0.95), 0.0, 0.0);
        // All passed: p^n = 1 - confidence. One passed: (1 - p)^n = confidence.
        assert_near(clopper_pearson_lower(n, n, 0.95), pow(0.05, 1.0 / n), 1e-12);
        assert_near(clopper_pearson_lower(n, n, 0.999), pow(0.001, 1.0 / n), 1e-12);
        assert_near(clopper_pearson_lower(1, n, 0.95), 1.0 - pow(0.95, 1.0 / n), 1e-12);
    }
}

// At the bound, the sum of the binomial's terms from k on is what the confidence leaves.
static void clopper_pearson_matches_binomial_sums(void **state)
{
    (void)state;
    const int cases[][2] = {{2, 3}, {8, 10}, {17, 20}, {49, 50}, {90, 100}, {5, 100}, {495, 500}};
    const double levels[] = {0.5, 0.9, 0.95, 0.99, 0.9999};
    for (int i = 0; i < 7; i++)
        for (int c = 0; c < 5; c++) {
            int k = cases[i][0], n = cases[i][1];
            double bound = clopper_pearson_lower(k, n, levels[c]);
            assert_true(bound > 0.0);
            assert_true(bound < (double)k / n + 0.01);
            assert_near(binomial_tail(k, n, bound), 1.0 - levels[c], 1e-11);
        }
}

// A published two-sided 95 % interval is the one-sided bound at 97.5 %.
static void clopper_pearson_matches_known_values(void **state)
{
    (void)state;
    // Newcombe (1998), method 5.
    assert_near(clopper_pearson_lower(81, 263, 0.975), 0.2527, 5e-5);
    assert_near(clopper_pearson_lower(15, 148, 0.975), 0.0578, 5e-5);
    assert_near(clopper_pearson_lower(1, 29, 0.975), 0.0009, 5e-5);
}

static void numbers_in_short(void **state)
{
    (void)state;
    double values[] = {4.0, NAN, 1.0, INFINITY, 3.0, 8.0};
    Summary all = summarise(values, 6);
    assert_int_equal(all.count, 4);
    assert_near(all.mean, 4.0, 0.0);
    assert_near(all.deviation, sqrt(26.0 / 3.0), 1e-15);
    assert_near(all.least, 1.0, 0.0);
    assert_near(all.median, 3.5, 0.0);
    assert_near(all.most, 8.0, 0.0);
    double three[] = {5.0, 1.0, 2.0};
    assert_near(summarise(three, 3).median, 2.0, 0.0);
    Summary one = summarise(three, 1), none = summarise(three, 0);
    assert_near(one.mean, 1.0, 0.0);
    assert_true(isnan(one.deviation));
    assert_int_equal(none.count, 0);
    assert_true(isnan(none.mean));
    assert_true(isnan(none.median));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wilson_matches_known_values),
        cmocka_unit_test(wilson_at_the_ends),
        cmocka_unit_test(numbers_in_short),
        cmocka_unit_test(incomplete_beta_matches_closed_forms),
        cmocka_unit_test(clopper_pearson_matches_closed_forms),
        cmocka_unit_test(clopper_pearson_matches_binomial_sums),
        cmocka_unit_test(clopper_pearson_matches_known_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
