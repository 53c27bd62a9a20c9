// Where one denoising step must fail: a task whose demonstrations go left or right of an obstacle.
//
// A way is open or blocked. One step gives the mean of the plans that are right: of an open way
// that is the plan, of a blocked one the obstacle between the two. Many steps choose a side.
#include "base/rng.h"
#include "data/samples.h"
#include "policy/policy.h"
#include "pools.h"

#include <facet_study/train.h>

enum { STEPS = 8, DIM = 2, COPIES = 24, PLANS = 60, OPEN = 0, BLOCKED = 1 };

// A way to a near or a far goal, passing `side` metres from its middle.
static double way_at(FacetFactorTask task, double side, int step, int column)
{
    double s = (double)step / (STEPS - 1);
    return column ? side * 4.0 * s * (1.0 - s) : (task.value[0] ? 8.0 : 4.0) * s;
}

// Copies of each task, the blocked ones on alternate sides.
static void write_ways(const char *path)
{
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(
        &space, "{\"goal\":[\"near\",\"far\"],\"way\":[\"open\",\"blocked\"]}", "ways"));
    const FacetDatasetLayout layout = {
        .space = space, .steps = STEPS, .action_dim = DIM, .env_name = "ways", .env_type = 2};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, path, &layout));
    FacetRng rng = rng_make(1, 1);
    for (int i = 0; i < 4 * COPIES; i++) {
        FacetFactorTask task = factor_task_at(space, i % 4);
        double side = task.value[1] == OPEN ? 0.0 : i / 4 % 2 ? 1.0 : -1.0;
        double shift = 0.02 * rng_normal(&rng), actions[STEPS][DIM];
        for (int t = 0; t < STEPS; t++)
            for (int d = 0; d < DIM; d++) actions[t][d] = way_at(task, side, t, d) + shift;
        assert_ok(facet_dataset_writer_append(writer, task, actions[0], NULL));
    }
    assert_ok(facet_dataset_writer_close(writer));
    facet_factor_space_destroy(space);
}

static FacetPolicy *policy;

static int train_ways(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    write_ways("ways.h5");
    const FacetTrainOptions options = {.composed_weight = 3.0,
                                       .epochs = 600,
                                       .batch = 16,
                                       .blocks = 2,
                                       .channels = 32,
                                       .embed = 8,
                                       .seed = 1,
                                       .command = "facet train",
                                       .version = "0"};
    FacetTrainSummary summary;
    assert_ok(facet_policy_train(&summary, "ways.h5", "policy", &options, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    return 0;
}

static int forget_ways(void **state)
{
    facet_policy_destroy(policy);
    return scratch_leave(state);
}

// Where the plans of a task pass the middle of their way: nearer to the middle of the field than to
// either side that was shown, or close to one of them.
typedef struct Sides {
    int middle, left, right;
} Sides;

static Sides sample_sides(FacetFactorTask task, int steps, FacetPolicyMode mode)
{
    FacetFactorTask tasks[PLANS];
    static double actions[PLANS][STEPS][DIM];
    Sides sides = {0};
    for (int i = 0; i < PLANS; i++) tasks[i] = task;
    const FacetPolicySampling how = {.mode = mode, .steps = steps, .seed = 1};
    assert_ok(facet_policy_sample(actions[0][0], policy, tasks, PLANS, &how, NULL));
    double shown = way_at(task, 1.0, STEPS / 2, 1);
    for (int i = 0; i < PLANS; i++) {
        double aside = actions[i][STEPS / 2][1];
        sides.middle += fabs(aside) < 0.5 * shown;
        sides.left += fabs(aside - shown) < 0.25;
        sides.right += fabs(aside + shown) < 0.25;
    }
    return sides;
}

// Calls `check` with the sides of both goals, composed and joint.
static void check_sides(void (*check)(Sides sides), int way, int steps)
{
    for (int goal = 0; goal < 2; goal++) {
        FacetFactorTask task = facet_factor_task_null();
        task.value[0] = goal, task.value[1] = way;
        check(sample_sides(task, steps, FACET_POLICY_COMPOSED));
        check(sample_sides(task, steps, FACET_POLICY_JOINT));
    }
}

static void check_middle(Sides sides)
{
    assert_less(0.9 * PLANS, sides.middle);
    assert_int_equal(sides.left + sides.right, 0);
}

static void check_both_sides(Sides sides)
{
    assert_less(0.9 * PLANS, sides.left + sides.right);
    assert_less(0.2 * PLANS, sides.left);
    assert_less(0.2 * PLANS, sides.right);
}

static void one_step_flies_into_the_obstacle(void **state)
{
    (void)state;
    check_sides(check_middle, BLOCKED, 1);
}

static void fifty_steps_choose_a_side(void **state)
{
    (void)state;
    check_sides(check_both_sides, BLOCKED, 50);
}

static void one_step_is_enough_for_one_plan(void **state)
{
    (void)state;
    check_sides(check_middle, OPEN, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_flies_into_the_obstacle),
        cmocka_unit_test(fifty_steps_choose_a_side),
        cmocka_unit_test(one_step_is_enough_for_one_plan),
    };
    return cmocka_run_group_tests(tests, train_ways, forget_ways);
}
