// How much the start of a trial says about which gate is meant.
//
// A spawn is drawn from a density over poses that its gate and side give: in the plane 1 / distance
// within the world's ranges of distance, azimuth, height and heading, and 0 outside. (Ways that are
// blocked are left out of account.) Over the spawns of the world this prints how many gates could
// have been the target, and how often the likeliest one is: by the place alone, and by the place
// and the colours of all gates, of which the target's is the only one of its kind. That is the best
// guess of a pilot that is not told its task.
// Usage: ambiguity [spawns] [courses]
#include "bench.h"
#include "factor/factor.h"
#include "math/geometry.h"

#include <facet_study/gate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double density(const FacetGateWorld *world, const FacetCourseGate *gate,
                      const FacetQuadState *start)
{
    FacetVec3 way = vec3_sub(gate->center, start->pos_world);
    double distance = vec3_norm(way);
    Mat3 axes = quat_to_mat3(start->attitude);
    double heading = atan2(axes.m[1][0], axes.m[0][0]), course = atan2(way.y, way.x);
    double azimuth = course - atan2(gate->normal.y, gate->normal.x);
    bool possible = distance >= world->distance_min && distance <= world->distance_max &&
                    fabs(way.z) <= world->rise_max &&
                    fabs(remainder(azimuth, 2.0 * FACET_PI)) <= world->azimuth_max &&
                    fabs(remainder(heading - course, 2.0 * FACET_PI)) <= world->heading_error;
    return possible ? 1.0 / distance : 0.0;
}

// Whether no other gate has the colour of this one.
static bool unique(const FacetCameraShot *shot, int gate, int gates)
{
    for (int i = 0; i < gates; i++)
        if (i != gate && shot->colors[i] == shot->colors[gate]) return false;
    return true;
}

// What a pilot that is not told its task knows of it.
typedef struct Guess {
    int candidates;
    double right; // probability that the likeliest candidate is the target
} Guess;

static Guess guess(const FacetGateWorld *world, const FacetGateTrial *trial, bool sees_colors)
{
    Guess guess = {0};
    FacetCameraShot shot = {0};
    FacetFactorTask task = trial->task;
    double sum = 0.0, most = 0.0;
    int gates = facet_factor_value_count(world->space, FACET_GATE_FACTOR_GATE);
    facet_gate_paint(&shot, world, trial);
    for (int k = 0; k < 2 * gates; k++) {
        task.value[FACET_GATE_FACTOR_GATE] = k / 2;
        task.value[FACET_GATE_FACTOR_SIDE] = k % 2;
        FacetCourseGate gate = facet_gate_target(world, task);
        double p = density(world, &gate, &trial->start);
        if (sees_colors && !unique(&shot, k / 2, gates)) p = 0.0;
        sum += p;
        most = fmax(most, p);
        guess.candidates += p > 0.0;
    }
    if (!(sum > 0.0))
        must(status_fail(FACET_BAD_ARGUMENT, "a spawn: expected a gate that it could belong to"));
    guess.right = most / sum;
    return guess;
}

int main(int argc, char **argv)
{
    int spawns = argc > 1 ? atoi(argv[1]) : 6000;
    if (spawns < 1 || spawns > 10000000) spawns = 6000;
    FacetGateWorld *world;
    must(facet_gate_world_create(&world, argc > 2 ? argv[2] : NULL));
    int64_t tasks = factor_task_count(world->space);
    printf("%d spawns\n%-22s %11s %14s %19s\n", spawns, "", "candidates", "more than one",
           "the likeliest is it");
    for (int colors = 0; colors < 2; colors++) {
        double candidates = 0.0, several = 0.0, right = 0.0;
        for (int i = 0; i < spawns; i++) {
            FacetGateTrial trial;
            FacetFactorTask task = factor_task_at(world->space, i % tasks);
            must(facet_gate_trial(&trial, world, task, 1, (uint64_t)i));
            Guess g = guess(world, &trial, colors);
            candidates += g.candidates;
            several += g.candidates > 1;
            right += g.right;
        }
        printf("%-22s %11.2f %12.1f %% %17.1f %%\n", colors ? "by place and colours" : "by place",
               candidates / spawns, 100.0 * several / spawns, 100.0 * right / spawns);
    }
    facet_gate_world_destroy(world);
    return 0;
}
