// The exported ONNX models: an independent reader in numpy agrees with the networks in C, row by
// row and over a whole plan; what cannot be exported is refused and leaves the file as it was.
#include "diffusion/score_pass.h"
#include "encoder/frame.h"
#include "export/onnx.h"
#include "policy/policies.h"
#include "program/program.h"

enum { ROWS = 7, STEPS = 20, FACTORS = 2, FEATURES = 6 };

typedef struct Case {
    float x[ROWS * TINY_SIZE], prediction[ROWS * TINY_SIZE];
    int64_t t[ROWS], z[ROWS * FACTORS];
    float noise[TINY_SIZE], actions[TINY_SIZE];
    int64_t task[FACTORS];
    float context[ROWS * FEATURES], seen[FEATURES]; // of a policy that sees
} Case;

// Rows of random numbers at times from the first to the last, with factors shown and null.
static void fill_inputs(Case *c)
{
    static const int64_t values[ROWS][FACTORS] = {{-1, -1}, {0, -1}, {-1, 2}, {2, 1},
                                                  {1, 0},   {0, 2},  {-1, 0}};
    for (int i = 0; i < ROWS * TINY_SIZE; i++) c->x[i] = 2.0f * sinf(1.7f * (float)(i * i % 101));
    for (int i = 0; i < ROWS * FEATURES; i++) c->context[i] = cosf((float)(i * i % 37));
    for (int r = 0; r < ROWS; r++) {
        c->t[r] = r * (STEPS - 1) / (ROWS - 1);
        memcpy(&c->z[r * FACTORS], values[r], sizeof values[r]);
    }
}

static void predict(Case *c, const FacetPolicy *policy, int network)
{
    float t[ROWS];
    int z[ROWS * FACTORS];
    for (int r = 0; r < ROWS; r++) t[r] = (float)c->t[r];
    for (int i = 0; i < ROWS * FACTORS; i++) z[i] = (int)c->z[i];
    FacetPool *pool;
    ScoreWork *work;
    assert_ok(facet_pool_create(&pool, 1));
    assert_ok(score_work_create(&work, policy->net, ROWS, 8));
    score_load(work, policy->params[network], pool);
    score_forward(c->prediction, work, c->x, t, z, c->context, ROWS, pool);
    score_work_free(work);
    facet_pool_destroy(pool);
}

// The features of frames by the encoder itself, and the inputs that they come from.
static void encode(float *features, float *inputs, const Encoder *encoder, const float *params,
                   const uint8_t *frames, int count)
{
    const EncoderConfig *config = encoder_config(encoder);
    int pixels = config->width * config->height;
    uint8_t *small = malloc((size_t)(3 * pixels));
    EncoderWork *work;
    assert_non_null(small);
    assert_ok(encoder_work_create(&work, encoder, count, 1, false));
    encoder_load(work, params, NULL);
    for (int i = 0; i < count; i++) {
        frame_shrink(small, frames + i * TINY_FRAME, TINY_WIDTH, TINY_HEIGHT, config->shrink);
        frame_input(inputs + i * 3 * pixels, small, pixels, frame_jitter_none());
    }
    encoder_forward(features, work, inputs, count, NULL);
    encoder_work_free(work);
    free(small);
}

static void sample(Case *c, const FacetPolicy *policy, const char *text)
{
    FacetFactorTask task = task_of(policy->space, text);
    double actions[TINY_SIZE];
    static uint8_t frame[TINY_FRAME];
    static float input[TINY_FRAME];
    const FacetPolicySampling how = {.seed = 3, .numbers = (uint64_t[]){4}};
    FacetPolicyRunner *runner;
    fill_frames(frame, 1, 2);
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    assert_ok(facet_policy_runner_sample(
        actions, runner, &task, policy->encoder ? &(FacetPolicyObserved){.frames = frame} : NULL, 1,
        &how, NULL));
    facet_policy_runner_destroy(runner);
    if (policy->encoder)
        encode(c->seen, input, policy->encoder, policy->encoder_params[0], frame, 1);
    sampler_noise(c->noise, 3, 4, TINY_SIZE);
    for (int i = 0; i < TINY_SIZE; i++) c->actions[i] = (float)actions[i];
    for (int i = 0; i < FACTORS; i++) c->task[i] = task.value[i];
}

// Exports a network, and lets Python compare it with what C computes.
static void agrees(const FacetPolicy *policy, const char *network, int index)
{
    static Case c;
    bool planned = policy->net->config.factors && policy->prediction == PREDICT_V;
    fill_inputs(&c);
    predict(&c, policy, index);
    if (planned) sample(&c, policy, "b/m");
    TensorSource tensors[9] = {
        {"x", TENSOR_F32, 3, {ROWS, TINY_T, TINY_D}, c.x},
        {"t", TENSOR_I64, 1, {ROWS}, c.t},
        {"z", TENSOR_I64, 2, {ROWS, FACTORS}, c.z},
        {"prediction", TENSOR_F32, 3, {ROWS, TINY_T, TINY_D}, c.prediction},
        {"noise", TENSOR_F32, 2, {TINY_T, TINY_D}, c.noise},
        {"actions", TENSOR_F32, 2, {TINY_T, TINY_D}, c.actions},
        {"task", TENSOR_I64, 1, {FACTORS}, c.task},
    };
    int count = planned ? 7 : 4;
    if (policy->encoder) {
        tensors[count++] = (TensorSource){"context", TENSOR_F32, 2, {ROWS, FEATURES}, c.context};
        tensors[count++] = (TensorSource){"seen", TENSOR_F32, 2, {1, FEATURES}, c.seen};
    }
    Json *metadata = policy_metadata(policy, "facet onnx 1");
    if (network) json_set_string(metadata, "network_name", network);
    assert_ok(safetensors_write("case", metadata, tensors, count));
    assert_ok(onnx_export(policy, network, "model.onnx"));
    run_python("onnx_numpy.py", "model.onnx", "case");
}

static void the_model_agrees_with_the_network(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    for (int i = PREDICT_EPSILON; i <= PREDICT_X0; i++) {
        policy->prediction = (Prediction)i;
        agrees(policy, NULL, 0);
    }
    facet_policy_destroy(policy);
}

static void a_network_without_factors_has_no_z(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_BASELINE);
    agrees(policy, NULL, 0);
    facet_policy_destroy(policy);
}

static void a_wide_network_agrees(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy_wide(FACET_POLICY_FACTORED);
    agrees(policy, NULL, 0);
    facet_policy_destroy(policy);
}

static void a_policy_that_sees_takes_a_context(void **state)
{
    (void)state;
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_BASELINE; method++) {
        FacetPolicy *policy = tiny_policy_with((FacetPolicyMethod)method, FEATURES);
        agrees(policy, NULL, 0);
        facet_policy_destroy(policy);
    }
}

// Every kind of stem, skip, norm and head: the default's, ResNet's, and weights without a norm,
// whose input has a border of another colour than zero.
static void the_encoder_agrees(void **state)
{
    (void)state;
    enum { FRAMES = 3 };
    EncoderConfig resnet = tiny_encoder(5), plain = tiny_encoder(4);
    resnet.shrink = 1, resnet.width = 32, resnet.height = 24;
    resnet.stem_kernel = 7, resnet.stem_pool = true;
    resnet.stages = 3, resnet.blocks = 2;
    resnet.channels[1] = 16, resnet.channels[2] = 16;
    resnet.strides[0] = 1, resnet.strides[1] = 2, resnet.strides[2] = 2;
    plain.groups = 0, plain.stem_kernel = 5, plain.blocks = 2;
    EncoderConfig flat = tiny_encoder(6);
    flat.flat = flat.norm_features = true;
    const EncoderConfig configs[] = {tiny_encoder(6), resnet, plain, flat};
    static uint8_t frames[FRAMES * TINY_FRAME];
    static float inputs[FRAMES * TINY_FRAME], features[FRAMES * FEATURES];
    fill_frames(frames, FRAMES, 4);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const EncoderConfig *config = &configs[i];
        FacetPolicy *policy = tiny_policy_with(FACET_POLICY_FACTORED, config->features);
        encoder_free(policy->encoder);
        free(policy->encoder_params[0]);
        assert_ok(encoder_create(&policy->encoder, *config));
        const TensorTable *table = encoder_table(policy->encoder);
        policy->encoder_params[0] = policy_block(table);
        assert_non_null(policy->encoder_params[0]);
        fill_weights(policy->encoder_params[0], table, 5);
        for (size_t k = 0; k < table->size; k++) // nothing is zero or one
            policy->encoder_params[0][k] += 0.1f * sinf((float)k);
        encode(features, inputs, policy->encoder, policy->encoder_params[0], frames, FRAMES);
        const TensorSource tensors[] = {
            {"image", TENSOR_F32, 4, {FRAMES, config->height, config->width, 3}, inputs},
            {"features", TENSOR_F32, 2, {FRAMES, config->features}, features}};
        Json *metadata = policy_metadata(policy, "facet onnx 1");
        json_set_string(metadata, "network_name", "encoder");
        assert_ok(safetensors_write("case", metadata, tensors, 2));
        assert_ok(onnx_export(policy, "encoder", "model.onnx"));
        run_python("onnx_numpy.py", "model.onnx", "case");
        facet_policy_destroy(policy);
    }
}

static void networks_of_a_knet_go_one_by_one(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_KNET);
    agrees(policy, "null", 0);
    agrees(policy, "size=l", policy_network_of(policy, 1, 2));
    facet_policy_destroy(policy);
}

static void the_same_policy_gives_the_same_bytes(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_ORACLE);
    size_t first_size, second_size;
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
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
    facet_policy_destroy(policy);
}

// ---- Refusals -----------------------------------------------------------------------------------

static void a_refusal_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    FacetPolicy *knet = tiny_policy(FACET_POLICY_KNET), *one = tiny_policy(FACET_POLICY_FACTORED);
    write_bytes("model.onnx", "before", 6);
    assert_refused(onnx_export(knet, NULL, "model.onnx"),
                   "expected the name of one of the 6 networks of this knet policy: null, track=a");
    assert_refused(onnx_export(knet, "track=c", "model.onnx"),
                   "no network 'track=c', did you mean 'track=a'? known: null, track=a, track=b");
    assert_refused(onnx_export(one, "null", "model.onnx"),
                   "expected no name of a network, found 'null': a factored policy has one");
    assert_refused(onnx_export(one, "encoder", "model.onnx"),
                   "expected no name of a network, found 'encoder'");
    FacetPolicy *seeing = tiny_policy_with(FACET_POLICY_FACTORED, FEATURES);
    assert_refused(
        onnx_export(seeing, "encoders", "model.onnx"),
        "no network 'encoders': without a name it is the score network, and 'encoder' is "
        "the other");
    facet_policy_destroy(seeing);
    assert_refused(onnx_export(one, NULL, "."), ".: expected a file to write, found a folder");
    assert_refused(onnx_export(one, NULL, "none/model.onnx"),
                   "none/model.onnx: cannot create: No such file or directory");
    size_t size;
    char *bytes = read_bytes(&size, "model.onnx");
    assert_int_equal(size, 6);
    assert_memory_equal(bytes, "before", 6);
    free(bytes);
    assert_int_equal(scratch_count("."), 1);
    assert_ok(onnx_export(one, NULL, "model.onnx"));
    assert_int_equal(scratch_count("."), 1); // replaced, with nothing beside it
    facet_policy_destroy(knet);
    facet_policy_destroy(one);
}

// Nothing to train on leaves a knet policy with the network of no factor alone.
static void the_only_network_is_named(void **state)
{
    (void)state;
    FacetPolicy *knet = tiny_policy(FACET_POLICY_KNET);
    int networks = knet->networks;
    knet->networks = 1;
    FacetStatus status = onnx_export(knet, NULL, "model.onnx");
    assert_refused(status, "expected the name of one of the 1 networks of this knet policy: null");
    assert_string_equal(strrchr(status.text, ':'), ": null");
    knet->networks = networks;
    facet_policy_destroy(knet);
}

static void too_large_a_network_is_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    size_t parameters = policy->net->table.parameters;
    policy->net->table.parameters = 600000000;
    assert_refused(onnx_export(policy, NULL, "model.onnx"),
                   "expected a network of at most 2000 MB, found 2400 MB");
    policy->net->table.parameters = parameters;
    assert_int_equal(scratch_count("."), 0);
    facet_policy_destroy(policy);
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
    assert_int_equal(scratch_count("."), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_model_agrees_with_the_network, scratch_clean),
        cmocka_unit_test_teardown(a_network_without_factors_has_no_z, scratch_clean),
        cmocka_unit_test_teardown(a_wide_network_agrees, scratch_clean),
        cmocka_unit_test_teardown(a_policy_that_sees_takes_a_context, scratch_clean),
        cmocka_unit_test_teardown(the_encoder_agrees, scratch_clean),
        cmocka_unit_test_teardown(networks_of_a_knet_go_one_by_one, scratch_clean),
        cmocka_unit_test_teardown(the_same_policy_gives_the_same_bytes, scratch_clean),
        cmocka_unit_test_teardown(a_refusal_leaves_the_file_as_it_was, scratch_clean),
        cmocka_unit_test_teardown(the_only_network_is_named, scratch_clean),
        cmocka_unit_test_teardown(too_large_a_network_is_refused, scratch_clean),
        cmocka_unit_test_teardown(the_command_says_what_it_misses, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
