// How much of a size plans show in their speeds.
#include "program/speed_share.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { TASKS = 6 };

// Two tracks of three sizes; of the second one size was left out, and of a third two.
static const SpeedPlan tasks[TASKS] = {{"loop", false, 0.0, 2.0}, {"loop", false, 0.0, 4.0},
                                       {"bend", false, 0.0, 3.0}, {"bend", true, 0.0, 1.0},
                                       {"hill", true, 0.0, 2.0},  {"hill", true, 0.0, 5.0}};

// The share when a plan's speed is its reference to this power, NaN where nothing can be said.
static double share_of(SpeedGroup group, double learned, double left_out)
{
    SpeedPlan plans[TASKS];
    SpeedShare share = {0};
    double value = nan("");
    memcpy(plans, tasks, sizeof plans);
    for (int i = 0; i < TASKS; i++)
        plans[i].planned = 7.0 * pow(plans[i].reference, i < 2 ? learned : left_out);
    speed_share_add(&share, plans, TASKS);
    Json *document = json_from_speed_share(&share);
    JsonRef root = json_root(document, "share"), member;
    assert_ok(json_member(&member, &root, group == SPEED_LEARNED ? "learned" : "left_out"));
    (void)json_number(&value, &member, -10.0, 10.0).ok;
    json_free(document);
    return value;
}

static void a_policy_that_hears_the_size_has_one(void **state)
{
    (void)state;
    assert_near(share_of(SPEED_LEARNED, 1.0, 0.25), 1.0, 1e-12);
    assert_near(share_of(SPEED_LEFT_OUT, 1.0, 0.25), 0.25, 1e-12);
    assert_near(share_of(SPEED_LEARNED, 0.0, 1.0), 0.0, 1e-12);
    assert_near(share_of(SPEED_LEFT_OUT, 0.0, 1.0), 1.0, 1e-12);
    assert_near(share_of(SPEED_LEARNED, -0.5, 1.0), -0.5, 1e-12);
}

// Large differences count for more: of two pairs, one heard in full and one not at all.
static void pairs_are_weighed_by_how_far_apart_they_are(void **state)
{
    (void)state;
    const SpeedPlan plans[] = {{"loop", false, 2.0, 2.0},
                               {"loop", false, 4.0, 4.0},
                               {"bend", false, 3.0, 3.0},
                               {"bend", false, 3.0, 24.0}};
    SpeedShare share = {0};
    double small = log(2.0) * log(2.0), large = log(8.0) * log(8.0);
    speed_share_add(&share, plans, 4);
    assert_near(share.shown[SPEED_LEARNED] / share.wanted[SPEED_LEARNED], small / (small + large),
                1e-12);
    assert_near(share.wanted[SPEED_LEFT_OUT], 0.0, 0.0);
}

// Tasks whose references are the same say nothing of a size, nor do those of two tracks.
static void where_no_references_differ_there_is_no_share(void **state)
{
    (void)state;
    const SpeedPlan plans[] = {
        {"loop", false, 2.0, 3.0}, {"loop", false, 4.0, 3.0}, {"bend", true, 3.0, 6.0}};
    SpeedShare share = {0};
    speed_share_add(&share, plans, 3);
    for (int g = 0; g < SPEED_GROUPS; g++) {
        assert_near(share.wanted[g], 0.0, 0.0);
        assert_near(share.shown[g], 0.0, 0.0);
    }
    Json *document = json_from_speed_share(&share);
    JsonRef root = json_root(document, "share"), member;
    double value;
    assert_ok(json_member(&member, &root, "learned"));
    assert_false(json_number(&value, &member, -1.0, 1.0).ok);
    json_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_policy_that_hears_the_size_has_one),
        cmocka_unit_test(pairs_are_weighed_by_how_far_apart_they_are),
        cmocka_unit_test(where_no_references_differ_there_is_no_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
