// A policy's file: what is saved comes back, and every broken file is refused in one line.
#include "base/rng.h"
#include "factor/factor.h"
#include "policies.h"

static char *settings(const FacetPolicy *policy)
{
    Json *metadata = policy_metadata(policy, POLICY_FORMAT);
    char *text = json_line(metadata);
    json_free(metadata);
    return text;
}

static void assert_same_settings(const FacetPolicy *a, const FacetPolicy *b)
{
    char *first = settings(a), *second = settings(b);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void what_is_saved_comes_back(void **state)
{
    (void)state;
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_ORACLE; method++) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method), *back;
        assert_ok(policy_save(policy, "policy", TENSOR_F32));
        assert_ok(facet_policy_load(&back, "policy"));
        assert_true(factor_space_equal(facet_policy_space(back), facet_policy_space(policy)));
        assert_int_equal(policy_method(back), method);
        assert_int_equal(policy_networks(back), method == FACET_POLICY_KNET ? 1 + 2 + 3 : 1);
        assert_int_equal(policy_horizon(back), TINY_T);
        assert_int_equal(policy_dim(back), TINY_D);
        assert_int_equal(policy_noise_steps(back), 20);
        assert_int_equal(policy_default_steps(back), 5);
        assert_true(policy_default_temperature(back) == policy->temperature);
        assert_int_equal(policy_parameters(back), policy_parameters(policy));
        assert_int_equal(facet_factor_split_count(facet_policy_training(back)), 5);
        assert_int_equal(facet_factor_split_count(facet_policy_held_out(back)), 1);
        assert_true(policy_normalizer(back)->min[1] == 1.0 / 7.0);
        const PolicyRecord *record = policy_record(back);
        assert_string_equal(record->command, "facet train \"x\"");
        assert_true(record->seed == UINT64_MAX);
        assert_true(record->loss == 0.123456789);
        assert_true(record->drop[1] == 0.3);
        assert_true(record->rate == 1e-4);
        assert_true(record->updates == 1234);
        assert_true(facet_policy_knows(back, 0, 1));
        assert_true(!facet_policy_knows(back, 0, 2));
        for (int i = 0; i < policy->networks; i++)
            assert_memory_equal(back->params[i], policy->params[i],
                                policy->net->table.size * sizeof(float));
        assert_same_settings(policy, back);
        run_python("../base/safetensors_numpy.py", "parse", "policy");
        facet_policy_destroy(policy);
        facet_policy_destroy(back);
    }
}

static void a_policy_that_sees_comes_back(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        FacetPolicy *policy = tiny_policy_with(FACET_POLICY_FACTORED, 6), *back, *again;
        const TensorTable *table = encoder_table(policy->encoder);
        int width, height;
        assert_ok(policy_save(policy, "policy", half ? TENSOR_F16 : TENSOR_F32));
        assert_ok(facet_policy_load(&back, "policy"));
        assert_true(policy_sees(back));
        policy_frame_size(back, &width, &height);
        assert_true(width == TINY_WIDTH);
        assert_true(height == TINY_HEIGHT);
        assert_ok(policy_check_frame(back, TINY_WIDTH, TINY_HEIGHT));
        assert_refused(policy_check_frame(back, 320, 240),
                       "expected a frame of 32 x 24 pixels, found 320 x 240");
        assert_int_equal(policy_parameters(back),
                         policy->net->table.parameters + table->parameters);
        assert_same_settings(policy, back);
        assert_true(
            encoder_config_equal(encoder_config(back->encoder), encoder_config(policy->encoder)));
        size_t bytes = table->size * sizeof(float);
        if (!half) {
            assert_memory_equal(back->encoder_params[0], policy->encoder_params[0], bytes);
            assert_memory_equal(back->params[0], policy->params[0],
                                policy->net->table.size * sizeof(float));
        }
        assert_ok(policy_save(back, "again", half ? TENSOR_F16 : TENSOR_F32));
        assert_ok(facet_policy_load(&again, "again"));
        assert_memory_equal(again->encoder_params[0], back->encoder_params[0], bytes);
        facet_policy_destroy(policy);
        facet_policy_destroy(back);
        facet_policy_destroy(again);
    }
    FacetPolicy *blind = tiny_policy(FACET_POLICY_FACTORED);
    assert_false(policy_sees(blind));
    assert_refused(policy_check_frame(blind, 32, 24), "does not see");
    facet_policy_destroy(blind);
}

static void a_router_comes_back(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_KNET), *back;
    assert_ok(policy_router_create(policy, 5));
    const TensorTable *table = &policy->router->table;
    fill_weights(policy->router_params, table, 3);
    policy->router_record = (PolicyRouterRecord){.command = "facet train --router-from \"x\"",
                                                 .version = "0.1.0",
                                                 .seed = UINT64_MAX,
                                                 .batch = 32,
                                                 .updates = 77,
                                                 .rate = 3e-3,
                                                 .loss = 0.125};
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    assert_ok(facet_policy_load(&back, "policy"));
    assert_same_settings(policy, back);
    assert_memory_equal(back->router_params, policy->router_params, table->size * sizeof(float));
    assert_true(back->router_record.seed == UINT64_MAX);
    assert_int_equal(policy_router_parameters(back), table->parameters);
    facet_policy_destroy(back);
    // Another width than the tensors', a setting that is no number, and a policy of one network.
    policy->router->config.hidden = 6;
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    assert_refused(facet_policy_load(&back, "policy"), "router.0.weight");
    policy->router->config.hidden = 5;
    policy->router_record.batch = 0;
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    assert_refused(facet_policy_load(&back, "policy"), "policy: router: batch: expected");
    policy->router_record.batch = 32;
    int networks = policy->networks;
    policy->method = FACET_POLICY_BASELINE, policy->networks = 1;
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    assert_refused(facet_policy_load(&back, "policy"),
                   "policy: router: expected the networks of a knet, found the method baseline");
    policy->networks = networks;
    facet_policy_destroy(policy);
}

// A network that needs them has dilations and positions in its file, of another architecture: a
// reader that does not know them refuses it. One that does not has the file of always.
static void a_wide_network_comes_back(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy_wide(FACET_POLICY_FACTORED), *back;
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    assert_ok(facet_policy_load(&back, "policy"));
    assert_same_settings(policy, back);
    assert_true(back->net->config.no_position);
    assert_null(tensor_find(&back->net->table, "position"));
    for (int unit = 0; unit < 4; unit++)
        assert_int_equal(score_dilation(&back->net->config, unit), 1 + unit / 2);
    assert_memory_equal(back->params[0], policy->params[0],
                        policy->net->table.size * sizeof(float));
    facet_policy_destroy(policy);
    policy = tiny_policy(FACET_POLICY_FACTORED);
    Json *plain = policy_metadata(policy, POLICY_FORMAT);
    char *text = json_line(plain);
    assert_non_null(strstr(text, "score-convnet 1"));
    assert_null(strstr(text, "dilation"));
    free(text);
    json_free(plain);
    facet_policy_destroy(policy);
    facet_policy_destroy(back);
}

// Writes the weights of one policy, without the last `missing`, under the settings of another, with
// another text of its encoder if there is one.
static void write_mixed(const char *path, FacetPolicy *settings, const FacetPolicy *weights,
                        int missing, const char *encoder)
{
    const TensorTable *net = &weights->net->table, *table = encoder_table(weights->encoder);
    TensorSource *sources = calloc((size_t)(net->count + table->count), sizeof *sources);
    assert_non_null(sources);
    policy_sources(sources, net, settings->params[0], TENSOR_F32, "");
    policy_sources(sources + net->count, table, weights->encoder_params[0], TENSOR_F32, "encoder.");
    Encoder *own = settings->encoder;
    if (encoder) settings->encoder = NULL;
    Json *metadata = policy_metadata(settings, POLICY_FORMAT);
    settings->encoder = own;
    if (encoder) json_set_string(metadata, "encoder", encoder);
    assert_ok(safetensors_write(path, metadata, sources, net->count + table->count - missing));
    free(sources);
}

static void weights_of_another_encoder_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy_with(FACET_POLICY_FACTORED, 6), *back, *other;
    other = tiny_policy_with(FACET_POLICY_FACTORED, 6);
    encoder_free(other->encoder);
    free(other->encoder_params[0]);
    EncoderConfig config = tiny_encoder(6);
    config.stem_channels = 4;
    assert_ok(encoder_create(&other->encoder, config));
    other->encoder_params[0] = policy_block(encoder_table(other->encoder));
    write_mixed("mixed", policy, other, 0, NULL);
    assert_refused(facet_policy_load(&back, "mixed"), "encoder.stem.weight");
    assert_null(back);
    write_mixed("short", policy, policy, 1, NULL);
    assert_refused(facet_policy_load(&back, "short"), "short: expected a tensor encoder.head.bias");
    static const struct {
        const char *encoder, *words;
    } wrong[] = {
        {"{\"width\":16}", "wrong: encoder: "},
        {"{}", "expected"},
        {"16 x 12", "wrong: encoder"},
        {"{\"width\":16.5}", "width: expected a whole number"},
        {"{\"width\":16,\"height\":12,\"shrink\":2,\"stem_channels\":8,\"stem_kernel\":3,"
         "\"stem_stride\":2,\"blocks\":1,\"groups\":4,\"frozen\":0,\"features\":6,"
         "\"stem_pool\":false,\"flat\":false,\"norm_features\":false,\"channels\":[8],\"strides\":["
         "2,1]}",
         "as many strides as channels"},
        {"{\"width\":16,\"height\":12,\"shrink\":2,\"stem_channels\":8,\"stem_kernel\":3,"
         "\"stem_stride\":2,\"blocks\":1,\"groups\":3,\"frozen\":0,\"features\":6,"
         "\"stem_pool\":false,\"flat\":false,\"norm_features\":false,\"channels\":[8],\"strides\":["
         "2]}",
         "wrong: encoder: expected channels of the stem that 3 groups divide, found 8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_mixed("wrong", policy, policy, 0, wrong[i].encoder);
        assert_refused(facet_policy_load(&back, "wrong"), wrong[i].words);
    }
    facet_policy_destroy(policy);
    facet_policy_destroy(other);
}

static void half_precision_rounds_the_weights(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED), *back;
    assert_ok(policy_save(policy, "whole", TENSOR_F32));
    assert_ok(policy_save(policy, "half", TENSOR_F16));
    size_t whole, half;
    free(read_bytes(&whole, "whole"));
    free(read_bytes(&half, "half"));
    assert_true(half < 0.7 * (double)whole);
    assert_ok(facet_policy_load(&back, "half"));
    const TensorTable *table = &policy->net->table;
    for (int t = 0; t < table->count; t++)
        for (size_t i = 0; i < table->tensors[t].size; i++) {
            size_t at = table->tensors[t].offset + i;
            assert_true(back->params[0][at] ==
                        half_to_float(half_from_float(policy->params[0][at])));
        }
    assert_same_settings(policy, back);
    assert_ok(policy_save(back, "again", TENSOR_F16)); // rounding twice changes nothing
    size_t size;
    char *first = read_bytes(&size, "half"), *second = read_bytes(&size, "again");
    assert_memory_equal(first, second, half);
    free(first);
    free(second);
    facet_policy_destroy(policy);
    facet_policy_destroy(back);
}

// ---- Broken policies ----------------------------------------------------------------------------

// Saves a policy, which it destroys, with one text of its file replaced by another of the same
// length.
static void refused_of(FacetPolicy *policy, const char *from, const char *to, const char *words)
{
    FacetPolicy *back;
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    facet_policy_destroy(policy);
    size_t size, length = strlen(from);
    assert_int_equal(strlen(to), length);
    char *bytes = read_bytes(&size, "policy");
    bool found = false;
    for (size_t i = 0; i + length < size && !found; i++)
        if (memcmp(bytes + i, from, length) == 0) {
            memcpy(bytes + i, to, length);
            found = true;
        }
    assert_true(found);
    write_bytes("policy", bytes, size);
    free(bytes);
    assert_refused(facet_policy_load(&back, "policy"), words);
    assert_null(back);
}

static void refused(const char *from, const char *to, const char *words)
{
    refused_of(tiny_policy(FACET_POLICY_FACTORED), from, to, words);
}

static void broken_policies_are_refused(void **state)
{
    (void)state;
    refused("facet policy 1", "facet policy 9",
            "policy: format: expected 'facet policy 1', found 'facet policy 9'");
    refused("score-convnet 1", "score-another 1", "architecture: expected 'score-convnet 1'");
    refused("\"factored\"", "\"fctored1\"", "method: no method 'fctored1', did you mean");
    refused("\"noise_steps\":\"20\"", "\"noise_steps\":\"0x\"", "noise_steps: expected a number");
    refused("\"sample_steps\":\"5\"", "\"sample_steps\":\"0\"", "sample_steps: expected a number");
    refused("\"predict\":\"v\"", "\"predict\":\"w\"", "predict: no prediction 'w'");
    refused("trailing", "tralling", "sample_spacing: no spacing 'tralling'");
    refused("\"noise_schedule\":\"cosine\"", "\"noise_schedule\":\"linear\"", "expected 'cosine'");
    refused("\"train_seed\":\"18446744073709551615\"", "\"train_seed\":\"18446744073709551616\"",
            "train_seed: expected a whole number");
    refused("\"train_loss\"", "\"train_lost\"", "expected 'train_loss' in the metadata");
    refused("a/m", "a/x", "training_tasks: task 'a/x': no size 'x'");
    refused("\\\"channels\\\":16", "\\\"channels\\\":12",
            "tensor film.weight: expected the shape [8, 48], found [8, 64]");
    refused("\\\"blocks\\\":2", "\\\"blocks\\\":3", "tensor film.weight: expected the shape");
    refused("\"block.1.0.bias\"", "\"block.9.0.bias\"", "expected a tensor block.1.0.bias");
    refused_of(tiny_policy_with(FACET_POLICY_FACTORED, 6), "\"select.weight\"", "\"unknown.weigh\"",
               "policy: expected a tensor select.weight, found none");
    refused("\\\"dim\\\":2", "\\\"dim\\\":3", "expected ranges of 3 channels, found 2");
    refused("\\\"min\\\":[-3", "\\\"min\\\":[-x", "normalizer: line 1: expected valid JSON");
    refused("\\\"max\\\":[5", "\\\"may\\\":[5", "max: expected a value");
}

static void refused_wide(const char *from, const char *to, const char *words)
{
    refused_of(tiny_policy_wide(FACET_POLICY_FACTORED), from, to, words);
}

static void broken_wide_networks_are_refused(void **state)
{
    (void)state;
    refused_wide("score-convnet 2", "score-convnet 3",
                 "architecture: expected 'score-convnet 1' or 'score-convnet 2'");
    refused_wide("score-convnet 2", "score-convnet 1", "expected a tensor position");
    refused_wide("\\\"dilation\\\":[1,2]", "\\\"dilation\\\":[1.2]", "expected 2 numbers");
    refused_wide("\\\"dilation\\\":[1,2]", "\\\"dilation\\\":[1,0]", "whole numbers from 1");
    refused_wide("\\\"dilation\\\":[1,2]", "\\\"dilation\\\":[1,9]",
                 "expected a dilation from 1 to 6");
    refused_wide("\\\"position\\\":false", "\\\"pasition\\\":false", "position: expected");
}

static void weights_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_KNET), *back;
    const Tensor *bias = tensor_find(&policy->net->table, "cond.1.bias");
    policy->params[policy_network_of(policy, 1, 2)][bias->offset + 3] = nanf("");
    assert_ok(policy_save(policy, "policy", TENSOR_F32));
    assert_refused(facet_policy_load(&back, "policy"),
                   "tensor size=l.cond.1.bias: expected finite numbers, found nan at element 3");
    facet_policy_destroy(policy);
}

// Whatever a byte of the header turns into, the file is read or refused in one line.
static void damaged_headers_do_no_harm(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED), *back;
    assert_ok(policy_save(policy, "policy", TENSOR_F16));
    facet_policy_destroy(policy);
    size_t size;
    char *bytes = read_bytes(&size, "policy");
    FacetRng rng = rng_make(1, 0);
    int refusals = 0;
    for (int i = 0; i < 600; i++) {
        size_t at = 8 + (size_t)(rng_uniform(&rng) * 4500.0);
        char kept = bytes[at];
        bytes[at] = (char)(rng_u32(&rng) & 0xff);
        write_bytes("damaged", bytes, size);
        bytes[at] = kept;
        FacetStatus status = facet_policy_load(&back, "damaged");
        assert_true(status.ok || (status.text[0] && !strchr(status.text, '\n')));
        refusals += !status.ok;
        facet_policy_destroy(back);
    }
    assert_true(refusals > 200);
    free(bytes);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_BASELINE), *back;
    int count = policy->net->table.count;
    TensorSource *sources = calloc((size_t)count + 1, sizeof *sources);
    policy_sources(sources, &policy->net->table, policy->params[0], TENSOR_F32, "");
    sources[count] = (TensorSource){.name = "more", .rank = 1, .shape = {1}, .data = "four"};
    assert_ok(
        safetensors_write("more", policy_metadata(policy, POLICY_FORMAT), sources, count + 1));
    assert_refused(facet_policy_load(&back, "more"), "tensors of its architecture, found");
    assert_ok(safetensors_write("bare", json_object(), sources, count));
    assert_refused(facet_policy_load(&back, "bare"), "bare: expected 'format' in the metadata");
    assert_refused(facet_policy_load(&back, "missing"), "missing: cannot open");
    free(sources);
    facet_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_saved_comes_back, scratch_clean),
        cmocka_unit_test_teardown(a_router_comes_back, scratch_clean),
        cmocka_unit_test_teardown(a_policy_that_sees_comes_back, scratch_clean),
        cmocka_unit_test_teardown(a_wide_network_comes_back, scratch_clean),
        cmocka_unit_test_teardown(weights_of_another_encoder_are_refused, scratch_clean),
        cmocka_unit_test_teardown(half_precision_rounds_the_weights, scratch_clean),
        cmocka_unit_test_teardown(broken_policies_are_refused, scratch_clean),
        cmocka_unit_test_teardown(broken_wide_networks_are_refused, scratch_clean),
        cmocka_unit_test_teardown(weights_that_are_not_finite_are_refused, scratch_clean),
        cmocka_unit_test_teardown(damaged_headers_do_no_harm, scratch_clean),
        cmocka_unit_test_teardown(other_files_are_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
