// A new value of a factor for a trained policy: all else stays, the value is learned, and what
// cannot be learned is refused.
#include "policy/parts.h"
#include "policy/policies.h"
#include "policy/waves.h"
#include "pools.h"
#include "scratch.h"

// Waves of size "l", a little beyond "m", of one track, and some of size "s". The
// factors stand in another order than in the policy's file.
static void write_new_size(const char *path, const char *track, int dim)
{
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(
        &space, "{\"size\":[\"l\",\"s\"],\"track\":[\"c\",\"b\",\"a\",\"z\"]}", "new"));
    const FacetDatasetLayout layout = {
        .space = space, .steps = WAVE_T, .action_dim = dim, .env_name = "waves", .env_type = 2};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, path, &layout));
    for (int i = 0; i < 6; i++) {
        FacetFactorTask task = facet_factor_task_null();
        double actions[WAVE_T][3] = {{0.0}};
        task.value[0] = i >= 4;
        assert_ok(facet_factor_find_value(&task.value[1], space, 1, track));
        double *at = actions[0];
        for (int t = 0; t < WAVE_T; t++)
            for (int d = 0; d < dim; d++)
                *at++ = (d ? 20.0 : 3.0) * (sin(0.9 * t + d) + 1.2) + 0.01 * i; // track a
        assert_ok(facet_dataset_writer_append(writer, task, actions[0], NULL));
    }
    assert_ok(facet_dataset_writer_close(writer));
    facet_factor_space_destroy(space);
}

static FacetTrainOptions new_size(void)
{
    return (FacetTrainOptions){.from = "base",
                               .new_value = "size=l",
                               .updates = 80,
                               .rate = 0.1,
                               .batch = 4,
                               .seed = 3,
                               .command = "facet train --from base",
                               .version = "0"};
}

// A policy of waves that learned with these probabilities of a null factor.
static void make_dropping(const char *path, const char *drop)
{
    FacetTrainSummary summary;
    FacetTrainOptions options = tiny_training();
    options.drop = drop;
    assert_ok(facet_policy_train(&summary, "waves.h5", path, &options, NULL, NULL));
}

// The row of the new size after learning it from `data` for a policy at a rate.
static void learn_row(float row[4], const char *from, const char *data, double rate)
{
    FacetTrainSummary summary;
    FacetPolicy *grown;
    FacetTrainOptions options = new_size();
    options.from = from;
    options.rate = rate;
    assert_ok(facet_policy_train_value(&summary, data, "grown", &options, NULL, NULL));
    assert_ok(facet_policy_load(&grown, "grown"));
    assert_int_equal(grown->net->config.embed, 4);
    memcpy(row, grown->params[0] + grown->net->embed[1] + (size_t)2 * 4, 4 * sizeof *row);
    facet_policy_destroy(grown);
}

static void make_base(void)
{
    FacetTrainSummary summary;
    FacetTrainOptions options = tiny_training();
    options.composed_weight = 1.0;
    options.epochs = 60;
    options.rate = 5e-3;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(facet_policy_train(&summary, "waves.h5", "base", &options, test_pool(2), NULL));
    write_new_size("new.h5", "a", WAVE_D);
}

static void only_the_new_row_is_learned(void **state)
{
    (void)state;
    FacetTrainSummary summary, guess;
    FacetPolicy *base, *grown;
    make_base();
    FacetTrainOptions options = new_size();
    assert_ok(facet_policy_train_value(&summary, "new.h5", "grown", &options, test_pool(2), NULL));
    assert_int_equal(summary.demos, 4);
    assert_int_equal(summary.tasks, 1);
    assert_int_equal(summary.parameters, 4);
    assert_non_null(strstr(summary.remarks, "2 demonstrations"));
    options.rate = 1e-12;
    assert_ok(facet_policy_train_value(&guess, "new.h5", "guess", &options, NULL, NULL));
    assert_less(summary.loss, 0.9 * guess.loss);
    assert_ok(facet_policy_load(&base, "base"));
    assert_ok(facet_policy_load(&grown, "grown"));
    const ScoreNet *a = base->net, *b = grown->net;
    size_t row = 4;
    assert_int_equal(facet_factor_value_count(grown->space, 1), 3);
    assert_memory_equal(base->params[0] + a->embed[0], grown->params[0] + b->embed[0],
                        4 * row * sizeof(float)); // the tracks
    assert_memory_equal(base->params[0] + a->embed[1], grown->params[0] + b->embed[1],
                        2 * row * sizeof(float)); // s, m
    assert_memory_equal(base->params[0] + a->embed[1] + 2 * row,
                        grown->params[0] + b->embed[1] + 3 * row, row * sizeof(float)); // null
    for (int i = 2; i < a->table.count; i++)
        assert_memory_equal(base->params[0] + a->table.tensors[i].offset,
                            grown->params[0] + b->table.tensors[i].offset,
                            a->table.tensors[i].size * sizeof(float));
    facet_policy_destroy(base);
    facet_policy_destroy(grown);
}

static void the_policy_knows_it_and_keeps_its_plans(void **state)
{
    (void)state;
    FacetTrainSummary summary;
    FacetPolicy *base, *grown;
    const FacetPolicySampling how = {.steps = 10, .numbers = (uint64_t[]){4}};
    double before[WAVE_T * WAVE_D], after[WAVE_T * WAVE_D];
    make_base();
    FacetTrainOptions options = new_size();
    assert_ok(facet_policy_train_value(&summary, "new.h5", "grown", &options, NULL, NULL));
    assert_ok(facet_policy_load(&base, "base"));
    assert_ok(facet_policy_load(&grown, "grown"));
    FacetFactorTask task = task_of(base->space, "b/m");
    assert_ok(facet_policy_sample(before, base, &task, 1, &how, NULL));
    assert_ok(facet_policy_sample(after, grown, &task, 1, &how, NULL));
    assert_memory_equal(before, after, sizeof before);
    task = task_of(grown->space, "c/l"); // a pair that nobody showed
    assert_ok(facet_policy_sample(after, grown, &task, 1, &how, NULL));
    assert_true(facet_factor_split_contains(grown->training, task_of(grown->space, "a/l")));
    assert_false(facet_factor_split_contains(grown->training, task));
    assert_string_equal(grown->record.grown, "size=l of new.h5 to base");
    assert_string_equal(grown->record.data, "waves.h5");
    facet_policy_destroy(base);
    facet_policy_destroy(grown);
}

// Though the policy was never shown a size, each row shows the new one: else nothing would teach
// it.
static void the_new_value_is_always_shown(void **state)
{
    (void)state;
    float guess[4], row[4], most = 0.0F;
    write_waves("waves.h5", WAVE_TASKS, false);
    write_new_size("new.h5", "a", WAVE_D);
    make_dropping("base", "track=0,size=1");
    learn_row(guess, "base", "new.h5", 1e-12);
    learn_row(row, "base", "new.h5", 0.1);
    for (int i = 0; i < 4; i++) most = fmaxf(most, fabsf(row[i] - guess[i]));
    assert_less(0.01, (double)most);
}

// A policy that was never shown a track is shown none with the new size either, so that demos whose
// tracks alone differ teach the same. One that was always shown them tells them apart.
static void other_factors_are_dropped_as_the_policy_learned(void **state)
{
    (void)state;
    float of_a[4], of_b[4];
    write_waves("waves.h5", WAVE_TASKS, false);
    write_new_size("new-a.h5", "a", WAVE_D);
    write_new_size("new-b.h5", "b", WAVE_D);
    make_dropping("never", "track=1,size=0");
    learn_row(of_a, "never", "new-a.h5", 0.1);
    learn_row(of_b, "never", "new-b.h5", 0.1);
    assert_memory_equal(of_a, of_b, sizeof of_a);
    make_dropping("always", "track=0,size=0");
    learn_row(of_a, "always", "new-a.h5", 0.1);
    learn_row(of_b, "always", "new-b.h5", 0.1);
    assert_memory_not_equal(of_a, of_b, sizeof of_a);
}

static void threads_change_no_byte(void **state)
{
    (void)state;
    FacetTrainSummary summary;
    make_base();
    FacetTrainOptions options = new_size();
    assert_ok(facet_policy_train_value(&summary, "new.h5", "one", &options, NULL, NULL));
    assert_ok(facet_policy_train_value(&summary, "new.h5", "two", &options, test_pool(2), NULL));
    assert_same_files("one", "two");
}

static void assert_not_learned(FacetTrainOptions options, const char *data, const char *words)
{
    FacetTrainSummary summary;
    assert_refused(facet_policy_train_value(&summary, data, "none", &options, NULL, NULL), words);
    assert_int_not_equal(access("none", F_OK), 0);
}

static void what_cannot_be_learned_is_refused(void **state)
{
    (void)state;
    make_base();
    FacetTrainOptions options = new_size();
    options.new_value = "size=m";
    assert_not_learned(options, "new.h5",
                       "expected one that the policy does not have, found size 'm'");
    options.new_value = "sizes=l";
    assert_not_learned(options, "new.h5", "no factor 'sizes', did you mean 'size'?");
    options.new_value = "l";
    assert_not_learned(options, "new.h5", "expected FACTOR=VALUE, found 'l'");
    options.new_value = "size=xl";
    assert_not_learned(options, "new.h5",
                       "new.h5: expected demonstrations of size 'xl', found none");
    options = new_size();
    options.hold_out = (const char *const[]){"a/l"};
    options.hold_out_count = 1;
    assert_not_learned(options, "new.h5", "expected demonstrations of size 'l', found none");
    options = new_size();
    options.blocks = 2;
    assert_not_learned(options, "new.h5", "learned by the policy as it is");
    options = new_size();
    options.from = NULL;
    assert_not_learned(options, "new.h5", "found no policy");
    write_new_size("wide.h5", "a", 3);
    assert_not_learned(new_size(), "wide.h5", "wide.h5: expected actions of 2 numbers, found 3");
    write_new_size("other.h5", "z", WAVE_D);
    assert_not_learned(new_size(), "other.h5", "no track 'z'");
    FacetTrainSummary summary;
    FacetTrainOptions blind = tiny_training();
    blind.method = FACET_POLICY_BASELINE;
    assert_ok(facet_policy_train(&summary, "waves.h5", "blind", &blind, NULL, NULL));
    options = new_size();
    options.from = "blind";
    assert_not_learned(options, "new.h5",
                       "blind: expected a policy that is shown factors, found the method baseline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(only_the_new_row_is_learned, scratch_clean),
        cmocka_unit_test_teardown(the_policy_knows_it_and_keeps_its_plans, scratch_clean),
        cmocka_unit_test_teardown(the_new_value_is_always_shown, scratch_clean),
        cmocka_unit_test_teardown(other_factors_are_dropped_as_the_policy_learned, scratch_clean),
        cmocka_unit_test_teardown(threads_change_no_byte, scratch_clean),
        cmocka_unit_test_teardown(what_cannot_be_learned_is_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
