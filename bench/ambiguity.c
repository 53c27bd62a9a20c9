// How much the start of a trial says about which gate is meant.
//
// A spawn is drawn from a density over poses that its gate and side give: p(pose | gate, side) is
// 1 / distance in the plane within the world's ranges of distance, azimuth, height and heading, and
// 0 outside. For every spawn of the world this sums the densities of all gates and sides, and
// prints how many could have been the target, and how often the likeliest one is: the best guess
// of a pilot that knows where it is but not its task, nor the colours of the gates.
// Usage: ambiguity [spawns] [courses]
#include "bench.h"

#include <facet/gate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double density(const GateWorld *world, const Gate *gate, const QuadState *start)
{
    Vec3 way = vec3_sub(gate->center, start->pos_world);
    double distance = vec3_norm(way), level = hypot(way.x, way.y);
    Mat3 axes = quat_to_mat3(start->attitude);
    double heading = atan2(axes.m[1][0], axes.m[0][0]), course = atan2(way.y, way.x);
    double azimuth = course - atan2(gate->normal.y, gate->normal.x);
    bool possible = distance >= world->distance_min && distance <= world->distance_max &&
                    fabs(way.z) <= world->rise_max &&
                    fabs(remainder(azimuth, 2.0 * FACET_PI)) <= world->azimuth_max &&
                    fabs(remainder(heading - course, 2.0 * FACET_PI)) <= world->heading_error;
    return possible ? 1.0 / level : 0.0;
}

int main(int argc, char **argv)
{
    int spawns = argc > 1 ? atoi(argv[1]) : 6000;
    if (spawns < 1 || spawns > 10000000) spawns = 6000;
    GateWorld *world;
    must(gate_world_create(&world, argc > 2 ? argv[2] : NULL));
    int64_t tasks = factor_task_count(world->space);
    int several = 0;
    double candidates = 0.0, best = 0.0;
    for (int i = 0; i < spawns; i++) {
        GateTrial trial;
        FactorTask task = factor_task_at(world->space, i % tasks);
        must(gate_trial(&trial, world, task, 1, (uint64_t)i));
        double sum = 0.0, most = 0.0;
        int possible = 0;
        int gates = factor_value_count(world->space, GATE_FACTOR_GATE);
        for (int k = 0; k < 2 * gates; k++) {
            task.value[GATE_FACTOR_GATE] = k / 2;
            task.value[GATE_FACTOR_SIDE] = k % 2;
            Gate gate = gate_target(world, task);
            double p = density(world, &gate, &trial.start);
            sum += p;
            most = p > most ? p : most;
            possible += p > 0.0;
        }
        several += possible > 1;
        candidates += possible;
        best += most / sum;
    }
    printf("%d spawns of %lld tasks\n", spawns, (long long)tasks);
    printf("could be the target     %.2f gates on the mean, more than one in %.1f %%\n",
           candidates / spawns, 100.0 * several / spawns);
    printf("the likeliest one is    %.1f %%\n", 100.0 * best / spawns);
    gate_world_destroy(world);
    return 0;
}
