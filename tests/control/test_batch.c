// The batched carrot and controller against the scalar, double-precision ones.
#include "base/rng.h"
#include "control/lanes.h"
#include "testing.h"

#include <stdlib.h>

static FacetVec3 random_vec3(FacetRng *rng, double size)
{
    double x = rng_range(rng, -size, size), y = rng_range(rng, -size, size);
    return vec3(x, y, rng_range(rng, -size, size));
}

static void set3(Lanes3 *out, int lane, FacetVec3 v)
{
    out->x[lane] = (float)v.x, out->y[lane] = (float)v.y, out->z[lane] = (float)v.z;
}

static FacetControlPreset race(void)
{
    FacetControlPreset preset;
    assert_ok(facet_control_preset(&preset, "race"));
    return preset;
}

// ---- Controller -------------------------------------------------------------------------------

// Compares the wrenches of eight states; tolerances are relative to the wrench's own size.
static void check_control(const FacetQuadState states[BATCH_LANES],
                          const FacetSetpoint targets[BATCH_LANES], double tolerance)
{
    FacetControlPreset preset = race();
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    QuadBatchModel numbers = quad_batch_model(&model);
    QuadBatch batch;
    SetpointLanes to;
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        quad_batch_set(&batch, lane, &states[lane]);
        set3(&to.pos, lane, targets[lane].pos);
        set3(&to.vel, lane, targets[lane].vel);
        set3(&to.acc, lane, targets[lane].acc);
        to.yaw[lane] = (float)targets[lane].yaw;
    }
    Lanes force, torque[3];
    se3_lanes_control(&force, torque, &preset.gains, &numbers, &batch, &to);
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        FacetSe3Output want;
        // The same inputs: the lanes' own rounding of them is not what is tested.
        FacetQuadState state = quad_batch_get(&batch, lane);
        FacetSetpoint target = {
            .pos = {(double)to.pos.x[lane], (double)to.pos.y[lane], (double)to.pos.z[lane]},
            .vel = {(double)to.vel.x[lane], (double)to.vel.y[lane], (double)to.vel.z[lane]},
            .acc = {(double)to.acc.x[lane], (double)to.acc.y[lane], (double)to.acc.z[lane]},
            .yaw = (double)to.yaw[lane]};
        facet_se3_control(&want, &preset.gains, &params, &state, &target);
        double size = 1.0 + vec3_norm(want.wrench.torque);
        assert_near((double)force[lane], want.wrench.force,
                    tolerance * (1.0 + fabs(want.wrench.force)));
        assert_near((double)torque[0][lane], want.wrench.torque.x, tolerance * size);
        assert_near((double)torque[1][lane], want.wrench.torque.y, tolerance * size);
        assert_near((double)torque[2][lane], want.wrench.torque.z, tolerance * size);
    }
}

static void controller_in_any_attitude(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(21, 0);
    for (int round = 0; round < 500; round++) {
        FacetQuadState states[BATCH_LANES];
        FacetSetpoint targets[BATCH_LANES];
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            states[lane] = (FacetQuadState){.pos_world = random_vec3(&rng, 10.0),
                                            .attitude = quat_exp(random_vec3(&rng, 1.8)),
                                            .vel_world = random_vec3(&rng, 8.0),
                                            .omega_body = random_vec3(&rng, 8.0)};
            targets[lane] =
                (FacetSetpoint){.pos = vec3_add(states[lane].pos_world, random_vec3(&rng, 1.5)),
                                .vel = vec3_add(states[lane].vel_world, random_vec3(&rng, 1.5)),
                                .acc = random_vec3(&rng, 2.0),
                                .yaw = rng_range(&rng, -12.0, 12.0)};
        }
        check_control(states, targets, 2e-4);
    }
}

// Every guard of the law: no force wanted, force along the heading, a half turn away.
static void controller_guards(void **unused)
{
    (void)unused;
    double gravity = facet_quad_params_default().gravity;
    FacetQuadState states[BATCH_LANES];
    FacetSetpoint targets[BATCH_LANES];
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        states[lane] = (FacetQuadState){.attitude = quat_identity()};
        targets[lane] = (FacetSetpoint){0};
    }
    // Free fall wanted, level and tilted.
    targets[0].acc = targets[1].acc = vec3(0.0, 0.0, -gravity);
    states[1].attitude = quat_exp(vec3(0.4, -0.2, 0.7));
    // The wanted force points along the heading.
    targets[2].acc = targets[3].acc = vec3(5.0, 0.0, -gravity);
    states[3].attitude = quat_exp(vec3(0.1, 0.9, 0.0));
    // Upside down: e_R has no direction, or hardly one.
    states[4].attitude = (FacetQuat){0.0, 1.0, 0.0, 0.0};
    states[5].attitude = (FacetQuat){0.0, 0.0, 1.0, 0.0};
    states[6].attitude = quat_normalize((FacetQuat){0.01, 0.6, 0.8, 0.0});
    check_control(states, targets, 1e-5);
}

// ---- Carrot -----------------------------------------------------------------------------------

// A winding plan with a loop and turns tighter than the window.
static FacetReference winding_plan(double phase)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double u = 0.35 * i + phase;
        chunk[i] = (FacetKeypoint){
            {0.9 * u + 1.6 * sin(1.9 * u), 2.2 * cos(1.3 * u), 2.0 + 0.8 * sin(0.7 * u)},
            3.0 + sin(u)};
    }
    FacetReference reference;
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    return reference;
}

// The scalar carrot at the same progress as a lane. The two may part by a hair where two points of
// the plan are equally near, so every step starts them from the same place.
static FacetCarrot carrot_of_lane(const CarrotLanes *carrots, int lane, const FacetReference *plan)
{
    FacetCarrot carrot = {.arc = (double)carrots->arc[lane]};
    while (carrot.segment < PLAN_SEGMENTS - 1 && plan->arc[carrot.segment + 1] <= carrot.arc)
        carrot.segment++;
    return carrot;
}

// Vehicles that wander about their plans at about `offset` from them, forwards and backwards. The
// lane's nearest point must be as near as the scalar search's, and where it is the same point, the
// set-point must be the same. Far from a plan the progress may stay behind.
static void check_carrot(double offset, double least_progress, uint64_t seed)
{
    enum { STEPS = 4000 };
    FacetControlPreset preset = race();
    CarrotLanes *carrots = malloc(sizeof *carrots);
    FacetReference *plans = malloc(BATCH_LANES * sizeof *plans);
    assert_true(carrots);
    assert_true(plans);
    FacetRng rng = rng_make(seed, 0);
    double phases[BATCH_LANES];
    FacetVec3 x[BATCH_LANES];
    Lanes pos[3], moved = {0};
    int same = 0;
    carrot_lanes_init(carrots, &preset.carrot);
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        plans[lane] = winding_plan(0.6 * lane);
        phases[lane] = rng_range(&rng, 0.0, 6.0);
        carrot_lanes_load(carrots, lane, &plans[lane]);
    }
    for (int step = 0; step < STEPS; step++) {
        FacetCarrot scalar[BATCH_LANES];
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            double s = (double)step / STEPS * FACET_REFERENCE_WAYPOINTS +
                       3.0 * sin(0.01 * step + phases[lane]);
            int i = (int)clamp(s, 0.0, PLAN_SEGMENTS - 1);
            FacetVec3 on =
                vec3_lerp(plans[lane].pos[i], plans[lane].pos[i + 1], clamp(s - i, 0.0, 1.0));
            double turn = 0.004 * step + phases[lane];
            pos[0][lane] = (float)(on.x + offset * cos(turn));
            pos[1][lane] = (float)(on.y + offset * sin(1.7 * turn));
            pos[2][lane] = (float)(on.z + 0.5 * offset * sin(turn));
            FacetVec3 next = {(double)pos[0][lane], (double)pos[1][lane], (double)pos[2][lane]};
            moved[lane] = step ? (float)vec3_distance(next, x[lane]) : 0.0f;
            x[lane] = next;
            scalar[lane] = carrot_of_lane(carrots, lane, &plans[lane]);
        }
        SetpointLanes got;
        carrot_lanes_advance(&got, carrots, pos, &moved, LANES_ALL);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            FacetSetpoint want =
                facet_carrot_advance(&scalar[lane], &preset.carrot, &plans[lane], x[lane]);
            assert_near((double)carrots->distance[lane], scalar[lane].distance, 1e-5);
            if (fabs((double)carrots->arc[lane] - scalar[lane].arc) > 1e-4) continue;
            same++;
            assert_near((double)got.pos.x[lane], want.pos.x, 5e-4);
            assert_near((double)got.pos.y[lane], want.pos.y, 5e-4);
            assert_near((double)got.pos.z[lane], want.pos.z, 5e-4);
            assert_near((double)got.vel.x[lane], want.vel.x, 5e-3);
            assert_near((double)got.vel.y[lane], want.vel.y, 5e-3);
            assert_near((double)got.vel.z[lane], want.vel.z, 5e-3);
            assert_near((double)got.acc.x[lane], want.acc.x, 0.1);
            assert_near((double)got.acc.y[lane], want.acc.y, 0.1);
            assert_near((double)got.acc.z[lane], want.acc.z, 0.1);
            assert_near((double)got.yaw[lane], want.yaw, 5e-3);
        }
    }
    assert_true(same > STEPS * BATCH_LANES * 99 / 100);
    for (int lane = 0; lane < BATCH_LANES; lane++)
        assert_true((double)carrots->arc[lane] >
                    least_progress * facet_reference_length(&plans[lane]));
    free(carrots);
    free(plans);
}

static void carrot_near_the_plan(void **unused)
{
    (void)unused;
    check_carrot(0.05, 0.95, 22);
}

static void carrot_off_the_plan(void **unused)
{
    (void)unused;
    check_carrot(0.4, 0.95, 23);
}

static void carrot_far_off_the_plan(void **unused)
{
    (void)unused;
    check_carrot(1.5, 0.1, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(controller_in_any_attitude), cmocka_unit_test(controller_guards),
        cmocka_unit_test(carrot_near_the_plan),       cmocka_unit_test(carrot_off_the_plan),
        cmocka_unit_test(carrot_far_off_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
