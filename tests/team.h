// Tests that start themselves on ranks, each of which is called with the one argument "rank".
#ifndef FACET_TEST_TEAM_H
#define FACET_TEST_TEAM_H

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline bool is_rank(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "rank") == 0;
}

// Why there can be no ranks here; NULL when there can.
static inline const char *no_ranks(void)
{
#ifndef FACET_MPI
    return "built without MPI";
#else
    return system("mpirun --version >/dev/null 2>&1") == 0 ? NULL
                                                           : "no mpirun, which openmpi-bin brings";
#endif
}

// A test's exit code where there can be none: ctest calls it skipped.
static inline int skip_without_ranks(void)
{
    print_message("skipped: %s\n", no_ranks());
    return 77;
}

// Ranks that wait for each other for ever are ended.
static inline void run_on_ranks(int ranks)
{
    char self[2048], command[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(length > 0);
    self[length] = '\0';
    snprintf(command, sizeof command,
             "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
             "mpirun --oversubscribe --timeout 60 -n %d '%s' rank",
             ranks, self);
    assert_int_equal(system(command), 0);
}

#endif
