// Flights that ranks share out leave the frames of one process, in the same file.
#include "base/file.h"
#include "factor/factor.h"
#include "gates.h"
#include "pools.h"
#include "scratch.h"

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

// Ranks that wait for each other for ever are ended.
static void run_on_two_ranks(void)
{
    char self[2048], command[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "mpirun --oversubscribe --timeout 20 -n 2 '%s' rank",
             self);
    assert_int_equal(system(command), 0);
}

static void ranks_leave_the_frames_of_one_process(void **state)
{
    (void)state;
    char *one, *shared;
    size_t size, shared_size;
    collect("one.h5", NULL);
    run_on_two_ranks();
    assert_ok(file_read(&one, &size, "one.h5"));
    assert_ok(file_read(&shared, &shared_size, "shared.h5"));
    assert_int_equal(size, shared_size);
    assert_memory_equal(one, shared, size);
    free(one);
    free(shared);
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
