// The files that a command reads and writes (see places.h).
#include "places.h"

#include "base/file.h"

#include <dirent.h>
#include <fnmatch.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 3, PLACE_PATH = FILE_PATH_MAX + 32 };

// One file or folder of the command line.
typedef struct Place {
    char name[64]; // of its option, as the user knows it: "--out"
    char path[PLACE_PATH];
    bool output;
    const char *inside; // patterns, of a folder that the command fills
    bool there;         // and then
    struct stat info;   // of the file, or of its folder when it is not there yet
    char last[256];     // and then its name there
} Place;

typedef struct Places {
    Place *items;
    int count, room;
} Places;

// ---- Gathering ----------------------------------------------------------------------------------

// What tells a file from others, also when it is to be made: its folder and its name.
static void look_at(Place *place)
{
    char copy[PLACE_PATH];
    place->there = stat(place->path, &place->info) == 0;
    if (place->there) return;
    snprintf(place->last, sizeof place->last, "%.255s", basename(strcpy(copy, place->path)));
    if (stat(dirname(strcpy(copy, place->path)), &place->info) != 0) place->last[0] = '\0';
}

static FacetStatus add(Places *places, const char *name, const char *path, const char *ending,
                       bool output)
{
    if (places->count == places->room) {
        int room = 2 * places->room + 16;
        Place *items = realloc(places->items, (size_t)room * sizeof *items);
        if (!items) return status_fail(FACET_NO_MEMORY, "out of memory for the command line");
        places->items = items;
        places->room = room;
    }
    Place *place = &places->items[places->count++];
    *place = (Place){.output = output};
    snprintf(place->name, sizeof place->name, "%.60s", name);
    snprintf(place->path, sizeof place->path, "%.1023s%.30s", path, ending);
    look_at(place);
    return status_ok();
}

static FacetStatus add_beside(Places *places, const Option *option, const char *name)
{
    char endings[160], *rest = endings;
    snprintf(endings, sizeof endings, "%s", option->beside ? option->beside : "");
    for (char *ending; (ending = strtok_r(rest, " ", &rest));)
        TRY(add(places, name, *option->value.text, ending, true));
    return status_ok();
}

static FacetStatus add_option(Places *places, const Option *option)
{
    char name[64];
    snprintf(name, sizeof name, "--%s", option->name);
    if (option->kind == OPTION_LIST) {
        for (int i = 0; i < option->value.list->count; i++)
            TRY(add(places, name, option->value.list->items[i], "", false));
        return status_ok();
    }
    if (!*option->value.text) return status_ok();
    bool output = option->place == PLACE_WRITE || option->place == PLACE_KEEP;
    TRY(add(places, name, *option->value.text, "", output));
    if (option->place == PLACE_FILL) places->items[places->count - 1].inside = option->inside;
    return output ? add_beside(places, option, name) : status_ok();
}

// An output that a flag like --no-report turns off is none.
static bool is_used(const OptionTable *table, const Option *option)
{
    char other[OPTION_NAME_MAX];
    return option->place != PLACE_NONE && !args_find(other, table, option->without, true);
}

static FacetStatus gather(Places *places, const OptionTable *table, const Usage *usage)
{
    for (int i = 0; i < table->count; i++)
        if (is_used(table, &table->options[i])) TRY(add_option(places, &table->options[i]));
    for (int i = 0; usage->operands_read && i < usage->operands->count; i++)
        TRY(add(places, usage->operand_name, usage->operands->items[i], "", false));
    return status_ok();
}

// ---- Comparing ----------------------------------------------------------------------------------

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_stream(const Place *place)
{
    return place->there && !S_ISREG(place->info.st_mode) && !S_ISDIR(place->info.st_mode);
}

// Whether an existing file is one of those in a folder.
static bool is_within(const struct stat *file, const char *folder, int depth)
{
    DIR *stream = depth < DEPTH_MAX ? opendir(folder) : NULL;
    bool found = false;
    if (!stream) return false;
    for (struct dirent *entry; !found && (entry = readdir(stream));) {
        char path[2 * FILE_PATH_MAX];
        struct stat info;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%.1400s/%.255s", folder, entry->d_name);
        if (stat(path, &info) != 0) continue;
        found =
            S_ISDIR(info.st_mode) ? is_within(file, path, depth + 1) : is_same_file(&info, file);
    }
    closedir(stream);
    return found;
}

// Whether two paths are one place, also when it is to be made, in folders that are to be made.
static bool is_same_place(const char *a, const char *b)
{
    struct stat info_a, info_b;
    if (strcmp(a, b) == 0) return true;
    bool there_a = stat(a, &info_a) == 0, there_b = stat(b, &info_b) == 0;
    if (there_a || there_b) return there_a && there_b && is_same_file(&info_a, &info_b);
    char copy_a[PLACE_PATH], copy_b[PLACE_PATH];
    if (strcmp(basename(strcpy(copy_a, a)), basename(strcpy(copy_b, b))) != 0) return false;
    return is_same_place(dirname(strcpy(copy_a, a)), dirname(strcpy(copy_b, b)));
}

// Whether one of the patterns is about the name, and not behind a !.
static bool fits(const char *patterns, const char *name)
{
    char copy[80], *rest = copy;
    snprintf(copy, sizeof copy, "%s", patterns);
    for (char *pattern; (pattern = strtok_r(rest, " ", &rest));) {
        bool spared = pattern[0] == '!';
        if (fnmatch(pattern + spared, name, 0) == 0) return !spared;
    }
    return false;
}

// Whether an output is, under another name, a file that the command writes into a folder.
static bool links_into(const Place *output, const Place *folder)
{
    DIR *stream = output->there ? opendir(folder->path) : NULL;
    bool found = false;
    if (!stream) return false;
    for (struct dirent *entry; !found && (entry = readdir(stream));) {
        char path[2 * FILE_PATH_MAX];
        struct stat info;
        snprintf(path, sizeof path, "%.1400s/%.255s", folder->path, entry->d_name);
        found = fits(folder->inside, entry->d_name) && stat(path, &info) == 0 &&
                is_same_file(&info, &output->info);
    }
    closedir(stream);
    return found;
}

// Whether an output would stand among the files that the command writes into a folder, or in its
// place.
static bool is_filled(const Place *output, const Place *folder)
{
    char copy[PLACE_PATH];
    if (is_same_place(output->path, folder->path)) return true;
    if (!is_same_place(dirname(strcpy(copy, output->path)), folder->path))
        return links_into(output, folder);
    return fits(folder->inside, basename(strcpy(copy, output->path)));
}

static bool clash(const Place *output, const Place *other)
{
    if (other->inside) return !is_stream(output) && is_filled(output, other);
    if (is_stream(output) || output->there != other->there) return false;
    if (!output->there)
        return output->last[0] && strcmp(output->last, other->last) == 0 &&
               is_same_file(&output->info, &other->info);
    if (!other->output && S_ISDIR(other->info.st_mode))
        return is_within(&output->info, other->path, 0);
    return is_same_file(&output->info, &other->info);
}

static FacetStatus compare(const Place *output, const Place *other)
{
    if (!clash(output, other)) return status_ok();
    bool beside = strcmp(output->name, other->name) == 0;
    bool same = strcmp(output->path, other->path) == 0;
    bool inside = other->inside || (other->there && S_ISDIR(other->info.st_mode));
    return status_fail(FACET_BAD_ARGUMENT,
                       "%s: expected another file than %s%s, found %.200s%s%.200s", output->name,
                       beside ? "those beside it" : "that of ", beside ? "" : other->name,
                       output->path,
                       same     ? ""
                       : inside ? ", which is in "
                                : ", which is ",
                       same ? "" : other->path);
}

static FacetStatus compare_all(const Places *places)
{
    for (int i = 0; i < places->count; i++)
        for (int j = 0; j < places->count; j++) {
            const Place *output = &places->items[i], *other = &places->items[j];
            if (!output->output || i == j || (other->output && j > i)) continue;
            TRY(compare(output, other));
        }
    return status_ok();
}

FacetStatus places_compare(const OptionTable *table, const Usage *usage)
{
    Places places = {0};
    FacetStatus status = gather(&places, table, usage);
    if (status.ok) status = compare_all(&places);
    free(places.items);
    return status;
}

FacetStatus places_apart(const Usage *usage, const char *input)
{
    Places places = {0};
    OptionTable table = args_table(usage);
    FacetStatus status = gather(&places, &table, usage);
    Place shipped = {.name = "what the command reads"};
    snprintf(shipped.path, sizeof shipped.path, "%.1023s", input);
    look_at(&shipped);
    for (int i = 0; status.ok && i < places.count; i++)
        if (places.items[i].output) status = compare(&places.items[i], &shipped);
    free(places.items);
    return status;
}

// ---- Trying -------------------------------------------------------------------------------------

static FacetStatus try_option(const Option *option)
{
    const char *path = *option->value.text;
    if (!path || option->place == PLACE_READ || option->place == PLACE_FILL) return status_ok();
    if (option->new_folder) TRY(file_make_parent(path));
    return option->place == PLACE_KEEP ? atomic_check(path) : file_check(path);
}

FacetStatus places_try(const OptionTable *table)
{
    for (int i = 0; i < table->count; i++)
        if (is_used(table, &table->options[i]) && table->options[i].kind == OPTION_TEXT)
            TRY(try_option(&table->options[i]));
    return status_ok();
}
