// A policy as a pilot: the mean of a frame's samples, and how far they are apart.
#include "data/samples.h"
#include "gates.h"
#include "policy/squares.h"

enum { SAMPLES = 5, PLAN = FACET_GATE_HORIZON * FACET_GATE_DIM };

typedef struct Stage {
    FacetGateWorld *world;
    FacetPolicy *policy;
    FacetGateTrial trial;
    uint8_t *frame;
} Stage;

static FacetGateTraining tiny_gate_training(void)
{
    FacetGateTraining training = {.train = square_training()};
    training.train.blocks = 1;
    training.train.channels = 16;
    training.train.updates = 2;
    return training;
}

// A policy that has learned next to nothing.
static void train(const FacetGateWorld *world)
{
    static const char *const names[] = {"Field/red/3/+1", "Field/red/3/-1"};
    FacetFactorTask tasks[2];
    for (int i = 0; i < 2; i++) tasks[i] = task_of(world, names[i]);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = collection.flights = 2;
    assert_ok(facet_gate_collect_file("demos.h5", world, &collection, NULL, NULL, NULL));
    FacetGateTraining training = tiny_gate_training();
    FacetTrainSummary summary;
    assert_ok(facet_gate_train(&summary, world, "demos.h5", "pilot", &training, NULL, NULL));
}

static int set_up(void **state)
{
    static Stage stage;
    if (scratch_enter(state) != 0) return -1;
    stage.world = shipped_world();
    train(stage.world);
    assert_ok(facet_policy_load(&stage.policy, "pilot"));
    assert_ok(facet_gate_trial(&stage.trial, stage.world, task_of(stage.world, "Field/red/3/-1"), 9,
                               facet_gate_number(FACET_GATE_FOR_SHOW, 7)));
    const FacetCamera *camera = &stage.world->camera;
    stage.frame = malloc((size_t)(camera->width * camera->height) * 3);
    assert_non_null(stage.frame);
    facet_gate_first_frame(stage.frame, stage.world, &stage.trial);
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    Stage *stage = *state;
    free(stage->frame);
    facet_policy_destroy(stage->policy);
    facet_gate_world_destroy(stage->world);
    return scratch_leave(state);
}

// What a pilot answers to the frame as its third one, and the variance that it says; -1 for none.
static double answer(double offsets[PLAN], const Stage *stage, FacetGateFlyer *flyer)
{
    FacetGatePilot pilot;
    FacetGateCrew crew = facet_gate_flyer_crew(flyer);
    const FacetGateView view = {.rgb = stage->frame, .trial = &stage->trial, .frame = 3};
    assert_ok(crew.make(&pilot, crew.context, 0));
    assert_ok(pilot.plan(offsets, pilot.context, &view));
    double variance = pilot.variance ? *pilot.variance : -1.0;
    crew.release(&pilot, crew.context);
    return variance;
}

// One plan of the policy, with the noise of a number.
static void sample(double offsets[PLAN], const Stage *stage, uint64_t number)
{
    FacetPolicyRunner *runner;
    const FacetPolicySampling how = {.seed = stage->trial.seed, .numbers = &number};
    const FacetPolicyObserved observed = {.frames = stage->frame};
    assert_ok(facet_policy_runner_create(&runner, stage->policy, 1, 1, NULL));
    assert_ok(
        facet_policy_runner_sample(offsets, runner, &stage->trial.task, &observed, 1, &how, NULL));
    facet_policy_runner_destroy(runner);
}

static void one_sample_is_the_plan_itself(void **state)
{
    const Stage *stage = *state;
    double expected[PLAN], offsets[PLAN];
    sample(expected, stage, facet_gate_plan_number(&stage->trial, 3));
    for (int samples = 0; samples <= 1; samples++) {
        FacetGateFlyer flyer = {.world = stage->world, .policy = stage->policy, .samples = samples};
        assert_near(answer(offsets, stage, &flyer), -1.0, 0.0);
        assert_memory_equal(offsets, expected, sizeof expected);
    }
}

static void several_samples_give_mean_and_variance(void **state)
{
    const Stage *stage = *state;
    double plans[SAMPLES][PLAN], offsets[PLAN], sum = 0.0;
    FacetGateFlyer flyer = {.world = stage->world, .policy = stage->policy, .samples = SAMPLES};
    double variance = answer(offsets, stage, &flyer);
    for (int s = 0; s < SAMPLES; s++)
        sample(plans[s], stage, facet_gate_plan_number(&stage->trial, 3) + ((uint64_t)s << 55));
    for (int i = 0; i < PLAN; i++) {
        double mean = 0.0;
        for (int s = 0; s < SAMPLES; s++) mean += plans[s][i] / SAMPLES;
        assert_near(offsets[i], mean, 1e-12);
        for (int s = 0; s < SAMPLES && i < 3; s++)
            sum += (plans[s][i] - mean) * (plans[s][i] - mean) / (SAMPLES - 1);
    }
    double temperature = facet_policy_info(stage->policy).default_temperature;
    assert_near(temperature, 0.5, 0.0);
    assert_true(sum > 1e-6);
    assert_near(variance, sum / 0.25, 1e-12 * (1.0 + sum));
}

// A factor that training always hid is hidden in flight as well: its values were never learned.
static void a_factor_that_was_always_hidden_is_not_shown(void **state)
{
    static Stage stage;
    stage = *(const Stage *)*state;
    static const char *const drops[] = {"0.1", "venue=0.1,color=0.1,gate=0.1,side=1"};
    for (int hidden = 0; hidden < 2; hidden++) {
        double one[PLAN], other[PLAN];
        FacetGateTraining training = tiny_gate_training();
        FacetTrainSummary summary;
        FacetPolicy *policy;
        training.train.drop = drops[hidden];
        assert_ok(facet_gate_train(&summary, stage.world, "demos.h5", hidden ? "hidden" : "shown",
                                   &training, NULL, NULL));
        assert_ok(facet_policy_load(&policy, hidden ? "hidden" : "shown"));
        FacetGateFlyer flyer = {.world = stage.world, .policy = policy};
        stage.trial.task = task_of(stage.world, "Field/red/3/-1");
        answer(one, &stage, &flyer);
        stage.trial.task = task_of(stage.world, "Field/red/3/+1");
        answer(other, &stage, &flyer);
        assert_int_equal(memcmp(one, other, sizeof one) == 0, hidden);
        facet_policy_destroy(policy);
    }
}

static void numbers_of_samples_are_limited(void **state)
{
    const Stage *stage = *state;
    FacetGateFlyer flyer = {.world = stage->world, .policy = stage->policy, .samples = 33};
    FacetGateCrew crew = facet_gate_flyer_crew(&flyer);
    FacetGatePilot pilot;
    assert_refused(crew.make(&pilot, crew.context, 0),
                   "expected 1 to 32 samples of a frame, found 33");
    flyer.samples = -1;
    assert_refused(crew.make(&pilot, crew.context, 0), "found -1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sample_is_the_plan_itself),
        cmocka_unit_test(several_samples_give_mean_and_variance),
        cmocka_unit_test(a_factor_that_was_always_hidden_is_not_shown),
        cmocka_unit_test(numbers_of_samples_are_limited),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
