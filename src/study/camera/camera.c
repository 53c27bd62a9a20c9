// The pinhole and the sensor: rays through pixels, light to bytes.
//
// A pixel at (u, v) looks along  x + right (u - width/2)/f + down (v - height/2)/f  with
// f = (width/2)/tan(fov/2) pixels. The sensor adds noise of variance light/full_well + read_noise^2
// to the exposed light, clips it to [0, 1] and responds with its square root, as a byte.
#include "base/pool.h"
#include "base/rng.h"
#include "camera/scene.h"

#include <assert.h>
#include <string.h>

FacetCamera facet_camera_default(void)
{
    return (FacetCamera){
        .width = 320,
        .height = 240,
        .fov = 0.5 * FACET_PI,
        .tilt = FACET_PI / 12.0,
        .mount_body = {0.08, 0.0, 0.02},
        .samples = 1,
        .exposure = 1.0,
        .full_well = 4000.0,
        .read_noise = 0.003,
    };
}

// ---- Geometry -----------------------------------------------------------------------------------

// The pinhole and the image's axes in the world.
typedef struct Pinhole {
    FacetVec3 pos, forward, right, down;
    double focal; // pixels
} Pinhole;

static Pinhole pinhole(const FacetCamera *camera, FacetVec3 pos_world, FacetQuat attitude)
{
    Mat3 r = quat_to_mat3(attitude);
    double c = cos(camera->tilt), s = sin(camera->tilt);
    return (Pinhole){
        .pos = vec3_add(pos_world, mat3_mul_vec3(r, camera->mount_body)),
        .forward = mat3_mul_vec3(r, vec3(c, 0.0, s)),
        .right = mat3_mul_vec3(r, vec3(0.0, -1.0, 0.0)),
        .down = mat3_mul_vec3(r, vec3(s, 0.0, -c)),
        .focal = 0.5 * camera->width / tan(0.5 * camera->fov),
    };
}

bool facet_camera_project(double *u, double *v, const FacetCamera *camera, FacetVec3 pos_world,
                          FacetQuat attitude, FacetVec3 point_world)
{
    Pinhole p = pinhole(camera, pos_world, attitude);
    FacetVec3 to = vec3_sub(point_world, p.pos);
    double depth = vec3_dot(to, p.forward);
    if (depth <= 1e-9) return false;
    *u = 0.5 * camera->width + p.focal * vec3_dot(to, p.right) / depth;
    *v = 0.5 * camera->height + p.focal * vec3_dot(to, p.down) / depth;
    return true;
}

void facet_camera_stand(FacetVec3 *pos_world, double *yaw, const FacetCourseGate *gate, int side,
                        double distance, double azimuth)
{
    double along = atan2(gate->normal.y, gate->normal.x) + (side < 0 ? FACET_PI : 0.0);
    *yaw = along + azimuth;
    *pos_world = vec3_sub(gate->center, vec3(distance * cos(*yaw), distance * sin(*yaw), 0.0));
}

void facet_camera_paint(FacetCameraShot *shot, const FacetVenue *venue, int gate, int color,
                        uint64_t seed, uint64_t stream)
{
    FacetRng rng = rng_make(seed, stream);
    int others = venue->color_count - 1;
    for (int i = 0; i < venue->gate_count; i++) {
        int step = others ? 1 + (int)(rng_uniform(&rng) * others) : 0;
        bool same = i == gate || venue->one_color;
        int chosen = same ? color : (color + step) % venue->color_count;
        shot->colors[i] = (uint8_t)chosen;
    }
}

// ---- Drawing ------------------------------------------------------------------------------------

// Places of the rays in a pixel, from its middle: a rotated grid for four, rooks for eight.
static const float sample_places[4][8][2] = {
    {{0.0f, 0.0f}},
    {{-0.25f, -0.25f}, {0.25f, 0.25f}},
    {{-0.125f, -0.375f}, {0.375f, -0.125f}, {-0.375f, 0.125f}, {0.125f, 0.375f}},
    {{-0.4375f, -0.0625f},
     {-0.3125f, 0.3125f},
     {-0.1875f, -0.3125f},
     {-0.0625f, 0.0625f},
     {0.0625f, 0.4375f},
     {0.1875f, -0.1875f},
     {0.3125f, 0.1875f},
     {0.4375f, -0.4375f}},
};

// A packet is a block of eight pixels, a tile some blocks side by side, and a task one row of
// tiles. Blocks that lie below each other follow each other, so that two make a square.
enum {
    BLOCK_WIDTH = 4,
    BLOCK_HEIGHT = 2,
    TILE_ROWS = 2,
    TILE_COLUMNS = PACKETS_MAX / TILE_ROWS,
    TILE_WIDTH = TILE_COLUMNS * BLOCK_WIDTH,
    TILE_HEIGHT = TILE_ROWS * BLOCK_HEIGHT,
};

typedef struct Drawing {
    uint8_t *rgb;
    const FacetCamera *camera;
    const FacetCameraShot *shot;
    Pinhole eye;
    Look look;
    Frame frame;
    const float (*places)[2];
} Drawing;

static Lanes3 spread(FacetVec3 v)
{
    return lanes3(lanes((float)v.x), lanes((float)v.y), lanes((float)v.z));
}

// The rays through the place of a sample in each pixel of the block at (x, y).
static void aim_block(Rays *rays, const Drawing *d, int x, int y, int sample)
{
    static const Lanes column = {0, 1, 2, 3, 0, 1, 2, 3}, row = {0, 0, 0, 0, 1, 1, 1, 1};
    const FacetCamera *camera = d->camera;
    const float *place = d->places[sample];
    float scale = (float)(1.0 / d->eye.focal);
    float from_x = (float)x + 0.5f + place[0] - 0.5f * (float)camera->width;
    float from_y = (float)y + 0.5f + place[1] - 0.5f * (float)camera->height;
    Lanes3 direction =
        lanes3_axpy(spread(d->eye.forward), (column + from_x) * scale, spread(d->eye.right));
    direction = lanes3_axpy(direction, (row + from_y) * scale, spread(d->eye.down));
    *rays = (Rays){.origin = spread(d->eye.pos),
                   .direction = lanes3_scale(direction, 1.0f / lanes3_norm(direction)),
                   .far = lanes(1e4f),
                   .travelled = lanes(0.0f),
                   .active = (column + (float)x < (float)camera->width) &
                             (row + (float)y < (float)camera->height)};
}

// The bytes of one channel, one a lane.
LANES_INLINE LanesMask respond(Lanes light, Lanes noise, float per_electron, float read)
{
    Lanes variance = lanes_max(light, lanes(0.0f)) * per_electron + read * read;
    Lanes seen = light + noise * lanes_sqrt(variance);
    Lanes level = lanes_sqrt(lanes_clamp(seen, lanes(0.0f), lanes(1.0f))) * 255.0f + 0.5f;
    return __builtin_convertvector(level, LanesMask);
}

// Writes the first pixels of a row of a block, each of which has its bytes in a word.
static void store_row(uint8_t *rgb, const void *words, int pixels)
{
    typedef uint8_t Bytes __attribute__((vector_size(4 * BLOCK_WIDTH)));
    Bytes row;
    memcpy(&row, words, sizeof row);
    row = __builtin_shufflevector(row, row, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
    if (pixels >= BLOCK_WIDTH)
        memcpy(rgb, &row, 3 * BLOCK_WIDTH);
    else
        memcpy(rgb, &row, 3 * (size_t)pixels);
}

static void store_block(const Drawing *d, int x, int y, const Lanes3 *light)
{
    const FacetCamera *camera = d->camera;
    Lanes3 noise = lanes3(lanes(0.0f), lanes(0.0f), lanes(0.0f));
    float per_electron = camera->full_well > 0.0 ? (float)(1.0 / camera->full_well) : 0.0f;
    float read = (float)camera->read_noise;
    if (per_electron > 0.0f || read > 0.0f) {
        static const LanesMask column = {0, 1, 2, 3, 0, 1, 2, 3}, row = {0, 0, 0, 0, 1, 1, 1, 1};
        LanesMask pixel = (row + y) * camera->width + column + x;
        sensor_noise(&noise, d->shot->seed, d->shot->stream, &pixel);
    }
    LanesMask rgb = respond(light->x, noise.x, per_electron, read) |
                    respond(light->y, noise.y, per_electron, read) << 8 |
                    respond(light->z, noise.z, per_electron, read) << 16;
    for (int row = 0; row < BLOCK_HEIGHT && y + row < camera->height; row++)
        if (x < camera->width)
            store_row(d->rgb + 3 * ((size_t)(y + row) * (size_t)camera->width + (size_t)x),
                      (const int32_t *)&rgb + row * BLOCK_WIDTH, camera->width - x);
}

static void draw_tile(const Drawing *d, int left, int top)
{
    const FacetCamera *camera = d->camera;
    Rays rays[PACKETS_MAX];
    Lanes3 seen[PACKETS_MAX], sum[PACKETS_MAX] = {0};
    for (int i = 0; i < camera->samples; i++) {
        for (int k = 0; k < PACKETS_MAX; k++)
            aim_block(&rays[k], d, left + k / TILE_ROWS * BLOCK_WIDTH,
                      top + k % TILE_ROWS * BLOCK_HEIGHT, i);
        shade(seen, &d->frame, rays, i, PACKETS_MAX);
        for (int k = 0; k < PACKETS_MAX; k++) sum[k] = lanes3_add(sum[k], seen[k]);
    }
    Lanes exposure = lanes((float)(camera->exposure / camera->samples));
    for (int k = 0; k < PACKETS_MAX; k++) {
        Lanes3 light = lanes3_scale(sum[k], exposure);
        store_block(d, left + k / TILE_ROWS * BLOCK_WIDTH, top + k % TILE_ROWS * BLOCK_HEIGHT,
                    &light);
    }
}

static void draw_row(void *context, int index, int worker)
{
    (void)worker;
    const Drawing *d = context;
    for (int x = 0; x < d->camera->width; x += TILE_WIDTH) draw_tile(d, x, index * TILE_HEIGHT);
}

static void paint_gates(Look *look, const FacetVenue *venue, const FacetCameraShot *shot)
{
    for (int i = 0; i < venue->gate_count; i++) {
        assert(shot->colors[i] < venue->color_count);
        const float *color = venue->colors[shot->colors[i]].color;
        memcpy(look->materials[i].color[0], color, sizeof look->materials[i].color[0]);
    }
}

void facet_camera_render(uint8_t *rgb, const FacetCamera *camera, const FacetVenue *venue,
                         const FacetCameraShot *shot, FacetPool *pool)
{
    assert(camera->width > 0 && camera->height > 0);
    int pattern = camera->samples == 8 ? 3 : camera->samples == 4 ? 2 : camera->samples - 1;
    assert(camera->samples == 1 || camera->samples == 2 || camera->samples == 4 ||
           camera->samples == 8);
    Drawing drawing = {.rgb = rgb,
                       .camera = camera,
                       .shot = shot,
                       .eye = pinhole(camera, shot->pos_world, shot->attitude),
                       .look = venue->look,
                       .places = sample_places[pattern]};
    drawing.frame = (Frame){.venue = venue,
                            .look = &drawing.look,
                            .reference = camera->reference,
                            .pixel = (float)(1.0 / drawing.eye.focal),
                            .time = (float)shot->time};
    if (shot->look) look_redraw(&drawing.look, venue->gate_count, shot->look);
    paint_gates(&drawing.look, venue, shot);
    int rows = (camera->height + TILE_HEIGHT - 1) / TILE_HEIGHT;
    if (pool)
        pool_for(pool, rows, draw_row, &drawing);
    else
        for (int i = 0; i < rows; i++) draw_row(&drawing, i, 0);
}

// ---- Segments and distances ---------------------------------------------------------------------

bool facet_venue_blocked(const FacetVenue *venue, FacetVec3 from_world, FacetVec3 to_world)
{
    FacetVec3 way = vec3_sub(to_world, from_world);
    double length = vec3_norm(way);
    if (length <= 0.0) return false;
    Rays rays = {.origin = spread(from_world),
                 .direction = spread(vec3_scale(way, 1.0 / length)),
                 .far = lanes((float)length),
                 .active = {-1}};
    LanesMask blocked;
    embree_blocked(&blocked, venue->tracer, &rays, 1);
    return blocked[0] != 0;
}

double facet_venue_clearance(const FacetVenue *venue, FacetVec3 point_world, double reach)
{
    return embree_clearance(venue->tracer, &venue->mesh, point_world, reach);
}
