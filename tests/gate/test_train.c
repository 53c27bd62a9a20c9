// Training to fly through gates: what little training already sees, stages and rounds of DAgger
// that resume, and what is refused.
#include "data/samples.h"
#include "gate/streams.h"
#include "gates.h"
#include "policy/squares.h"

#include <time.h>

// Two venues, two sides of one gate.
static const char *const task_names[] = {"Field/red/3/+1", "Field/red/3/-1", "industrial/red/3/+1",
                                         "industrial/red/3/-1"};
enum { TASKS = sizeof task_names / sizeof *task_names };

static void find_tasks(FacetFactorTask tasks[TASKS], const FacetGateWorld *world)
{
    for (int i = 0; i < TASKS; i++) tasks[i] = task_of(world, task_names[i]);
}

// The expert's frames, small as the encoder wants them.
static void write_demos(const FacetGateWorld *world, int flights, FacetPool *pool)
{
    FacetFactorTask tasks[TASKS];
    find_tasks(tasks, world);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = TASKS;
    collection.flights = flights;
    collection.seed = 1;
    assert_ok(facet_gate_collect_file("demos.h5", world, &collection, NULL, pool, NULL));
}

// ---- What it sees -------------------------------------------------------------------------------

enum { EVERY = 4, LOOKS_MAX = 512 }; // frames of a fresh flight, one in so many

// First offsets on fresh flights: the truth and the policy's.
typedef struct Look {
    FacetPolicyRunner *runner;
    FacetPool *pool;
    int count;
    int task[LOOKS_MAX]; // value of the venue and of the side
    FacetVec3 truth[LOOKS_MAX], seen[LOOKS_MAX];
} Look;

static FacetStatus look(void *context, const FacetGateFrames *frames)
{
    Look *l = context;
    size_t size = (size_t)frames->width * (size_t)frames->height * 3;
    for (int i = 0; i < frames->count && l->count < LOOKS_MAX; i += EVERY) {
        double offsets[FACET_GATE_HORIZON * FACET_GATE_DIM];
        const double *truth = frames->offsets + (size_t)i * FACET_GATE_HORIZON * FACET_GATE_DIM;
        uint64_t number = (uint64_t)l->count;
        const FacetPolicySampling how = {.numbers = &number};
        TRY(facet_policy_runner_sample(
            offsets, l->runner, &frames->task,
            &(FacetPolicyObserved){.frames = frames->rgb + (size_t)i * size}, 1, &how, l->pool));
        l->task[l->count] = frames->flight % TASKS;
        l->truth[l->count] = vec3(truth[0], truth[1], truth[2]);
        l->seen[l->count++] = vec3(offsets[0], offsets[1], offsets[2]);
    }
    return status_ok();
}

// The mean error of the policy, and that of the answer that is best for each task without looking.
static void mean_errors(double *seen, double *blind, const Look *l)
{
    FacetVec3 mean[TASKS] = {{0}};
    int frames[TASKS] = {0};
    for (int i = 0; i < l->count; i++) frames[l->task[i]]++;
    for (int i = 0; i < l->count; i++)
        mean[l->task[i]] = vec3_axpy(mean[l->task[i]], 1.0 / frames[l->task[i]], l->truth[i]);
    *seen = *blind = 0.0;
    for (int i = 0; i < l->count; i++) {
        *seen += vec3_distance(l->seen[i], l->truth[i]) / l->count;
        *blind += vec3_distance(mean[l->task[i]], l->truth[i]) / l->count;
    }
}

static FacetTrainOptions short_training(void)
{
    FacetTrainOptions options = square_training();
    options.blocks = 2;
    options.channels = 32;
    options.embed = 8;
    return options;
}

static void a_short_training_beats_chance(void **state)
{
    (void)state;
    FacetGateWorld *world = shipped_world();
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    write_demos(world, 4 * TASKS, pool);
    FacetGateTraining training = {.train = short_training()};
    training.train.updates = 320;
    training.train.batch = 8;
    training.train.draws = 8;
    training.train.rate = 2e-3;
    training.train.jitter = -1.0;
    FacetTrainSummary summary;
    assert_ok(facet_gate_train(&summary, world, "demos.h5", "pilot", &training, pool, NULL));
    assert_int_equal(summary.tasks, TASKS);

    FacetPolicy *policy;
    static Look l;
    FacetFactorTask tasks[TASKS];
    assert_ok(facet_policy_load(&policy, "pilot"));
    assert_ok(facet_policy_runner_create(&l.runner, policy, 1, 2, pool));
    find_tasks(tasks, world);
    FacetGateCollection fresh = facet_gate_collection_defaults();
    fresh.tasks = tasks;
    fresh.task_count = TASKS;
    fresh.flights = TASKS;
    fresh.seed = 77;
    fresh.shrink = 1;
    l.pool = pool;
    assert_ok(facet_gate_collect(&(FacetGateSink){.add = look, .context = &l}, world, &fresh, NULL,
                                 pool, NULL));
    double seen, blind;
    mean_errors(&seen, &blind, &l);
    print_message("%d frames: off by %.2f m, without looking by %.2f m\n", l.count, seen, blind);
    assert_true(l.count > 40);
    assert_less(seen, 0.9 * blind);
    facet_policy_runner_destroy(l.runner);
    facet_policy_destroy(policy);
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

// ---- Rounds -------------------------------------------------------------------------------------

static FacetGateTraining one_round(void)
{
    FacetGateTraining training = {.train = short_training(), .rounds = 1, .flights = 2};
    training.train.updates = 6;
    return training;
}

// Resuming with other rounds is refused, begun or complete, and the setting is named.
static void refuse_other_rounds(const FacetGateWorld *world, const char *out, const char *file,
                                FacetPool *pool)
{
    static const char *const words[] = {"rounds=2, found rounds=1", "flights=3, found flights=2",
                                        "expert-share=0.5, found expert-share=0",
                                        "redrawn=0.25, found redrawn=0",
                                        "near=0.5, found nothing more"};
    for (int i = 0; i < 5; i++) {
        FacetGateTraining other = one_round();
        FacetTrainSummary summary;
        char line[160];
        other.train.resume = true;
        if (i == 0) other.rounds = 2;
        if (i == 1) other.flights = 3;
        if (i == 2) other.expert_share = 0.5;
        if (i == 3) other.redrawn = 0.25;
        if (i == 4) other.near = 0.5;
        snprintf(line, sizeof line, "%s: expected the train_frames of this run, %s", file,
                 words[i]);
        assert_refused(facet_gate_train(&summary, world, "demos.h5", out, &other, pool, NULL),
                       line);
    }
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void a_round_cut_short_resumes(void **state)
{
    (void)state;
    FacetGateWorld *world = shipped_world();
    FacetPool *pool;
    FacetTrainSummary straight, resumed;
    struct timespec start;
    FacetGateTraining training = one_round();
    assert_ok(facet_pool_create(&pool, 2));
    write_demos(world, TASKS, pool);
    clock_gettime(CLOCK_MONOTONIC, &start);
    assert_ok(facet_gate_train(&straight, world, "demos.h5", "straight", &training, pool, NULL));
    assert_int_equal(straight.updates, 6);
    assert_int_equal(straight.resumed, 0);
    assert_between(straight.seconds, 1e-9, seconds_since(&start)); // of the stages, without flights
    FacetImageSet *set;
    assert_ok(facet_image_set_open(&set, (const char *const[]){"demos.h5"}, 1));
    assert_true(straight.demos > facet_image_set_count(set)); // frames of the round joined
    facet_image_set_close(set);
    assert_int_equal(access("straight.round1.h5", F_OK), -1);
    assert_int_equal(access("straight.ckpt", F_OK), -1);
    assert_true(facet_gate_train_is_complete("straight"));
    assert_false(facet_gate_train_is_complete("broken"));

    // Up to the round, as a run does that ends there.
    FacetTrainOptions stage = training.train;
    stage.until = 3;
    stage.frames = "rounds=1,flights=2,expert-share=0,redrawn=0";
    const char *const demos[] = {"demos.h5"};
    assert_ok(facet_policy_train_images(&resumed, demos, 1, "broken", &stage, pool, NULL));
    assert_refused(facet_gate_train(&resumed, world, "demos.h5", "broken", &training, pool, NULL),
                   "broken.ckpt: there is an unfinished training");
    assert_false(facet_gate_train_is_complete("broken")); // a checkpoint beside the policy
    training.train.resume = true;
    refuse_other_rounds(world, "broken", "broken.ckpt", pool);
    assert_ok(facet_gate_train(&resumed, world, "demos.h5", "broken", &training, NULL, NULL));
    assert_int_equal(resumed.resumed, 3);
    assert_int_equal(resumed.demos, straight.demos);
    assert_same_files("straight", "broken");
    assert_same_files("straight.csv", "broken.csv");
    assert_int_equal(access("broken.round1.h5", F_OK), -1);

    // Complete, it is left alone; a round's file that was left behind goes.
    write_demos(world, 1, pool);
    assert_int_equal(rename("demos.h5", "broken.round1.h5"), 0);
    write_demos(world, TASKS, pool);
    assert_false(facet_gate_train_is_complete("broken"));
    assert_ok(facet_gate_train(&resumed, world, "demos.h5", "broken", &training, pool, NULL));
    assert_true(facet_gate_train_is_complete("broken"));
    assert_int_equal(resumed.resumed, 6);
    refuse_other_rounds(world, "broken", "broken", pool);
    assert_same_files("straight", "broken");
    assert_int_equal(access("broken.round1.h5", F_OK), -1);
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

// The frames of a training's first round, flown by hand in a mode.
static void fly_round(const FacetGateWorld *world, const char *out, const char *file,
                      const FacetGateTraining *training, FacetPolicyMode mode, FacetPool *pool)
{
    FacetFactorTask tasks[TASKS];
    FacetPolicy *policy;
    assert_ok(facet_policy_load(&policy, out));
    const FacetFactorSplit *split = facet_policy_training(policy);
    assert_int_equal(facet_factor_split_count(split), TASKS);
    for (int i = 0; i < TASKS; i++) tasks[i] = facet_factor_split_task(split, i);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = TASKS;
    collection.flights = training->flights;
    collection.seed = gate_round_seed(training->train.seed, 1);
    collection.expert_share = training->expert_share;
    collection.redrawn = training->redrawn;
    FacetGateFlyer flyer = {.world = world, .policy = policy, .how.mode = mode};
    FacetGateCrew crew = facet_gate_flyer_crew(&flyer);
    assert_ok(facet_gate_collect_file(file, world, &collection, &crew, pool, NULL));
    facet_policy_destroy(policy);
}

// Trains up to the round, flies it in a mode, and trains to the end.
static void train_by_hand(const FacetGateWorld *world, const char *out, FacetGateTraining training,
                          FacetPolicyMode mode, FacetPool *pool)
{
    FacetTrainSummary summary;
    char file[64];
    FacetTrainOptions stage = training.train;
    stage.until = 3;
    stage.frames = "rounds=1,flights=2,expert-share=0,redrawn=0";
    snprintf(file, sizeof file, "%s.round1.h5", out);
    assert_ok(facet_policy_train_images(&summary, (const char *const[]){"demos.h5"}, 1, out, &stage,
                                        pool, NULL));
    fly_round(world, out, file, &training, mode, pool);
    training.train.resume = true;
    assert_ok(facet_gate_train(&summary, world, "demos.h5", out, &training, pool, NULL));
}

// A policy that never saw a factor alone or none does not compose in its rounds either.
static void rounds_are_flown_as_was_learned(void **state)
{
    (void)state;
    static const struct {
        const char *drop;
        double composed_weight;
        FacetPolicyMode mode;
    } cases[] = {
        {"0", 0.0, FACET_POLICY_JOINT},
        {"venue=1,color=0,gate=0,side=0", 0.0, FACET_POLICY_JOINT},
        {"0.1", 0.0, FACET_POLICY_COMPOSED},
        {"0", 0.3, FACET_POLICY_COMPOSED},
    };
    FacetGateWorld *world = shipped_world();
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    write_demos(world, TASKS, pool);
    for (int i = 0; i < 4; i++) {
        FacetTrainSummary summary;
        FacetGateTraining training = one_round();
        char straight[32], alike[32];
        snprintf(straight, sizeof straight, "straight%d", i);
        snprintf(alike, sizeof alike, "alike%d", i);
        training.train.drop = cases[i].drop;
        training.train.composed_weight = cases[i].composed_weight;
        assert_ok(facet_gate_train(&summary, world, "demos.h5", straight, &training, pool, NULL));
        train_by_hand(world, alike, training, cases[i].mode, pool);
        assert_same_files(straight, alike);
        if (i > 0) continue;
        train_by_hand(world, "other", training, FACET_POLICY_COMPOSED, pool); // it is heard
        assert_other_files(straight, "other");
    }
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

static void rounds_of_another_training_are_refused(void **state)
{
    (void)state;
    FacetGateWorld *world = shipped_world();
    FacetPool *pool;
    FacetTrainSummary summary;
    FacetGateTraining training = one_round();
    assert_ok(facet_pool_create(&pool, 2));
    write_demos(world, TASKS, pool);
    write_bytes("pilot.round1.h5", "stale", 5);
    assert_refused(facet_gate_train(&summary, world, "demos.h5", "pilot", &training, pool, NULL),
                   "pilot.round1.h5: there is an unfinished training: --resume continues it");
    training.train.resume = true;
    assert_refused(facet_gate_train(&summary, world, "demos.h5", "pilot", &training, pool, NULL),
                   "pilot.round1.h5");
    assert_int_equal(access("pilot", F_OK), -1);
    training.rounds = FACET_GATE_ROUNDS_MAX + 1;
    assert_refused(facet_gate_train(&summary, world, "demos.h5", "pilot", &training, pool, NULL),
                   "expected 0 to 8 rounds of DAgger, found 9");
    training.rounds = -1;
    assert_refused(facet_gate_train(&summary, world, "demos.h5", "pilot", &training, pool, NULL),
                   "found -1");
    training.rounds = 0;
    assert_refused(facet_gate_train(&summary, world, "missing.h5", "pilot", &training, pool, NULL),
                   "missing.h5");
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

// ---- Pilots -------------------------------------------------------------------------------------

static void policies_of_another_world_do_not_fly(void **state)
{
    (void)state;
    FacetGateWorld *world = shipped_world();
    FacetTrainOptions blind = tiny_training(), squares = square_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(facet_policy_train(&summary, "waves.h5", "blind", &blind, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "blind"));
    assert_refused(facet_gate_check_policy(world, policy),
                   "expected a policy that sees, found one without an encoder");
    facet_policy_destroy(policy);
    squares.updates = 1;
    write_squares("squares.h5", square_shape, 6, 0);
    assert_ok(facet_policy_train_images(&summary, (const char *const[]){"squares.h5"}, 1, "squares",
                                        &squares, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "squares"));
    assert_refused(facet_gate_check_policy(world, policy), "expected the factors {\"venue\":");
    FacetGateFlyer flyer = {.world = world, .policy = policy};
    FacetGateCrew crew = facet_gate_flyer_crew(&flyer);
    FacetGatePilot pilot;
    assert_refused(crew.make(&pilot, crew.context, 0), "expected the factors");
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_short_training_beats_chance, scratch_clean),
        cmocka_unit_test_teardown(a_round_cut_short_resumes, scratch_clean),
        cmocka_unit_test_teardown(rounds_are_flown_as_was_learned, scratch_clean),
        cmocka_unit_test_teardown(rounds_of_another_training_are_refused, scratch_clean),
        cmocka_unit_test_teardown(policies_of_another_world_do_not_fly, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
