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
    return hdf5_wrong(reader->file, "data", "out of memory for %d demos of %dx%d actions",
                      dataset->demos, dataset->steps, dataset->action_dim);
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
    return status_ok();
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

// The first demo says what the others must look like.
static FacetStatus read_first_shape(Reader *reader)
{
    FacetDataset *dataset = reader->dataset;
    char path[HDF5_PATH_SIZE];
    object_path(path, reader, 0, "/actions");
    TRY(hdf5_matrix_shape(&dataset->steps, &dataset->action_dim, reader->file, path));
    Name *names;
    int count;
    TRY(list_observations(&names, &count, reader, 0));
    dataset->observations = calloc((size_t)count + 1, sizeof *dataset->observations);
    FacetStatus status = dataset->observations ? status_ok() : out_of_memory(reader);
    for (int i = 0; i < count && status.ok; i++) {
        FacetDatasetObservation *observation = &dataset->observations[dataset->observation_count++];
        static_assert(sizeof observation->name == sizeof *names, "names fit");
        strcpy(observation->name, names[i]);
        int rows;
        observation_path(path, reader, 0, names[i]);
        status = hdf5_matrix_shape(&rows, &observation->dim, reader->file, path);
    }
    free(names);
    return status;
}

static FacetStatus check_shape(const Reader *reader, const char *path, int columns)
{
    int found_rows, found_columns, rows = reader->dataset->steps;
    TRY(hdf5_matrix_shape(&found_rows, &found_columns, reader->file, path));
    if (found_rows == rows && found_columns == columns) return status_ok();
    return hdf5_wrong(reader->file, path, "expected a shape of %dx%d, found %dx%d", rows, columns,
                      found_rows, found_columns);
}

// ---- Demonstrations -------------------------------------------------------------------------

static FacetStatus allocate(Reader *reader)
{
    FacetDataset *dataset = reader->dataset;
    size_t demos = (size_t)dataset->demos, rows = demos * (size_t)dataset->steps;
    dataset->tasks = calloc(demos + 1, sizeof *dataset->tasks);
    // calloc refuses a product that does not fit.
    dataset->actions = calloc(rows, sizeof(double) * (size_t)dataset->action_dim);
    bool complete = dataset->tasks && dataset->actions;
    for (int i = 0; i < dataset->observation_count; i++) {
        FacetDatasetObservation *observation = &dataset->observations[i];
        observation->values = calloc(rows, sizeof(double) * (size_t)observation->dim);
        complete = complete && observation->values;
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

// Reads T x columns finite numbers.
static FacetStatus read_matrix(double *values, const Reader *reader, const char *path, int columns)
{
    TRY(check_shape(reader, path, columns));
    TRY(hdf5_doubles(values, reader->file, path));
    size_t width = (size_t)columns, count = (size_t)reader->dataset->steps * width;
    size_t at = first_not_finite(values, count);
    if (at == count) return status_ok();
    return hdf5_wrong(reader->file, path,
                      "expected finite numbers, found %g in row %zu, column %zu", values[at],
                      at / width, at % width);
}

// Every demo has the observations of the first one and no others.
static FacetStatus read_observations(Reader *reader, int demo)
{
    FacetDataset *dataset = reader->dataset;
    size_t row = (size_t)demo * (size_t)dataset->steps;
    char path[HDF5_PATH_SIZE];
    for (int i = 0; i < dataset->observation_count; i++) {
        FacetDatasetObservation *observation = &dataset->observations[i];
        observation_path(path, reader, demo, observation->name);
        TRY(read_matrix(observation->values + row * (size_t)observation->dim, reader, path,
                        observation->dim));
    }
    Name *names;
    int count;
    TRY(list_observations(&names, &count, reader, demo));
    FacetStatus status = status_ok();
    for (int i = 0; i < count && status.ok; i++) {
        bool known = false;
        for (int j = 0; j < dataset->observation_count; j++)
            known = known || strcmp(names[i], dataset->observations[j].name) == 0;
        if (known) continue;
        observation_path(path, reader, demo, names[i]);
        status = hdf5_wrong(reader->file, path, "expected nothing, as in data/%s, found an array",
                            reader->demos[0]);
    }
    free(names);
    return status;
}

static FacetStatus read_demo(Reader *reader, int demo)
{
    FacetDataset *dataset = reader->dataset;
    size_t row = (size_t)demo * (size_t)dataset->steps;
    char path[HDF5_PATH_SIZE];
    object_path(path, reader, demo, "/actions");
    TRY(read_matrix(dataset->actions + row * (size_t)dataset->action_dim, reader, path,
                    dataset->action_dim));

    int64_t samples;
    object_path(path, reader, demo, "");
    TRY(hdf5_integer(&samples, reader->file, path, "num_samples"));
    if (samples != dataset->steps)
        return hdf5_wrong(reader->file, path,
                          "attribute 'num_samples': expected %d, the rows of actions, found %lld",
                          dataset->steps, (long long)samples);
    TRY(read_task(reader, demo));
    return read_observations(reader, demo);
}

static FacetStatus check_total(const Reader *reader)
{
    if (!hdf5_has_attribute(reader->file, "data", "total")) return status_ok();
    int64_t total, expected = (int64_t)reader->dataset->demos * reader->dataset->steps;
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
    TRY(allocate(reader));
    for (int demo = 0; demo < reader->dataset->demos; demo++) TRY(read_demo(reader, demo));
    return check_total(reader);
}

FacetStatus facet_dataset_read(FacetDataset **dataset, const char *path)
{
    *dataset = NULL;
    Reader reader = {.dataset = calloc(1, sizeof **dataset)};
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

void facet_dataset_destroy(FacetDataset *dataset)
{
    if (!dataset) return;
    for (int i = 0; i < dataset->observation_count; i++) free(dataset->observations[i].values);
    free(dataset->observations);
    free(dataset->actions);
    free(dataset->tasks);
    free(dataset->env_args);
    facet_factor_space_destroy(dataset->space);
    free(dataset);
}

// ---- Looking --------------------------------------------------------------------------------

const double *facet_dataset_actions(const FacetDataset *dataset, int demo)
{
    assert(demo >= 0 && demo < dataset->demos && "the dataset has this demo");
    return dataset->actions + (size_t)demo * (size_t)dataset->steps * (size_t)dataset->action_dim;
}

const double *facet_dataset_observed(const FacetDataset *dataset,
                                     const FacetDatasetObservation *observation, int demo)
{
    assert(demo >= 0 && demo < dataset->demos && "the dataset has this demo");
    return observation->values + (size_t)demo * (size_t)dataset->steps * (size_t)observation->dim;
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
