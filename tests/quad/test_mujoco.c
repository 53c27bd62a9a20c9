// The dynamics against MuJoCo's free body under the same forces, over 5 s.
//
// reference/mujoco.txt holds two flights with ideal motors and thrusts that change every 0.05 s;
// reference/make_mujoco_reference.c made it and says how. Here the same thrusts go through
// facet_quad_step at 600 Hz.
#include "flying.h"

enum { STEPS = 30, INTERVALS = 100, STATES = 20 }; // 600 Hz steps in an interval of 0.05 s

// Reads `count` numbers behind a word.
static void read_row(double *out, int count, FILE *file, const char *word)
{
    char found[32] = "nothing";
    if (fscanf(file, "%31s", found) != 1 || strcmp(found, word) != 0)
        fail_msg("mujoco.txt: expected '%s', found '%s'", word, found);
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &out[i]) != 1) fail_msg("mujoco.txt: a '%s' is short", word);
}

static FacetQuadState state_of(const double row[13])
{
    return (FacetQuadState){
        .pos_world = {row[0], row[1], row[2]},
        .attitude = {row[3], row[4], row[5], row[6]},
        .vel_world = {row[7], row[8], row[9]},
        .omega_body = {row[10], row[11], row[12]},
    };
}

static void replay(FILE *file, const char *name)
{
    char found[32] = "";
    double body[8], drag[3], wind[3], row[13];
    if (fscanf(file, " flight %31s", found) != 1 || strcmp(found, name) != 0)
        fail_msg("mujoco.txt: expected flight '%s', found '%s'", name, found);
    read_row(body, 8, file, "body");
    read_row(drag, 3, file, "drag");
    read_row(wind, 3, file, "wind");
    read_row(row, 13, file, "start");
    FacetQuadParams params = {
        .mass = body[0],
        .inertia = {body[1], body[2], body[3]},
        .arm = body[4],
        .thrust_max = 5.0,
        .torque_ratio = body[5],
        .gravity = body[6],
        .drag = {drag[0], drag[1], drag[2]},
    };
    assert_near(body[7], STEPS / FACET_QUAD_RATE, 1e-15);
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetQuadState state = state_of(row);
    double pos = 0.0, angle = 0.0, vel = 0.0, rate = 0.0;
    int compared = 0;
    for (int i = 0; i < INTERVALS; i++) {
        double thrusts[4];
        read_row(thrusts, 4, file, "thrusts");
        for (int s = 0; s < STEPS; s++)
            facet_quad_step(&state, &model, thrusts, vec3(wind[0], wind[1], wind[2]));
        if ((i + 1) % (INTERVALS / STATES)) continue;
        read_row(row, 13, file, "state");
        FacetQuadState truth = state_of(row);
        pos = fmax(pos, vec3_distance(state.pos_world, truth.pos_world));
        angle = fmax(angle, attitude_angle(state.attitude, truth.attitude));
        vel = fmax(vel, vec3_distance(state.vel_world, truth.vel_world));
        rate = fmax(rate, vec3_distance(state.omega_body, truth.omega_body));
        compared++;
    }
    print_message("%s: position off by %.2g m, attitude %.2g rad, velocity %.2g m/s, rate %.2g "
                  "rad/s\n",
                  name, pos, angle, vel, rate);
    assert_int_equal(compared, STATES);
    assert_less(pos, 1e-6);
    assert_less(angle, 1e-6);
    assert_less(vel, 1e-6);
    assert_less(rate, 1e-6);
    // It went far from where it started, so that the comparison means something.
    assert_less(10.0, vec3_distance(state.pos_world, vec3(0.5, -1.0, 2.0)));
}

static void flights_agree_with_mujoco(void **unused)
{
    (void)unused;
    FILE *file = fopen(TEST_DATA "/reference/mujoco.txt", "r");
    assert_non_null(file);
    replay(file, "damped");
    replay(file, "windy");
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(flights_agree_with_mujoco)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
