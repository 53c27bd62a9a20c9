// Sampling: a runner with a pool of its own, which serves one call at a time.
#include "module.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct Runner {
    FacetPolicyRunner *runner;
    FacetPool *pool;
    PyObject *policy; // its capsule, which outlives the runner
    pid_t process;    // that made it
} Runner;

// A forked process does not have the threads of the pool, so ending them there would wait for ever.
static void runner_free(Runner *r)
{
    if (r->process == getpid()) {
        facet_policy_runner_destroy(r->runner);
        facet_pool_destroy(r->pool);
    }
    Py_XDECREF(r->policy);
    free(r);
}

static void capsule_free(PyObject *capsule)
{
    runner_free(PyCapsule_GetPointer(capsule, HANDLE_RUNNER));
}

static FacetStatus runner_fill(Runner *r, const FacetPolicy *policy, int plans, int threads)
{
    FacetStatus status = facet_pool_create(&r->pool, threads);
    if (!status.ok) return status;
    return facet_policy_runner_create(&r->runner, policy, plans, facet_pool_threads(r->pool),
                                      r->pool);
}

// runner_create(policy, plans, threads) -> handle
PyObject *runner_create(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    int plans, threads;
    if (!PyArg_ParseTuple(arguments, "Oii", &capsule, &plans, &threads)) return NULL;
    const FacetPolicy *policy = PyCapsule_GetPointer(capsule, HANDLE_POLICY);
    if (!policy) return NULL;
    Runner *r = calloc(1, sizeof *r);
    if (!r) return PyErr_NoMemory();
    r->process = getpid();
    r->policy = capsule;
    Py_INCREF(capsule);
    FacetStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = runner_fill(r, policy, plans, threads);
    Py_END_ALLOW_THREADS;
    PyObject *made = status_raise(&status) ? PyCapsule_New(r, HANDLE_RUNNER, capsule_free) : NULL;
    if (!made) runner_free(r);
    return made;
}

// ---- Sampling -----------------------------------------------------------------------------------

// The arguments of runner_sample. What is absent has no bytes.
typedef struct Wanted {
    PyObject *runner;
    Py_buffer actions; // double [plans][T][D]
    Py_buffer tasks;   // FacetFactorTask [plans]
    Py_buffer numbers; // double [plans][observe_steps][observe_dim], or absent
    Py_buffer images;  // uint8 [plans][observe_steps][observe_images][height][width][3], or absent
    Py_buffer seeds;   // uint64 [plans]
    Py_buffer weights; // double [factors], or absent
    const char *mode, *sampler;
    int steps;
    double temperature;
} Wanted;

static bool wanted_parse(Wanted *w, PyObject *arguments)
{
    *w = (Wanted){0};
    return PyArg_ParseTuple(arguments, "w*Oy*z*z*y*z*ssid", &w->actions, &w->runner, &w->tasks,
                            &w->numbers, &w->images, &w->seeds, &w->weights, &w->mode, &w->sampler,
                            &w->steps, &w->temperature);
}

static void wanted_release(Wanted *w)
{
    PyBuffer_Release(&w->actions);
    PyBuffer_Release(&w->tasks);
    PyBuffer_Release(&w->numbers);
    PyBuffer_Release(&w->images);
    PyBuffer_Release(&w->seeds);
    PyBuffer_Release(&w->weights);
}

static bool sizes_fit(const Wanted *w, const FacetPolicy *policy, int plans)
{
    const FacetPolicyInfo info = facet_policy_info(policy);
    size_t count = (size_t)plans;
    size_t actions = count * (size_t)info.horizon * (size_t)info.dim * sizeof(double);
    size_t observed = count * (size_t)info.observe_steps;
    size_t numbers = observed * (size_t)info.observe_dim * sizeof(double);
    size_t images = observed * (size_t)info.observe_images * (size_t)info.frame_height *
                    (size_t)info.frame_width * 3;
    size_t weights = (size_t)facet_factor_count(facet_policy_space(policy)) * sizeof(double);
    return buffer_has(&w->tasks, count * sizeof(FacetFactorTask), "tasks") &&
           buffer_has(&w->actions, actions, "actions") &&
           buffer_has(&w->seeds, count * sizeof(uint64_t), "seeds") &&
           (!w->numbers.buf || buffer_has(&w->numbers, numbers, "numbers")) &&
           (!w->images.buf || buffer_has(&w->images, images, "images")) &&
           (!w->weights.buf || buffer_has(&w->weights, weights, "weights"));
}

static FacetStatus how_to_sample(FacetPolicySampling *how, const Wanted *w)
{
    *how = (FacetPolicySampling){.steps = w->steps,
                                 .temperature = w->temperature,
                                 .seeds = w->seeds.buf,
                                 .weights = w->weights.buf};
    FacetStatus status = facet_policy_mode_parse(&how->mode, w->mode);
    return status.ok ? facet_policy_sampler_parse(&how->sampler, w->sampler) : status;
}

static bool sample(const Wanted *w)
{
    Runner *r = PyCapsule_GetPointer(w->runner, HANDLE_RUNNER);
    if (!r) return false;
    int plans = (int)(w->tasks.len / (Py_ssize_t)sizeof(FacetFactorTask));
    if (!sizes_fit(w, PyCapsule_GetPointer(r->policy, HANDLE_POLICY), plans)) return false;
    FacetPolicySampling how;
    FacetStatus status = how_to_sample(&how, w);
    if (!status_raise(&status)) return false;
    Watch watch;
    how.progress = &watch.progress;
    watch_begin(&watch);
    const FacetPolicyObserved observed = {.numbers = w->numbers.buf, .frames = w->images.buf};
    status = facet_policy_runner_sample(w->actions.buf, r->runner, w->tasks.buf, &observed, plans,
                                        &how, r->pool);
    return watch_end(&watch, &status);
}

// runner_sample(actions, runner, tasks, numbers, images, seeds, weights, mode, sampler, steps,
//               temperature)
PyObject *runner_sample(PyObject *module, PyObject *arguments)
{
    (void)module;
    Wanted wanted;
    if (!wanted_parse(&wanted, arguments)) return NULL;
    bool done = sample(&wanted);
    wanted_release(&wanted);
    if (!done) return NULL;
    Py_RETURN_NONE;
}
