// A training shared out over ranks: it leaves the policy of one rank, and counts the ranks that no
// shard of an update is left for.
#include "policy/waves.h"
#include "scratch.h"
#include "team.h"

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
    write_waves("waves.h5", WAVE_TASKS, false);
    run_on_ranks(RANKS);
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
    if (is_rank(argc, argv)) return run_rank();
    if (no_ranks()) return skip_without_ranks();
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
