// All that threads share, in little: flights, demonstrations, both trainings, plans, the camera,
// flights by camera and the rounds of a gate's training, each the same on three threads as on one.
// Small enough for the thread sanitizer, which is slow (.ci/run).
#include "gate/gates.h"
#include "policy/squares.h"
#include "pools.h"

#include <facet_study/race.h>

static const int threads[] = {1, 3};
static const char *const files[] = {"one", "three"};

static void flights_and_demonstrations(void **state)
{
    (void)state;
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    FacetDemoOptions demos = facet_demo_defaults();
    demos.rollouts = 1;
    for (int i = 0; i < 2; i++) {
        FacetRace *race;
        assert_ok(facet_race_open(&race, &options, test_pool(threads[i]), NULL));
        assert_ok(facet_race_write_demos(files[i], race, &demos, NULL));
        facet_race_close(race);
    }
    assert_same_files("one", "three");
}

static void training_and_plans(void **state)
{
    (void)state;
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    double plans[2][4 * WAVE_T * WAVE_D];
    options.epochs = 1;
    options.composed_weight = 0.5;
    write_waves("waves.h5", WAVE_TASKS, false);
    for (int i = 0; i < 2; i++) {
        FacetPool *pool = test_pool(threads[i]);
        assert_ok(facet_policy_train(&summary, "waves.h5", files[i], &options, pool, NULL));
        assert_ok(facet_policy_load(&policy, files[i]));
        FacetFactorTask tasks[4];
        for (int k = 0; k < 4; k++) tasks[k] = factor_task_at(facet_policy_space(policy), k);
        const FacetPolicySampling how = {.steps = 6};
        assert_ok(facet_policy_sample(plans[i], policy, tasks, 4, &how, pool));
        facet_policy_destroy(policy);
    }
    assert_same_files("one", "three");
    assert_memory_equal(plans[0], plans[1], sizeof plans[0]);
}

static void training_on_frames(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    options.updates = 2;
    write_squares("squares.h5", square_shape, 6, 0);
    for (int i = 0; i < 2; i++)
        assert_ok(facet_policy_train_images(&summary, (const char *const[]){"squares.h5"}, 1,
                                            files[i], &options, test_pool(threads[i]), NULL));
    assert_same_files("one", "three");
}

enum { WIDTH = 32, HEIGHT = 24 };

static void frames(void **state)
{
    (void)state;
    FacetCamera camera = facet_camera_default();
    camera.width = WIDTH, camera.height = HEIGHT;
    uint8_t rgb[2][3 * WIDTH * HEIGHT];
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "pool"));
    FacetCameraShot shot = {.seed = 3};
    double yaw;
    facet_camera_stand(&shot.pos_world, &yaw, facet_venue_gate(venue, 0), 1, 6.0, 0.2);
    shot.attitude = quat_from_yaw(yaw);
    for (int i = 0; i < 2; i++)
        facet_camera_render(rgb[i], &camera, venue, &shot, test_pool(threads[i]));
    assert_memory_equal(rgb[0], rgb[1], sizeof rgb[0]);
    facet_venue_destroy(venue);
}

// A training with one round: its networks fly by camera, and what they saw joins the frames.
static void flights_by_camera(void **state)
{
    (void)state;
    FacetGateWorld *world = shipped_world();
    world->time_out = 0.5;
    FacetFactorTask tasks[] = {task_of(world, "Field/red/3/+1"), task_of(world, "Field/red/3/-1")};
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = collection.flights = 2;
    FacetGateTraining training = {.train = square_training(), .rounds = 1, .flights = 2};
    training.train.updates = 2;
    training.train.batch = 2;
    FacetTrainSummary summary;
    for (int i = 0; i < 2; i++) {
        FacetPool *pool = test_pool(threads[i]);
        assert_ok(facet_gate_collect_file("frames.h5", world, &collection, NULL, pool, NULL));
        assert_ok(facet_gate_train(&summary, world, "frames.h5", files[i], &training, pool, NULL));
    }
    assert_same_files("one", "three");
    facet_gate_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(flights_and_demonstrations, scratch_clean),
        cmocka_unit_test_teardown(training_and_plans, scratch_clean),
        cmocka_unit_test_teardown(training_on_frames, scratch_clean),
        cmocka_unit_test_teardown(frames, scratch_clean),
        cmocka_unit_test_teardown(flights_by_camera, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
