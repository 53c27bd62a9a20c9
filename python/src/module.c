// The module facet._runtime (see module.h).
#include "module.h"

#include <time.h>

static PyObject *error_class; // facet.Error

// ---- Errors -------------------------------------------------------------------------------------

bool status_raise(const FacetStatus *status)
{
    if (status->ok) return true;
    PyObject *error =
        PyObject_CallFunction(error_class, "ss", status->text, facet_code_name(status->code));
    if (error) PyErr_SetObject(error_class, error);
    Py_XDECREF(error);
    return false;
}

bool buffer_has(const Py_buffer *buffer, size_t bytes, const char *what)
{
    if ((size_t)buffer->len == bytes) return true;
    PyErr_Format(PyExc_ValueError, "%s: expected %zu bytes, found %zd", what, bytes, buffer->len);
    return false;
}

bool dict_take(PyObject *dict, const char *key, PyObject *value)
{
    bool set = value && PyDict_SetItemString(dict, key, value) == 0;
    Py_XDECREF(value);
    return set;
}

// ---- Calls that take a while --------------------------------------------------------------------

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const double LOOK_INTERVAL = 0.05; // s between looks for signals

static bool look_for_signals(void *context, const FacetProgressEvent *event)
{
    (void)event;
    Watch *watch = context;
    if (!pthread_equal(pthread_self(), watch->caller) || now() < watch->due) return true;
    PyEval_RestoreThread(watch->state);
    watch->raised = PyErr_CheckSignals() != 0;
    watch->state = PyEval_SaveThread();
    watch->due = now() + LOOK_INTERVAL;
    return !watch->raised;
}

void watch_begin(Watch *watch)
{
    *watch = (Watch){.progress = {.report = look_for_signals, .context = watch},
                     .caller = pthread_self(),
                     .due = now() + LOOK_INTERVAL};
    watch->state = PyEval_SaveThread();
}

bool watch_end(Watch *watch, const FacetStatus *status)
{
    PyEval_RestoreThread(watch->state);
    return !watch->raised && status_raise(status);
}

// ---- The module ---------------------------------------------------------------------------------

static PyObject *version(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    return PyUnicode_FromString(facet_version());
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "The version of the runtime."},
    {"policy_load", policy_load, METH_VARARGS, "A policy's handle from its file."},
    {"policy_about", policy_about, METH_VARARGS, "What a policy is."},
    {"policy_task", policy_task, METH_VARARGS, "A task's text as bytes for runner_sample."},
    {"runner_create", runner_create, METH_VARARGS, "Threads and memory that sample a policy."},
    {"runner_sample", runner_sample, METH_VARARGS, "Samples plans into an array."},
    {"agent_create", agent_create, METH_VARARGS, "A policy in a loop."},
    {"agent_observe", agent_observe, METH_VARARGS, "Numbers that are observed now."},
    {"agent_observe_image", agent_observe_image, METH_VARARGS, "An image that is seen now."},
    {"agent_act", agent_act, METH_VARARGS, "The next action, into an array."},
    {"agent_set_task", agent_set_task, METH_VARARGS, "Another task."},
    {"agent_reset", agent_reset, METH_VARARGS, "Begins an episode."},
    {"agent_about", agent_about, METH_VARARGS, "How long acts took."},
    {"course_load", course_load, METH_VARARGS, "A course's handle from its folder."},
    {"course_about", course_about, METH_VARARGS, "What a course is."},
    {"course_expert", course_expert, METH_VARARGS, "The expert's plan, into an array."},
    {"course_speeds", course_speeds, METH_VARARGS, "The expert's speeds, into an array."},
    {"vehicle", flight_vehicle, METH_VARARGS, "A vehicle's numbers, into an array."},
    {"fly", flight_fly, METH_VARARGS, "Flies a plan."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "facet._runtime",
    .m_doc = "Facet's runtime on handles and buffers. Use the package, not this.",
    .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__runtime(void);

PyMODINIT_FUNC PyInit__runtime(void)
{
    PyObject *errors = PyImport_ImportModule("facet._error");
    if (!errors) return NULL;
    error_class = PyObject_GetAttrString(errors, "Error");
    Py_DECREF(errors);
    return error_class ? PyModule_Create(&definition) : NULL;
}
