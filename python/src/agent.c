// Agents: a policy in a loop, with a pool of its own.
#include "module.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct Agent {
    FacetAgent *agent;
    FacetPool *pool;
    PyObject *policy; // its capsule, which outlives the agent
    pid_t process;    // that made it
    bool busy;        // acting, without the interpreter's lock
} Agent;

// A forked process does not have the threads of the pool.
static void agent_free(Agent *a)
{
    if (a->process == getpid()) {
        facet_agent_destroy(a->agent);
        facet_pool_destroy(a->pool);
    }
    Py_XDECREF(a->policy);
    free(a);
}

static void capsule_free(PyObject *capsule)
{
    agent_free(PyCapsule_GetPointer(capsule, HANDLE_AGENT));
}

// The arguments of agent_create.
typedef struct Wanted {
    PyObject *policy;
    Py_buffer task;    // FacetFactorTask
    Py_buffer weights; // double [factors], or absent
    const char *mode, *sampler;
    int steps, execute, threads;
    double temperature;
    unsigned long long seed, episode;
} Wanted;

static FacetStatus agent_fill(Agent *a, const FacetPolicy *policy, const Wanted *w)
{
    FacetAgentOptions options = {.execute = w->execute, .episode = w->episode};
    FacetPolicySampling *how = &options.sampling;
    FacetFactorTask task = *(const FacetFactorTask *)w->task.buf;
    how->steps = w->steps;
    how->temperature = w->temperature;
    how->seed = w->seed;
    how->weights = w->weights.buf;
    FacetStatus status = facet_policy_mode_parse(&how->mode, w->mode);
    if (status.ok) status = facet_policy_sampler_parse(&how->sampler, w->sampler);
    if (status.ok) status = facet_pool_create(&a->pool, w->threads);
    return status.ok ? facet_agent_create(&a->agent, policy, task, &options, a->pool) : status;
}

static PyObject *create(const Wanted *w)
{
    const FacetPolicy *policy = PyCapsule_GetPointer(w->policy, HANDLE_POLICY);
    if (!policy) return NULL;
    size_t weights = (size_t)facet_factor_count(facet_policy_space(policy)) * sizeof(double);
    if (!buffer_has(&w->task, sizeof(FacetFactorTask), "task") ||
        (w->weights.buf && !buffer_has(&w->weights, weights, "weights")))
        return NULL;
    Agent *a = calloc(1, sizeof *a);
    if (!a) return PyErr_NoMemory();
    a->process = getpid();
    a->policy = w->policy;
    Py_INCREF(a->policy);
    FacetStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = agent_fill(a, policy, w);
    Py_END_ALLOW_THREADS;
    PyObject *made = status_raise(&status) ? PyCapsule_New(a, HANDLE_AGENT, capsule_free) : NULL;
    if (!made) agent_free(a);
    return made;
}

// agent_create(policy, task, weights, mode, sampler, steps, temperature, execute, seed, episode,
// threads) -> handle
PyObject *agent_create(PyObject *module, PyObject *arguments)
{
    (void)module;
    Wanted w = {0};
    if (!PyArg_ParseTuple(arguments, "Oy*z*ssidiKKi", &w.policy, &w.task, &w.weights, &w.mode,
                          &w.sampler, &w.steps, &w.temperature, &w.execute, &w.seed, &w.episode,
                          &w.threads))
        return NULL;
    PyObject *made = create(&w);
    PyBuffer_Release(&w.task);
    PyBuffer_Release(&w.weights);
    return made;
}

// An agent that this process made and no other thread is using. One that was forked with its parent
// has no threads here.
static Agent *agent_of(PyObject *capsule)
{
    Agent *a = PyCapsule_GetPointer(capsule, HANDLE_AGENT);
    if (a && a->process != getpid()) {
        PyErr_SetString(PyExc_RuntimeError, "the agent belongs to another process: make one here");
        return NULL;
    }
    if (a && a->busy) {
        PyErr_SetString(PyExc_RuntimeError, "the agent is acting in another thread: make one a "
                                            "thread");
        return NULL;
    }
    return a;
}

// agent_observe(agent, key, numbers)
PyObject *agent_observe(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    const char *key;
    Py_buffer numbers;
    if (!PyArg_ParseTuple(arguments, "Osy*", &capsule, &key, &numbers)) return NULL;
    Agent *a = agent_of(capsule);
    bool done = false;
    if (a) {
        int count = (int)(numbers.len / (Py_ssize_t)sizeof(double));
        FacetStatus status = facet_agent_observe(a->agent, key, numbers.buf, count);
        done = status_raise(&status);
    }
    PyBuffer_Release(&numbers);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

// agent_observe_image(agent, key, rgb, width, height)
PyObject *agent_observe_image(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    const char *key;
    Py_buffer rgb;
    int width, height;
    if (!PyArg_ParseTuple(arguments, "Osy*ii", &capsule, &key, &rgb, &width, &height)) return NULL;
    Agent *a = agent_of(capsule);
    bool done = a && buffer_has(&rgb, 3 * (size_t)width * (size_t)height, "image");
    if (done) {
        FacetStatus status = facet_agent_observe_image(a->agent, key, rgb.buf, width, height);
        done = status_raise(&status);
    }
    PyBuffer_Release(&rgb);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

// agent_act(action, agent)
PyObject *agent_act(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    Py_buffer action;
    if (!PyArg_ParseTuple(arguments, "w*O", &action, &capsule)) return NULL;
    Agent *a = agent_of(capsule);
    bool done = false;
    if (a) {
        const FacetPolicy *policy = PyCapsule_GetPointer(a->policy, HANDLE_POLICY);
        size_t bytes = (size_t)facet_policy_info(policy).dim * sizeof(double);
        done = buffer_has(&action, bytes, "action");
    }
    if (done) {
        FacetStatus status;
        a->busy = true;
        Py_BEGIN_ALLOW_THREADS;
        status = facet_agent_act(action.buf, a->agent);
        Py_END_ALLOW_THREADS;
        a->busy = false;
        done = status_raise(&status);
    }
    PyBuffer_Release(&action);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

// agent_set_task(agent, task)
PyObject *agent_set_task(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    Py_buffer task;
    if (!PyArg_ParseTuple(arguments, "Oy*", &capsule, &task)) return NULL;
    Agent *a = agent_of(capsule);
    bool done = a && buffer_has(&task, sizeof(FacetFactorTask), "task");
    if (done) {
        FacetStatus status = facet_agent_set_task(a->agent, *(const FacetFactorTask *)task.buf);
        done = status_raise(&status);
    }
    PyBuffer_Release(&task);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

// agent_reset(agent, episode)
PyObject *agent_reset(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    unsigned long long episode;
    if (!PyArg_ParseTuple(arguments, "OK", &capsule, &episode)) return NULL;
    Agent *a = agent_of(capsule);
    if (!a) return NULL;
    FacetStatus status = facet_agent_reset(a->agent, episode);
    if (!status_raise(&status)) return NULL;
    Py_RETURN_NONE;
}

// agent_about(agent) -> {"acts", "plans", "last", "plan_mean", "plan_max", "other_max"}
PyObject *agent_about(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    if (!PyArg_ParseTuple(arguments, "O", &capsule)) return NULL;
    Agent *a = agent_of(capsule);
    if (!a) return NULL;
    FacetAgentTimes t = facet_agent_times(a->agent);
    return Py_BuildValue("{slslsdsdsdsd}", "acts", t.acts, "plans", t.plans, "last", t.last,
                         "plan_mean", t.plan_mean, "plan_max", t.plan_max, "other_max",
                         t.other_max);
}
