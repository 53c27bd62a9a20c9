// A training shared out over ranks: it leaves the policy of one rank, and counts the ranks that no
// shard of an update is left for.
#include "policy/waves.h"
#include "scratch.h"

// Batches of one and two whole shards of four rows, and one row more.
enum { RANKS = 3, CASES = 3 };
static const int batches[CASES] = {4, 8, 9}, idle[CASES] = {2, 1, 0};

static void train(const char *name, int batch, int idle_ranks, FacetRanks *ranks)
{
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    char out[32];
    snprintf(out, sizeof out, "%s%d", name, batch);
    options.epochs = 1;
    options.batch = batch;
    options.ranks = ranks;
    assert_ok(facet_policy_train(&summary, "waves.h5", out, &options, NULL, NULL));
    assert_int_equal(summary.idle_ranks, idle_ranks);
}

static void ranks_leave_the_policy_of_one_rank(void **state)
{
    (void)state;
    char self[2048], command[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    write_waves("waves.h5", WAVE_TASKS, false);
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "mpirun --oversubscribe -n %d '%s' rank",
             RANKS, self);
    assert_int_equal(system(command), 0);
    for (int i = 0; i < CASES; i++) {
        char one[32], shared[32];
        train("one", batches[i], 0, NULL);
        snprintf(one, sizeof one, "one%d", batches[i]);
        snprintf(shared, sizeof shared, "shared%d", batches[i]);
        assert_same_files(one, shared);
    }
}

// One of the ranks that the test starts.
static int run_rank(void)
{
    FacetRanks *ranks;
    assert_ok(facet_ranks_join(&ranks));
    assert_int_equal(facet_ranks_count(ranks), RANKS);
    for (int i = 0; i < CASES; i++) train("shared", batches[i], idle[i], ranks);
    facet_ranks_leave(ranks);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_leave_the_policy_of_one_rank),
    };
    if (argc == 2 && strcmp(argv[1], "rank") == 0) return run_rank();
#ifndef FACET_MPI
    print_message("skipped: built without MPI\n");
    return 77;
#endif
    if (system("mpirun --version >/dev/null 2>&1") != 0) {
        print_message("skipped: no mpirun, which openmpi-bin brings\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
