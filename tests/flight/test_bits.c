// The same bits on every processor that fuses multiplications: a sampled plan and the flight along
// it in double; and flights in eight lanes within a family. docs/determinism.md has the promise.
#include "base/hash.h"
#include "base/isa.h"
#include "testing.h"

#include <facet/facet.h>

enum { SKIPPED = 77, NUMBERS = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS, FLIGHTS = 11 };

static FacetCourse *course;
static FacetQuadModel model;
static FacetControlPreset preset;
static double actions[NUMBERS];

static uint64_t hash_doubles(uint64_t hash, const double *values, int count)
{
    return hash_bytes(hash, values, (size_t)count * sizeof *values);
}

static uint64_t hash_flight(uint64_t hash, const FacetFlight *f)
{
    const double numbers[] = {f->duration,  f->speed_mean,     f->error_mean,
                              f->error_max, (double)f->passed, (double)f->steps};
    hash = hash_doubles(hash, numbers, 6);
    for (int i = 0; i < f->gate_count; i++) {
        hash = hash_doubles(hash, &f->gates[i].miss, 1);
        hash = hash_doubles(hash, &f->gates[i].time, 1);
    }
    return hash;
}

static void expect(const char *what, uint64_t found, uint64_t expected)
{
    if (found != expected)
        fail_msg("%s with %s: found 0x%016llx, expected 0x%016llx", what, isa_name(),
                 (unsigned long long)found, (unsigned long long)expected);
}

static void a_sampled_plan(void **state)
{
    (void)state;
    FacetPolicy *policy;
    FacetFactorTask task;
    const FacetPolicySampling how = {.seed = 1};
    assert_ok(facet_policy_load(&policy, TEST_SOURCE "/models/race-factored.safetensors"));
    assert_ok(facet_factor_task_parse(&task, facet_policy_space(policy), "race5/standard",
                                      FACET_FACTOR_MISSING_REFUSED));
    assert_ok(facet_policy_sample(actions, policy, &task, 1, &how, NULL));
    facet_policy_destroy(policy);
    expect("a plan", hash_doubles(HASH_START, actions, NUMBERS), 0xa1aa56ab908f2f3c);
}

static FacetReference reference_of(double *speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    facet_chunk_from_actions(chunk, actions);
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    *speed = chunk[0].speed;
    return reference;
}

static void the_flight_along_it(void **state)
{
    (void)state;
    FacetCourseTask task;
    double speed;
    FacetReference reference = reference_of(&speed);
    assert_ok(facet_course_find_task(&task, course, "race5/standard"));
    const FacetFlightSetup setup = {.model = &model,
                                    .preset = &preset,
                                    .arena = &course->arena,
                                    .track = &course->tracks[task.track],
                                    .half_width = course->openings[task.opening].half_width};
    FacetFlight flight =
        facet_flight_fly(&setup, &reference, facet_flight_start(&model, &reference, speed), NULL);
    assert_int_equal(flight.passed, flight.gate_count);
    expect("a flight", hash_flight(HASH_START, &flight), 0x51253c0d27f1ac30);
}

static void flights_in_lanes(void **state)
{
    (void)state;
    FacetCourseTask task;
    double speed;
    FacetReference reference = reference_of(&speed);
    FacetFlightPlan plans[FLIGHTS];
    FacetFlight flights[FLIGHTS];
    assert_ok(facet_course_find_task(&task, course, "race5/standard"));
    for (int i = 0; i < FLIGHTS; i++)
        plans[i] = (FacetFlightPlan){
            .track = &course->tracks[task.track],
            .half_width = course->openings[task.opening].half_width,
            .gusts = {.speed = 0.3 * i, .time = 0.5, .seed = 1, .stream = (uint64_t)i},
            .reference = &reference,
            .start = facet_flight_start(&model, &reference, speed)};
    facet_flight_fly_batch(flights, &model, &preset, &course->arena, plans, FLIGHTS);
    uint64_t hash = HASH_START;
    for (int i = 0; i < FLIGHTS; i++) hash = hash_flight(hash, &flights[i]);
    // Sums of two products in lanes: the compiler chooses which one it fuses, by family.
    bool arm = strcmp(isa_name(), "neon") == 0;
    expect("flights in lanes", hash, arm ? 0xdf867683e00a253e : 0x78b91f60bc73bbd0);
}

// What is different here from where the hashes hold; NULL when nothing is.
static const char *unlike(void)
{
#if defined(__clang__) || __GNUC__ != 12
    return "the compiler is not gcc 12";
#elif defined(TEST_SANITIZED) || !defined(__OPTIMIZE__)
    return "the build is sanitized or not optimised";
#else
    return strcmp(isa_name(), "sse2") == 0 ? "the processor does not fuse multiplications" : NULL;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sampled_plan),
        cmocka_unit_test(the_flight_along_it),
        cmocka_unit_test(flights_in_lanes),
    };
    if (unlike()) {
        print_message("skipped: %s\n", unlike());
        return SKIPPED;
    }
    FacetQuadParams params = facet_quad_params_default();
    model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    if (!facet_control_preset(&preset, "race").ok) return 1;
    if (!facet_course_load(&course, TEST_SOURCE "/courses").ok) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    facet_course_destroy(course);
    return failed;
}
