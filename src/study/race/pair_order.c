// Orders of pairs (see race/pair_order.h).
#include "race/pair_order.h"

#include "base/rng.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define PAIR_STREAM (UINT64_C(14) << 56) // + the number of the order

// Bits of the tracks and sizes of some tasks, one after the other.
static void mark_values(bool *seen, const FacetRace *race, const FacetCourseTask *tasks, int count)
{
    int tracks = race->course->track_count;
    memset(seen, 0, (size_t)(tracks + race->course->opening_count) * sizeof *seen);
    for (int i = 0; i < count; i++) {
        seen[tasks[i].track] = true;
        seen[tracks + tasks[i].opening] = true;
    }
}

static void shuffle(FacetCourseTask *tasks, int count, FacetRng *rng)
{
    for (int i = count - 1; i > 0; i--) {
        int k = (int)(rng_uniform(rng) * (i + 1));
        FacetCourseTask kept = tasks[i];
        tasks[i] = tasks[k];
        tasks[k] = kept;
    }
}

FacetStatus pair_order(FacetCourseTask *tasks, int *count, const FacetRace *race, uint64_t seed,
                       int least)
{
    enum { ORDERS = 1000000 };
    size_t values = (size_t)race->course->track_count + (size_t)race->course->opening_count;
    bool *all = calloc(2 * values, sizeof *all);
    if (!all) return status_fail(FACET_NO_MEMORY, "out of memory for an order of pairs");
    bool *seen = all + values, found = false;
    *count = facet_race_feasible_tasks(tasks, race);
    mark_values(all, race, tasks, *count);
    for (uint64_t number = 0; least <= *count && number < ORDERS && !found; number++) {
        FacetRng rng = rng_make(seed, PAIR_STREAM + number);
        facet_race_feasible_tasks(tasks, race);
        shuffle(tasks, *count, &rng);
        mark_values(seen, race, tasks, least);
        found = memcmp(seen, all, values * sizeof *all) == 0;
    }
    free(all);
    return found ? status_ok()
                 : status_fail(FACET_BAD_ARGUMENT,
                               "expected %d of the %d pairs to show every track and size, found no "
                               "such choice",
                               least, *count);
}
