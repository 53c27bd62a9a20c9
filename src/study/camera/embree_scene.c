// Queries through Embree 3, of one mesh of quads: streams of packets of eight rays, and distances.
//
// The tree is built by one thread, so that it is the same every time. Queries only read it.
#include "base/status.h"
#include "camera/scene.h"

#include <embree3/rtcore.h>
#include <stdlib.h>
#include <string.h>

struct EmbreeScene {
    RTCDevice device;
    RTCScene scene;
};

static FacetStatus failure(RTCDevice device, const char *doing)
{
    return status_fail(FACET_BAD_ARGUMENT, "Embree cannot %s (error %d)", doing,
                       (int)rtcGetDeviceError(device));
}

static FacetStatus build(EmbreeScene *out, const Mesh *mesh)
{
    RTCGeometry geometry = rtcNewGeometry(out->device, RTC_GEOMETRY_TYPE_QUAD);
    size_t quads = (size_t)mesh->quads;
    float *corners = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                             sizeof(Point), 4 * quads);
    unsigned *indices = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0,
                                                RTC_FORMAT_UINT4, 4 * sizeof *indices, quads);
    if (!corners || !indices) {
        rtcReleaseGeometry(geometry);
        return failure(out->device, "hold the surfaces");
    }
    memcpy(corners, mesh->corners, 4 * quads * sizeof(Point));
    for (unsigned i = 0; i < 4 * quads; i++) indices[i] = i;
    rtcSetGeometryBuildQuality(geometry, RTC_BUILD_QUALITY_HIGH);
    rtcCommitGeometry(geometry);
    rtcAttachGeometry(out->scene, geometry);
    rtcReleaseGeometry(geometry);
    rtcSetSceneBuildQuality(out->scene, RTC_BUILD_QUALITY_HIGH);
    rtcCommitScene(out->scene);
    return rtcGetDeviceError(out->device) == RTC_ERROR_NONE
               ? status_ok()
               : failure(out->device, "build its tree");
}

FacetStatus embree_create(EmbreeScene **out, const Mesh *mesh)
{
    *out = NULL;
    EmbreeScene *scene = calloc(1, sizeof *scene);
    if (!scene) return status_fail(FACET_NO_MEMORY, "out of memory for a scene");
    scene->device = rtcNewDevice("threads=1");
    if (!scene->device) {
        free(scene);
        return failure(NULL, "start");
    }
    scene->scene = rtcNewScene(scene->device);
    FacetStatus status = scene->scene ? build(scene, mesh) : failure(scene->device, "make a scene");
    if (status.ok)
        *out = scene;
    else
        embree_destroy(scene);
    return status;
}

void embree_destroy(EmbreeScene *scene)
{
    if (!scene) return;
    if (scene->scene) rtcReleaseScene(scene->scene);
    rtcReleaseDevice(scene->device);
    free(scene);
}

// Hints that the rays of a stream run side by side.
static struct RTCIntersectContext coherent_context(void)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    return context;
}

static inline void store_words(unsigned to[BATCH_LANES], int word)
{
    const LanesMask words = {word, word, word, word, word, word, word, word};
    memcpy(to, &words, sizeof words);
}

// A ray that ends before it begins is left alone.
static void set_rays(struct RTCRay8 *to, const Rays *rays)
{
    lanes_store(to->org_x, rays->origin.x);
    lanes_store(to->org_y, rays->origin.y);
    lanes_store(to->org_z, rays->origin.z);
    lanes_store(to->dir_x, rays->direction.x);
    lanes_store(to->dir_y, rays->direction.y);
    lanes_store(to->dir_z, rays->direction.z);
    lanes_store(to->tnear, lanes_select(rays->active, lanes(rays->near), lanes(INFINITY)));
    lanes_store(to->tfar, lanes_select(rays->active, rays->far, lanes(-INFINITY)));
    lanes_store(to->time, lanes(0.0f));
    store_words(to->mask, -1);
    store_words(to->flags, 0);
}

void embree_trace(Hits *hits, const EmbreeScene *scene, const Rays *rays, int packets)
{
    struct RTCRayHit8 query[PACKETS_MAX];
    for (int i = 0; i < packets; i++) {
        set_rays(&query[i].ray, &rays[i]);
        store_words(query[i].hit.geomID, (int)RTC_INVALID_GEOMETRY_ID);
        store_words(query[i].hit.instID[0], (int)RTC_INVALID_GEOMETRY_ID);
    }
    struct RTCIntersectContext context = coherent_context();
    rtcIntersectNM(scene->scene, &context, (struct RTCRayHitN *)query, BATCH_LANES,
                   (unsigned)packets, sizeof *query);
    for (int i = 0; i < packets; i++) {
        const struct RTCHit8 *hit = &query[i].hit;
        LanesMask geometry;
        memcpy(&geometry, hit->geomID, sizeof geometry);
        hits[i].hit = rays[i].active & (geometry != -1);
        hits[i].distance = lanes_load(query[i].ray.tfar);
        hits[i].normal =
            lanes3(lanes_load(hit->Ng_x), lanes_load(hit->Ng_y), lanes_load(hit->Ng_z));
        memcpy(hits[i].quad, hit->primID, sizeof hits[i].quad);
    }
}

void embree_blocked(LanesMask *blocked, const EmbreeScene *scene, const Rays *rays, int packets)
{
    struct RTCRay8 query[PACKETS_MAX];
    for (int i = 0; i < packets; i++) set_rays(&query[i], &rays[i]);
    struct RTCIntersectContext context = coherent_context();
    rtcOccludedNM(scene->scene, &context, (struct RTCRayN *)query, BATCH_LANES, (unsigned)packets,
                  sizeof *query);
    // A ray that meets something ends at minus infinity.
    for (int i = 0; i < packets; i++)
        blocked[i] = rays[i].active & (lanes_load(query[i].tfar) < 0.0f);
}

// ---- Distances ----------------------------------------------------------------------------------

typedef struct NearestQuery {
    const Mesh *mesh;
    FacetVec3 point;
    double distance; // m, the least so far
} NearestQuery;

// Looks at one surface that the tree found near. True when the search became smaller.
static bool look_at(struct RTCPointQueryFunctionArguments *found)
{
    NearestQuery *nearest = found->userPtr;
    double distance = mesh_quad_distance(nearest->mesh, (int)found->primID, nearest->point);
    if (!(distance < nearest->distance)) return false;
    nearest->distance = distance;
    found->query->radius = (float)distance;
    return true;
}

double embree_clearance(const EmbreeScene *scene, const Mesh *mesh, FacetVec3 point, double reach)
{
    NearestQuery nearest = {mesh, point, reach};
    struct RTCPointQuery query = {
        .x = (float)point.x, .y = (float)point.y, .z = (float)point.z, .radius = (float)reach};
    struct RTCPointQueryContext context;
    rtcInitPointQueryContext(&context);
    rtcPointQuery(scene->scene, &query, &context, look_at, &nearest);
    return nearest.distance;
}
