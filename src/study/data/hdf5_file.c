// HDF5 files through the HDF5 library (see hdf5_file.h).
#include "hdf5_file.h"

#include "base/text.h"
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

struct Hdf5File {
    hid_t id;
    Hdf5Stream *stream; // of a file that is written to disk
    char shown[256];    // the name in messages; the end of a long path
};

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

static FacetStatus make_file(Hdf5File **file, const char *shown)
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
    TRY(make_file(file, shown));
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

FacetStatus hdf5_create_stream(Hdf5File **file, const char *path, const char *shown)
{
    SILENCE_HDF5;
    TRY(make_file(file, shown));
    FacetStatus status = status_ok();
    hid_t access = H5I_INVALID_HID;
    if (!((*file)->stream = hdf5_stream_open(path)))
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

// Says why a path cannot be an HDF5 file, before the library is asked.
static FacetStatus check_readable(const Hdf5File *file, const char *path)
{
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK);
    int failed = descriptor < 0 || fstat(descriptor, &info) != 0, error = errno;
    if (descriptor >= 0) close(descriptor);
    if (failed)
        return status_fail(status_errno(error), "%s: cannot open: %s", file->shown,
                           strerror(error));
    const char *found = S_ISDIR(info.st_mode)    ? "a folder"
                        : !S_ISREG(info.st_mode) ? "something else"
                        : info.st_size == 0      ? "an empty file"
                        : H5Fis_hdf5(path) <= 0  ? "other content"
                                                 : NULL;
    if (found)
        return status_fail(FACET_BAD_FILE, "%s: expected an HDF5 file, found %s", file->shown,
                           found);
    return status_ok();
}

FacetStatus hdf5_open(Hdf5File **file, const char *path)
{
    SILENCE_HDF5;
    TRY(make_file(file, path));
    FacetStatus status = check_readable(*file, path);
    if (status.ok && ((*file)->id = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT)) < 0) {
        char text[160];
        status = status_fail(FACET_BAD_FILE,
                             "%s: expected a whole HDF5 file, found a truncated or damaged one: %s",
                             (*file)->shown, cause(text));
    }
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

// ---- Reading: objects -----------------------------------------------------------------------

static Hdf5Kind kind_at(hid_t location, const char *path)
{
    hid_t object = H5Oopen(location, path, H5P_DEFAULT);
    if (object < 0) return HDF5_NOTHING;
    H5I_type_t type = H5Iget_type(object);
    release(object);
    return type == H5I_GROUP ? HDF5_GROUP : type == H5I_DATASET ? HDF5_ARRAY : HDF5_OTHER;
}

Hdf5Kind hdf5_kind(const Hdf5File *file, const char *path)
{
    SILENCE_HDF5;
    return kind_at(file->id, path);
}

typedef struct ChildList {
    char (*names)[HDF5_NAME_SIZE];
    int count, capacity;
    Hdf5Kind kind;
    const char *prefix;
    FacetStatus status;
} ChildList;

static herr_t visit_child(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)info;
    ChildList *list = context;
    if (strncmp(name, list->prefix, strlen(list->prefix)) != 0) return 0;
    if (kind_at(group, name) != list->kind) return 0;
    if (strlen(name) >= HDF5_NAME_SIZE) {
        list->status =
            status_fail(FACET_BAD_ARGUMENT, "expected names of at most %d bytes, found '%.60s…'",
                        HDF5_NAME_SIZE - 1, name);
        return 1;
    }
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        void *names = realloc(list->names, (size_t)capacity * sizeof *list->names);
        if (!names) {
            list->status = status_fail(FACET_NO_MEMORY, "out of memory for %d names", capacity);
            return 1;
        }
        list->names = names;
        list->capacity = capacity;
    }
    strcpy(list->names[list->count++], name);
    return 0;
}

static int compare_names(const void *a, const void *b) { return text_natural_compare(a, b); }

FacetStatus hdf5_children(char (**names)[HDF5_NAME_SIZE], int *count, const Hdf5File *file,
                          const char *group, Hdf5Kind kind, const char *prefix)
{
    SILENCE_HDF5;
    *names = NULL;
    *count = 0;
    ChildList list = {.kind = kind, .prefix = prefix, .status = status_ok()};
    hid_t id = H5Gopen2(file->id, group, H5P_DEFAULT);
    bool visited =
        id >= 0 && H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, visit_child, &list) >= 0;
    FacetStatus status = visited ? status_ok() : library_failed(file, group, "list");
    release(id);
    if (!list.status.ok) status = hdf5_wrong(file, group, "%s", list.status.text);
    if (!status.ok) {
        free(list.names);
        return status;
    }
    if (list.count > 0) qsort(list.names, (size_t)list.count, sizeof *list.names, compare_names);
    *names = list.names;
    *count = list.count;
    return status_ok();
}

// ---- Reading: attributes --------------------------------------------------------------------

static const char *describe_type(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return "integers";
    case H5T_FLOAT:
        return "floats";
    case H5T_STRING:
        return "text";
    case H5T_ENUM:
        return "an enumeration";
    case H5T_COMPOUND:
        return "a compound";
    case H5T_REFERENCE:
        return "a reference";
    default:
        return "another type";
    }
}

bool hdf5_has_attribute(const Hdf5File *file, const char *object, const char *attribute)
{
    SILENCE_HDF5;
    return H5Aexists_by_name(file->id, object, attribute, H5P_DEFAULT) > 0;
}

// Opens an attribute of one element and of one class.
static FacetStatus open_attribute(hid_t *attribute, hid_t *type, const Hdf5File *file,
                                  const char *object, const char *name, H5T_class_t class,
                                  const char *expected)
{
    *attribute = *type = H5I_INVALID_HID;
    if (!hdf5_has_attribute(file, object, name))
        return hdf5_wrong(file, object, "attribute '%s': expected %s, found nothing", name,
                          expected);
    if ((*attribute = H5Aopen_by_name(file->id, object, name, H5P_DEFAULT, H5P_DEFAULT)) < 0 ||
        (*type = H5Aget_type(*attribute)) < 0)
        return library_failed(file, object, "read an attribute");
    if (H5Tget_class(*type) != class)
        return hdf5_wrong(file, object, "attribute '%s': expected %s, found %s", name, expected,
                          describe_type(*type));
    hid_t space = H5Aget_space(*attribute);
    hssize_t elements = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    release(space);
    if (elements != 1)
        return hdf5_wrong(file, object, "attribute '%s': expected %s, found %lld of them", name,
                          expected, (long long)elements);
    return status_ok();
}

// Reads a text of variable or fixed length; NULL when the library fails or memory ends.
static char *read_text(hid_t attribute, hid_t type)
{
    bool variable = H5Tis_variable_str(type) > 0;
    size_t size = variable ? H5T_VARIABLE : H5Tget_size(type) + 1;
    hid_t memory_type = text_type(size, H5Tget_cset(type));
    char *text = NULL, *kept = variable ? NULL : calloc(size, 1);
    void *to = variable ? (void *)&text : kept;
    bool read = memory_type >= 0 && to && H5Aread(attribute, memory_type, to) >= 0;
    if (!read) {
        free(kept);
        kept = NULL;
    } else if (variable) {
        // An attribute that nobody has written holds no text at all.
        kept = strdup(text ? text : "");
        H5free_memory(text);
    }
    release(memory_type);
    return kept;
}

FacetStatus hdf5_text(char **text, const Hdf5File *file, const char *object, const char *name)
{
    SILENCE_HDF5;
    *text = NULL;
    hid_t attribute, type;
    FacetStatus status =
        open_attribute(&attribute, &type, file, object, name, H5T_STRING, "a text");
    if (status.ok && !(*text = read_text(attribute, type)))
        status = library_failed(file, object, "read an attribute");
    release(type);
    release(attribute);
    return status;
}

FacetStatus hdf5_integer(int64_t *value, const Hdf5File *file, const char *object, const char *name)
{
    SILENCE_HDF5;
    *value = 0;
    hid_t attribute, type;
    FacetStatus status =
        open_attribute(&attribute, &type, file, object, name, H5T_INTEGER, "an integer");
    if (status.ok && H5Aread(attribute, H5T_NATIVE_INT64, value) < 0)
        status = library_failed(file, object, "read an attribute");
    release(type);
    release(attribute);
    return status;
}

// ---- Reading: arrays ------------------------------------------------------------------------

typedef struct Array {
    hid_t id, type, space;
} Array;

static void close_array(Array *array)
{
    release(array->space);
    release(array->type);
    release(array->id);
}

// Opens an array, which the caller closes whether or not that succeeds.
static FacetStatus open_array(Array *array, const Hdf5File *file, const char *path,
                              const char *expected)
{
    *array = (Array){H5I_INVALID_HID, H5I_INVALID_HID, H5I_INVALID_HID};
    Hdf5Kind kind = hdf5_kind(file, path);
    if (kind != HDF5_ARRAY)
        return hdf5_wrong(file, path, "expected %s, found %s", expected,
                          kind == HDF5_NOTHING ? "nothing"
                          : kind == HDF5_GROUP ? "a group"
                                               : "another object");
    bool opened = (array->id = H5Dopen2(file->id, path, H5P_DEFAULT)) >= 0 &&
                  (array->type = H5Dget_type(array->id)) >= 0 &&
                  (array->space = H5Dget_space(array->id)) >= 0;
    return opened ? status_ok() : library_failed(file, path, "read");
}

static FacetStatus check_matrix(hsize_t shape[2], const Hdf5File *file, const char *path,
                                hid_t type, hid_t space)
{
    H5T_class_t class = H5Tget_class(type);
    int dimensions = H5Sget_simple_extent_ndims(space);
    if (class != H5T_FLOAT && class != H5T_INTEGER)
        return hdf5_wrong(file, path, "expected a matrix of numbers, found %s",
                          describe_type(type));
    if (dimensions != 2)
        return hdf5_wrong(file, path, "expected a matrix of 2 dimensions, found %d", dimensions);
    if (H5Sget_simple_extent_dims(space, shape, NULL) != 2)
        return library_failed(file, path, "read");
    if (shape[0] < 1 || shape[1] < 1 || shape[0] > INT_MAX || shape[1] > INT_MAX)
        return hdf5_wrong(file, path, "expected a matrix of 1x1 or more, found %llux%llu",
                          (unsigned long long)shape[0], (unsigned long long)shape[1]);
    return status_ok();
}

FacetStatus hdf5_matrix_shape(int *rows, int *columns, const Hdf5File *file, const char *path)
{
    SILENCE_HDF5;
    hsize_t shape[2] = {0, 0};
    Array array;
    FacetStatus status = open_array(&array, file, path, "a matrix of numbers");
    if (status.ok) status = check_matrix(shape, file, path, array.type, array.space);
    close_array(&array);
    *rows = (int)shape[0];
    *columns = (int)shape[1];
    return status;
}

// The shape of an array of one rank; a size past what an int64_t holds is no size of a file.
static FacetStatus read_shape(int64_t *shape, int rank, const Hdf5File *file, const char *path,
                              const char *expected, hid_t space)
{
    int dimensions = H5Sget_simple_extent_ndims(space);
    hsize_t sizes[H5S_MAX_RANK];
    if (dimensions != rank)
        return hdf5_wrong(file, path, "expected %s, found %d dimensions", expected, dimensions);
    if (H5Sget_simple_extent_dims(space, sizes, NULL) != rank)
        return library_failed(file, path, "read");
    for (int i = 0; i < rank; i++)
        if ((shape[i] = sizes[i] > INT64_MAX ? -1 : (int64_t)sizes[i]) < 0)
            return hdf5_wrong(file, path, "expected %s, found a size of %llu", expected,
                              (unsigned long long)sizes[i]);
    return status_ok();
}

FacetStatus hdf5_array_shape(int64_t *shape, int rank, bool integers, const Hdf5File *file,
                             const char *path, const char *expected)
{
    SILENCE_HDF5;
    Array array;
    FacetStatus status = open_array(&array, file, path, expected);
    if (status.ok) {
        H5T_class_t class = H5Tget_class(array.type);
        status = class == H5T_INTEGER || (class == H5T_FLOAT && !integers)
                     ? read_shape(shape, rank, file, path, expected, array.space)
                     : hdf5_wrong(file, path, "expected %s, found %s", expected,
                                  describe_type(array.type));
    }
    close_array(&array);
    return status;
}

static FacetStatus read_numbers(void *values, hid_t type, const Hdf5File *file, const char *path)
{
    hid_t array = H5Dopen2(file->id, path, H5P_DEFAULT);
    bool read = array >= 0 && H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
    FacetStatus status = read ? status_ok() : library_failed(file, path, "read");
    release(array);
    return status;
}

FacetStatus hdf5_doubles(double *values, const Hdf5File *file, const char *path)
{
    SILENCE_HDF5;
    return read_numbers(values, H5T_NATIVE_DOUBLE, file, path);
}

FacetStatus hdf5_integers(int64_t *values, const Hdf5File *file, const char *path)
{
    SILENCE_HDF5;
    return read_numbers(values, H5T_NATIVE_INT64, file, path);
}

// ---- Frames of bytes --------------------------------------------------------------------------

enum { FRAMES_RANK = 1 + HDF5_FRAME_RANK };

struct Hdf5Frames {
    const Hdf5File *file;
    hid_t array;
    char path[HDF5_NAME_SIZE];
    hsize_t shape[FRAMES_RANK]; // of the whole array
    bool deflated;              // frames are, where their own mark does not say otherwise
};

static FacetStatus make_frames(Hdf5Frames **frames, const Hdf5File *file, const char *path)
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
    TRY(make_frames(out, file, path));
    Hdf5Frames *frames = *out;
    hsize_t limit[FRAMES_RANK] = {H5S_UNLIMITED}, chunk[FRAMES_RANK] = {1};
    for (int i = 0; i < HDF5_FRAME_RANK; i++)
        frames->shape[1 + i] = limit[1 + i] = chunk[1 + i] = (hsize_t)frame_shape[i];
    frames->deflated = true;
    hid_t space = H5Screate_simple(FRAMES_RANK, frames->shape, limit);
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
    hsize_t place[FRAMES_RANK] = {frames->shape[0]++};
    bool written = H5Dset_extent(frames->array, frames->shape) >= 0 &&
                   H5Dwrite_chunk(frames->array, H5P_DEFAULT, 0, place, size, deflated) >= 0;
    return written ? status_ok() : library_failed(frames->file, frames->path, "write");
}

// Frames are deflated by the one filter there is, or there is none.
static FacetStatus check_filters(Hdf5Frames *frames, hid_t creation)
{
    int filters = H5Pget_nfilters(creation);
    for (int i = 0; i < filters; i++) {
        unsigned flags, configuration;
        size_t values = 0;
        char name[64] = "";
        H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL,
                                             sizeof name, name, &configuration);
        if (filter != H5Z_FILTER_DEFLATE || filters > 1)
            return hdf5_wrong(frames->file, frames->path,
                              "expected gzip or no compression, found filter %d of %d, '%s'", i + 1,
                              filters, name);
    }
    frames->deflated = filters == 1;
    return filters < 0 ? library_failed(frames->file, frames->path, "read") : status_ok();
}

// Every chunk is one frame.
static FacetStatus check_chunks(const Hdf5Frames *frames, hid_t creation)
{
    hsize_t chunk[FRAMES_RANK];
    if (H5Pget_layout(creation) != H5D_CHUNKED)
        return hdf5_wrong(frames->file, frames->path,
                          "expected one chunk a frame, found an array that has no chunks");
    if (H5Pget_chunk(creation, FRAMES_RANK, chunk) != FRAMES_RANK)
        return library_failed(frames->file, frames->path, "read");
    for (int i = 0; i < FRAMES_RANK; i++)
        if (chunk[i] != (i ? frames->shape[i] : 1))
            return hdf5_wrong(frames->file, frames->path,
                              "expected one chunk a frame, found chunks of %llu along dimension %d "
                              "of %llu",
                              (unsigned long long)chunk[i], i,
                              (unsigned long long)frames->shape[i]);
    return status_ok();
}

static FacetStatus check_frames(Hdf5Frames *frames, int64_t *count,
                                int frame_shape[HDF5_FRAME_RANK], const char *expected,
                                const Array *array)
{
    if (H5Tequal(array->type, H5T_NATIVE_UINT8) <= 0) {
        bool is_signed =
            H5Tget_class(array->type) == H5T_INTEGER && H5Tget_sign(array->type) == H5T_SGN_2;
        return hdf5_wrong(frames->file, frames->path, "expected %s, found %s%s of %zu bits",
                          expected, is_signed ? "signed " : "", describe_type(array->type),
                          8 * H5Tget_size(array->type));
    }
    int64_t shape[FRAMES_RANK];
    TRY(read_shape(shape, FRAMES_RANK, frames->file, frames->path, expected, array->space));
    frames->shape[0] = (hsize_t)(*count = shape[0]);
    for (int i = 0; i < HDF5_FRAME_RANK; i++) {
        if (shape[1 + i] < 1 || shape[1 + i] > INT_MAX)
            return hdf5_wrong(frames->file, frames->path, "expected %s, found a size of %lld",
                              expected, (long long)shape[1 + i]);
        frames->shape[1 + i] = (hsize_t)(frame_shape[i] = (int)shape[1 + i]);
    }
    hid_t creation = H5Dget_create_plist(array->id);
    FacetStatus status = creation < 0 ? library_failed(frames->file, frames->path, "read")
                                      : check_filters(frames, creation);
    if (status.ok) status = check_chunks(frames, creation);
    release(creation);
    return status;
}

FacetStatus hdf5_open_frames(Hdf5Frames **frames, int64_t *count, int frame_shape[HDF5_FRAME_RANK],
                             const Hdf5File *file, const char *path, const char *expected)
{
    SILENCE_HDF5;
    TRY(make_frames(frames, file, path));
    Array array;
    FacetStatus status = open_array(&array, file, path, expected);
    if (status.ok) status = check_frames(*frames, count, frame_shape, expected, &array);
    if (status.ok) {
        (*frames)->array = array.id;
        array.id = H5I_INVALID_HID;
    } else {
        hdf5_close_frames(*frames);
        *frames = NULL;
    }
    close_array(&array);
    return status;
}

void hdf5_close_frames(Hdf5Frames *frames)
{
    SILENCE_HDF5;
    if (!frames) return;
    release(frames->array);
    free(frames);
}

static FacetStatus frame_failed(const Hdf5Frames *frames, int64_t frame, const char *reason)
{
    return hdf5_wrong(frames->file, frames->path, "frame %lld: expected an image, found none: %s",
                      (long long)frame, reason);
}

FacetStatus hdf5_frame_size(size_t *size, const Hdf5Frames *frames, int64_t frame)
{
    SILENCE_HDF5;
    // Some versions of the library fail where nothing was written, others find no bytes.
    hsize_t place[FRAMES_RANK] = {(hsize_t)frame}, bytes = 0;
    char text[160];
    if (H5Dget_chunk_storage_size(frames->array, place, &bytes) < 0)
        return frame_failed(frames, frame, cause(text));
    *size = (size_t)bytes;
    return bytes > 0 ? status_ok() : frame_failed(frames, frame, "chunk storage is not allocated");
}

FacetStatus hdf5_read_frame(void *bytes, size_t *size, bool *deflated, size_t room,
                            const Hdf5Frames *frames, int64_t frame)
{
    SILENCE_HDF5;
    // The library writes as much as is stored, whatever the room.
    TRY(hdf5_frame_size(size, frames, frame));
    if (*size > room)
        return hdf5_wrong(frames->file, frames->path,
                          "frame %lld: expected at most %zu bytes, found %zu", (long long)frame,
                          room, *size);
    hsize_t place[FRAMES_RANK] = {(hsize_t)frame};
    char text[160];
    uint32_t skipped = 0; // filters, one a bit
    if (H5Dread_chunk(frames->array, H5P_DEFAULT, place, &skipped, bytes) < 0)
        return frame_failed(frames, frame, cause(text));
    *deflated = frames->deflated && !(skipped & 1);
    return status_ok();
}
