// No two flights of the study start alike, whatever they are for: what a policy is judged by was
// drawn neither for its training nor for a choice before it.
#include "factor/factor.h"
#include "gate/streams.h"
#include "gates.h"

#include <stdlib.h>

enum { SPAWNS_MAX = 4096 };

// How far from its gate each flight started, m. Two flights whose starts are drawn from the same
// numbers have the same distance, even in other venues and at other gates.
typedef struct Spawns {
    const FacetGateWorld *world;
    int count;
    double distance[SPAWNS_MAX];
} Spawns;

// A world in which a flight costs next to nothing.
static FacetGateWorld *quick_world(void)
{
    FacetGateWorld *world = shipped_world();
    world->camera.width = world->camera.height = 8;
    world->time_out = 0.05;
    return world;
}

static void keep(Spawns *spawns, double distance)
{
    assert_true(spawns->count < SPAWNS_MAX);
    spawns->distance[spawns->count++] = distance;
}

// A label's first offset is the gate as seen from the start.
static FacetStatus keep_frames(void *context, const FacetGateFrames *frames)
{
    const double *o = frames->offsets;
    keep(context, sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2]));
    return status_ok();
}

static FacetStatus keep_view(void *context, const FacetGateView *view, const double *offsets,
                             FacetVec3 estimate)
{
    (void)offsets, (void)estimate;
    Spawns *spawns = context;
    FacetCourseGate gate = facet_gate_target(spawns->world, view->trial->task);
    if (view->frame == 0) keep(spawns, vec3_distance(gate.center, view->trial->start.pos_world));
    return status_ok();
}

static int all_tasks(FacetFactorTask *tasks, const FacetGateWorld *world)
{
    int count = (int)factor_task_count(world->space);
    for (int i = 0; i < count; i++) tasks[i] = factor_task_at(world->space, i);
    return count;
}

static void collect(Spawns *spawns, const FacetFactorTask *tasks, int count, int flights,
                    uint64_t seed)
{
    const FacetGateSink sink = {.add = keep_frames, .context = spawns};
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = count;
    collection.flights = flights;
    collection.seed = seed;
    assert_ok(facet_gate_collect(&sink, spawns->world, &collection, NULL, NULL, NULL));
}

static void evaluate(Spawns *spawns, const FacetFactorTask *tasks, int count, int trials,
                     FacetGatePurpose purpose, uint64_t seed)
{
    FacetGateCrew crew = facet_gate_expert_crew(spawns->world);
    FacetGateFlight *flights = calloc((size_t)trials, sizeof *flights);
    FacetGateWatch *watches = calloc((size_t)trials, sizeof *watches);
    assert_true(flights && watches);
    for (int i = 0; i < trials; i++)
        watches[i] = (FacetGateWatch){.frame = keep_view, .context = spawns};
    assert_ok(facet_gate_evaluate(flights, spawns->world, &crew, tasks, count, trials, purpose,
                                  seed, watches, NULL, NULL));
    free(flights);
    free(watches);
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int count_twice(Spawns *spawns)
{
    int twice = 0;
    qsort(spawns->distance, (size_t)spawns->count, sizeof *spawns->distance, rising);
    for (int i = 1; i < spawns->count; i++)
        twice += spawns->distance[i] - spawns->distance[i - 1] < 1e-9;
    return twice;
}

// The numbers of the study: 600 flights of the expert and two rounds of DAgger for each of two
// training seeds, 300 trials of a table, as many for choices, those of `facet gate` and a
// certificate's, the last four with one seed.
static void no_spawn_is_drawn_twice(void **unused)
{
    (void)unused;
    FacetGateWorld *world = quick_world();
    FacetFactorTask tasks[FACET_GATE_FACTORS * 64];
    int count = all_tasks(tasks, world);
    Spawns *spawns = calloc(1, sizeof *spawns);
    assert_non_null(spawns);
    spawns->world = world;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        collect(spawns, tasks, count, 600, seed);
        for (int round = 1; round <= 2; round++)
            collect(spawns, tasks, count, 100, gate_round_seed(seed, round));
    }
    for (int p = FACET_GATE_FOR_VALIDATION; p < FACET_GATE_PURPOSES; p++)
        evaluate(spawns, tasks, count, 300, (FacetGatePurpose)p, 1);
    assert_int_equal(spawns->count, 2 * 800 + 4 * 300);
    assert_int_equal(count_twice(spawns), 0);
    free(spawns);
    facet_gate_world_destroy(world);
}

// Trials of the purpose of training would be those of its flights: the comparison can tell.
static void the_same_purpose_would_repeat_spawns(void **unused)
{
    (void)unused;
    FacetGateWorld *world = quick_world();
    FacetFactorTask tasks[FACET_GATE_FACTORS * 64];
    int count = all_tasks(tasks, world);
    Spawns *spawns = calloc(1, sizeof *spawns);
    assert_non_null(spawns);
    spawns->world = world;
    collect(spawns, tasks, count, 60, 1);
    evaluate(spawns, tasks + 60, count - 60, 60, FACET_GATE_FOR_TRAINING, 1);
    assert_true(count_twice(spawns) > 30);
    free(spawns);
    facet_gate_world_destroy(world);
}

// Streams of trials stay below those of training and sampling (diffusion/streams.h).
static void numbers_leave_room_for_other_streams(void **unused)
{
    (void)unused;
    uint64_t most = facet_gate_number(FACET_GATE_PURPOSES - 1, (UINT64_C(1) << 40) - 1);
    assert_true(gate_stream(most, GATE_STREAMS - 1) < UINT64_C(1) << 60);
    assert_true(facet_gate_number(FACET_GATE_FOR_TRAINING, 7) == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_spawn_is_drawn_twice),
        cmocka_unit_test(the_same_purpose_would_repeat_spawns),
        cmocka_unit_test(numbers_leave_room_for_other_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
