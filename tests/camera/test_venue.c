// Venues: those that ship, and every way a file can be wrong.
#include "camera/scene.h"
#include "math/geometry.h"
#include "scenes.h"

#define GREY "\"grey\": {\"pattern\": \"plain\", \"colors\": [[0.5, 0.5, 0.5]]}"

static void the_shipped_venues(void **unused)
{
    (void)unused;
    FacetVenueNames names;
    assert_ok(facet_venue_names(&names, NULL));
    static const char *const expected[] = {"Field", "industrial", "piazza", "pool"};
    assert_int_equal(names.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(names.name[i], expected[i]);
        FacetVenue *venue;
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        assert_string_equal(facet_venue_name(venue), expected[i]);
        assert_int_equal(facet_venue_gate_count(venue), 5);
        assert_int_equal(facet_venue_color_count(venue), 3);
        assert_near(facet_venue_half_width(venue), 0.762, 0.0);
        facet_venue_destroy(venue);
    }
}

// The extent of the surfaces before the first gate's: those of the objects.
static void extent(FacetVec3 *least, FacetVec3 *most, const FacetVenue *venue)
{
    const Mesh *mesh = &venue->mesh;
    *least = vec3(INFINITY, INFINITY, INFINITY);
    *most = vec3_scale(*least, -1.0);
    for (int i = 0; i < mesh->quads && mesh->material[i] >= venue->gate_count; i++)
        for (int k = 0; k < 4; k++) {
            Point p = mesh->corners[4 * i + k];
            *least = vec3(fmin(least->x, (double)p.x), fmin(least->y, (double)p.y),
                          fmin(least->z, (double)p.z));
            *most = vec3(fmax(most->x, (double)p.x), fmax(most->y, (double)p.y),
                         fmax(most->z, (double)p.z));
        }
}

static void assert_point(FacetVec3 found, FacetVec3 expected)
{
    assert_near(found.x, expected.x, 1e-5);
    assert_near(found.y, expected.y, 1e-5);
    assert_near(found.z, expected.z, 1e-5);
}

// Plates and boxes reach as far as their sizes say, to both sides of where they stand. A quarter
// turn swaps along and across, and a scale doubles all.
static void shapes_have_their_size(void **unused)
{
    (void)unused;
    static const struct {
        const char *shape;
        FacetVec3 least, most;
    } cases[] = {
        {"\"rect\": [4, 1]", {8.0, 19.5, 3.0}, {12.0, 20.5, 3.0}},
        {"\"box\": [4, 1, 3]", {8.0, 19.5, 3.0}, {12.0, 20.5, 6.0}},
        {"\"rect\": [4, 1], \"yaw\": 1.5707963268", {9.5, 18.0, 3.0}, {10.5, 22.0, 3.0}},
        {"\"box\": [4, 1, 3], \"scale\": 2", {6.0, 19.0, 3.0}, {14.0, 21.0, 9.0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char object[200];
        FacetVec3 least, most;
        snprintf(object, sizeof object, "{%s, \"at\": [10, 20, 3], \"material\": \"grey\"}",
                 cases[i].shape);
        FacetVenue *venue = scene_make(DARK_SKY, DARK_LIGHT, GREY, object);
        extent(&least, &most, venue);
        assert_point(least, cases[i].least);
        assert_point(most, cases[i].most);
        facet_venue_destroy(venue);
    }
}

// Whether a segment comes within a gate's frame and poles, seen from above.
static bool near_a_gate(const FacetVenue *venue, FacetVec3 from, FacetVec3 to, int but)
{
    for (int k = 0; k < facet_venue_gate_count(venue); k++) {
        FacetVec3 center = facet_venue_gate(venue, k)->center, way = vec3_sub(to, from);
        if (k == but) continue;
        center.z = way.z = 0.0;
        FacetVec3 start = vec3(from.x, from.y, 0.0), to_gate = vec3_sub(center, start);
        double t = clamp(vec3_dot(to_gate, way) / vec3_dot(way, way), 0.0, 1.0);
        if (vec3_norm(vec3_axpy(to_gate, -t, way)) < 1.1) return true;
    }
    return false;
}

// Wherever a vehicle may start, nothing but other gates is on its way to the gate's opening, and
// the frame is solid.
static void approaches_are_free(void **unused)
{
    (void)unused;
    FacetVenueNames names;
    assert_ok(facet_venue_names(&names, NULL));
    for (int i = 0; i < names.count; i++) {
        FacetVenue *venue;
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        for (int k = 0; k < facet_venue_gate_count(venue); k++)
            for (int side = -1; side <= 1; side += 2)
                for (int step = -4; step <= 4; step++) {
                    const FacetCourseGate *gate = facet_venue_gate(venue, k);
                    FacetVec3 pos, beam = gate->center;
                    double yaw, azimuth = step * FACET_PI / 16.0;
                    facet_camera_stand(&pos, &yaw, gate, side, 10.0, azimuth);
                    if (facet_venue_blocked(venue, pos, gate->center) &&
                        !near_a_gate(venue, pos, gate->center, k))
                        fail_msg("%s: gate %s side %+d at %.2f rad is not free", names.name[i],
                                 gate->name, side, azimuth);
                    beam.z += facet_venue_half_width(venue) + 0.1;
                    pos.z = beam.z;
                    FacetVec3 beyond = vec3_add(beam, vec3_scale(vec3_sub(beam, pos), 0.1));
                    assert_true(facet_venue_blocked(venue, pos, beyond));
                }
        // Down through the ground.
        assert_true(facet_venue_blocked(venue, vec3(1.0, 2.0, 0.5), vec3(1.0, 2.0, -0.5)));
        facet_venue_destroy(venue);
    }
}

// A surface is met by exactly one of two segments that follow each other, wherever they are split.
static void segments_leave_no_gap(void **unused)
{
    (void)unused;
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "Field"));
    for (int i = 1; i < 200; i++) {
        double height = 0.0005 * (i - 100) + 1e-7; // of the split, from above to below the ground
        FacetVec3 from = vec3(3.0, 2.0, 0.2), split = vec3(3.0, 2.0, height),
                  to = vec3(3.0, 2.0, -0.2);
        assert_int_equal(
            facet_venue_blocked(venue, from, split) + facet_venue_blocked(venue, split, to), 1);
    }
    facet_venue_destroy(venue);
}

static void names_that_are_not_known(void **unused)
{
    (void)unused;
    FacetVenue *venue;
    int index;
    assert_refused(facet_venue_load(&venue, NULL, "pond"),
                   "no venue 'pond', did you mean 'pool'? known: Field, industrial, piazza, pool");
    assert_null(venue);
    assert_refused(facet_venue_load(&venue, NULL, "../course"), "no venue '../course'");
    assert_refused(facet_venue_load(&venue, "no/folder", "pool"), "no/folder/venues");
    assert_ok(facet_venue_load(&venue, NULL, "pool"));
    assert_ok(facet_venue_find_gate(&index, venue, "3"));
    assert_int_equal(index, 2);
    assert_ok(facet_venue_find_color(&index, venue, "white"));
    assert_int_equal(index, 1);
    assert_refused(facet_venue_find_gate(&index, venue, "17"), ": 1, 2, 3, 4, 5");
    assert_refused(facet_venue_find_color(&index, venue, "green"), "red, white, blue");
    facet_venue_destroy(venue);
}

// ---- Files that are wrong -----------------------------------------------------------------------

#define SKY   "\"sky\": " DARK_SKY
#define LIGHT "\"light\": " DARK_LIGHT
#define PARTS(materials, rest)                                                                     \
    "{\"description\": \"x\", " SKY ", " LIGHT ", \"materials\": {" materials "},"                 \
    " \"poles\": \"grey\", " rest "}"
#define OBJECTS(objects) PARTS(GREY, "\"objects\": [" objects "]")
#define MANY                                                                                       \
    "\"rows\": [{\"count\": 1000, \"step\": [1, 0, 0]}, {\"count\": 1000, \"step\": [0, 1, 0]}]"
#define MATERIAL(name, parts) PARTS(GREY ", \"" name "\": {" parts "}", "\"objects\": []")

static void refuse(const char *common, const char *scene, const char *words)
{
    Scratch folder = scene_folder(common, scene);
    FacetVenue *venue;
    char expected[300];
    snprintf(expected, sizeof expected, "%s/venues/%s", folder.folder, words);
    assert_refused(facet_venue_load(&venue, folder.folder, "scene"), expected);
    assert_null(venue);
    scratch_end(&folder);
}

static void wrong_venue_files(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"{", "scene.json: "},
        {"{}", "scene.json: description: "},
        {OBJECTS("{\"box\": [1, 1, 1], \"material\": \"gray\"}"),
         "scene.json: objects[0].material: no material 'gray', did you mean 'grey'? known: grey"},
        {OBJECTS("{\"box\": [1, 1, 1]}"), "scene.json: objects[0].material: expected a value"},
        {OBJECTS("{\"box\": [1, 1], \"material\": \"grey\"}"),
         "scene.json: objects[0].box: expected three sizes in m"},
        {OBJECTS("{\"box\": [1, 1, -1], \"material\": \"grey\"}"),
         "scene.json: objects[0].box[2]: "},
        {OBJECTS("{\"bax\": [1, 1, 1], \"material\": \"grey\"}"),
         "scene.json: objects[0]: no field 'bax', did you mean 'box'?"},
        {OBJECTS("{\"material\": \"grey\"}"), "scene.json: objects[0]: expected one of 'thing'"},
        {OBJECTS("{\"thing\": \"tree\"}"), "scene.json: things: expected a value"},
        {PARTS(GREY, "\"things\": {\"bush\": []}, \"objects\": [{\"thing\": \"tree\"}]"),
         "scene.json: objects[0].thing: no thing 'tree': bush"},
        {PARTS(GREY, "\"things\": {\"me\": [{\"thing\": \"me\"}]}, \"objects\": [{\"thing\":"
                     " \"me\"}]"),
         "scene.json: things.me[0].thing: expected things no more than 4 deep"},
        {PARTS(GREY, "\"things\": {\"it\": []}, \"objects\": [], \"clutter\": [{\"thing\": \"it\","
                     " \"count\": 1, \"area\": [899, -1, 901, 1]}]"),
         "scene.json: clutter[0]: expected an area with room"},
        // A few lines that ask for a trillion boxes, or for as many of nothing.
        {PARTS(GREY, "\"things\": {\"row\": [{\"box\": [1, 1, 1], \"material\": \"grey\", " MANY
                     "}], \"rows\": [{\"thing\": \"row\", " MANY
                     "}]}, \"objects\": [{\"thing\": \"rows\"}]"),
         "scene.json: things.row[0]: expected a venue of at most 100000 shapes and things"},
        {PARTS(GREY, "\"things\": {\"none\": [], \"rows\": [{\"thing\": \"none\", " MANY
                     "}]}, \"objects\": [{\"thing\": \"rows\", " MANY "}]"),
         "scene.json: things.rows[0]: expected a venue of at most 100000 shapes and things"},
        {PARTS(GREY, "\"objects\": [{\"ball\": [1, 1, 1], \"material\": \"grey\", " MANY "}]"),
         "scene.json: objects[0]: expected a venue of at most 1000000 surfaces"},
        {MATERIAL("wall", "\"colors\": [[1, 1, 1]]"),
         "scene.json: materials.wall.pattern: expected a value"},
        {MATERIAL("wall", "\"pattern\": \"brick\", \"colors\": [[1, 1, 1]]"),
         "scene.json: materials.wall.pattern: no pattern 'brick', did you mean 'bricks'?"},
        {MATERIAL("wall", "\"pattern\": \"bricks\", \"scale\": 1, \"colors\": [[1, 1, 1]]"),
         "scene.json: materials.wall.colors: expected 3 for the pattern 'bricks', found an array "
         "of 1"},
        {MATERIAL("wall", "\"pattern\": \"ribs\", \"colors\": [[1, 1, 1], [0, 0, 0]]"),
         "scene.json: materials.wall.scale: expected a value"},
        {MATERIAL("wall", "\"pattern\": \"plain\", \"colors\": [[1, 1, 1]], \"unshaded\": 1"),
         "scene.json: materials.wall.unshaded: expected true or false, found 1"},
        {MATERIAL("grey", "\"pattern\": \"plain\", \"colors\": [[1, 1, 1]]"),
         "scene.json: materials.grey: expected a name that no other material has"},
        {PARTS("\"sand\": {\"pattern\": \"plain\", \"colors\": [[1, 1, 1]]}", "\"objects\": []"),
         "scene.json: poles: no material 'grey': sand"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(FAR_GATE, cases[i].text, cases[i].words);
}

// Red, green and blue are each from 0 to 1, both included.
static void colors_that_no_picture_shows(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"[-0.1, 0, 1]", "[0, -0.1, 1]", "[0, 1, -0.1]",
                                        "[1.1, 0, 1]",  "[0, 1.1, 1]",  "[0, 1, 1.1]"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char scene[1000];
        snprintf(scene, sizeof scene, MATERIAL("wall", "\"pattern\": \"plain\", \"colors\": [%s]"),
                 wrong[i]);
        refuse(FAR_GATE, scene, "scene.json: materials.wall.colors[0]: expected a color");
    }
    const char *right = "\"wall\": {\"pattern\": \"plain\", \"colors\": [[0, 1, 0]]}";
    facet_venue_destroy(scene_make(DARK_SKY, DARK_LIGHT, right, ""));
}

// A use of a thing looks through their names: many of both took minutes.
static void things_are_few(void **unused)
{
    (void)unused;
    enum { SIZE = 40000 };
    char *scene = malloc(SIZE);
    assert_non_null(scene);
    for (int count = 1000; count <= 1001; count++) {
        int used = snprintf(scene, SIZE, "%s",
                            "{\"description\": \"x\", " SKY ", " LIGHT ", \"materials\": {" GREY
                            "}, \"poles\": \"grey\", \"things\": {");
        for (int i = 0; i < count; i++)
            used += snprintf(scene + used, (size_t)(SIZE - used), "%s\"%d\": []", i ? ", " : "", i);
        snprintf(scene + used, (size_t)(SIZE - used), "}, \"objects\": [{\"thing\": \"999\"}]}");
        if (count == 1001) {
            refuse(FAR_GATE, scene, "scene.json: things: expected at most 1000 things");
            break;
        }
        Scratch folder = scene_folder(FAR_GATE, scene);
        FacetVenue *venue;
        assert_ok(facet_venue_load(&venue, folder.folder, "scene"));
        facet_venue_destroy(venue);
        scratch_end(&folder);
    }
    free(scene);
}

static void wrong_common_files(void **unused)
{
    (void)unused;
    const char *scene = OBJECTS("");
    refuse("{}", scene, "venues.json: frame: expected a value");
#define FRAME  "\"frame\": {\"half_width\": 0.762, \"bar\": 0.25, \"thickness\": 0.12}"
#define COLORS "\"colors\": {\"red\": [1, 0, 0]}"
#define GATES(center, normal)                                                                      \
    "\"gates\": [{\"name\": \"1\", \"center\": " center ", \"normal\": " normal "}]"
    refuse("{" FRAME ", " COLORS ", \"gates\": []}", scene, "venues.json: gates: expected 1 to 16");
    refuse("{" FRAME ", " COLORS ", " GATES("[0, 0, 1]", "[1, 0, 0]") "}", scene,
           "venues.json: gates[0].center: expected a gate whose frame is above the ground");
    refuse("{" FRAME ", " COLORS ", " GATES("[0, 0, 2]", "[1, 0, 1]") "}", scene,
           "venues.json: gates[0].normal: expected a horizontal direction");
    refuse("{" FRAME ", \"colors\": {}, " GATES("[0, 0, 2]", "[1, 0, 0]") "}", scene,
           "venues.json: colors: expected 1 to 16 colors");
#define MORE(words) "{" FRAME ", " COLORS ", " GATES("[0, 0, 2]", "[1, 0, 0]") ", " words "}"
    refuse(MORE("\"one_color\": 1"), scene, "venues.json: one_color: expected true or false");
    refuse(MORE("\"heading_error\": 7"), scene, "venues.json: heading_error: expected");
    refuse(MORE("\"scenes\": 7"), scene, "venues.json: scenes: expected");
    refuse(MORE("\"scenes\": \"no\""), scene, "no: cannot read the folder");
}

// The venues of the ladder are the shipped ones with other gates.
static void venues_with_other_gates(void **unused)
{
    (void)unused;
    static const char *const folders[] = {TEST_SOURCE "/courses/ladder/first",
                                          TEST_SOURCE "/courses/ladder/layout"};
    FacetVenueNames shipped, names;
    FacetVenue *plain, *venue;
    assert_ok(facet_venue_names(&shipped, NULL));
    assert_ok(facet_venue_load(&plain, NULL, "pool"));
    assert_near(facet_venue_heading_error(plain), 0.0, 0.0);
    for (int i = 0; i < 2; i++) {
        FacetCameraShot shot = {.colors = {0}};
        assert_ok(facet_venue_names(&names, folders[i]));
        assert_int_equal(names.count, shipped.count);
        assert_ok(facet_venue_load(&venue, folders[i], "pool"));
        bool moved = facet_venue_gate(venue, 0)->center.x != facet_venue_gate(plain, 0)->center.x;
        assert_int_equal(moved, i == 0);
        assert_near(facet_venue_heading_error(venue), i == 0 ? 25.0 / 180.0 * FACET_PI : 0.0,
                    1e-12);
        facet_camera_paint(&shot, venue, 2, 1, 7, 7);
        for (int g = 0; g < facet_venue_gate_count(venue); g++) assert_int_equal(shot.colors[g], 1);
        facet_camera_paint(&shot, plain, 2, 1, 7, 7);
        for (int g = 0; g < facet_venue_gate_count(plain); g++)
            assert_int_equal(shot.colors[g] == 1, g == 2);
        facet_venue_destroy(venue);
    }
    facet_venue_destroy(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shipped_venues),
        cmocka_unit_test(shapes_have_their_size),
        cmocka_unit_test(approaches_are_free),
        cmocka_unit_test(segments_leave_no_gap),
        cmocka_unit_test(names_that_are_not_known),
        cmocka_unit_test(wrong_venue_files),
        cmocka_unit_test(colors_that_no_picture_shows),
        cmocka_unit_test(wrong_common_files),
        cmocka_unit_test(things_are_few),
        cmocka_unit_test(venues_with_other_gates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
