// Flights that ranks share out leave the frames of one process, in the same file.
#include "data/samples.h"
#include "factor/factor.h"
#include "gates.h"
#include "pools.h"
#include "scratch.h"
#include "team.h"

#include <facet_study/ranks.h>

enum { FLIGHTS = 5, TASKS = 3 }; // the last rank has fewer flights than the first

static void collect(const char *path, FacetRanks *ranks)
{
    FacetGateWorld *world = shipped_world();
    FacetFactorTask tasks[TASKS];
    FacetGateCollection collection = facet_gate_collection_defaults();
    world->camera.width = 32, world->camera.height = 24;
    world->time_out = 0.5;
    for (int i = 0; i < TASKS; i++) tasks[i] = factor_task_at(world->space, 17 * i);
    collection.tasks = tasks;
    collection.task_count = TASKS;
    collection.flights = FLIGHTS;
    collection.ranks = ranks;
    assert_ok(facet_gate_collect_file(path, world, &collection, NULL, test_pool(1), NULL));
    facet_gate_world_destroy(world);
}

static void ranks_leave_the_frames_of_one_process(void **state)
{
    (void)state;
    collect("one.h5", NULL);
    run_on_ranks(2);
    assert_same_files("one.h5", "shared.h5");
}

// One of the ranks that the test starts.
static int run_rank(void)
{
    FacetRanks *ranks;
    assert_ok(facet_ranks_join(&ranks));
    assert_int_equal(facet_ranks_count(ranks), 2);
    collect("shared.h5", ranks);
    facet_ranks_leave(ranks);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_leave_the_frames_of_one_process),
    };
    if (is_rank(argc, argv)) return run_rank();
    if (no_ranks()) return skip_without_ranks();
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
