// Batched flights against facet_flight_fly, over whole flights.
#include "base/rng.h"
#include "flight/flight.h"
#include "math/geometry.h"
#include "testing.h"

#include <stdlib.h>

enum { PLANS_MAX = 128 };

typedef struct Scene {
    FacetCourse *course;
    FacetQuadModel model;
    FacetControlPreset preset;
    int count;
    FacetReference references[PLANS_MAX];
    FacetFlightPlan plans[PLANS_MAX];
    FacetFlight scalar[PLANS_MAX], batched[PLANS_MAX];
} Scene;

static Scene *scene_create(const char *preset)
{
    Scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    FacetQuadParams params = facet_quad_params_default();
    scene->model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    assert_ok(facet_course_load(&scene->course, TEST_SOURCE "/courses"));
    assert_ok(facet_control_preset(&scene->preset, preset));
    return scene;
}

static void scene_destroy(Scene *scene)
{
    facet_course_destroy(scene->course);
    free(scene);
}

static FacetFlightPlan *scene_add(Scene *scene, const FacetTrack *track, double half_width,
                                  double speed)
{
    assert_true(scene->count < PLANS_MAX);
    FacetReference *reference = &scene->references[scene->count];
    FacetFlightPlan *plan = &scene->plans[scene->count++];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    assert_ok(facet_expert_chunk(chunk, track, track->points[0], speed));
    assert_ok(facet_reference_from_chunk(reference, chunk));
    *plan = (FacetFlightPlan){.track = track,
                              .half_width = half_width,
                              .reference = reference,
                              .start = facet_flight_start(&scene->model, reference, speed)};
    return plan;
}

static void scene_fly(Scene *scene)
{
    for (int i = 0; i < scene->count; i++) {
        const FacetFlightPlan *plan = &scene->plans[i];
        FacetFlightSetup setup = {.model = &scene->model,
                                  .preset = &scene->preset,
                                  .arena = &scene->course->arena,
                                  .track = plan->track,
                                  .half_width = plan->half_width,
                                  .give_up = plan->give_up,
                                  .gusts = plan->gusts};
        scene->scalar[i] = facet_flight_fly(&setup, plan->reference, plan->start, NULL);
    }
    facet_flight_fly_batch(scene->batched, &scene->model, &scene->preset, &scene->course->arena,
                           scene->plans, scene->count);
}

// The same outcome to a centimetre and three steps. A gate that was never crossed has the least
// distance as its miss, which a crash a step later changes by up to a step's motion.
static void check_flight(const FacetFlight *got, const FacetFlight *want)
{
    assert_int_equal(got->end, want->end);
    assert_int_equal(got->crash, want->crash);
    assert_int_equal(got->gate_count, want->gate_count);
    assert_int_equal(got->passed, want->passed);
    assert_near((double)got->steps, (double)want->steps, 3.0);
    assert_near(got->duration, want->duration, 5e-3);
    assert_near(got->speed_mean, want->speed_mean, 5e-3);
    assert_near(got->error_mean, want->error_mean, 5e-3);
    assert_near(got->error_max, want->error_max, 1e-2);
    for (int i = 0; i < want->gate_count; i++) {
        const FacetPassage *a = &got->gates[i], *b = &want->gates[i];
        assert_int_equal(a->crossed, b->crossed);
        assert_int_equal(a->passed, b->passed);
        if (isinf(b->miss))
            assert_true(isinf(a->miss));
        else
            assert_near(a->miss, b->miss, b->crossed ? 1e-2 : 5e-2);
        assert_near(a->time, b->time, 5e-3);
        assert_near(a->speed, b->speed, 2e-2);
    }
}

static void check_scene(const Scene *scene)
{
    for (int i = 0; i < scene->count; i++) {
        int failed = scene->batched[i].passed != scene->scalar[i].passed ||
                     scene->batched[i].end != scene->scalar[i].end;
        if (failed) print_error("plan %d, track %s\n", i, scene->plans[i].track->name);
        check_flight(&scene->batched[i], &scene->scalar[i]);
    }
}

static void assert_same_bits(const FacetFlight *a, const FacetFlight *b)
{
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->crash, b->crash);
    assert_int_equal(a->passed, b->passed);
    assert_int_equal(a->steps, b->steps);
    assert_memory_equal(&a->duration, &b->duration, 4 * sizeof(double));
    for (int i = 0; i < a->gate_count; i++) {
        assert_int_equal(a->gates[i].crossed, b->gates[i].crossed);
        assert_int_equal(a->gates[i].passed, b->gates[i].passed);
        assert_memory_equal(&a->gates[i].miss, &b->gates[i].miss, 3 * sizeof(double));
    }
}

// Every track, at speeds from easy to far too fast, so that gates are missed and flights crash.
static void check_course(const char *preset)
{
    static const double speeds[] = {1.5, 3.0, 5.0, 9.0};
    Scene *scene = scene_create(preset);
    const FacetCourse *course = scene->course;
    for (int t = 0; t < course->track_count; t++)
        for (int k = 0; k < 4; k++)
            scene_add(scene, &course->tracks[t], course->openings[k % 3].half_width, speeds[k]);
    scene_fly(scene);
    check_scene(scene);
    int ends[4] = {0}, passed = 0, gates = 0;
    for (int i = 0; i < scene->count; i++) {
        ends[scene->scalar[i].end]++;
        passed += scene->scalar[i].passed;
        gates += scene->scalar[i].gate_count;
    }
    assert_true(ends[FACET_FLIGHT_FINISHED] >= 16);
    assert_in_range(passed, gates / 3, gates - 5);
    scene_destroy(scene);
}

static void course_with_race_preset(void **unused)
{
    (void)unused;
    check_course("race");
}

static void course_with_soft_preset(void **unused)
{
    (void)unused;
    check_course("soft");
}

// Starts off the path and gusts, each plan with its own stream.
static void gusts_and_offsets(void **unused)
{
    (void)unused;
    Scene *scene = scene_create("race");
    const FacetCourse *course = scene->course;
    for (int i = 0; i < 29; i++) {
        FacetRng rng = rng_make(31, (uint64_t)i);
        double speed = rng_range(&rng, 1.5, 2.5);
        FacetFlightPlan *plan =
            scene_add(scene, &course->tracks[i % course->track_count], 1.0, speed);
        plan->gusts =
            (FacetGusts){.speed = i % 3 * 0.7, .time = 1.0, .seed = 5, .stream = (uint64_t)i};
        plan->start.pos_world = vec3_add(plan->start.pos_world,
                                         vec3(rng_normal(&rng) * 0.2, rng_normal(&rng) * 0.2, 0.1));
        plan->start.vel_world = vec3_scale(plan->start.vel_world, rng_range(&rng, 0.0, 1.0));
    }
    scene_fly(scene);
    check_scene(scene);
    scene_destroy(scene);
}

// An outcome does not depend on the order of the plans, nor on how they are cut into calls, and so
// not on threads.
static void order_and_company_do_not_matter(void **unused)
{
    (void)unused;
    enum { COUNT = 21 };
    Scene *scene = scene_create("race");
    const FacetCourse *course = scene->course;
    for (int i = 0; i < COUNT; i++) {
        FacetFlightPlan *plan =
            scene_add(scene, &course->tracks[i % course->track_count], 0.762, 2.0 + 0.3 * i);
        plan->gusts =
            (FacetGusts){.speed = i % 2 * 0.5, .time = 0.8, .seed = 9, .stream = (uint64_t)i};
    }
    const FacetArena *arena = &course->arena;
    facet_flight_fly_batch(scene->batched, &scene->model, &scene->preset, arena, scene->plans,
                           COUNT);

    FacetFlight alone, reversed[COUNT];
    FacetFlightPlan backwards[COUNT];
    for (int i = 0; i < COUNT; i++) backwards[i] = scene->plans[COUNT - 1 - i];
    facet_flight_fly_batch(reversed, &scene->model, &scene->preset, arena, backwards, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_same_bits(&scene->batched[i], &reversed[COUNT - 1 - i]);
        facet_flight_fly_batch(&alone, &scene->model, &scene->preset, arena, &scene->plans[i], 1);
        assert_same_bits(&scene->batched[i], &alone);
    }
    scene_destroy(scene);
}

// One flight for every way to end.
static void every_end(void **unused)
{
    (void)unused;
    Scene *scene = scene_create("race");
    const FacetTrack *track = &scene->course->tracks[6];
    FacetFlightEnd ends[] = {FACET_FLIGHT_CRASHED,  FACET_FLIGHT_CRASHED,   FACET_FLIGHT_CRASHED,
                             FACET_FLIGHT_CRASHED,  FACET_FLIGHT_TIMED_OUT, FACET_FLIGHT_TIMED_OUT,
                             FACET_FLIGHT_FINISHED, FACET_FLIGHT_GIVEN_UP};
    FacetCrashKind kinds[] = {FACET_CRASH_GROUND,    FACET_CRASH_BOUNDS, FACET_CRASH_ATTITUDE,
                              FACET_CRASH_NONFINITE, FACET_CRASH_NONE,   FACET_CRASH_NONE,
                              FACET_CRASH_NONE,      FACET_CRASH_NONE};
    for (int i = 0; i < 8; i++) scene_add(scene, track, 0.762, 4.0);
    scene->plans[0].start.pos_world.z = 0.3;
    scene->plans[0].start.vel_world.z = -6.0;
    scene->plans[1].start.pos_world = vec3(12.5, 0.0, 3.0);
    scene->plans[1].start.vel_world = vec3(9.0, 0.0, 0.0);
    scene->plans[2].start.attitude = quat_exp(vec3(3.0, 0.0, 0.0));
    scene->plans[3].start.vel_world.x = (double)NAN;
    scene->plans[7].give_up = 1e-3;

    // A path whose velocities point back: the vehicle backs away from it and hovers there.
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference *back = &scene->references[4];
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){vec3(0.203 * i, 0.0, 2.0), 3.0};
    assert_ok(facet_reference_from_chunk(back, chunk));
    for (int i = 0; i < FACET_REFERENCE_WAYPOINTS; i++)
        back->vel[i] = vec3_scale(back->vel[i], -1.0);
    scene->plans[4].start = facet_quad_hover(&scene->model, vec3(0.0, 0.0, 2.0), 0.0);
    scene->plans[5].start = scene->plans[4].start;
    scene->plans[5].reference = back;
    scene->plans[5].gusts = (FacetGusts){.speed = 0.3, .time = 1.0, .seed = 2};

    scene_fly(scene);
    for (int i = 0; i < scene->count; i++) {
        assert_int_equal(scene->scalar[i].end, ends[i]);
        assert_int_equal(scene->scalar[i].crash, kinds[i]);
        if (i == 3) {
            assert_int_equal(scene->batched[i].end, ends[i]);
            assert_int_equal(scene->batched[i].crash, kinds[i]);
            assert_int_equal(scene->batched[i].steps, scene->scalar[i].steps);
        } else {
            check_flight(&scene->batched[i], &scene->scalar[i]);
        }
    }
    scene_destroy(scene);
}

// The second gate is passed though the first was not tried: both flights count it.
static void a_gate_left_out(void **unused)
{
    (void)unused;
    Scene *scene = scene_create("race");
    FacetTrack track = {.name = "straight",
                        .point_count = 2,
                        .points = {{-6.0, 0.0, 2.0}, {6.0, 0.0, 2.0}},
                        .gate_count = 3,
                        .gates = {{.center = {-3.0, 5.0, 2.0}, .normal = {1.0, 0.0, 0.0}},
                                  {.center = {0.0, 0.2, 2.0}, .normal = {1.0, 0.0, 0.0}},
                                  {.center = {3.0, 0.9, 2.0}, .normal = {1.0, 0.0, 0.0}}}};
    scene_add(scene, &track, 0.5, 3.0);
    scene_fly(scene);
    check_scene(scene);
    const FacetFlight *flight = &scene->batched[0];
    assert_false(flight->gates[0].crossed);
    assert_true(flight->gates[1].passed);
    assert_true(flight->gates[2].crossed);
    assert_int_equal(flight->passed, 1);
    assert_near(flight->gates[0].miss, 5.0, 0.05);
    scene_destroy(scene);
}

static void nothing_to_fly(void **unused)
{
    (void)unused;
    Scene *scene = scene_create("race");
    facet_flight_fly_batch(NULL, &scene->model, &scene->preset, &scene->course->arena, NULL, 0);
    scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(course_with_race_preset),
        cmocka_unit_test(course_with_soft_preset),
        cmocka_unit_test(gusts_and_offsets),
        cmocka_unit_test(order_and_company_do_not_matter),
        cmocka_unit_test(every_end),
        cmocka_unit_test(a_gate_left_out),
        cmocka_unit_test(nothing_to_fly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
