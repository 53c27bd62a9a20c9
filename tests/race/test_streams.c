// No flight that is judged starts where a demonstration did, or meets its gusts.
#include "race/streams.h"

#include "base/rng.h"
#include "pools.h"
#include "testing.h"

#include <facet_study/dataset.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS = 4, ROLLOUTS = 50, FLIGHTS = 200, WHO = 8, STREAMS_MAX = 1 << 15 };

static FacetRace *open_study(void)
{
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    return race;
}

// Streams that starts are drawn from, and the first three numbers of each: where it is.
typedef struct Start {
    uint64_t stream;
    double at[3];
} Start;

typedef struct Starts {
    int count;
    Start start[STREAMS_MAX];
} Starts;

static void add(Starts *starts, uint64_t stream)
{
    FacetRng rng = rng_make(1, stream);
    assert_true(starts->count < STREAMS_MAX);
    Start *start = &starts->start[starts->count++];
    start->stream = stream;
    for (int i = 0; i < 3; i++) start->at[i] = rng_normal(&rng);
}

static int by_place(const void *a, const void *b)
{
    const Start *x = a, *y = b;
    return (x->at[0] > y->at[0]) - (x->at[0] < y->at[0]);
}

static int by_stream(const void *a, const void *b)
{
    const Start *x = a, *y = b;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

// Demonstrations, a verdict's flights, and those of a gust: streams of starts and of gusts alike.
static void no_start_and_no_gust_is_drawn_twice(void **state)
{
    (void)state;
    FacetRace *race = open_study();
    FacetCourseTask tasks[TASKS];
    Starts *starts = calloc(1, sizeof *starts);
    assert_non_null(starts);
    assert_int_equal(facet_race_feasible_tasks(tasks, race), TASKS);
    for (int i = 0; i < TASKS * ROLLOUTS; i++)
        for (int gusts = 0; gusts < 2; gusts++) add(starts, race_demo_stream(i) + (uint64_t)gusts);
    for (int t = 0; t < TASKS; t++) {
        add(starts, race_gust_stream(race, tasks[t]));
        for (int who = 0; who < WHO; who++)
            for (int i = 0; i < 2 * FLIGHTS; i++)
                add(starts, race_verdict_stream(race, tasks[t], who, i / 2) + (uint64_t)(i % 2));
    }
    qsort(starts->start, (size_t)starts->count, sizeof *starts->start, by_stream);
    for (int i = 1; i < starts->count; i++)
        assert_true(starts->start[i].stream != starts->start[i - 1].stream);
    qsort(starts->start, (size_t)starts->count, sizeof *starts->start, by_place);
    for (int i = 1; i < starts->count; i++)
        assert_true(fabs(starts->start[i].at[0] - starts->start[i - 1].at[0]) > 0.0);
    free(starts);
    facet_race_close(race);
}

// A course's first task has the number 0, and streams from 0 on are the demonstrations'.
static void no_task_has_the_streams_of_demonstrations(void **state)
{
    (void)state;
    FacetRace *race = open_study();
    for (int track = 0; track < race->speeds.tracks; track++)
        for (int opening = 0; opening < race->speeds.openings; opening++) {
            const FacetCourseTask task = {track, opening};
            assert_true(race_task_stream(race, task) >> 32 > 0);
            assert_true(race_passage_stream(race, task, 0) >> 32 > 0);
            assert_true(race_gust_stream(race, task) >> 32 > 0);
            for (int who = 0; who < WHO; who++)
                assert_true(race_verdict_stream(race, task, who, 0) >> 32 > 0);
        }
    assert_true(race_task_stream(race, (FacetCourseTask){0, 1}) == UINT64_C(1) << 32);
    facet_race_close(race);
}

// What the demonstrations start from is what their streams say.
static void demonstrations_draw_from_their_streams(void **state)
{
    (void)state;
    FacetRace *race = open_study();
    FacetDemoOptions options = facet_demo_defaults();
    options.rollouts = 2;
    options.seed = 7;
    FacetDataset *data;
    assert_ok(facet_race_write_demos("test_streams.h5", race, &options, NULL));
    assert_ok(facet_dataset_read(&data, "test_streams.h5"));
    unlink("test_streams.h5");
    for (int i = 0; i < data->demos; i++) {
        FacetRng rng = rng_make(7, race_demo_stream(i));
        const FacetTrack *track = &race->course->tracks[data->tasks[i].value[0]];
        double z = rng_normal(&rng), y = rng_normal(&rng), x = rng_normal(&rng);
        const double *first = data->actions + (size_t)i * (size_t)data->steps * 4;
        (void)z;
        assert_near(first[0], track->points[0].x + options.start_spread * x, 1e-9);
        assert_near(first[1], track->points[0].y + options.start_spread * y, 1e-9);
    }
    facet_dataset_destroy(data);
    facet_race_close(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_start_and_no_gust_is_drawn_twice),
        cmocka_unit_test(no_task_has_the_streams_of_demonstrations),
        cmocka_unit_test(demonstrations_draw_from_their_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
