// Queries through Embree 3, of one mesh of quads: streams of packets of eight rays, and distances.
//
// The tree is built by one thread, so that it is the same every time. Queries only read it.
#include "base/status.h"
#include "camera/scene.h"

#include <embree3/rtcore.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct EmbreeScene {
    RTCDevice device;
    RTCScene scene;
    int abreast; // packets of eight rays in one that the processor's registers hold
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
    scene->abreast =
        rtcGetDeviceProperty(scene->device, RTC_DEVICE_PROPERTY_NATIVE_RAY16_SUPPORTED) ? 2 : 1;
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

// ---- Rays ---------------------------------------------------------------------------------------

// Embree keeps a packet as rows, one a field, of a word a ray. It works with packets as wide as the
// processor's registers: eight rays, or sixteen, where two of ours lie side by side.
#define ROW(field) ((int)(offsetof(struct RTCRayHit8, field) / sizeof(Lanes)))
enum { RAY_ROWS = ROW(hit), HIT_ROWS = (int)(sizeof(struct RTCRayHit8) / sizeof(Lanes)) };

typedef struct Stream {
    _Alignas(64) Lanes words[PACKETS_MAX * HIT_ROWS];
    int rows, abreast;
} Stream;

// The first row of a packet; the next ones follow `abreast` apart.
static inline Lanes *packet_at(Stream *stream, int packet)
{
    int abreast = stream->abreast;
    return &stream->words[packet / abreast * abreast * stream->rows + packet % abreast];
}

static inline void set_words(Lanes *row, int word)
{
    const LanesMask words = {word, word, word, word, word, word, word, word};
    *row = (Lanes)words;
}

// A ray that ends before it begins is left alone.
static void set_rays(Stream *stream, int packet, const Rays *rays, const LanesMask *active)
{
    Lanes *rows = packet_at(stream, packet);
    int step = stream->abreast;
    rows[ROW(ray.org_x) * step] = rays->origin.x;
    rows[ROW(ray.org_y) * step] = rays->origin.y;
    rows[ROW(ray.org_z) * step] = rays->origin.z;
    rows[ROW(ray.dir_x) * step] = rays->direction.x;
    rows[ROW(ray.dir_y) * step] = rays->direction.y;
    rows[ROW(ray.dir_z) * step] = rays->direction.z;
    rows[ROW(ray.tnear) * step] = lanes_select(*active, lanes(rays->near), lanes(INFINITY));
    rows[ROW(ray.tfar) * step] = lanes_select(*active, rays->far, lanes(-INFINITY));
    rows[ROW(ray.time) * step] = lanes(0.0f);
    set_words(&rows[ROW(ray.mask) * step], -1);
    set_words(&rows[ROW(ray.flags) * step], 0);
}

// Returns the number of Embree's packets. What is left of the last one is not active.
static unsigned fill(Stream *stream, const EmbreeScene *scene, int rows, const Rays *rays,
                     int packets)
{
    int abreast = scene->abreast, wide = (packets + abreast - 1) / abreast;
    stream->rows = rows;
    stream->abreast = abreast;
    for (int i = 0; i < packets; i++) set_rays(stream, i, &rays[i], &rays[i].active);
    const LanesMask none = {0};
    for (int i = packets; i < wide * abreast; i++) set_rays(stream, i, &rays[packets - 1], &none);
    return (unsigned)wide;
}

// Hints that the rays of a stream run side by side.
static struct RTCIntersectContext coherent_context(void)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    context.flags = RTC_INTERSECT_CONTEXT_FLAG_COHERENT;
    return context;
}

void embree_trace(Hits *hits, const EmbreeScene *scene, const Rays *rays, int packets)
{
    Stream stream;
    int step = scene->abreast;
    unsigned wide = fill(&stream, scene, HIT_ROWS, rays, packets);
    for (int i = 0; i < (int)wide * step; i++) {
        Lanes *rows = packet_at(&stream, i);
        set_words(&rows[ROW(hit.geomID) * step], (int)RTC_INVALID_GEOMETRY_ID);
        set_words(&rows[ROW(hit.instID) * step], (int)RTC_INVALID_GEOMETRY_ID);
    }
    struct RTCIntersectContext context = coherent_context();
    rtcIntersectNM(scene->scene, &context, (struct RTCRayHitN *)stream.words,
                   (unsigned)(BATCH_LANES * step), wide, HIT_ROWS * sizeof(Lanes) * (size_t)step);
    for (int i = 0; i < packets; i++) {
        const Lanes *rows = packet_at(&stream, i);
        LanesMask geometry = (LanesMask)rows[ROW(hit.geomID) * step];
        hits[i].hit = rays[i].active & (geometry != (int)RTC_INVALID_GEOMETRY_ID);
        hits[i].distance = rows[ROW(ray.tfar) * step];
        // Embree writes no normal where it meets nothing.
        Lanes3 normal = lanes3(rows[ROW(hit.Ng_x) * step], rows[ROW(hit.Ng_y) * step],
                               rows[ROW(hit.Ng_z) * step]);
        hits[i].normal =
            lanes3_select(hits[i].hit, normal, lanes3(lanes(0.0f), lanes(0.0f), lanes(1.0f)));
        LanesMask quad = hits[i].hit & (LanesMask)rows[ROW(hit.primID) * step];
        memcpy(hits[i].quad, &quad, sizeof quad);
    }
}

void embree_blocked(LanesMask *blocked, const EmbreeScene *scene, const Rays *rays, int packets)
{
    Stream stream;
    int step = scene->abreast;
    unsigned wide = fill(&stream, scene, RAY_ROWS, rays, packets);
    struct RTCIntersectContext context = coherent_context();
    rtcOccludedNM(scene->scene, &context, (struct RTCRayN *)stream.words,
                  (unsigned)(BATCH_LANES * step), wide, RAY_ROWS * sizeof(Lanes) * (size_t)step);
    // A ray that meets something ends at minus infinity.
    for (int i = 0; i < packets; i++)
        blocked[i] = rays[i].active & (packet_at(&stream, i)[ROW(ray.tfar) * step] < 0.0f);
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
