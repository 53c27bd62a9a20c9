// facet camera: one frame of the onboard camera.
#include "args.h"
#include "base/json.h"
#include "base/text.h"
#include "commands.h"
#include "picture/png.h"

#include <facet_study/camera.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEGREES (FACET_PI / 180.0)

enum { COLOR_STREAM = 1 }; // of the other gates' colours; the sensor's noise has stream 0

typedef struct CameraOptions {
    CommonOptions common;
    const char *venue, *gate, *color, *side, *out, *size, *at;
    double distance, azimuth, rise, heading, pitch, roll, time, noise;
    double fov, tilt; // degrees
    uint64_t look;
    FacetCamera camera;
} CameraOptions;

// What is drawn, once every word is understood.
typedef struct Picture {
    const FacetCourseGate *gate;
    int side;
    FacetCameraShot shot;
    double yaw;
    bool in_front; // the gate's centre, at
    double u, v;   // pixels
} Picture;

static FacetStatus parse_side(int *side, const char *word)
{
    static const char *const words[] = {"+1", "1", "-1"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *side = i < 2 ? 1 : -1;
            return status_ok();
        }
    return status_fail(FACET_NOT_FOUND, "no side '%.40s': +1, -1", word);
}

static FacetStatus parse_size(FacetCamera *camera, const char *text)
{
    char end;
    if (sscanf(text, "%4dx%4d%c", &camera->width, &camera->height, &end) != 2 ||
        camera->width < 8 || camera->height < 8 || camera->width > 4096 || camera->height > 4096)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--size: expected WIDTHxHEIGHT from 8x8 to 4096x4096, found '%.40s'",
                           text);
    return status_ok();
}

static FacetStatus parse_at(FacetVec3 *pos, const char *text)
{
    char end;
    if (sscanf(text, "%lf,%lf,%lf%c", &pos->x, &pos->y, &pos->z, &end) != 3 || !vec3_finite(*pos))
        return status_fail(FACET_BAD_ARGUMENT, "--at: expected X,Y,Z in m, found '%.60s'", text);
    return status_ok();
}

static FacetStatus parse_camera(CameraOptions *options)
{
    FacetCamera *camera = &options->camera;
    TRY(parse_size(camera, options->size));
    if (camera->samples != 1 && camera->samples != 2 && camera->samples != 4 &&
        camera->samples != 8)
        return status_fail(FACET_BAD_ARGUMENT, "--samples: expected 1, 2, 4 or 8, found %d",
                           camera->samples);
    camera->fov = options->fov * DEGREES;
    camera->tilt = options->tilt * DEGREES;
    // Noise of k times the standard deviation: a k^2-th of the electrons.
    double k = options->noise;
    camera->full_well = k > 0.0 ? camera->full_well / (k * k) : 0.0;
    camera->read_noise *= k;
    return status_ok();
}

static FacetStatus aim(Picture *picture, const CameraOptions *options, const FacetVenue *venue)
{
    int gate, color;
    FacetCameraShot *shot = &picture->shot;
    *picture = (Picture){
        .shot = {.time = options->time, .look = options->look, .seed = options->common.seed}};
    TRY(facet_venue_find_gate(&gate, venue, options->gate));
    TRY(facet_venue_find_color(&color, venue, options->color));
    facet_camera_paint(shot, venue, gate, color, options->common.seed, COLOR_STREAM);
    TRY(parse_side(&picture->side, options->side));
    picture->gate = facet_venue_gate(venue, gate);
    facet_camera_stand(&shot->pos_world, &picture->yaw, picture->gate, picture->side,
                       options->distance, options->azimuth * DEGREES);
    shot->pos_world.z += options->rise;
    if (options->at) {
        TRY(parse_at(&shot->pos_world, options->at));
        FacetVec3 to = vec3_sub(picture->gate->center, shot->pos_world);
        picture->yaw = atan2(to.y, to.x);
    }
    picture->yaw += options->heading * DEGREES;
    FacetQuat pitch = quat_from_axis_angle(vec3(0.0, 1.0, 0.0), -options->pitch * DEGREES);
    FacetQuat roll = quat_from_axis_angle(vec3(1.0, 0.0, 0.0), options->roll * DEGREES);
    shot->attitude = quat_mul(quat_from_yaw(picture->yaw), quat_mul(pitch, roll));
    picture->in_front =
        facet_camera_project(&picture->u, &picture->v, &options->camera, shot->pos_world,
                             shot->attitude, picture->gate->center);
    return status_ok();
}

static FacetStatus draw(const CameraOptions *options, const FacetVenue *venue,
                        const FacetCameraShot *shot)
{
    const FacetCamera *camera = &options->camera;
    uint8_t *rgb = malloc((size_t)camera->width * (size_t)camera->height * 3);
    if (!rgb) return status_fail(FACET_NO_MEMORY, "out of memory for a frame of %s", options->size);
    FacetPool *pool = NULL;
    FacetStatus status = facet_pool_create(&pool, options->common.threads);
    if (status.ok) {
        facet_camera_render(rgb, camera, venue, shot, pool);
        status = png_write(options->out, rgb, camera->width, camera->height);
    }
    facet_pool_destroy(pool);
    free(rgb);
    return status;
}

// The colour of each gate.
static Json *json_from_colors(const FacetCameraShot *shot, const FacetVenue *venue)
{
    Json *colors = json_object();
    for (int i = 0; i < facet_venue_gate_count(venue); i++)
        json_set_string(colors, facet_venue_gate(venue, i)->name,
                        facet_venue_color_name(venue, shot->colors[i]));
    return colors;
}

static Json *json_from_picture(const CameraOptions *options, const Picture *picture,
                               const FacetVenue *venue)
{
    Json *document = json_object(), *attitude = json_array();
    FacetQuat q = picture->shot.attitude;
    json_set_string(document, "venue", options->venue);
    json_set_string(document, "gate", options->gate);
    json_set_string(document, "color", options->color);
    json_set(document, "colors", json_from_colors(&picture->shot, venue));
    json_set_number(document, "side", picture->side);
    json_set_string(document, "file", options->out);
    json_set_number(document, "width", options->camera.width);
    json_set_number(document, "height", options->camera.height);
    json_set(document, "position", json_from_vec3(picture->shot.pos_world));
    json_push_number(attitude, q.w);
    json_push_number(attitude, q.x);
    json_push_number(attitude, q.y);
    json_push_number(attitude, q.z);
    json_set(document, "attitude", attitude);
    json_set(document, "gate_center", json_from_vec3(picture->gate->center));
    json_set(document, "gate_normal", json_from_vec3(picture->gate->normal));
    if (picture->in_front) {
        Json *pixel = json_array();
        json_push_number(pixel, picture->u);
        json_push_number(pixel, picture->v);
        json_set(document, "gate_pixel", pixel);
    }
    json_set_number(document, "time", options->time);
    json_set_uint64(document, "look", options->look);
    json_set_uint64(document, "seed", options->common.seed);
    return document;
}

static FacetStatus run(const CameraOptions *options)
{
    FacetVenue *venue;
    Picture picture;
    TRY(facet_venue_load(&venue, options->common.courses, options->venue));
    FacetStatus status = aim(&picture, options, venue);
    if (status.ok) status = draw(options, venue, &picture.shot);
    if (status.ok) {
        FacetVec3 pos = picture.shot.pos_world;
        printf("%s: %s, %s gate %s from side %+d, at (%.2f, %.2f, %.2f) m heading %.0f degrees\n",
               options->out, options->venue, options->color, options->gate, picture.side, pos.x,
               pos.y, pos.z, remainder(picture.yaw / DEGREES, 360.0));
        if (options->common.json)
            status = json_write(json_from_picture(options, &picture, venue), options->common.json);
    }
    facet_venue_destroy(venue);
    return status;
}

int cmd_camera(int argc, char **argv)
{
    CameraOptions o = {.common = common_defaults(),
                       .venue = "Field",
                       .gate = "1",
                       .color = "red",
                       .side = "+1",
                       .out = "frame.png",
                       .size = "320x240",
                       .distance = 5.0,
                       .noise = 1.0,
                       .fov = 90.0,
                       .tilt = 15.0,
                       .camera = facet_camera_default()};
    const Option options[] = {
        option_text("venue", &o.venue, "NAME", "a file of courses/venues"),
        option_text("gate", &o.gate, "ID", "gate to look at"),
        option_text("color", &o.color, "NAME", "of the gate; the seed gives the others other ones"),
        option_text("side", &o.side, "SIDE", "+1 flies along the gate's normal, -1 against it"),
        writes(option_text("out", &o.out, "FILE", "the picture, a PNG file")),
        without(option_double("distance", &o.distance, "M", 0.0, 1000.0, "from the gate's centre"),
                "at"),
        without(option_double("azimuth", &o.azimuth, "DEG", -180.0, 180.0, "off the gate's axis"),
                "at"),
        without(option_double("rise", &o.rise, "M", -100.0, 100.0, "above the gate's centre"),
                "at"),
        option_text("at", &o.at, "X,Y,Z", "stand here instead, in m"),
        option_double("heading", &o.heading, "DEG", -360.0, 360.0, "off the way to the gate, left"),
        option_double("pitch", &o.pitch, "DEG", -90.0, 90.0, "of the body, nose up"),
        option_double("roll", &o.roll, "DEG", -180.0, 180.0, "of the body, right side down"),
        option_double("tilt", &o.tilt, "DEG", -90.0, 90.0, "of the camera on the body, up"),
        option_double("fov", &o.fov, "DEG", 1.0, 170.0, "horizontal field of view"),
        option_text("size", &o.size, "WxH", "pixels"),
        option_int("samples", &o.camera.samples, "N", 1, 8, "rays a pixel: 1, 2, 4 or 8"),
        option_double("exposure", &o.camera.exposure, "X", 0.0, 1000.0, "factor on the light"),
        option_double("noise", &o.noise, "X", 0.0, 1000.0, "factor on the sensor's noise"),
        option_double("time", &o.time, "S", 0.0, 1e6, "moves the water"),
        option_uint64("look", &o.look, "N", "0, or draw other colours, patterns and light from N"),
    };
    const Usage usage = {
        .command = "camera",
        .description = "Draws one frame of the onboard camera, level and heading for a gate, and "
                       "writes it as a PNG file. --json writes the pose and where the gate's "
                       "centre is in the picture.",
        .example = "facet camera --venue pool --gate 3 --color white --side -1 --out frame.png",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    FacetStatus status = parse_camera(&o);
    if (!status.ok) return command_misused(usage.command, status);
    status = run(&o);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
