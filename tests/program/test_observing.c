// Training on observations and using such a policy, as a user does it.
#include "base/json.h"
#include "policy/waves.h"
#include "program/program.h"

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "
#define TINY   "--data demos.h5 --blocks 1 --channels 8 --embed 4 --updates 4 --batch 4 --quiet "

static int fly_demos(void **state)
{
    if (scratch_enter(state)) return -1;
    return run("demos " SAMPLE "--rollouts 2 --out demos.h5").code;
}

static void assert_line(const char *arguments, int code, const char *words)
{
    Run result = run(arguments);
    if (result.code != code || !strstr(result.err, words))
        print_error("facet %s: code %d, \"%s\", expected \"%s\"\n", arguments, result.code,
                    result.err, words);
    assert_int_equal(result.code, code);
    assert_non_null(strstr(result.err, words));
    assert_ptr_equal(strchr(result.err, '\n'), result.err + strlen(result.err) - 1); // one line
}

static void train_observes(void **state)
{
    (void)state;
    Run result = run("train " TINY "--out policy --observe state --observe-steps 3 --horizon 40 "
                     "--execute 5 --hold-out bend/large --json train.json");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "6 demonstrations of 3 tasks, 192 samples, 4 updates"));
    assert_non_null(strstr(result.out, "loss on held-out tasks: "));
    assert_non_null(strstr(result.out, "6 demonstrations are shorter than the horizon of 40: their "
                                       "last action is repeated\n"));
    FacetPolicy *policy;
    assert_ok(facet_policy_load(&policy, "policy"));
    FacetPolicyInfo info = facet_policy_info(policy);
    assert_int_equal(info.horizon, 40);
    assert_int_equal(info.observe_steps, 3);
    assert_int_equal(info.execute, 5);
    assert_int_equal(info.observe_keys, 1);
    assert_string_equal(facet_policy_key(policy, 0).name, "state");
    facet_policy_destroy(policy);
    Json *document;
    double loss;
    assert_ok(json_read(&document, "train.json"));
    JsonRef root = json_root(document, "train.json");
    assert_ok(json_member_number(&loss, &root, "samples", 192.0, 192.0));
    assert_ok(json_member_number(&loss, &root, "held_out_loss", 0.0, 1e9));
    assert_ok(json_member_number(&loss, &root, "held_out_composed_loss", 0.0, 1e9));
    assert_false(json_has(&root, "valid_loss"));
    json_free(document);
}

static void train_says_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *options, *words;
        int code;
    } cases[] = {
        {"--observe stat", "no observation 'stat', did you mean 'state'?", 1},
        {"--observe state,", "expected keys to observe, as KEY,KEY", 2},
        {"--observe ,state", "expected keys to observe, as KEY,KEY", 2},
        {"--observe state,state", "observation 'state' is named twice", 1},
        {"--observe state --horizon 4 --execute 5",
         "expected at most 4 actions to execute, the horizon, found 5", 1},
        {"--observe state --observe-steps 65", "65", 2},
        {"--observe state --encoder small", "expected no encoder for observations without images",
         1},
        {"--observe state --filter train", "demos.h5: mask: no filter 'train': the file has none",
         1},
        {"--horizon 8", "expected a horizon beside observations only", 1},
        {"--execute 8", "expected a number of actions to execute beside observations only", 1},
        {"--encoder small", "expected an encoder beside observations only", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[400];
        snprintf(line, sizeof line, "train " TINY "--out refused %s", cases[i].options);
        assert_line(line, cases[i].code, cases[i].words);
        assert_int_equal(access("refused", F_OK), -1);
    }
}

// Nothing but an agent has observations to give.
static void what_acts_blind_says_so(void **state)
{
    (void)state;
    assert_int_equal(run("train " TINY "--out policy --observe state").code, 0);
    const char *blind = "expected a policy that acts blind, found one that takes observations "
                        "(state) and acts through an agent";
    assert_line("sample --policy policy --task bend/small", 1, blind);
    assert_line("fly --policy policy --task bend/small " SAMPLE, 1, blind);
    assert_line("eval policy " SAMPLE, 1, blind);
    assert_line("certify --policy policy " SAMPLE, 1,
                "a policy that takes observations has no certificate without them");
    assert_line("gate eval --policy policy --quiet", 1,
                "policy: expected a policy that sees, found one without an encoder");
}

static void its_network_is_exported(void **state)
{
    (void)state;
    assert_int_equal(run("train " TINY "--out policy --observe state --horizon 8").code, 0);
    Run result = run("export --policy policy --onnx policy.onnx");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_int_equal(access("policy.onnx", F_OK), 0);
}

// The example takes a policy of two actions.
static void the_example_refuses_another_robot(void **state)
{
    (void)state;
    assert_int_equal(run("train " TINY "--out policy --observe state").code, 0);
    FILE *output = popen(EXAMPLE_AGENT " policy bend/small 2>&1", "r");
    char line[200] = "";
    assert_non_null(fgets(line, sizeof line, output));
    assert_string_equal(line, "expected a policy of two actions, found 4\n");
    assert_int_equal(WEXITSTATUS(pclose(output)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(train_observes),
        cmocka_unit_test(train_says_what_is_wrong),
        cmocka_unit_test(what_acts_blind_says_so),
        cmocka_unit_test(its_network_is_exported),
        cmocka_unit_test(the_example_refuses_another_robot),
    };
    return cmocka_run_group_tests(tests, fly_demos, scratch_leave);
}
