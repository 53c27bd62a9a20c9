// Collecting: labels for every frame, whoever flies; the same frames at any number of threads.
#include "factor/factor.h"
#include "gates.h"
#include "nn/image_layers.h"
#include "scratch.h"

#include <facet_study/image_set.h>

enum { LABEL = FACET_GATE_HORIZON * FACET_GATE_DIM };

static FacetGateWorld *small_world(void)
{
    FacetGateWorld *world = shipped_world();
    world->camera.width = 32, world->camera.height = 24;
    world->time_out = 4.0;
    return world;
}

// What a sink has seen, in order.
typedef struct Kept {
    int flights, frames, expert;
    int last;                // flight
    uint64_t pixels, labels; // checksums
    double nearest;          // m, least first offset
    double starts[32];       // m, first offset of each flight's first frame
    FacetGateFlight result;  // of the last flight
} Kept;

static void mix(uint64_t *sum, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) *sum = *sum * 1099511628211u + bytes[i];
}

static FacetStatus keep(void *context, const FacetGateFrames *frames)
{
    Kept *kept = context;
    assert_true(frames->flight > kept->last);
    assert_int_equal(frames->width, 8);
    assert_int_equal(frames->height, 6);
    assert_true(frames->count <= frames->result.frames);
    for (int i = 0; i < frames->count; i++) {
        const double *o = frames->offsets + i * LABEL;
        kept->nearest = fmin(kept->nearest, vec3_norm(vec3(o[0], o[1], o[2])));
    }
    mix(&kept->pixels, frames->rgb, (size_t)frames->count * 8 * 6 * 3);
    mix(&kept->labels, frames->offsets, (size_t)frames->count * LABEL * sizeof(double));
    const double *o = frames->offsets;
    if (kept->flights < 32) kept->starts[kept->flights] = vec3_norm(vec3(o[0], o[1], o[2]));
    kept->last = frames->flight;
    kept->result = frames->result;
    kept->frames += frames->count;
    kept->expert += frames->expert;
    kept->flights++;
    return status_ok();
}

static FacetStatus make_shifted(FacetGatePilot *pilot, void *context, int worker)
{
    (void)worker;
    *pilot = shifted(context);
    return status_ok();
}

static Kept collect(const FacetGateWorld *world, const FacetGateCollection *collection,
                    const FacetGateCrew *crew, int threads)
{
    Kept kept = {.last = -1, .nearest = INFINITY};
    const FacetGateSink sink = {.add = keep, .context = &kept};
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, threads));
    assert_ok(facet_gate_collect(&sink, world, collection, crew, pool, NULL));
    facet_pool_destroy(pool);
    return kept;
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    FacetGateWorld *world = small_world();
    FacetFactorTask tasks[7];
    for (int i = 0; i < 7; i++) tasks[i] = factor_task_at(world->space, 17 * i);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = 7;
    collection.flights = 21; // more than a block
    collection.seed = 3;
    ShiftedPilot pilot = {.world = world, .shift = {0.2, 0.1, 0.1}, .sees = true};
    FacetGateCrew crew = {.make = make_shifted, .context = &pilot};
    collection.expert_share = 0.5;
    Kept one = collect(world, &collection, &crew, 1), two = collect(world, &collection, &crew, 2);
    assert_int_equal(one.flights, 21);
    assert_true(one.expert > 3);
    assert_true(one.expert < 18);
    assert_true(one.frames > 21 * 10);
    assert_less(one.nearest, 1.0);
    assert_true(one.pixels == two.pixels);
    assert_true(one.labels == two.labels);
    assert_int_equal(one.frames, two.frames);
    // Without a crew the expert flies all, and another seed is another set.
    collection.flights = 3;
    one = collect(world, &collection, NULL, 2);
    assert_int_equal(one.expert, 3);
    collection.seed = 4;
    two = collect(world, &collection, NULL, 2);
    assert_true(one.pixels != two.pixels);
    assert_true(one.labels != two.labels);
    facet_gate_world_destroy(world);
}

static FacetGateCollection collection_of(const FacetFactorTask *task)
{
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = task;
    collection.task_count = 1;
    return collection;
}

// Another look of the venue changes what is seen, not what is flown.
static void looks_change_pixels_alone(void **unused)
{
    (void)unused;
    FacetGateWorld *world = small_world();
    FacetFactorTask task = task_of(world, "piazza/white/4/-1");
    FacetGateCollection collection = collection_of(&task);
    collection.flights = 8;
    double shares[] = {0.0, 0.5, 1.0};
    Kept kept[3];
    for (int i = 0; i < 3; i++) {
        collection.redrawn = shares[i];
        kept[i] = collect(world, &collection, NULL, 2);
        assert_true(kept[i].labels == kept[0].labels);
    }
    assert_true(kept[0].pixels != kept[1].pixels);
    assert_true(kept[1].pixels != kept[2].pixels);
    facet_gate_world_destroy(world);
}

// The observer of trials is not that of training flights.
static void the_observer_of_trials_plays_no_part(void **unused)
{
    (void)unused;
    FacetGateWorld *world = small_world();
    FacetFactorTask task = task_of(world, "piazza/white/4/-1");
    FacetGateCollection collection = collection_of(&task);
    collection.flights = 2;
    assert_true(world->fix_share == FACET_GATE_FIX_SHARE && world->fix_share > 0.0);
    Kept weighed = collect(world, &collection, NULL, 2);
    world->fix_share = 0.0;
    Kept alike = collect(world, &collection, NULL, 2);
    assert_true(weighed.labels == alike.labels);
    world->observer_time = 3.0;
    world->velocity_time = 2.0;
    Kept slow = collect(world, &collection, NULL, 2);
    assert_true(slow.labels == alike.labels);
    facet_gate_world_destroy(world);
}

// It has fixes of one weight, and a time of 0.5 s.
static void training_flights_have_an_observer_of_their_own(void **unused)
{
    (void)unused;
    FacetGateWorld *world = small_world();
    FacetFactorTask task = task_of(world, "piazza/white/4/-1");
    FacetGateCollection collection = collection_of(&task);
    ShiftedPilot pilot = {.world = world, .shift = {0.2, 0.1, 0.1}};
    FacetGateCrew crew = {.make = make_shifted, .context = &pilot};
    FacetGatePilot alone = shifted(&pilot);
    FacetGateTrial trial;
    FacetGateFlight flights[2];
    collection.expert_share = collection.redrawn = 0.0;
    Kept kept = collect(world, &collection, &crew, 1);
    assert_ok(facet_gate_trial(&trial, world, task, collection.seed,
                               facet_gate_number(FACET_GATE_FOR_TRAINING, 0)));
    world->fix_share = 0.0;
    for (int i = 0; i < 2; i++) {
        world->observer_time = i == 0 ? 0.5 : FACET_GATE_OBSERVER_TIME;
        assert_ok(facet_gate_fly(&flights[i], world, &trial, &alone, NULL));
    }
    assert_near(kept.result.estimate_error, flights[0].estimate_error, 0.0);
    assert_true(flights[1].estimate_error != flights[0].estimate_error);
    facet_gate_world_destroy(world);
}

// A share of the flights starts 1 to 3 m from the gate; the others are as they were.
static void a_share_starts_near(void **unused)
{
    (void)unused;
    enum { FLIGHTS = 20 };
    FacetGateWorld *world = small_world();
    world->time_out = 0.3;
    FacetFactorTask task = task_of(world, "piazza/white/4/-1");
    FacetGateCollection collection = collection_of(&task);
    collection.flights = FLIGHTS;
    Kept far = collect(world, &collection, NULL, 2);
    collection.near = 0.4;
    Kept some = collect(world, &collection, NULL, 2);
    collection.near = 1.0;
    Kept all = collect(world, &collection, NULL, 1);
    int near = 0;
    for (int i = 0; i < FLIGHTS; i++) {
        bool same = some.starts[i] == far.starts[i];
        assert_between(far.starts[i], 3.0, 10.0);
        assert_between(all.starts[i], 1.0, 3.0);
        assert_true(same || some.starts[i] == all.starts[i]);
        near += !same;
    }
    assert_between(near, 3, 13);
    collection.near = 1.5;
    FacetGateSink sink = {.add = keep, .context = &all};
    assert_refused(facet_gate_collect(&sink, world, &collection, NULL, NULL, NULL),
                   "flights that start near: expected a share from 0 to 1, found 1.5");
    facet_gate_world_destroy(world);
}

// Labels are true whoever flies: a pilot that is wrong about its place gets the expert's offsets.
typedef struct Labels {
    double first[LABEL]; // of the first frame
    int frames;
} Labels;

static FacetStatus keep_labels(void *context, const FacetGateFrames *frames)
{
    Labels *labels = context;
    memcpy(labels->first, frames->offsets, sizeof labels->first);
    labels->frames = frames->count;
    return status_ok();
}

static void labels_are_true_whoever_flies(void **unused)
{
    (void)unused;
    FacetGateWorld *world = small_world();
    FacetFactorTask task = task_of(world, "piazza/white/4/-1");
    FacetGateCollection collection = collection_of(&task);
    collection.seed = 12;
    collection.expert_share = 0.0;
    ShiftedPilot pilot = {.world = world, .shift = {0.5, 0.0, 0.3}, .sees = true};
    FacetGateCrew crew = {.make = make_shifted, .context = &pilot};
    Labels labels;
    const FacetGateSink sink = {.add = keep_labels, .context = &labels};
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 1));
    assert_ok(facet_gate_collect(&sink, world, &collection, &crew, pool, NULL));
    FacetGateTrial trial;
    double expected[LABEL];
    assert_ok(facet_gate_trial(&trial, world, task, 12, 0));
    facet_gate_expert_offsets(expected, world, task, &trial.start);
    for (int i = 0; i < LABEL; i++) assert_near(labels.first[i], expected[i], 1e-12);
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

// An upset and disturbed expert shows how to recover: it mostly still gets through.
static void disturbed_experts_recover(void **unused)
{
    (void)unused;
    enum { FLIGHTS = 40 };
    FacetGateWorld *world = shipped_world();
    world->camera.width = 8, world->camera.height = 8;
    FacetGateCollection defaults = facet_gate_collection_defaults();
    FacetGatePilot expert = facet_gate_expert(world);
    int passed = 0;
    double error = 0.0;
    for (int i = 0; i < FLIGHTS; i++) {
        FacetGateTrial trial;
        FacetGateFlight flight;
        assert_ok(
            facet_gate_trial(&trial, world, factor_task_at(world->space, 3 * i), 2, (uint64_t)i));
        trial.disturbance = defaults.disturbance;
        trial.start.vel_world = vec3(i % 2 ? 1.0 : -1.0, 0.5, 0.0);
        assert_ok(facet_gate_fly(&flight, world, &trial, &expert, NULL));
        passed += flight.end == FACET_GATE_SUCCESS;
        error += flight.estimate_error / FLIGHTS;
    }
    assert_true(passed >= FLIGHTS * 8 / 10);
    assert_between(error, 0.1, 1.0);
    facet_gate_world_destroy(world);
}

static void files_hold_what_was_collected(void **unused)
{
    (void)unused;
    FacetGateWorld *world = small_world();
    FacetFactorTask tasks[2] = {task_of(world, "Field/red/1/+1"), task_of(world, "pool/blue/5/-1")};
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = 2;
    collection.flights = 4;
    collection.near = 0.25;
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    Scratch scratch = scratch_begin();
    const char *path = scratch_path(&scratch, "collected.h5");
    assert_ok(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL));
    FacetImageSet *set;
    const char *paths[] = {path};
    assert_ok(facet_image_set_open(&set, paths, 1));
    FacetFrameShape shape = facet_image_set_shape(set);
    assert_non_null(strstr(facet_image_set_settings(set), "\"redrawn\": 0.5, \"near\": 0.25, "));
    assert_int_equal(shape.width, 8);
    assert_int_equal(shape.height, 6);
    assert_int_equal(shape.horizon, FACET_GATE_HORIZON);
    assert_int_equal(shape.dim, FACET_GATE_DIM);
    assert_true(factor_space_equal(facet_image_set_space(set), world->space));
    int64_t count = facet_image_set_count(set);
    assert_true(count > 40);
    for (int64_t i = 0; i < count; i++)
        assert_true(factor_task_equal(facet_image_set_task(set, i),
                                      tasks[facet_image_set_flight(set, i) % 2]));
    assert_int_equal(facet_image_set_flight(set, count - 1), 3);
    facet_image_set_close(set);
    remove(path);
    // A wrong setting leaves no file.
    collection.shrink = 7;
    assert_refused(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL),
                   "shrink: expected a divisor of 32 and 24, found 7");
    collection.shrink = 3; // of the height alone
    assert_refused(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL),
                   "shrink: expected a divisor of 32 and 24, found 3");
    collection.shrink = 16; // of the width alone
    assert_refused(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL),
                   "shrink: expected a divisor of 32 and 24, found 16");
    collection.shrink = 4, collection.redrawn = 1.5;
    assert_refused(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL),
                   "redrawn flights: expected a share from 0 to 1, found 1.5");
    collection.shrink = 0, collection.redrawn = 0.5;
    assert_refused(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL), "found 0");
    collection.shrink = 2, collection.task_count = 0;
    assert_refused(facet_gate_collect_file(path, world, &collection, NULL, pool, NULL),
                   "found none");
    assert_int_equal(access(path, F_OK), -1);
    scratch_end(&scratch);
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(looks_change_pixels_alone),
        cmocka_unit_test(the_observer_of_trials_plays_no_part),
        cmocka_unit_test(training_flights_have_an_observer_of_their_own),
        cmocka_unit_test(a_share_starts_near),
        cmocka_unit_test(labels_are_true_whoever_flies),
        cmocka_unit_test(disturbed_experts_recover),
        cmocka_unit_test(files_hold_what_was_collected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
