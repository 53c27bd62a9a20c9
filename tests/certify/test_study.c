// A study of certificates on a small course: the same whether it is done in one go or resumed, the
// file that results wait in, and the records of gates.
#include "certify/gates.h"
#include "policy/parts.h"
#include "policy/waves.h"
#include "pools.h"

#include <facet_study/train.h>
#include <unistd.h>

enum { STEPS = 4 };

static FacetRace *race;
static FacetPolicy *policy;
static FacetCourseTask tasks[4];

static int open_study(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    demos.rollouts = 2;
    training.epochs = 1;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_int_equal(facet_race_feasible_tasks(tasks, race), 4);
    return 0;
}

static int close_study(void **state)
{
    facet_policy_destroy(policy);
    facet_race_close(race);
    return scratch_leave(state);
}

// Gates take hundreds of flights, so there is one task.
static CertifyOptions small_study(void)
{
    return (CertifyOptions){.tasks = tasks,
                            .task_count = 1,
                            .steps = STEPS,
                            .seed = 7,
                            .seeds = 1,
                            .gusts = 0.3,
                            .gust_flights = 2,
                            .slowest = 0.8,
                            .state = "study.state",
                            .study = "test"};
}

static void assert_same_record(const CertifyRecord *a, const CertifyRecord *b)
{
    Json *one = json_from_record(a, race->course), *two = json_from_record(b, race->course);
    char *first = json_line(one), *second = json_line(two);
    assert_string_equal(first, second);
    json_free(one);
    json_free(two);
    free(first);
    free(second);
}

// What the study should find of a plan.
static FacetPlanCertificate plan_of(int steps, uint64_t seed)
{
    FacetCertifier *certifier;
    FacetPlanCertificate plan;
    FacetFactorTask task;
    assert_ok(facet_race_policy_task(&task, policy, race, tasks[0]));
    assert_ok(facet_certifier_create(&certifier, policy, steps, race->pool));
    assert_ok(facet_certifier_plan(&plan, certifier, task, seed, NULL));
    facet_certifier_destroy(certifier);
    return plan;
}

static void check_gates(const CertifyRecord *record)
{
    assert_int_equal(record->gate_count, race->course->tracks[record->task.track].gate_count);
    for (int g = 0; g < record->gate_count; g++) {
        const GateRecord *gate = &record->gates[g];
        double sum = gate->miss + gate->radius + gate->disturbance;
        if (isfinite(gate->radius)) assert_near(gate->bound, 1.25 * gate->radius, 1e-12);
        double limit = race->course->openings[record->task.opening].half_width;
        if (gate->formula) assert_true(gate->crossed && sum < limit);
        if (!gate->certified) continue;
        assert_true(gate->formula);
        assert_less(record->fold, 1.0);
        assert_true(gate->probe <= GATES_TRUST);
        assert_true(gate->attack <= 1.0);
        assert_less(gate->miss + gate->bound + gate->disturbance, limit);
    }
    // A pace is named only where every gate holds at it; slower ones only where the own fails.
    const PaceRecord *paced = &record->paced;
    bool own = gates_certified(record->gates, record->gate_count);
    bool slower = gates_certified(paced->gates, record->gate_count);
    assert_near(paced->pace, own ? 1.0 : slower ? 0.8 : 0.0, 0.0);
    if (!own) assert_true(paced->gates[0].slope != record->gates[0].slope);
}

static void a_study_goes_on_where_it_stopped(void **state)
{
    (void)state;
    CertifyStudy first, rest;
    CertifyOptions options = small_study();
    assert_ok(certify_study(&first, race, policy, &options, NULL));
    assert_int_equal(first.count, 1);
    assert_int_equal(first.resumed, 0);
    check_gates(&first.records[0]);
    // More is asked for, and what is in the file is not done again.
    options.seeds = 2, options.sweep[0] = 2, options.sweep[1] = STEPS, options.sweep_count = 2;
    assert_ok(certify_study(&rest, race, policy, &options, NULL));
    assert_int_equal(rest.resumed, 1);
    assert_int_equal(rest.count, 3); // two seeds, and one more number of steps
    assert_same_record(&first.records[0], certify_study_record(&rest, tasks[0], STEPS, 0));
    static const int jobs[][2] = {{STEPS, 0}, {STEPS, 1}, {2, 0}};
    for (int i = 0; i < 3; i++) {
        const CertifyRecord *record = certify_study_record(&rest, tasks[0], jobs[i][0], jobs[i][1]);
        assert_non_null(record);
        FacetPlanCertificate plan = plan_of(jobs[i][0], options.seed + (uint64_t)jobs[i][1]);
        assert_true(record->plan.ltv.value == plan.ltv.value);
        assert_true(record->plan.ltv.step == -1);
        assert_true(record->plan.eps_s == plan.eps_s);
        assert_true(record->plan.linear == plan.linear);
        if (i > 0) assert_int_equal(record->gate_count, 0); // only the first seed's plan has them
    }
    certify_study_free(&first);
    certify_study_free(&rest);
    assert_ok(certify_study(&rest, race, policy, &options, NULL));
    assert_int_equal(rest.resumed, 3);
    certify_study_free(&rest);
    options.study = "another";
    assert_refused(certify_study(&rest, race, policy, &options, NULL),
                   "study.state: expected results of this study, with another, found test");
    unlink("study.state");
}

typedef struct Watcher {
    long stop_at, done, total;
} Watcher;

static bool watch_steps(void *context, const FacetProgressEvent *event)
{
    Watcher *watcher = context;
    assert_string_equal(event->stage, "denoising steps");
    watcher->done = event->done;
    watcher->total = event->total;
    return event->done != watcher->stop_at;
}

// A stop in the middle of a plan is no result of that plan.
static void a_host_that_says_stop_keeps_what_is_done(void **state)
{
    (void)state;
    CertifyStudy study;
    CertifyOptions options = small_study();
    options.seeds = 2;
    Watcher watcher = {.stop_at = STEPS + 2};
    const FacetProgress progress = {.report = watch_steps, .context = &watcher};
    FacetStatus status = certify_study(&study, race, policy, &options, &progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    assert_refused(status, "interrupted with 1 of 2 plans certified; the same command goes on "
                           "from study.state");
    assert_int_equal(watcher.done, STEPS + 2);
    assert_int_equal(watcher.total, 2 * STEPS);
    watcher.stop_at = -1;
    assert_ok(certify_study(&study, race, policy, &options, &progress));
    assert_int_equal(study.resumed, 1);
    assert_int_equal(watcher.done, STEPS);
    assert_int_equal(watcher.total, STEPS);
    certify_study_free(&study);
    unlink("study.state");
    options.state = NULL;
    watcher.stop_at = 1;
    assert_refused(certify_study(&study, race, policy, &options, &progress),
                   "interrupted with 0 of 2 plans certified and none kept: --json FILE keeps them");
}

// A plan that cannot be sampled is a result with a reason, here and after a round through a file.
static void what_cannot_be_sampled_is_recorded(void **state)
{
    (void)state;
    FacetPolicy *broken;
    CertifyStudy study;
    CertifyRecord *back;
    int count;
    CertifyOptions options = small_study();
    options.state = "broken.state";
    assert_ok(facet_policy_load(&broken, "policy"));
    size_t bias = tensor_find(&broken->net->table, "out.bias")->offset;
    broken->params[0][bias] = NAN;
    Watcher watcher = {.stop_at = -1};
    const FacetProgress progress = {.report = watch_steps, .context = &watcher};
    assert_ok(certify_study(&study, race, broken, &options, &progress));
    assert_int_equal(watcher.done, watcher.total); // the steps that were not taken count
    assert_int_equal(study.count, 1);
    assert_non_null(strstr(study.records[0].failure, "step 1 of 4"));
    assert_true(study.records[0].plan.ltv.step >= 0);
    assert_ok(records_read(&back, &count, "broken.state", "test", race->course));
    assert_int_equal(count, 1);
    assert_same_record(&back[0], &study.records[0]);
    free(back);
    certify_study_free(&study);
    facet_policy_destroy(broken);
    unlink("broken.state");
}

static void policies_have_names_of_their_own(void **state)
{
    (void)state;
    FacetPolicy *other;
    char first[24], second[24];
    assert_ok(facet_policy_load(&other, "policy"));
    certify_study_policy_name(first, policy);
    certify_study_policy_name(second, other);
    assert_string_equal(first, second);
    other->params[0][5] += 1e-6f;
    certify_study_policy_name(second, other);
    assert_string_not_equal(first, second);
    facet_policy_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_study_goes_on_where_it_stopped),
        cmocka_unit_test(a_host_that_says_stop_keeps_what_is_done),
        cmocka_unit_test(what_cannot_be_sampled_is_recorded),
        cmocka_unit_test(policies_have_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
