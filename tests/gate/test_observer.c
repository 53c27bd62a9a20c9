// The observer's weights: least squares that forget, worked out here from the sum itself; fixes
// that are refused; and flights whose pilot says how sure it is.
#include "base/rng.h"
#include "factor/factor.h"
#include "gate/observer.h"
#include "gates.h"

#define INTERVAL 0.1
#define TIME     0.5

static Observer make_keeping(double velocity_time)
{
    const FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    return observer_make(&model, (FacetQuat){1.0, 0.0, 0.0, 0.0}, INTERVAL, TIME, velocity_time);
}

static Observer make(void) { return make_keeping(TIME); }

// Straight on for the time between two fixes, as a vehicle without thrust and weight.
static void coast(Observer *observer)
{
    FacetQuadState *state = &observer->state;
    state->pos_world = vec3_axpy(state->pos_world, INTERVAL, state->vel_world);
}

static FacetVec3 fix_at(int i)
{
    return vec3(0.3 * i + sin(2.0 * i), cos(1.7 * i), 0.4 * sin(0.9 * i));
}

// ---- Weights ------------------------------------------------------------------------------------

// After a while, when the start is forgotten.
static void equal_variances_give_the_plain_gains_in_the_end(void **unused)
{
    (void)unused;
    Observer plain = make(), weighing = make();
    for (int i = 0; i < 120; i++) {
        assert_true(observer_fix(&plain, fix_at(i), 0.0));
        assert_true(observer_fix(&weighing, fix_at(i), 0.37));
        coast(&plain);
        coast(&weighing);
    }
    assert_vec3_near(weighing.state.pos_world, plain.state.pos_world, 1e-7);
    assert_vec3_near(weighing.state.vel_world, plain.state.vel_world, 1e-7);
    assert_near(weighing.pos_pos, 0.37 * plain.position_gain, 1e-8);
}

// The sums of weighted least squares of a line in one axis, seen from the time of the last fix.
typedef struct Sums {
    double w, wt, wtt, wx, wtx;
} Sums;

static void add(Sums *s, double weight, double time, double x)
{
    s->w += weight;
    s->wt += weight * time;
    s->wtt += weight * time * time;
    s->wx += weight * x;
    s->wtx += weight * time * x;
}

// Position and velocity now of the line through the fixes 0 ... last, and at rest at the first of
// them as far as a start is known to be.
static void fit(double *position, double *velocity, const double *variances, int last)
{
    double z = exp(-INTERVAL / TIME);
    Sums s = {.wtt = pow(z, last) / (OBSERVER_START_SPEED * OBSERVER_START_SPEED)};
    for (int k = 0; k <= last; k++)
        add(&s, pow(z, last - k) / variances[k], (k - last) * INTERVAL, fix_at(k).x);
    double det = s.w * s.wtt - s.wt * s.wt;
    *position = (s.wtt * s.wx - s.wt * s.wtx) / det;
    *velocity = (s.w * s.wtx - s.wt * s.wx) / det;
}

static void weights_are_those_of_least_squares(void **unused)
{
    (void)unused;
    enum { FIXES = 25 };
    double variances[FIXES];
    Observer observer = make();
    for (int i = 0; i < FIXES; i++) {
        double position, velocity;
        variances[i] = i % 5 == 3 ? 4.0 : i % 3 ? 0.04 : 0.3;
        observer_fix(&observer, fix_at(i), variances[i]);
        fit(&position, &velocity, variances, i);
        assert_near(observer.state.pos_world.x, position, 1e-9);
        assert_near(observer.state.vel_world.x, velocity, 1e-8);
        coast(&observer);
    }
}

typedef struct Pair {
    double m[2][2];
} Pair;

static Pair times(Pair a, Pair b)
{
    Pair out = {{{0.0}}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 2; k++) out.m[i][j] += a.m[i][k] * b.m[k][j];
    return out;
}

// The recursion with matrices, for one axis, and both forgotten at their own pace.
static void the_velocity_is_forgotten_at_its_own_pace(void **unused)
{
    (void)unused;
    static const double times_kept[] = {TIME, 2.0, HUGE_VAL};
    for (int t = 0; t < 3; t++) {
        Observer observer = make_keeping(times_kept[t]);
        double x = 0.0, v = 0.0, start = OBSERVER_START_SPEED * OBSERVER_START_SPEED;
        const double grow = exp(0.5 * INTERVAL / TIME),
                     grow_velocity = exp(0.5 * INTERVAL / times_kept[t]);
        const Pair step = {{{grow, grow * INTERVAL}, {0.0, grow_velocity}}};
        const Pair back = {{{grow, 0.0}, {grow * INTERVAL, grow_velocity}}};
        Pair known = {{{0.3, 0.0}, {0.0, start}}};
        for (int i = 0; i < 25; i++) {
            double variance = i == 0 ? 0.3 : i % 3 ? 0.04 : 0.5, fix = fix_at(i).x;
            observer_fix(&observer, fix_at(i), variance);
            if (i == 0) x = fix;
            if (i > 0) {
                known = times(times(step, known), back);
                double sum = known.m[0][0] + variance, error = fix - x;
                double gains[2] = {known.m[0][0] / sum, known.m[1][0] / sum};
                x += gains[0] * error, v += gains[1] * error;
                const Pair kept = {{{1.0 - gains[0], 0.0}, {-gains[1], 1.0}}};
                known = times(kept, known);
            }
            assert_near(observer.state.pos_world.x, x, 1e-12);
            assert_near(observer.state.vel_world.x, v, 1e-12);
            assert_near(observer.vel_vel, known.m[1][1], 1e-12);
            coast(&observer);
            x += INTERVAL * v;
        }
        assert_true(t < 2 || observer.vel_vel < start);
    }
}

// A pilot that sees the gate 2 m ahead for ever: the vehicle flies on all the same, and who keeps
// what is known of its speed knows by how much.
static void a_place_that_fixes_insist_on_does_not_stop_the_estimate(void **unused)
{
    (void)unused;
    double behind[2], speeds[2];
    for (int i = 0; i < 2; i++) {
        Observer observer = make_keeping(i == 0 ? TIME : HUGE_VAL);
        for (int k = 0; k < 40; k++) {
            if (k == 5) observer.state.vel_world.x = 2.0; // as the thrusts said
            observer_fix(&observer, vec3(0.0, 0.0, 0.0), 2.25);
            coast(&observer);
        }
        behind[i] = observer.state.pos_world.x;
        speeds[i] = observer.state.vel_world.x;
    }
    assert_less(fabs(speeds[0]), 0.3); // it is taken to be at rest
    assert_less(behind[0], 0.3);
    assert_true(speeds[1] > 1.5);
    assert_true(behind[1] > 0.8); // 2 m/s for T
}

static void an_uncertain_fix_moves_less(void **unused)
{
    (void)unused;
    double moved[3];
    const double variances[3] = {0.01, 0.04, 4.0};
    for (int i = 0; i < 3; i++) {
        Observer observer = make();
        for (int k = 0; k < 200; k++) observer_fix(&observer, vec3(0.0, 0.0, 0.0), 0.04);
        observer_fix(&observer, vec3(1.0, 0.0, 0.0), variances[i]);
        moved[i] = observer.state.pos_world.x;
    }
    assert_near(moved[1], make().position_gain, 1e-12);
    assert_true(moved[0] > 1.5 * moved[1]);
    assert_less(moved[2], 0.05 * moved[1]);
}

// ---- Refusing -----------------------------------------------------------------------------------

static Observer resting(double sigma, int most)
{
    Observer observer = make();
    observer.refuse_sigma = sigma;
    observer.refuse_most = most;
    for (int k = 0; k < 10; k++) assert_true(observer_fix(&observer, vec3(0.0, 0.0, 0.0), 0.04));
    return observer;
}

// What is expected of a fix's distance there is sqrt(0.04) / z = 0.244 m.
static void a_jump_is_refused_so_often_and_no_more(void **unused)
{
    (void)unused;
    const FacetVec3 jump = {0.8, 0.0, 0.0}, near = {0.7, 0.0, 0.0};
    Observer observer = resting(3.0, 2);
    assert_true(observer_fix(&observer, near, 0.04));
    observer = resting(3.0, 2);
    assert_false(observer_fix(&observer, jump, 0.04));
    assert_near(observer.state.pos_world.x, 0.0, 0.0);
    assert_near(observer.state.vel_world.x, 0.0, 0.0);
    double known = observer.pos_pos;
    assert_false(observer_fix(&observer, jump, 0.001));
    assert_true(observer.pos_pos > known);
    assert_true(observer_fix(&observer, jump, 0.04)); // the third is taken, with more weight
    assert_true(observer.state.pos_world.x > 1.2 * 0.8 * observer.position_gain);
    // One that is uncertain is no jump, and a fix that was taken lets two more be refused.
    observer = resting(3.0, 2);
    assert_true(observer_fix(&observer, jump, 0.16));
    observer = resting(3.0, 2);
    assert_false(observer_fix(&observer, jump, 0.04));
    assert_true(observer_fix(&observer, vec3(0.0, 0.0, 0.0), 0.04));
    assert_false(observer_fix(&observer, vec3(4.0, 0.0, 0.0), 0.04));
    assert_false(observer_fix(&observer, vec3(4.0, 0.0, 0.0), 0.04));
    // Nothing is refused without a limit, with none allowed in a row, or where nobody knows.
    observer = resting(0.0, 2);
    assert_true(observer_fix(&observer, vec3(90.0, 0.0, 0.0), 0.04));
    observer = resting(3.0, 0);
    assert_true(observer_fix(&observer, jump, 0.04));
    observer = resting(3.0, 2);
    assert_true(observer_fix(&observer, jump, 0.0));
    assert_near(observer.state.pos_world.x, 0.8 * observer.position_gain, 1e-12);
}

// ---- Flights ------------------------------------------------------------------------------------

// Sure of a wrong place, now and then.
typedef struct JumpingPilot {
    const FacetGateWorld *world;
    double jump; // m, along x of the world, every fifth frame
    double variance;
    double doubt; // m^2, its variance in these frames, and 0 in the others; 0 changes nothing
} JumpingPilot;

static FacetStatus plan_jumps(double *offsets, void *context, const FacetGateView *view)
{
    JumpingPilot *pilot = context;
    ShiftedPilot lost = {.world = pilot->world};
    bool jumps = view->frame % 5 == 4;
    if (jumps) lost.shift.x = pilot->jump;
    if (pilot->doubt > 0.0) pilot->variance = jumps ? pilot->doubt : 0.0;
    assert_near(view->variance, 0.0, 0.0); // it is for the watch
    return plan_shifted(offsets, &lost, view);
}

static FacetStatus watch_variance(void *context, const FacetGateView *view, const double *offsets,
                                  FacetVec3 estimate)
{
    (void)offsets, (void)estimate;
    *(double *)context = view->variance;
    return status_ok();
}

static FacetGateFlight fly(const FacetGateWorld *world, JumpingPilot *jumping, bool tells)
{
    FacetGateTrial trial;
    FacetGateFlight flight;
    double seen = -1.0;
    const FacetGatePilot pilot = {
        .plan = plan_jumps, .context = jumping, .variance = tells ? &jumping->variance : NULL};
    const FacetGateWatch watch = {.frame = watch_variance, .context = &seen};
    assert_ok(facet_gate_trial(&trial, world, factor_task_at(world->space, 5), 3, 1));
    assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, &watch));
    assert_near(seen, tells ? jumping->variance : 0.0, 0.0);
    return flight;
}

static void flights_refuse_jumps(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    JumpingPilot pilot = {.world = world, .jump = 1.5, .variance = 0.01};
    world->fix_share = 0.0; // so that weights are the pilot's, but for a floor that is small
    world->fix_floor = 0.2;
    FacetGateFlight plain = fly(world, &pilot, false);
    world->refuse_sigma = 3.0;
    FacetGateFlight refusing = fly(world, &pilot, true), untold = fly(world, &pilot, false);
    assert_int_equal(refusing.refused, refusing.frames / 5);
    assert_less(refusing.estimate_error, 0.3 * plain.estimate_error);
    // Without a variance nothing changes, to the bit.
    assert_int_equal(untold.end, plain.end);
    assert_near(untold.duration, plain.duration, 0.0);
    assert_near(untold.miss, plain.miss, 0.0);
    assert_near(untold.estimate_error, plain.estimate_error, 0.0);
    assert_int_equal(plain.refused, 0);
    facet_gate_world_destroy(world);
}

// Too far and too near by a share of the distance, for half a second each.
static FacetStatus plan_shares(double *offsets, void *context, const FacetGateView *view)
{
    ShiftedPilot lost = {.world = context};
    double share = view->frame / 5 % 2 ? 0.7 : 1.3;
    TRY(plan_shifted(offsets, &lost, view));
    for (int i = 0; i < FACET_GATE_HORIZON * FACET_GATE_DIM; i++) offsets[i] *= share;
    return status_ok();
}

// Far fixes count less where it is known that they are worse, without a word of the pilot.
static void fixes_are_weighed_by_their_distance(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    const FacetGatePilot pilot = {.plan = plan_shares, .context = world};
    double durations[2] = {0.0, 0.0};
    for (int i = 0; i < 2; i++)
        for (int number = 1; number <= 4; number++) {
            FacetGateTrial trial;
            FacetGateFlight flight;
            world->fix_share = 0.3 * i;
            assert_ok(facet_gate_trial(&trial, world, factor_task_at(world->space, 5), 3,
                                       (uint64_t)number));
            assert_ok(facet_gate_fly(&flight, world, &trial, &pilot, NULL));
            assert_true(i == 0 || flight.end == FACET_GATE_SUCCESS);
            durations[i] += flight.duration;
        }
    assert_less(durations[1], 0.8 * durations[0]); // it does not sway to and fro
    facet_gate_world_destroy(world);
}

// What a pilot says comes on top of what a fix is off at least.
static void fixes_in_doubt_move_the_estimate_less(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    JumpingPilot sure = {.world = world, .jump = 1.5}, doubting = sure;
    doubting.doubt = 25.0;
    world->fix_share = 0.0;
    assert_less(fly(world, &doubting, true).estimate_error,
                0.5 * fly(world, &sure, true).estimate_error);
    facet_gate_world_destroy(world);
}

// How long is the world's to say.
static void the_velocity_is_kept_in_flight(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    JumpingPilot pilot = {.world = world, .jump = 1.5};
    FacetGateFlight usual = fly(world, &pilot, false);
    world->velocity_time = world->observer_time;
    FacetGateFlight forgetting = fly(world, &pilot, false);
    assert_true(fabs(usual.estimate_error - forgetting.estimate_error) > 1e-6);
    // 0 is for ever.
    world->velocity_time = 0.0;
    FacetGateFlight keeping = fly(world, &pilot, false);
    world->velocity_time = 1e9;
    FacetGateFlight almost = fly(world, &pilot, false);
    assert_near(keeping.estimate_error, almost.estimate_error, 1e-6);
    assert_true(fabs(usual.estimate_error - keeping.estimate_error) > 1e-5);
    facet_gate_world_destroy(world);
}

static void wrong_numbers_are_refused(void **unused)
{
    (void)unused;
    FacetGateWorld *world = shipped_world();
    static const double wrong[] = {-0.1, NAN, INFINITY};
    FacetGateTrial trial;
    FacetGateFlight flight;
    assert_ok(facet_gate_trial(&trial, world, factor_task_at(world->space, 5), 3, 1));
    for (int i = 0; i < 3; i++) {
        JumpingPilot jumping = {.world = world, .variance = wrong[i]};
        const FacetGatePilot pilot = {
            .plan = plan_jumps, .context = &jumping, .variance = &jumping.variance};
        assert_refused(facet_gate_fly(&flight, world, &trial, &pilot, NULL),
                       "frame 0: variance of the pilot: expected a finite number of 0 or more");
    }
    FacetGatePilot expert = facet_gate_expert(world);
    static const double times[][2] = {{0.0, 4.0},  {1e-4, 4.0}, {NAN, 4.0},
                                      {0.3, -1.0}, {0.3, NAN},  {0.3, 0.05}};
    for (int i = 0; i < 6; i++) {
        world->observer_time = times[i][0], world->velocity_time = times[i][1];
        assert_refused(facet_gate_fly(&flight, world, &trial, &expert, NULL),
                       "the observer: expected a time of no less than 0.01 s, and for the velocity "
                       "0 s or no less than the 0.1 s of a frame");
    }
    world->observer_time = 0.01, world->velocity_time = 0.1;
    assert_ok(facet_gate_fly(&flight, world, &trial, &expert, NULL));
    world->observer_time = 0.3, world->velocity_time = 0.0;
    world->fix_share = -0.1;
    assert_refused(facet_gate_fly(&flight, world, &trial, &expert, NULL),
                   "fixes: expected that they are off by a share of 0 or more");
    world->fix_share = 0.0;
    world->fix_floor = HUGE_VAL;
    assert_refused(facet_gate_fly(&flight, world, &trial, &expert, NULL),
                   "fixes: expected that they are off by more than 0 m at least, found inf");
    world->fix_floor = 0.0;
    assert_refused(facet_gate_fly(&flight, world, &trial, &expert, NULL),
                   "fixes: expected that they are off by more than 0 m at least, found 0");
    facet_gate_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_variances_give_the_plain_gains_in_the_end),
        cmocka_unit_test(weights_are_those_of_least_squares),
        cmocka_unit_test(the_velocity_is_forgotten_at_its_own_pace),
        cmocka_unit_test(a_place_that_fixes_insist_on_does_not_stop_the_estimate),
        cmocka_unit_test(an_uncertain_fix_moves_less),
        cmocka_unit_test(a_jump_is_refused_so_often_and_no_more),
        cmocka_unit_test(flights_refuse_jumps),
        cmocka_unit_test(fixes_are_weighed_by_their_distance),
        cmocka_unit_test(fixes_in_doubt_move_the_estimate_less),
        cmocka_unit_test(the_velocity_is_kept_in_flight),
        cmocka_unit_test(wrong_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
