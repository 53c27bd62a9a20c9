// Starts that are spread as the demonstrations' are (see race/spread_start.h).
#include "race/spread_start.h"

#include "base/rng.h"
#include "base/status.h"
#include "math/geometry.h"

FacetStatus spread_start(FacetQuadState *start, const FacetRace *race, FacetCourseTask task,
                         double spread, double least, FacetRng *rng)
{
    const FacetTrack *track = &race->course->tracks[task.track];
    double speed = facet_race_reference_speed(race, task);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference expert;
    double x = rng_normal(rng), y = rng_normal(rng), z = rng_normal(rng);
    FacetVec3 origin = vec3_axpy(track->points[0], spread, vec3(x, y, z));
    origin.z = fmax(origin.z, race->course->arena.min.z + 0.25);
    TRY(facet_expert_chunk(chunk, track, origin, speed));
    TRY(facet_reference_from_chunk(&expert, chunk));
    speed *= rng_range(rng, least, 1.0);
    *start = facet_flight_start(&race->model, &expert, speed);
    return status_ok();
}
