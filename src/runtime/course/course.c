// Courses from a folder of JSON files (see facet/course.h and docs/courses.md).
#include "course/course.h"

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDER_MAX = 700 }; // bytes of a folder's name, which leaves room for a file's

static const double CLEAR_OF_BOUNDS = 0.25; // m between a gate's centre and the arena's bounds

static bool inside(const FacetArena *arena, FacetVec3 p, double clear)
{
    return p.x >= arena->min.x + clear && p.x <= arena->max.x - clear &&
           p.y >= arena->min.y + clear && p.y <= arena->max.y - clear &&
           p.z >= arena->min.z + clear && p.z <= arena->max.z - clear;
}

// The index of a name among `count` records of `size` bytes that begin with their name.
static int find_name(const char *name, const void *records, int count, size_t size)
{
    for (int i = 0; i < count; i++)
        if (strcmp(name, (const char *)records + (size_t)i * size) == 0) return i;
    return -1;
}

static FacetStatus unknown_name(const char *kind, const char *name, const void *records, int count,
                                size_t size)
{
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!names) return status_fail(FACET_NOT_FOUND, "no %s '%.40s'", kind, name);
    for (int i = 0; i < count; i++) names[i] = (const char *)records + (size_t)i * size;
    char text[480];
    text_unknown(text, sizeof text, kind, name, names, count);
    free(names);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

// ---- Parts of course.json ---------------------------------------------------------------------

static FacetStatus parse_inside(FacetVec3 *out, const JsonRef *object, const char *key,
                                const FacetArena *arena)
{
    JsonRef at;
    TRY(json_member(&at, object, key));
    TRY(json_vec3(out, &at));
    return inside(arena, *out, CLEAR_OF_BOUNDS)
               ? status_ok()
               : json_wrong(&at, "a point inside the arena, 0.25 m clear of its bounds");
}

static FacetStatus parse_arena(FacetArena *arena, const JsonRef *root)
{
    static const char *const keys[] = {"min", "max"};
    JsonRef at, max;
    TRY(json_member(&at, root, "arena"));
    TRY(json_only(&at, keys, 2));
    TRY(json_member_vec3(&arena->min, &at, "min"));
    TRY(json_member(&max, &at, "max"));
    TRY(json_vec3(&arena->max, &max));
    if (arena->max.x - arena->min.x > 1.0 && arena->max.y - arena->min.y > 1.0 &&
        arena->max.z - arena->min.z > 1.0)
        return status_ok();
    return json_wrong(&max, "more than 1 m above 'min' along every axis");
}

static FacetStatus parse_speeds(FacetCourse *course, const JsonRef *root)
{
    static const char *const keys[] = {"min", "max"};
    JsonRef at, max;
    TRY(json_member(&at, root, "speeds"));
    TRY(json_only(&at, keys, 2));
    TRY(json_member_number(&course->speed_min, &at, "min", 0.1, 100.0));
    TRY(json_member(&max, &at, "max"));
    TRY(json_number(&course->speed_max, &max, 0.1, 100.0));
    return course->speed_max > course->speed_min ? status_ok()
                                                 : json_wrong(&max, "a number above 'min'");
}

// The array under `key`.
static FacetStatus parse_array(JsonRef *at, int *count, const JsonRef *root, const char *key)
{
    TRY(json_member(at, root, key));
    if (!json_is_array(at)) return json_wrong(at, "an array");
    return json_length(count, at);
}

// The array under `key`, with at least one element, and zeroed room for its records.
static FacetStatus parse_list(JsonRef *at, int *count, void **records, size_t size,
                              const JsonRef *root, const char *key)
{
    TRY(parse_array(at, count, root, key));
    if (*count < 1) return json_wrong(at, "at least one element");
    *records = calloc((size_t)*count, size);
    return *records ? status_ok()
                    : status_fail(FACET_NO_MEMORY, "%s: %s: out of memory", at->file, at->path);
}

// The name of record `index`, which must differ from those before it.
static FacetStatus parse_name(char *out, const JsonRef *object, const void *records, int index,
                              size_t size)
{
    JsonRef at;
    TRY(json_member(&at, object, "name"));
    TRY(json_string(out, FACET_COURSE_NAME_MAX, &at));
    for (const char *letter = out; *letter; letter++) // what a factor's value may not hold, too
        if (strchr("/,=*", *letter) || (unsigned char)*letter <= ' ' || *letter == 127)
            return json_wrong(&at, "a name without '/', ',', '=', '*' or spaces");
    if (out[0] == '-') return json_wrong(&at, "a name without a leading '-'");
    return find_name(out, records, index, size) < 0
               ? status_ok()
               : json_wrong(&at, "a name that no other element has");
}

static FacetStatus parse_openings(FacetCourse *course, const JsonRef *root)
{
    static const char *const keys[] = {"name", "half_width"};
    JsonRef list, at;
    void *records = NULL;
    FacetStatus status =
        parse_list(&list, &course->opening_count, &records, sizeof(FacetOpening), root, "openings");
    course->openings = records;
    TRY(status);
    for (int i = 0; i < course->opening_count; i++) {
        FacetOpening *opening = &course->openings[i];
        TRY(json_element(&at, &list, i));
        TRY(json_only(&at, keys, 2));
        TRY(parse_name(opening->name, &at, course->openings, i, sizeof *opening));
        TRY(json_member_number(&opening->half_width, &at, "half_width", 0.01, 100.0));
    }
    return status_ok();
}

static FacetStatus parse_gates(FacetCourse *course, const JsonRef *root)
{
    static const char *const keys[] = {"name", "center", "normal"};
    JsonRef list, at, normal;
    void *records = NULL;
    FacetStatus status =
        parse_list(&list, &course->gate_count, &records, sizeof(FacetCourseGate), root, "gates");
    course->gates = records;
    TRY(status);
    for (int i = 0; i < course->gate_count; i++) {
        FacetCourseGate *gate = &course->gates[i];
        TRY(json_element(&at, &list, i));
        TRY(json_only(&at, keys, 3));
        TRY(parse_name(gate->name, &at, course->gates, i, sizeof *gate));
        TRY(parse_inside(&gate->center, &at, "center", &course->arena));
        TRY(json_member(&normal, &at, "normal"));
        TRY(json_vec3(&gate->normal, &normal));
        // The square of a larger one could overflow.
        double length = vec3_norm(gate->normal);
        if (!(length >= 1e-6 && length <= 1e6))
            return json_wrong(&normal, "a direction with a length from 1e-6 to 1e6");
        gate->normal = vec3_unit(gate->normal, gate->normal);
        for (int j = 0; j < i; j++)
            if (vec3_distance(gate->center, course->gates[j].center) < 0.1)
                return status_fail(FACET_BAD_FILE,
                                   "%s: %s: expected gates at least 0.1 m apart, found it at the "
                                   "place of '%s'",
                                   at.file, at.path, course->gates[j].name);
    }
    return status_ok();
}

static FacetStatus parse_held_out(FacetCourse *course, const JsonRef *root)
{
    if (!json_has(root, "held_out")) return status_ok();
    JsonRef list, at;
    int count;
    TRY(parse_array(&list, &count, root, "held_out"));
    course->held_out = calloc((size_t)count + 1, sizeof *course->held_out);
    if (!course->held_out)
        return status_fail(FACET_NO_MEMORY, "%s: held_out: out of memory", root->file);
    for (int i = 0; i < count; i++) {
        char name[2 * FACET_COURSE_NAME_MAX];
        TRY(json_element(&at, &list, i));
        TRY(json_string(name, sizeof name, &at));
        FacetStatus status = facet_course_find_task(&course->held_out[i], course, name);
        if (!status.ok)
            return status_fail(FACET_BAD_FILE, "%s: %s: %s", at.file, at.path, status.text);
        course->held_out_count++;
    }
    return status_ok();
}

// ---- Tracks -----------------------------------------------------------------------------------

static FacetStatus parse_track_gate(FacetCourseGate *gate, const JsonRef *at,
                                    const FacetCourse *course)
{
    char name[FACET_COURSE_NAME_MAX + 1];
    TRY(json_string(name, sizeof name, at));
    bool reverse = name[0] == '-';
    int index =
        find_name(name + reverse, course->gates, course->gate_count, sizeof(FacetCourseGate));
    if (index < 0) {
        FacetStatus status = unknown_name("gate", name + reverse, course->gates, course->gate_count,
                                          sizeof(FacetCourseGate));
        return status_fail(FACET_BAD_FILE, "%s: %s: %s", at->file, at->path, status.text);
    }
    *gate = course->gates[index];
    if (reverse) gate->normal = vec3_scale(gate->normal, -1.0);
    return status_ok();
}

// One entry of a path: the name of a gate, or a point to turn about.
static FacetStatus parse_path_entry(FacetTrack *track, const JsonRef *at, const FacetCourse *course,
                                    bool end)
{
    FacetVec3 *point = &track->points[track->point_count];
    if (end || json_is_array(at)) {
        TRY(json_vec3(point, at));
        if (!inside(&course->arena, *point, CLEAR_OF_BOUNDS))
            return json_wrong(at, "a point inside the arena, 0.25 m clear of its bounds");
    } else {
        if (track->gate_count == FACET_TRACK_GATES_MAX) return json_wrong(at, "at most 32 gates");
        FacetCourseGate *gate = &track->gates[track->gate_count++];
        TRY(parse_track_gate(gate, at, course));
        *point = gate->center;
    }
    if (track->point_count > 0 && vec3_distance(point[-1], *point) < 0.1)
        return json_wrong(at, "a place at least 0.1 m from the one before it");
    track->point_count++;
    return status_ok();
}

static FacetStatus parse_track(FacetTrack *track, const JsonRef *root, const FacetCourse *course)
{
    static const char *const keys[] = {"name", "description", "path"};
    JsonRef path, at;
    int count;
    *track = (FacetTrack){0};
    TRY(json_only(root, keys, 3));
    TRY(parse_name(track->name, root, course->tracks, course->track_count, sizeof *track));
    TRY(json_member_string(track->description, sizeof track->description, root, "description"));
    TRY(parse_array(&path, &count, root, "path"));
    if (count < 4 || count > FACET_TRACK_POINTS_MAX)
        return json_wrong(&path, "4 to 64 entries: a start, at least two gates, a finish");
    for (int i = 0; i < count; i++) {
        TRY(json_element(&at, &path, i));
        TRY(parse_path_entry(track, &at, course, i == 0 || i == count - 1));
    }
    return track->gate_count >= 2 ? status_ok() : json_wrong(&path, "a path with at least 2 gates");
}

FacetStatus track_load(FacetTrack *track, const char *file, const FacetCourse *course)
{
    Json *document;
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    FacetStatus status = parse_track(track, &root, course);
    json_free(document);
    return status;
}

// ---- The folder -------------------------------------------------------------------------------

static int is_track_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 5, ".json") == 0 &&
           strcmp(entry->d_name, "course.json") != 0;
}

static int by_natural_name(const struct dirent **a, const struct dirent **b)
{
    return text_natural_compare((*a)->d_name, (*b)->d_name);
}

static FacetStatus load_tracks(FacetCourse *course, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_track_file, by_natural_name);
    if (count < 0)
        return status_fail(status_errno(errno), "%s: cannot read the folder: %s", folder,
                           strerror(errno));
    FacetStatus status =
        count ? status_ok()
              : status_fail(FACET_BAD_FILE, "%s: expected tracks, found none", folder);
    course->tracks = calloc((size_t)count + 1, sizeof *course->tracks);
    if (!course->tracks)
        status = status_fail(FACET_NO_MEMORY, "%s: out of memory for %d tracks", folder, count);
    for (int i = 0; i < count; i++) {
        char file[FILE_PATH_MAX];
        snprintf(file, sizeof file, "%.*s/%s", FOLDER_MAX, folder, entries[i]->d_name);
        if (status.ok) status = track_load(&course->tracks[i], file, course);
        if (status.ok) course->track_count++;
        free(entries[i]);
    }
    free(entries);
    return status;
}

static FacetStatus parse_course(FacetCourse *course, const JsonRef *root, const char *folder)
{
    static const char *const keys[] = {"arena", "speeds", "openings", "gates", "held_out"};
    TRY(json_only(root, keys, 5));
    TRY(parse_arena(&course->arena, root));
    TRY(parse_speeds(course, root));
    TRY(parse_openings(course, root));
    TRY(parse_gates(course, root));
    TRY(load_tracks(course, folder));
    return parse_held_out(course, root);
}

FacetStatus facet_course_load(FacetCourse **out, const char *folder)
{
    *out = NULL;
    char shipped[FILE_PATH_MAX], file[FILE_PATH_MAX];
    if (!folder) {
        TRY(file_shipped(shipped, "courses"));
        folder = shipped;
    }
    if (strlen(folder) > FOLDER_MAX)
        return status_fail(FACET_BAD_FILE, "%.200s…: name too long", folder);
    snprintf(file, sizeof file, "%.*s/course.json", FOLDER_MAX, folder);
    Json *document;
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    FacetCourse *course = calloc(1, sizeof *course);
    FacetStatus status = course ? parse_course(course, &root, folder)
                                : status_fail(FACET_NO_MEMORY, "%s: out of memory", file);
    json_free(document);
    if (!status.ok) {
        facet_course_destroy(course);
        return status;
    }
    *out = course;
    return status;
}

void facet_course_destroy(FacetCourse *course)
{
    if (!course) return;
    free(course->gates);
    free(course->openings);
    free(course->tracks);
    free(course->held_out);
    free(course);
}

// ---- Names ------------------------------------------------------------------------------------

FacetStatus facet_course_find_track(int *track, const FacetCourse *course, const char *name)
{
    *track = find_name(name, course->tracks, course->track_count, sizeof(FacetTrack));
    return *track >= 0 ? status_ok()
                       : unknown_name("track", name, course->tracks, course->track_count,
                                      sizeof(FacetTrack));
}

FacetStatus facet_course_find_opening(int *opening, const FacetCourse *course, const char *name)
{
    *opening = find_name(name, course->openings, course->opening_count, sizeof(FacetOpening));
    return *opening >= 0 ? status_ok()
                         : unknown_name("opening", name, course->openings, course->opening_count,
                                        sizeof(FacetOpening));
}

FacetStatus facet_course_find_task(FacetCourseTask *task, const FacetCourse *course,
                                   const char *name)
{
    char track[2 * FACET_COURSE_NAME_MAX];
    const char *slash = strchr(name, '/');
    if (!slash || slash - name >= (long)sizeof track)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a task TRACK/OPENING such as %s/%s, found '%.60s'",
                           course->tracks[0].name, course->openings[0].name, name);
    snprintf(track, sizeof track, "%.*s", (int)(slash - name), name);
    TRY(facet_course_find_track(&task->track, course, track));
    return facet_course_find_opening(&task->opening, course, slash + 1);
}

bool facet_course_is_held_out(const FacetCourse *course, FacetCourseTask task)
{
    for (int i = 0; i < course->held_out_count; i++)
        if (course->held_out[i].track == task.track && course->held_out[i].opening == task.opening)
            return true;
    return false;
}
