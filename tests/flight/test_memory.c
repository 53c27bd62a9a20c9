// A search that runs out of memory fails: the task is not called infeasible.
#include "allocations.h"
#include "flight/flight.h"
#include "flying.h"

static void memory_that_ends_is_no_infeasible_task(void **state)
{
    (void)state;
    FacetTrack track = {.name = "line", .point_count = 3, .gate_count = 1};
    for (int i = 0; i < 3; i++) track.points[i] = vec3(4.0 * i - 4.0, 0.0, 2.0);
    track.gates[0] = (FacetCourseGate){.center = track.points[1], .normal = {1.0, 0.0, 0.0}};
    FacetOpening opening = {"wide", 0.8};
    const FacetCourse course = {.arena = {{-20.0, -20.0, 0.0}, {20.0, 20.0, 10.0}},
                                .speed_min = 2.0,
                                .speed_max = 2.5,
                                .opening_count = 1,
                                .openings = &opening,
                                .track_count = 1,
                                .tracks = &track};
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetControlPreset preset;
    FacetSpeedMap map;
    assert_ok(facet_control_preset(&preset, "race"));
    long failures = 0, before;
    for (;; failures++) {
        before = allocations;
        fail_after = failures;
        FacetStatus status = facet_speed_map_create(&map, &course, &model, &preset, NULL, NULL);
        fail_after = -1;
        if (status.ok) break;
        assert_int_equal(status.code, FACET_NO_MEMORY);
    }
    assert_true(failures >= 3); // the map, and the parts of a spline
    assert_true(allocations > before);
    assert_true(map.cells[0].feasible);
    facet_speed_map_destroy(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_that_ends_is_no_infeasible_task)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
