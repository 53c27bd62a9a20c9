// facet gate beacon, facet gate eval --beside and facet gate modality as a user runs them.
#include "base/file.h"
#include "program/in_scratch.h"

static double number_of(const JsonRef *object, const char *key)
{
    double value = -1.0;
    assert_ok(json_member_number(&value, object, key, 0.0, 1e9));
    return value;
}

// A tally of so many trials adds up.
static void check_tally(const JsonRef *object, const char *key, int trials)
{
    JsonRef at;
    assert_ok(json_member(&at, object, key));
    assert_near(number_of(&at, "trials"), trials, 0.0);
    assert_near(number_of(&at, "success") + number_of(&at, "crash") + number_of(&at, "timeout"),
                trials, 0.0);
}

static void check_beacon(const JsonRef *root, double bias)
{
    JsonRef beacon;
    assert_ok(json_member(&beacon, root, "beacon"));
    assert_near(number_of(&beacon, "bias_m"), bias, 0.0);
    assert_near(number_of(&beacon, "noise_m"), 0.3, 0.0);
    assert_near(number_of(&beacon, "survey_m"), 4.0, 0.0);
}

// ---- Wrong words --------------------------------------------------------------------------------

static void wrong_use_gets_one_line(void **state)
{
    (void)state;
    refused("gate beacn", 2, "no part of gate 'beacn', did you mean 'beacon'?");
    refused("gate beacon", 2, "expected --out POLICY");
    refused("gate beacon --out @/b --beacon-bias -1", 2, "--beacon-bias");
    refused("gate modality", 2, "expected --beside FILE");
    refused("gate modality --beside @/b --weights 1", 2, "--weights");
    refused("gate modality --beside @/b --train 0 --held-out 0", 2, "expected trials to fly");
    refused("gate eval --policy @/p --weight 0.5", 2, "--weight: expected --beside beside it");
    refused("gate eval --policy @/p --beacon-noise 1", 2, "expected --beside beside it");
    refused("gate eval --policy @/p --beside @/b --weight 1.5", 2, "--weight");
}

// ---- From flights to a choice -------------------------------------------------------------------

static void check_choice(const JsonRef *root)
{
    JsonRef choice, tried, row;
    int count;
    double most = -1.0, chosen = -1.0;
    assert_ok(json_member(&choice, root, "choice"));
    assert_near(number_of(&choice, "trials_a_task"), 1.0, 0.0);
    assert_ok(json_member(&tried, &choice, "tried"));
    assert_ok(json_length(&count, &tried));
    assert_int_equal(count, 3);
    for (int i = 0; i < count; i++) {
        JsonRef tally;
        assert_ok(json_element(&row, &tried, i));
        assert_near(number_of(&row, "weight"), 0.5 * i, 0.0);
        check_tally(&row, "train", 2);
        assert_ok(json_member(&tally, &row, "train"));
        double success = number_of(&tally, "success");
        most = success > most ? success : most;
    }
    chosen = number_of(root, "weight");
    assert_ok(json_element(&row, &tried, (int)(2.0 * chosen)));
    assert_ok(json_member(&choice, &row, "train"));
    assert_near(number_of(&choice, "success"), most, 0.0);
}

// Camera and beacon, and both where the choice was neither.
static void check_rows(const JsonRef *root)
{
    static const char *const names[] = {"camera", "beacon", "both"};
    JsonRef rows, row, at;
    int count;
    double chosen = number_of(root, "weight"), weights[] = {1.0, 0.0, chosen};
    assert_ok(json_member(&rows, root, "rows"));
    assert_ok(json_length(&count, &rows));
    assert_int_equal(count, chosen > 0.0 && chosen < 1.0 ? 3 : 2);
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&row, &rows, i));
        assert_ok(json_member(&at, &row, "name"));
        assert_string_equal(json_chars(&at), names[i]);
        assert_near(number_of(&row, "weight"), weights[i], 0.0);
        check_tally(&row, "train", 2);
        check_tally(&row, "held_out", 0);
        assert_ok(json_member(&at, &row, "venues"));
        check_tally(&at, "Field", 2);
    }
}

#define FIELD                                                                                      \
    "--train 1 --held-out 0 --quiet --skip venue=industrial --skip venue=piazza --skip "           \
    "venue=pool "

static void two_senses_from_flights_to_a_choice(void **state)
{
    (void)state;
    done("gate demos --out @/f.h5 --flights 2 --quiet");
    done("gate train --data @/f.h5 --out @/p --rounds 0 --updates 2 --batch 2 --draws 1 --blocks 1 "
         "--channels 16 --quiet");
#define BEACON                                                                                     \
    "gate beacon --like @/p --flights 2 --updates 4 --batch 4 --blocks 1 --channels 16 --quiet "
    done(BEACON "--out @/b --json @/train.json");
    JsonRef root;
    Json *document = read_json(&root, "train.json");
    assert_near(number_of(&root, "tasks"), 2.0, 0.0);
    assert_near(number_of(&root, "updates"), 4.0, 0.0);
    check_beacon(&root, 0.5);
    json_free(document);

    // It is there already: nothing to do. With another sensor it is another training.
    assert_non_null(strstr(done(BEACON "--out @/b --resume").out, "4 updates (0 in this run)"));
    refused(BEACON "--out @/b --resume --beacon-noise 1", 1, "expected the observe of this run");

    // The camera's weight of one is the camera's policy, flight by flight.
    Run camera = done("gate eval --policy @/p " FIELD);
    Run one = done("gate eval --policy @/p --beside @/b --weight 1 " FIELD);
    assert_string_equal(one.out, camera.out);
    Run both = done("gate eval --policy @/p --beside @/b --weight 0.5 --beacon-bias 0 "
                    "--json @/eval.json " FIELD);
    assert_string_not_equal(both.out, camera.out);
    document = read_json(&root, "eval.json");
    assert_near(number_of(&root, "weight"), 0.5, 0.0);
    check_beacon(&root, 0.0);
    check_tally(&root, "train", 2);
    json_free(document);

    // What cannot stand beside it.
    refused("gate eval --policy @/p --beside @/p", 1, "expected a policy of facet gate beacon");
    refused("gate eval --policy @/b --beside @/b", 1, "expected a policy that sees");
    if (access(TEST_SOURCE "/models/gate-factored.safetensors", F_OK) == 0)
        refused("gate modality --beside @/b", 1, "expected the same ranges of both policies");

    Run result = done("gate modality --policy @/p --beside @/b --weights 3 --train 1 --held-out 0 "
                      "--quiet --json @/modality.json");
    assert_fits(result.out);
    assert_non_null(strstr(result.out, "camera"));
    document = read_json(&root, "modality.json");
    check_beacon(&root, 0.5);
    check_choice(&root);
    check_rows(&root);
    json_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_use_gets_one_line, begin, end),
        cmocka_unit_test_setup_teardown(two_senses_from_flights_to_a_choice, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
