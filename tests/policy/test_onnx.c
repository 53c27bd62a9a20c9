// The exported ONNX model: an independent reader in numpy agrees with the network in C, row by row
// and over a whole plan; what cannot be exported is refused and leaves the file as it was.
#include "cli/program.h"
#include "policies.h"

#include "diffusion/score_pass.h"
#include "policy/onnx.h"

enum { ROWS = 7, STEPS = 20, FACTORS = 2 };

typedef struct Case {
    float x[ROWS * TINY_SIZE], prediction[ROWS * TINY_SIZE];
    int64_t t[ROWS], z[ROWS * FACTORS];
    float noise[TINY_SIZE], actions[TINY_SIZE];
    int64_t task[FACTORS];
} Case;

// Rows of random numbers at times from the first to the last, with factors shown and null.
static void fill_inputs(Case *c)
{
    static const int64_t values[ROWS][FACTORS] = {{-1, -1}, {0, -1}, {-1, 2}, {2, 1},
                                                  {1, 0},   {0, 2},  {-1, 0}};
    for (int i = 0; i < ROWS * TINY_SIZE; i++) c->x[i] = 2.0f * sinf(1.7f * (float)(i * i % 101));
    for (int r = 0; r < ROWS; r++) {
        c->t[r] = r * (STEPS - 1) / (ROWS - 1);
        memcpy(&c->z[r * FACTORS], values[r], sizeof values[r]);
    }
}

static void predict(Case *c, const Policy *policy, int network)
{
    float t[ROWS];
    int z[ROWS * FACTORS];
    for (int r = 0; r < ROWS; r++) t[r] = (float)c->t[r];
    for (int i = 0; i < ROWS * FACTORS; i++) z[i] = (int)c->z[i];
    ThreadPool *pool;
    ScoreWork *work;
    assert_ok(pool_create(&pool, 1));
    assert_ok(score_work_create(&work, policy->net, ROWS));
    score_load(work, policy->params[network], pool);
    score_forward(c->prediction, work, c->x, t, z, NULL, ROWS, pool);
    score_work_free(work);
    pool_destroy(pool);
}

static void sample(Case *c, const Policy *policy, const char *text)
{
    FactorTask task = task_of(policy->space, text);
    double actions[TINY_SIZE];
    ThreadPool *pool;
    assert_ok(pool_create(&pool, 1));
    assert_ok(policy_sample(actions, policy, &task, 1,
                            &(PolicySampling){.seed = 3, .numbers = (uint64_t[]){4}}, pool));
    pool_destroy(pool);
    sampler_noise(c->noise, 3, 4, TINY_SIZE);
    for (int i = 0; i < TINY_SIZE; i++) c->actions[i] = (float)actions[i];
    for (int i = 0; i < FACTORS; i++) c->task[i] = task.value[i];
}

// Exports a network, and lets Python compare it with what C computes.
static void agrees(const Policy *policy, const char *network, int index)
{
    static Case c;
    bool planned = policy->net->config.factors && policy->prediction == PREDICT_V;
    fill_inputs(&c);
    predict(&c, policy, index);
    if (planned) sample(&c, policy, "b/m");
    const TensorSource tensors[] = {
        {"x", TENSOR_F32, 3, {ROWS, TINY_T, TINY_D}, c.x},
        {"t", TENSOR_I64, 1, {ROWS}, c.t},
        {"z", TENSOR_I64, 2, {ROWS, FACTORS}, c.z},
        {"prediction", TENSOR_F32, 3, {ROWS, TINY_T, TINY_D}, c.prediction},
        {"noise", TENSOR_F32, 2, {TINY_T, TINY_D}, c.noise},
        {"actions", TENSOR_F32, 2, {TINY_T, TINY_D}, c.actions},
        {"task", TENSOR_I64, 1, {FACTORS}, c.task},
    };
    Json *metadata = policy_metadata(policy, "facet onnx 1");
    if (network) json_set_string(metadata, "network_name", network);
    assert_ok(safetensors_write("case", metadata, tensors, planned ? 7 : 4));
    assert_ok(onnx_export(policy, network, "model.onnx"));
    run_python("onnx_numpy.py", "model.onnx", "case");
}

static void the_model_agrees_with_the_network(void **state)
{
    (void)state;
    Policy *policy = tiny_policy(POLICY_FACTORED);
    for (int i = PREDICT_EPSILON; i <= PREDICT_X0; i++) {
        policy->prediction = (Prediction)i;
        agrees(policy, NULL, 0);
    }
    policy_destroy(policy);
}

static void a_network_without_factors_has_no_z(void **state)
{
    (void)state;
    Policy *policy = tiny_policy(POLICY_BASELINE);
    agrees(policy, NULL, 0);
    policy_destroy(policy);
}

static void networks_of_a_knet_go_one_by_one(void **state)
{
    (void)state;
    Policy *policy = tiny_policy(POLICY_KNET);
    agrees(policy, "null", 0);
    agrees(policy, "size=l", policy_network_of(policy, 1, 2));
    policy_destroy(policy);
}

static void the_same_policy_gives_the_same_bytes(void **state)
{
    (void)state;
    Policy *policy = tiny_policy(POLICY_ORACLE);
    size_t first_size, second_size;
    assert_ok(policy_save(policy, "policy", POLICY_FP32));
    assert_ok(onnx_export(policy, NULL, "first.onnx"));
    Run result = run("export --policy policy --onnx second.onnx");
    assert_string_equal(result.err, "");
    assert_non_null(strstr(result.out, "second.onnx: a network of"));
    assert_int_equal(result.code, 0);
    char *first = read_bytes(&first_size, "first.onnx");
    char *second = read_bytes(&second_size, "second.onnx");
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    free(first);
    free(second);
    policy_destroy(policy);
}

// ---- Refusals -----------------------------------------------------------------------------------

static void a_refusal_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    Policy *knet = tiny_policy(POLICY_KNET), *one = tiny_policy(POLICY_FACTORED);
    write_bytes("model.onnx", "before", 6);
    assert_refused(onnx_export(knet, NULL, "model.onnx"),
                   "expected the name of one of the 6 networks of this knet policy: null, track=a");
    assert_refused(onnx_export(knet, "track=c", "model.onnx"),
                   "no network 'track=c', did you mean 'track=a'? known: null, track=a, track=b");
    assert_refused(onnx_export(one, "null", "model.onnx"),
                   "expected no name of a network, found 'null': a factored policy has one");
    assert_refused(onnx_export(one, NULL, "."), ".: expected a file to write, found a folder");
    assert_refused(onnx_export(one, NULL, "none/model.onnx"),
                   "none/model.onnx: cannot create: No such file or directory");
    size_t size;
    char *bytes = read_bytes(&size, "model.onnx");
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, "before", 6);
    free(bytes);
    assert_int_equal(count_files(false), 1);
    assert_ok(onnx_export(one, NULL, "model.onnx"));
    assert_int_equal(count_files(false), 1); // replaced, with nothing beside it
    policy_destroy(knet);
    policy_destroy(one);
}

static void too_large_a_network_is_refused(void **state)
{
    (void)state;
    Policy *policy = tiny_policy(POLICY_FACTORED);
    size_t parameters = policy->net->table.parameters;
    policy->net->table.parameters = 600000000;
    assert_refused(onnx_export(policy, NULL, "model.onnx"),
                   "expected a network of at most 2000 MB, found 2400 MB");
    policy->net->table.parameters = parameters;
    assert_int_equal(count_files(false), 0);
    policy_destroy(policy);
}

static void the_command_says_what_it_misses(void **state)
{
    (void)state;
    assert_fails("export", 2, "facet export: expected --policy POLICY\n");
    assert_fails("export --policy p", 2, "facet export: expected --onnx FILE\n");
    assert_fails("export --policy none --onnx model.onnx", 1,
                 "facet export: none: cannot open: No such file or directory\n");
    write_bytes("broken", "not a policy", 12);
    Run result = run("export --policy broken --onnx model.onnx");
    assert_int_equal(result.code, 1);
    assert_int_equal(count_files(false), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_model_agrees_with_the_network, clean_folder),
        cmocka_unit_test_teardown(a_network_without_factors_has_no_z, clean_folder),
        cmocka_unit_test_teardown(networks_of_a_knet_go_one_by_one, clean_folder),
        cmocka_unit_test_teardown(the_same_policy_gives_the_same_bytes, clean_folder),
        cmocka_unit_test_teardown(a_refusal_leaves_the_file_as_it_was, clean_folder),
        cmocka_unit_test_teardown(too_large_a_network_is_refused, clean_folder),
        cmocka_unit_test_teardown(the_command_says_what_it_misses, clean_folder),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
