// facet gate certify as a user runs it: its tables, its JSON and its refusals, on small networks in
// the shipped venues; and the plan that it certifies is the one that the pilot would fly by.
#include "base/json.h"
#include "policy/policies.h"
#include "program/program.h"
#include "scratch.h"

#include <facet_study/certify.h>
#include <facet_study/gate.h>

enum { SIZE = FACET_GATE_HORIZON * FACET_GATE_DIM };

static Scratch scratch;
static char factored[128], baseline[128], blind[128];
static FacetGateWorld *world;
static FacetPolicy *policy;

// A small network for the world's tasks, trained on all of Field's and six of industrial's.
static FacetPolicy *make_policy(FacetPolicyMethod method)
{
    static const char *const trained[] = {"venue=Field", "venue=industrial,gate=2"};
    const double min[] = {0.0, -4.0, -2.0}, max[] = {10.0, 4.0, 2.0};
    FacetPolicy *tiny = tiny_policy_with(method, 6), *made = calloc(1, sizeof *made);
    assert_non_null(made);
    *made = (FacetPolicy){.method = method,
                          .schedule = tiny->schedule,
                          .prediction = tiny->prediction,
                          .spacing = tiny->spacing,
                          .clip = tiny->clip,
                          .default_steps = tiny->default_steps,
                          .temperature = tiny->temperature,
                          .record = tiny->record};
    EncoderConfig encoder = *encoder_config(tiny->encoder);
    ScoreNetConfig net = tiny->net->config;
    facet_policy_destroy(tiny);
    assert_ok(factor_space_copy(&made->space, world->space));
    assert_ok(factor_split_create(&made->training, made->space));
    assert_ok(factor_split_create(&made->held_out, made->space));
    for (int i = 0; i < 2; i++)
        assert_ok(factor_split_add_matching(made->training, task_of(made->space, trained[i])));
    assert_ok(normalizer_create(&made->normalizer, min, max, 3));
    made->normalizer->knee = 1.0;
    encoder.shrink = 8;
    encoder.width = world->camera.width / encoder.shrink;
    encoder.height = world->camera.height / encoder.shrink;
    assert_ok(encoder_create(&made->encoder, encoder));
    assert_ok(policy_observe_frame(made));
    net.horizon = FACET_GATE_HORIZON;
    net.dim = FACET_GATE_DIM;
    assert_ok(policy_build(made, net));
    assert_ok(policy_allocate(made));
    fill_weights(made->params[0], &made->net->table, 1);
    fill_weights(made->encoder_params[0], encoder_table(made->encoder), 2);
    const Tensor *head = tensor_find(&made->net->table, "out.weight");
    for (size_t i = 0; i < head->size; i++)
        made->params[0][head->offset + i] = 0.3f * sinf((float)(i * i));
    return made;
}

static int begin(void **state)
{
    (void)state;
    scratch = scratch_begin();
    snprintf(factored, sizeof factored, "%s", scratch_path(&scratch, "factored.safetensors"));
    snprintf(baseline, sizeof baseline, "%s", scratch_path(&scratch, "baseline.safetensors"));
    snprintf(blind, sizeof blind, "%s/models/race-factored.safetensors", TEST_SOURCE);
    assert_ok(facet_gate_world_create(&world, NULL));
    policy = make_policy(FACET_POLICY_FACTORED);
    assert_ok(policy_save(policy, factored, TENSOR_F32));
    FacetPolicy *without = make_policy(FACET_POLICY_BASELINE);
    assert_ok(policy_save(without, baseline, TENSOR_F32));
    facet_policy_destroy(without);
    return 0;
}

static int end(void **state)
{
    (void)state;
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
    scratch_end(&scratch);
    return 0;
}

// ---- The plan -----------------------------------------------------------------------------------

// What the pilot saw and answered at the first frame.
typedef struct First {
    uint8_t *frame;
    double offsets[SIZE];
} First;

static FacetStatus keep_first(void *context, const FacetGateView *view, const double *offsets,
                              FacetVec3 estimate)
{
    (void)estimate;
    First *first = context;
    if (view->frame > 0) return status_ok();
    memcpy(first->frame, view->rgb, (size_t)world->camera.width * (size_t)world->camera.height * 3);
    memcpy(first->offsets, offsets, sizeof first->offsets);
    return status_ok();
}

static void the_plan_is_the_pilots_first(void **state)
{
    (void)state;
    enum { STEPS = 4 };
    size_t bytes = (size_t)world->camera.width * (size_t)world->camera.height * 3;
    First first = {.frame = malloc(bytes)};
    uint8_t *frame = malloc(bytes);
    assert_true(first.frame && frame);
    FacetGateFlyer flyer = {.world = world, .policy = policy, .how = {.steps = STEPS}};
    FacetGateCrew crew = facet_gate_flyer_crew(&flyer);
    FacetGateWatch watch = {.frame = keep_first, .context = &first};
    FacetGateFlight flight;
    FacetGatePilot pilot;
    FacetGateTrial trial;
    FacetFactorTask task;
    assert_ok(facet_factor_task_parse(&task, world->space, "Field/red/3/-1",
                                      FACET_FACTOR_MISSING_REFUSED));
    assert_ok(facet_gate_trial(&trial, world, task, 5, 2));
    world->time_out = 0.15;
    assert_ok(crew.make(&pilot, crew.context, 0));
    assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, &watch));
    crew.release(&pilot, crew.context);

    FacetCertifier *certifier;
    FacetPool *pool;
    FacetPlanCertificate certificate;
    double ours[SIZE];
    facet_gate_first_frame(frame, world, &trial);
    assert_memory_equal(frame, first.frame, bytes);
    assert_ok(facet_pool_create(&pool, 2));
    assert_ok(facet_certifier_create(&certifier, policy, STEPS, pool));
    assert_ok(facet_certifier_look(certifier, frame));
    assert_ok(facet_certifier_plan_from(&certificate, certifier, task, trial.seed,
                                        facet_gate_plan_number(&trial, 0), NULL));
    facet_certifier_actions(ours, certifier);
    for (int i = 0; i < SIZE; i++) assert_true(ours[i] == first.offsets[i]);
    facet_certifier_destroy(certifier);
    facet_pool_destroy(pool);
    free(first.frame);
    free(frame);
}

// ---- The command --------------------------------------------------------------------------------

static double number_of(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e30, 1e30));
    return value;
}

static void check_plan(const JsonRef *plan)
{
    double ltv = number_of(plan, "c_ltv"), eps = number_of(plan, "eps_s");
    double bound = number_of(plan, "path_bound"), distance = number_of(plan, "distance_m");
    char venue[64];
    assert_ok(json_member_string(venue, sizeof venue, plan, "venue"));
    assert_true(strcmp(venue, "Field") == 0 || strcmp(venue, "industrial") == 0);
    assert_near(number_of(plan, "ltv_bound"), ltv * eps, 1e-9 * ltv * eps);
    assert_near(number_of(plan, "r_ss_default"), (0.05 * ltv * eps + 0.01) / 0.1, 1e-9 * ltv * eps);
    assert_true(eps > 0.0 && bound <= ltv * eps);
    assert_true(number_of(plan, "linearised") <= bound && number_of(plan, "actual") > 0.0);
    assert_true(number_of(plan, "first_bound") <= bound);
    assert_true(distance > 2.99 && distance < 10.01);
    assert_true(number_of(plan, "first_gap_m") > 0.0 && number_of(plan, "first_error_m") > 0.0);
    assert_true(json_has(plan, "first_bound_m") && json_has(plan, "first_ltv_bound_m"));
}

static void the_json_has_every_plan(void **state)
{
    (void)state;
    enum { TASKS = 7 };
    char line[500], texts[2][128];
    Json *documents[2];
    for (int threads = 1; threads <= 2; threads++) {
        char *json = texts[threads - 1];
        snprintf(json, sizeof texts[0], "%s", scratch_path(&scratch, threads == 1 ? "1" : "2"));
        snprintf(line, sizeof line,
                 "gate certify --policy %s --tasks %d --json %s --threads %d "
                 "--quiet",
                 factored, TASKS, json, threads);
        Run result = run(line);
        assert_string_equal(result.err, "");
        assert_int_equal(result.code, 0);
        assert_non_null(strstr(result.out, "DDIM 5, seed 1"));
        assert_non_null(strstr(result.out, "paper: mean"));
        assert_non_null(strstr(result.out, "2074"));
        assert_fits(strstr(result.out, "First plans")); // above it stands a path of any length
        assert_ok(json_read(&documents[threads - 1], json));
    }
    JsonRef root = json_root(documents[0], texts[0]), other = json_root(documents[1], texts[1]);
    JsonRef plans, summary, range, paper;
    int count, fields = 0;
    double sum = 0.0;
    assert_ok(json_member(&plans, &root, "plans"));
    assert_ok(json_length(&count, &plans));
    assert_int_equal(count, TASKS);
    assert_near(number_of(&root, "steps"), 5.0, 0.0);
    for (int i = 0; i < TASKS; i++) {
        JsonRef plan, others, same;
        char venue[64];
        assert_ok(json_element(&plan, &plans, i));
        check_plan(&plan);
        assert_ok(json_member(&others, &other, "plans"));
        assert_ok(json_element(&same, &others, i));
        assert_true(number_of(&plan, "c_ltv") == number_of(&same, "c_ltv"));
        assert_true(number_of(&plan, "first_gap_m") == number_of(&same, "first_gap_m"));
        assert_ok(json_member_string(venue, sizeof venue, &plan, "venue"));
        fields += strcmp(venue, "Field") == 0;
        sum += number_of(&plan, "c_ltv") / TASKS;
    }
    // 30 of the 36 training tasks are Field's; the last seventh of the list is industrial's.
    assert_int_equal(fields, 6);
    assert_ok(json_member(&summary, &root, "summary"));
    assert_ok(json_member(&range, &summary, "c_ltv"));
    assert_near(number_of(&range, "mean"), sum, 1e-9 * sum);
    assert_true(number_of(&range, "least") <= sum && sum <= number_of(&range, "most"));
    assert_ok(json_member(&paper, &root, "paper"));
    assert_near(number_of(&paper, "r_ss_default"), 2023.0, 0.0);
    json_free(documents[0]);
    json_free(documents[1]);
}

static void what_has_no_certificate_is_refused(void **state)
{
    (void)state;
    char line[500], message[500];
    snprintf(line, sizeof line, "gate certify --policy %s --quiet", baseline);
    assert_fails(line, 1,
                 "facet gate certify: a baseline policy is shown no factors, so there is nothing "
                 "composed to certify\n");
    snprintf(line, sizeof line, "gate certify --policy %s --quiet", blind);
    snprintf(message, sizeof message,
             "facet gate certify: %s: expected a policy that sees, found one without an encoder\n",
             blind);
    assert_fails(line, 1, message);
    snprintf(line, sizeof line, "certify --policy %s --quiet", factored);
    assert_fails(
        line, 1,
        "facet certify: a policy that takes observations has no certificate without them\n");
    snprintf(line, sizeof line, "gate certify --policy %s --quiet --steps 21", factored);
    Run result = run(line);
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "20"));
    assert_int_equal(run("gate certify --tasks 0").code, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_has_every_plan),
        cmocka_unit_test(the_plan_is_the_pilots_first),
        cmocka_unit_test(what_has_no_certificate_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
