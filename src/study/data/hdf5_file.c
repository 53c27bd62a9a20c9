// Writes HDF5 files through the HDF5 library (see hdf5_file.h).
#include "hdf5_file.h"

#include "hdf5_inside.h"
#include "hdf5_stream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The host's error handler ---------------------------------------------------------------

// The library prints failures by a handler that belongs to the whole process. Here they become a
// status, so every function below puts the handler aside while it runs, and then back.
typedef struct Handler {
    unsigned second; // of the second version of the interface
    H5E_auto1_t first_function;
    H5E_auto2_t function;
    void *context;
} Handler;

static Handler handler_put_aside(void)
{
    Handler handler = {0};
    H5Eauto_is_v2(H5E_DEFAULT, &handler.second);
    if (handler.second) {
        H5Eget_auto2(H5E_DEFAULT, &handler.function, &handler.context);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    } else {
        H5Eget_auto1(&handler.first_function, &handler.context);
        H5Eset_auto1(NULL, NULL);
    }
    return handler;
}

static void handler_put_back(Handler *handler)
{
    if (handler->second)
        H5Eset_auto2(H5E_DEFAULT, handler->function, handler->context);
    else
        H5Eset_auto1(handler->first_function, handler->context);
}

// Holds until the calling function returns, by whichever way.
#define SILENCE_HDF5                                                                               \
    __attribute__((cleanup(handler_put_back))) Handler handler_ = handler_put_aside();             \
    (void)handler_

// ---- Messages -------------------------------------------------------------------------------

FacetStatus hdf5_wrong(const Hdf5File *file, const char *object, const char *format, ...)
{
    char text[sizeof(FacetStatus)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return status_fail(FACET_BAD_FILE, "%s: %s: %s", file->shown, object, text);
}

static herr_t keep_description(unsigned depth, const H5E_error2_t *error, void *out)
{
    (void)depth;
    snprintf(out, 160, "%s", error->desc ? error->desc : "");
    return 1;
}

// What the library says was the first cause of the call that has just failed.
static const char *cause(char out[160])
{
    snprintf(out, 160, "unknown error");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_description, out);
    return out;
}

static FacetStatus library_failed(const Hdf5File *file, const char *object, const char *verb)
{
    char text[160];
    return hdf5_wrong(file, object, "cannot %s: %s", verb, cause(text));
}

// Ends the life of an identifier of any type; a negative one never lived.
static void release(hid_t id)
{
    if (id >= 0) H5Idec_ref(id);
}

// ---- Files ----------------------------------------------------------------------------------

FacetStatus hdf5_make_file(Hdf5File **file, const char *shown)
{
    *file = calloc(1, sizeof **file);
    if (!*file) return status_fail(FACET_NO_MEMORY, "%s: out of memory", shown);
    (*file)->id = H5I_INVALID_HID;
    size_t length = strlen(shown), room = sizeof(*file)->shown - sizeof "…";
    snprintf((*file)->shown, sizeof(*file)->shown, "%s%s", length > room ? "…" : "",
             length > room ? shown + length - room : shown);
    return status_ok();
}

FacetStatus hdf5_create_image(Hdf5File **file, const char *shown)
{
    SILENCE_HDF5;
    enum { GROWTH = 1 << 20 }; // bytes the image grows by
    TRY(hdf5_make_file(file, shown));
    // Images are told apart by their names.
    char name[64];
    snprintf(name, sizeof name, "image %p", (void *)*file);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    bool made = access >= 0 && H5Pset_fapl_core(access, GROWTH, false) >= 0 &&
                ((*file)->id = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access)) >= 0;
    FacetStatus status = made ? status_ok() : library_failed(*file, "/", "create");
    release(access);
    if (!status.ok) {
        hdf5_close(*file);
        *file = NULL;
    }
    return status;
}

FacetStatus hdf5_create_stream(Hdf5File **file, int descriptor, const char *path, const char *shown)
{
    SILENCE_HDF5;
    TRY(hdf5_make_file(file, shown));
    FacetStatus status = status_ok();
    hid_t access = H5I_INVALID_HID;
    if (!((*file)->stream = hdf5_stream_open(descriptor)))
        status = status_fail(status_errno(errno), "%s: cannot create: %s", (*file)->shown,
                             strerror(errno));
    else if ((access = hdf5_stream_access((*file)->stream)) < 0 ||
             ((*file)->id = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access)) < 0)
        status = library_failed(*file, "/", "create");
    release(access);
    if (!status.ok) {
        hdf5_close(*file);
        *file = NULL;
    }
    return status;
}

void hdf5_close(Hdf5File *file)
{
    SILENCE_HDF5;
    if (!file) return;
    if (file->id >= 0) H5Fclose(file->id);
    hdf5_stream_close(file->stream);
    if (file->source) hdf5_source_close(file->source);
    free(file->source);
    free(file);
}

// ---- Writing --------------------------------------------------------------------------------

FacetStatus hdf5_add_group(Hdf5File *file, const char *path)
{
    SILENCE_HDF5;
    hid_t creation = H5Pcreate(H5P_GROUP_CREATE), group = H5I_INVALID_HID;
    bool made = creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0 &&
                (group = H5Gcreate2(file->id, path, H5P_DEFAULT, creation, H5P_DEFAULT)) >= 0;
    FacetStatus status = made ? status_ok() : library_failed(file, path, "write");
    release(group);
    release(creation);
    return status;
}

static FacetStatus add_attribute(Hdf5File *file, const char *object, const char *name, hid_t stored,
                                 hid_t given, const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR), attribute = H5I_INVALID_HID;
    bool made = space >= 0 && stored >= 0 &&
                (attribute = H5Acreate_by_name(file->id, object, name, stored, space, H5P_DEFAULT,
                                               H5P_DEFAULT, H5P_DEFAULT)) >= 0 &&
                H5Awrite(attribute, given, value) >= 0;
    FacetStatus status = made ? status_ok() : library_failed(file, object, "write an attribute");
    release(attribute);
    release(space);
    return status;
}

// A UTF-8 text of variable length, or of `length` bytes with a final zero.
static hid_t text_type(size_t length, H5T_cset_t letters)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0 && H5Tset_size(type, length) >= 0 && H5Tset_cset(type, letters) >= 0) return type;
    release(type);
    return H5I_INVALID_HID;
}

FacetStatus hdf5_add_text(Hdf5File *file, const char *object, const char *attribute,
                          const char *text)
{
    SILENCE_HDF5;
    hid_t type = text_type(H5T_VARIABLE, H5T_CSET_UTF8);
    FacetStatus status = add_attribute(file, object, attribute, type, type, &text);
    release(type);
    return status;
}

FacetStatus hdf5_add_integer(Hdf5File *file, const char *object, const char *attribute,
                             int64_t value)
{
    SILENCE_HDF5;
    return add_attribute(file, object, attribute, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

static FacetStatus add_array(Hdf5File *file, const char *path, hid_t stored, hid_t given,
                             const void *values, const int64_t *shape, int rank)
{
    hsize_t sizes[H5S_MAX_RANK];
    for (int i = 0; i < rank; i++) sizes[i] = (hsize_t)shape[i];
    hid_t space = H5Screate_simple(rank, sizes, NULL), creation = H5Pcreate(H5P_DATASET_CREATE);
    hid_t array = H5I_INVALID_HID;
    bool made = space >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0 &&
                (array = H5Dcreate2(file->id, path, stored, space, H5P_DEFAULT, creation,
                                    H5P_DEFAULT)) >= 0 &&
                H5Dwrite(array, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    FacetStatus status = made ? status_ok() : library_failed(file, path, "write");
    release(array);
    release(creation);
    release(space);
    return status;
}

FacetStatus hdf5_add_doubles(Hdf5File *file, const char *path, const double *values,
                             const int64_t *shape, int rank)
{
    SILENCE_HDF5;
    return add_array(file, path, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values, shape, rank);
}

FacetStatus hdf5_add_integers(Hdf5File *file, const char *path, const int32_t *values,
                              const int64_t *shape, int rank)
{
    SILENCE_HDF5;
    return add_array(file, path, H5T_STD_I32LE, H5T_NATIVE_INT32, values, shape, rank);
}

FacetStatus hdf5_add_matrix(Hdf5File *file, const char *path, const double *values, int rows,
                            int columns)
{
    return hdf5_add_doubles(file, path, values, (const int64_t[]){rows, columns}, 2);
}

FacetStatus hdf5_image(void **bytes, size_t *size, Hdf5File *file)
{
    SILENCE_HDF5;
    *bytes = NULL;
    *size = 0;
    ssize_t length =
        H5Fflush(file->id, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(file->id, NULL, 0);
    if (length < 0) return library_failed(file, "/", "write");
    void *copy = malloc((size_t)length);
    if (!copy)
        return status_fail(FACET_NO_MEMORY, "%s: out of memory for %zd bytes", file->shown, length);
    if (H5Fget_file_image(file->id, copy, (size_t)length) != length) {
        free(copy);
        return library_failed(file, "/", "write");
    }
    *bytes = copy;
    *size = (size_t)length;
    return status_ok();
}

static FacetStatus refused_by_disk(const char *shown, int error)
{
    return error ? status_fail(status_errno(error), "%s: cannot write: %s", shown, strerror(error))
                 : status_ok();
}

FacetStatus hdf5_stream_check(const Hdf5File *file)
{
    return refused_by_disk(file->shown, hdf5_stream_error(file->stream));
}

FacetStatus hdf5_finish_stream(Hdf5File *file)
{
    SILENCE_HDF5;
    FacetStatus status = H5Fclose(file->id) < 0 ? library_failed(file, "/", "close") : status_ok();
    file->id = H5I_INVALID_HID;
    int error = hdf5_stream_error(file->stream);
    if (error) status = refused_by_disk(file->shown, error);
    hdf5_close(file);
    return status;
}

// ---- Frames of bytes --------------------------------------------------------------------------

FacetStatus hdf5_make_frames(Hdf5Frames **frames, const Hdf5File *file, const char *path)
{
    assert(strlen(path) < sizeof(*frames)->path);
    if (!(*frames = calloc(1, sizeof **frames))) return hdf5_wrong(file, path, "out of memory");
    (*frames)->file = file;
    (*frames)->array = H5I_INVALID_HID;
    strcpy((*frames)->path, path);
    return status_ok();
}

FacetStatus hdf5_add_frames(Hdf5Frames **out, Hdf5File *file, const char *path,
                            const int frame_shape[HDF5_FRAME_RANK])
{
    SILENCE_HDF5;
    TRY(hdf5_make_frames(out, file, path));
    Hdf5Frames *frames = *out;
    hsize_t shape[FRAMES_RANK] = {0}, limit[FRAMES_RANK] = {H5S_UNLIMITED},
            chunk[FRAMES_RANK] = {1};
    for (int i = 1; i < FRAMES_RANK; i++)
        frames->shape[i] = shape[i] = limit[i] = chunk[i] = (hsize_t)frame_shape[i - 1];
    hid_t space = H5Screate_simple(FRAMES_RANK, shape, limit);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    bool made = space >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0 &&
                H5Pset_chunk(creation, FRAMES_RANK, chunk) >= 0 &&
                H5Pset_deflate(creation, 1) >= 0 &&
                (frames->array = H5Dcreate2(file->id, path, H5T_STD_U8LE, space, H5P_DEFAULT,
                                            creation, H5P_DEFAULT)) >= 0;
    FacetStatus status = made ? status_ok() : library_failed(file, path, "write");
    release(creation);
    release(space);
    if (!status.ok) {
        hdf5_close_frames(frames);
        *out = NULL;
    }
    return status;
}

FacetStatus hdf5_append_frame(Hdf5Frames *frames, const void *deflated, size_t size)
{
    SILENCE_HDF5;
    hsize_t place[FRAMES_RANK] = {frames->shape[0]++}, shape[FRAMES_RANK];
    for (int i = 0; i < FRAMES_RANK; i++) shape[i] = frames->shape[i];
    bool written = H5Dset_extent(frames->array, shape) >= 0 &&
                   H5Dwrite_chunk(frames->array, H5P_DEFAULT, 0, place, size, deflated) >= 0;
    return written ? status_ok() : library_failed(frames->file, frames->path, "write");
}

void hdf5_close_frames(Hdf5Frames *frames)
{
    SILENCE_HDF5;
    if (!frames) return;
    release(frames->array);
    free(frames->places);
    free(frames);
}
