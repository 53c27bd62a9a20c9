// No two flights of the study start alike, whatever they are for: what a policy is judged by was
// drawn neither for its training nor for a choice before it.
#include "factor/factor.h"
#include "gate/streams.h"
#include "gates.h"

#include <stdlib.h>

enum { SPAWNS_MAX = 4096 };

// How far from its gate each flight started, m, and how far the beacon was off then. Two flights
// whose starts are drawn from the same numbers have the same distance, even in other venues and at
// other gates, and likewise those whose beacons are.
typedef struct Spawns {
    const FacetGateWorld *world;
    int count;
    double distance[SPAWNS_MAX], beacon[SPAWNS_MAX];
} Spawns;

// A world in which a flight costs next to nothing.
static FacetGateWorld *quick_world(void)
{
    FacetGateWorld *world = shipped_world();
    world->camera.width = world->camera.height = 8;
    world->time_out = 0.05;
    return world;
}

// From the gate as seen from the start, and what the beacon told there: both give the venue's
// origin in the body's axes.
static void keep(Spawns *spawns, FacetFactorTask task, FacetVec3 offset, const double *sensed)
{
    const FacetGateWorld *world = spawns->world;
    FacetVec3 origin = beacon_origin(world, task.value[FACET_GATE_FACTOR_VENUE]);
    FacetVec3 gate = vec3_sub(facet_gate_target(world, task).center, origin);
    FacetVec3 error = vec3_sub(offset_by(sensed, gate), offset);
    assert_true(spawns->count < SPAWNS_MAX);
    spawns->distance[spawns->count] = vec3_norm(offset);
    spawns->beacon[spawns->count++] = vec3_norm(error);
}

// A label's first offset is the gate as seen from the start.
static FacetStatus keep_frames(void *context, const FacetGateFrames *frames)
{
    const double *o = frames->offsets;
    keep(context, frames->task, vec3(o[0], o[1], o[2]), frames->sensed);
    return status_ok();
}

static FacetStatus keep_view(void *context, const FacetGateView *view, const double *offsets,
                             FacetVec3 estimate)
{
    (void)estimate;
    if (view->frame == 0)
        keep(context, view->trial->task, vec3(offsets[0], offsets[1], offsets[2]), view->sensed);
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

static int count_twice(double *values, int count)
{
    int twice = 0;
    qsort(values, (size_t)count, sizeof *values, rising);
    for (int i = 1; i < count; i++) twice += values[i] - values[i - 1] < 1e-9;
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
    assert_int_equal(count_twice(spawns->distance, spawns->count), 0);
    assert_int_equal(count_twice(spawns->beacon, spawns->count), 0);
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
    assert_true(count_twice(spawns->distance, spawns->count) > 30);
    assert_true(count_twice(spawns->beacon, spawns->count) > 30);
    free(spawns);
    facet_gate_world_destroy(world);
}

// What a trial draws, it draws from streams apart, none of which is another trial's.
static void draws_of_a_trial_have_streams_apart(void **unused)
{
    (void)unused;
    const int which[] = {GATE_STREAM_SPAWN, GATE_STREAM_GYRO,    GATE_STREAM_GUSTS,
                         GATE_STREAM_FIX,   GATE_STREAM_COLLECT, GATE_STREAM_COLORS,
                         GATE_STREAM_NEAR,  GATE_STREAM_BEACON,  GATE_STREAM_FRAMES,
                         GATE_STREAMS - 1};
    enum { DRAWS = sizeof which / sizeof *which, NUMBERS = 2 * FACET_GATE_PURPOSES };
    uint64_t streams[DRAWS * NUMBERS];
    int count = 0, twice = 0;
    for (int n = 0; n < NUMBERS; n++)
        for (int i = 0; i < DRAWS; i++) {
            uint64_t number = facet_gate_number((FacetGatePurpose)(n / 2), (uint64_t)(n % 2));
            assert_true(which[i] < GATE_STREAM_FRAMES || i >= DRAWS - 2);
            streams[count] = gate_stream(number, which[i]);
            for (int k = 0; k < count; k++) twice += streams[k] == streams[count];
            count++;
        }
    assert_int_equal(twice, 0);
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
        cmocka_unit_test(draws_of_a_trial_have_streams_apart),
        cmocka_unit_test(numbers_leave_room_for_other_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
