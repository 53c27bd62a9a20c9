// The runtime behind the page's live tab (see live.h).
#include "live.h"

#include "base/file.h"
#include "factor/factor.h"
#include "memory_file.h"
#include "policy/parts.h"

#include <facet/facet.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS,
    SAMPLES_MAX = 4000,
    SAMPLE_SIZE = 8,
    GATE_SIZE = 4,
    OUTCOME_SIZE = 4,
};

static FacetStatus status;

static struct {
    FacetPolicy *policy;
    FacetPolicyRunner *runner;
    FacetFactorTask task;
    double *path; // [steps + 1][CHUNK], from noise to the plan
    int path_room;
} planner;

static struct {
    FacetArena arena;
    FacetTrack track;
    double samples[SAMPLES_MAX * SAMPLE_SIZE];
    double gates[FACET_TRACK_GATES_MAX * GATE_SIZE];
    double outcome[OUTCOME_SIZE];
} course;

const char *live_message(void) { return status.text; }

void *live_allocate(int bytes) { return malloc((size_t)bytes); }
void live_free(void *block) { free(block); }

// ---- The policy ---------------------------------------------------------------------------------

static FacetStatus open_policy(void)
{
    TRY(facet_policy_load(&planner.policy, MEMORY_FILE));
    TRY(policy_check_blind(planner.policy));
    const FacetPolicyInfo info = facet_policy_info(planner.policy);
    if (info.horizon != FACET_CHUNK_KEYPOINTS || info.dim != FACET_CHUNK_CHANNELS)
        return status_fail(FACET_BAD_FILE, "expected a policy with chunks of %d x %d",
                           FACET_CHUNK_KEYPOINTS, FACET_CHUNK_CHANNELS);
    return facet_policy_runner_create(&planner.runner, planner.policy, 1, 1, NULL);
}

int live_open(const char *bytes, int size)
{
    facet_policy_runner_destroy(planner.runner);
    facet_policy_destroy(planner.policy);
    planner.runner = NULL;
    planner.policy = NULL;
    memory_file_set(bytes, (size_t)size);
    status = open_policy();
    memory_file_set(NULL, 0);
    return status.ok;
}

int live_default_steps(void) { return facet_policy_info(planner.policy).default_steps; }

int live_most_steps(void) { return facet_policy_info(planner.policy).noise_steps; }

double live_parameters(void) { return (double)facet_policy_info(planner.policy).parameters; }

int live_task(const char *name)
{
    status = facet_factor_task_parse(&planner.task, facet_policy_space(planner.policy), name,
                                     FACET_FACTOR_MISSING_REFUSED);
    if (status.ok) status = policy_check_task(planner.policy, planner.task);
    if (!status.ok) return 0;
    return facet_factor_split_contains(facet_policy_training(planner.policy), planner.task) ? 1 : 2;
}

static bool make_room(int steps)
{
    if (steps <= planner.path_room) return true;
    free(planner.path);
    planner.path = malloc((size_t)(steps + 1) * CHUNK * sizeof *planner.path);
    planner.path_room = planner.path ? steps : 0;
    return planner.path;
}

const double *live_plan(double seed, int steps, const double *weights)
{
    double plan[CHUNK];
    const FacetPolicySampling how = {.steps = steps, .seed = (uint64_t)seed, .weights = weights};
    if (!make_room(policy_sampling_steps(planner.policy, &how)))
        status = status_fail(FACET_NO_MEMORY, "out of memory for a plan of %d steps", steps);
    else
        status = policy_runner_sample_path(plan, planner.path, planner.runner, &planner.task, NULL,
                                           1, &how, NULL);
    return status.ok ? planner.path : NULL;
}

// ---- The flight ---------------------------------------------------------------------------------

static FacetVec3 vector_at(const double *numbers)
{
    return (FacetVec3){numbers[0], numbers[1], numbers[2]};
}

int live_track(const double *arena, const double *points, int point_count, const double *gates,
               int gate_count)
{
    if (point_count < 2 || point_count > FACET_TRACK_POINTS_MAX || gate_count < 1 ||
        gate_count > FACET_TRACK_GATES_MAX) {
        status = status_fail(FACET_BAD_ARGUMENT, "expected 2 to %d points and 1 to %d gates",
                             FACET_TRACK_POINTS_MAX, FACET_TRACK_GATES_MAX);
        return 0;
    }
    course.arena = (FacetArena){vector_at(arena), vector_at(arena + 3)};
    course.track = (FacetTrack){.point_count = point_count, .gate_count = gate_count};
    for (int i = 0; i < point_count; i++) course.track.points[i] = vector_at(points + 3 * i);
    for (int i = 0; i < gate_count; i++) {
        course.track.gates[i].center = vector_at(gates + 6 * i);
        course.track.gates[i].normal = vector_at(gates + 6 * i + 3);
    }
    status = status_ok();
    return 1;
}

static void keep_sample(double *out, const FacetQuadState *state)
{
    const FacetQuat q = state->attitude;
    const double sample[SAMPLE_SIZE] = {
        state->pos_world.x,         state->pos_world.y, state->pos_world.z, q.w, q.x, q.y, q.z,
        vec3_norm(state->vel_world)};
    memcpy(out, sample, sizeof sample);
}

static void keep_result(const FacetFlight *flight)
{
    for (int i = 0; i < flight->gate_count; i++) {
        const FacetPassage *gate = &flight->gates[i];
        const double result[GATE_SIZE] = {gate->crossed, gate->passed, gate->miss, gate->time};
        memcpy(course.gates + GATE_SIZE * i, result, sizeof result);
    }
    const double outcome[OUTCOME_SIZE] = {flight->passed, flight->end, flight->crash,
                                          flight->duration};
    memcpy(course.outcome, outcome, sizeof outcome);
}

// The expert's flight sets where the vehicle starts: on the track's path, along it, at this speed.
static FacetStatus begin(FacetQuadState *start, const FacetQuadModel *model, double speed)
{
    FacetKeypoint expert[FACET_CHUNK_KEYPOINTS];
    FacetReference truth;
    TRY(facet_expert_chunk(expert, &course.track, course.track.points[0], speed));
    TRY(facet_reference_from_chunk(&truth, expert));
    *start = facet_flight_start(model, &truth, speed);
    return status_ok();
}

int live_fly(const double *plan, double half_width, double speed, double interval)
{
    static FacetReference reference;
    const FacetQuadParams params = facet_quad_params_default();
    const FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetControlPreset preset;
    FacetQuadState start;
    facet_chunk_from_actions(chunk, plan);
    status = facet_control_preset(&preset, "race");
    if (status.ok) status = begin(&start, &model, speed);
    if (status.ok) status = facet_reference_from_chunk(&reference, chunk);
    if (!status.ok) return 0;
    const FacetFlightSetup setup = {.model = &model,
                                    .preset = &preset,
                                    .arena = &course.arena,
                                    .track = &course.track,
                                    .half_width = half_width};
    FacetFlightRun run;
    int samples = 0;
    facet_flight_begin(&run, &setup, &reference, start);
    do {
        double time = (double)run.flight.steps / FACET_QUAD_RATE;
        if (samples < SAMPLES_MAX && time >= samples * interval - 1e-9)
            keep_sample(course.samples + SAMPLE_SIZE * samples++, &run.state);
    } while (facet_flight_step(&run));
    const FacetFlight flight = facet_flight_result(&run);
    keep_result(&flight);
    return samples;
}

const double *live_samples(void) { return course.samples; }
const double *live_gates(void) { return course.gates; }
const double *live_outcome(void) { return course.outcome; }
