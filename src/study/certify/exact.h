// The exact interaction of a race study's tasks, and what the exact composed score generates.
//
// Centres are the expert's chunks at the speed map's speeds, normalised as the policy normalises.
// (The demonstrations spread around them with their starts; here each task has its one chunk.)
#ifndef FACET_CERTIFY_EXACT_H
#define FACET_CERTIFY_EXACT_H

#include "certify/interaction.h"

#include <facet_study/race.h>

enum { EXACT_PRODUCTS_MAX = 8 };

// ---- Products -----------------------------------------------------------------------------------

// A full product of tracks and openings, all of its tasks feasible.
typedef struct ExactProduct {
    char name[96]; // "8 tracks x {standard, wide}"
    int tracks, openings;
    FacetCourseTask *tasks; // [tracks openings], track by track
    InteractionReport report;
} ExactProduct;

typedef struct ExactProducts {
    int count;
    ExactProduct product[EXACT_PRODUCTS_MAX];
} ExactProducts;

// The products of the course: for every opening, it and the ones after it with the tracks that are
// feasible in all of them, where there are at least two of each. On each product, with a uniform
// prior, measures the interaction at every noise level of sampling in `steps` steps (0 for the
// policy's number) and, for every task, at the states of three sampling paths from the same noise:
// the network's composed one and the two of the exact joint and composed scores. The policy is
// shown the course's tracks and sizes by one network. The stage is "interaction".
FacetStatus exact_products(ExactProducts *out, const FacetRace *race, const FacetPolicy *policy,
                           int steps, uint64_t seed, const FacetProgress *progress);
void exact_products_free(ExactProducts *products);

// ---- What the exact composed score generates ----------------------------------------------------

// Distances of a generated chunk from the expert's: mean over the keypoints.
typedef struct ChunkError {
    double position; // m
    double speed;    // m/s
} ChunkError;

typedef struct ExactPlan {
    FacetCourseTask task;
    bool held_out;            // the policy was not trained on it
    ChunkError exact;         // of the exact composed score of the training tasks
    ChunkError network;       // of the network's composed score, from the same noise
    FacetCourseTask nearest;  // the training task whose chunk the exact plan is nearest to
    ChunkError nearest_error; // distances from that chunk
} ExactPlan;

// Plans every feasible task from the same noise with the exact composed score of the tasks that the
// policy was trained on, each with the same weight, and with the policy's network. `plans` holds
// facet_race_task_max; *count gets how many there are. The stage is "exact plans".
FacetStatus exact_plans(ExactPlan *plans, int *count, const FacetRace *race,
                        const FacetPolicy *policy, int steps, uint64_t seed,
                        const FacetProgress *progress);

#endif
