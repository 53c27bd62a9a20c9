// Makes mujoco.txt, the flights that test_mujoco.c replays: MuJoCo's free body under the thrusts of
// four rotors, drag and wind. It is no part of the build. With Debian's libmujoco-dev 2.2.2:
//
//   cc -O2 -o make_mujoco_reference make_mujoco_reference.c -lmujoco -lm
//   ./make_mujoco_reference > mujoco.txt
//
// Nothing of Facet is used here. The rotors are MuJoCo's site actuators, which push along the
// site's z axis and turn about it. The body is its own free joint with a diagonal inertia. Drag in
// the first flight is the joint's damping, in the second it acts along the body's axes in moving
// air and comes from a callback that MuJoCo runs at each stage of its RK4.
//
// MuJoCo's RK4 adds up the body rates of its stages as if rotations commuted, so its attitude
// converges with second order only. Each flight therefore runs at 1/100 and at 1/200 of a 600 Hz
// step. stderr shows how far the two are apart; a third of that is the finer one's error.
//
// The text: "flight NAME", the parameters, the start, then for each of 100 intervals of 0.05 s the
// four thrusts (N), and every fifth interval the state at its end: position, quaternion (scalar
// first, body to world), velocity (world), body rate.
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTERVALS = 100, STEPS = 30, KEEP_EVERY = 5, KEPT = INTERVALS / KEEP_EVERY };

static const double MASS = 0.5, ARM = 0.125, TORQUE_RATIO = 0.022, GRAVITY = 9.81;
static const double INERTIA[3] = {1.7e-3, 1.4e-3, 2.9e-3};

typedef struct Trial {
    const char *name;
    double drag[3], wind[3]; // 1/s along the body's axes, m/s
    int damping;             // drag as the joint's damping: isotropic, still air
    uint64_t seed;
} Trial;

static const Trial *current; // for the callback

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

// Air drag along the body's axes, at each evaluation of the forces.
static void body_drag(const mjModel *m, mjData *d)
{
    (void)m;
    if (current->damping) return;
    mjtNum air[3], body[3], force[3], back[4];
    for (int i = 0; i < 3; i++) air[i] = d->qvel[i] - current->wind[i];
    mju_negQuat(back, d->qpos + 3);
    mju_rotVecQuat(body, air, back);
    for (int i = 0; i < 3; i++) body[i] *= -MASS * current->drag[i];
    mju_rotVecQuat(force, body, d->qpos + 3);
    for (int i = 0; i < 3; i++) d->qfrc_passive[i] += force[i];
}

static mjModel *load_model(void)
{
    char text[4096];
    const double a = ARM * sqrt(0.5);
    const double at[4][2] = {{a, a}, {-a, a}, {-a, -a}, {a, -a}};
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "<mujoco><option integrator='RK4' gravity='0 0 %.17g'/><worldbody><body><freejoint/>"
        "<inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
        -GRAVITY, MASS, INERTIA[0], INERTIA[1], INERTIA[2]);
    for (int i = 0; i < 4; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<site name='r%d' pos='%.17g %.17g 0'/>", i, at[i][0], at[i][1]);
    used += (size_t)snprintf(text + used, sizeof text - used, "</body></worldbody><actuator>");
    for (int i = 0; i < 4; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<motor site='r%d' gear='0 0 1 0 0 %.17g'/>", i,
                                 i % 2 ? -TORQUE_RATIO : TORQUE_RATIO);
    snprintf(text + used, sizeof text - used, "</actuator></mujoco>");

    static mjVFS files; // large
    char error[512] = "";
    int length = (int)strlen(text);
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "body.xml", length);
    memcpy(files.filedata[0], text, (size_t)length);
    mjModel *m = mj_loadXML("body.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    if (!m) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    return m;
}

static void set_start(double qpos[7], double qvel[6])
{
    const double pos[7] = {0.5, -1.0, 2.0, 0.9, 0.3, -0.2, 0.25}, vel[6] = {3, -1, 2, 1, -0.5, 2};
    memcpy(qpos, pos, sizeof pos);
    memcpy(qvel, vel, sizeof vel);
    mju_normalize4(qpos + 3);
}

// Near hover, so that rates stay at a few radians a second while the body tumbles.
static void choose_thrusts(double thrusts[INTERVALS][4], uint64_t seed)
{
    for (int i = 0; i < INTERVALS; i++)
        for (int k = 0; k < 4; k++) thrusts[i][k] = 1.25 + 0.14 * (uniform(&seed) - 0.5);
}

static void fly(double out[KEPT][13], const Trial *trial, double thrusts[INTERVALS][4], int fine)
{
    mjModel *m = load_model();
    m->opt.timestep = 1.0 / 600.0 / fine;
    for (int i = 0; i < 3; i++) m->dof_damping[i] = trial->damping ? MASS * trial->drag[i] : 0.0;
    mjData *d = mj_makeData(m);
    set_start(d->qpos, d->qvel);
    current = trial;
    mjcb_passive = body_drag;
    for (int i = 0; i < INTERVALS; i++) {
        for (int k = 0; k < 4; k++) d->ctrl[k] = thrusts[i][k];
        for (int s = 0; s < STEPS * fine; s++) mj_step(m, d);
        if ((i + 1) % KEEP_EVERY) continue;
        double *row = out[i / KEEP_EVERY];
        memcpy(row, d->qpos, 7 * sizeof *row);
        memcpy(row + 7, d->qvel, 6 * sizeof *row);
    }
    mj_deleteData(d);
    mj_deleteModel(m);
}

static void print_row(const char *label, const double *values, int count)
{
    printf("%s", label);
    for (int i = 0; i < count; i++) printf(" %.17g", values[i]);
    printf("\n");
}

int main(void)
{
    const Trial trials[2] = {
        {"damped", {0.4, 0.4, 0.4}, {0, 0, 0}, 1, 11},
        {"windy", {0.544, 0.386, 0.2}, {2.0, -1.5, 0.5}, 0, 12},
    };
    for (int t = 0; t < 2; t++) {
        double thrusts[INTERVALS][4], coarse[KEPT][13], fine[KEPT][13], start[13];
        choose_thrusts(thrusts, trials[t].seed);
        fly(coarse, &trials[t], thrusts, 100);
        fly(fine, &trials[t], thrusts, 200);
        double apart = 0.0, rate = 0.0;
        for (int i = 0; i < KEPT; i++) {
            for (int k = 0; k < 13; k++) apart = fmax(apart, fabs(coarse[i][k] - fine[i][k]));
            for (int k = 10; k < 13; k++) rate = fmax(rate, fabs(fine[i][k]));
        }
        fprintf(stderr, "%s: runs %.2g apart, largest body rate %.2f rad/s\n", trials[t].name,
                apart, rate);
        const double body[8] = {MASS, INERTIA[0],   INERTIA[1], INERTIA[2],
                                ARM,  TORQUE_RATIO, GRAVITY,    0.05};
        set_start(start, start + 7);
        printf("flight %s\n", trials[t].name);
        print_row("body", body, 8);
        print_row("drag", trials[t].drag, 3);
        print_row("wind", trials[t].wind, 3);
        print_row("start", start, 13);
        for (int i = 0; i < INTERVALS; i++) {
            print_row("thrusts", thrusts[i], 4);
            if ((i + 1) % KEEP_EVERY == 0) print_row("state", fine[i / KEEP_EVERY], 13);
        }
    }
    return 0;
}
