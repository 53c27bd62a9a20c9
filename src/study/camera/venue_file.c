// Venues from JSON: gates and colours from venues.json; sky, light, materials, things, objects and
// clutter from the venue's own file. docs/camera.md describes the fields.
#include "base/json.h"
#include "base/rng.h"
#include "base/text.h"
#include "camera/scene.h"

#include <stdio.h>
#include <string.h>

// ---- Small parts --------------------------------------------------------------------------------

static FacetStatus optional_number(double *out, const JsonRef *object, const char *key, double min,
                                   double max)
{
    return json_has(object, key) ? json_member_number(out, object, key, min, max) : status_ok();
}

static FacetStatus optional_float(float *out, const JsonRef *object, const char *key, double min,
                                  double max)
{
    double value = (double)*out;
    TRY(optional_number(&value, object, key, min, max));
    *out = (float)value;
    return status_ok();
}

// A colour as a picture shows it becomes light by squaring.
static FacetStatus parse_color(float out[3], const JsonRef *at)
{
    FacetVec3 color;
    TRY(json_vec3(&color, at));
    if (color.x < 0.0 || color.y < 0.0 || color.z < 0.0 || color.x > 1.0 || color.y > 1.0 ||
        color.z > 1.0)
        return json_wrong(at, "a color: red, green and blue from 0 to 1");
    out[0] = (float)(color.x * color.x);
    out[1] = (float)(color.y * color.y);
    out[2] = (float)(color.z * color.z);
    return status_ok();
}

static FacetStatus member_color(float out[3], const JsonRef *object, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    return parse_color(out, &at);
}

// Two, three or four numbers in [min, max].
static FacetStatus parse_numbers(double *out, int count, const JsonRef *at, double min, double max,
                                 const char *expected)
{
    int length;
    if (!json_is_array(at)) return json_wrong(at, expected);
    TRY(json_length(&length, at));
    if (length != count) return json_wrong(at, expected);
    for (int i = 0; i < count; i++) {
        JsonRef number;
        TRY(json_element(&number, at, i));
        TRY(json_number(&out[i], &number, min, max));
    }
    return status_ok();
}

static FacetStatus member_array(JsonRef *at, int *count, const JsonRef *object, const char *key)
{
    TRY(json_member(at, object, key));
    if (!json_is_array(at)) return json_wrong(at, "an array");
    return json_length(count, at);
}

static FacetStatus member_object(JsonRef *at, int *count, const JsonRef *object, const char *key)
{
    TRY(json_member(at, object, key));
    if (!json_is_object(at)) return json_wrong(at, "an object");
    return json_length(count, at);
}

// ---- venues.json --------------------------------------------------------------------------------

static FacetStatus parse_gate(FacetCourseGate *gate, const JsonRef *at, const FacetVenue *venue)
{
    static const char *const keys[] = {"name", "center", "normal"};
    JsonRef center, normal;
    TRY(json_only(at, keys, 3));
    TRY(json_member_string(gate->name, sizeof gate->name, at, "name"));
    for (int i = 0; i < venue->gate_count; i++)
        if (strcmp(gate->name, venue->gates[i].name) == 0)
            return json_wrong(at, "a name that no other gate has");
    TRY(json_member(&center, at, "center"));
    TRY(json_vec3(&gate->center, &center));
    if (gate->center.z < venue->half_width + venue->bar)
        return json_wrong(&center, "a gate whose frame is above the ground");
    TRY(json_member(&normal, at, "normal"));
    TRY(json_vec3(&gate->normal, &normal));
    double length = vec3_norm(gate->normal);
    if (!(length >= 1e-6 && length <= 1e6) || fabs(gate->normal.z) > 1e-9)
        return json_wrong(&normal, "a horizontal direction with a length from 1e-6 to 1e6");
    gate->normal = vec3_scale(gate->normal, 1.0 / length);
    return status_ok();
}

static FacetStatus parse_common(FacetVenue *venue, const JsonRef *root)
{
    static const char *const keys[] = {"frame",     "gates",         "colors",
                                       "one_color", "heading_error", "scenes"};
    static const char *const frame_keys[] = {"half_width", "bar", "thickness"};
    JsonRef at, list;
    int count;
    TRY(json_only(root, keys, sizeof keys / sizeof *keys));
    TRY(member_object(&at, &count, root, "frame"));
    TRY(json_only(&at, frame_keys, 3));
    TRY(json_member_number(&venue->half_width, &at, "half_width", 0.01, 100.0));
    TRY(json_member_number(&venue->bar, &at, "bar", 0.01, 10.0));
    TRY(json_member_number(&venue->thickness, &at, "thickness", 0.01, 10.0));

    TRY(member_array(&list, &count, root, "gates"));
    if (count < 1 || count > FACET_VENUE_GATES_MAX) return json_wrong(&list, "1 to 16 gates");
    for (int i = 0; i < count; i++) {
        TRY(json_element(&at, &list, i));
        TRY(parse_gate(&venue->gates[i], &at, venue));
        venue->gate_count++;
    }

    TRY(member_object(&list, &count, root, "colors"));
    if (count < 1 || count > FACET_VENUE_COLORS_MAX) return json_wrong(&list, "1 to 16 colors");
    for (int i = 0; i < count; i++) {
        GateColor *color = &venue->colors[i];
        TRY(json_element(&at, &list, i));
        snprintf(color->name, sizeof color->name, "%s", json_key(&at));
        TRY(parse_color(color->color, &at));
        venue->color_count++;
    }
    if (json_has(root, "one_color")) TRY(json_member_bool(&venue->one_color, root, "one_color"));
    return optional_number(&venue->heading_error, root, "heading_error", 1e-6, FACET_PI);
}

FacetStatus venue_parse_common(FacetVenue *venue, const char *file)
{
    Json *document;
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    FacetStatus status = parse_common(venue, &root);
    json_free(document);
    return status;
}

FacetStatus venue_parse_scenes(char *out, int size, const char *file)
{
    Json *document;
    out[0] = '\0';
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    FacetStatus status =
        json_has(&root, "scenes") ? json_member_string(out, size, &root, "scenes") : status_ok();
    json_free(document);
    return status;
}

// ---- Sky and light ------------------------------------------------------------------------------

static FacetStatus parse_sky(Sky *sky, const JsonRef *root)
{
    static const char *const keys[] = {"zenith", "horizon", "clouds"};
    static const char *const cloud_keys[] = {"color", "shade", "cover", "scale"};
    JsonRef at, clouds;
    int count;
    TRY(member_object(&at, &count, root, "sky"));
    TRY(json_only(&at, keys, 3));
    TRY(member_color(sky->zenith, &at, "zenith"));
    TRY(member_color(sky->horizon, &at, "horizon"));
    if (!json_has(&at, "clouds")) return status_ok();
    double cover, scale;
    TRY(member_object(&clouds, &count, &at, "clouds"));
    TRY(json_only(&clouds, cloud_keys, 4));
    TRY(member_color(sky->cloud, &clouds, "color"));
    TRY(member_color(sky->cloud_shade, &clouds, "shade"));
    TRY(json_member_number(&cover, &clouds, "cover", 0.0, 1.0));
    TRY(json_member_number(&scale, &clouds, "scale", 0.01, 100.0));
    sky->cover = (float)cover;
    sky->cloud_scale = (float)scale;
    return status_ok();
}

static FacetStatus parse_sun(Light *light, const JsonRef *at)
{
    static const char *const keys[] = {"direction", "color", "strength", "softness", "reach"};
    JsonRef direction;
    FacetVec3 to_sun;
    double strength;
    TRY(json_only(at, keys, 5));
    TRY(json_member(&direction, at, "direction"));
    TRY(json_vec3(&to_sun, &direction));
    double length = vec3_norm(to_sun);
    if (!(length >= 1e-6 && length <= 1e6) || to_sun.z <= 0.0)
        return json_wrong(&direction, "a direction upwards, towards the sun");
    light->sun_direction[0] = (float)(to_sun.x / length);
    light->sun_direction[1] = (float)(to_sun.y / length);
    light->sun_direction[2] = (float)(to_sun.z / length);
    TRY(member_color(light->sun_color, at, "color"));
    TRY(json_member_number(&strength, at, "strength", 0.0, 100.0));
    for (int c = 0; c < 3; c++) light->sun_color[c] *= (float)strength;
    light->reach = 200.0f;
    TRY(optional_float(&light->softness, at, "softness", 0.0, 1.0));
    return optional_float(&light->reach, at, "reach", 0.0, 1e4);
}

static FacetStatus parse_light(Light *light, const JsonRef *root)
{
    static const char *const keys[] = {"sun", "above", "below", "haze"};
    static const char *const haze_keys[] = {"color", "distance"};
    JsonRef at, part;
    int count;
    TRY(member_object(&at, &count, root, "light"));
    TRY(json_only(&at, keys, 4));
    TRY(member_object(&part, &count, &at, "sun"));
    TRY(parse_sun(light, &part));
    TRY(member_color(light->above, &at, "above"));
    TRY(member_color(light->below, &at, "below"));
    light->haze_distance = INFINITY;
    if (!json_has(&at, "haze")) return status_ok();
    double distance;
    TRY(member_object(&part, &count, &at, "haze"));
    TRY(json_only(&part, haze_keys, 2));
    TRY(member_color(light->haze, &part, "color"));
    TRY(json_member_number(&distance, &part, "distance", 1.0, 1e6));
    light->haze_distance = (float)distance;
    return status_ok();
}

// ---- Materials ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    int colors;
} patterns[PATTERN_COUNT] = {
    [PATTERN_PLAIN] = {"plain", 1},   [PATTERN_NOISE] = {"noise", 2},
    [PATTERN_GRASS] = {"grass", 3},   [PATTERN_TILES] = {"tiles", 3},
    [PATTERN_BRICKS] = {"bricks", 3}, [PATTERN_STRIPES] = {"stripes", 2},
    [PATTERN_RIBS] = {"ribs", 2},     [PATTERN_FACADE] = {"facade", 3},
    [PATTERN_WATER] = {"water", 3},
};

// A failure at a field whose word is not among those known.
static FacetStatus unknown_word(const JsonRef *at, const char *kind, const char *word,
                                const char *const *words, int count)
{
    char text[400];
    text_unknown(text, sizeof text, kind, word, words, count);
    return status_fail(FACET_BAD_FILE, "%s: %s: %s", at->file, at->path, text);
}

static FacetStatus parse_pattern(Pattern *out, const JsonRef *object)
{
    const char *names[PATTERN_COUNT];
    char word[FACET_COURSE_NAME_MAX];
    JsonRef at;
    TRY(json_member(&at, object, "pattern"));
    TRY(json_string(word, sizeof word, &at));
    for (int i = 0; i < PATTERN_COUNT; i++) {
        names[i] = patterns[i].name;
        *out = (Pattern)i;
        if (strcmp(word, names[i]) == 0) return status_ok();
    }
    return unknown_word(&at, "pattern", word, names, PATTERN_COUNT);
}

static FacetStatus parse_scale(Material *m, const JsonRef *object)
{
    JsonRef at;
    double scale[2];
    TRY(json_member(&at, object, "scale"));
    if (json_is_array(&at))
        TRY(parse_numbers(scale, 2, &at, 0.001, 1000.0, "a size in m, or two: along and up"));
    else {
        TRY(json_number(&scale[0], &at, 0.001, 1000.0));
        scale[1] = scale[0];
    }
    m->scale[0] = (float)scale[0];
    m->scale[1] = (float)scale[1];
    return status_ok();
}

static FacetStatus parse_material(Material *m, const JsonRef *at)
{
    static const char *const keys[] = {
        "pattern", "colors",   "scale", "joint", "slant",       "variation",  "mirror",
        "emit",    "unshaded", "lanes", "depth", "wave_height", "wave_length"};
    JsonRef list, color;
    int count;
    if (!json_is_object(at)) return json_wrong(at, "an object");
    TRY(json_only(at, keys, sizeof keys / sizeof *keys));
    TRY(parse_pattern(&m->pattern, at));
    TRY(member_array(&list, &count, at, "colors"));
    if (count != patterns[m->pattern].colors) {
        char expected[64];
        snprintf(expected, sizeof expected, "%d for the pattern '%s'", patterns[m->pattern].colors,
                 patterns[m->pattern].name);
        return json_wrong(&list, expected);
    }
    for (int i = 0; i < count; i++) {
        TRY(json_element(&color, &list, i));
        TRY(parse_color(m->color[i], &color));
    }
    if (m->pattern != PATTERN_PLAIN) TRY(parse_scale(m, at));
    if (m->pattern == PATTERN_WATER) {
        double depth, height, length;
        TRY(json_member_number(&depth, at, "depth", 0.01, 100.0));
        TRY(json_member_number(&height, at, "wave_height", 0.0, 10.0));
        TRY(json_member_number(&length, at, "wave_length", 0.01, 1000.0));
        m->depth = (float)depth, m->wave_height = (float)height, m->wave_length = (float)length;
        m->mirror = 0.02f;
        m->unshaded = true;
    }
    if (json_has(at, "unshaded")) TRY(json_member_bool(&m->unshaded, at, "unshaded"));
    TRY(optional_float(&m->joint, at, "joint", 0.0, 10.0));
    TRY(optional_float(&m->slant, at, "slant", -10.0, 10.0));
    TRY(optional_float(&m->variation, at, "variation", 0.0, 1.0));
    TRY(optional_float(&m->mirror, at, "mirror", 0.0, 1.0));
    TRY(optional_float(&m->emit, at, "emit", 0.0, 100.0));
    return optional_float(&m->lanes, at, "lanes", 0.0, 1000.0);
}

static FacetStatus parse_materials(FacetVenue *venue, const JsonRef *root)
{
    JsonRef list, at;
    int count;
    Look *look = &venue->look;
    for (int i = 0; i < venue->gate_count; i++)
        look->materials[i] = (Material){.pattern = PATTERN_PLAIN, .variation = 0.05f};
    look->material_count = venue->gate_count;
    TRY(member_object(&list, &count, root, "materials"));
    if (count > MATERIALS_MAX - FACET_VENUE_GATES_MAX)
        return json_wrong(&list, "at most 48 materials");
    for (int i = 0; i < count; i++) {
        Material *m = &look->materials[look->material_count];
        TRY(json_element(&at, &list, i));
        snprintf(m->name, sizeof m->name, "%s", json_key(&at));
        for (int j = venue->gate_count; j < look->material_count; j++)
            if (strcmp(m->name, look->materials[j].name) == 0)
                return json_wrong(&at, "a name that no other material has");
        TRY(parse_material(m, &at));
        look->material_count++;
    }
    return status_ok();
}

static FacetStatus find_material(int *out, const FacetVenue *venue, const JsonRef *object,
                                 const char *key)
{
    const char *names[MATERIALS_MAX];
    char word[FACET_COURSE_NAME_MAX];
    JsonRef at;
    TRY(json_member(&at, object, key));
    TRY(json_string(word, sizeof word, &at));
    int known = 0;
    for (*out = venue->gate_count; *out < venue->look.material_count; ++*out) {
        names[known] = venue->look.materials[*out].name;
        if (strcmp(word, names[known++]) == 0) return status_ok();
    }
    return unknown_word(&at, "material", word, names, known);
}

// ---- Things -------------------------------------------------------------------------------------

enum { NESTING_MAX = 4 }; // things within things

// A few lines of rows within rows would otherwise ask for more than any machine holds.
enum { PLACED_MAX = 100000, SURFACES_MAX = 1000000 };

// Of the names that every use of a thing is looked for among.
enum { THINGS_MAX = 1000 };

typedef struct Builder {
    FacetVenue *venue;
    const JsonRef *root;
    int *placed; // shapes and things so far
} Builder;

static FacetStatus add_parts(const Builder *builder, const JsonRef *name_at, const Placement *place,
                             int nesting);

static FacetStatus full(bool added, const JsonRef *at)
{
    return added ? status_ok()
                 : status_fail(FACET_NO_MEMORY, "%s: %s: out of memory", at->file, at->path);
}

static FacetStatus add_shape_at(const Builder *builder, const JsonRef *at, const JsonRef *size_at,
                                const Placement *place, int nesting)
{
    const char *kind = json_key(size_at);
    if (++*builder->placed > PLACED_MAX)
        return json_wrong(at, "a venue of at most 100000 shapes and things");
    if (builder->venue->mesh.quads > SURFACES_MAX)
        return json_wrong(at, "a venue of at most 1000000 surfaces");
    if (strcmp(kind, "thing") == 0) return add_parts(builder, size_at, place, nesting);
    Mesh *mesh = &builder->venue->mesh;
    double size[3];
    int material;
    TRY(find_material(&material, builder->venue, at, "material"));
    if (strcmp(kind, "rect") == 0) {
        TRY(parse_numbers(size, 2, size_at, 1e-3, 1e4, "two sizes in m"));
        return full(mesh_add_rect(mesh, place, size[0], size[1], material), at);
    }
    if (strcmp(kind, "cylinder") == 0 || strcmp(kind, "cone") == 0) {
        TRY(parse_numbers(size, 2, size_at, 1e-3, 1e4, "a radius and a height in m"));
        double top = strcmp(kind, "cone") == 0 ? 0.0 : size[0];
        return full(mesh_add_cylinder(mesh, place, size[0], top, size[1], material), at);
    }
    TRY(parse_numbers(size, 3, size_at, 1e-3, 1e4, "three sizes in m"));
    FacetVec3 sizes = vec3(size[0], size[1], size[2]);
    return full(strcmp(kind, "box") == 0 ? mesh_add_box(mesh, place, sizes, material)
                                         : mesh_add_ball(mesh, place, sizes, material),
                at);
}

// The one member of an object that says what shape it is.
static FacetStatus find_shape(JsonRef *out, const JsonRef *at)
{
    static const char *const keys[] = {"thing", "box", "rect",  "cylinder", "cone", "ball",
                                       "at",    "yaw", "scale", "material", "rows"};
    enum { SHAPES = 6 };
    if (!json_is_object(at)) return json_wrong(at, "an object");
    TRY(json_only(at, keys, sizeof keys / sizeof *keys));
    int found = 0;
    for (int i = 0; i < SHAPES; i++)
        if (json_has(at, keys[i])) {
            TRY(json_member(out, at, keys[i]));
            found++;
        }
    return found == 1 ? status_ok()
                      : json_wrong(at, "one of 'thing', 'box', 'rect', 'cylinder', 'cone', 'ball'");
}

// Up to two rows make a grid: {"count": 4, "step": [x, y, z]}.
static FacetStatus parse_rows(int count[2], FacetVec3 step[2], const JsonRef *at)
{
    static const char *const keys[] = {"count", "step"};
    JsonRef list, row;
    int rows;
    count[0] = count[1] = 1;
    step[0] = step[1] = vec3(0.0, 0.0, 0.0);
    if (!json_has(at, "rows")) return status_ok();
    TRY(member_array(&list, &rows, at, "rows"));
    if (rows < 1 || rows > 2) return json_wrong(&list, "one or two rows");
    for (int i = 0; i < rows; i++) {
        double number;
        TRY(json_element(&row, &list, i));
        TRY(json_only(&row, keys, 2));
        TRY(json_member_number(&number, &row, "count", 1.0, 1000.0));
        TRY(json_member_vec3(&step[i], &row, "step"));
        count[i] = (int)number;
    }
    return status_ok();
}

static FacetStatus add_shape(const Builder *builder, const JsonRef *at, const Placement *outer,
                             int nesting)
{
    JsonRef size_at;
    Placement own = {.scale = 1.0};
    int count[2];
    FacetVec3 step[2];
    TRY(find_shape(&size_at, at));
    if (json_has(at, "at")) TRY(json_member_vec3(&own.at, at, "at"));
    TRY(optional_number(&own.yaw, at, "yaw", -10.0, 10.0));
    TRY(optional_number(&own.scale, at, "scale", 1e-3, 1e3));
    TRY(parse_rows(count, step, at));
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++) {
            Placement shifted = own;
            shifted.at = vec3_axpy(vec3_axpy(own.at, i, step[0]), j, step[1]);
            Placement place = placement_inside(outer, &shifted);
            TRY(add_shape_at(builder, at, &size_at, &place, nesting));
        }
    return status_ok();
}

// Builds the thing whose name stands at `name_at`.
static FacetStatus add_parts(const Builder *builder, const JsonRef *name_at, const Placement *place,
                             int nesting)
{
    char name[FACET_COURSE_NAME_MAX];
    JsonRef things, parts, part = {0};
    int count;
    TRY(json_string(name, sizeof name, name_at));
    TRY(member_object(&things, &count, builder->root, "things"));
    if (!json_has(&things, name)) {
        const char *names[64];
        int known = 0;
        for (; known < count && known < 64; known++) {
            JsonRef thing;
            TRY(json_element(&thing, &things, known));
            names[known] = json_key(&thing);
        }
        return unknown_word(name_at, "thing", name, names, known);
    }
    if (nesting == NESTING_MAX) return json_wrong(name_at, "things no more than 4 deep");
    TRY(member_array(&parts, &count, &things, name));
    while (json_next(&part, &parts)) TRY(add_shape(builder, &part, place, nesting + 1));
    return status_ok();
}

// ---- Clutter ------------------------------------------------------------------------------------

// Nothing is scattered where a vehicle may start towards a gate: this far from it, within this
// angle of its axis, on both sides.
#define APPROACH_RANGE 11.5 // m
#define APPROACH_ANGLE 0.95 // rad

static bool in_an_approach(const FacetVenue *venue, FacetVec3 p)
{
    for (int i = 0; i < venue->gate_count; i++) {
        FacetVec3 away = vec3_sub(p, venue->gates[i].center);
        away.z = 0.0;
        double range = vec3_norm(away);
        if (range < 2.5) return true;
        if (range < APPROACH_RANGE &&
            fabs(vec3_dot(away, venue->gates[i].normal)) > range * cos(APPROACH_ANGLE))
            return true;
    }
    return false;
}

static FacetStatus scatter(const Builder *builder, const JsonRef *at)
{
    static const char *const keys[] = {"thing", "count", "seed", "area", "outside", "scale"};
    enum { TRIES = 200 };
    double count, seed = 0.0, area[4], outside[4] = {0.0}, scale[2] = {1.0, 1.0};
    JsonRef part, thing;
    TRY(json_only(at, keys, sizeof keys / sizeof *keys));
    TRY(json_member(&thing, at, "thing"));
    TRY(json_member_number(&count, at, "count", 0.0, 10000.0));
    TRY(optional_number(&seed, at, "seed", 0.0, 1e9));
    TRY(json_member(&part, at, "area"));
    TRY(parse_numbers(area, 4, &part, -1e4, 1e4, "x and y of two corners in m"));
    if (json_has(at, "outside")) {
        TRY(json_member(&part, at, "outside"));
        TRY(parse_numbers(outside, 4, &part, -1e4, 1e4, "x and y of two corners in m"));
    }
    if (json_has(at, "scale")) {
        TRY(json_member(&part, at, "scale"));
        TRY(parse_numbers(scale, 2, &part, 0.01, 100.0, "the least and the greatest scale"));
    }
    for (int i = 0; i < (int)count; i++) {
        FacetRng rng = rng_make((uint64_t)seed, (uint64_t)i);
        Placement place = {0};
        bool found = false;
        for (int k = 0; k < TRIES && !found; k++) {
            // One draw a statement: the order of arguments is the compiler's.
            double y = rng_range(&rng, area[1], area[3]), x = rng_range(&rng, area[0], area[2]);
            FacetVec3 p = vec3(x, y, 0.0);
            place.at = p;
            found =
                !(p.x > outside[0] && p.x < outside[2] && p.y > outside[1] && p.y < outside[3]) &&
                !in_an_approach(builder->venue, p);
        }
        place.yaw = rng_range(&rng, -FACET_PI, FACET_PI);
        place.scale = rng_range(&rng, scale[0], scale[1]);
        if (!found) return json_wrong(at, "an area with room beside the gates' approaches");
        if (++*builder->placed > PLACED_MAX)
            return json_wrong(at, "a venue of at most 100000 shapes and things");
        TRY(add_parts(builder, &thing, &place, 0));
    }
    return status_ok();
}

// ---- The whole ----------------------------------------------------------------------------------

static FacetStatus build(FacetVenue *venue, const JsonRef *root)
{
    int placed = 0, count, poles;
    const Builder builder = {venue, root, &placed};
    const Placement here = {.scale = 1.0};
    JsonRef list, at = {0};
    TRY(find_material(&poles, venue, root, "poles"));
    if (json_has(root, "things")) {
        TRY(member_object(&list, &count, root, "things"));
        if (count > THINGS_MAX) return json_wrong(&list, "at most 1000 things");
    }
    TRY(member_array(&list, &count, root, "objects"));
    while (json_next(&at, &list)) TRY(add_shape(&builder, &at, &here, 0));
    if (json_has(root, "clutter")) {
        TRY(member_array(&list, &count, root, "clutter"));
        at = (JsonRef){0};
        while (json_next(&at, &list)) TRY(scatter(&builder, &at));
    }
    for (int i = 0; i < venue->gate_count; i++)
        TRY(full(mesh_add_gate(&venue->mesh, venue, i, poles), root));
    return status_ok();
}

static FacetStatus parse_venue(FacetVenue *venue, const JsonRef *root)
{
    static const char *const keys[] = {"description", "sky",    "light",   "materials",
                                       "poles",       "things", "objects", "clutter"};
    char description[200];
    TRY(json_only(root, keys, sizeof keys / sizeof *keys));
    TRY(json_member_string(description, sizeof description, root, "description"));
    TRY(parse_sky(&venue->look.sky, root));
    TRY(parse_light(&venue->look.light, root));
    TRY(parse_materials(venue, root));
    return build(venue, root);
}

FacetStatus venue_parse(FacetVenue *venue, const char *file)
{
    Json *document;
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    FacetStatus status = parse_venue(venue, &root);
    json_free(document);
    return status;
}
