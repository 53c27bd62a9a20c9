// Many flights in one setup (see flight/many.h).
#include "flight/many.h"

#include "base/pool.h"
#include "base/status.h"
#include "math/lanes.h"

#include <stdlib.h>

// What one worker makes its flights in.
typedef struct Bench {
    FacetReference references[BATCH_LANES];
    FacetFlightPlan plans[BATCH_LANES];
    FacetFlight flights[BATCH_LANES];
} Bench;

typedef struct ManyWork {
    FacetFlight *flights;
    int count;
    const FacetFlightSetup *setup;
    FacetQuadState start;
    ManyMake make;
    const void *context;
    Bench *benches; // one a worker
} ManyWork;

// Makes and flies the flights of one block; those that nothing can fly are left out of the batch.
static void fly_block(void *context, int block, int worker)
{
    const ManyWork *work = context;
    const FacetFlightSetup *setup = work->setup;
    Bench *bench = &work->benches[worker];
    int index[BATCH_LANES], made = 0, from = block * BATCH_LANES;
    for (int i = from; i < work->count && i < from + BATCH_LANES; i++) {
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        FacetFlightPlan plan = {.track = setup->track,
                                .half_width = setup->half_width,
                                .give_up = setup->give_up,
                                .gusts = setup->gusts,
                                .reference = &bench->references[made],
                                .start = work->start};
        work->make(chunk, &plan.start, &plan.gusts, work->context, i);
        work->flights[i] = (FacetFlight){.end = FACET_FLIGHT_CRASHED,
                                         .crash = FACET_CRASH_NONFINITE,
                                         .gate_count = setup->track->gate_count};
        if (!facet_reference_from_chunk(&bench->references[made], chunk).ok) continue;
        bench->plans[made] = plan;
        index[made++] = i;
    }
    facet_flight_fly_batch(bench->flights, setup->model, setup->preset, setup->arena, bench->plans,
                           made);
    for (int i = 0; i < made; i++) work->flights[index[i]] = bench->flights[i];
}

FacetStatus many_fly(FacetFlight *flights, int count, const FacetFlightSetup *setup,
                     FacetQuadState start, ManyMake make, const void *context, FacetPool *pool)
{
    ManyWork work = {flights, count, setup, start, make, context, NULL};
    work.benches = calloc((size_t)facet_pool_threads(pool), sizeof *work.benches);
    if (!work.benches) return status_fail(FACET_NO_MEMORY, "out of memory for %d flights", count);
    pool_for(pool, (count + BATCH_LANES - 1) / BATCH_LANES, fly_block, &work);
    free(work.benches);
    return status_ok();
}
