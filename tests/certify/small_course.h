// A small course for the tests of the certificates' flights: a straight track and a bend.
#ifndef FACET_TEST_SMALL_COURSE_H
#define FACET_TEST_SMALL_COURSE_H

#include "certify/crossing.h"
#include "policy/normalizer.h"
#include "pools.h"
#include "testing.h"

#include <facet_study/race.h>

static inline FacetRace *open_course(int threads)
{
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, test_pool(threads), NULL));
    return race;
}

static inline PacedPlan own_pace(const FacetKeypoint *chunk) { return (PacedPlan){chunk, 1.0}; }

static inline FacetCourseTask task_named(const FacetRace *race, const char *name)
{
    FacetCourseTask task;
    assert_ok(facet_course_find_task(&task, race->course, name));
    return task;
}

// Units of 7, 2, 1.5 and 1: a normalised change of one moves by so many metres, or m/s.
static inline Normalizer *small_units(void)
{
    const double min[] = {-7.0, -2.0, 0.0, 2.0}, max[] = {7.0, 2.0, 3.0, 4.0};
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, min, max, 4));
    return normalizer;
}

// Along y = 1 at 3 m/s, through the middle of the second gate; the flight starts at y = 0.
static inline void straight_plan(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS])
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){{-7.0 + 14.0 * i / (FACET_CHUNK_KEYPOINTS - 1), 1.0, 1.5}, 3.0};
}

static inline void expert_plan(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                               FacetCourseTask task)
{
    FacetPlanner expert = facet_race_expert();
    assert_ok(expert.plan(chunk, race, task, 0, expert.context));
}

#endif
