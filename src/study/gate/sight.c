// How well a policy sees (see gate/sight.h).
#include "gate/sight.h"

#include "base/status.h"
#include "math/geometry.h"

const double sight_ends[SIGHT_BINS] = {1.0, 2.0, 4.0, 6.0, 8.0, INFINITY};

FacetStatus sight_look(void *context, const FacetGateView *view, const double *offsets,
                       FacetVec3 estimate)
{
    (void)estimate;
    GateSight *sight = context;
    const FacetQuadState *truth = view->truth;
    FacetCourseGate gate = facet_gate_target(sight->world, view->trial->task);
    FacetVec3 way = vec3_sub(gate.center, truth->pos_world);
    FacetVec3 offset = mat3_tmul_vec3(quat_to_mat3(truth->attitude), way);
    FacetVec3 error = vec3_sub(vec3(offsets[0], offsets[1], offsets[2]), offset);
    double distance = vec3_norm(way), along = fabs(vec3_dot(error, offset)) / (distance + 1e-9);
    double all = vec3_norm(error);
    int bin = 0;
    while (distance >= sight_ends[bin]) bin++;
    sight->frames[bin]++;
    sight->along[bin] += along;
    sight->across[bin] += sqrt(fmax(0.0, all * all - along * along));
    sight->spread[bin] += sqrt(view->variance);
    return status_ok();
}

GateSight sight_sum(const GateSight *sights, const GateTrials *trials, bool held_out)
{
    GateSight sum = {0};
    for (int i = 0; i < trials->count; i++)
        for (int b = 0; b < SIGHT_BINS && trials->held_out[i] == held_out; b++) {
            sum.frames[b] += sights[i].frames[b];
            sum.along[b] += sights[i].along[b];
            sum.across[b] += sights[i].across[b];
            sum.spread[b] += sights[i].spread[b];
        }
    return sum;
}
