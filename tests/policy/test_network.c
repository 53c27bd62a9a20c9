// The network as docs/network.md tells it, in numpy, beside the program: whole plans of a shipped
// policy, composed, joint with a factor left open, and of one without factors; and those of a
// network that sees farther.
#include "policy/policies.h"
#include "program/program.h"
#include "scratch.h"

static void compare_file(const char *policy, const char *task, const char *mode, int seed)
{
    char arguments[512], command[1024];
    Scratch scratch = scratch_begin();
    const char *plan = scratch_path(&scratch, "plan.json");
    snprintf(arguments, sizeof arguments,
             "sample --policy %s --task %s --mode %s --seed %d --json %s", policy, task, mode, seed,
             plan);
    Run sampled = run(arguments);
    assert_string_equal(sampled.err, "");
    assert_int_equal(sampled.code, 0);
    snprintf(command, sizeof command,
             "OPENBLAS_NUM_THREADS=1 /usr/bin/python3 '%s/tools/network.py' "
             "'%s' '%s' --mode %s "
             "--seed %d --compare '%s' >/dev/null",
             TEST_SOURCE, policy, task, mode, seed, plan);
    int status = system(command);
    scratch_end(&scratch);
    if (status != 0) fail_msg("%s: numpy's plan is another, or there is no numpy", task);
}

static void compare(const char *name, const char *task, const char *mode, int seed)
{
    char policy[256];
    snprintf(policy, sizeof policy, "%s/models/%s.safetensors", TEST_SOURCE, name);
    compare_file(policy, task, mode, seed);
}

// Dilations, and no positions.
static void plans_of_a_wide_network_agree(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    const char *file = scratch_path(&scratch, "wide.safetensors");
    FacetPolicy *policy = tiny_policy_wide(FACET_POLICY_FACTORED);
    assert_ok(policy_save(policy, file, TENSOR_F32));
    compare_file(file, "b/m", "composed", 1);
    facet_policy_destroy(policy);
    scratch_end(&scratch);
}

static void composed_plans_agree(void **state)
{
    (void)state;
    compare("race-factored", "race1/wide", "composed", 1);
}

static void joint_plans_agree(void **state)
{
    (void)state;
    compare("race-factored", "race4/*", "joint", 7);
}

static void plans_without_factors_agree(void **state)
{
    (void)state;
    compare("race-baseline", "race2/standard", "joint", 3);
}

int main(void)
{
    if (system("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_plans_agree),
        cmocka_unit_test(joint_plans_agree),
        cmocka_unit_test(plans_without_factors_agree),
        cmocka_unit_test(plans_of_a_wide_network_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
