// What a policy observes: its keys and ranges, as metadata and in files.
#include "observers.h"

// ---- Making -------------------------------------------------------------------------------------

static void constants_are_left_out(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    const Observe *o = policy->observe;
    const double row[SEEN_DIM] = {0.0, 99.0, 0.2, 20.0, 3.0};
    float out[SEEN_SHOWN + 1] = {[SEEN_SHOWN] = 42.0f};
    assert_int_equal(o->dim, SEEN_DIM);
    assert_int_equal(o->shown, SEEN_SHOWN);
    observe_apply(out, o, row);
    assert_near(out[0], -0.5, 1e-7);
    assert_near(out[1], 2.0 * 0.1 / (1.0 / 3.0 - 0.1) - 1.0, 1e-6);
    assert_near(out[2], 2.0, 1e-6); // outside of the range, as it is
    assert_near(out[3], -1.0, 0.0);
    assert_near(out[SEEN_SHOWN], 42.0, 0.0);
    assert_int_equal(observe_numbers(o), SEEN_STEPS * SEEN_SHOWN);
    assert_int_equal(observe_context(o, SEEN_FEATURES),
                     SEEN_STEPS * (SEEN_SHOWN + SEEN_IMAGES * SEEN_FEATURES));
    assert_int_equal(policy->net->config.context, observe_context(o, SEEN_FEATURES));
    facet_policy_destroy(policy);
}

static void a_policy_says_what_it_takes(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    FacetPolicyInfo info = facet_policy_info(policy);
    assert_int_equal(info.observe_keys, 4);
    assert_int_equal(info.observe_steps, SEEN_STEPS);
    assert_int_equal(info.observe_dim, SEEN_DIM);
    assert_int_equal(info.observe_images, SEEN_IMAGES);
    assert_int_equal(info.execute, SEEN_EXECUTE);
    static const struct {
        const char *name;
        int dim, width, at;
    } keys[] = {
        {"arm", 3, 0, 0}, {"eye", 0, TINY_WIDTH, 0}, {"hand", 2, 0, 3}, {"far", 0, TINY_WIDTH, 1}};
    for (int i = 0; i < 4; i++) {
        FacetPolicyKey key = facet_policy_key(policy, i);
        assert_string_equal(key.name, keys[i].name);
        assert_int_equal(key.dim, keys[i].dim);
        assert_int_equal(key.width, keys[i].width);
        assert_int_equal(key.at, keys[i].at);
    }
    facet_policy_destroy(policy);
    policy = tiny_policy(FACET_POLICY_FACTORED);
    info = facet_policy_info(policy);
    assert_int_equal(info.observe_keys, 0);
    assert_int_equal(info.execute, TINY_T);
    facet_policy_destroy(policy);
}

static void wrong_keys_are_refused(void **state)
{
    (void)state;
    Observe *observe;
    const double zero[4] = {0.0}, one[4] = {1.0, 1.0, 1.0, 1.0};
    FacetPolicyKey keys[3] = {{.name = "a", .dim = 2}, {.name = "b", .width = 8, .height = 6}};
    assert_refused(observe_create(&observe, 0, 1, keys, 1, zero, one),
                   "expected steps from 1 to 64, found 0");
    assert_refused(observe_create(&observe, 65, 1, keys, 1, zero, one), "found 65");
    assert_refused(observe_create(&observe, 1, 0, keys, 1, zero, one),
                   "expected actions to execute from 1");
    assert_refused(observe_create(&observe, 1, 1, keys, 0, zero, one), "expected keys from 1");
    assert_refused(observe_create(&observe, 1, 1, keys, 1, zero, zero),
                   "expected numbers that change, found 2 constants");
    keys[2] = (FacetPolicyKey){.name = "a", .dim = 1};
    assert_refused(observe_create(&observe, 1, 1, keys, 3, zero, one),
                   "observation 'a' is named twice");
    keys[2] = (FacetPolicyKey){.name = "c", .width = 6, .height = 8};
    assert_refused(observe_create(&observe, 1, 1, keys, 3, zero, one),
                   "observation 'c': expected images of 8 x 6 pixels, as in 'b', found 6 x 8");
    keys[2] = (FacetPolicyKey){.name = "c", .dim = 1, .width = 8, .height = 6};
    assert_refused(observe_create(&observe, 1, 1, keys, 3, zero, one),
                   "observation 'c': expected numbers or images");
    keys[2] = (FacetPolicyKey){.name = "c", .dim = 5000};
    assert_refused(observe_create(&observe, 1, 1, keys, 3, zero, one), "found 5000");
    assert_null(observe);
}

static void an_unknown_key_names_the_known(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    int key;
    assert_ok(observe_find(&key, policy->observe, "hand"));
    assert_int_equal(key, 2);
    assert_refused(observe_find(&key, policy->observe, "hands"), "did you mean 'hand'?");
    assert_refused(observe_find(&key, policy->observe, "x"), "arm, eye, hand, far");
    facet_policy_destroy(policy);
}

// ---- As metadata --------------------------------------------------------------------------------

static FacetStatus parse(Observe **observe, const char *text)
{
    Json *document;
    *observe = NULL;
    FacetStatus status = json_parse(&document, text, "file: observe");
    if (!status.ok) return status;
    JsonRef root = json_root(document, "file: observe");
    status = observe_from_json(observe, &root);
    json_free(document);
    return status;
}

static void observations_come_back_from_json(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    const Observe *before = policy->observe;
    Observe *after;
    Json *json = observe_to_json(before);
    char *text = json_line(json);
    assert_ok(parse(&after, text));
    assert_int_equal(after->steps, before->steps);
    assert_int_equal(after->execute, before->execute);
    assert_int_equal(after->count, before->count);
    assert_int_equal(after->shown, before->shown);
    for (int i = 0; i < before->count; i++) {
        assert_string_equal(after->keys[i].name, before->keys[i].name);
        assert_int_equal(after->keys[i].dim, before->keys[i].dim);
        assert_int_equal(after->keys[i].height, before->keys[i].height);
        assert_int_equal(after->keys[i].at, before->keys[i].at);
    }
    assert_memory_equal(after->ranges->min, seen_min, sizeof seen_min);
    assert_memory_equal(after->ranges->max, seen_max, sizeof seen_max);
    free(text);
    json_free(json);
    observe_free(after);
    facet_policy_destroy(policy);
}

static void wrong_metadata_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"[]", "file: observe"},
        {"{\"execute\":1,\"keys\":[]}", "steps"},
        {"{\"steps\":0,\"execute\":1,\"keys\":[]}", "steps"},
        {"{\"steps\":1.5,\"execute\":1,\"keys\":[]}", "a whole number"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[]}", "1 to 64 keys"},
        {"{\"steps\":1,\"execute\":1,\"keys\":{}}", "1 to 64 keys"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{}]}", "name"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"\",\"min\":[0],\"max\":[1]}]}",
         "a name"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\"}]}", "width"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\",\"min\":[0],\"max\":[1,2]}]}",
         "as many numbers as in min"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\",\"min\":[],\"max\":[]}]}",
         "1 to 4096 numbers"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\",\"min\":[2],\"max\":[1]}]}", ""},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\",\"min\":[0],\"max\":[1e999]}]}", ""},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\",\"min\":[1],\"max\":[1]}]}",
         "expected numbers that change"},
        {"{\"steps\":1,\"execute\":1,\"keys\":[{\"name\":\"a\",\"min\":[0],\"max\":[1]},"
         "{\"name\":\"a\",\"min\":[0],\"max\":[1]}]}",
         "named twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Observe *observe;
        FacetStatus status = parse(&observe, cases[i].text);
        if (status.ok) fail_msg("%s was taken", cases[i].text);
        assert_refused(status, cases[i].words);
        assert_ptr_equal(strstr(status.text, "file: observe"), status.text);
        assert_null(observe);
    }
}

// ---- In files -----------------------------------------------------------------------------------

static void policies_come_back_to_the_bit(void **state)
{
    (void)state;
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_ORACLE; method++)
        for (int taken = 0; taken < TAKES_ALL; taken++) {
            FacetPolicy *policy = tiny_observer((FacetPolicyMethod)method, (Taken)taken), *again;
            size_t size, again_size;
            assert_ok(policy_save(policy, "one", TENSOR_F32));
            assert_ok(facet_policy_load(&again, "one"));
            assert_int_equal(facet_policy_info(again).observe_keys,
                             facet_policy_info(policy).observe_keys);
            for (int n = 0; n < policy->networks; n++) {
                assert_memory_equal(again->params[n], policy->params[n],
                                    policy->net->table.size * sizeof(float));
                if (policy->encoder)
                    assert_memory_equal(again->encoder_params[n], policy->encoder_params[n],
                                        encoder_table(policy->encoder)->size * sizeof(float));
            }
            assert_ok(policy_save(again, "two", TENSOR_F32));
            char *bytes = read_bytes(&size, "one"), *again_bytes = read_bytes(&again_size, "two");
            assert_int_equal(size, again_size);
            assert_memory_equal(bytes, again_bytes, size);
            free(bytes);
            free(again_bytes);
            facet_policy_destroy(again);
            facet_policy_destroy(policy);
        }
}

// Saves the policy as a test left it, and what its file is refused with.
static void assert_file_refused(FacetPolicy *policy, const char *words)
{
    FacetPolicy *again;
    assert_ok(policy_save(policy, "bad", TENSOR_F32));
    FacetStatus status = facet_policy_load(&again, "bad");
    assert_refused(status, words);
    assert_ptr_equal(strstr(status.text, "bad: observe"), status.text);
    assert_null(again);
    facet_policy_destroy(policy);
}

static void files_that_do_not_agree_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_NUMBERS);
    policy->observe->execute = TINY_T + 1;
    assert_file_refused(policy, "expected at most 6 actions to execute, the horizon, found 7");
    policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    policy->observe->keys[1].width = policy->observe->keys[3].width = 33;
    assert_file_refused(policy, "expected a frame of 32 x 24 pixels, found 33 x 24");
    policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    encoder_free(policy->encoder);
    policy->encoder = NULL;
    for (int n = 0; n < policy->networks; n++) free(policy->encoder_params[n]);
    memset(policy->encoder_params, 0, (size_t)policy->networks * sizeof *policy->encoder_params);
    assert_file_refused(policy, "encoder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_left_out),
        cmocka_unit_test(a_policy_says_what_it_takes),
        cmocka_unit_test(wrong_keys_are_refused),
        cmocka_unit_test(an_unknown_key_names_the_known),
        cmocka_unit_test(observations_come_back_from_json),
        cmocka_unit_test(wrong_metadata_is_refused),
        cmocka_unit_test_teardown(policies_come_back_to_the_bit, scratch_clean),
        cmocka_unit_test_teardown(files_that_do_not_agree_are_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
