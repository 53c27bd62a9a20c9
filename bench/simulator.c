// How fast the simulator steps on one core, beside MuJoCo's free body.
//
//   simulator [repeats]
//
// Bare dynamics are quadrotors in hover whose commands turn them left and right: RK4, motor lag and
// drag at 600 Hz. Closed loops are whole flights over the shipped courses: carrot, controller,
// mixer, RK4, gates and crashes. MuJoCo steps a free body of the same mass and inertia under four
// rotors, or under the sum of their forces, with RK4 at the same rate, without contacts, lag and
// drag; ratios are to the faster of the two. All rows take turns and each shows its best repeat, in
// processor time, so that what else the machine does falls on all alike.
#include "bench.h"
#include "flight/flight.h"
#include "math/geometry.h"
#include "math/lanes.h"
#include "quad/quad.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum {
    REPEATS = 7,
    BATCHES = 8, // of eight lanes each, in turn
    BARE_STEPS = 300000,
    BATCH_STEPS = 30000,
    MUJOCO_STEPS = 15000,
    TURN_STEPS = 64, // between two changes of the command
    SPEEDS = 6,      // flights a track
    FLIGHTS_MAX = 96,
};

typedef struct Bench {
    FacetCourse *course;
    FacetQuadModel model;
    QuadBatchModel batch_model;
    FacetControlPreset preset;
    int flight_count;
    FacetReference *references;
    FacetFlightPlan *plans;
    FacetFlight *flights;
    FacetQuadState vehicle;
    QuadBatch batches[BATCHES];
    int passed_single, passed_batched;
    double sum; // of something from every run, so that no work can be left out
} Bench;

// The hover thrust of motor i, a little more or less so that the vehicle turns about z.
static double thrust_at(const FacetQuadModel *model, long step, int i)
{
    double hover = 0.25 * model->params.mass * model->params.gravity;
    double turn = (step / TURN_STEPS % 4 == 1 || step / TURN_STEPS % 4 == 2) ? 0.01 : -0.01;
    return hover + (i % 2 ? -turn : turn);
}

// ---- The rows: each does its work and returns the number of steps -------------------------------

static long run_bare_single(Bench *bench)
{
    for (long step = 0; step < BARE_STEPS; step += TURN_STEPS) {
        double command[FACET_QUAD_MOTORS];
        for (int i = 0; i < FACET_QUAD_MOTORS; i++) command[i] = thrust_at(&bench->model, step, i);
        for (int k = 0; k < TURN_STEPS; k++)
            facet_quad_step(&bench->vehicle, &bench->model, command, vec3(0.0, 0.0, 0.0));
    }
    bench->sum += bench->vehicle.attitude.w + bench->vehicle.pos_world.z;
    return (BARE_STEPS + TURN_STEPS - 1) / TURN_STEPS * TURN_STEPS;
}

static long run_bare_batched(Bench *bench)
{
    const Lanes still[3] = {{0}};
    long rounds = (BATCH_STEPS + TURN_STEPS - 1) / TURN_STEPS;
    for (long round = 0; round < rounds; round++) {
        Lanes command[FACET_QUAD_MOTORS];
        for (int i = 0; i < FACET_QUAD_MOTORS; i++)
            for (int lane = 0; lane < BATCH_LANES; lane++)
                command[i][lane] = (float)thrust_at(&bench->model, round * TURN_STEPS, i);
        for (int k = 0; k < TURN_STEPS; k++)
            for (int b = 0; b < BATCHES; b++)
                quad_batch_step(&bench->batches[b], &bench->batch_model, command, still, NULL);
    }
    for (int b = 0; b < BATCHES; b++) bench->sum += (double)bench->batches[b].attitude[0][b];
    return rounds * TURN_STEPS * BATCHES * BATCH_LANES;
}

static long run_closed_single(Bench *bench)
{
    long steps = 0;
    bench->passed_single = 0;
    for (int i = 0; i < bench->flight_count; i++) {
        const FacetFlightPlan *plan = &bench->plans[i];
        FacetFlightSetup setup = {.model = &bench->model,
                                  .preset = &bench->preset,
                                  .arena = &bench->course->arena,
                                  .track = plan->track,
                                  .half_width = plan->half_width};
        FacetFlight flight = facet_flight_fly(&setup, plan->reference, plan->start, NULL);
        steps += flight.steps;
        bench->passed_single += flight.passed;
    }
    return steps;
}

static long run_closed_batched(Bench *bench)
{
    long steps = 0;
    bench->passed_batched = 0;
    facet_flight_fly_batch(bench->flights, &bench->model, &bench->preset, &bench->course->arena,
                           bench->plans, bench->flight_count);
    for (int i = 0; i < bench->flight_count; i++) {
        steps += bench->flights[i].steps;
        bench->passed_batched += bench->flights[i].passed;
    }
    return steps;
}

#ifdef BENCH_MUJOCO

// A free body with the vehicle's mass and inertia, with or without rotors as actuators.
typedef struct Peer {
    mjModel *model;
    mjData *data;
} Peer;

static Peer peer_rotors, peer_wrench;

static FacetStatus peer_open(Peer *peer, const FacetQuadModel *model, bool rotors)
{
    char text[2048], error[300] = "";
    const FacetQuadParams *params = &model->params;
    const double a = model->lever, at[4][2] = {{a, a}, {-a, a}, {-a, -a}, {a, -a}};
    size_t used = (size_t)snprintf(
        text, sizeof text,
        "<mujoco><option integrator='RK4' timestep='%.17g' gravity='0 0 %.17g'>"
        "<flag contact='disable' constraint='disable'/></option><worldbody><body pos='0 0 2'>"
        "<freejoint/><inertial pos='0 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
        model->step, -params->gravity, params->mass, params->inertia.x, params->inertia.y,
        params->inertia.z);
    for (int i = 0; i < FACET_QUAD_MOTORS && rotors; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<site name='r%d' pos='%.17g %.17g 0'/>", i, at[i][0], at[i][1]);
    used += (size_t)snprintf(text + used, sizeof text - used, "</body></worldbody><actuator>");
    for (int i = 0; i < FACET_QUAD_MOTORS && rotors; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "<motor site='r%d' gear='0 0 1 0 0 %.17g'/>", i,
                                 i % 2 ? -params->torque_ratio : params->torque_ratio);
    used += (size_t)snprintf(text + used, sizeof text - used, "</actuator></mujoco>");

    static mjVFS files; // too large for the stack
    mj_defaultVFS(&files);
    mj_makeEmptyFileVFS(&files, "body.xml", (int)used);
    memcpy(files.filedata[0], text, used);
    peer->model = mj_loadXML("body.xml", &files, error, sizeof error);
    mj_deleteVFS(&files);
    if (!peer->model) return status_fail(FACET_BAD_ARGUMENT, "MuJoCo: %s", error);
    peer->data = mj_makeData(peer->model);
    return peer->data ? status_ok() : status_fail(FACET_NO_MEMORY, "MuJoCo: out of memory");
}

static FacetStatus peers_open(const FacetQuadModel *model)
{
    TRY(peer_open(&peer_rotors, model, true));
    return peer_open(&peer_wrench, model, false);
}

static void peers_close(void)
{
    const Peer *peers[2] = {&peer_rotors, &peer_wrench};
    for (int i = 0; i < 2; i++) {
        mj_deleteData(peers[i]->data);
        mj_deleteModel(peers[i]->model);
    }
}

static long run_peer_rotors(Bench *bench)
{
    mjData *data = peer_rotors.data;
    for (long step = 0; step < MUJOCO_STEPS; step++) {
        for (int i = 0; i < FACET_QUAD_MOTORS && step % TURN_STEPS == 0; i++)
            data->ctrl[i] = thrust_at(&bench->model, step, i);
        mj_step(peer_rotors.model, data);
    }
    bench->sum += data->qpos[2] + data->qpos[3];
    return MUJOCO_STEPS;
}

// The vehicle only turns about z, so the wrench is the same in the world as in the body.
static long run_peer_wrench(Bench *bench)
{
    mjData *data = peer_wrench.data;
    for (long step = 0; step < MUJOCO_STEPS; step++) {
        if (step % TURN_STEPS == 0) {
            double thrust[FACET_QUAD_MOTORS];
            for (int i = 0; i < FACET_QUAD_MOTORS; i++)
                thrust[i] = thrust_at(&bench->model, step, i);
            FacetQuadWrench wrench = facet_quad_wrench(&bench->model, thrust);
            data->xfrc_applied[6 + 2] = wrench.force; // of body 1, the first after the world
            data->xfrc_applied[6 + 5] = wrench.torque.z;
        }
        mj_step(peer_wrench.model, data);
    }
    bench->sum += data->qpos[2] + data->qpos[3];
    return MUJOCO_STEPS;
}

#else

static FacetStatus peers_open(const FacetQuadModel *model)
{
    (void)model;
    return status_ok();
}

static void peers_close(void) {}

static long (*const run_peer_rotors)(Bench *bench) = NULL;
static long (*const run_peer_wrench)(Bench *bench) = NULL;

#endif

// ---- The table ----------------------------------------------------------------------------------

typedef struct Row {
    const char *what;
    long (*run)(Bench *bench); // NULL when the peer is not installed
    double target;             // million steps a second; 0 for a peer
    double best;
} Row;

static FacetStatus bench_open(Bench *bench)
{
    FacetQuadParams params = facet_quad_params_default();
    bench->model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    bench->batch_model = quad_batch_model(&bench->model);
    bench->vehicle = facet_quad_hover(&bench->model, vec3(0.0, 0.0, 2.0), 0.0);
    for (int b = 0; b < BATCHES; b++)
        for (int lane = 0; lane < BATCH_LANES; lane++)
            quad_batch_set(&bench->batches[b], lane, &bench->vehicle);
    TRY(facet_control_preset(&bench->preset, "race"));
    TRY(facet_course_load(&bench->course, NULL));
    bench->references = calloc(FLIGHTS_MAX, sizeof *bench->references);
    bench->plans = calloc(FLIGHTS_MAX, sizeof *bench->plans);
    bench->flights = calloc(FLIGHTS_MAX, sizeof *bench->flights);
    if (!bench->references || !bench->plans || !bench->flights)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d flights", FLIGHTS_MAX);
    for (int i = 0; i < bench->course->track_count * SPEEDS && i < FLIGHTS_MAX; i++) {
        const FacetTrack *track = &bench->course->tracks[i / SPEEDS];
        const double speed = 2.0 + 0.3 * (i % SPEEDS);
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        TRY(facet_expert_chunk(chunk, track, track->points[0], speed));
        TRY(facet_reference_from_chunk(&bench->references[i], chunk));
        bench->plans[i] = (FacetFlightPlan){
            .track = track,
            .half_width = 0.762,
            .reference = &bench->references[i],
            .start = facet_flight_start(&bench->model, &bench->references[i], speed)};
        bench->flight_count++;
    }
    return peers_open(&bench->model);
}

static void bench_close(Bench *bench)
{
    facet_course_destroy(bench->course);
    free(bench->references);
    free(bench->plans);
    free(bench->flights);
    free(bench);
}

static void measure(Bench *bench, Row *rows, int count, int repeats)
{
    for (int repeat = 0; repeat < repeats; repeat++)
        for (int i = 0; i < count; i++) {
            if (!rows[i].run) continue;
            double started = processor_seconds();
            long steps = rows[i].run(bench);
            rows[i].best =
                greater(rows[i].best, 1e-6 * (double)steps / (processor_seconds() - started));
        }
}

// A number with some digits after the point, or words in its place.
static void number_cell(Table *table, double value, int digits, const char *words)
{
    if (words)
        table_cell(table, "%s", words);
    else
        table_cell(table, "%.*f", digits, value);
}

static void print_rows(const Row *rows, int count, double peer)
{
    const TableColumn heads[] = {{"work", TABLE_LEFT},
                                 {"million steps/s", TABLE_RIGHT},
                                 {"target", TABLE_RIGHT},
                                 {"", TABLE_LEFT},
                                 {"times MuJoCo", TABLE_RIGHT}};
    Table *table = table_create(heads, 5);
    for (int i = 0; i < count; i++) {
        const Row *row = &rows[i];
        table_cell(table, "%s", row->what);
        bool aims = row->target > 0.0;
        number_cell(table, row->best, 2, row->run ? NULL : "not installed");
        number_cell(table, row->target, 0, aims ? NULL : "");
        table_cell(table, "%s", !aims ? "" : row->best >= row->target ? "reached" : "short");
        number_cell(table, row->best / peer, 1, row->run && peer > 0.0 ? NULL : "");
    }
    table_print(table, stdout);
    table_destroy(table);
}

int main(int count, char **argument)
{
    int repeats = count > 1 ? atoi(argument[1]) : REPEATS;
    Row rows[] = {
        {.what = "dynamics, one at a time, double", .run = run_bare_single, .target = 6.0},
        {.what = "dynamics, 8 lanes, float", .run = run_bare_batched, .target = 60.0},
        {.what = "closed loop, one at a time, double", .run = run_closed_single, .target = 2.0},
        {.what = "closed loop, 8 lanes, float", .run = run_closed_batched, .target = 10.0},
        {.what = "MuJoCo free body, four rotors", .run = run_peer_rotors},
        {.what = "MuJoCo free body, one wrench", .run = run_peer_wrench},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    Bench *bench = calloc(1, sizeof *bench);
    FacetStatus status = bench ? bench_open(bench) : status_fail(FACET_NO_MEMORY, "out of memory");
    if (!status.ok || repeats < 1) {
        fprintf(stderr, "simulator: %s\n",
                status.ok ? "expected a number of repeats of at least 1" : status.text);
        return 1;
    }
    measure(bench, rows, ROWS, repeats);
    printf("The simulator at %.0f Hz on one core, best of %d interleaved repeats\n\n",
           FACET_QUAD_RATE, repeats);
    print_rows(rows, ROWS, greater(rows[ROWS - 1].best, rows[ROWS - 2].best));
    printf("\n%d flights passed %d gates one at a time and %d batched; checksum %.6g\n",
           bench->flight_count, bench->passed_single, bench->passed_batched, bench->sum);
    peers_close();
    bench_close(bench);
    return 0;
}
