// A study of certificates shared out over ranks has the records of one rank, in the same file.
#include "base/file.h"
#include "certify/study.h"
#include "policy/waves.h"
#include "pools.h"
#include "team.h"

#include <facet_study/train.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FacetRace *race;
static FacetPolicy *policy;

static void open_race(void)
{
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    assert_ok(facet_race_open(&race, &options, test_pool(1), NULL));
}

// The gates of the first seed's plan take long; more seeds are plans alone.
static void run_study(const char *state, int seeds, FacetRanks *ranks)
{
    FacetCourseTask tasks[4];
    CertifyStudy study;
    assert_int_equal(facet_race_feasible_tasks(tasks, race), 4);
    const CertifyOptions options = {.tasks = tasks,
                                    .task_count = 1,
                                    .steps = 4,
                                    .seed = 7,
                                    .seeds = seeds,
                                    .gust_flights = 1,
                                    .slowest = 1.0,
                                    .state = state,
                                    .study = "test",
                                    .ranks = ranks};
    assert_ok(certify_study(&study, race, policy, &options, NULL));
    assert_int_equal(study.count, seeds);
    certify_study_free(&study);
}

static int open_study(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    demos.rollouts = 2;
    training.epochs = 1;
    open_race();
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    return 0;
}

static int close_study(void **state)
{
    facet_policy_destroy(policy);
    facet_race_close(race);
    return scratch_leave(state);
}

static void ranks_leave_the_records_of_one_rank(void **state)
{
    (void)state;
    char *one;
    size_t size;
    run_study("one.state", 1, NULL);
    assert_ok(file_read(&one, &size, "one.state"));
    assert_ok(file_write("shared.state", one, size));
    free(one);
    run_study("one.state", 4, NULL);
    run_on_ranks(2);
    assert_same_files("one.state", "shared.state");
}

// One of the ranks that the test starts.
static int run_rank(void)
{
    FacetRanks *ranks;
    assert_ok(facet_ranks_join(&ranks));
    assert_int_equal(facet_ranks_count(ranks), 2);
    open_race();
    assert_ok(facet_policy_load(&policy, "policy"));
    run_study("shared.state", 4, ranks);
    facet_policy_destroy(policy);
    facet_race_close(race);
    facet_ranks_leave(ranks);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_leave_the_records_of_one_rank),
    };
    if (is_rank(argc, argv)) return run_rank();
    if (no_ranks()) return skip_without_ranks();
    return cmocka_run_group_tests(tests, open_study, close_study);
}
