// Tests of the vehicle's parameters: the shipped file, files of a user, and every refusal.
#include "flying.h"
#include "scratch.h"

static void assert_same(const FacetQuadParams *a, const FacetQuadParams *b)
{
    assert_near(a->mass, b->mass, 0.0);
    assert_vec3_near(a->inertia, b->inertia, 0.0);
    assert_near(a->arm, b->arm, 0.0);
    assert_near(a->thrust_max, b->thrust_max, 0.0);
    assert_near(a->torque_ratio, b->torque_ratio, 0.0);
    assert_near(a->motor_lag, b->motor_lag, 0.0);
    assert_vec3_near(a->drag, b->drag, 0.0);
    assert_near(a->gravity, b->gravity, 0.0);
}

static void shipped_vehicle_is_the_default(void **unused)
{
    (void)unused;
    FacetQuadParams loaded, usual = facet_quad_params_default();
    memset(&loaded, 0x55, sizeof loaded);
    assert_ok(facet_quad_params_load(&loaded, TEST_SOURCE "/vehicles/racer.json"));
    assert_same(&loaded, &usual);
}

static void missing_fields_keep_their_defaults(void **unused)
{
    (void)unused;
    Scratch scratch = scratch_begin();
    FacetQuadParams params, expected = facet_quad_params_default();
    assert_ok(facet_quad_params_load(&params, scratch_write(&scratch, "empty.json", "{}")));
    assert_same(&params, &expected);
    assert_ok(facet_quad_params_load(
        &params, scratch_write(&scratch, "some.json",
                               "{\"mass\": 0.75, \"drag\": [0, 0, 0.5], \"motor_lag\": 0}")));
    expected.mass = 0.75;
    expected.drag = vec3(0.0, 0.0, 0.5);
    expected.motor_lag = 0.0;
    assert_same(&params, &expected);
    scratch_end(&scratch);
}

static void bad_values_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "line 1: expected valid JSON, found the end of the text"},
        {"{\n\"mass\": 0.5,\n\"arm\" 0.1}", "line 3: expected valid JSON"},
        {"{\"mass\": NaN}", "line 1: expected valid JSON, found 'NaN}'"},
        {"[0.5]", "the document: expected an object, found an array of 1"},
        {"{\"mass\": \"heavy\"}", "mass: expected a number from 0 to 1000, found \"heavy\""},
        {"{\"mass\": null}", "mass: expected a number from 0 to 1000, found null"},
        {"{\"mass\": -0.5}", "mass: expected a number from 0 to 1000, found -0.5"},
        {"{\"mass\": 0}", "mass: expected a number above 0, found 0"},
        {"{\"mass\": 1e999}", "mass: expected a number from 0 to 1000, found inf"},
        {"{\"inertia\": [1e-3, 1e-3]}",
         "inertia: expected three numbers [x, y, z], found an array"},
        {"{\"inertia\": [1e-3, 0, 1e-3]}", "inertia: expected three numbers above 0"},
        {"{\"inertia\": [1e-3, -1e-3, 1e-3]}", "inertia: expected three numbers above 0"},
        {"{\"inertia\": [1e-3, 3e-3, 1e-3]}",
         "inertia: expected three moments of which none is above the sum of the others, found "
         "[0.001, 0.003, 0.001]"},
        {"{\"inertia\": [1e-3, true, 1e-3]}", "inertia[1]: expected a finite number, found true"},
        {"{\"inertia\": 1e-3}", "inertia: expected three numbers [x, y, z], found 0.001"},
        {"{\"arm\": 0}", "arm: expected a number above 0"},
        {"{\"torque_ratio\": -0.02}", "torque_ratio: expected a number from 0 to 1"},
        {"{\"motor_lag\": -0.1}", "motor_lag: expected a number from 0 to 10, found -0.1"},
        {"{\"drag\": [0.1, -0.1, 0]}", "drag: expected three numbers of at least 0"},
        {"{\"drag\": [0.1, 1e999, 0]}", "drag[1]: expected a finite number, found inf"},
        {"{\"gravity\": 0}", "gravity: expected a number above 0"},
        {"{\"motorlag\": 0.1}", "no field 'motorlag', did you mean 'motor_lag'?"},
        {"{\"colour\": 1}", "no field 'colour'"},
        {"{\"thrust_max\": 1.2}",
         "thrust_max: expected more than a quarter of the weight (1.23 N)"},
        {"{\"mass\": 5}", "thrust_max: expected more than a quarter of the weight (12.3 N)"},
    };
    Scratch scratch = scratch_begin();
    FacetQuadParams params;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *file = scratch_write(&scratch, "bad.json", cases[i].text);
        assert_refused(facet_quad_params_load(&params, file), cases[i].words);
        assert_refused(facet_quad_params_load(&params, file), file); // which names the file, too
    }
    assert_refused(facet_quad_params_load(&params, scratch_path(&scratch, "none.json")),
                   "none.json: cannot open: No such file");
    assert_refused(facet_quad_params_load(&params, scratch.folder), "Is a directory");
    scratch_end(&scratch);
}

// A flat body's moments about two axes add up to the third; rounding must not refuse it.
static void a_flat_body_is_a_body(void **unused)
{
    (void)unused;
    Scratch scratch = scratch_begin();
    FacetQuadParams params;
    assert_ok(facet_quad_params_load(
        &params, scratch_write(&scratch, "flat.json", "{\"inertia\": [1e-3, 2e-3, 3e-3]}")));
    assert_ok(facet_quad_params_load(
        &params, scratch_write(&scratch, "flat.json", "{\"inertia\": [0.7e-3, 0.1e-3, 0.8e-3]}")));
    scratch_end(&scratch);
}

static void zero_byte_is_refused(void **unused)
{
    (void)unused;
    Scratch scratch = scratch_begin();
    FILE *file = fopen(scratch_path(&scratch, "zero.json"), "wb");
    assert_non_null(file);
    fwrite("{}\0{}", 1, 5, file);
    fclose(file);
    FacetQuadParams params;
    assert_refused(facet_quad_params_load(&params, scratch.path), "found a zero byte");
    scratch_end(&scratch);
}

// A text from a file may hold line breaks; a message stays one line.
static void message_is_one_line(void **unused)
{
    (void)unused;
    Scratch scratch = scratch_begin();
    FacetQuadParams params;
    assert_refused(facet_quad_params_load(
                       &params, scratch_write(&scratch, "lines.json", "{\"mass\": \"a\\nb\\tc\"}")),
                   "mass: expected a number from 0 to 1000");
    assert_refused(
        facet_quad_params_load(&params, scratch_write(&scratch, "key.json", "{\"ma\\nss\": 1}")),
        "did you mean 'mass'?");
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_vehicle_is_the_default),
        cmocka_unit_test(missing_fields_keep_their_defaults),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(a_flat_body_is_a_body),
        cmocka_unit_test(zero_byte_is_refused),
        cmocka_unit_test(message_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
