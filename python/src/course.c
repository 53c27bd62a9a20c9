// Courses: what stands in them, the expert's plans and its speeds.
#include "module.h"

#include <math.h>

static void course_free(PyObject *capsule)
{
    facet_course_destroy(PyCapsule_GetPointer(capsule, HANDLE_COURSE));
}

// course_load(folder: bytes | None) -> handle
PyObject *course_load(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *folder;
    Py_ssize_t length;
    FacetCourse *course;
    if (!PyArg_ParseTuple(arguments, "z#", &folder, &length)) return NULL;
    FacetStatus status = facet_course_load(&course, folder);
    if (!status_raise(&status)) return NULL;
    PyObject *capsule = PyCapsule_New(course, HANDLE_COURSE, course_free);
    if (!capsule) facet_course_destroy(course);
    return capsule;
}

// ---- What a course is ---------------------------------------------------------------------------

static PyObject *from_vec3(FacetVec3 v) { return Py_BuildValue("(ddd)", v.x, v.y, v.z); }

// [(name, center, normal), ...]
static PyObject *from_gates(const FacetCourseGate *gates, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        const FacetCourseGate *gate = &gates[i];
        PyObject *item =
            Py_BuildValue("(sNN)", gate->name, from_vec3(gate->center), from_vec3(gate->normal));
        if (!item || PyList_SetItem(list, i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *from_points(const FacetVec3 *points, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *point = from_vec3(points[i]);
        if (!point || PyList_SetItem(list, i, point) != 0) Py_CLEAR(list);
    }
    return list;
}

// [(name, description, points, gates), ...]
static PyObject *from_tracks(const FacetCourse *course)
{
    PyObject *list = PyList_New(course->track_count);
    for (int i = 0; list && i < course->track_count; i++) {
        const FacetTrack *track = &course->tracks[i];
        PyObject *item = Py_BuildValue("(ssNN)", track->name, track->description,
                                       from_points(track->points, track->point_count),
                                       from_gates(track->gates, track->gate_count));
        if (!item || PyList_SetItem(list, i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

// {name: half-width}, in order
static PyObject *from_openings(const FacetCourse *course)
{
    PyObject *openings = PyDict_New();
    for (int i = 0; openings && i < course->opening_count; i++) {
        const FacetOpening *opening = &course->openings[i];
        if (!dict_take(openings, opening->name, PyFloat_FromDouble(opening->half_width)))
            Py_CLEAR(openings);
    }
    return openings;
}

// [(track, opening), ...]
static PyObject *from_held_out(const FacetCourse *course)
{
    PyObject *list = PyList_New(course->held_out_count);
    for (int i = 0; list && i < course->held_out_count; i++) {
        FacetCourseTask task = course->held_out[i];
        PyObject *item = Py_BuildValue("(ss)", course->tracks[task.track].name,
                                       course->openings[task.opening].name);
        if (!item || PyList_SetItem(list, i, item) != 0) Py_CLEAR(list);
    }
    return list;
}

// course_about(course) -> dict
PyObject *course_about(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    if (!PyArg_ParseTuple(arguments, "O", &capsule)) return NULL;
    const FacetCourse *course = PyCapsule_GetPointer(capsule, HANDLE_COURSE);
    if (!course) return NULL;
    PyObject *about = PyDict_New();
    if (about &&
        dict_take(
            about, "arena",
            Py_BuildValue("(NN)", from_vec3(course->arena.min), from_vec3(course->arena.max))) &&
        dict_take(about, "speed_range",
                  Py_BuildValue("(dd)", course->speed_min, course->speed_max)) &&
        dict_take(about, "tracks", from_tracks(course)) &&
        dict_take(about, "openings", from_openings(course)) &&
        dict_take(about, "held_out", from_held_out(course)))
        return about;
    Py_XDECREF(about);
    return NULL;
}

// ---- The expert ---------------------------------------------------------------------------------

static bool expert_plan(const Py_buffer *plan, const FacetCourse *course, const char *name,
                        double speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    int track;
    if (!course || !buffer_has(plan, PLAN_BYTES, "plan")) return false;
    FacetStatus status = facet_course_find_track(&track, course, name);
    if (status.ok)
        status = facet_expert_chunk(chunk, &course->tracks[track], course->tracks[track].points[0],
                                    speed);
    if (status.ok) facet_chunk_to_actions(plan->buf, chunk);
    return status_raise(&status);
}

// course_expert(plan, course, track, speed)
PyObject *course_expert(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer plan;
    PyObject *capsule;
    const char *track;
    double speed;
    if (!PyArg_ParseTuple(arguments, "w*Osd", &plan, &capsule, &track, &speed)) return NULL;
    bool done = expert_plan(&plan, PyCapsule_GetPointer(capsule, HANDLE_COURSE), track, speed);
    PyBuffer_Release(&plan);
    if (!done) return NULL;
    Py_RETURN_NONE;
}

// Without the interpreter's lock.
static FacetStatus search_speeds(FacetSpeedMap *map, const FacetCourse *course,
                                 const FacetQuadParams *params, const FacetControlPreset *preset,
                                 int threads, const FacetProgress *progress)
{
    FacetPool *pool;
    FacetStatus status = facet_pool_create(&pool, threads);
    if (!status.ok) return status;
    const FacetQuadModel model = facet_quad_model(params, 1.0 / FACET_QUAD_RATE);
    status = facet_speed_map_create(map, course, &model, preset, pool, progress);
    facet_pool_destroy(pool);
    return status;
}

// speeds [tracks][openings], NaN where no speed is feasible
static bool find_speeds(const Py_buffer *speeds, const FacetCourse *course,
                        const Py_buffer *vehicle, const char *preset_name, int threads)
{
    FacetQuadParams params;
    FacetControlPreset preset;
    FacetSpeedMap map;
    if (!course || !vehicle_from_buffer(&params, vehicle)) return false;
    size_t cells = (size_t)course->track_count * (size_t)course->opening_count;
    if (!buffer_has(speeds, cells * sizeof(double), "speeds")) return false;
    FacetStatus status = facet_control_preset(&preset, preset_name);
    if (!status_raise(&status)) return false;
    Watch watch;
    watch_begin(&watch);
    status = search_speeds(&map, course, &params, &preset, threads, &watch.progress);
    bool searched = status.ok;
    if (!watch_end(&watch, &status)) {
        if (searched) facet_speed_map_destroy(&map);
        return false;
    }
    double *out = speeds->buf;
    for (size_t i = 0; i < cells; i++)
        out[i] = map.cells[i].feasible ? map.cells[i].speed : (double)NAN;
    facet_speed_map_destroy(&map);
    return true;
}

// course_speeds(speeds, course, vehicle, preset, threads)
PyObject *course_speeds(PyObject *module, PyObject *arguments)
{
    (void)module;
    Py_buffer speeds, vehicle;
    PyObject *capsule;
    const char *preset;
    int threads;
    if (!PyArg_ParseTuple(arguments, "w*Oy*si", &speeds, &capsule, &vehicle, &preset, &threads))
        return NULL;
    bool done = find_speeds(&speeds, PyCapsule_GetPointer(capsule, HANDLE_COURSE), &vehicle, preset,
                            threads);
    PyBuffer_Release(&speeds);
    PyBuffer_Release(&vehicle);
    if (!done) return NULL;
    Py_RETURN_NONE;
}
