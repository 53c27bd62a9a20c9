// Venues by name, and what a program asks of them.
#include "base/file.h"
#include "base/text.h"
#include "camera/scene.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMON_FILE "venues.json"

// Bytes of a folder's name, and of the way from there to the scenes, which leaves room for a
// file's.
enum { FOLDER_MAX = 700, SCENES_MAX = 200 };

// ---- The folder ---------------------------------------------------------------------------------

static FacetStatus venues_folder(char out[FILE_PATH_MAX], const char *courses)
{
    char shipped[FILE_PATH_MAX];
    if (!courses) {
        TRY(file_shipped(shipped, "courses"));
        courses = shipped;
    }
    snprintf(out, FILE_PATH_MAX, "%.*s/venues", FOLDER_MAX, courses);
    return status_ok();
}

static void common_file(char out[FILE_PATH_MAX], const char *folder)
{
    snprintf(out, FILE_PATH_MAX, "%.*s/" COMMON_FILE, FOLDER_MAX + 8, folder);
}

// Where the venues' own files are: beside the common one, unless that says otherwise.
static FacetStatus scenes_folder(char out[FILE_PATH_MAX], const char *courses)
{
    char folder[FILE_PATH_MAX], file[FILE_PATH_MAX], scenes[SCENES_MAX] = "";
    TRY(venues_folder(folder, courses));
    common_file(file, folder);
    if (file_exists(file)) TRY(venue_parse_scenes(scenes, sizeof scenes, file));
    snprintf(out, FILE_PATH_MAX, "%.*s%s%s", FOLDER_MAX + 8, folder, scenes[0] ? "/" : "", scenes);
    return status_ok();
}

static int is_venue_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && length < FACET_COURSE_NAME_MAX + 5 && entry->d_name[0] != '.' &&
           strcmp(entry->d_name + length - 5, ".json") == 0 &&
           strcmp(entry->d_name, COMMON_FILE) != 0;
}

static int by_natural_name(const struct dirent **a, const struct dirent **b)
{
    return text_natural_compare((*a)->d_name, (*b)->d_name);
}

FacetStatus facet_venue_names(FacetVenueNames *names, const char *courses)
{
    char folder[FILE_PATH_MAX];
    names->count = 0;
    TRY(scenes_folder(folder, courses));
    struct dirent **entries;
    int count = scandir(folder, &entries, is_venue_file, by_natural_name);
    if (count < 0)
        return status_fail(status_errno(errno), "%s: cannot read the folder: %s", folder,
                           strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *file = entries[i]->d_name;
        if (names->count < FACET_VENUES_MAX)
            snprintf(names->name[names->count++], FACET_COURSE_NAME_MAX, "%.*s",
                     (int)strlen(file) - 5, file);
        free(entries[i]);
    }
    free(entries);
    return count ? status_ok()
                 : status_fail(FACET_BAD_FILE, "%s: expected venues, found none", folder);
}

// ---- Loading ------------------------------------------------------------------------------------

// The index of a name; a failure lists all of them.
static FacetStatus find(int *out, const char *kind, const char *name, const char *const *names,
                        int count)
{
    for (*out = 0; *out < count; ++*out)
        if (strcmp(name, names[*out]) == 0) return status_ok();
    char text[480];
    text_unknown(text, sizeof text, kind, name, names, count);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

static FacetStatus check_known(const char *courses, const char *name)
{
    FacetVenueNames known;
    TRY(facet_venue_names(&known, courses));
    const char *names[FACET_VENUES_MAX];
    for (int i = 0; i < known.count; i++) names[i] = known.name[i];
    int index;
    return find(&index, "venue", name, names, known.count);
}

FacetStatus facet_venue_load(FacetVenue **out, const char *courses, const char *name)
{
    *out = NULL;
    TRY(check_known(courses, name));
    char folder[FILE_PATH_MAX], scenes[FILE_PATH_MAX], file[FILE_PATH_MAX];
    TRY(venues_folder(folder, courses));
    TRY(scenes_folder(scenes, courses));
    FacetVenue *venue = calloc(1, sizeof *venue);
    if (!venue) return status_fail(FACET_NO_MEMORY, "out of memory for the venue '%s'", name);
    snprintf(venue->name, sizeof venue->name, "%s", name);
    common_file(file, folder);
    FacetStatus status = venue_parse_common(venue, file);
    if (status.ok) {
        snprintf(file, sizeof file, "%.*s/%s.json", FOLDER_MAX + SCENES_MAX + 8, scenes, name);
        status = venue_parse(venue, file);
    }
    if (status.ok) status = embree_create(&venue->tracer, &venue->mesh);
    if (status.ok)
        *out = venue;
    else
        facet_venue_destroy(venue);
    return status;
}

void facet_venue_destroy(FacetVenue *venue)
{
    if (!venue) return;
    embree_destroy(venue->tracer);
    mesh_free(&venue->mesh);
    free(venue);
}

// ---- Questions ----------------------------------------------------------------------------------

const char *facet_venue_name(const FacetVenue *venue) { return venue->name; }
int facet_venue_gate_count(const FacetVenue *venue) { return venue->gate_count; }
const FacetCourseGate *facet_venue_gate(const FacetVenue *venue, int gate)
{
    return &venue->gates[gate];
}
double facet_venue_half_width(const FacetVenue *venue) { return venue->half_width; }
double facet_venue_heading_error(const FacetVenue *venue) { return venue->heading_error; }
int facet_venue_color_count(const FacetVenue *venue) { return venue->color_count; }
const char *facet_venue_color_name(const FacetVenue *venue, int color)
{
    return venue->colors[color].name;
}

FacetStatus facet_venue_find_gate(int *gate, const FacetVenue *venue, const char *name)
{
    const char *names[FACET_VENUE_GATES_MAX];
    for (int i = 0; i < venue->gate_count; i++) names[i] = venue->gates[i].name;
    return find(gate, "gate", name, names, venue->gate_count);
}

FacetStatus facet_venue_find_color(int *color, const FacetVenue *venue, const char *name)
{
    const char *names[FACET_VENUE_COLORS_MAX];
    for (int i = 0; i < venue->color_count; i++) names[i] = venue->colors[i].name;
    return find(color, "color", name, names, venue->color_count);
}
