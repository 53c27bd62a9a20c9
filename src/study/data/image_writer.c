// Writes image files (see facet_study/image_set.h, and image_file.h for the layout). Frames go to
// disk as they come, under a temporary name; what belongs to them, a hundredth of their size,
// follows at the end.
#include "base/file.h"
#include "factor/factor.h"
#include "finite.h"
#include "hdf5_file.h"
#include "image_file.h"
#include "picture/deflate.h"

#include <assert.h>
#include <facet_study/image_set.h>
#include <stdlib.h>
#include <string.h>

struct FacetImageWriter {
    char *path;
    AtomicFile target;
    Hdf5File *file;
    Hdf5Frames *images;
    FacetFactorSpace *space;
    FacetFrameShape shape;
    bool broken; // some frames of an add are in the file and others are not

    int64_t count, capacity;
    double *actions;  // [capacity][T][D]
    int32_t *tasks;   // [capacity][K]
    int32_t *flights; // [capacity]

    Deflater **deflaters; // one a worker
    int deflater_count;
    uint8_t *packed;                 // [IMAGE_BATCH][deflate_room]
    size_t packed_size[IMAGE_BATCH]; // bytes
};

// ---- Creating ---------------------------------------------------------------------------------

static FacetStatus check_space(const FacetFactorSpace *space)
{
    if (facet_factor_count(space) == 0)
        return status_fail(FACET_BAD_ARGUMENT, "factors: expected at least one, found none");
    for (int i = 0; i < facet_factor_count(space); i++)
        if (facet_factor_value_count(space, i) == 0)
            return status_fail(FACET_BAD_ARGUMENT,
                               "factors: %s: expected at least one value, found none",
                               facet_factor_name(space, i));
    return status_ok();
}

static FacetStatus add_header(FacetImageWriter *writer, const char *settings)
{
    char *factors = factor_space_to_json(writer->space);
    if (!factors) return status_fail(FACET_NO_MEMORY, "%s: out of memory", writer->path);
    FacetStatus status = hdf5_add_text(writer->file, "/", IMAGE_FILE_FACTORS, factors);
    free(factors);
    if (status.ok && settings)
        status = hdf5_add_text(writer->file, "/", IMAGE_FILE_SETTINGS, settings);
    if (!status.ok) return status;
    const int frame[] = {writer->shape.height, writer->shape.width, IMAGE_CHANNELS};
    TRY(hdf5_add_frames(&writer->images, writer->file, IMAGE_FILE_IMAGES, frame));
    return hdf5_stream_check(writer->file);
}

static FacetStatus prepare(FacetImageWriter *writer, const char *path,
                           const FacetFactorSpace *space, const char *settings)
{
    size_t room = deflate_room(image_bytes(writer->shape));
    writer->path = strdup(path);
    writer->packed = malloc(IMAGE_BATCH * room);
    if (!writer->path || !writer->packed)
        return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    FacetStatus status = check_space(space);
    if (status.ok) status = factor_space_copy(&writer->space, space);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: %s", path, status.text);
    TRY(atomic_begin(&writer->target, path));
    TRY(hdf5_create_stream(&writer->file, writer->target.descriptor, writer->target.temp, path));
    return add_header(writer, settings);
}

FacetStatus facet_image_writer_create(FacetImageWriter **out, const char *path,
                                      const FacetFactorSpace *space, FacetFrameShape shape,
                                      const char *settings)
{
    assert(shape.width > 0 && shape.width <= IMAGE_SIZE_MAX);
    assert(shape.height > 0 && shape.height <= IMAGE_SIZE_MAX);
    assert(shape.horizon > 0 && shape.horizon <= IMAGE_SIZE_MAX);
    assert(shape.dim > 0 && shape.dim <= IMAGE_SIZE_MAX);
    *out = NULL;
    FacetImageWriter *writer = calloc(1, sizeof *writer);
    if (!writer) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    writer->shape = shape;
    FacetStatus status = prepare(writer, path, space, settings);
    if (!status.ok) {
        facet_image_writer_abandon(writer);
        return status;
    }
    *out = writer;
    return status_ok();
}

// ---- Adding -----------------------------------------------------------------------------------

static FacetStatus out_of_memory(const FacetImageWriter *writer)
{
    return status_fail(FACET_NO_MEMORY, "%s: out of memory behind frame %lld", writer->path,
                       (long long)writer->count);
}

// One for each worker of the pool.
static FacetStatus reserve_deflaters(FacetImageWriter *writer, int workers)
{
    if (workers <= writer->deflater_count) return status_ok();
    Deflater **larger = realloc(writer->deflaters, (size_t)workers * sizeof *larger);
    if (!larger) return out_of_memory(writer);
    writer->deflaters = larger;
    while (writer->deflater_count < workers) {
        Deflater *deflater = deflater_create(DEFLATE_FAST);
        if (!deflater) return out_of_memory(writer);
        larger[writer->deflater_count++] = deflater;
    }
    return status_ok();
}

static FacetStatus reserve_frames(FacetImageWriter *writer, int count)
{
    if (writer->count + count <= writer->capacity) return status_ok();
    int64_t capacity = writer->capacity ? 2 * writer->capacity : 256;
    while (capacity < writer->count + count) capacity *= 2;
    size_t frames = (size_t)capacity, factors = (size_t)facet_factor_count(writer->space);
    double *actions =
        realloc(writer->actions, frames * image_action_count(writer->shape) * sizeof *actions);
    if (actions) writer->actions = actions;
    int32_t *tasks = realloc(writer->tasks, frames * factors * sizeof *tasks);
    if (tasks) writer->tasks = tasks;
    int32_t *flights = realloc(writer->flights, frames * sizeof *flights);
    if (flights) writer->flights = flights;
    if (!actions || !tasks || !flights) return out_of_memory(writer);
    writer->capacity = capacity;
    return status_ok();
}

static FacetStatus check_actions(const FacetImageWriter *writer, const double *actions, int count)
{
    size_t width = image_action_count(writer->shape), total = (size_t)count * width;
    size_t at = first_not_finite(actions, total);
    if (at == total) return status_ok();
    return hdf5_wrong(writer->file, IMAGE_FILE_ACTIONS,
                      "frame %lld: expected finite numbers, found %g in step %zu, channel %zu",
                      (long long)writer->count + (long long)(at / width), actions[at],
                      at % width / (size_t)writer->shape.dim, at % (size_t)writer->shape.dim);
}

typedef struct PackWork {
    FacetImageWriter *writer;
    const uint8_t *rgb;
} PackWork;

static void pack_frame(void *context, int index, int worker)
{
    const PackWork *work = context;
    FacetImageWriter *writer = work->writer;
    size_t size = image_bytes(writer->shape);
    writer->packed_size[index] =
        deflater_pack(writer->packed + (size_t)index * deflate_room(size),
                      writer->deflaters[worker], work->rgb + (size_t)index * size, size);
}

static FacetStatus add_images(FacetImageWriter *writer, const uint8_t *rgb, int count,
                              FacetPool *pool)
{
    size_t size = image_bytes(writer->shape), room = deflate_room(size);
    for (int first = 0; first < count; first += IMAGE_BATCH) {
        int batch = count - first < IMAGE_BATCH ? count - first : IMAGE_BATCH;
        PackWork work = {writer, rgb + (size_t)first * size};
        image_for(pool, batch, pack_frame, &work);
        for (int i = 0; i < batch; i++)
            TRY(hdf5_append_frame(writer->images, writer->packed + (size_t)i * room,
                                  writer->packed_size[i]));
        TRY(hdf5_stream_check(writer->file));
    }
    return status_ok();
}

static void keep_labels(FacetImageWriter *writer, const double *actions,
                        const FacetFactorTask *tasks, const int *flights, int count)
{
    size_t width = image_action_count(writer->shape);
    int factors = facet_factor_count(writer->space);
    memcpy(writer->actions + (size_t)writer->count * width, actions,
           (size_t)count * width * sizeof *actions);
    for (int i = 0; i < count; i++) {
        int32_t *values = writer->tasks + (writer->count + i) * factors;
        for (int k = 0; k < factors; k++) values[k] = tasks[i].value[k];
        writer->flights[writer->count + i] = flights[i];
    }
    writer->count += count;
}

FacetStatus facet_image_writer_add(FacetImageWriter *writer, const uint8_t *rgb,
                                   const double *actions, const FacetFactorTask *tasks,
                                   const int *flights, int count, FacetPool *pool)
{
    for (int i = 0; i < count; i++) {
        assert(factor_task_complete(writer->space, tasks[i]) && "a frame has a value of each");
        assert(flights[i] >= 0 && "flights count from 0");
    }
    if (writer->broken)
        return status_fail(FACET_BAD_FILE, "%s: not written, for frames could not be added",
                           writer->path);
    if (count == 0) return status_ok();
    TRY(check_actions(writer, actions, count));
    TRY(reserve_deflaters(writer, pool ? facet_pool_threads(pool) : 1));
    TRY(reserve_frames(writer, count));
    FacetStatus status = add_images(writer, rgb, count, pool);
    if (status.ok)
        keep_labels(writer, actions, tasks, flights, count);
    else
        writer->broken = true;
    return status;
}

// ---- Finishing --------------------------------------------------------------------------------

static FacetStatus finish(FacetImageWriter *writer)
{
    if (writer->broken)
        return status_fail(FACET_BAD_FILE, "%s: not written, for frames could not be added",
                           writer->path);
    if (writer->count == 0)
        return status_fail(FACET_BAD_FILE, "%s: expected at least one frame to write, found none",
                           writer->path);
    const int64_t actions[] = {writer->count, writer->shape.horizon, writer->shape.dim};
    const int64_t tasks[] = {writer->count, facet_factor_count(writer->space)};
    TRY(hdf5_add_doubles(writer->file, IMAGE_FILE_ACTIONS, writer->actions, actions, 3));
    TRY(hdf5_stream_check(writer->file));
    TRY(hdf5_add_integers(writer->file, IMAGE_FILE_TASKS, writer->tasks, tasks, 2));
    TRY(hdf5_add_integers(writer->file, IMAGE_FILE_FLIGHTS, writer->flights, tasks, 1));
    hdf5_close_frames(writer->images);
    writer->images = NULL;
    FacetStatus status = hdf5_finish_stream(writer->file);
    writer->file = NULL;
    return status.ok ? atomic_commit(&writer->target) : status;
}

FacetStatus facet_image_writer_finish(FacetImageWriter *writer)
{
    FacetStatus status = finish(writer);
    facet_image_writer_abandon(writer);
    return status;
}

void facet_image_writer_abandon(FacetImageWriter *writer)
{
    if (!writer) return;
    hdf5_close_frames(writer->images);
    hdf5_close(writer->file);
    atomic_abort(&writer->target);
    facet_factor_space_destroy(writer->space);
    for (int i = 0; i < writer->deflater_count; i++) deflater_destroy(writer->deflaters[i]);
    free(writer->deflaters);
    free(writer->packed);
    free(writer->actions);
    free(writer->tasks);
    free(writer->flights);
    free(writer->path);
    free(writer);
}
