// The paper's tables agree with each other where they give the same thing twice.
#include "paper/paper.h"
#include "testing.h"

static const char *const tracks[] = {"race1", "race2", "race3", "race4",
                                     "race5", "race6", "race7", "race8"};
static const char *const sizes[] = {"narrow", "standard", "wide"};

static void tracks_add_up_to_the_total(void **state)
{
    (void)state;
    int passed = 0, infeasible = 0;
    for (int t = 0; t < 8; t++)
        for (int s = 0; s < 3; s++) {
            int gates = paper_passed(tracks[t], sizes[s]);
            assert_int_equal(gates < 0, paper_speed(tracks[t], sizes[s]) == 0.0);
            if (gates < 0) infeasible++;
            if (gates > 0) passed += gates;
        }
    assert_int_equal(infeasible, 4);
    assert_int_equal(passed, paper_totals("factored").all.passed);
}

static void splits_add_up_to_the_whole(void **state)
{
    (void)state;
    static const char *const methods[] = {"baseline", "knet", "factored", "oracle"};
    for (int i = 0; i < 4; i++) {
        PaperTotals totals = paper_totals(methods[i]);
        assert_int_equal(totals.training.passed + totals.held_out.passed, totals.all.passed);
        assert_int_equal(totals.training.gates + totals.held_out.gates, totals.all.gates);
    }
}

static void sweep_ends_at_the_headline(void **state)
{
    (void)state;
    PaperTotals composed = paper_totals("factored"), joint = paper_totals("factored_joint");
    const PaperSweep *last = &paper_sweep[PAPER_SWEEP_ROWS - 1];
    assert_int_equal(last->steps, 50);
    assert_near(last->composed_all, (double)composed.all.passed / composed.all.gates, 0.005);
    assert_near(last->composed_held_out, (double)composed.held_out.passed / composed.held_out.gates,
                0.005);
    assert_near(last->joint_all, (double)joint.all.passed / joint.all.gates, 0.005);
}

static void ratios_are_of_the_means(void **state)
{
    (void)state;
    double l1 = paper_spread("track").mean, l2 = paper_spread("size").mean;
    double eps = paper_spread("eps_d").mean;
    assert_near(paper_ratios.l1_l2, l1 / l2, 0.05);
    assert_near(paper_ratios.eps_l1, eps / l1, 0.005);
    assert_near(paper_ratios.eps_l2, eps / l2, 0.005);
}

// R_ss of the gate study follows from its C_LTV and eps_s with the default constants.
static void tube_follows_from_the_constants(void **state)
{
    (void)state;
    double command = paper_gate_ltv.mean * paper_gate_ltv.eps_s;
    double radius =
        (paper_constants.b_kappa * command + paper_constants.w) / (1.0 - paper_constants.lambda);
    assert_near(radius, paper_gate_ltv.r_ss, 1.0);
}

static void dropout_is_so_much_worse(void **state)
{
    (void)state;
    PaperRates usual = paper_gate_row("zero-shot factored").held_out;
    PaperRates dropped = paper_gate_row("venue dropout").held_out;
    assert_near(dropped.success - usual.success, -3.4, 1e-9);
    assert_near(dropped.crash - usual.crash, 22.5, 1e-9);
}

static void unknown_names_have_no_numbers(void **state)
{
    (void)state;
    double a, b;
    assert_near(paper_speed("race9", "wide"), -1.0, 0.0);
    assert_int_equal(paper_passed("race1", "huge"), -1);
    assert_int_equal(paper_totals("ours").all.gates, 0);
    assert_true(isnan(paper_error("baseline")));
    assert_true(isnan(paper_spread("venue").mean));
    assert_false(paper_ltv_seeds(&a, &b, "race1", "narrow"));
    assert_false(paper_held_out_speeds(&a, &b, "race2", "wide"));
    assert_true(isnan(paper_gate_row("oracle").training.success));
    assert_true(isnan(paper_gate_row(NULL).held_out.crash));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_add_up_to_the_total),
        cmocka_unit_test(splits_add_up_to_the_whole),
        cmocka_unit_test(sweep_ends_at_the_headline),
        cmocka_unit_test(ratios_are_of_the_means),
        cmocka_unit_test(tube_follows_from_the_constants),
        cmocka_unit_test(dropout_is_so_much_worse),
        cmocka_unit_test(unknown_names_have_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
