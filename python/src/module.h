// What the files of the extension share: handles, buffers, errors, and calls that Ctrl-C may stop.
//
// facet._runtime is the runtime as functions on handles and buffers; the Python files of the
// package make objects and arrays of it, and check what a person gives. A handle is a capsule that
// frees what it holds. Arrays are made by Python and written in place: nothing here knows numpy.
// Long calls release the interpreter's lock.
#ifndef FACET_PYTHON_MODULE_H
#define FACET_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <facet/facet.h>
#include <pthread.h>

// ---- Handles ------------------------------------------------------------------------------------

#define HANDLE_POLICY "facet.policy"
#define HANDLE_RUNNER "facet.runner"
#define HANDLE_AGENT  "facet.agent"
#define HANDLE_COURSE "facet.course"

// ---- Errors -------------------------------------------------------------------------------------

// Raises facet.Error with the line and the name of the code. Returns whether the status is ok.
bool status_raise(const FacetStatus *status);

// Whether a buffer has this many bytes; raises ValueError if not. The package makes its arrays to
// size, so this guards against mistakes in it.
bool buffer_has(const Py_buffer *buffer, size_t bytes, const char *what);

// ---- Calls that take a while --------------------------------------------------------------------

// A call without the interpreter's lock, which looks for signals now and then. Only the thread that
// called may: Python runs signal handlers in its main thread.
typedef struct Watch {
    FacetProgress progress; // to be handed to the call
    PyThreadState *state;
    pthread_t caller;
    double due;  // s, when to look for signals again
    bool raised; // a handler raised, such as KeyboardInterrupt
} Watch;

// Between these two the thread does not hold the lock. The watch stays where it is.
void watch_begin(Watch *watch);
// Returns whether the call may go on: no handler raised, and the status is ok.
bool watch_end(Watch *watch, const FacetStatus *status);

// ---- Functions of the module --------------------------------------------------------------------

typedef PyObject *ModuleFunction(PyObject *module, PyObject *arguments);

ModuleFunction policy_load, policy_about, policy_task;
ModuleFunction runner_create, runner_sample;
ModuleFunction agent_create, agent_observe, agent_observe_image, agent_act, agent_set_task,
    agent_reset, agent_about;
ModuleFunction course_load, course_about, course_expert, course_speeds;
ModuleFunction flight_vehicle, flight_fly;

// A plan that flies as Python hands it over: double [32][4], x, y, z (m) and speed (m/s).
enum { PLAN_BYTES = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS * sizeof(double) };

// A vehicle as Python hands it over: the 12 numbers of FacetQuadParams in their order.
bool vehicle_from_buffer(FacetQuadParams *params, const Py_buffer *buffer);

// The value, which is taken over, under a key. False when it is NULL or memory runs out.
bool dict_take(PyObject *dict, const char *key, PyObject *value);

#endif
