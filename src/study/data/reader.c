// Reads demonstrations and refuses what is not in the layout (see facet_study/dataset.h).
#include "base/text.h"
#include "factor/factor.h"
#include "finite.h"
#include "hdf5_file.h"

#include <assert.h>
#include <facet_study/dataset.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char Name[HDF5_NAME_SIZE];

typedef struct Reader {
    Hdf5File *file;
    const FacetDatasetRequest *request; // NULL for all
    FacetDataset *dataset;
    Name *demos; // [dataset->demos]
} Reader;

static void object_path(char out[HDF5_PATH_SIZE], const Reader *reader, int demo, const char *below)
{
    snprintf(out, HDF5_PATH_SIZE, "data/%s%s", reader->demos[demo], below);
}

static void observation_path(char out[HDF5_PATH_SIZE], const Reader *reader, int demo,
                             const char *name)
{
    snprintf(out, HDF5_PATH_SIZE, "data/%s/obs/%s", reader->demos[demo], name);
}

static FacetStatus out_of_memory(const Reader *reader)
{
    const FacetDataset *dataset = reader->dataset;
    return hdf5_wrong(reader->file, "data", "out of memory for %d demos of %lldx%d actions",
                      dataset->demos, (long long)dataset->rows, dataset->action_dim);
}

// ---- The header -----------------------------------------------------------------------------

static FacetStatus expect_group(const Reader *reader, const char *path)
{
    Hdf5Kind kind = hdf5_kind(reader->file, path);
    if (kind == HDF5_GROUP) return status_ok();
    return hdf5_wrong(reader->file, path, "expected a group, found %s",
                      kind == HDF5_NOTHING ? "nothing"
                      : kind == HDF5_ARRAY ? "an array"
                                           : "another object");
}

// Says which names of one kind there are below a group, instead of this one.
static FacetStatus no_such_name(const Reader *reader, const char *group, const char *kind,
                                const char *name)
{
    Name *names;
    int count;
    TRY(hdf5_children(&names, &count, reader->file, group, HDF5_ARRAY, ""));
    const char **words = calloc((size_t)count + 1, sizeof *words);
    char text[400] = "";
    for (int i = 0; words && i < count; i++) words[i] = names[i];
    if (words) text_unknown(text, sizeof text, kind, name, words, count);
    free(words);
    free(names);
    return hdf5_wrong(reader->file, group, "%s", text);
}

// Marks the demos [demos] that a list names.
static FacetStatus mark_named(bool *marked, const Reader *reader, const char *path,
                              char *const *named, int count)
{
    int demos = reader->dataset->demos;
    for (int i = 0; i < count; i++) {
        int demo = 0;
        while (demo < demos && strcmp(reader->demos[demo], named[i]) != 0) demo++;
        if (demo == demos)
            return hdf5_wrong(reader->file, path, "expected names of demos, found '%.60s'",
                              named[i]);
        marked[demo] = true;
    }
    if (count == 0) return hdf5_wrong(reader->file, path, "expected names of demos, found none");
    return status_ok();
}

static FacetStatus mark_filter(bool *marked, const Reader *reader, const char *filter)
{
    char path[HDF5_PATH_SIZE], **named;
    int count;
    if (hdf5_kind(reader->file, "mask") != HDF5_GROUP)
        return hdf5_wrong(reader->file, "mask", "no filter '%.60s': the file has none", filter);
    snprintf(path, sizeof path, "mask/%s", filter);
    if (strchr(filter, '/') || hdf5_kind(reader->file, path) != HDF5_ARRAY)
        return no_such_name(reader, "mask", "filter", filter);
    TRY(hdf5_texts(&named, &count, reader->file, path));
    FacetStatus status = mark_named(marked, reader, path, named, count);
    for (int i = 0; i < count; i++) free(named[i]);
    free(named);
    return status;
}

// Leaves the demos of `chosen` that are not in `left_out`.
static FacetStatus keep_demos(Reader *reader, const bool *chosen, const bool *left_out)
{
    const FacetDatasetRequest *request = reader->request;
    int kept = 0;
    for (int demo = 0; demo < reader->dataset->demos; demo++) {
        if (request->filter && chosen[demo] && left_out[demo])
            return hdf5_wrong(reader->file, "mask",
                              "expected no demo in both '%.60s' and '%.60s', found '%s'",
                              request->filter, request->without, reader->demos[demo]);
        if (chosen[demo] && !left_out[demo])
            memmove(reader->demos[kept++], reader->demos[demo], sizeof(Name));
    }
    reader->dataset->demos = kept;
    if (kept) return status_ok();
    return hdf5_wrong(reader->file, "mask", "expected demos beside those of '%.60s', found none",
                      request->without);
}

// Leaves the demos that the filters of the request say.
static FacetStatus apply_filters(Reader *reader)
{
    const FacetDatasetRequest *request = reader->request;
    size_t demos = (size_t)reader->dataset->demos;
    bool *chosen = calloc(2 * demos, sizeof *chosen), *left_out = chosen + demos;
    if (!chosen) return out_of_memory(reader);
    FacetStatus status = status_ok();
    for (size_t demo = 0; demo < demos; demo++) chosen[demo] = !request->filter;
    if (request->filter) status = mark_filter(chosen, reader, request->filter);
    if (status.ok && request->without) status = mark_filter(left_out, reader, request->without);
    if (status.ok) status = keep_demos(reader, chosen, left_out);
    free(chosen);
    return status;
}

static FacetStatus read_header(Reader *reader)
{
    TRY(expect_group(reader, "data"));
    char *text;
    TRY(hdf5_text(&text, reader->file, "data", "factors"));
    FacetStatus status =
        factor_space_from_json(&reader->dataset->space, text, "attribute 'factors'");
    free(text);
    if (!status.ok) return hdf5_wrong(reader->file, "data", "%s", status.text);
    if (hdf5_has_attribute(reader->file, "data", "env_args"))
        TRY(hdf5_text(&reader->dataset->env_args, reader->file, "data", "env_args"));
    TRY(hdf5_children(&reader->demos, &reader->dataset->demos, reader->file, "data", HDF5_GROUP,
                      "demo_"));
    if (reader->dataset->demos == 0)
        return hdf5_wrong(reader->file, "data",
                          "expected demonstrations demo_0, demo_1, ..., "
                          "found none");
    const FacetDatasetRequest *request = reader->request;
    return request && (request->filter || request->without) ? apply_filters(reader) : status_ok();
}

// ---- Shapes ---------------------------------------------------------------------------------

// The names of a demo's observations, none without a group `obs`; the caller frees *names.
static FacetStatus list_observations(Name **names, int *count, const Reader *reader, int demo)
{
    *names = NULL;
    *count = 0;
    char path[HDF5_PATH_SIZE];
    object_path(path, reader, demo, "/obs");
    if (hdf5_kind(reader->file, path) == HDF5_NOTHING) return status_ok();
    TRY(expect_group(reader, path));
    return hdf5_children(names, count, reader->file, path, HDF5_ARRAY, "");
}

static bool has_name(const Name *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

// The names that are read: those asked for, or all that are no images.
static FacetStatus choose_observations(Reader *reader, const Name *names, int count)
{
    FacetDataset *dataset = reader->dataset;
    const FacetDatasetRequest *request = reader->request;
    int wanted = request ? request->observation_count : count;
    char path[HDF5_PATH_SIZE];
    dataset->observations = calloc((size_t)wanted + 1, sizeof *dataset->observations);
    if (!dataset->observations) return out_of_memory(reader);
    for (int i = 0; i < wanted; i++) {
        const char *name = request ? request->observations[i] : names[i];
        object_path(path, reader, 0, "/obs");
        if (request && (strlen(name) >= sizeof(Name) || !has_name(names, count, name)))
            return hdf5_kind(reader->file, path) == HDF5_GROUP
                       ? no_such_name(reader, path, "observation", name)
                       : hdf5_wrong(reader->file, path, "expected a group, found nothing");
        observation_path(path, reader, 0, name);
        if (!request && hdf5_is_image(reader->file, path)) continue;
        strcpy(dataset->observations[dataset->observation_count++].name, name);
    }
    return status_ok();
}

// The sizes of an observation in the first demo, which the others must have too.
static FacetStatus read_observation_shape(const Reader *reader, FacetDatasetObservation *of)
{
    char path[HDF5_PATH_SIZE];
    int64_t rows;
    int count;
    observation_path(path, reader, 0, of->name);
    if (hdf5_is_image(reader->file, path))
        return hdf5_image_shape(&rows, &of->height, &of->width, reader->file, path);
    return hdf5_matrix_shape(&count, &of->dim, reader->file, path);
}

// The first demo says what the others must look like.
static FacetStatus read_first_shape(Reader *reader)
{
    FacetDataset *dataset = reader->dataset;
    char path[HDF5_PATH_SIZE];
    int rows, count;
    Name *names;
    object_path(path, reader, 0, "/actions");
    TRY(hdf5_matrix_shape(&rows, &dataset->action_dim, reader->file, path));
    TRY(list_observations(&names, &count, reader, 0));
    FacetStatus status = choose_observations(reader, names, count);
    free(names);
    for (int i = 0; i < dataset->observation_count && status.ok; i++)
        status = read_observation_shape(reader, &dataset->observations[i]);
    return status;
}

// The rows of every demo, by its actions.
static FacetStatus read_lengths(Reader *reader)
{
    FacetDataset *dataset = reader->dataset;
    dataset->starts = calloc((size_t)dataset->demos + 1, sizeof *dataset->starts);
    if (!dataset->starts) return out_of_memory(reader);
    for (int demo = 0; demo < dataset->demos; demo++) {
        char path[HDF5_PATH_SIZE];
        int rows, columns;
        object_path(path, reader, demo, "/actions");
        TRY(hdf5_matrix_shape(&rows, &columns, reader->file, path));
        if (columns != dataset->action_dim)
            return hdf5_wrong(reader->file, path,
                              "expected actions of %d numbers, as in data/%s, found %d",
                              dataset->action_dim, reader->demos[0], columns);
        dataset->starts[demo + 1] = dataset->starts[demo] + rows;
        if (demo == 0) dataset->steps = rows;
        if (rows != dataset->steps) dataset->steps = 0;
    }
    dataset->rows = dataset->starts[dataset->demos];
    return status_ok();
}

// ---- Demonstrations -------------------------------------------------------------------------

// Room for `rows` rows of so many bytes; a product that does not fit is refused.
static void *row_block(int64_t rows, size_t bytes) { return calloc((size_t)rows, bytes); }

// Many names may lead to the same few bytes.
static FacetStatus check_claim(const Reader *reader)
{
    const FacetDataset *dataset = reader->dataset;
    double width = dataset->action_dim;
    for (int i = 0; i < dataset->observation_count; i++) {
        const FacetDatasetObservation *of = &dataset->observations[i];
        width += of->dim ? of->dim : 3.0 * of->height * of->width;
    }
    return hdf5_check_claim(reader->file, "data", width * (double)dataset->rows);
}

static FacetStatus allocate(Reader *reader)
{
    FacetDataset *dataset = reader->dataset;
    TRY(check_claim(reader));
    dataset->tasks = calloc((size_t)dataset->demos + 1, sizeof *dataset->tasks);
    dataset->actions = row_block(dataset->rows, sizeof(double) * (size_t)dataset->action_dim);
    bool complete = dataset->tasks && dataset->actions;
    for (int i = 0; i < dataset->observation_count; i++) {
        FacetDatasetObservation *of = &dataset->observations[i];
        if (of->dim)
            of->values = row_block(dataset->rows, sizeof(double) * (size_t)of->dim);
        else
            of->pixels = row_block(dataset->rows, 3 * (size_t)of->height * (size_t)of->width);
        complete = complete && (of->values || of->pixels);
    }
    return complete ? status_ok() : out_of_memory(reader);
}

static FacetStatus read_task(Reader *reader, int demo)
{
    const FacetFactorSpace *space = reader->dataset->space;
    FacetFactorTask *task = &reader->dataset->tasks[demo];
    *task = facet_factor_task_null();
    char path[HDF5_PATH_SIZE];
    object_path(path, reader, demo, "");
    for (int i = 0; i < facet_factor_count(space); i++) {
        const char *name = facet_factor_name(space, i);
        char *text;
        TRY(hdf5_text(&text, reader->file, path, name));
        FacetStatus status = facet_factor_find_value(&task->value[i], space, i, text);
        free(text);
        if (!status.ok)
            return hdf5_wrong(reader->file, path, "attribute '%s': %s", name, status.text);
    }
    return status_ok();
}

// Reads finite numbers, as many rows as the demo has.
static FacetStatus read_matrix(double *values, const Reader *reader, int demo, const char *path,
                               int columns)
{
    int found_rows, found_columns, rows = facet_dataset_length(reader->dataset, demo);
    TRY(hdf5_matrix_shape(&found_rows, &found_columns, reader->file, path));
    if (found_rows != rows || found_columns != columns)
        return hdf5_wrong(reader->file, path, "expected a shape of %dx%d, found %dx%d", rows,
                          columns, found_rows, found_columns);
    TRY(hdf5_doubles(values, reader->file, path));
    size_t width = (size_t)columns, count = (size_t)rows * width;
    size_t at = first_not_finite(values, count);
    if (at == count) return status_ok();
    return hdf5_wrong(reader->file, path,
                      "expected finite numbers, found %g in row %zu, column %zu", values[at],
                      at / width, at % width);
}

static FacetStatus read_images(uint8_t *pixels, const Reader *reader, int demo, const char *path,
                               const FacetDatasetObservation *of)
{
    int64_t found_rows;
    int height, width, rows = facet_dataset_length(reader->dataset, demo);
    TRY(hdf5_image_shape(&found_rows, &height, &width, reader->file, path));
    if (found_rows != rows || height != of->height || width != of->width)
        return hdf5_wrong(reader->file, path,
                          "expected %d images of %d x %d pixels, found %lld of %d x %d", rows,
                          of->width, of->height, (long long)found_rows, width, height);
    return hdf5_bytes(pixels, reader->file, path);
}

// A whole file holds no numbers that are not read: every demo has the observations of the first
// one.
static FacetStatus check_names(const Reader *reader, int demo)
{
    const FacetDataset *dataset = reader->dataset;
    char path[HDF5_PATH_SIZE];
    Name *names;
    int count;
    TRY(list_observations(&names, &count, reader, demo));
    FacetStatus status = status_ok();
    for (int i = 0; i < count && status.ok; i++) {
        bool known = false;
        for (int j = 0; j < dataset->observation_count; j++)
            known = known || strcmp(names[i], dataset->observations[j].name) == 0;
        observation_path(path, reader, demo, names[i]);
        if (!known && !hdf5_is_image(reader->file, path))
            status =
                hdf5_wrong(reader->file, path, "expected nothing, as in data/%s, found an array",
                           reader->demos[0]);
    }
    free(names);
    return status;
}

static FacetStatus read_observations(Reader *reader, int demo)
{
    FacetDataset *dataset = reader->dataset;
    size_t row = (size_t)dataset->starts[demo];
    char path[HDF5_PATH_SIZE];
    for (int i = 0; i < dataset->observation_count; i++) {
        FacetDatasetObservation *of = &dataset->observations[i];
        observation_path(path, reader, demo, of->name);
        if (of->dim)
            TRY(read_matrix(of->values + row * (size_t)of->dim, reader, demo, path, of->dim));
        else
            TRY(read_images(of->pixels + row * 3 * (size_t)of->height * (size_t)of->width, reader,
                            demo, path, of));
    }
    return reader->request ? status_ok() : check_names(reader, demo);
}

static FacetStatus read_demo(Reader *reader, int demo)
{
    FacetDataset *dataset = reader->dataset;
    size_t row = (size_t)dataset->starts[demo];
    int rows = facet_dataset_length(dataset, demo);
    char path[HDF5_PATH_SIZE];
    object_path(path, reader, demo, "/actions");
    TRY(read_matrix(dataset->actions + row * (size_t)dataset->action_dim, reader, demo, path,
                    dataset->action_dim));

    int64_t samples;
    object_path(path, reader, demo, "");
    TRY(hdf5_integer(&samples, reader->file, path, "num_samples"));
    if (samples != rows)
        return hdf5_wrong(reader->file, path,
                          "attribute 'num_samples': expected %d, the rows of actions, found %lld",
                          rows, (long long)samples);
    TRY(read_task(reader, demo));
    return read_observations(reader, demo);
}

static FacetStatus check_total(const Reader *reader)
{
    bool whole = !reader->request || !reader->request->filter;
    if (!whole || !hdf5_has_attribute(reader->file, "data", "total")) return status_ok();
    int64_t total, expected = reader->dataset->rows;
    TRY(hdf5_integer(&total, reader->file, "data", "total"));
    if (total == expected) return status_ok();
    return hdf5_wrong(reader->file, "data",
                      "attribute 'total': expected %lld, the rows of all demos, found %lld",
                      (long long)expected, (long long)total);
}

static FacetStatus read_all(Reader *reader, const char *path)
{
    TRY(hdf5_open(&reader->file, path));
    TRY(read_header(reader));
    TRY(read_first_shape(reader));
    TRY(read_lengths(reader));
    TRY(allocate(reader));
    for (int demo = 0; demo < reader->dataset->demos; demo++) TRY(read_demo(reader, demo));
    return check_total(reader);
}

FacetStatus facet_dataset_read_some(FacetDataset **dataset, const char *path,
                                    const FacetDatasetRequest *request)
{
    *dataset = NULL;
    Reader reader = {.request = request, .dataset = calloc(1, sizeof **dataset)};
    if (!reader.dataset) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    FacetStatus status = read_all(&reader, path);
    free(reader.demos);
    hdf5_close(reader.file);
    if (status.ok)
        *dataset = reader.dataset;
    else
        facet_dataset_destroy(reader.dataset);
    return status;
}

FacetStatus facet_dataset_read(FacetDataset **dataset, const char *path)
{
    return facet_dataset_read_some(dataset, path, NULL);
}

void facet_dataset_destroy(FacetDataset *dataset)
{
    if (!dataset) return;
    for (int i = 0; i < dataset->observation_count; i++) {
        free(dataset->observations[i].values);
        free(dataset->observations[i].pixels);
    }
    free(dataset->observations);
    free(dataset->actions);
    free(dataset->starts);
    free(dataset->tasks);
    free(dataset->env_args);
    facet_factor_space_destroy(dataset->space);
    free(dataset);
}

// ---- Looking --------------------------------------------------------------------------------

int facet_dataset_length(const FacetDataset *dataset, int demo)
{
    assert(demo >= 0 && demo < dataset->demos && "the dataset has this demo");
    return (int)(dataset->starts[demo + 1] - dataset->starts[demo]);
}

const double *facet_dataset_actions(const FacetDataset *dataset, int demo)
{
    assert(demo >= 0 && demo < dataset->demos && "the dataset has this demo");
    return dataset->actions + (size_t)dataset->starts[demo] * (size_t)dataset->action_dim;
}

const double *facet_dataset_observed(const FacetDataset *dataset,
                                     const FacetDatasetObservation *observation, int demo)
{
    assert(demo >= 0 && demo < dataset->demos && "the dataset has this demo");
    return observation->values + (size_t)dataset->starts[demo] * (size_t)observation->dim;
}

FacetStatus facet_dataset_find_observation(const FacetDatasetObservation **observation,
                                           const FacetDataset *dataset, const char *name)
{
    *observation = NULL;
    for (int i = 0; i < dataset->observation_count; i++)
        if (strcmp(dataset->observations[i].name, name) == 0) {
            *observation = &dataset->observations[i];
            return status_ok();
        }
    const char **names = calloc((size_t)dataset->observation_count + 1, sizeof *names);
    if (!names) return status_fail(FACET_NOT_FOUND, "no observation '%.80s'", name);
    for (int i = 0; i < dataset->observation_count; i++) names[i] = dataset->observations[i].name;
    char text[400];
    text_unknown(text, sizeof text, "observation", name, names, dataset->observation_count);
    free(names);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}
