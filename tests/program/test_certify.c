// facet certify as a user runs it: its JSON and its refusals, on a small course and tiny networks.
#include "base/json.h"
#include "program/program.h"

#define SAMPLE   "--courses " TEST_SOURCE "/tests/race/sample --quiet "
#define FACTORED "certify --policy test_certify_f.safetensors " SAMPLE

static void must_run(const char *arguments)
{
    Run result = run(arguments);
    if (result.code != 0) print_error("facet %s: %s", arguments, result.err);
    assert_int_equal(result.code, 0);
}

static int train_policies(void **state)
{
    (void)state;
    static const char *const methods[] = {"factored", "baseline", "knet"};
    must_run("demos " SAMPLE "--rollouts 2 --out test_certify.h5");
    for (int i = 0; i < 3; i++) {
        char line[400];
        snprintf(line, sizeof line,
                 "train --data test_certify.h5 --blocks 1 --channels 16 --epochs 1 --quiet "
                 "--hold-out straight/large --method %s --out test_certify_%c.safetensors",
                 methods[i], methods[i][0]);
        must_run(line);
    }
    return 0;
}

static int remove_policies(void **state)
{
    (void)state;
    static const char *const names[] = {"test_certify.h5",
                                        "test_certify_study.json",
                                        "test_certify_f.safetensors",
                                        "test_certify_f.safetensors.csv",
                                        "test_certify_b.safetensors",
                                        "test_certify_b.safetensors.csv",
                                        "test_certify_k.safetensors",
                                        "test_certify_k.safetensors.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
    return 0;
}

static double number_of(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e30, 1e30));
    return value;
}

static void check_spread(const JsonRef *root, const char *key)
{
    JsonRef spread;
    assert_ok(json_member(&spread, root, key));
    assert_true(number_of(&spread, "mean") <= number_of(&spread, "p95"));
    assert_true(number_of(&spread, "p95") <= number_of(&spread, "max"));
}

static void check_task(const JsonRef *task)
{
    JsonRef gates, residual, seeds;
    int gate_count, seed_count;
    double ltv = number_of(task, "c_ltv"), eps = number_of(task, "eps_s");
    assert_true(ltv > 0.0 && ltv <= number_of(task, "c_gronwall_discrete"));
    assert_true(number_of(task, "c_gronwall") > 0.0);
    assert_near(number_of(task, "r_ss_default"), (0.05 * ltv * eps + 0.01) / 0.1, 1e-9 * ltv);
    assert_ok(json_member(&residual, task, "residual"));
    assert_true(number_of(&residual, "linearised") <= number_of(&residual, "ltv"));
    assert_near(number_of(task, "c_emp") * eps, number_of(&residual, "actual"), 1e-9);
    assert_true(number_of(task, "passage_lower_bound") >= 0.0);
    assert_ok(json_member(&gates, task, "gates"));
    assert_ok(json_length(&gate_count, &gates));
    assert_true(gate_count > 0);
    for (int g = 0; g < gate_count; g++) {
        JsonRef gate;
        assert_ok(json_element(&gate, &gates, g));
        assert_true(json_has(&gate, "gate") && json_has(&gate, "certified"));
        assert_true(number_of(&gate, "miss_nominal") >= 0.0);
        assert_true(json_has(&gate, "radius") && number_of(&gate, "half_width") > 0.0);
    }
    assert_ok(json_member(&seeds, task, "seeds"));
    assert_ok(json_length(&seed_count, &seeds));
    assert_int_equal(seed_count, 2);
}

static void check_sweep(const JsonRef *root)
{
    static const double steps[] = {10, 20, 30, 50, 100};
    JsonRef sweep, row;
    int count;
    assert_ok(json_member(&sweep, root, "sweep"));
    assert_ok(json_length(&count, &sweep));
    assert_int_equal(count, 5);
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&row, &sweep, i));
        assert_near(number_of(&row, "steps"), steps[i], 0.0);
    }
}

// A leave-one-out study of several losses.
static void write_study(void)
{
    FILE *out = fopen("test_certify_study.json", "w");
    assert_non_null(out);
    fputs("{\"recipes\":["
          "{\"composed_loss\":3,\"parameters\":7,\"pairs\":[],\"bounds\":[]},"
          "{\"composed_loss\":0,\"agreement\":1,\"parameters\":8,\"pairs\":[],\"bounds\":[]},"
          "{\"composed_loss\":0,\"parameters\":1000,\"pairs\":[{},{}],\"bounds\":["
          "{\"confidence\":0.75,\"largest_m\":0.5,\"mean_m\":0.25},{}]}]}",
          out);
    assert_int_equal(fclose(out), 0);
}

// The study's bound for the loss that the policy was trained with.
static void check_new_pair(const JsonRef *root)
{
    JsonRef pair;
    assert_ok(json_member(&pair, root, "new_pair"));
    assert_near(number_of(&pair, "pairs"), 2.0, 0.0);
    assert_near(number_of(&pair, "parameters"), 1000.0, 0.0);
    assert_near(number_of(&pair, "confidence"), 0.75, 0.0);
    assert_near(number_of(&pair, "largest_m"), 0.5, 0.0);
}

static void the_json_has_every_certificate(void **state)
{
    (void)state;
    write_study();
    Run result = run(FACTORED "--task bend/small --steps 4 --seeds 2 --sweep --samples 5 "
                              "--slowest 1 --confidence 0.9 --json test_certify.json "
                              "--leave-one-out test_certify_study.json");
    if (result.code != 0) print_error("%s", result.err);
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "C_LTV"));
    assert_non_null(strstr(result.out, "N = 200 is left out"));
    assert_non_null(strstr(result.out, "whole tasks  of"));
    assert_non_null(strstr(result.out, "not certified: the formula alone"));
    assert_non_null(strstr(result.out, "in still air"));
    assert_non_null(strstr(result.out, "C_LTV over the seeds"));
    assert_fits(result.out);
    Json *document;
    assert_ok(json_read(&document, "test_certify.json"));
    assert_int_equal(access("test_certify.json.state", F_OK), -1);
    unlink("test_certify.json");
    JsonRef root = json_root(document, "json"), tasks, task, interaction;
    int count;
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_length(&count, &tasks));
    assert_int_equal(count, 1);
    assert_ok(json_element(&task, &tasks, 0));
    check_task(&task);
    check_spread(&root, "eps_d");
    check_spread(&root, "l1");
    check_spread(&root, "l2");
    check_sweep(&root);
    check_new_pair(&root);
    assert_ok(json_member(&interaction, &root, "interaction"));
    assert_true(number_of(&interaction, "max_gap") <= number_of(&interaction, "bound"));
    assert_near(number_of(&root, "seed"), 1.0, 0.0);
    assert_true(json_has(&root, "version") && json_has(&root, "command"));
    json_free(document);
}

static void the_budget_can_be_had_alone(void **state)
{
    (void)state;
    Run result = run(FACTORED "--budget --steps 4 --json test_certify.json");
    if (result.code != 0) print_error("%s", result.err);
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "The budget of Theorem 2"));
    assert_fits(result.out);
    Json *document;
    assert_ok(json_read(&document, "test_certify.json"));
    unlink("test_certify.json");
    JsonRef root = json_root(document, "json"), budgets, budget, levels;
    int count;
    assert_false(json_has(&root, "tasks"));
    assert_ok(json_member(&budgets, &root, "budgets"));
    assert_ok(json_length(&count, &budgets));
    assert_int_equal(count, 1);
    assert_ok(json_element(&budget, &budgets, 0));
    assert_ok(json_member(&levels, &budget, "along_exact"));
    assert_ok(json_length(&count, &levels));
    assert_int_equal(count, 4);
    json_free(document);
    assert_fails(FACTORED "--budget --sweep", 2,
                 "facet certify: expected --budget or --sweep, found both\n");
}

static void bad_input_gets_one_line(void **state)
{
    (void)state;
    assert_fails("certify --policy test_certify_b.safetensors " SAMPLE, 1,
                 "facet certify: a baseline policy is shown no factors, so there is nothing "
                 "composed to certify\n");
    assert_fails("certify --policy test_certify_k.safetensors " SAMPLE, 1,
                 "facet certify: a knet policy has no network that sees several factors, so there "
                 "is no joint score to measure its composition against\n");
    assert_fails(FACTORED "--seeds 0", 2,
                 "facet certify: --seeds: expected a whole number from 1 to 1000, found '0'\n");
    assert_fails(FACTORED "--samples 2 --confidence 1", 2,
                 "facet certify: passage: expected a confidence between 0 and 1, found 1\n");
    assert_fails(FACTORED "--samples 2 --confidence -0.5", 2,
                 "facet certify: passage: expected a confidence between 0 and 1, found -0.5\n");
    assert_fails(FACTORED "--steps 200", 1,
                 "facet certify: --steps: the policy has 100 noise levels, found 200 steps; a "
                 "level visited twice changes nothing\n");
    assert_fails("certify --policy no-such.safetensors " SAMPLE, 1,
                 "facet certify: no-such.safetensors: cannot open: No such file or directory\n");
    Run result = run(FACTORED "--task bend/medium");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "medium"));
    // The shipped courses have tracks that this policy never saw.
    result = run("certify --policy test_certify_f.safetensors --task race3/wide --quiet");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "no track 'race3'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_has_every_certificate),
        cmocka_unit_test(the_budget_can_be_had_alone),
        cmocka_unit_test(bad_input_gets_one_line),
    };
    return cmocka_run_group_tests(tests, train_policies, remove_policies);
}
