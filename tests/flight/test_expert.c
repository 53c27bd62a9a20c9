// Tests of the expert: its command, the search for the highest speed, and the speed map.
#include "flight/flight.h"
#include "flying.h"

static const FacetArena ARENA = {{-20.0, -20.0, 0.0}, {20.0, 20.0, 10.0}};

static FacetQuadModel racer(void)
{
    FacetQuadParams params = facet_quad_params_default();
    return facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
}

// The race preset's gains with a carrot of the test's own: the shipped one is calibrated to the
// shipped courses, and may change with them.
static FacetControlPreset test_preset(void)
{
    FacetControlPreset preset;
    assert_ok(facet_control_preset(&preset, "race"));
    preset.carrot = (FacetCarrotParams){
        .lookahead_time = 0.55, .lookahead_min = 1.2, .lookahead_max = 5.0, .window = 1.0};
    return preset;
}

static FacetFlightSetup in_still_air(const FacetQuadModel *model, const FacetControlPreset *preset,
                                     const FacetArena *arena, const FacetTrack *track,
                                     double half_width)
{
    return (FacetFlightSetup){
        .model = model, .preset = preset, .arena = arena, .track = track, .half_width = half_width};
}

// Four points on the way along x, the two inner ones gates that are `swing` to the left and to
// the right.
static FacetTrack slalom(const char *name, double swing)
{
    FacetTrack track = {.point_count = 4, .gate_count = 2};
    snprintf(track.name, sizeof track.name, "%s", name);
    track.points[0] = vec3(-6.0, 0.0, 2.0);
    track.points[1] = vec3(-2.0, swing, 2.0);
    track.points[2] = vec3(2.0, -swing, 2.0);
    track.points[3] = vec3(6.0, 0.0, 2.0);
    for (int i = 0; i < 2; i++)
        track.gates[i] =
            (FacetCourseGate){.center = track.points[i + 1], .normal = {1.0, 0.0, 0.0}};
    return track;
}

// The worst miss over the half-width of one flight at one speed; infinite if it did not finish.
static double fly_at(const FacetFlightSetup *setup, double speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    assert_ok(facet_expert_chunk(chunk, setup->track, setup->track->points[0], speed));
    assert_ok(facet_reference_from_chunk(&plan, chunk));
    FacetFlight flight =
        facet_flight_fly(setup, &plan, facet_flight_start(setup->model, &plan, speed), NULL);
    if (flight.end != FACET_FLIGHT_FINISHED) return INFINITY;
    double worst = 0.0;
    for (int i = 0; i < flight.gate_count; i++) {
        if (!flight.gates[i].crossed) return INFINITY;
        worst = fmax(worst, flight.gates[i].miss / setup->half_width);
    }
    return worst;
}

// ---- The command --------------------------------------------------------------------------------

static void command_goes_through_the_track(void **unused)
{
    (void)unused;
    FacetTrack track = slalom("slalom", 1.5);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    assert_ok(facet_expert_chunk(chunk, &track, track.points[0], 3.5));
    assert_vec3_near(chunk[0].pos, track.points[0], 1e-12);
    assert_vec3_near(chunk[FACET_CHUNK_KEYPOINTS - 1].pos, track.points[3], 1e-12);
    FacetReference plan;
    assert_ok(facet_reference_from_chunk(&plan, chunk));
    for (int g = 0; g < 2; g++) {
        double nearest = INFINITY;
        for (int i = 0; i < FACET_REFERENCE_WAYPOINTS; i++)
            nearest = fmin(nearest, vec3_distance(plan.pos[i], track.gates[g].center));
        assert_less(nearest, 0.05); // half a step of the dense plan, and the cut of its polygon
    }
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) assert_near(chunk[i].speed, 3.5, 0.0);
    // From where the vehicle is.
    assert_ok(facet_expert_chunk(chunk, &track, vec3(-7.0, 1.0, 1.5), 2.0));
    assert_vec3_near(chunk[0].pos, vec3(-7.0, 1.0, 1.5), 1e-12);
    assert_vec3_near(chunk[FACET_CHUNK_KEYPOINTS - 1].pos, track.points[3], 1e-12);
}

static void command_is_refused_where_there_is_no_spline(void **unused)
{
    (void)unused;
    FacetTrack track = slalom("slalom", 1.5);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    assert_refused(facet_expert_chunk(chunk, &track, track.points[1], 2.0),
                   "track slalom: points 0 and 1 of a spline coincide");
    assert_refused(facet_expert_chunk(chunk, &track, vec3(NAN, 0.0, 0.0), 2.0), "not finite");
}

// ---- The search ---------------------------------------------------------------------------------

static FacetSpeedCell search(const FacetFlightSetup *setup, double speed_min, double speed_max)
{
    FacetSpeedCell cell;
    assert_ok(expert_search(&cell, setup, speed_min, speed_max));
    return cell;
}

static void easy_task_reaches_the_highest_speed(void **unused)
{
    (void)unused;
    FacetQuadModel model = racer();
    FacetControlPreset preset = test_preset();
    FacetTrack track = slalom("line", 0.0);
    FacetFlightSetup setup = in_still_air(&model, &preset, &ARENA, &track, 0.5);
    FacetSpeedCell cell = search(&setup, 2.0, 3.1);
    assert_true(cell.feasible);
    assert_near(cell.speed, 3.1, 0.0); // not a whole number of rungs above 2
    assert_less(cell.best_ratio, 0.2);
}

static void impossible_task_is_infeasible(void **unused)
{
    (void)unused;
    FacetQuadModel model = racer();
    FacetControlPreset preset = test_preset();
    FacetTrack track = slalom("slalom", 2.0);
    FacetFlightSetup setup = in_still_air(&model, &preset, &ARENA, &track, 0.02);
    FacetSpeedCell cell = search(&setup, 1.0, 2.0);
    assert_false(cell.feasible);
    assert_near(cell.speed, 0.0, 0.0);
    assert_less(1.0 - EXPERT_RESERVE, cell.best_ratio);
    assert_true(isfinite(cell.best_ratio)); // it got round, only not through
    // Nowhere to fly: every candidate crashes.
    FacetArena tight = {{-20.0, -20.0, 0.0}, {-5.0, 20.0, 10.0}};
    setup = in_still_air(&model, &preset, &tight, &track, 1.0);
    cell = search(&setup, 2.0, 3.0);
    assert_false(cell.feasible);
    assert_true(isinf(cell.best_ratio));
    // No path at all.
    track.points[1] = track.points[0];
    cell = search(&setup, 2.0, 3.0);
    assert_false(cell.feasible);
}

// A flight that clears its gates, but not with the reserve, is not enough.
static void reserve_is_kept(void **unused)
{
    (void)unused;
    FacetQuadModel model = racer();
    FacetControlPreset preset = test_preset();
    FacetTrack track = slalom("slalom", 1.5);
    FacetFlightSetup setup = in_still_air(&model, &preset, &ARENA, &track, 1.0);
    double miss = fly_at(&setup, 3.0);
    setup.half_width = miss / 0.9;
    FacetSpeedCell cell = search(&setup, 3.0, 3.2); // one candidate
    assert_false(cell.feasible);
    assert_near(cell.best_ratio, 0.9, 1e-9);
    setup.half_width = miss / 0.7;
    assert_true(search(&setup, 3.0, 3.2).feasible);
}

// A limit inside the range: at the speed found the flight clears its gates with the reserve, and
// just above it no longer.
static void search_finds_the_limit(void **unused)
{
    (void)unused;
    FacetQuadModel model = racer();
    FacetControlPreset preset = test_preset();
    FacetTrack track = slalom("slalom", 1.5);
    FacetFlightSetup setup = in_still_air(&model, &preset, &ARENA, &track, 0.5);
    FacetSpeedCell cell = search(&setup, 2.0, 10.0);
    print_message("highest speed %.3f m/s\n", cell.speed);
    assert_true(cell.feasible);
    assert_between(cell.speed, 2.5, 9.5);
    assert_true(fly_at(&setup, cell.speed) <= 1.0 - EXPERT_RESERVE);
    assert_less(1.0 - EXPERT_RESERVE, fly_at(&setup, cell.speed + 0.0101));
    assert_true(cell.best_ratio <= fly_at(&setup, cell.speed));
    // A wider opening is never slower.
    setup.half_width = 0.7;
    assert_true(search(&setup, 2.0, 10.0).speed >= cell.speed);
}

// ---- The map ----------------------------------------------------------------------------------

static void speed_map_has_the_same_bits_on_any_number_of_threads(void **unused)
{
    (void)unused;
    FacetQuadModel model = racer();
    FacetControlPreset preset = test_preset();
    FacetTrack tracks[3] = {slalom("line", 0.3), slalom("bend", 1.0), slalom("zigzag", 2.5)};
    FacetOpening openings[2] = {{"narrow", 0.15}, {"wide", 0.6}};
    FacetCourse course = {.arena = ARENA,
                          .speed_min = 3.0,
                          .speed_max = 5.0,
                          .opening_count = 2,
                          .openings = openings,
                          .track_count = 3,
                          .tracks = tracks};
    FacetSpeedMap maps[3];
    const int threads[3] = {1, 2, 4};
    for (int k = 0; k < 3; k++) {
        FacetPool *pool;
        assert_ok(facet_pool_create(&pool, threads[k]));
        assert_ok(facet_speed_map_create(&maps[k], &course, &model, &preset, pool, NULL));
        facet_pool_destroy(pool);
        assert_int_equal(maps[k].tracks, 3);
        assert_int_equal(maps[k].openings, 2);
    }
    int feasible = 0;
    for (int t = 0; t < 3; t++) {
        for (int o = 0; o < 2; o++) {
            FacetCourseTask task = {t, o};
            const FacetSpeedCell *one = facet_speed_map_at(&maps[0], task);
            feasible += one->feasible;
            for (int k = 1; k < 3; k++) {
                const FacetSpeedCell *other = facet_speed_map_at(&maps[k], task);
                assert_int_equal(one->feasible, other->feasible);
                assert_memory_equal(&one->speed, &other->speed, sizeof one->speed);
                assert_memory_equal(&one->best_ratio, &other->best_ratio, sizeof one->best_ratio);
            }
            // A cell is the search of its own task.
            if (t == 1 && o == 1) {
                FacetFlightSetup setup =
                    in_still_air(&model, &preset, &ARENA, &tracks[t], openings[o].half_width);
                assert_near(one->speed, search(&setup, 3.0, 5.0).speed, 0.0);
            }
        }
    }
    assert_between(feasible, 1, 5); // cells of both kinds were compared
    for (int k = 0; k < 3; k++) facet_speed_map_destroy(&maps[k]);
    assert_null(maps[0].cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_goes_through_the_track),
        cmocka_unit_test(command_is_refused_where_there_is_no_spline),
        cmocka_unit_test(easy_task_reaches_the_highest_speed),
        cmocka_unit_test(impossible_task_is_infeasible),
        cmocka_unit_test(reserve_is_kept),
        cmocka_unit_test(search_finds_the_limit),
        cmocka_unit_test(speed_map_has_the_same_bits_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
