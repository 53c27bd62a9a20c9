// A host with names of its own, as a program of some age has them: functions, types and macros that
// are called as those inside Facet are. It has its own signal handler, and a file of its own stands
// where stderr was. It is valid C and valid C++, and is compiled as both.
//
//     host POLICY COURSES SCRATCH_FILE
//
// With HOST_STUDY it uses the study too.
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#define TRY(expression)  ((expression) ? (void)0 : host_gives_up(__LINE__))
#define CHECK(condition) TRY(condition)
#define BATCH            "a word of the host"

typedef struct Gate {
    int open;
} Gate;
typedef struct Track {
    const char *title;
} Track;
typedef struct Status {
    short number;
} Status;
typedef struct Vec3 {
    float x, y;
} Vec3;
typedef struct Policy {
    char letter;
} Policy;
typedef struct Pool {
    int depth;
} Pool;

// ---- What the host includes of Facet -----------------------------------------------------------

#ifdef HOST_STUDY
#include <facet_study/study.h>
#else
#include <facet/facet.h>
#endif

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The host's functions, with external linkage -----------------------------------------------

static int calls; // of the functions below; Facet must make none

static void host_gives_up(int line)
{
    printf("host: failed in line %d\n", line);
    exit(1);
}

#ifdef __cplusplus
extern "C" {
#endif

Status status_ok(void);
Status status_fail(int code, const char *format);
Status status_ok(void) { return status_fail(200, "fine"); }
Status status_fail(int code, const char *format)
{
    Status status = {(short)(code + (int)strlen(format))};
    calls++;
    return status;
}

int json_object(void);
int json_object(void) { return ++calls; }
int json_read(void);
int json_read(void) { return ++calls; }
int file_read(void);
int file_read(void) { return ++calls; }
int file_write(void);
int file_write(void) { return ++calls; }
int log_open(void);
int log_open(void) { return ++calls; }
int gemm_packed(void);
int gemm_packed(void) { return ++calls; }
int conv1d_rows(void);
int conv1d_rows(void) { return ++calls; }
int sampler_create(void);
int sampler_create(void) { return ++calls; }
int compose_scores(void);
int compose_scores(void) { return ++calls; }
int rng_normal(void);
int rng_normal(void) { return ++calls; }
int referee_make(void);
int referee_make(void) { return ++calls; }

Pool pool_create(int depth);
Pool pool_create(int depth)
{
    Pool pool = {depth + ++calls};
    return pool;
}
void pool_for(Pool *pool);
void pool_for(Pool *pool) { pool->depth -= ++calls; }

double clamp(double value);
double clamp(double value) { return ++calls > 0 && value > 9.0 ? 9.0 : value; }

Vec3 vec3(float x, float y);
Vec3 vec3(float x, float y)
{
    Vec3 v = {x, y};
    calls++;
    return v;
}

Policy policy_load(char letter);
Policy policy_load(char letter)
{
    Policy policy = {letter};
    calls++;
    return policy;
}

#ifdef __cplusplus
}
#endif

// The host uses all of its own.
static void use_own_names(void)
{
    Gate gate = {1};
    Track track = {BATCH};
    Pool pool = pool_create(3);
    pool_for(&pool);
    CHECK(pool.depth == 2);
    CHECK(gate.open && strcmp(track.title, "a word of the host") == 0);
    CHECK(status_ok().number == 204);
    CHECK(policy_load('p').letter == 'p');
    CHECK(vec3(1.0f, 2.0f).y == 2.0f && clamp(10.0) == 9.0);
    CHECK(json_object() + json_read() + file_read() + file_write() + log_open() > 0);
    CHECK(gemm_packed() + conv1d_rows() + sampler_create() + compose_scores() > 0);
    CHECK(rng_normal() + referee_make() > 0);
    CHECK(calls == 17);
}

// ---- What is the host's in the process ---------------------------------------------------------

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals = signals + 1;
}

// The host's file gets descriptor 2: whoever writes to stderr writes into it.
static void take_stderr_away(const char *file)
{
    close(2);
    CHECK(open(file, O_RDWR | O_CREAT | O_TRUNC, 0600) == 2);
}

static void handle_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    CHECK(sigaction(SIGINT, &action, NULL) == 0);
    CHECK(sigaction(SIGTERM, &action, NULL) == 0);
}

static void check_the_process(void)
{
    struct stat info;
    CHECK(raise(SIGINT) == 0 && raise(SIGTERM) == 0 && raise(SIGINT) == 0);
    CHECK(signals == 3);
    CHECK(fstat(2, &info) == 0 && info.st_size == 0);
    CHECK(calls == 17); // Facet called none of the host's functions
}

// ---- What the host wants of Facet --------------------------------------------------------------

static void plan_and_fly(const char *policy_file, const char *courses)
{
    FacetPolicy *policy;
    FacetCourse *course;
    FacetFactorTask names;
    FacetCourseTask task;
    CHECK(facet_policy_load(&policy, policy_file).ok);
    CHECK(facet_course_load(&course, courses).ok);
    CHECK(facet_factor_task_parse(&names, facet_policy_space(policy), "race5/wide",
                                  FACET_FACTOR_MISSING_REFUSED)
              .ok);
    CHECK(facet_course_find_task(&task, course, "race5/wide").ok);

    double actions[FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    FacetPolicySampling how;
    FacetPool *pool;
    memset(&how, 0, sizeof how);
    how.seed = 1;
    CHECK(facet_pool_create(&pool, 2).ok);
    CHECK(facet_policy_sample(actions, policy, &names, 1, &how, pool).ok);
    facet_pool_destroy(pool);
    facet_chunk_from_actions(chunk, actions);
    CHECK(facet_reference_from_chunk(&plan, chunk).ok);

    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetControlPreset preset;
    FacetFlightSetup setup;
    memset(&setup, 0, sizeof setup);
    CHECK(facet_control_preset(&preset, "race").ok);
    setup.model = &model;
    setup.preset = &preset;
    setup.arena = &course->arena;
    setup.track = &course->tracks[task.track];
    setup.half_width = course->openings[task.opening].half_width;
    FacetFlight flight =
        facet_flight_fly(&setup, &plan, facet_flight_start(&model, &plan, chunk[0].speed), NULL);
    printf("host: %d/%d gates\n", flight.passed, flight.gate_count);
    facet_course_destroy(course);
    facet_policy_destroy(policy);
}

// Failures are told to the host, and to nobody else.
static void fail_quietly(const char *courses)
{
    FacetPolicy *policy;
    CHECK(facet_policy_load(&policy, "no/such/file").code == FACET_NOT_FOUND);
    CHECK(facet_policy_load(&policy, courses).code != FACET_OK);
#ifdef HOST_STUDY
    FacetDataset *data;
    CHECK(facet_dataset_read(&data, "no/such/file").code == FACET_NOT_FOUND);
    CHECK(facet_dataset_read(&data, "/dev/null").code != FACET_OK);
#endif
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    take_stderr_away(argv[3]);
    handle_signals();
    use_own_names();
    plan_and_fly(argv[1], argv[2]);
    fail_quietly(argv[2]);
    check_the_process();
    return 0;
}
