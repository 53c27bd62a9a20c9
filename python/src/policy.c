// Policies: what they are, and their tasks.
#include "module.h"

static void policy_free(PyObject *capsule)
{
    facet_policy_destroy(PyCapsule_GetPointer(capsule, HANDLE_POLICY));
}

// policy_load(path: bytes) -> handle
PyObject *policy_load(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *path;
    FacetPolicy *policy;
    FacetStatus status;
    if (!PyArg_ParseTuple(arguments, "y", &path)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = facet_policy_load(&policy, path);
    Py_END_ALLOW_THREADS;
    if (!status_raise(&status)) return NULL;
    PyObject *capsule = PyCapsule_New(policy, HANDLE_POLICY, policy_free);
    if (!capsule) facet_policy_destroy(policy);
    return capsule;
}

// ---- What a policy is ---------------------------------------------------------------------------

static PyObject *values_of(const FacetPolicy *policy, int factor, bool known_only)
{
    const FacetFactorSpace *space = facet_policy_space(policy);
    PyObject *values = PyList_New(0);
    for (int v = 0; values && v < facet_factor_value_count(space, factor); v++) {
        if (known_only && !facet_policy_knows(policy, factor, v)) continue;
        PyObject *name = PyUnicode_FromString(facet_factor_value_name(space, factor, v));
        if (!name || PyList_Append(values, name) != 0) Py_CLEAR(values);
        Py_XDECREF(name);
    }
    return values;
}

// {factor: [value, ...]}, in order
static PyObject *factors_of(const FacetPolicy *policy, bool known_only)
{
    const FacetFactorSpace *space = facet_policy_space(policy);
    PyObject *factors = PyDict_New();
    for (int f = 0; factors && f < facet_factor_count(space); f++)
        if (!dict_take(factors, facet_factor_name(space, f), values_of(policy, f, known_only)))
            Py_CLEAR(factors);
    return factors;
}

static PyObject *names_of(const FacetFactorSpace *space, FacetFactorTask task)
{
    int count = facet_factor_count(space);
    PyObject *names = PyTuple_New(count);
    for (int f = 0; names && f < count; f++) {
        PyObject *name = PyUnicode_FromString(facet_factor_value_name(space, f, task.value[f]));
        if (!name || PyTuple_SetItem(names, f, name) != 0) Py_CLEAR(names);
    }
    return names;
}

// [(value, ...), ...]
static PyObject *tasks_of(const FacetFactorSpace *space, const FacetFactorSplit *split)
{
    int count = facet_factor_split_count(split);
    PyObject *tasks = PyList_New(count);
    for (int i = 0; tasks && i < count; i++) {
        PyObject *task = names_of(space, facet_factor_split_task(split, i));
        if (!task || PyList_SetItem(tasks, i, task) != 0) Py_CLEAR(tasks);
    }
    return tasks;
}

static PyObject *describe(const FacetPolicy *policy)
{
    const FacetPolicyInfo info = facet_policy_info(policy);
    return Py_BuildValue("{s:s, s:i, s:i, s:i, s:i, s:d, s:i, s:n, s:i, s:i}", //
                         "method", facet_policy_method_name(info.method),      //
                         "horizon", info.horizon, "dim", info.dim,             //
                         "noise_steps", info.noise_steps,                      //
                         "default_steps", info.default_steps,                  //
                         "default_temperature", info.default_temperature,      //
                         "networks", info.networks,                            //
                         "parameters", (Py_ssize_t)info.parameters,            //
                         "observe_steps", info.observe_steps, "execute", info.execute);
}

// {key: shape}, in order
static PyObject *observations_of(const FacetPolicy *policy)
{
    PyObject *keys = PyDict_New();
    for (int i = 0; keys && i < facet_policy_info(policy).observe_keys; i++) {
        FacetPolicyKey key = facet_policy_key(policy, i);
        PyObject *shape = key.dim ? Py_BuildValue("(i)", key.dim)
                                  : Py_BuildValue("(iii)", key.height, key.width, 3);
        if (!dict_take(keys, key.name, shape)) Py_CLEAR(keys);
    }
    return keys;
}

// policy_about(policy) -> dict
PyObject *policy_about(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    if (!PyArg_ParseTuple(arguments, "O", &capsule)) return NULL;
    const FacetPolicy *policy = PyCapsule_GetPointer(capsule, HANDLE_POLICY);
    if (!policy) return NULL;
    const FacetFactorSpace *space = facet_policy_space(policy);
    PyObject *about = describe(policy);
    if (about && dict_take(about, "factors", factors_of(policy, false)) &&
        dict_take(about, "known", factors_of(policy, true)) &&
        dict_take(about, "observations", observations_of(policy)) &&
        dict_take(about, "training", tasks_of(space, facet_policy_training(policy))) &&
        dict_take(about, "held_out", tasks_of(space, facet_policy_held_out(policy))))
        return about;
    Py_XDECREF(about);
    return NULL;
}

// policy_task(policy, text) -> bytes of a FacetFactorTask
PyObject *policy_task(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    const char *text;
    if (!PyArg_ParseTuple(arguments, "Os", &capsule, &text)) return NULL;
    const FacetPolicy *policy = PyCapsule_GetPointer(capsule, HANDLE_POLICY);
    if (!policy) return NULL;
    FacetFactorTask task;
    FacetStatus status =
        facet_factor_task_parse(&task, facet_policy_space(policy), text, FACET_FACTOR_MISSING_NULL);
    if (!status_raise(&status)) return NULL;
    return PyBytes_FromStringAndSize((const char *)&task, sizeof task);
}
