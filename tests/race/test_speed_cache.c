// Speed maps that are kept: found again bit for bit, by a key of all that they depend on, and
// never trusted when damaged.
#include "base/file.h"
#include "race/speed_cache.h"
#include "scratch.h"

static FacetRace *open_with(const char *cache, bool search)
{
    const FacetRaceOptions options = {
        .courses = TEST_DATA "/sample", .cache = cache, .search = search};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, NULL, NULL));
    return race;
}

static uint64_t key_of(const FacetRace *race)
{
    return speed_cache_key(race->course, &race->model, &race->preset);
}

static void assert_same_map(const FacetSpeedMap *a, const FacetSpeedMap *b)
{
    assert_int_equal(a->tracks, b->tracks);
    assert_int_equal(a->openings, b->openings);
    for (int i = 0; i < a->tracks * a->openings; i++) {
        assert_int_equal(a->cells[i].feasible, b->cells[i].feasible);
        assert_memory_equal(&a->cells[i].speed, &b->cells[i].speed, sizeof(double));
        assert_memory_equal(&a->cells[i].best_ratio, &b->cells[i].best_ratio, sizeof(double));
    }
}

// The path of the file that a race's map is kept in.
static const char *file_of(Scratch *scratch, const FacetRace *race)
{
    char name[64];
    snprintf(name, sizeof name, "speeds-%016llx.txt", (unsigned long long)key_of(race));
    return scratch_path(scratch, name);
}

static void a_map_is_read_back_bit_for_bit(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    FacetRace *searched = open_with(NULL, false), *first = open_with(scratch.folder, false);
    FacetSpeedMap read;
    assert_true(speed_cache_read(&read, scratch.folder, key_of(searched), 2, 2));
    assert_same_map(&read, &searched->speeds);
    facet_speed_map_destroy(&read);
    FacetRace *second = open_with(scratch.folder, false);
    assert_same_map(&first->speeds, &searched->speeds);
    assert_same_map(&second->speeds, &searched->speeds);
    facet_race_close(searched);
    facet_race_close(first);
    facet_race_close(second);
    scratch_end(&scratch);
}

static void odd_numbers_survive(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    FacetSpeedCell cells[] = {{true, 0.1, 1e-310}, {false, -0.0, INFINITY}, {true, 1e300, 0.75}};
    const FacetSpeedMap map = {3, 1, cells};
    FacetSpeedMap read;
    speed_cache_write(&map, scratch.folder, 7);
    assert_true(speed_cache_read(&read, scratch.folder, 7, 3, 1));
    assert_same_map(&read, &map);
    facet_speed_map_destroy(&read);
    assert_false(speed_cache_read(&read, scratch.folder, 7, 1, 3)); // of another size
    assert_null(read.cells);
    assert_false(speed_cache_read(&read, scratch.folder, 8, 3, 1));
    scratch_end(&scratch);
}

// A map that no search would find tells who searched.
static void a_kept_map_is_not_searched_again(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    FacetRace *race = open_with(scratch.folder, false);
    double found = race->speeds.cells[0].speed;
    race->speeds.cells[0].speed = 123.0;
    speed_cache_write(&race->speeds, scratch.folder, key_of(race));
    facet_race_close(race);
    race = open_with(scratch.folder, false);
    assert_near(race->speeds.cells[0].speed, 123.0, 0.0);
    facet_race_close(race);
    race = open_with(scratch.folder, true); // asked to search: the map is also kept anew
    assert_near(race->speeds.cells[0].speed, found, 0.0);
    facet_race_close(race);
    race = open_with(scratch.folder, false);
    assert_near(race->speeds.cells[0].speed, found, 0.0);
    facet_race_close(race);
    scratch_end(&scratch);
}

static void every_input_changes_the_key(void **state)
{
    (void)state;
    FacetRace *race = open_with(NULL, false);
    FacetCourse *course = race->course;
    FacetTrack *track = &course->tracks[1];
    double *const numbers[] = {
        &track->gates[1].center.y,
        &track->gates[0].normal.x,
        &track->points[2].z,
        &course->openings[1].half_width,
        &course->speed_min,
        &course->speed_max,
        &course->arena.max.z,
        &race->model.params.mass,
        &race->model.params.drag.y,
        &race->model.params.inertia.z,
        &race->model.params.motor_lag,
        &race->model.params.gravity,
        &race->preset.gains.attitude,
        &race->preset.carrot.window,
    };
    uint64_t usual = key_of(race);
    assert_int_equal(key_of(race), usual);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double before = *numbers[i];
        *numbers[i] = before + 1e-9;
        if (key_of(race) == usual) fail_msg("number %zu does not change the key", i);
        *numbers[i] = before;
    }
    track->gate_count--;
    assert_true(key_of(race) != usual);
    track->gate_count++;
    strcpy(track->description, "The same in other words");
    assert_int_equal(key_of(race), usual);
    facet_race_close(race);
}

// A simulation that has changed finds other speeds from the same inputs: a flight is in the key.
// What the model derives from its parameters stands for such a change.
static void another_simulation_has_another_key(void **state)
{
    (void)state;
    FacetRace *race = open_with(NULL, false);
    uint64_t usual = key_of(race);
    double right = race->model.decay_full;
    race->model.decay_full = 0.99 * right;
    assert_true(key_of(race) != usual);
    race->model.decay_full = right;
    assert_int_equal(key_of(race), usual);
    facet_race_close(race);
}

// Where there is nothing to fly the key does without a flight.
static void courses_without_tracks_or_openings_have_keys(void **state)
{
    (void)state;
    FacetRace *race = open_with(NULL, false);
    FacetCourse bare = *race->course;
    bare.opening_count = 0;
    bare.openings = NULL;
    uint64_t no_opening = speed_cache_key(&bare, &race->model, &race->preset);
    bare.track_count = 0;
    bare.tracks = NULL;
    assert_true(no_opening != speed_cache_key(&bare, &race->model, &race->preset));
    facet_race_close(race);
}

static void a_damaged_file_is_replaced(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    FacetRace *race = open_with(scratch.folder, false);
    char path[128], *whole, *text;
    size_t size, other;
    snprintf(path, sizeof path, "%s", file_of(&scratch, race));
    assert_ok(file_read(&whole, &size, path));
    for (int damage = 0; damage < 4; damage++) {
        char *broken = malloc(size + 1);
        assert_non_null(broken);
        memcpy(broken, whole, size + 1);
        if (damage == 1) broken[size / 2] ^= 1;
        size_t length = damage == 0 ? 0 : damage == 2 ? size / 2 : size;
        assert_ok(file_write(path, damage == 3 ? "another's file\n" : broken,
                             damage == 3 ? strlen("another's file\n") : length));
        FacetRace *again = open_with(scratch.folder, false);
        assert_same_map(&again->speeds, &race->speeds);
        facet_race_close(again);
        assert_ok(file_read(&text, &other, path));
        assert_int_equal(other, size);
        assert_memory_equal(text, whole, size);
        free(text);
        free(broken);
    }
    free(whole);
    facet_race_close(race);
    scratch_end(&scratch);
}

// A file of another key that bears this one's name is not taken.
static void another_maps_file_is_not_taken(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    FacetSpeedCell cell = {true, 3.0, 0.5};
    const FacetSpeedMap map = {1, 1, &cell};
    FacetSpeedMap read;
    char from[128];
    speed_cache_write(&map, scratch.folder, 1);
    snprintf(from, sizeof from, "%s", scratch_path(&scratch, "speeds-0000000000000001.txt"));
    assert_int_equal(rename(from, scratch_path(&scratch, "speeds-0000000000000002.txt")), 0);
    assert_false(speed_cache_read(&read, scratch.folder, 2, 1, 1));
    scratch_end(&scratch);
}

static void a_folder_that_cannot_be_made_is_no_failure(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char below[160];
    snprintf(below, sizeof below, "%s/cache", scratch_write(&scratch, "file", "in the way"));
    FacetRace *race = open_with(below, false);
    assert_true(race->speeds.cells[0].speed > 0.0);
    facet_race_close(race);
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_is_read_back_bit_for_bit),
        cmocka_unit_test(odd_numbers_survive),
        cmocka_unit_test(a_kept_map_is_not_searched_again),
        cmocka_unit_test(every_input_changes_the_key),
        cmocka_unit_test(another_simulation_has_another_key),
        cmocka_unit_test(courses_without_tracks_or_openings_have_keys),
        cmocka_unit_test(a_damaged_file_is_replaced),
        cmocka_unit_test(another_maps_file_is_not_taken),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
