// Two policies on one plan: with the weights 1 and 0 each alone to the bit, in between the sum, and
// refused where a noisy plan would not mean the same to both.
#include "data/samples.h"
#include "gate/blend.h"
#include "gates.h"
#include "policy/parts.h"
#include "policy/squares.h"

enum { SAMPLES = 3, PLAN = FACET_GATE_HORIZON * FACET_GATE_DIM };

typedef struct Stage {
    FacetGateWorld *world;
    FacetPolicy *camera, *beacon;
    FacetGateTrial trial;
    uint8_t *frame;
    double sensed[FACET_GATE_SENSED];
} Stage;

// Policies that have learned next to nothing.
static void train(Stage *stage)
{
    static const char *const names[] = {"Field/red/3/+1", "piazza/red/3/-1"};
    FacetFactorTask tasks[2];
    FacetTrainSummary summary;
    for (int i = 0; i < 2; i++) tasks[i] = task_of(stage->world, names[i]);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = collection.flights = 2;
    assert_ok(facet_gate_collect_file("demos.h5", stage->world, &collection, NULL, NULL, NULL));
    FacetGateTraining training = {.train = square_training()};
    training.train.blocks = 1;
    training.train.channels = 16;
    training.train.updates = 2;
    assert_ok(
        facet_gate_train(&summary, stage->world, "demos.h5", "camera", &training, NULL, NULL));
    assert_ok(facet_policy_load(&stage->camera, "camera"));
    FacetGateBeaconTraining by_beacon = {
        .train = {.updates = 3, .blocks = 1, .channels = 24}, .flights = 2, .seconds = 1.0};
    assert_ok(facet_gate_train_beacon(&summary, stage->world, stage->camera, "beacon", &by_beacon,
                                      NULL, NULL));
    assert_int_equal(summary.tasks, 2);
    assert_ok(facet_policy_load(&stage->beacon, "beacon"));
}

static int set_up(void **state)
{
    static Stage stage;
    if (scratch_enter(state) != 0) return -1;
    stage.world = shipped_world();
    train(&stage);
    assert_ok(facet_gate_trial(&stage.trial, stage.world, task_of(stage.world, "Field/red/3/-1"), 9,
                               facet_gate_number(FACET_GATE_FOR_SHOW, 7)));
    const FacetCamera *camera = &stage.world->camera;
    stage.frame = malloc((size_t)(camera->width * camera->height) * 3);
    assert_non_null(stage.frame);
    facet_gate_first_frame(stage.frame, stage.world, &stage.trial);
    FacetRng rng = rng_make(4, 0);
    for (int i = 0; i < FACET_GATE_SENSED; i++) stage.sensed[i] = rng_range(&rng, -1.0, 1.0);
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    Stage *stage = *state;
    free(stage->frame);
    facet_policy_destroy(stage->camera);
    facet_policy_destroy(stage->beacon);
    facet_gate_world_destroy(stage->world);
    return scratch_leave(state);
}

static const uint64_t noises[SAMPLES] = {11, 12, 99};

// Plans of one policy, by a runner.
static void alone(double plans[SAMPLES * PLAN], const Stage *stage, bool camera,
                  FacetPolicySampling how)
{
    FacetPolicyRunner *runner;
    FacetFactorTask tasks[SAMPLES];
    for (int s = 0; s < SAMPLES; s++) tasks[s] = stage->trial.task;
    FacetPolicyObserved observed = {.shared = true};
    if (camera)
        observed.frames = stage->frame;
    else
        observed.numbers = stage->sensed;
    how.numbers = noises;
    assert_ok(facet_policy_runner_create(&runner, camera ? stage->camera : stage->beacon, SAMPLES,
                                         1, NULL));
    assert_ok(facet_policy_runner_sample(plans, runner, tasks, &observed, SAMPLES, &how, NULL));
    facet_policy_runner_destroy(runner);
}

static void together(double plans[SAMPLES * PLAN], const Stage *stage, double weight,
                     FacetPolicySampling how)
{
    Blend *blend;
    const FacetFactorTask tasks[] = {stage->trial.task, stage->trial.task};
    how.numbers = noises;
    assert_ok(blend_create(&blend, stage->camera, stage->beacon, SAMPLES));
    assert_ok(
        blend_sample(plans, blend, weight, tasks, stage->frame, stage->sensed, SAMPLES, &how));
    blend_destroy(blend);
}

static void weights_of_one_and_zero_are_each_alone(void **state)
{
    const Stage *stage = *state;
    double camera[SAMPLES * PLAN], beacon[SAMPLES * PLAN], both[SAMPLES * PLAN];
    for (int mode = 0; mode <= FACET_POLICY_JOINT; mode++)
        for (int sampler = 0; sampler <= FACET_POLICY_DPMPP; sampler++) {
            const FacetPolicySampling how = {
                .seed = 5, .mode = (FacetPolicyMode)mode, .sampler = (FacetPolicySampler)sampler};
            alone(camera, stage, true, how);
            alone(beacon, stage, false, how);
            assert_memory_not_equal(camera, beacon, sizeof camera);
            together(both, stage, 1.0, how);
            assert_memory_equal(both, camera, sizeof camera);
            together(both, stage, 0.0, how);
            assert_memory_equal(both, beacon, sizeof beacon);
        }
}

// One step from the noise is linear in the prediction, in the network's range and off the clip.
static void one_step_is_the_weighted_sum(void **state)
{
    const Stage *stage = *state;
    const Normalizer *ranges = policy_normalizer(stage->camera);
    double camera[SAMPLES * PLAN], beacon[SAMPLES * PLAN], both[SAMPLES * PLAN], apart = 0.0;
    const FacetPolicySampling how = {.seed = 5, .steps = 1};
    size_t rows = SAMPLES * FACET_GATE_HORIZON;
    alone(camera, stage, true, how);
    alone(beacon, stage, false, how);
    together(both, stage, 0.75, how);
    normalizer_apply(camera, ranges, camera, rows);
    normalizer_apply(beacon, ranges, beacon, rows);
    normalizer_apply(both, ranges, both, rows);
    int compared = 0;
    for (int i = 0; i < SAMPLES * PLAN; i++) {
        if (fabs(camera[i]) > 1.49 || fabs(beacon[i]) > 1.49) continue;
        compared++;
        apart = fmax(apart, fabs(camera[i] - beacon[i]));
        assert_near(both[i], 0.75 * camera[i] + 0.25 * beacon[i], 2e-6);
    }
    assert_true(compared > SAMPLES * PLAN / 2);
    assert_true(apart > 1e-3);
}

// ---- As a pilot ---------------------------------------------------------------------------------

static bool answer(double offsets[PLAN], const Stage *stage, FacetGateFlyer *flyer)
{
    FacetGatePilot pilot;
    FacetGateCrew crew = facet_gate_flyer_crew(flyer);
    assert_ok(crew.make(&pilot, crew.context, 0));
    const FacetGateView view = {.rgb = pilot.sees ? stage->frame : NULL,
                                .trial = &stage->trial,
                                .frame = 3,
                                .sensed = stage->sensed};
    assert_ok(pilot.plan(offsets, pilot.context, &view));
    bool sees = pilot.sees;
    crew.release(&pilot, crew.context);
    return sees;
}

// In a venue that neither was shown, and by several samples: the camera's plan, one between, and
// the beacon's, which draws no frame.
static void pilots_have_both_senses(void **state)
{
    Stage stage = *(const Stage *)*state;
    double plans[4][PLAN];
    stage.trial.task = task_of(stage.world, "pool/red/3/-1");
    FacetGateFlyer flyer = {.world = stage.world, .policy = stage.camera, .samples = SAMPLES};
    assert_true(answer(plans[0], &stage, &flyer));
    flyer.beside = stage.beacon;
    flyer.weight = 1.0;
    assert_true(answer(plans[1], &stage, &flyer));
    assert_memory_equal(plans[1], plans[0], sizeof plans[0]);
    flyer.weight = 0.5;
    assert_true(answer(plans[2], &stage, &flyer));
    flyer.weight = 0.0;
    assert_false(answer(plans[3], &stage, &flyer));
    assert_memory_not_equal(plans[2], plans[0], sizeof plans[0]);
    assert_memory_not_equal(plans[2], plans[3], sizeof plans[0]);
    assert_memory_not_equal(plans[3], plans[0], sizeof plans[0]);
}

// What it learned by: the other's ranges, held-out tasks, noise and losses.
static void it_is_trained_like_the_other(void **state)
{
    const Stage *stage = *state;
    const PolicyRecord *camera = policy_record(stage->camera);
    const PolicyRecord *beacon = policy_record(stage->beacon);
    FacetPolicyInfo info = facet_policy_info(stage->beacon);
    assert_int_equal(info.horizon, FACET_GATE_HORIZON);
    assert_int_equal(info.observe_dim, FACET_GATE_SENSED);
    assert_int_equal(info.observe_steps, 1);
    assert_false(info.sees);
    for (int f = 0; f < FACET_GATE_FACTORS; f++) assert_near(beacon->drop[f], camera->drop[f], 0.0);
    assert_near(beacon->composed_weight, camera->composed_weight, 0.0);
    assert_string_equal(beacon->data, "flights=2,seconds=1,near=0,bias=0.5,noise=0.3,survey=4");
    assert_ok(facet_gate_check_beside(stage->camera, stage->beacon, &(FacetPolicySampling){0}));
}

// ---- Refusals -----------------------------------------------------------------------------------

// With one of the beacon's settings changed, and then as it was.
#define refuse_changed(setting, other, words)                                                      \
    do {                                                                                           \
        __typeof__(setting) kept_ = (setting);                                                     \
        (setting) = (other);                                                                       \
        assert_refused(facet_gate_check_beside(camera, beacon, &how),                              \
                       "expected the same " words " of both policies");                            \
        (setting) = kept_;                                                                         \
    } while (0)

static void plans_that_mean_something_else_are_refused(void **state)
{
    const Stage *stage = *state;
    const FacetPolicy *camera = stage->camera;
    FacetPolicy *beacon = stage->beacon;
    const FacetPolicySampling how = {.seed = 1};
    refuse_changed(beacon->normalizer->max[1], 99.0, "ranges");
    refuse_changed(beacon->normalizer->min[2], -99.0, "ranges");
    refuse_changed(beacon->normalizer->knee, 0.0, "ranges");
    refuse_changed(beacon->schedule.steps, 50, "noise schedule");
    refuse_changed(beacon->schedule.alpha_bar[7], 0.5, "noise schedule");
    refuse_changed(beacon->prediction, PREDICT_X0, "prediction");
    refuse_changed(beacon->spacing, SPACING_EVEN, "steps of sampling");
    refuse_changed(beacon->default_steps, 6, "steps of sampling");
    refuse_changed(beacon->clip, 0.0, "steps of sampling");
    refuse_changed(beacon->temperature, 1.0, "temperature");
    assert_ok(facet_gate_check_beside(camera, beacon, &how));
    assert_refused(facet_gate_check_beside(camera, camera, &how),
                   "expected a policy of facet gate beacon, which takes 96 numbers of 1 step, "
                   "found one that sees and takes 0 of 1");
    const FacetPolicySampling router = {.mode = FACET_POLICY_ROUTER};
    assert_refused(facet_gate_check_beside(camera, beacon, &router), "no router mode");
}

static void other_training_tasks_are_refused(void **state)
{
    const Stage *stage = *state;
    FacetFactorSplit *kept = stage->beacon->training, *other;
    const FacetPolicySampling how = {.seed = 1};
    assert_ok(factor_split_create(&other, stage->beacon->space));
    assert_ok(factor_split_add(other, task_of(stage->world, "Field/red/3/+1")));
    stage->beacon->training = other;
    assert_refused(facet_gate_check_beside(stage->camera, stage->beacon, &how),
                   "expected a policy trained on the 2 tasks of the other, found one of 1");
    assert_ok(factor_split_add(other, task_of(stage->world, "pool/red/3/+1")));
    assert_refused(facet_gate_check_beside(stage->camera, stage->beacon, &how),
                   "found one of 2 others");
    stage->beacon->training = kept;
    factor_split_destroy(other);
}

static void weights_are_limited(void **state)
{
    const Stage *stage = *state;
    const double weights[] = {-0.1, 1.1, NAN};
    for (int i = 0; i < 3; i++) {
        FacetGateFlyer flyer = {.world = stage->world,
                                .policy = stage->camera,
                                .beside = stage->beacon,
                                .weight = weights[i]};
        FacetGateCrew crew = facet_gate_flyer_crew(&flyer);
        FacetGatePilot pilot;
        assert_refused(crew.make(&pilot, crew.context, 0), "expected a weight from 0 to 1, found");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_one_and_zero_are_each_alone),
        cmocka_unit_test(one_step_is_the_weighted_sum),
        cmocka_unit_test(pilots_have_both_senses),
        cmocka_unit_test(it_is_trained_like_the_other),
        cmocka_unit_test(plans_that_mean_something_else_are_refused),
        cmocka_unit_test(other_training_tasks_are_refused),
        cmocka_unit_test(weights_are_limited),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
