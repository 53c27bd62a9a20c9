// The task: its factors, what counts as passed, and where trials start.
#include "factor/factor.h"
#include "gates.h"

static void the_shipped_tasks(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    static const char *const names[] = {"venue", "color", "gate", "side"};
    static const int counts[] = {4, 3, 5, 2};
    assert_int_equal(facet_factor_count(world->space), FACET_GATE_FACTORS);
    for (int i = 0; i < FACET_GATE_FACTORS; i++) {
        assert_string_equal(facet_factor_name(world->space, i), names[i]);
        assert_int_equal(facet_factor_value_count(world->space, i), counts[i]);
    }
    assert_int_equal(factor_task_count(world->space), 120);
    FacetFactorTask task = task_of(world, "piazza/blue/4/-1");
    assert_string_equal(facet_venue_name(facet_gate_venue(world, task)), "piazza");
    const FacetCourseGate *gate = facet_venue_gate(facet_gate_venue(world, task), 3);
    FacetCourseGate target = facet_gate_target(world, task);
    assert_vec3_near(target.center, gate->center, 0.0);
    assert_vec3_near(target.normal, vec3_scale(gate->normal, -1.0), 0.0);
    target = facet_gate_target(world, task_of(world, "piazza/blue/4/+1"));
    assert_vec3_near(target.normal, gate->normal, 0.0);
    facet_gate_world_destroy(world);
}

// Gates stand near enough to each other that which one is meant is a question.
static void several_gates_are_in_view(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    int frames = 0, several = 0;
    for (int i = 0; i < 240; i++) {
        FacetGateTrial trial;
        FacetFactorTask task = factor_task_at(world->space, i % 120);
        assert_ok(facet_gate_trial(&trial, world, task, 3, (uint64_t)i));
        const FacetVenue *venue = facet_gate_venue(world, task);
        int seen = 0;
        for (int k = 0; k < facet_venue_gate_count(venue); k++) {
            double u, v;
            seen +=
                facet_camera_project(&u, &v, &world->camera, trial.start.pos_world,
                                     trial.start.attitude, facet_venue_gate(venue, k)->center) &&
                u >= 0.0 && u < 320.0 && v >= 0.0 && v < 240.0;
        }
        assert_true(seen >= 1); // the target
        frames++;
        several += seen > 1;
    }
    assert_true(several > frames / 2);
    facet_gate_world_destroy(world);
}

// ---- Passing ------------------------------------------------------------------------------------

// A motion of 2 cm through a point of the gate's plane, along the normal or against it.
static bool passes(double *miss, const FacetCourseGate *gate, double sideways, double up,
                   double along)
{
    FacetVec3 point = vec3_axpy(gate->center, sideways, across(gate));
    point.z += up;
    return facet_gate_passed(miss, gate, 0.762, vec3_axpy(point, -0.01 * along, gate->normal),
                             vec3_axpy(point, 0.01 * along, gate->normal));
}

static void passing_by_hand(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    double miss = -1.0;
    for (int gate = 0; gate < 5; gate++)
        for (int side = 0; side < 2; side++) {
            FacetFactorTask task = {{0, 0, gate, side}};
            for (int i = FACET_GATE_FACTORS; i < FACET_FACTOR_MAX; i++)
                task.value[i] = FACET_FACTOR_NULL;
            FacetCourseGate target = facet_gate_target(world, task);
            assert_true(passes(&miss, &target, 0.0, 0.0, 1.0));
            assert_near(miss, 0.0, 1e-12);
            // The opening is a square: its corner is farther than its half-width.
            assert_true(passes(&miss, &target, 0.76, -0.76, 1.0));
            assert_near(miss, 0.76 * sqrt(2.0), 1e-9);
            assert_true(passes(&miss, &target, -0.76, 0.76, 1.0));
            assert_false(passes(&miss, &target, 0.77, 0.0, 1.0));
            assert_near(miss, 0.77, 1e-9);
            assert_false(passes(&miss, &target, 0.0, -0.77, 1.0));
            // The wrong way, and a motion that ends before the plane.
            miss = -1.0;
            assert_false(passes(&miss, &target, 0.0, 0.0, -1.0));
            FacetVec3 near = vec3_axpy(target.center, -0.02, target.normal);
            assert_false(facet_gate_passed(&miss, &target, 0.762,
                                           vec3_axpy(near, -0.02, target.normal), near));
            assert_near(miss, -1.0, 0.0);
            // Another gate's opening is not this one's.
            task.value[FACET_GATE_FACTOR_GATE] = (gate + 1) % 5;
            FacetCourseGate other = facet_gate_target(world, task);
            assert_false(facet_gate_passed(&miss, &target, 0.762,
                                           vec3_axpy(other.center, -0.01, other.normal),
                                           vec3_axpy(other.center, 0.01, other.normal)));
        }
    facet_gate_world_destroy(world);
}

// ---- Colours ------------------------------------------------------------------------------------

// The target alone wears its colour; the others' change from trial to trial.
static void the_target_alone_has_its_color(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    int changed = 0;
    for (int i = 0; i < 240; i++) {
        FacetGateTrial trial;
        FacetCameraShot shot = {0}, next = {0};
        FacetFactorTask task = factor_task_at(world->space, i % 120);
        assert_ok(facet_gate_trial(&trial, world, task, 3, (uint64_t)i));
        assert_int_equal(trial.look, 0); // trials show the venue as it is
        facet_gate_paint(&shot, world, &trial);
        for (int k = 0; k < 5; k++)
            assert_int_equal(shot.colors[k] == task.value[FACET_GATE_FACTOR_COLOR],
                             k == task.value[FACET_GATE_FACTOR_GATE]);
        trial.number++;
        facet_gate_paint(&next, world, &trial);
        changed += memcmp(shot.colors, next.colors, sizeof shot.colors) != 0;
    }
    assert_true(changed > 200); // of 240; four gates stay as they are in one of 16
    facet_gate_world_destroy(world);
}

// ---- Spawns -------------------------------------------------------------------------------------

static void spawns_keep_to_their_ranges(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    double nearest = INFINITY, farthest = 0.0, widest = 0.0, most_turned = 0.0;
    for (int i = 0; i < 1200; i++) {
        FacetGateTrial trial;
        FacetFactorTask task = factor_task_at(world->space, i % 120);
        assert_ok(facet_gate_trial(&trial, world, task, 11, (uint64_t)i));
        FacetCourseGate gate = facet_gate_target(world, task);
        FacetVec3 pos = trial.start.pos_world, way = vec3_sub(gate.center, pos);
        double distance = vec3_norm(way), bearing = atan2(way.y, way.x);
        double axis = atan2(gate.normal.y, gate.normal.x);
        FacetVec3 nose = mat3_column(quat_to_mat3(trial.start.attitude), 0);
        double azimuth = fabs(remainder(bearing - axis, 2.0 * FACET_PI));
        double turned = fabs(remainder(atan2(nose.y, nose.x) - bearing, 2.0 * FACET_PI));
        assert_between(distance, 3.0 - 1e-9, 10.0);
        assert_less(azimuth, 0.25 * FACET_PI + 1e-9);
        assert_less(turned, world->heading_error + 1e-9);
        assert_less(fabs(pos.z - gate.center.z), 0.7 + 1e-9);
        assert_true(pos.z >= 0.8 - 1e-9);
        assert_near(nose.z, 0.0, 1e-12); // level
        assert_vec3_near(trial.start.vel_world, vec3(0.0, 0.0, 0.0), 0.0);
        double u, v;
        assert_true(
            facet_camera_project(&u, &v, &world->camera, pos, trial.start.attitude, gate.center));
        assert_between(u, 0.0, 320.0);
        assert_between(v, 0.0, 240.0);
        const FacetVenue *venue = facet_gate_venue(world, task);
        assert_near(facet_venue_clearance(venue, pos, 0.45), 0.45, 0.0);
        nearest = fmin(nearest, distance), farthest = fmax(farthest, distance);
        widest = fmax(widest, azimuth), most_turned = fmax(most_turned, turned);
    }
    // The ranges are used to their ends.
    assert_less(nearest, 3.2);
    assert_true(farthest > 9.8);
    assert_true(widest > 0.24 * FACET_PI);
    assert_true(most_turned > 0.42);
    facet_gate_world_destroy(world);
}

static void trials_follow_from_seed_and_number(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    FacetFactorTask task = task_of(world, "Field/red/2/+1");
    FacetGateTrial trial, again, other;
    assert_ok(facet_gate_trial(&trial, world, task, 5, 17));
    assert_ok(facet_gate_trial(&again, world, task, 5, 17));
    assert_memory_equal(&trial, &again, sizeof trial);
    assert_ok(facet_gate_trial(&other, world, task, 5, 18));
    assert_true(vec3_distance(trial.start.pos_world, other.start.pos_world) > 1e-3);
    assert_ok(facet_gate_trial(&other, world, task, 6, 17));
    assert_true(vec3_distance(trial.start.pos_world, other.start.pos_world) > 1e-3);
    facet_gate_world_destroy(world);
}

#define ONE_GATE                                                                                   \
    "{\"frame\": {\"half_width\": 0.762, \"bar\": 0.25, \"thickness\": 0.12},"                     \
    " \"gates\": [{\"name\": \"1\", \"center\": [0, 0, 2], \"normal\": [1, 0, 0]}],"               \
    " \"colors\": {\"red\": [0.9, 0.1, 0.1]}}"
#define WALLED_IN                                                                                  \
    "{\"description\": \"test\", \"sky\": " DARK_SKY ", \"light\": " DARK_LIGHT ","                \
    " \"materials\": {\"grey\": {\"pattern\": \"plain\", \"colors\": [[0.5, 0.5, 0.5]]}},"         \
    " \"poles\": \"grey\", \"objects\": ["                                                         \
    "{\"box\": [0.2, 60, 8], \"at\": [-2, 0, 0], \"material\": \"grey\"}]}"

// A wall before the gate: no trial from that side, and one from the other.
static void no_way_to_the_gate(void **unused)
{
    (void)unused;
    Scratch folder = scene_folder(ONE_GATE, WALLED_IN);
    FacetGateWorld *world;
    FacetGateTrial trial;
    assert_ok(facet_gate_world_create(&world, folder.folder));
    scratch_end(&folder);
    assert_refused(facet_gate_trial(&trial, world, task_of(world, "scene/red/1/+1"), 1, 1),
                   "scene/red/1/+1: expected a start with a free way to the gate");
    assert_ok(facet_gate_trial(&trial, world, task_of(world, "scene/red/1/-1"), 1, 1));
    assert_refused(facet_gate_trial(&trial, world, facet_factor_task_null(), 1, 1),
                   "expected a task with");
    facet_gate_world_destroy(world);
    assert_refused(facet_gate_world_create(&world, "no/folder"), "no/folder");
    assert_null(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_tasks),
        cmocka_unit_test(several_gates_are_in_view),
        cmocka_unit_test(passing_by_hand),
        cmocka_unit_test(the_target_alone_has_its_color),
        cmocka_unit_test(spawns_keep_to_their_ranges),
        cmocka_unit_test(trials_follow_from_seed_and_number),
        cmocka_unit_test(no_way_to_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
