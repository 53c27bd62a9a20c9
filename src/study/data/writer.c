// Writes demonstrations (see facet_study/dataset.h for the layout). The file grows as an image in
// memory, which the close puts on disk under a temporary name and then gives its final one.
#include "base/file.h"
#include "base/json.h"
#include "factor/factor.h"
#include "finite.h"
#include "hdf5_file.h"

#include <assert.h>
#include <facet_study/dataset.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Observation {
    char name[FACET_DATASET_NAME_SIZE];
    int dim;
} Observation;

struct FacetDatasetWriter {
    char *path;
    Hdf5File *image;
    FacetFactorSpace *space;
    int steps, action_dim;
    Observation *observations;
    int observation_count;
    int demos;
    bool broken; // the image holds half a demo
};

// ---- Opening --------------------------------------------------------------------------------

static FacetStatus check_space(const FacetFactorSpace *space)
{
    if (facet_factor_count(space) == 0)
        return status_fail(FACET_BAD_ARGUMENT, "factors: expected at least one, found none");
    for (int i = 0; i < facet_factor_count(space); i++) {
        const char *name = facet_factor_name(space, i);
        if (facet_factor_value_count(space, i) == 0)
            return status_fail(FACET_BAD_ARGUMENT,
                               "factors: %s: expected at least one value, found none", name);
        if (strcmp(name, "num_samples") == 0)
            return status_fail(FACET_BAD_ARGUMENT,
                               "factors: %s: expected another name, found that of an attribute "
                               "every demo has",
                               name);
    }
    return status_ok();
}

static FacetStatus copy_observations(FacetDatasetWriter *writer, const FacetDatasetLayout *layout)
{
    int count = layout->observation_count;
    writer->observations = calloc((size_t)count + 1, sizeof *writer->observations);
    if (!writer->observations)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d observations", count);
    for (int i = 0; i < count; i++) {
        const FacetDatasetField *field = &layout->observations[i];
        size_t length = strlen(field->name);
        if (length == 0 || length >= FACET_DATASET_NAME_SIZE || strchr(field->name, '/') ||
            strcmp(field->name, ".") == 0)
            return status_fail(FACET_BAD_ARGUMENT,
                               "obs: expected a name of 1 to %d bytes without /, found '%.80s'",
                               FACET_DATASET_NAME_SIZE - 1, field->name);
        for (int j = 0; j < i; j++)
            if (strcmp(writer->observations[j].name, field->name) == 0)
                return status_fail(FACET_BAD_ARGUMENT,
                                   "obs: expected distinct names, found '%s' twice", field->name);
        assert(field->dim > 0 && "an observation has columns");
        strcpy(writer->observations[i].name, field->name);
        writer->observations[i].dim = field->dim;
    }
    writer->observation_count = count;
    return status_ok();
}

// The attribute env_args; the caller frees *text.
static FacetStatus env_args_text(char **text, const FacetDatasetLayout *layout)
{
    Json *kwargs;
    TRY(json_parse(&kwargs, layout->env_kwargs ? layout->env_kwargs : "{}", "env_kwargs"));
    JsonRef root = json_root(kwargs, "env_kwargs");
    if (!json_is_object(&root)) {
        FacetStatus status = json_wrong(&root, "an object");
        json_free(kwargs);
        return status;
    }
    Json *document = json_object();
    json_set_string(document, "env_name", layout->env_name ? layout->env_name : "");
    json_set_number(document, "type", layout->env_type);
    json_set(document, "env_kwargs", kwargs);
    *text = json_line(document);
    json_free(document);
    return *text ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for env_args");
}

static FacetStatus add_header(FacetDatasetWriter *writer, const char *env_args)
{
    TRY(hdf5_add_group(writer->image, "data"));
    TRY(hdf5_add_text(writer->image, "data", "env_args", env_args));
    char *factors = factor_space_to_json(writer->space);
    if (!factors) return status_fail(FACET_NO_MEMORY, "%s: out of memory", writer->path);
    FacetStatus status = hdf5_add_text(writer->image, "data", "factors", factors);
    free(factors);
    return status;
}

static FacetStatus prepare(FacetDatasetWriter *writer, const char *path,
                           const FacetDatasetLayout *layout)
{
    if (!(writer->path = strdup(path)))
        return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    TRY(atomic_check(path)); // long work goes before the close
    char *env_args = NULL;
    FacetStatus status = check_space(layout->space);
    if (status.ok) status = factor_space_copy(&writer->space, layout->space);
    if (status.ok) status = copy_observations(writer, layout);
    if (status.ok) status = env_args_text(&env_args, layout);
    if (!status.ok) return status_fail(status.code, "%s: %s", path, status.text);
    status = hdf5_create_image(&writer->image, path);
    if (status.ok) status = add_header(writer, env_args);
    free(env_args);
    return status;
}

FacetStatus facet_dataset_writer_open(FacetDatasetWriter **out, const char *path,
                                      const FacetDatasetLayout *layout)
{
    assert(layout->steps > 0 && layout->action_dim > 0 && "a demo has rows and columns");
    *out = NULL;
    FacetDatasetWriter *writer = calloc(1, sizeof *writer);
    if (!writer) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    writer->steps = layout->steps;
    writer->action_dim = layout->action_dim;
    FacetStatus status = prepare(writer, path, layout);
    if (!status.ok) {
        facet_dataset_writer_abort(writer);
        return status;
    }
    *out = writer;
    return status_ok();
}

// ---- Appending ------------------------------------------------------------------------------

static FacetStatus check_finite(const FacetDatasetWriter *writer, const char *object,
                                const double *values, int dim)
{
    size_t count = (size_t)writer->steps * (size_t)dim, at = first_not_finite(values, count);
    if (at == count) return status_ok();
    return hdf5_wrong(writer->image, object,
                      "expected finite numbers, found %g in row %zu, column %zu", values[at],
                      at / (size_t)dim, at % (size_t)dim);
}

static void observation_path(char out[HDF5_PATH_SIZE], const char *demo, const char *name)
{
    snprintf(out, HDF5_PATH_SIZE, "%s/obs/%s", demo, name);
}

static FacetStatus add_demo(FacetDatasetWriter *writer, const char *demo, FacetFactorTask task,
                            const double *actions, const double *const *observations)
{
    Hdf5File *image = writer->image;
    char path[HDF5_PATH_SIZE];
    TRY(hdf5_add_group(image, demo));
    TRY(hdf5_add_integer(image, demo, "num_samples", writer->steps));
    for (int i = 0; i < facet_factor_count(writer->space); i++)
        TRY(hdf5_add_text(image, demo, facet_factor_name(writer->space, i),
                          facet_factor_value_name(writer->space, i, task.value[i])));
    snprintf(path, sizeof path, "%s/actions", demo);
    TRY(hdf5_add_matrix(image, path, actions, writer->steps, writer->action_dim));
    if (writer->observation_count == 0) return status_ok();
    snprintf(path, sizeof path, "%s/obs", demo);
    TRY(hdf5_add_group(image, path));
    for (int i = 0; i < writer->observation_count; i++) {
        observation_path(path, demo, writer->observations[i].name);
        TRY(hdf5_add_matrix(image, path, observations[i], writer->steps,
                            writer->observations[i].dim));
    }
    return status_ok();
}

FacetStatus facet_dataset_writer_append(FacetDatasetWriter *writer, FacetFactorTask task,
                                        const double *actions, const double *const *observations)
{
    assert(factor_task_complete(writer->space, task) && "a demo has a value of every factor");
    char demo[32], path[HDF5_PATH_SIZE];
    snprintf(demo, sizeof demo, "data/demo_%d", writer->demos);
    snprintf(path, sizeof path, "%s/actions", demo);
    TRY(check_finite(writer, path, actions, writer->action_dim));
    for (int i = 0; i < writer->observation_count; i++) {
        observation_path(path, demo, writer->observations[i].name);
        TRY(check_finite(writer, path, observations[i], writer->observations[i].dim));
    }
    FacetStatus status = add_demo(writer, demo, task, actions, observations);
    if (status.ok)
        writer->demos++;
    else
        writer->broken = true;
    return status;
}

// ---- Closing --------------------------------------------------------------------------------

static FacetStatus finish(FacetDatasetWriter *writer)
{
    if (writer->broken)
        return status_fail(FACET_BAD_FILE, "%s: not written, for a demo could not be added",
                           writer->path);
    if (writer->demos == 0)
        return status_fail(FACET_BAD_FILE, "%s: expected at least one demo to write, found none",
                           writer->path);
    TRY(hdf5_add_integer(writer->image, "data", "total", (int64_t)writer->demos * writer->steps));
    void *bytes;
    size_t size;
    TRY(hdf5_image(&bytes, &size, writer->image));
    FacetStatus status = file_write(writer->path, bytes, size);
    free(bytes);
    return status;
}

FacetStatus facet_dataset_writer_close(FacetDatasetWriter *writer)
{
    FacetStatus status = finish(writer);
    facet_dataset_writer_abort(writer);
    return status;
}

void facet_dataset_writer_abort(FacetDatasetWriter *writer)
{
    if (!writer) return;
    hdf5_close(writer->image);
    facet_factor_space_destroy(writer->space);
    free(writer->observations);
    free(writer->path);
    free(writer);
}
