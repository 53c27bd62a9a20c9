// Rates over tasks and training seeds, and how surely they are known.
#include "evidence/evidence.h"

#include "base/rng.h"
#include "testing.h"

#include <math.h>

static EvidenceCounts counts_of(const double *passed, const double *trials, int tasks, int seeds)
{
    EvidenceCounts counts;
    assert_ok(evidence_counts_create(&counts, tasks, seeds));
    for (int t = 0; t < tasks; t++)
        for (int s = 0; s < seeds; s++)
            evidence_count(&counts, t, s, passed[t * seeds + s], trials[t * seeds + s]);
    return counts;
}

static double number_of(const Json *json, const char *key)
{
    JsonRef root = json_root(json, "json");
    double number;
    assert_ok(json_member_number(&number, &root, key, -1e9, 1e9));
    return number;
}

// Six held-out tasks of one training, 127 of 150 gates: what a bootstrap over tasks says is much
// less sure than what Wilson's interval would.
static void tasks_of_their_own_widen_the_interval(void **state)
{
    (void)state;
    static const double passed[] = {40, 47, 25, 0, 5, 10}, trials[] = {40, 50, 25, 15, 10, 10};
    EvidenceCounts counts = counts_of(passed, trials, 6, 1);
    EvidenceRate rate = evidence_rate(&counts);
    assert_near(rate.passed, 127.0, 0.0);
    assert_near(rate.mean, 127.0 / 150.0, 1e-15);
    assert_near(rate.wilson.low, 0.78, 0.005);
    assert_near(rate.wilson.high, 0.90, 0.005);
    assert_near(rate.bootstrap.low, 0.52, 0.02);
    assert_near(rate.bootstrap.high, 0.98, 0.01);
    Interval drawn = evidence_bootstrap(&counts, 10000, 1); // of which results are
    assert_near(rate.bootstrap.low, drawn.low, 0.0);
    assert_near(rate.bootstrap.high, drawn.high, 0.0);
    Json *json = json_from_evidence(rate);
    assert_near(number_of(json, "low"), rate.bootstrap.low, 0.0);
    assert_near(number_of(json, "high"), rate.bootstrap.high, 0.0);
    assert_near(number_of(json, "wilson_low"), rate.wilson.low, 0.0);
    assert_near(number_of(json, "wilson_high"), rate.wilson.high, 0.0);
    json_free(json);
    evidence_counts_free(&counts);
}

// Many tasks of one trial each are as good as independent trials.
static void independent_trials_have_wilsons_interval(void **state)
{
    (void)state;
    enum { TASKS = 400 };
    EvidenceCounts counts;
    assert_ok(evidence_counts_create(&counts, TASKS, 1));
    FacetRng rng = rng_make(3, 0);
    for (int t = 0; t < TASKS; t++) evidence_count(&counts, t, 0, rng_uniform(&rng) < 0.7, 1.0);
    EvidenceRate rate = evidence_rate(&counts);
    assert_near(rate.bootstrap.low, rate.wilson.low, 0.01);
    assert_near(rate.bootstrap.high, rate.wilson.high, 0.01);
    evidence_counts_free(&counts);
}

// Trainings that differ widen it, with tasks that do not: one seed passes all, the other nothing.
static void seeds_that_differ_widen_the_interval(void **state)
{
    (void)state;
    static const double passed[] = {9, 0, 9, 0, 9, 0}, trials[] = {9, 9, 9, 9, 9, 9};
    EvidenceCounts counts = counts_of(passed, trials, 3, 2);
    EvidenceRate rate = evidence_rate(&counts);
    assert_near(rate.mean, 0.5, 1e-15);
    assert_near(rate.least, 0.0, 0.0);
    assert_near(rate.most, 1.0, 0.0);
    assert_near(rate.bootstrap.low, 0.0, 0.0);
    assert_near(rate.bootstrap.high, 1.0, 0.0);
    assert_int_equal(rate.seeds, 2);
    assert_int_equal(rate.tasks, 3);
    evidence_counts_free(&counts);
}

// The mean is over seeds, whatever their numbers of trials.
static void seeds_count_alike(void **state)
{
    (void)state;
    static const double passed[] = {10, 0}, trials[] = {10, 1000};
    EvidenceCounts counts = counts_of(passed, trials, 1, 2);
    assert_near(evidence_rate(&counts).mean, 0.5, 1e-15);
    evidence_counts_free(&counts);
}

static void what_has_no_trials_has_no_rate(void **state)
{
    (void)state;
    static const double none[] = {0, 0}, some[] = {4, 0}, passed[] = {3, 0};
    EvidenceCounts counts = counts_of(none, none, 2, 1);
    EvidenceRate rate = evidence_rate(&counts);
    assert_int_equal(rate.seeds, 0);
    assert_true(isnan(rate.mean));
    assert_true(isnan(rate.bootstrap.low));
    assert_true(isnan(rate.wilson.high));
    evidence_counts_free(&counts);
    // A task without trials is not drawn: the one that has some is known to be as it is.
    counts = counts_of(passed, some, 2, 1);
    rate = evidence_rate(&counts);
    assert_int_equal(rate.tasks, 1);
    assert_near(rate.bootstrap.low, 0.75, 0.0);
    assert_near(rate.bootstrap.high, 0.75, 0.0);
    evidence_counts_free(&counts);
}

// Whatever other tasks and seeds there is room for.
static void empty_rows_change_no_draw(void **state)
{
    (void)state;
    static const double passed[] = {40, 47, 25, 0, 5, 10}, trials[] = {40, 50, 25, 15, 10, 10};
    static const double more_passed[] = {40, 0, 47, 0, 0, 0, 25, 0, 0, 0, 5, 0, 0, 0, 10, 0},
                        more_trials[] = {40, 0, 50, 0, 0, 0, 25, 0, 15, 0, 10, 0, 0, 0, 10, 0};
    EvidenceCounts few = counts_of(passed, trials, 6, 1),
                   many = counts_of(more_passed, more_trials, 8, 2);
    Interval a = evidence_bootstrap(&few, 1000, 1), b = evidence_bootstrap(&many, 1000, 1);
    assert_near(b.low, a.low, 0.0);
    assert_near(b.high, a.high, 0.0);
    evidence_counts_free(&few);
    evidence_counts_free(&many);
}

// Tasks that are hard for both cancel: the lead is known far better than either rate.
static void a_lead_is_of_the_same_tasks(void **state)
{
    (void)state;
    static const double one[] = {10, 9, 6, 5, 2, 1}, other[] = {9, 8, 5, 4, 1, 0},
                        trials[] = {10, 10, 10, 10, 10, 10};
    EvidenceCounts a = counts_of(one, trials, 6, 1), b = counts_of(other, trials, 6, 1);
    EvidenceLead lead = evidence_lead(&a, &b), behind = evidence_lead(&b, &a);
    assert_near(lead.mean, 0.1, 1e-12);
    assert_near(lead.bootstrap.low, 0.1, 1e-12);
    assert_near(lead.bootstrap.high, 0.1, 1e-12);
    assert_near(behind.mean, -0.1, 1e-12);
    assert_near(behind.bootstrap.low, -0.1, 1e-12);
    assert_true(evidence_rate(&a).bootstrap.high - evidence_rate(&a).bootstrap.low > 0.3);
    evidence_counts_free(&a);
    evidence_counts_free(&b);
}

// Trainings of each are drawn apart from the other's: one that differs makes the lead unsure, even
// over a method that passes the very same.
static void trainings_of_both_are_drawn(void **state)
{
    (void)state;
    static const double steady[] = {5, 5}, shaky[] = {9, 1, 9, 1}, ten[] = {10, 10, 10, 10};
    EvidenceCounts a = counts_of(steady, ten, 2, 1), b = counts_of(shaky, ten, 2, 2);
    EvidenceLead lead = evidence_lead(&a, &b), same = evidence_lead(&b, &b);
    assert_near(lead.mean, 0.0, 1e-12);
    assert_near(lead.bootstrap.low, -0.4, 1e-12);
    assert_near(lead.bootstrap.high, 0.4, 1e-12);
    assert_near(same.bootstrap.low, -0.8, 1e-12);
    assert_near(same.bootstrap.high, 0.8, 1e-12);
    Json *json = json_from_lead(lead);
    assert_near(number_of(json, "low"), -0.4, 1e-12);
    assert_near(number_of(json, "high"), 0.4, 1e-12);
    json_free(json);
    evidence_counts_free(&a);
    evidence_counts_free(&b);
}

static void what_was_not_tried_is_not_ahead(void **state)
{
    (void)state;
    static const double none[] = {0, 0}, passed[] = {3, 1}, trials[] = {4, 4};
    EvidenceCounts a = counts_of(passed, trials, 2, 1), b = counts_of(none, none, 2, 1);
    EvidenceLead lead = evidence_lead(&a, &b);
    assert_true(isnan(lead.mean));
    assert_true(isnan(lead.bootstrap.low));
    Json *json = json_from_lead(evidence_lead(&a, &a));
    JsonRef root = json_root(json, "lead");
    double mean, high;
    assert_ok(json_member_number(&mean, &root, "mean", -1.0, 1.0));
    assert_ok(json_member_number(&high, &root, "high", -1.0, 1.0));
    assert_near(mean, 0.0, 0.0);
    assert_near(high, 0.0, 0.0);
    json_free(json);
    evidence_counts_free(&a);
    evidence_counts_free(&b);
}

static void counts_of_a_cell_add_up(void **state)
{
    (void)state;
    EvidenceCounts counts;
    assert_ok(evidence_counts_create(&counts, 2, 1));
    evidence_count(&counts, 0, 0, 1, 1);
    evidence_count(&counts, 1, 0, 1, 2);
    evidence_count(&counts, 1, 0, 1, 1);
    EvidenceRate rate = evidence_rate(&counts);
    assert_near(rate.passed, 3.0, 0.0);
    assert_near(rate.trials, 4.0, 0.0);
    assert_near(rate.mean, 0.75, 0.0);
    assert_int_equal(rate.tasks, 2); // one of a single trial
    evidence_counts_free(&counts);
}

static void draws_follow_from_their_seed(void **state)
{
    (void)state;
    static const double passed[] = {40, 47, 25, 0, 5, 10}, trials[] = {40, 50, 25, 15, 10, 10};
    EvidenceCounts counts = counts_of(passed, trials, 6, 1);
    Interval one = evidence_bootstrap(&counts, 1000, 1),
             again = evidence_bootstrap(&counts, 1000, 1),
             other = evidence_bootstrap(&counts, 1000, 2);
    assert_true(one.low == again.low && one.high == again.high);
    assert_true(one.low != other.low || one.high != other.high);
    evidence_counts_free(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_of_their_own_widen_the_interval),
        cmocka_unit_test(independent_trials_have_wilsons_interval),
        cmocka_unit_test(seeds_that_differ_widen_the_interval),
        cmocka_unit_test(seeds_count_alike),
        cmocka_unit_test(what_has_no_trials_has_no_rate),
        cmocka_unit_test(empty_rows_change_no_draw),
        cmocka_unit_test(a_lead_is_of_the_same_tasks),
        cmocka_unit_test(trainings_of_both_are_drawn),
        cmocka_unit_test(what_was_not_tried_is_not_ahead),
        cmocka_unit_test(counts_of_a_cell_add_up),
        cmocka_unit_test(draws_follow_from_their_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
