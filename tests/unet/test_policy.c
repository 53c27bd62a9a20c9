// A U-Net trained on demonstrations: it goes on bit for bit, belongs to its training, learns what
// it is shown, and its plans are those of the sampler on a composed or a joint prediction.
#include "data/samples.h"
#include "nn/layers.h"
#include "policy/policies.h"
#include "pools.h"
#include "scratch.h"
#include "unet/pass.h"
#include "unet/policy.h"

#include <facet_study/train.h>

enum { T = 8, D = 2, SIZE = T * D, TASKS = 6, COPIES = 4 };

static double wave(FacetFactorTask task, int step, int column)
{
    return (column ? 20.0 : 3.0) * (sin(0.9 * step + 1.3 * task.value[0] + column) + task.value[1]);
}

static void write_demos(const char *path, double shift)
{
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(
        &space, "{\"track\":[\"a\",\"b\",\"c\"],\"size\":[\"s\",\"m\"]}", "waves"));
    const FacetDatasetLayout layout = {
        .space = space, .steps = T, .action_dim = D, .env_name = "waves", .env_type = 2};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, path, &layout));
    for (int i = 0; i < TASKS * COPIES; i++) {
        FacetFactorTask task = factor_task_at(space, i % TASKS);
        double actions[T][D];
        for (int t = 0; t < T; t++)
            for (int d = 0; d < D; d++) actions[t][d] = shift + wave(task, t, d);
        assert_ok(facet_dataset_writer_append(writer, task, actions[0], NULL));
    }
    assert_ok(facet_dataset_writer_close(writer));
    facet_factor_space_destroy(space);
}

static FacetTrainOptions settings(void)
{
    return (FacetTrainOptions){.updates = 30,
                               .batch = 8,
                               .blocks = 1,
                               .channels = 24,
                               .embed = 4,
                               .composed_weight = 3.0,
                               .seed = 5,
                               .command = "facet study",
                               .version = "0"};
}

// A host that says stop after some updates.
static bool stop_at(void *context, const FacetProgressEvent *event)
{
    return event->done != *(const long *)context;
}

static void make(const char *out, const FacetTrainOptions *options, FacetPool *pool)
{
    UnetPolicy *policy;
    assert_ok(unet_policy_train(&policy, "demos.h5", out, options, pool, NULL));
    unet_policy_free(policy);
}

// ---- Training -----------------------------------------------------------------------------------

static void a_training_that_was_stopped_goes_on_bit_for_bit(void **state)
{
    (void)state;
    UnetPolicy *policy;
    long stop = 12;
    const FacetProgress progress = {.report = stop_at, .context = &stop};
    const FacetTrainOptions options = settings();
    write_demos("demos.h5", 0.0);
    make("straight", &options, NULL);
    FacetStatus status =
        unet_policy_train(&policy, "demos.h5", "broken", &options, test_pool(2), &progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    assert_refused(status,
                   "interrupted at update 12 of 30: the same command goes on from broken.ckpt");
    assert_null(policy);
    assert_int_equal(access("broken", F_OK), -1);
    assert_int_equal(access("broken.ckpt", F_OK), 0);
    make("broken", &options, test_pool(2));
    assert_same_files("straight", "broken");
    assert_int_equal(access("broken.ckpt", F_OK), -1);
}

static void one_that_is_there_is_read(void **state)
{
    (void)state;
    UnetPolicy *first, *second;
    const FacetTrainOptions options = settings();
    write_demos("demos.h5", 0.0);
    assert_ok(unet_policy_train(&first, "demos.h5", "net", &options, NULL, NULL));
    assert_ok(unet_policy_train(&second, "demos.h5", "net", &options, NULL, NULL));
    assert_false(isnan(first->loss));
    assert_true(isnan(second->loss)); // it was not trained again
    assert_memory_equal(first->params, second->params, first->net->table.size * sizeof(float));
    unet_policy_free(first);
    unet_policy_free(second);
}

static void files_of_other_settings_are_refused(void **state)
{
    (void)state;
    UnetPolicy *policy;
    long stop = 4;
    const FacetProgress progress = {.report = stop_at, .context = &stop};
    FacetTrainOptions options = settings();
    write_demos("demos.h5", 0.0);
    write_demos("others.h5", 1.0);
    make("net", &options, NULL);
    assert_false(unet_policy_train(&policy, "demos.h5", "half", &options, NULL, &progress).ok);
    FacetTrainOptions other = options;
    other.updates = 31;
    assert_refused(unet_policy_train(&policy, "demos.h5", "net", &other, NULL, NULL),
                   "net: expected the total_updates of this run, 31, found 30");
    assert_refused(unet_policy_train(&policy, "demos.h5", "half", &other, NULL, NULL),
                   "half.ckpt: expected the total_updates of this run, 31, found 30");
    other = options;
    other.channels = 48;
    assert_refused(unet_policy_train(&policy, "demos.h5", "net", &other, NULL, NULL),
                   "expected the network of this run, horizon 8, cond 48");
    assert_refused(unet_policy_train(&policy, "others.h5", "net", &options, NULL, NULL),
                   "net: expected the ");
    options.composed_weight = 0.0;
    assert_refused(unet_policy_train(&policy, "demos.h5", "half", &options, NULL, NULL),
                   "half.ckpt: expected the ");
}

// ---- Plans --------------------------------------------------------------------------------------

// What is demonstrated comes out of both modes.
static void plans_of_learned_tasks_are_near(void **state)
{
    (void)state;
    static const FacetPolicyMode modes[2] = {FACET_POLICY_COMPOSED, FACET_POLICY_JOINT};
    UnetPolicy *policy;
    FacetFactorTask tasks[TASKS];
    uint64_t seeds[TASKS] = {1, 1, 1, 1, 1, 1};
    double plans[TASKS][T][D];
    FacetTrainOptions options = settings();
    options.updates = 500;
    options.channels = 96;
    options.rate = 3e-3;
    write_demos("demos.h5", 0.0);
    assert_ok(unet_policy_train(&policy, "demos.h5", "net", &options, test_pool(2), NULL));
    for (int i = 0; i < TASKS; i++) tasks[i] = factor_task_at(policy->training.policy->space, i);
    for (int m = 0; m < 2; m++) {
        double sum = 0.0;
        assert_ok(unet_policy_sample(plans[0][0], policy, tasks, seeds, TASKS, modes[m], 20,
                                     test_pool(2), NULL));
        for (int i = 0; i < TASKS * SIZE; i++) {
            int t = i / D % T, d = i % D;
            sum += fabs(plans[i / SIZE][t][d] - wave(tasks[i / SIZE], t, d)) / (d ? 20.0 : 3.0);
        }
        assert_less(sum / (TASKS * SIZE), 0.25); // of waves from -1 to 2
    }
    unet_policy_free(policy);
}

// The prediction of one branch from noise, by the network alone.
static void branch(float *out, const UnetPolicy *policy, const float *x, int t, int track, int size)
{
    UnetWork *work;
    const int z[2] = {track, size};
    const float time = (float)t;
    assert_ok(unet_work_create(&work, policy->net, 1, false));
    unet_forward(out, work, policy->params, x, &time, z, 1, NULL);
    unet_work_free(work);
}

// With one step the plan is the clean sample of the prediction: p_track + p_size - p_null.
static void a_step_composes_the_branches(void **state)
{
    (void)state;
    UnetPolicy *policy;
    const FacetTrainOptions options = settings();
    write_demos("demos.h5", 0.0);
    assert_ok(unet_policy_train(&policy, "demos.h5", "net", &options, NULL, NULL));
    const FacetPolicy *p = policy->training.policy;
    const FacetFactorTask task = task_of(p->space, "b/m");
    const uint64_t seed = 9;
    SamplerPlan *plan = calloc(1, sizeof *plan);
    assert_ok(sampler_plan(
        plan, &p->schedule,
        (SamplerConfig){
            .steps = 1, .spacing = p->spacing, .prediction = p->prediction, .clip = p->clip}));
    float x[SIZE], null[SIZE], track[SIZE], size[SIZE], joint[SIZE];
    double composed_plan[SIZE], joint_plan[SIZE], expected[2][SIZE];
    policy_noise(x, p, &(FacetPolicySampling){.seed = seed},
                 policy_noise_number(p, &task, NULL, 0));
    int t = plan->step[0].t;
    branch(null, policy, x, t, EMBEDDING_NULL, EMBEDDING_NULL);
    branch(track, policy, x, t, 1, EMBEDDING_NULL);
    branch(size, policy, x, t, EMBEDDING_NULL, 1);
    branch(joint, policy, x, t, 1, 1);
    for (int i = 0; i < SIZE; i++) {
        double sum[2] = {(double)track[i] + (double)size[i] - (double)null[i], (double)joint[i]};
        for (int m = 0; m < 2; m++)
            expected[m][i] = fmin(
                fmax(plan->step[0].clean.first * (double)x[i] + plan->step[0].clean.second * sum[m],
                     -p->clip),
                p->clip);
    }
    for (int m = 0; m < 2; m++) normalizer_invert(expected[m], p->normalizer, expected[m], T);
    assert_ok(unet_policy_sample(composed_plan, policy, &task, &seed, 1, FACET_POLICY_COMPOSED, 1,
                                 NULL, NULL));
    assert_ok(
        unet_policy_sample(joint_plan, policy, &task, &seed, 1, FACET_POLICY_JOINT, 1, NULL, NULL));
    double apart = 0.0;
    for (int i = 0; i < SIZE; i++) {
        assert_near(composed_plan[i], expected[0][i], 1e-4);
        assert_near(joint_plan[i], expected[1][i], 1e-4);
        apart = fmax(apart, fabs(composed_plan[i] - joint_plan[i]));
    }
    assert_less(1e-3, apart);
    free(plan);
    unet_policy_free(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_training_that_was_stopped_goes_on_bit_for_bit, scratch_clean),
        cmocka_unit_test_teardown(one_that_is_there_is_read, scratch_clean),
        cmocka_unit_test_teardown(files_of_other_settings_are_refused, scratch_clean),
        cmocka_unit_test_teardown(plans_of_learned_tasks_are_near, scratch_clean),
        cmocka_unit_test_teardown(a_step_composes_the_branches, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
