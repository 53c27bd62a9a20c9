// Agents: what they plan from, when they plan, and what they refuse.
#include "allocations.h"
#include "policy/observers.h"
#include "pools.h"

#include <facet/agent.h>

enum { ACTS = 10, SIZE = TINY_D };

// What is observed in an episode, one row an act.
static double seen[ACTS * SEEN_DIM];
static uint8_t eyes[ACTS * TINY_FRAME], fars[ACTS * TINY_FRAME];

static int fill(void **state)
{
    (void)state;
    fill_numbers(seen, ACTS, 3);
    fill_frames(eyes, ACTS, 1);
    fill_frames(fars, ACTS, 2);
    return 0;
}

static FacetPolicy *observer(void) { return tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH); }

static FacetAgent *agent_of(const FacetPolicy *policy, const char *task,
                            const FacetAgentOptions *options)
{
    FacetAgent *agent;
    assert_ok(facet_agent_create(&agent, policy, task_of(policy->space, task), options, NULL));
    return agent;
}

// All keys of row `at`, in any order.
static void observe(FacetAgent *agent, int at)
{
    const double *row = seen + at * SEEN_DIM;
    assert_ok(
        facet_agent_observe_image(agent, "far", fars + at * TINY_FRAME, TINY_WIDTH, TINY_HEIGHT));
    assert_ok(facet_agent_observe(agent, "hand", row + 3, 2));
    assert_ok(
        facet_agent_observe_image(agent, "eye", eyes + at * TINY_FRAME, TINY_WIDTH, TINY_HEIGHT));
    assert_ok(facet_agent_observe(agent, "arm", row, 3));
}

// The actions of `count` acts from row `from` on.
static void act(double *actions, FacetAgent *agent, int from, int count)
{
    for (int i = 0; i < count; i++) {
        observe(agent, from + i);
        assert_ok(facet_agent_act(actions + i * SIZE, agent));
    }
}

// ---- What it plans ------------------------------------------------------------------------------

// The plan of a runner for an agent that is at row `at` and has planned `planned` times.
static void plan_of(double *plan, const FacetPolicy *policy, const char *task, int at,
                    uint64_t seed, uint64_t episode, uint64_t planned)
{
    double numbers[SEEN_STEPS * SEEN_DIM];
    static uint8_t frames[SEEN_STEPS * SEEN_IMAGES * TINY_FRAME];
    for (int s = 0; s < SEEN_STEPS; s++) {
        int row = at - (SEEN_STEPS - 1) + s;
        if (row < 0) row = 0;
        memcpy(numbers + s * SEEN_DIM, seen + row * SEEN_DIM, SEEN_DIM * sizeof *numbers);
        memcpy(frames + 2 * s * TINY_FRAME, eyes + row * TINY_FRAME, TINY_FRAME);
        memcpy(frames + (2 * s + 1) * TINY_FRAME, fars + row * TINY_FRAME, TINY_FRAME);
    }
    FacetPolicyRunner *runner;
    FacetPolicyObserved observed = {.numbers = numbers, .frames = frames};
    FacetFactorTask wanted = task_of(policy->space, task);
    uint64_t number = (episode << 28) + planned;
    FacetPolicySampling how = {.seed = seed, .numbers = &number};
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    assert_ok(facet_policy_runner_sample(plan, runner, &wanted, &observed, 1, &how, NULL));
    facet_policy_runner_destroy(runner);
}

// It plans at its first act and whenever the chunk is used up, from the last two observations; the
// first stands for the one before it. Its noise is number (episode, plan) of the seed.
static void acts_are_rows_of_the_runners_plans(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    static const int executes[] = {0, 1, 4, TINY_T}; // 0 is the policy's own, 3
    for (int e = 0; e < 4; e++) {
        const FacetAgentOptions options = {
            .execute = executes[e], .episode = 9, .sampling = {.seed = 77}};
        int execute = executes[e] ? executes[e] : SEEN_EXECUTE;
        FacetAgent *agent = agent_of(policy, "a/s", &options);
        double actions[ACTS * SIZE], plan[TINY_SIZE];
        act(actions, agent, 0, ACTS);
        for (int i = 0; i < ACTS; i++) {
            if (i % execute == 0) plan_of(plan, policy, "a/s", i, 77, 9, (uint64_t)(i / execute));
            assert_memory_equal(actions + i * SIZE, plan + i % execute * SIZE, SIZE * sizeof *plan);
        }
        FacetAgentTimes times = facet_agent_times(agent);
        assert_int_equal(times.acts, ACTS);
        assert_int_equal(times.plans, (ACTS + execute - 1) / execute);
        assert_true(times.last >= 0.0 && times.plan_max >= times.plan_mean);
        assert_true(times.plan_mean > 0.0);
        facet_agent_destroy(agent);
    }
    facet_policy_destroy(policy);
}

static void an_agent_shows_its_plan(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    FacetAgent *agent = agent_of(policy, "b/m", NULL);
    double action[2 * SIZE], plan[TINY_SIZE];
    int next = -1;
    assert_null(facet_agent_plan(agent, &next));
    act(action, agent, 0, 2);
    plan_of(plan, policy, "b/m", 0, 0, 0, 0);
    assert_memory_equal(facet_agent_plan(agent, &next), plan, sizeof plan);
    assert_int_equal(next, 2);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
}

static void the_same_episode_has_the_same_bits(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    double first[ACTS * SIZE], again[ACTS * SIZE];
    FacetAgent *agent = agent_of(policy, "a/l", NULL);
    act(first, agent, 0, ACTS);
    assert_ok(facet_agent_reset(agent, 1));
    act(again, agent, 0, ACTS);
    assert_true(memcmp(first, again, sizeof first) != 0);
    assert_ok(facet_agent_reset(agent, 0)); // nothing of the other episode is left
    act(again, agent, 0, ACTS);
    assert_memory_equal(first, again, sizeof first);
    facet_agent_destroy(agent);
    agent = agent_of(policy, "a/l", &(FacetAgentOptions){.sampling = {.seed = 1}});
    act(again, agent, 0, ACTS);
    assert_true(memcmp(first, again, sizeof first) != 0);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        FacetPolicy *policy =
            tiny_observer(method ? FACET_POLICY_KNET : FACET_POLICY_FACTORED, TAKES_BOTH);
        double first[ACTS * SIZE], actions[ACTS * SIZE];
        for (int threads = 1; threads <= 3; threads++) {
            FacetAgent *agent;
            assert_ok(facet_agent_create(&agent, policy, task_of(policy->space, "a/s"), NULL,
                                         test_pool(threads)));
            act(threads == 1 ? first : actions, agent, 0, ACTS);
            if (threads > 1) assert_memory_equal(actions, first, sizeof first);
            facet_agent_destroy(agent);
        }
        facet_policy_destroy(policy);
    }
}

static void another_task_plans_anew(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    FacetAgent *agent = agent_of(policy, "a/s", NULL);
    double action[SIZE], plan[TINY_SIZE];
    act(action, agent, 0, 1);
    assert_ok(facet_agent_set_task(agent, task_of(policy->space, "b/m")));
    act(action, agent, 1, 1);
    plan_of(plan, policy, "b/m", 1, 0, 0, 1);
    assert_memory_equal(action, plan, sizeof action);
    assert_refused(facet_agent_set_task(agent, task_of(policy->space, "c/s")),
                   "the policy never saw track 'c': it knows a, b");
    act(action, agent, 2, 1); // as before: the second action of the plan
    assert_memory_equal(action, plan + SIZE, sizeof action);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
}

// The caller's weights may go; and they count.
static void weights_are_copied(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    double weights[2] = {1.0, 1.0}, ones[SIZE], none[SIZE], more[SIZE];
    const FacetAgentOptions options = {.sampling = {.weights = weights}};
    FacetAgent *agent = agent_of(policy, "a/s", NULL), *weighed = agent_of(policy, "a/s", &options);
    act(none, agent, 0, 1);
    weights[0] = weights[1] = 3.0;
    act(ones, weighed, 0, 1);
    assert_memory_equal(ones, none, sizeof ones);
    facet_agent_destroy(weighed);
    weighed = agent_of(policy, "a/s", &options);
    act(more, weighed, 0, 1);
    assert_true(memcmp(more, none, sizeof more) != 0);
    facet_agent_destroy(weighed);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
}

static void nothing_is_allocated_after_the_create(void **state)
{
    (void)state;
#ifdef FACET_SHARED
    skip(); // the linker does not see into a shared library
#endif
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_ORACLE; method++) {
        FacetPolicy *policy = tiny_observer((FacetPolicyMethod)method, TAKES_BOTH);
        FacetFactorTask other = task_of(policy->space, "b/m");
        FacetAgent *agent;
        double actions[ACTS * SIZE];
        assert_ok(
            facet_agent_create(&agent, policy, task_of(policy->space, "a/s"), NULL, test_pool(2)));
        long before = allocations;
        assert_true(before > 0);
        act(actions, agent, 0, ACTS);
        assert_ok(facet_agent_set_task(agent, other));
        assert_ok(facet_agent_reset(agent, 1));
        act(actions, agent, 0, ACTS);
        assert_int_equal(allocations, before);
        facet_agent_destroy(agent);
        facet_policy_destroy(policy);
    }
}

// ---- What it refuses ----------------------------------------------------------------------------

static void wrong_observations_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    FacetAgent *agent = agent_of(policy, "a/s", NULL);
    double actions[2 * SIZE], expected[2 * SIZE], bad[3] = {1.0, NAN, 2.0};
    act(expected, agent, 0, 2);
    assert_ok(facet_agent_reset(agent, 0));
    act(actions, agent, 0, 1);
    assert_refused(facet_agent_act(actions + SIZE, agent),
                   "expected the observation 'arm' before the act, found none");
    observe(agent, 1);
    assert_refused(facet_agent_observe(agent, "hands", seen, 2),
                   "no observation 'hands', did you mean 'hand'? known: arm, eye, hand, far");
    assert_refused(facet_agent_observe(agent, "arm", seen, 4),
                   "observation 'arm': expected 3 numbers, found 4");
    assert_refused(facet_agent_observe(agent, "arm", seen, 0), "expected 3 numbers, found 0");
    assert_refused(facet_agent_observe(agent, "eye", seen, 3),
                   "observation 'eye': expected an image of 32 x 24 pixels, found numbers");
    FacetStatus status = facet_agent_observe(agent, "arm", bad, 3);
    assert_refused(status, "observation 'arm': expected finite numbers, found nan at 1");
    assert_int_equal(status.code, FACET_NOT_FINITE);
    bad[1] = -INFINITY;
    assert_refused(facet_agent_observe(agent, "arm", bad, 3), "found -inf at 1");
    assert_refused(facet_agent_observe_image(agent, "arm", eyes, TINY_WIDTH, TINY_HEIGHT),
                   "observation 'arm': expected 3 numbers, found an image");
    assert_refused(facet_agent_observe_image(agent, "eye", eyes, TINY_HEIGHT, TINY_WIDTH),
                   "observation 'eye': expected an image of 32 x 24 pixels, found 24 x 32");
    assert_refused(facet_agent_observe_image(agent, "nose", eyes, TINY_WIDTH, TINY_HEIGHT),
                   "no observation 'nose'");
    assert_ok(facet_agent_act(actions + SIZE, agent)); // it is as before
    assert_memory_equal(actions, expected, sizeof actions);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
}

// An observation so far outside that the network fails: the agent goes on when it is mended.
static void a_plan_that_fails_changes_nothing(void **state)
{
    (void)state;
    FacetPolicy *policy = observer();
    FacetAgent *agent = agent_of(policy, "a/s", &(FacetAgentOptions){.execute = 1});
    double actions[3 * SIZE], expected[3 * SIZE], huge[3] = {1e300, 2.0, 0.2};
    act(expected, agent, 0, 3);
    assert_ok(facet_agent_reset(agent, 0));
    for (int i = 0; i < 3; i++) {
        observe(agent, i);
        assert_ok(facet_agent_observe(agent, "arm", huge, 3));
        assert_false(facet_agent_act(actions + i * SIZE, agent).ok);
        assert_ok(facet_agent_observe(agent, "arm", seen + i * SEEN_DIM, 3));
        assert_ok(facet_agent_act(actions + i * SIZE, agent));
    }
    assert_memory_equal(actions, expected, sizeof actions);
    assert_int_equal(facet_agent_times(agent).plans, 6);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = observer(), *knet = tiny_observer(FACET_POLICY_KNET, TAKES_NUMBERS);
    FacetFactorTask task = task_of(policy->space, "a/s");
    const uint64_t number = 1;
    const struct {
        FacetAgentOptions options;
        const char *words;
    } cases[] = {
        {{.execute = -1}, "expected 1 to 6 actions to execute, found -1"},
        {{.execute = TINY_T + 1}, "expected 1 to 6 actions to execute, found 7"},
        {{.episode = UINT64_C(1) << 32}, "expected an episode below 2^32, found 4294967296"},
        {{.sampling = {.seeds = &number}}, "expected no seeds"},
        {{.sampling = {.numbers = &number}}, "expected no seeds, numbers"},
        {{.sampling = {.steps = 21}}, "20"},
        {{.sampling = {.temperature = -1.0}}, "expected a temperature of 0 or more, found -1"},
        {{.sampling = {.mode = (FacetPolicyMode)7}}, "expected a mode from 0 to 5, found 7"},
    };
    FacetAgent *agent;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(facet_agent_create(&agent, policy, task, &cases[i].options, NULL),
                       cases[i].words);
        assert_null(agent);
    }
    const FacetAgentOptions joint = {.sampling = {.mode = FACET_POLICY_JOINT}};
    assert_refused(facet_agent_create(&agent, knet, task, &joint, NULL), "no joint mode");
    assert_refused(facet_agent_create(&agent, policy, task_of(policy->space, "c/s"), NULL, NULL),
                   "the policy never saw track 'c'");
    agent = agent_of(policy, "a/s", NULL);
    assert_refused(facet_agent_reset(agent, UINT64_C(1) << 32), "expected an episode below 2^32");
    facet_agent_destroy(agent);
    facet_policy_destroy(knet);
    facet_policy_destroy(policy);
    facet_agent_destroy(NULL);
}

static void a_blind_policy_is_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    FacetAgent *agent;
    assert_refused(facet_agent_create(&agent, policy, task_of(policy->space, "a/s"), NULL, NULL),
                   "expected a policy that takes observations, found one that acts blind");
    assert_null(agent);
    facet_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acts_are_rows_of_the_runners_plans),
        cmocka_unit_test(an_agent_shows_its_plan),
        cmocka_unit_test(the_same_episode_has_the_same_bits),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(another_task_plans_anew),
        cmocka_unit_test(weights_are_copied),
        cmocka_unit_test(nothing_is_allocated_after_the_create),
        cmocka_unit_test(wrong_observations_are_refused),
        cmocka_unit_test(a_plan_that_fails_changes_nothing),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(a_blind_policy_is_refused),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
