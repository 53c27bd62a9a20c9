// Reads image files (see facet_study/image_set.h, and image_file.h for the layout). The library
// hands out compressed frames one after the other; the pool's threads inflate them.
#include "factor/factor.h"
#include "finite.h"
#include "hdf5_file.h"
#include "image_file.h"
#include "picture/deflate.h"

#include <assert.h>
#include <facet_study/image_set.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct ImageFile {
    Hdf5File *file;
    Hdf5Frames *images;
    int64_t first; // its first frame's number in the set
    int64_t count; // frames
} ImageFile;

// A frame on its way from the file to the caller.
typedef struct Packed {
    uint8_t *bytes; // [room]
    size_t size;
    bool deflated;
    InflateResult result;
} Packed;

struct FacetImageSet {
    ImageFile *files;
    int file_count;
    FacetFactorSpace *space;
    char *settings;
    FacetFrameShape shape;
    int64_t count;
    double *actions;        // [count][T][D]
    FacetFactorTask *tasks; // [count]
    int *flights;           // [count]

    size_t room; // bytes of the largest compressed frame
    uint8_t *packed_bytes;
    Packed packed[IMAGE_BATCH];
    Inflater **inflaters; // one a worker
    int inflater_count;
};

// ---- Opening: the header ----------------------------------------------------------------------

static FacetStatus read_space(FacetImageSet *set, const Hdf5File *file, const char *first_path)
{
    char *text;
    TRY(hdf5_text(&text, file, "/", IMAGE_FILE_FACTORS));
    FacetFactorSpace *space;
    FacetStatus status = factor_space_from_json(&space, text, "attribute '" IMAGE_FILE_FACTORS "'");
    free(text);
    if (!status.ok) return hdf5_wrong(file, "/", "%s", status.text);
    if (!set->space) {
        set->space = space;
        return status_ok();
    }
    bool equal = factor_space_equal(set->space, space);
    facet_factor_space_destroy(space);
    if (equal) return status_ok();
    return hdf5_wrong(file, "/",
                      "attribute '" IMAGE_FILE_FACTORS "': expected the factors and values of %s, "
                      "found others",
                      first_path);
}

static FacetStatus read_settings(FacetImageSet *set, const Hdf5File *file)
{
    if (hdf5_has_attribute(file, "/", IMAGE_FILE_SETTINGS))
        return hdf5_text(&set->settings, file, "/", IMAGE_FILE_SETTINGS);
    set->settings = calloc(1, 1);
    return set->settings ? status_ok() : hdf5_wrong(file, "/", "out of memory");
}

// ---- Opening: shapes --------------------------------------------------------------------------

static FacetStatus check_size(const Hdf5File *file, const char *path, const char *what,
                              int64_t size)
{
    if (size >= 1 && size <= IMAGE_SIZE_MAX) return status_ok();
    return hdf5_wrong(file, path, "expected a %s of 1 to %d, found %lld", what, IMAGE_SIZE_MAX,
                      (long long)size);
}

static FacetStatus open_images(ImageFile *part, FacetFrameShape *shape)
{
    int sizes[HDF5_FRAME_RANK]; // height, width, channels
    TRY(hdf5_open_frames(&part->images, &part->count, sizes, part->file, IMAGE_FILE_IMAGES,
                         "[N][height][width][3] of bytes"));
    if (sizes[2] != IMAGE_CHANNELS)
        return hdf5_wrong(part->file, IMAGE_FILE_IMAGES, "expected 3 channels, found %d", sizes[2]);
    TRY(check_size(part->file, IMAGE_FILE_IMAGES, "height", sizes[0]));
    TRY(check_size(part->file, IMAGE_FILE_IMAGES, "width", sizes[1]));
    if (part->count < 1)
        return hdf5_wrong(part->file, IMAGE_FILE_IMAGES, "expected at least one frame, found none");
    shape->height = sizes[0];
    shape->width = sizes[1];
    return status_ok();
}

static FacetStatus check_count(const ImageFile *part, const char *path, int64_t found)
{
    if (found == part->count) return status_ok();
    return hdf5_wrong(part->file, path,
                      "expected %lld frames, as many as there are images, "
                      "found %lld",
                      (long long)part->count, (long long)found);
}

static FacetStatus check_labels(const ImageFile *part, FacetFrameShape *shape, int factors)
{
    int64_t actions[3], tasks[2], flights[1];
    TRY(hdf5_array_shape(actions, 3, false, part->file, IMAGE_FILE_ACTIONS,
                         "[N][T][D] of numbers"));
    TRY(hdf5_array_shape(tasks, 2, true, part->file, IMAGE_FILE_TASKS, "[N][K] of integers"));
    TRY(hdf5_array_shape(flights, 1, true, part->file, IMAGE_FILE_FLIGHTS, "[N] of integers"));
    TRY(check_count(part, IMAGE_FILE_ACTIONS, actions[0]));
    TRY(check_count(part, IMAGE_FILE_TASKS, tasks[0]));
    TRY(check_count(part, IMAGE_FILE_FLIGHTS, flights[0]));
    TRY(check_size(part->file, IMAGE_FILE_ACTIONS, "T", actions[1]));
    TRY(check_size(part->file, IMAGE_FILE_ACTIONS, "D", actions[2]));
    if (tasks[1] != factors)
        return hdf5_wrong(part->file, IMAGE_FILE_TASKS,
                          "expected %d values a frame, one a factor, found %lld", factors,
                          (long long)tasks[1]);
    shape->horizon = (int)actions[1];
    shape->dim = (int)actions[2];
    return status_ok();
}

static FacetStatus check_same_shape(const FacetImageSet *set, const ImageFile *part,
                                    FacetFrameShape shape, const char *first_path)
{
    FacetFrameShape expected = set->shape;
    if (shape.width != expected.width || shape.height != expected.height)
        return hdf5_wrong(part->file, IMAGE_FILE_IMAGES,
                          "expected frames of %dx%d pixels, as in %s, found %dx%d", expected.width,
                          expected.height, first_path, shape.width, shape.height);
    if (shape.horizon != expected.horizon || shape.dim != expected.dim)
        return hdf5_wrong(part->file, IMAGE_FILE_ACTIONS,
                          "expected %dx%d numbers a frame, as in %s, found %dx%d", expected.horizon,
                          expected.dim, first_path, shape.horizon, shape.dim);
    return status_ok();
}

// Every frame is there, and of a size that a compressed frame can have.
static FacetStatus check_frames(FacetImageSet *set, const ImageFile *part)
{
    size_t largest = 2 * deflate_room(image_bytes(set->shape));
    for (int64_t i = 0; i < part->count; i++) {
        size_t size;
        TRY(hdf5_frame_size(&size, part->images, i));
        if (size > largest)
            return hdf5_wrong(part->file, IMAGE_FILE_IMAGES,
                              "frame %lld: expected at most %zu bytes, found %zu", (long long)i,
                              largest, size);
        if (size > set->room) set->room = size;
    }
    return status_ok();
}

// ---- Opening: labels --------------------------------------------------------------------------

static FacetStatus out_of_memory(const ImageFile *part)
{
    return hdf5_wrong(part->file, "/", "out of memory for %lld frames", (long long)part->count);
}

// Makes room for the frames of one more file.
static FacetStatus reserve(FacetImageSet *set, const ImageFile *part)
{
    size_t frames = (size_t)(set->count + part->count);
    double *actions =
        realloc(set->actions, frames * image_action_count(set->shape) * sizeof *actions);
    if (actions) set->actions = actions;
    FacetFactorTask *tasks = realloc(set->tasks, frames * sizeof *tasks);
    if (tasks) set->tasks = tasks;
    int *flights = realloc(set->flights, frames * sizeof *flights);
    if (flights) set->flights = flights;
    return actions && tasks && flights ? status_ok() : out_of_memory(part);
}

static FacetStatus read_actions(FacetImageSet *set, const ImageFile *part)
{
    size_t width = image_action_count(set->shape), total = (size_t)part->count * width;
    double *actions = set->actions + (size_t)part->first * width;
    TRY(hdf5_doubles(actions, part->file, IMAGE_FILE_ACTIONS));
    size_t at = first_not_finite(actions, total);
    if (at == total) return status_ok();
    return hdf5_wrong(part->file, IMAGE_FILE_ACTIONS,
                      "frame %zu: expected finite numbers, found %g in step %zu, channel %zu",
                      at / width, actions[at], at % width / (size_t)set->shape.dim,
                      at % (size_t)set->shape.dim);
}

// `values` holds [count][K].
static FacetStatus read_tasks(FacetImageSet *set, const ImageFile *part, int64_t *values)
{
    TRY(hdf5_integers(values, part->file, IMAGE_FILE_TASKS));
    for (int64_t i = 0; i < part->count; i++) {
        FacetFactorTask *task = &set->tasks[part->first + i];
        *task = facet_factor_task_null();
        for (int k = 0; k < facet_factor_count(set->space); k++) {
            int64_t value = *values++, last = facet_factor_value_count(set->space, k) - 1;
            if (value < 0 || value > last)
                return hdf5_wrong(part->file, IMAGE_FILE_TASKS,
                                  "frame %lld: %s: expected a value of 0 to %lld, found %lld",
                                  (long long)i, facet_factor_name(set->space, k), (long long)last,
                                  (long long)value);
            task->value[k] = (int)value;
        }
    }
    return status_ok();
}

// `values` holds [count].
static FacetStatus read_flights(FacetImageSet *set, const ImageFile *part, int64_t *values)
{
    TRY(hdf5_integers(values, part->file, IMAGE_FILE_FLIGHTS));
    for (int64_t i = 0; i < part->count; i++) {
        if (values[i] < 0 || values[i] > INT_MAX)
            return hdf5_wrong(part->file, IMAGE_FILE_FLIGHTS,
                              "frame %lld: expected a number of 0 to %d, found %lld", (long long)i,
                              INT_MAX, (long long)values[i]);
        set->flights[part->first + i] = (int)values[i];
    }
    return status_ok();
}

static FacetStatus read_labels(FacetImageSet *set, const ImageFile *part)
{
    TRY(reserve(set, part));
    TRY(read_actions(set, part));
    int64_t *values =
        calloc((size_t)part->count, (size_t)facet_factor_count(set->space) * sizeof *values);
    if (!values) return out_of_memory(part);
    FacetStatus status = read_tasks(set, part, values);
    if (status.ok) status = read_flights(set, part, values);
    free(values);
    return status;
}

// ---- Opening ----------------------------------------------------------------------------------

static FacetStatus open_file(FacetImageSet *set, const char *path, const char *first_path)
{
    ImageFile *part = &set->files[set->file_count++];
    part->first = set->count;
    TRY(hdf5_open(&part->file, path));
    TRY(read_space(set, part->file, first_path));
    FacetFrameShape shape = {0};
    TRY(open_images(part, &shape));
    TRY(check_labels(part, &shape, facet_factor_count(set->space)));
    if (part == set->files) {
        set->shape = shape;
        TRY(read_settings(set, part->file));
    }
    TRY(check_same_shape(set, part, shape, first_path));
    TRY(check_frames(set, part));
    TRY(read_labels(set, part));
    set->count += part->count;
    return status_ok();
}

static FacetStatus open_all(FacetImageSet *set, const char *const *paths, int count)
{
    set->files = calloc((size_t)count, sizeof *set->files);
    if (!set->files) return status_fail(FACET_NO_MEMORY, "%s: out of memory", paths[0]);
    for (int i = 0; i < count; i++) TRY(open_file(set, paths[i], paths[0]));
    set->packed_bytes = malloc(IMAGE_BATCH * set->room + 1);
    if (!set->packed_bytes) return status_fail(FACET_NO_MEMORY, "%s: out of memory", paths[0]);
    for (int i = 0; i < IMAGE_BATCH; i++)
        set->packed[i].bytes = set->packed_bytes + (size_t)i * set->room;
    return status_ok();
}

FacetStatus facet_image_set_open(FacetImageSet **out, const char *const *paths, int count)
{
    assert(count > 0 && "a set has files");
    *out = NULL;
    FacetImageSet *set = calloc(1, sizeof *set);
    if (!set) return status_fail(FACET_NO_MEMORY, "%s: out of memory", paths[0]);
    FacetStatus status = open_all(set, paths, count);
    if (!status.ok) {
        facet_image_set_close(set);
        return status;
    }
    *out = set;
    return status_ok();
}

void facet_image_set_close(FacetImageSet *set)
{
    if (!set) return;
    for (int i = 0; i < set->file_count; i++) {
        hdf5_close_frames(set->files[i].images);
        hdf5_close(set->files[i].file);
    }
    for (int i = 0; i < set->inflater_count; i++) inflater_destroy(set->inflaters[i]);
    free(set->inflaters);
    free(set->packed_bytes);
    free(set->files);
    free(set->actions);
    free(set->tasks);
    free(set->flights);
    free(set->settings);
    facet_factor_space_destroy(set->space);
    free(set);
}

// ---- Looking ----------------------------------------------------------------------------------

int64_t facet_image_set_count(const FacetImageSet *set) { return set->count; }
FacetFrameShape facet_image_set_shape(const FacetImageSet *set) { return set->shape; }
const FacetFactorSpace *facet_image_set_space(const FacetImageSet *set) { return set->space; }
const char *facet_image_set_settings(const FacetImageSet *set) { return set->settings; }

FacetFactorTask facet_image_set_task(const FacetImageSet *set, int64_t frame)
{
    assert(frame >= 0 && frame < set->count && "the set has this frame");
    return set->tasks[frame];
}

const double *facet_image_set_actions(const FacetImageSet *set, int64_t frame)
{
    assert(frame >= 0 && frame < set->count && "the set has this frame");
    return set->actions + (size_t)frame * image_action_count(set->shape);
}

int facet_image_set_file(const FacetImageSet *set, int64_t frame)
{
    assert(frame >= 0 && frame < set->count && "the set has this frame");
    int file = set->file_count - 1;
    while (set->files[file].first > frame) file--;
    return file;
}

int facet_image_set_flight(const FacetImageSet *set, int64_t frame)
{
    assert(frame >= 0 && frame < set->count && "the set has this frame");
    return set->flights[frame];
}

// ---- Reading ----------------------------------------------------------------------------------

// One for each worker of the pool.
static FacetStatus reserve_inflaters(FacetImageSet *set, int workers)
{
    if (workers <= set->inflater_count) return status_ok();
    Inflater **larger = realloc(set->inflaters, (size_t)workers * sizeof *larger);
    if (!larger)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d threads that read images",
                           workers);
    set->inflaters = larger;
    while (set->inflater_count < workers) {
        Inflater *inflater = inflater_create();
        if (!inflater)
            return status_fail(FACET_NO_MEMORY, "out of memory for %d threads that read images",
                               workers);
        larger[set->inflater_count++] = inflater;
    }
    return status_ok();
}

typedef struct UnpackWork {
    FacetImageSet *set;
    uint8_t *rgb;
} UnpackWork;

static void unpack_frame(void *context, int index, int worker)
{
    const UnpackWork *work = context;
    size_t size = image_bytes(work->set->shape);
    Packed *packed = &work->set->packed[index];
    uint8_t *rgb = work->rgb + (size_t)index * size;
    if (packed->deflated)
        packed->result =
            inflater_unpack(rgb, size, work->set->inflaters[worker], packed->bytes, packed->size);
    else if (packed->size == size)
        memcpy(rgb, packed->bytes, size), packed->result = INFLATE_DONE;
    else
        packed->result = packed->size < size ? INFLATE_SHORTER : INFLATE_LONGER;
}

static FacetStatus check_unpacked(const FacetImageSet *set, int64_t frame, InflateResult result)
{
    if (result == INFLATE_DONE) return status_ok();
    const ImageFile *part = &set->files[facet_image_set_file(set, frame)];
    return hdf5_wrong(part->file, IMAGE_FILE_IMAGES,
                      "frame %lld: expected %zu bytes of an image, found %s",
                      (long long)(frame - part->first), image_bytes(set->shape),
                      result == INFLATE_DAMAGED   ? "damaged ones"
                      : result == INFLATE_SHORTER ? "fewer"
                                                  : "more");
}

static FacetStatus read_batch(uint8_t *rgb, FacetImageSet *set, const int64_t *frames, int count,
                              FacetPool *pool)
{
    for (int i = 0; i < count; i++) {
        const ImageFile *part = &set->files[facet_image_set_file(set, frames[i])];
        Packed *packed = &set->packed[i];
        TRY(hdf5_read_frame(packed->bytes, &packed->size, &packed->deflated, set->room,
                            part->images, frames[i] - part->first));
    }
    UnpackWork work = {set, rgb};
    image_for(pool, count, unpack_frame, &work);
    for (int i = 0; i < count; i++) TRY(check_unpacked(set, frames[i], set->packed[i].result));
    return status_ok();
}

FacetStatus facet_image_set_read(uint8_t *rgb, FacetImageSet *set, const int64_t *frames, int count,
                                 FacetPool *pool)
{
    TRY(reserve_inflaters(set, pool ? facet_pool_threads(pool) : 1));
    size_t size = image_bytes(set->shape);
    for (int first = 0; first < count; first += IMAGE_BATCH) {
        int batch = count - first < IMAGE_BATCH ? count - first : IMAGE_BATCH;
        TRY(read_batch(rgb + (size_t)first * size, set, frames + first, batch, pool));
    }
    return status_ok();
}
