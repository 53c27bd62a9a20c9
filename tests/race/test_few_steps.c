// Curves of few steps: what is counted, where plans lie, and the way through a file.
#include "policy/parts.h"
#include "policy/waves.h"
#include "pools.h"
#include "race/few_steps.h"

enum { SEEDS = 2, LAST = FEW_STEPS_COUNT - 1 };

static FacetRace *race;
static FacetPolicy *policy;
static FewStepsCurve curve;

// The small course holds straight/large out; the policy's training left bend/small out as well.
static int fly_curve(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    static const char *const trained_on[] = {"straight/small", "bend/large"};
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    demos.rollouts = 2;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    training.method = FACET_POLICY_ORACLE; // two tasks alone have one speed
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    factor_split_destroy(policy->training);
    assert_ok(factor_split_create(&policy->training, policy->space));
    for (int i = 0; i < 2; i++) {
        FacetFactorTask task;
        assert_ok(facet_factor_task_parse(&task, policy->space, trained_on[i],
                                          FACET_FACTOR_MISSING_REFUSED));
        assert_ok(factor_split_add(policy->training, task));
    }
    const FacetPolicySampling how = {.sampler = FACET_POLICY_DPMPP, .seed = 3};
    assert_ok(few_steps_fly(&curve, race, policy, &how, SEEDS, NULL));
    return 0;
}

static int forget_curve(void **state)
{
    few_steps_free(&curve);
    facet_policy_destroy(policy);
    facet_race_close(race);
    return scratch_leave(state);
}

static void gates_are_counted_by_kind_of_task(void **state)
{
    (void)state;
    assert_int_equal(curve.gates.all, 10);
    assert_int_equal(curve.gates.held_out, 2);
    assert_int_equal(curve.gates.left_out, 3);
    for (int i = 0; i < FEW_STEPS_COUNT; i++)
        for (int k = 0; k < SEEDS; k++) {
            const FewStepsGates *passed = &curve.cells[i].passed[k];
            assert_true(passed->held_out + passed->left_out <= passed->all);
        }
}

static void a_cell_is_what_an_evaluation_gives(void **state)
{
    (void)state;
    const FacetPolicySampling how = {
        .sampler = FACET_POLICY_DPMPP, .steps = few_steps[3], .seed = 3};
    EvalRun run;
    assert_ok(eval_run(&run, race, policy, &how, SEEDS, NULL));
    for (int k = 0; k < SEEDS; k++) {
        FacetRaceTotals totals = eval_totals(&run, k);
        assert_int_equal(curve.cells[3].passed[k].all, totals.all.passed);
        const FewStepsGates *passed = &curve.cells[3].passed[k];
        assert_int_equal(passed->held_out + passed->left_out, totals.held_out.passed);
    }
    assert_int_equal(curve.cells[3].crashes, eval_totals_all(&run).crashes);
    eval_run_free(&run);
}

// The second seed of an evaluation is the first of one that begins a number later.
static void an_evaluation_counts_its_seeds_upwards(void **state)
{
    (void)state;
    const FacetPolicySampling from_three = {.steps = 2, .seed = 3},
                              from_four = {.steps = 2, .seed = 4};
    EvalRun both, later;
    assert_ok(eval_run(&both, race, policy, &from_three, 2, NULL));
    assert_ok(eval_run(&later, race, policy, &from_four, 1, NULL));
    assert_int_equal(both.tasks, later.tasks);
    for (int t = 0; t < both.tasks; t++) {
        const FacetRaceResult *first = eval_result(&both, 0, t), *second = eval_result(&both, 1, t);
        assert_memory_equal(second->plan, eval_result(&later, 0, t)->plan, sizeof second->plan);
        assert_memory_not_equal(second->plan, first->plan, sizeof second->plan);
    }
    eval_run_free(&both);
    eval_run_free(&later);
}

static void plans_are_measured_from_those_with_the_most_steps(void **state)
{
    (void)state;
    assert_near(curve.cells[LAST].from_last, 0.0, 0.0);
    for (int i = 0; i < FEW_STEPS_COUNT; i++) {
        assert_less(0.0, curve.cells[i].spread);
        if (i < LAST) assert_less(0.0, curve.cells[i].from_last);
    }
    assert_less(curve.cells[LAST - 1].from_last, curve.cells[0].from_last);
}

static void a_curve_comes_back_from_its_file(void **state)
{
    (void)state;
    Json *document;
    FewStepsCurve back;
    assert_ok(json_write(few_steps_to_json(&curve), "curve.json"));
    assert_ok(json_read(&document, "curve.json"));
    JsonRef root = json_root(document, "curve.json");
    assert_refused(few_steps_from_json(&back, &root, SEEDS + 1),
                   "curve.json: steps[0].passed: expected one entry a seed");
    assert_ok(few_steps_from_json(&back, &root, SEEDS));
    json_free(document);
    assert_string_equal(back.method, curve.method);
    assert_int_equal(back.sampler, FACET_POLICY_DPMPP);
    assert_int_equal(back.mode, FACET_POLICY_COMPOSED);
    assert_memory_equal(&back.gates, &curve.gates, sizeof back.gates);
    for (int i = 0; i < FEW_STEPS_COUNT; i++) {
        assert_memory_equal(back.cells[i].passed, curve.cells[i].passed,
                            SEEDS * sizeof *back.cells[i].passed);
        assert_int_equal(back.cells[i].crashes, curve.cells[i].crashes);
        assert_true(back.cells[i].spread == curve.cells[i].spread);
        assert_true(back.cells[i].from_last == curve.cells[i].from_last);
    }
    few_steps_free(&back);
}

// A list has no curve twice, and no more than there is room for.
static void a_list_has_every_curve_once(void **state)
{
    (void)state;
    FewStepsCurve back[2];
    Json *list = json_array();
    int count;
    json_push(list, few_steps_to_json(&curve));
    JsonRef root = json_root(list, "list");
    assert_ok(few_steps_list_from_json(back, &count, &root, 2, SEEDS));
    assert_int_equal(count, 1);
    assert_ptr_equal(
        few_steps_find(back, count, curve.method, FACET_POLICY_DPMPP, FACET_POLICY_COMPOSED), back);
    assert_null(few_steps_find(back, count, curve.method, FACET_POLICY_DDIM, curve.mode));
    few_steps_free(&back[0]);
    json_push(list, few_steps_to_json(&curve));
    assert_refused(few_steps_list_from_json(back, &count, &root, 2, SEEDS),
                   "list: [1]: expected a curve that is not there yet");
    while (count > 0) few_steps_free(&back[--count]);
    assert_refused(few_steps_list_from_json(back, &count, &root, 1, SEEDS),
                   "list: the document: expected the curves of the study");
    assert_int_equal(count, 0);
    json_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_are_counted_by_kind_of_task),
        cmocka_unit_test(a_cell_is_what_an_evaluation_gives),
        cmocka_unit_test(an_evaluation_counts_its_seeds_upwards),
        cmocka_unit_test(plans_are_measured_from_those_with_the_most_steps),
        cmocka_unit_test(a_curve_comes_back_from_its_file),
        cmocka_unit_test(a_list_has_every_curve_once),
    };
    return cmocka_run_group_tests(tests, fly_curve, forget_curve);
}
