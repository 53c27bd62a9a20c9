// The random streams of the race study's flights. What is judged never has a demonstration's: those
// are below 2^32, and all others are not.
#ifndef FACET_RACE_STREAMS_H
#define FACET_RACE_STREAMS_H

#include <facet_study/race.h>

// Of a rollout of the demonstrations; the next one is its gusts'.
static inline uint64_t race_demo_stream(int number) { return 2 * (uint64_t)number; }

// The 2^32 streams from here on are a task's, and no demonstration's: the first task has the number
// after the last.
static inline uint64_t race_task_stream(const FacetRace *race, FacetCourseTask task)
{
    int number = task.track * race->speeds.openings + task.opening;
    return (uint64_t)(number ? number : race->speeds.tracks * race->speeds.openings) << 32;
}

// Of a flight of a certificate's bound on passage, and of a verdict's, whose flights `who` tells
// apart; the next one is the flight's gusts'.
static inline uint64_t race_passage_stream(const FacetRace *race, FacetCourseTask task, int index)
{
    return 2 * (race_task_stream(race, task) + (uint64_t)index);
}

static inline uint64_t race_verdict_stream(const FacetRace *race, FacetCourseTask task, int who,
                                           int index)
{
    return ((uint64_t)who << 56) + race_task_stream(race, task) + 2 * (uint64_t)index;
}

// Of the gusts that facet_race_fly flies in.
static inline uint64_t race_gust_stream(const FacetRace *race, FacetCourseTask task)
{
    return (UINT64_C(15) << 56) + (uint64_t)(task.track * race->speeds.openings + task.opening);
}

#endif
