// The attack on a gate's certificate: chains with errors, folds, and shifts that the first order
// knows.
#include "certify/gates.h"
#include "certify/small_course.h"
#include "math/geometry.h"
#include "policy/parts.h"
#include "policy/waves.h"

#include <facet_study/train.h>
#include <stdlib.h>

enum { STEPS = 4, SQUARE = PLAN_SIZE * PLAN_SIZE };

static FacetRace *race;
static FacetPolicy *policy;
static FacetCertifier *certifier;
static AttackRunner *runner;
static AttackTarget target;
static FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
static CrossingSensitivity sensitivity;

// A policy that knows little: its plans are not flown, but its chain is as real as any.
static int open_study(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    FacetPlanCertificate plan;
    demos.rollouts = 2;
    training.epochs = 1;
    race = open_course(2);
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_ok(facet_certifier_create(&certifier, policy, STEPS, race->pool));
    assert_ok(attack_runner_create(&runner, policy, STEPS, race->pool));
    straight_plan(chunk);
    target = (AttackTarget){.race = race,
                            .task = task_named(race, "straight/large"),
                            .plan = own_pace(chunk),
                            .policy = policy,
                            .seed = 3,
                            .sensitivity = &sensitivity};
    assert_ok(facet_race_policy_task(&target.factors, policy, race, target.task));
    assert_ok(facet_certifier_plan(&plan, certifier, target.factors, target.seed, NULL));
    target.path = certifier_path(certifier);
    assert_ok(crossing_sensitivity(&sensitivity, race, target.task, target.plan, policy->normalizer,
                                   CROSSING_STEP));
    return 0;
}

static int close_study(void **state)
{
    attack_runner_destroy(runner);
    facet_certifier_destroy(certifier);
    facet_policy_destroy(policy);
    facet_race_close(race);
    return scratch_leave(state);
}

// The path with errors of its own: each step's moves its own result by 0.01.
static PathStep small_steps[STEPS];

static DenoisingPath small_path(void)
{
    DenoisingPath path = *target.path;
    for (int k = 0; k < STEPS; k++) {
        small_steps[k] = target.path->step[k];
        small_steps[k].mismatch = 0.01 / fabs(small_steps[k].c2);
    }
    path.step = small_steps;
    return path;
}

static const double *nominal_end(void) { return target.path->nominal + (size_t)STEPS * PLAN_SIZE; }

static void chains_without_errors_end_where_the_nominal_does(void **state)
{
    (void)state;
    double *errors = calloc((size_t)ATTACK_PLANS * STEPS * PLAN_SIZE, sizeof *errors);
    double ends[ATTACK_PLANS][PLAN_SIZE];
    // One chain has an error at the last step, which moves its end by c2 times that.
    double *last = errors + ((size_t)3 * STEPS + STEPS - 1) * PLAN_SIZE;
    last[5] = 0.25;
    assert_ok(attack_chains(ends[0], runner, &target, errors));
    for (int i = 0; i < ATTACK_PLANS; i++)
        for (int j = 0; j < PLAN_SIZE; j++) {
            double moved = i == 3 && j == 5 ? target.path->step[STEPS - 1].c2 * 0.25 : 0.0;
            assert_near(ends[i][j], nominal_end()[j] + moved, 2e-6);
        }
    free(errors);
}

static void rows_go_back_through_the_chain(void **state)
{
    (void)state;
    double rows[2][PLAN_SIZE] = {{0.0}}, *out = calloc((size_t)STEPS * 2 * PLAN_SIZE, sizeof *out);
    rows[0][7] = 1.0;
    rows[1][100] = -2.0;
    attack_rows(out, rows[0], target.path->transition, 2, STEPS);
    assert_memory_equal(out + (size_t)(STEPS - 1) * 2 * PLAN_SIZE, rows, sizeof rows);
    // Before the last step they are rows of its transition.
    const double *m = target.path->transition + (size_t)(STEPS - 1) * SQUARE;
    const double *before = out + (size_t)(STEPS - 2) * 2 * PLAN_SIZE;
    for (int j = 0; j < PLAN_SIZE; j++) {
        assert_near(before[j], m[7 * PLAN_SIZE + j], 1e-12);
        assert_near(before[PLAN_SIZE + j], -2.0 * m[100 * PLAN_SIZE + j], 1e-12);
    }
    free(out);
}

static void longer_segments_fold_less(void **state)
{
    (void)state;
    double fold, half;
    FacetKeypoint longer[FACET_CHUNK_KEYPOINTS];
    DenoisingPath path = small_path();
    AttackTarget other = target;
    other.path = &path;
    assert_ok(attack_fold(&fold, &other));
    assert_true(fold > 0.0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        longer[i] = chunk[i];
        longer[i].pos.x *= 2.0;
    }
    other.plan = own_pace(longer);
    assert_ok(attack_fold(&half, &other));
    assert_near(half, 0.5 * fold, 1e-9 * fold);
    longer[4].pos = longer[3].pos; // a segment without length folds at once
    assert_ok(attack_fold(&half, &other));
    assert_true(isinf(half));
}

// With errors that small, the first order is nearly all there is: the attack
// comes close to the bound and not beyond it.
static void small_errors_shift_as_the_first_order_says(void **state)
{
    (void)state;
    DenoisingPath path = small_path();
    AttackTarget small = target;
    double c2[STEPS], eps[STEPS], gap, shift, again;
    for (int k = 0; k < STEPS; k++) {
        c2[k] = path.step[k].c2;
        eps[k] = path.step[k].mismatch;
    }
    small.path = &path;
    CrossingRadius radius[FACET_TRACK_GATES_MAX];
    double *rows = calloc((size_t)STEPS * 2 * PLAN_SIZE, sizeof *rows);
    crossing_radius(radius, &sensitivity, c2, path.transition, eps, STEPS);
    attack_rows(rows, sensitivity.gate[1].slope[0], path.transition, 2, STEPS);
    assert_ok(attack_probe(&gap, &small, 1, rows));
    assert_less(gap, 0.25);
    assert_ok(attack_gate(&shift, runner, &small, 1, rows, INFINITY));
    assert_true(shift > 0.6 * radius[1].radius);
    assert_less(shift, 1.3 * radius[1].radius);
    assert_ok(attack_gate(&again, runner, &small, 1, rows, INFINITY));
    assert_near(again, shift, 0.0);
    free(rows);
}

// Where the first order is not all there is, the ascent finds more than its worst errors do.
static void the_ascent_goes_beyond_the_first_order(void **state)
{
    (void)state;
    DenoisingPath path = small_path();
    AttackTarget large = target;
    double first, shift, *rows = calloc((size_t)STEPS * 2 * PLAN_SIZE, sizeof *rows);
    for (int k = 0; k < STEPS; k++) small_steps[k].mismatch *= 4.0;
    large.path = &path;
    attack_rows(rows, sensitivity.gate[0].slope[0], path.transition, 2, STEPS);
    assert_ok(attack_gate(&first, runner, &large, 0, rows, 0.0)); // enough at once
    assert_ok(attack_gate(&shift, runner, &large, 0, rows, INFINITY));
    assert_true(first > 0.0 && isfinite(first));
    assert_less(1.7 * first, shift);
    free(rows);
}

// Eight different candidates are denoised, not eight times the one that shifts most.
static void the_candidates_that_shift_most_are_taken_once(void **state)
{
    (void)state;
    double shifts[] = {0.0, 0.5, 3.0, 0.25, INFINITY, 0.5, 2.0, 0.125, 0.0, INFINITY, 1.0, 0.375};
    static const int expected[ATTACK_PLANS] = {4, 9, 2, 6, 10, 1, 5, 11};
    double none[ATTACK_PLANS] = {0.0};
    int chosen[ATTACK_PLANS], times[ATTACK_PLANS] = {0};
    attack_choose(chosen, shifts, sizeof shifts / sizeof *shifts);
    for (int i = 0; i < ATTACK_PLANS; i++) assert_int_equal(chosen[i], expected[i]);
    attack_choose(chosen, none, ATTACK_PLANS); // where nothing shifts, all of them
    for (int i = 0; i < ATTACK_PLANS; i++) times[chosen[i]]++;
    for (int i = 0; i < ATTACK_PLANS; i++) assert_int_equal(times[i], 1);
}

// Errors beyond all floats break the chain: no plan comes out, and the claim is broken too.
static void a_chain_that_breaks_shifts_without_bound(void **state)
{
    (void)state;
    DenoisingPath path = small_path();
    AttackTarget broken = target;
    double shift, *rows = calloc((size_t)STEPS * 2 * PLAN_SIZE, sizeof *rows);
    for (int k = 0; k < STEPS; k++) small_steps[k].mismatch *= 1e60;
    broken.path = &path;
    attack_rows(rows, sensitivity.gate[1].slope[0], path.transition, 2, STEPS);
    assert_ok(attack_gate(&shift, runner, &broken, 1, rows, 1.0));
    assert_true(isinf(shift));
    free(rows);
}

static bool say_stop(void *context, const FacetProgressEvent *event)
{
    (void)context;
    return event->done > 0;
}

static void a_stop_is_heard_in_a_chain(void **unused)
{
    (void)unused;
    const FacetProgress host = {.report = say_stop};
    double *errors = calloc((size_t)ATTACK_PLANS * STEPS * PLAN_SIZE, sizeof *errors);
    double *ends = calloc((size_t)ATTACK_PLANS * PLAN_SIZE, sizeof *ends);
    AttackTarget watched = target;
    Progress progress;
    assert_non_null(errors);
    assert_non_null(ends);
    progress_begin(&progress, &host, "attack", 1);
    watched.progress = &progress;
    FacetStatus status = attack_chains(ends, runner, &watched, errors);
    progress_end(&progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    free(errors);
    free(ends);
}

// The gates of the straight plan, with the small errors times `scale`.
static CertifyRecord certify_paced(double scale, double slowest)
{
    DenoisingPath path = small_path();
    CertifyRecord record = {.task = target.task, .steps = STEPS, .plan = {.path = {0.01, -1}}};
    const CertifyOptions options = {.steps = STEPS, .seed = target.seed, .slowest = slowest};
    Progress progress;
    for (int k = 0; k < STEPS; k++) small_steps[k].mismatch *= scale;
    progress_begin(&progress, NULL, "test", 1);
    assert_ok(gates_certify(&record, &path, chunk, runner, race, policy, &options, &progress));
    progress_end(&progress);
    return record;
}

static CertifyRecord certify_scaled(double scale) { return certify_paced(scale, 1.0); }

// The certificate states 1.25 R_g, and the attack is held against just that.
static void a_certificate_is_attacked_at_the_radius_that_it_states(void **state)
{
    (void)state;
    AttackTarget small = target;
    DenoisingPath path = small_path();
    CertifyRecord record = certify_scaled(1.0);
    const GateRecord *gate = &record.gates[1];
    double shift, *rows = calloc((size_t)STEPS * 2 * PLAN_SIZE, sizeof *rows);
    small.path = &path;
    attack_rows(rows, sensitivity.gate[1].slope[0], path.transition, 2, STEPS);
    assert_true(gate->certified);
    assert_near(gate->bound, 1.25 * gate->radius, 1e-12);
    assert_ok(attack_gate(&shift, runner, &small, 1, rows, gate->bound));
    assert_near(gate->attack, shift / gate->bound, 1e-12);
    assert_true(gate->attack <= 1.0);
    assert_less(gate->miss + gate->bound, sensitivity.half_width);
    free(rows);
    // Errors that leave no room are not certified, though nothing was found beyond the bound.
    int refused = 0;
    for (double scale = 4.0; scale < 100.0; scale *= 4.0) {
        record = certify_scaled(scale);
        for (int g = 0; g < record.gate_count; g++) {
            const GateRecord *other = &record.gates[g];
            refused += !other->certified;
            if (!other->certified) continue;
            assert_true(other->attack <= 1.0);
            assert_less(other->miss + other->bound, sensitivity.half_width);
        }
    }
    assert_true(refused > 0);
}

// A slope whose two steps differ by more than a quarter is none to rest a certificate on: the gate
// is not certified, and not even probed, though its crossing has all the room it had before.
static void a_gate_whose_slopes_differ_is_not_certified(void **state)
{
    (void)state;
    DenoisingPath path = small_path();
    AttackTarget small = target;
    CrossingSensitivity rough = sensitivity;
    CertifyRecord record = certify_scaled(1.0);
    double *rows = calloc((size_t)STEPS * 2 * PLAN_SIZE, sizeof *rows);
    assert_true(record.gates[1].certified);
    small.path = &path;
    small.sensitivity = &rough;
    static const struct {
        double gap;
        int lost;
        bool certified;
    } slopes[] = {
        {CROSSING_GAP_MAX, 0, true}, {1.001 * CROSSING_GAP_MAX, 0, false}, {0.0, 1, false}};
    for (int i = 0; i < 3; i++) {
        GateRecord gate = record.gates[1];
        gate.probe = gate.attack = NAN;
        gate.certified = gate.certified_still = !slopes[i].certified;
        rough.gate[1].gap = slopes[i].gap;
        rough.gate[1].lost = slopes[i].lost;
        assert_ok(gate_test(&gate, runner, &small, 1, record.fold, rows));
        assert_int_equal(gate.certified, slopes[i].certified);
        assert_int_equal(gate.certified_still, slopes[i].certified);
        assert_int_equal(isnan(gate.probe), !slopes[i].certified);
        assert_int_equal(isnan(gate.attack), !slopes[i].certified);
    }
    free(rows);
}

// A slower plan is certified whole or not at all, so no gate is attacked for nothing: not where the
// formula fails at one, and not behind one that is not certified.
static void a_slower_plan_is_attacked_until_a_gate_fails(void **state)
{
    (void)state;
    // Through the middle of the first gate and by the edge of the second, where the formula fails.
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].pos.y = 0.02;
    CertifyRecord record = certify_paced(0.5, 0.8);
    assert_less(record.paced.fold, 0.8);
    assert_true(record.gates[0].certified);
    assert_true(record.paced.gates[0].formula);
    assert_false(record.paced.gates[1].formula);
    assert_true(isnan(record.paced.gates[0].probe));
    // From 2 m aside back to the first gate, and over to the second: the formula holds at both, the
    // first is bent.
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double x = chunk[i].pos.x, back = fmin(fmax((x + 5.0) / 1.5, 0.0), 1.0);
        double over = fmin(fmax((x + 2.0) / 4.0, 0.0), 1.0);
        chunk[i].pos.y = 1.0 + cos(FACET_PI * back) + 0.5 - 0.5 * cos(FACET_PI * over);
    }
    record = certify_paced(0.3, 0.8);
    straight_plan(chunk);
    assert_near(record.paced.pace, 0.0, 0.0);
    assert_less(record.paced.fold, 0.8);
    for (int g = 0; g < 2; g++) assert_true(record.paced.gates[g].formula);
    assert_true(record.paced.gates[0].probe > GATES_TRUST);
    assert_true(isnan(record.paced.gates[1].probe));
    assert_true(isnan(record.paced.gates[1].attack));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_without_errors_end_where_the_nominal_does),
        cmocka_unit_test(rows_go_back_through_the_chain),
        cmocka_unit_test(longer_segments_fold_less),
        cmocka_unit_test(small_errors_shift_as_the_first_order_says),
        cmocka_unit_test(the_ascent_goes_beyond_the_first_order),
        cmocka_unit_test(the_candidates_that_shift_most_are_taken_once),
        cmocka_unit_test(a_chain_that_breaks_shifts_without_bound),
        cmocka_unit_test(a_stop_is_heard_in_a_chain),
        cmocka_unit_test(a_certificate_is_attacked_at_the_radius_that_it_states),
        cmocka_unit_test(a_gate_whose_slopes_differ_is_not_certified),
        cmocka_unit_test(a_slower_plan_is_attacked_until_a_gate_fails),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
