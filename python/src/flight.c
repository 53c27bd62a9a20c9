// Flights: a plan flown closed loop on a course, and the record of it.
#include "module.h"

#include <string.h>

// ---- Vehicles -----------------------------------------------------------------------------------

_Static_assert(sizeof(FacetQuadParams) == 12 * sizeof(double), "a vehicle is 12 numbers");
_Static_assert(sizeof(FacetQuadState) == 17 * sizeof(double), "a state is 17 numbers");

bool vehicle_from_buffer(FacetQuadParams *params, const Py_buffer *buffer)
{
    if (!buffer_has(buffer, sizeof *params, "vehicle")) return false;
    memcpy(params, buffer->buf, sizeof *params);
    return true;
}

static bool load_vehicle(const Py_buffer *numbers, const char *file)
{
    FacetQuadParams params = facet_quad_params_default();
    FacetStatus status = {.ok = true};
    if (!buffer_has(numbers, sizeof params, "vehicle")) return false;
    if (file) status = facet_quad_params_load(&params, file);
    memcpy(numbers->buf, &params, sizeof params);
    return status_raise(&status);
}

// vehicle(numbers, path: bytes | None): of a file, or Facet's own
PyObject *flight_vehicle(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer numbers;
    const char *file;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(arguments, "w*z#", &numbers, &file, &length)) return NULL;
    bool done = load_vehicle(&numbers, file);
    PyBuffer_Release(&numbers);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

// ---- Record -------------------------------------------------------------------------------------

// A record in bytearrays, which numpy takes over as they are.
typedef struct Record {
    PyObject *times, *states, *arcs;
    FacetFlightTrace trace;
} Record;

static bool record_resize(Record *r, int capacity)
{
    Py_ssize_t count = capacity;
    if (PyByteArray_Resize(r->times, count * (Py_ssize_t)sizeof *r->trace.times) != 0 ||
        PyByteArray_Resize(r->states, count * (Py_ssize_t)sizeof *r->trace.states) != 0 ||
        PyByteArray_Resize(r->arcs, count * (Py_ssize_t)sizeof *r->trace.arcs) != 0)
        return false;
    r->trace.times = (double *)(void *)PyByteArray_AsString(r->times);
    r->trace.states = (FacetQuadState *)(void *)PyByteArray_AsString(r->states);
    r->trace.arcs = (double *)(void *)PyByteArray_AsString(r->arcs);
    r->trace.capacity = capacity;
    return true;
}

static void record_release(Record *r)
{
    Py_XDECREF(r->times);
    Py_XDECREF(r->states);
    Py_XDECREF(r->arcs);
}

static bool record_create(Record *r, double interval)
{
    *r = (Record){.times = PyByteArray_FromStringAndSize(NULL, 0),
                  .states = PyByteArray_FromStringAndSize(NULL, 0),
                  .arcs = PyByteArray_FromStringAndSize(NULL, 0),
                  .trace = {.interval = interval}};
    return r->times && r->states && r->arcs;
}

// ---- Flying -------------------------------------------------------------------------------------

enum { SLICE = 8192 }; // steps between looks for signals, about 10 ms

// Some steps of a flight, or as many as are left. Returns whether it goes on.
static bool fly_slice(FacetFlightRun *run, FacetFlightTrace *trace)
{
    for (int i = 0; i < SLICE; i++) {
        facet_flight_record(trace, run);
        if (!facet_flight_step(run)) return false;
    }
    return true;
}

// Flies to the end, without the interpreter's lock but for looks for signals. The record keeps room
// for a whole slice ahead, so nothing is left out of it.
static bool fly_recorded(FacetFlightRun *run, Record *record)
{
    bool more = true;
    while (more) {
        if (!record_resize(record, record->trace.count + SLICE)) return false;
        Py_BEGIN_ALLOW_THREADS;
        more = fly_slice(run, &record->trace);
        Py_END_ALLOW_THREADS;
        if (PyErr_CheckSignals() != 0) return false;
    }
    return record_resize(record, record->trace.count);
}

static const char *end_name(FacetFlightEnd end)
{
    switch (end) {
    case FACET_FLIGHT_FINISHED:
        return "finished";
    case FACET_FLIGHT_CRASHED:
        return "crashed";
    case FACET_FLIGHT_TIMED_OUT:
        return "timed out";
    case FACET_FLIGHT_GIVEN_UP:
        return "given up";
    }
    Py_UNREACHABLE();
}

// [(name, crossed, passed, miss, time, speed), ...]
static PyObject *from_passages(const FacetFlight *flight, const FacetTrack *track)
{
    PyObject *list = PyList_New(flight->gate_count);
    for (int i = 0; list && i < flight->gate_count; i++) {
        const FacetPassage *gate = &flight->gates[i];
        PyObject *item =
            Py_BuildValue("(sOOddd)", track->gates[i].name, gate->crossed ? Py_True : Py_False,
                          gate->passed ? Py_True : Py_False, gate->miss, gate->time, gate->speed);
        if (!item || PyList_SetItem(list, i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *from_flight(const FacetFlight *flight, const Record *record,
                             const FacetTrack *track)
{
    return Py_BuildValue("{s:O, s:O, s:O, s:s, s:s, s:N, s:d, s:d, s:d, s:d}",           //
                         "times", record->times, "states", record->states,               //
                         "arcs", record->arcs,                                           //
                         "end", end_name(flight->end),                                   //
                         "crash", facet_crash_name(flight->crash),                       //
                         "gates", from_passages(flight, track),                          //
                         "duration", flight->duration, "speed_mean", flight->speed_mean, //
                         "error_mean", flight->error_mean, "error_max", flight->error_max);
}

// The arguments of fly.
typedef struct Trip {
    PyObject *course;
    const char *task, *preset;
    Py_buffer plan, start; // double [32][4]; the vehicle begins as `start` does
    Py_buffer vehicle;
    double gusts, give_up, interval; // m/s, m, s
    unsigned long long seed;
} Trip;

// What a flight takes place in, with all that it points to.
typedef struct Scene {
    FacetQuadModel model;
    FacetControlPreset preset;
    FacetReference plan, start;
    double start_speed;
    FacetFlightSetup setup;
} Scene;

static FacetStatus reference_from(FacetReference *reference, double *first_speed,
                                  const Py_buffer *actions)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    facet_chunk_from_actions(chunk, actions->buf);
    *first_speed = chunk[0].speed;
    return facet_reference_from_chunk(reference, chunk);
}

// Gusts are those of `facet fly` with the same seed.
static FacetStatus scene_fill(Scene *scene, const Trip *trip, const FacetCourse *course,
                              const FacetQuadParams *params)
{
    FacetCourseTask task;
    double plan_speed;
    scene->model = facet_quad_model(params, 1.0 / FACET_QUAD_RATE);
    FacetStatus status = facet_course_find_task(&task, course, trip->task);
    if (status.ok) status = facet_control_preset(&scene->preset, trip->preset);
    if (status.ok) status = reference_from(&scene->plan, &plan_speed, &trip->plan);
    if (status.ok) status = reference_from(&scene->start, &scene->start_speed, &trip->start);
    if (!status.ok) return status;
    scene->setup = (FacetFlightSetup){
        .model = &scene->model,
        .preset = &scene->preset,
        .arena = &course->arena,
        .track = &course->tracks[task.track],
        .half_width = course->openings[task.opening].half_width,
        .give_up = trip->give_up,
        .gusts = {.speed = trip->gusts,
                  .time = 1.0,
                  .seed = trip->seed,
                  .stream = (UINT64_C(15) << 56) + // as race/streams.h has it
                            (uint64_t)(task.track * course->opening_count + task.opening)},
    };
    return status;
}

static PyObject *fly_scene(const Scene *scene, double interval)
{
    Record record;
    FacetFlightRun run;
    PyObject *outcome = NULL;
    facet_flight_begin(&run, &scene->setup, &scene->plan,
                       facet_flight_start(&scene->model, &scene->start, scene->start_speed));
    if (record_create(&record, interval) && fly_recorded(&run, &record)) {
        const FacetFlight flight = facet_flight_result(&run);
        outcome = from_flight(&flight, &record, scene->setup.track);
    }
    record_release(&record);
    return outcome;
}

static PyObject *fly(const Trip *trip)
{
    FacetQuadParams params;
    Scene scene;
    const FacetCourse *course = PyCapsule_GetPointer(trip->course, HANDLE_COURSE);
    if (!course || !vehicle_from_buffer(&params, &trip->vehicle) ||
        !buffer_has(&trip->plan, PLAN_BYTES, "plan") ||
        !buffer_has(&trip->start, PLAN_BYTES, "start"))
        return NULL;
    FacetStatus status = scene_fill(&scene, trip, course, &params);
    return status_raise(&status) ? fly_scene(&scene, trip->interval) : NULL;
}

// fly(course, task, plan, start, vehicle, preset, gusts, seed, give_up, interval) -> dict
PyObject *flight_fly(PyObject *module, PyObject *arguments)
{
    (void)module;
    Trip trip = {0};
    if (!PyArg_ParseTuple(arguments, "Osy*y*y*sdKdd", &trip.course, &trip.task, &trip.plan,
                          &trip.start, &trip.vehicle, &trip.preset, &trip.gusts, &trip.seed,
                          &trip.give_up, &trip.interval))
        return NULL;
    PyObject *outcome = fly(&trip);
    PyBuffer_Release(&trip.plan);
    PyBuffer_Release(&trip.start);
    PyBuffer_Release(&trip.vehicle);
    return outcome;
}
