// facet camera as a user runs it.
#include "base/json.h"
#include "program/program.h"
#include "read_png.h"
#include "scratch.h"

static Scratch scratch;

static int begin(void **state)
{
    (void)state;
    scratch = scratch_begin();
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_end(&scratch);
    return 0;
}

static Run draw(const char *name, const char *arguments)
{
    char line[400];
    snprintf(line, sizeof line, "camera --out %s/%s %s", scratch.folder, name, arguments);
    return run(line);
}

static uint8_t *pixels(const char *name, int width, int height)
{
    char path[128], raw[128];
    snprintf(path, sizeof path, "%s/%s", scratch.folder, name);
    snprintf(raw, sizeof raw, "%s/pixels.raw", scratch.folder);
    return read_png(path, raw, width, height);
}

static void draws_one_frame(void **state)
{
    (void)state;
    Run result = draw("a.png", "--venue pool --gate 3 --color white --side -1 --size 160x120");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "a.png: pool, white gate 3 from side -1"));
    uint8_t *a = pixels("a.png", 160, 120);
    // The same on one thread; without the sensor's noise another, and in another look.
    draw("b.png", "--venue pool --gate 3 --color white --side -1 --size 160x120 --threads 1");
    draw("c.png", "--venue pool --gate 3 --color white --side -1 --size 160x120 --noise 0");
    draw("d.png", "--venue pool --gate 3 --color white --side -1 --size 160x120 --look 5");
    uint8_t *b = pixels("b.png", 160, 120), *c = pixels("c.png", 160, 120);
    uint8_t *d = pixels("d.png", 160, 120);
    assert_memory_equal(a, b, 160 * 120 * 3);
    assert_memory_not_equal(a, c, 160 * 120 * 3);
    int different = 0;
    for (int i = 0; i < 160 * 120 * 3; i++) different += abs(a[i] - d[i]) > 20;
    assert_true(different > 160 * 120 * 3 / 4);
    free(a);
    free(b);
    free(c);
    free(d);
}

static void writes_the_pose(void **state)
{
    (void)state;
    char line[200];
    snprintf(line, sizeof line, "--gate 3 --distance 4 --json %s/pose.json", scratch.folder);
    assert_int_equal(draw("a.png", line).code, 0);
    Json *document;
    const char *path = scratch_path(&scratch, "pose.json");
    assert_ok(json_read(&document, path));
    JsonRef root = json_root(document, path), pixel, u;
    FacetVec3 pos, center;
    double found;
    assert_ok(json_member_vec3(&pos, &root, "position"));
    assert_ok(json_member_vec3(&center, &root, "gate_center"));
    assert_near(vec3_distance(pos, center), 4.0, 1e-9);
    JsonRef colors;
    char color[16];
    assert_ok(json_member(&colors, &root, "colors"));
    assert_ok(json_member_string(color, sizeof color, &colors, "3"));
    assert_string_equal(color, "red");
    assert_ok(json_member_string(color, sizeof color, &colors, "4"));
    assert_string_not_equal(color, "red");
    assert_ok(json_member(&pixel, &root, "gate_pixel"));
    assert_ok(json_element(&u, &pixel, 0));
    assert_ok(json_number(&found, &u, 0.0, 320.0));
    assert_near(found, 160.0, 1e-6);
    json_free(document);
}

static void stands_off_the_gates_axis_by_degrees(void **state)
{
    (void)state;
    char line[200];
    snprintf(line, sizeof line,
             "--gate 3 --side -1 --distance 4 --azimuth 30 --size 16x12 --json %s/pose.json",
             scratch.folder);
    assert_int_equal(draw("a.png", line).code, 0);
    Json *document;
    const char *path = scratch_path(&scratch, "pose.json");
    assert_ok(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetVec3 pos, center, normal;
    assert_ok(json_member_vec3(&pos, &root, "position"));
    assert_ok(json_member_vec3(&center, &root, "gate_center"));
    assert_ok(json_member_vec3(&normal, &root, "gate_normal"));
    // The way to the gate is turned to the left of the way through it.
    FacetVec3 through = vec3_scale(normal, -1.0), to = vec3_sub(center, pos);
    double ahead = vec3_dot(through, to), left = vec3_cross(through, to).z;
    assert_near(atan2(left, ahead) * 180.0 / FACET_PI, 30.0, 1e-9);
    assert_near(vec3_norm(to), 4.0, 1e-9);
    json_free(document);
}

static void wrong_words_are_answered_with_the_known_ones(void **state)
{
    (void)state;
    assert_fails("camera --venue poool", 1,
                 "facet camera: no venue 'poool', did you mean 'pool'? known: Field, industrial, "
                 "piazza, pool\n");
    assert_fails("camera --gate 9", 1,
                 "facet camera: no gate '9', did you mean '1'? known: 1, 2, 3, 4, 5\n");
    assert_fails("camera --color mauve", 1, "facet camera: no color 'mauve': red, white, blue\n");
    assert_fails("camera --side 2", 1, "facet camera: no side '2': +1, -1\n");
    assert_fails("camera --size 320", 2,
                 "facet camera: --size: expected WIDTHxHEIGHT from 8x8 to 4096x4096, found "
                 "'320'\n");
    assert_fails("camera --samples 3", 2,
                 "facet camera: --samples: expected 1, 2, 4 or 8, found 3\n");
    assert_fails("camera --at 1,2", 1, "facet camera: --at: expected X,Y,Z in m, found '1,2'\n");
    Run result = run("camera --out no/such/folder/frame.png");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "no/such/folder/frame.png"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(draws_one_frame, begin, end),
        cmocka_unit_test_setup_teardown(writes_the_pose, begin, end),
        cmocka_unit_test_setup_teardown(stands_off_the_gates_axis_by_degrees, begin, end),
        cmocka_unit_test(wrong_words_are_answered_with_the_known_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
