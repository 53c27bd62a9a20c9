// Orders of pairs: each is of all pairs, and its first ones show every value.
#include "race/pair_order.h"

#include "pools.h"
#include "testing.h"

static FacetRace *open_study(const char *courses)
{
    const FacetRaceOptions options = {.courses = courses};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    return race;
}

static void the_first_pairs_show_every_value(void **state)
{
    (void)state;
    FacetRace *race = open_study(NULL);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        FacetCourseTask tasks[32];
        int count, tracks = 0, sizes = 0, times[8][3] = {{0}};
        assert_ok(pair_order(tasks, &count, race, seed, 8));
        assert_int_equal(count, 20);
        for (int i = 0; i < 8; i++) tracks |= 1 << tasks[i].track, sizes |= 1 << tasks[i].opening;
        assert_int_equal(tracks, 255);
        assert_int_equal(sizes, 7);
        for (int i = 0; i < count; i++) times[tasks[i].track][tasks[i].opening]++;
        for (int t = 0; t < 8; t++)
            for (int o = 0; o < 3; o++)
                assert_int_equal(
                    times[t][o],
                    facet_speed_map_at(&race->speeds, (FacetCourseTask){t, o})->feasible);
    }
    facet_race_close(race);
}

static void an_order_follows_from_its_seed(void **state)
{
    (void)state;
    FacetRace *race = open_study(TEST_DATA "/sample");
    FacetCourseTask one[4], again[4], other[4];
    int count, differ = 0;
    assert_ok(pair_order(one, &count, race, 5, 2));
    assert_ok(pair_order(again, &count, race, 5, 2));
    assert_memory_equal(one, again, sizeof one);
    for (uint64_t seed = 6; seed < 16; seed++) {
        assert_ok(pair_order(other, &count, race, seed, 2));
        differ += memcmp(one, other, sizeof one) != 0;
    }
    assert_true(differ > 0);
    facet_race_close(race);
}

static void what_cannot_show_all_is_refused(void **state)
{
    (void)state;
    FacetRace *race = open_study(TEST_DATA "/sample");
    FacetCourseTask tasks[4];
    int count;
    assert_refused(pair_order(tasks, &count, race, 1, 1),
                   "expected 1 of the 4 pairs to show every track and size, found no such choice");
    assert_refused(pair_order(tasks, &count, race, 1, 5),
                   "expected 5 of the 4 pairs to show every track and size, found no such choice");
    facet_race_close(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_pairs_show_every_value),
        cmocka_unit_test(an_order_follows_from_its_seed),
        cmocka_unit_test(what_cannot_show_all_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
