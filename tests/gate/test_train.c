// Training to fly through gates: what little training already sees, stages and rounds of DAgger
// that resume, and what is refused.
#include "gates.h"

#include "data/samples.h"
#include "policy/squares.h"

// Two venues, two sides of one gate.
static const char *const task_names[] = {"Field/red/3/+1", "Field/red/3/-1", "industrial/red/3/+1",
                                         "industrial/red/3/-1"};
enum { TASKS = sizeof task_names / sizeof *task_names };

static void find_tasks(FactorTask tasks[TASKS], const GateWorld *world)
{
    for (int i = 0; i < TASKS; i++) tasks[i] = task_of(world, task_names[i]);
}

// The expert's frames, small as the encoder wants them.
static void write_demos(const GateWorld *world, int flights, ThreadPool *pool)
{
    FactorTask tasks[TASKS];
    find_tasks(tasks, world);
    GateCollection collection = gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = TASKS;
    collection.flights = flights;
    collection.seed = 1;
    assert_ok(gate_collect_file("demos.h5", world, &collection, NULL, pool, NULL));
}

// ---- What it sees -------------------------------------------------------------------------------

enum { EVERY = 4, LOOKS_MAX = 512 }; // frames of a fresh flight, one in so many

// First offsets on fresh flights: the truth and the policy's.
typedef struct Look {
    PolicyRunner *runner;
    ThreadPool *pool;
    int count;
    int task[LOOKS_MAX]; // value of the venue and of the side
    Vec3 truth[LOOKS_MAX], seen[LOOKS_MAX];
} Look;

static Status look(void *context, const GateFrames *frames)
{
    Look *l = context;
    size_t size = (size_t)frames->width * (size_t)frames->height * 3;
    for (int i = 0; i < frames->count && l->count < LOOKS_MAX; i += EVERY) {
        double offsets[GATE_HORIZON * GATE_DIM];
        const double *truth = frames->offsets + (size_t)i * GATE_HORIZON * GATE_DIM;
        uint64_t number = (uint64_t)l->count;
        const PolicySampling how = {.numbers = &number};
        TRY(policy_runner_sample(offsets, l->runner, &frames->task, frames->rgb + (size_t)i * size,
                                 1, &how, l->pool));
        l->task[l->count] = frames->flight % TASKS;
        l->truth[l->count] = vec3(truth[0], truth[1], truth[2]);
        l->seen[l->count++] = vec3(offsets[0], offsets[1], offsets[2]);
    }
    return status_ok();
}

// The mean error of the policy, and that of the answer that is best for each task without looking.
static void mean_errors(double *seen, double *blind, const Look *l)
{
    Vec3 mean[TASKS] = {{0}};
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

static TrainOptions short_training(void)
{
    TrainOptions options = square_training();
    options.blocks = 2;
    options.channels = 32;
    options.embed = 8;
    options.threads = 2;
    return options;
}

static void a_short_training_beats_chance(void **state)
{
    (void)state;
    GateWorld *world = shipped_world();
    ThreadPool *pool;
    assert_ok(pool_create(&pool, 2));
    write_demos(world, 4 * TASKS, pool);
    GateTraining training = {.train = short_training()};
    training.train.updates = 320;
    training.train.batch = 8;
    training.train.draws = 8;
    training.train.rate = 2e-3;
    training.train.jitter = -1.0;
    TrainSummary summary;
    assert_ok(gate_train(&summary, world, "demos.h5", "pilot", &training));
    assert_int_equal(summary.tasks, TASKS);

    Policy *policy;
    static Look l;
    FactorTask tasks[TASKS];
    assert_ok(policy_load(&policy, "pilot"));
    assert_ok(policy_runner_create(&l.runner, policy, 1, 2));
    find_tasks(tasks, world);
    GateCollection fresh = gate_collection_defaults();
    fresh.tasks = tasks;
    fresh.task_count = TASKS;
    fresh.flights = TASKS;
    fresh.seed = 77;
    fresh.shrink = 1;
    l.pool = pool;
    assert_ok(
        gate_collect(&(GateSink){.add = look, .context = &l}, world, &fresh, NULL, pool, NULL));
    double seen, blind;
    mean_errors(&seen, &blind, &l);
    print_message("%d frames: off by %.2f m, without looking by %.2f m\n", l.count, seen, blind);
    assert_true(l.count > 40);
    assert_less(seen, 0.9 * blind);
    policy_runner_destroy(l.runner);
    policy_destroy(policy);
    pool_destroy(pool);
    gate_world_destroy(world);
}

// ---- Rounds -------------------------------------------------------------------------------------

static GateTraining one_round(void)
{
    GateTraining training = {.train = short_training(), .rounds = 1, .flights = 2};
    training.train.updates = 6;
    return training;
}

static void a_round_cut_short_resumes(void **state)
{
    (void)state;
    GateWorld *world = shipped_world();
    ThreadPool *pool;
    TrainSummary straight, resumed;
    GateTraining training = one_round();
    assert_ok(pool_create(&pool, 2));
    write_demos(world, TASKS, pool);
    assert_ok(gate_train(&straight, world, "demos.h5", "straight", &training));
    assert_int_equal(straight.updates, 6);
    assert_int_equal(straight.resumed, 0);
    ImageSet *set;
    assert_ok(image_set_open(&set, (const char *const[]){"demos.h5"}, 1));
    assert_true(straight.demos > image_set_count(set)); // frames of the round joined
    image_set_close(set);
    assert_int_equal(access("straight.round1.h5", F_OK), -1);
    assert_int_equal(access("straight.ckpt", F_OK), -1);

    // Up to the round, as a run does that ends there.
    TrainOptions stage = training.train;
    stage.until = 3;
    const char *const demos[] = {"demos.h5"};
    assert_ok(policy_train_images(&resumed, demos, 1, "broken", &stage));
    assert_refused(gate_train(&resumed, world, "demos.h5", "broken", &training),
                   "broken.ckpt: there is an unfinished training");
    training.train.resume = true;
    training.train.threads = 1;
    assert_ok(gate_train(&resumed, world, "demos.h5", "broken", &training));
    assert_int_equal(resumed.resumed, 3);
    assert_int_equal(resumed.demos, straight.demos);
    assert_same_files("straight", "broken");
    assert_same_files("straight.csv", "broken.csv");
    assert_int_equal(access("broken.round1.h5", F_OK), -1);

    // Complete, it is left alone; a round's file that was left behind goes.
    write_demos(world, 1, pool);
    assert_int_equal(rename("demos.h5", "broken.round1.h5"), 0);
    write_demos(world, TASKS, pool);
    assert_ok(gate_train(&resumed, world, "demos.h5", "broken", &training));
    assert_int_equal(resumed.resumed, 6);
    assert_same_files("straight", "broken");
    assert_int_equal(access("broken.round1.h5", F_OK), -1);
    pool_destroy(pool);
    gate_world_destroy(world);
}

static void rounds_of_another_training_are_refused(void **state)
{
    (void)state;
    GateWorld *world = shipped_world();
    ThreadPool *pool;
    TrainSummary summary;
    GateTraining training = one_round();
    assert_ok(pool_create(&pool, 2));
    write_demos(world, TASKS, pool);
    write_bytes("pilot.round1.h5", "stale", 5);
    assert_refused(gate_train(&summary, world, "demos.h5", "pilot", &training),
                   "pilot.round1.h5: there is an unfinished training: --resume continues it");
    training.train.resume = true;
    assert_refused(gate_train(&summary, world, "demos.h5", "pilot", &training), "pilot.round1.h5");
    assert_int_equal(access("pilot", F_OK), -1);
    training.rounds = GATE_ROUNDS_MAX + 1;
    assert_refused(gate_train(&summary, world, "demos.h5", "pilot", &training),
                   "expected 0 to 8 rounds of DAgger, found 9");
    training.rounds = -1;
    assert_refused(gate_train(&summary, world, "demos.h5", "pilot", &training), "found -1");
    training.rounds = 0;
    assert_refused(gate_train(&summary, world, "missing.h5", "pilot", &training), "missing.h5");
    pool_destroy(pool);
    gate_world_destroy(world);
}

// ---- Pilots -------------------------------------------------------------------------------------

static void policies_of_another_world_do_not_fly(void **state)
{
    (void)state;
    GateWorld *world = shipped_world();
    TrainOptions blind = tiny_training(), squares = square_training();
    TrainSummary summary;
    Policy *policy;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(policy_train(&summary, "waves.h5", "blind", &blind));
    assert_ok(policy_load(&policy, "blind"));
    assert_refused(gate_check_policy(world, policy),
                   "expected a policy that sees, found one without an encoder");
    policy_destroy(policy);
    squares.updates = 1;
    write_squares("squares.h5", square_shape, 6, 0);
    assert_ok(
        policy_train_images(&summary, (const char *const[]){"squares.h5"}, 1, "squares", &squares));
    assert_ok(policy_load(&policy, "squares"));
    assert_refused(gate_check_policy(world, policy), "expected the factors {\"venue\":");
    GateFlyer flyer = {.world = world, .policy = policy};
    GateCrew crew = gate_flyer_crew(&flyer);
    GatePilot pilot;
    assert_refused(crew.make(&pilot, crew.context, 0), "expected the factors");
    policy_destroy(policy);
    gate_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_short_training_beats_chance, clean_folder),
        cmocka_unit_test_teardown(a_round_cut_short_resumes, clean_folder),
        cmocka_unit_test_teardown(rounds_of_another_training_are_refused, clean_folder),
        cmocka_unit_test_teardown(policies_of_another_world_do_not_fly, clean_folder),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
