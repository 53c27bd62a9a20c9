// Reads HDF5 files without the HDF5 library (see hdf5_file.h, and hdf5_source.h for why).
#include "base/text.h"
#include "hdf5_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static FacetStatus cannot(const Hdf5File *file, const char *object, const char *verb)
{
    return hdf5_wrong(file, object, "cannot %s: found %s", verb, file->source->reason);
}

// ---- Files --------------------------------------------------------------------------------------

static FacetStatus not_hdf5(const Hdf5File *file, const char *found)
{
    return status_fail(FACET_BAD_FILE, "%s: expected an HDF5 file, found %s", file->shown, found);
}

// Opens a path, or says why it cannot be an HDF5 file.
static FacetStatus open_regular(int *descriptor, const Hdf5File *file, const char *path)
{
    struct stat info;
    *descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (*descriptor < 0 || fstat(*descriptor, &info) != 0)
        return status_fail(status_errno(errno), "%s: cannot open: %s", file->shown,
                           strerror(errno));
    const char *found = S_ISDIR(info.st_mode)    ? "a folder"
                        : !S_ISREG(info.st_mode) ? "something else"
                        : info.st_size == 0      ? "an empty file"
                                                 : NULL;
    return found ? not_hdf5(file, found) : status_ok();
}

static FacetStatus open_source(Hdf5File *file, const char *path)
{
    int descriptor;
    FacetStatus status = open_regular(&descriptor, file, path);
    if (status.ok && !(file->source = calloc(1, sizeof *file->source)))
        status = status_fail(FACET_NO_MEMORY, "%s: out of memory", file->shown);
    if (!status.ok) {
        if (descriptor >= 0) close(descriptor);
        return status;
    }
    if (hdf5_source_open(file->source, descriptor)) return status_ok();
    if (strcmp(file->source->reason, "no signature") == 0) return not_hdf5(file, "other content");
    return status_fail(FACET_BAD_FILE,
                       "%s: expected a whole HDF5 file, found a truncated or damaged one: %s",
                       file->shown, file->source->reason);
}

FacetStatus hdf5_open(Hdf5File **file, const char *path)
{
    TRY(hdf5_make_file(file, path));
    FacetStatus status = open_source(*file, path);
    if (status.ok) return status;
    hdf5_close(*file);
    *file = NULL;
    return status;
}

// ---- Objects ------------------------------------------------------------------------------------

static Hdf5Kind kind_of(const Hdf5Header *header)
{
    bool group = hdf5_header_find(header, MESSAGE_SYMBOL_TABLE) ||
                 hdf5_header_find(header, MESSAGE_LINK_INFO) ||
                 hdf5_header_find(header, MESSAGE_GROUP_INFO);
    return group ? HDF5_GROUP : hdf5_is_array(header) ? HDF5_ARRAY : HDF5_OTHER;
}

// The kind of the object at a path below a group. What is damaged or stands in another file is
// something else, and leaves a reason.
static Hdf5Kind kind_at(Hdf5Source *source, uint64_t group, const char *path)
{
    uint64_t address;
    source->reason[0] = '\0';
    Hdf5Found found = hdf5_resolve(&address, source, group, path);
    if (found == HDF5_ABSENT) return HDF5_NOTHING;
    if (found == HDF5_OUTSIDE)
        hdf5_source_fail(source, "a link to another file, which Facet does not follow");
    if (found != HDF5_FOUND) return HDF5_OTHER;
    Hdf5Header header;
    Hdf5Kind kind = hdf5_header_read(&header, source, address) ? kind_of(&header) : HDF5_OTHER;
    hdf5_header_free(&header);
    return kind;
}

Hdf5Kind hdf5_kind(const Hdf5File *file, const char *path)
{
    return kind_at(file->source, file->source->root, path);
}

typedef char Name[HDF5_NAME_SIZE];

static int compare_names(const void *a, const void *b) { return text_natural_compare(a, b); }

// Keeps those of the names that are of a kind, and returns how many they are.
static FacetStatus keep_kind(int *kept, Name *names, int count, const Hdf5File *file,
                             uint64_t group, const char *path, Hdf5Kind kind)
{
    *kept = 0;
    for (int i = 0; i < count; i++) {
        Hdf5Kind found = kind_at(file->source, group, names[i]);
        if (found == HDF5_OTHER && file->source->reason[0])
            return hdf5_wrong(file, path, "cannot list '%s': found %s", names[i],
                              file->source->reason);
        if (found == kind && *kept != i) strcpy(names[*kept], names[i]);
        *kept += found == kind;
    }
    return status_ok();
}

// The names of the links that begin with a prefix, which the caller frees.
static FacetStatus copy_names(Name **names, int *count, const Hdf5File *file, const char *path,
                              const Hdf5Listing *listing, const char *prefix)
{
    if (!(*names = calloc((size_t)listing->count + 1, sizeof **names)))
        return hdf5_wrong(file, path, "out of memory for %d names", listing->count);
    for (int i = 0; i < listing->count; i++) {
        const char *name = listing->links[i].name;
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        if (strlen(name) >= HDF5_NAME_SIZE)
            return hdf5_wrong(file, path, "expected names of at most %d bytes, found '%.60s…'",
                              HDF5_NAME_SIZE - 1, name);
        strcpy((*names)[(*count)++], name);
    }
    return status_ok();
}

FacetStatus hdf5_children(char (**names)[HDF5_NAME_SIZE], int *count, const Hdf5File *file,
                          const char *group, Hdf5Kind kind, const char *prefix)
{
    *names = NULL;
    *count = 0;
    uint64_t address;
    bool found = hdf5_resolve(&address, file->source, file->source->root, group) == HDF5_FOUND;
    const Hdf5Listing *listing = found ? hdf5_group_links(file->source, address) : NULL;
    if (!listing) return cannot(file, group, "list");
    FacetStatus status = copy_names(names, count, file, group, listing, prefix);
    if (status.ok) status = keep_kind(count, *names, *count, file, address, group, kind);
    if (!status.ok) {
        free(*names);
        *names = NULL;
        return status;
    }
    if (*count > 0) qsort(*names, (size_t)*count, sizeof **names, compare_names);
    return status_ok();
}

// ---- Attributes ---------------------------------------------------------------------------------

// The caller frees the header, whichever the answer.
static Hdf5Found find_attribute(Hdf5Attribute *attribute, Hdf5Header *header, const Hdf5File *file,
                                const char *object, const char *name)
{
    Hdf5Source *source = file->source;
    uint64_t address;
    *header = (Hdf5Header){0};
    Hdf5Found found = hdf5_resolve(&address, source, source->root, object);
    if (found == HDF5_FOUND && !hdf5_header_read(header, source, address)) found = HDF5_BROKEN;
    return found == HDF5_FOUND ? hdf5_attribute_find(attribute, source, header, name) : found;
}

bool hdf5_has_attribute(const Hdf5File *file, const char *object, const char *attribute)
{
    Hdf5Attribute found;
    Hdf5Header header;
    Hdf5Found answer = find_attribute(&found, &header, file, object, attribute);
    hdf5_header_free(&header);
    return answer == HDF5_FOUND || answer == HDF5_BROKEN; // reading it says what is broken
}

// Finds an attribute of one element and of one class. The caller frees the header either way.
static FacetStatus open_attribute(Hdf5Attribute *attribute, Hdf5Header *header,
                                  const Hdf5File *file, const char *object, const char *name,
                                  Hdf5Class class, const char *expected)
{
    Hdf5Found found = find_attribute(attribute, header, file, object, name);
    if (found == HDF5_BROKEN) return cannot(file, object, "read an attribute");
    if (found != HDF5_FOUND)
        return hdf5_wrong(file, object, "attribute '%s': expected %s, found nothing", name,
                          expected);
    if (attribute->type.class != class)
        return hdf5_wrong(file, object, "attribute '%s': expected %s, found %s", name, expected,
                          hdf5_class_name(&attribute->type));
    if (attribute->space.count != 1)
        return hdf5_wrong(file, object, "attribute '%s': expected %s, found %llu of them", name,
                          expected, (unsigned long long)attribute->space.count);
    return status_ok();
}

FacetStatus hdf5_text(char **text, const Hdf5File *file, const char *object, const char *name)
{
    *text = NULL;
    Hdf5Attribute attribute;
    Hdf5Header header;
    FacetStatus status =
        open_attribute(&attribute, &header, file, object, name, CLASS_TEXT, "a text");
    if (status.ok && !(*text = hdf5_text_at(file->source, &attribute.type, attribute.data)))
        status = cannot(file, object, "read an attribute");
    hdf5_header_free(&header);
    return status;
}

FacetStatus hdf5_integer(int64_t *value, const Hdf5File *file, const char *object, const char *name)
{
    *value = 0;
    Hdf5Attribute attribute;
    Hdf5Header header;
    FacetStatus status =
        open_attribute(&attribute, &header, file, object, name, CLASS_INTEGER, "an integer");
    if (status.ok && attribute.type.size > attribute.data.left)
        status =
            hdf5_wrong(file, object, "attribute '%s': expected an integer, found its start", name);
    if (status.ok)
        hdf5_convert((Hdf5Output){.integers = value}, 0, attribute.data.at, 1, &attribute.type);
    hdf5_header_free(&header);
    return status;
}

// ---- Arrays -------------------------------------------------------------------------------------

// Opens an array, which the caller frees whether or not that succeeds.
static FacetStatus open_array(Hdf5Array *array, const Hdf5File *file, const char *path,
                              const char *expected)
{
    *array = (Hdf5Array){0};
    Hdf5Source *source = file->source;
    Hdf5Kind kind = hdf5_kind(file, path);
    if (kind == HDF5_OTHER && source->reason[0]) return cannot(file, path, "read");
    if (kind != HDF5_ARRAY)
        return hdf5_wrong(file, path, "expected %s, found %s", expected,
                          kind == HDF5_NOTHING ? "nothing"
                          : kind == HDF5_GROUP ? "a group"
                                               : "another object");
    uint64_t address;
    bool opened = hdf5_resolve(&address, source, source->root, path) == HDF5_FOUND &&
                  hdf5_array_open(array, source, address);
    return opened ? status_ok() : cannot(file, path, "read");
}

static FacetStatus check_matrix(const Hdf5Array *array, const Hdf5File *file, const char *path)
{
    const uint64_t *shape = array->space.shape;
    if (array->type.class != CLASS_FLOAT && array->type.class != CLASS_INTEGER)
        return hdf5_wrong(file, path, "expected a matrix of numbers, found %s",
                          hdf5_class_name(&array->type));
    if (array->space.rank != 2)
        return hdf5_wrong(file, path, "expected a matrix of 2 dimensions, found %d",
                          array->space.rank);
    if (shape[0] < 1 || shape[1] < 1 || shape[0] > INT_MAX || shape[1] > INT_MAX)
        return hdf5_wrong(file, path, "expected a matrix of 1x1 or more, found %llux%llu",
                          (unsigned long long)shape[0], (unsigned long long)shape[1]);
    return status_ok();
}

FacetStatus hdf5_matrix_shape(int *rows, int *columns, const Hdf5File *file, const char *path)
{
    Hdf5Array array;
    *rows = *columns = 0;
    FacetStatus status = open_array(&array, file, path, "a matrix of numbers");
    if (status.ok) status = check_matrix(&array, file, path);
    if (status.ok) {
        *rows = (int)array.space.shape[0];
        *columns = (int)array.space.shape[1];
    }
    hdf5_array_free(&array);
    return status;
}

// The shape of an array of one rank; a size past what an int64_t holds is no size of a file.
static FacetStatus read_shape(int64_t *shape, int rank, const Hdf5File *file, const char *path,
                              const char *expected, const Hdf5Space *space)
{
    if (space->rank != rank)
        return hdf5_wrong(file, path, "expected %s, found %d dimensions", expected, space->rank);
    for (int i = 0; i < rank; i++)
        if ((shape[i] = space->shape[i] > INT64_MAX ? -1 : (int64_t)space->shape[i]) < 0)
            return hdf5_wrong(file, path, "expected %s, found a size of %llu", expected,
                              (unsigned long long)space->shape[i]);
    return status_ok();
}

FacetStatus hdf5_array_shape(int64_t *shape, int rank, bool integers, const Hdf5File *file,
                             const char *path, const char *expected)
{
    Hdf5Array array;
    FacetStatus status = open_array(&array, file, path, expected);
    if (status.ok) {
        Hdf5Class class = array.type.class;
        status = class == CLASS_INTEGER || (class == CLASS_FLOAT && !integers)
                     ? read_shape(shape, rank, file, path, expected, &array.space)
                     : hdf5_wrong(file, path, "expected %s, found %s", expected,
                                  hdf5_class_name(&array.type));
    }
    hdf5_array_free(&array);
    return status;
}

static FacetStatus read_array(Hdf5Output out, const Hdf5File *file, const char *path)
{
    Hdf5Array array;
    FacetStatus status = open_array(&array, file, path, "numbers");
    if (status.ok && !hdf5_array_read(out, file->source, &array))
        status = cannot(file, path, "read");
    hdf5_array_free(&array);
    return status;
}

FacetStatus hdf5_doubles(double *values, const Hdf5File *file, const char *path)
{
    return read_array((Hdf5Output){.doubles = values}, file, path);
}

FacetStatus hdf5_integers(int64_t *values, const Hdf5File *file, const char *path)
{
    return read_array((Hdf5Output){.integers = values}, file, path);
}

FacetStatus hdf5_check_claim(const Hdf5File *file, const char *object, double bytes)
{
    bool held = bytes < 0x1p63 && hdf5_may_hold(file->source, (uint64_t)bytes);
    return held ? status_ok()
                : hdf5_wrong(file, object, "expected what a file of %llu bytes can hold, found %g",
                             (unsigned long long)file->source->size, bytes);
}

// ---- Images and lists of texts ------------------------------------------------------------------

static bool holds_images(const Hdf5Array *array)
{
    const Hdf5Type *type = &array->type;
    return array->space.rank == 4 && type->class == CLASS_INTEGER && type->size == 1 &&
           !type->is_signed;
}

bool hdf5_is_image(const Hdf5File *file, const char *path)
{
    Hdf5Array array;
    bool image = open_array(&array, file, path, "an array").ok && holds_images(&array);
    hdf5_array_free(&array);
    return image;
}

FacetStatus hdf5_image_shape(int64_t *count, int *height, int *width, const Hdf5File *file,
                             const char *path)
{
    enum { PIXELS_MAX = 16384 }; // a side
    static const char expected[] = "images [N][height][width][3] of bytes";
    int64_t shape[4];
    if (!hdf5_is_image(file, path))
        return hdf5_wrong(file, path, "expected %s, found another array", expected);
    TRY(hdf5_array_shape(shape, 4, true, file, path, expected));
    if (shape[0] < 1 || shape[1] < 1 || shape[1] > PIXELS_MAX || shape[2] < 1 ||
        shape[2] > PIXELS_MAX || shape[3] != 3)
        return hdf5_wrong(file, path, "expected %s, found %lldx%lldx%lldx%lld", expected,
                          (long long)shape[0], (long long)shape[1], (long long)shape[2],
                          (long long)shape[3]);
    *count = shape[0];
    *height = (int)shape[1];
    *width = (int)shape[2];
    return status_ok();
}

FacetStatus hdf5_bytes(uint8_t *bytes, const Hdf5File *file, const char *path)
{
    return read_array((Hdf5Output){.raw = bytes}, file, path);
}

// Texts of names: what is longer is cut.
static FacetStatus copy_texts(char **texts, const Hdf5File *file, const char *path,
                              const Hdf5Array *array, const unsigned char *raw)
{
    size_t size = array->type.size;
    for (uint64_t i = 0; i < array->space.count; i++) {
        const Hdf5Cursor at = {raw + i * size, size, false};
        char *text = hdf5_text_at(file->source, &array->type, at);
        texts[i] = text ? strndup(text, HDF5_NAME_SIZE) : NULL;
        free(text);
        if (!text) return cannot(file, path, "read");
        if (!texts[i]) return hdf5_wrong(file, path, "out of memory");
    }
    return status_ok();
}

static FacetStatus read_texts(char **texts, const Hdf5File *file, const char *path,
                              const Hdf5Array *array)
{
    unsigned char *raw = malloc((size_t)(array->space.count * array->type.size) + 1);
    if (!raw) return hdf5_wrong(file, path, "out of memory");
    FacetStatus status = hdf5_array_read((Hdf5Output){.raw = raw}, file->source, array)
                             ? copy_texts(texts, file, path, array, raw)
                             : cannot(file, path, "read");
    free(raw);
    return status;
}

FacetStatus hdf5_texts(char ***texts, int *count, const Hdf5File *file, const char *path)
{
    enum { TEXTS_MAX = 1000000 };
    static const char expected[] = "a list of texts";
    Hdf5Array array;
    *texts = NULL;
    *count = 0;
    FacetStatus status = open_array(&array, file, path, expected);
    if (status.ok && array.type.class != CLASS_TEXT)
        status =
            hdf5_wrong(file, path, "expected %s, found %s", expected, hdf5_class_name(&array.type));
    if (status.ok && (array.space.rank != 1 || array.space.count > TEXTS_MAX))
        status = hdf5_wrong(file, path, "expected %s, found %llu in %d dimensions", expected,
                            (unsigned long long)array.space.count, array.space.rank);
    int length = status.ok ? (int)array.space.count : 0;
    if (status.ok && !(*texts = calloc((size_t)length + 1, sizeof **texts)))
        status = hdf5_wrong(file, path, "out of memory");
    if (status.ok) status = read_texts(*texts, file, path, &array);
    hdf5_array_free(&array);
    for (int i = 0; *texts && i < length && !status.ok; i++) free((*texts)[i]);
    if (!status.ok) free(*texts), *texts = NULL;
    *count = status.ok ? length : 0;
    return status;
}

// ---- Frames of bytes ----------------------------------------------------------------------------

// Frames are deflated by the one filter there is, or there is none.
static FacetStatus check_filters(Hdf5Frames *frames, const Hdf5Array *array)
{
    for (int i = 0; i < array->filter_count; i++) {
        const Hdf5Filter *filter = &array->filters[i];
        if (filter->id != FILTER_DEFLATE || array->filter_count > 1)
            return hdf5_wrong(frames->file, frames->path,
                              "expected gzip or no compression, found filter %d of %d, '%s'", i + 1,
                              array->filter_count, filter->name);
    }
    frames->deflated = array->filter_count == 1;
    return status_ok();
}

// Every chunk is one frame.
static FacetStatus check_chunks(const Hdf5Frames *frames, const Hdf5Array *array)
{
    if (array->layout != LAYOUT_CHUNKED)
        return hdf5_wrong(frames->file, frames->path,
                          "expected one chunk a frame, found an array that has no chunks");
    for (int i = 0; i < FRAMES_RANK; i++)
        if (array->chunk[i] != (i ? frames->shape[i] : 1))
            return hdf5_wrong(frames->file, frames->path,
                              "expected one chunk a frame, found chunks of %llu along dimension %d "
                              "of %llu",
                              (unsigned long long)array->chunk[i], i,
                              (unsigned long long)frames->shape[i]);
    return status_ok();
}

static bool keep_chunk(void *context, const Hdf5Chunk *chunk)
{
    Hdf5Frames *frames = context;
    frames->places[chunk->offset[0]] =
        (FramePlace){chunk->address, chunk->size, chunk->skipped & 1};
    return true;
}

static FacetStatus list_chunks(Hdf5Frames *frames, const Hdf5Array *array)
{
    Hdf5Source *source = frames->file->source;
    if (frames->shape[0] > source->size / 8) // each has an address somewhere
        return hdf5_wrong(frames->file, frames->path, "expected frames, found %llu in %llu bytes",
                          (unsigned long long)frames->shape[0], (unsigned long long)source->size);
    frames->places = calloc((size_t)frames->shape[0] + 1, sizeof *frames->places);
    if (!frames->places)
        return hdf5_wrong(frames->file, frames->path, "out of memory for %llu frames",
                          (unsigned long long)frames->shape[0]);
    return hdf5_array_chunks(source, array, keep_chunk, frames)
               ? status_ok()
               : cannot(frames->file, frames->path, "read");
}

static FacetStatus check_frames(Hdf5Frames *frames, int64_t *count,
                                int frame_shape[HDF5_FRAME_RANK], const char *expected,
                                const Hdf5Array *array)
{
    const Hdf5Type *type = &array->type;
    if (type->class != CLASS_INTEGER || type->size != 1 || type->is_signed)
        return hdf5_wrong(frames->file, frames->path, "expected %s, found %s%s of %zu bits",
                          expected,
                          type->class == CLASS_INTEGER && type->is_signed ? "signed " : "",
                          hdf5_class_name(type), 8 * type->size);
    int64_t shape[FRAMES_RANK];
    TRY(read_shape(shape, FRAMES_RANK, frames->file, frames->path, expected, &array->space));
    frames->shape[0] = (uint64_t)(*count = shape[0]);
    for (int i = 0; i < HDF5_FRAME_RANK; i++) {
        if (shape[1 + i] < 1 || shape[1 + i] > INT_MAX)
            return hdf5_wrong(frames->file, frames->path, "expected %s, found a size of %lld",
                              expected, (long long)shape[1 + i]);
        frames->shape[1 + i] = (uint64_t)(frame_shape[i] = (int)shape[1 + i]);
    }
    TRY(check_filters(frames, array));
    TRY(check_chunks(frames, array));
    return list_chunks(frames, array);
}

FacetStatus hdf5_open_frames(Hdf5Frames **frames, int64_t *count, int frame_shape[HDF5_FRAME_RANK],
                             const Hdf5File *file, const char *path, const char *expected)
{
    TRY(hdf5_make_frames(frames, file, path));
    Hdf5Array array;
    FacetStatus status = open_array(&array, file, path, expected);
    if (status.ok) status = check_frames(*frames, count, frame_shape, expected, &array);
    hdf5_array_free(&array);
    if (!status.ok) {
        hdf5_close_frames(*frames);
        *frames = NULL;
    }
    return status;
}

FacetStatus hdf5_frame_size(size_t *size, const Hdf5Frames *frames, int64_t frame)
{
    const FramePlace *place = &frames->places[frame];
    *size = (size_t)place->size;
    if (place->size > 0) return status_ok();
    return hdf5_wrong(frames->file, frames->path,
                      "frame %lld: expected an image, found none: it was never written",
                      (long long)frame);
}

FacetStatus hdf5_read_frame(void *bytes, size_t *size, bool *deflated, size_t room,
                            const Hdf5Frames *frames, int64_t frame)
{
    TRY(hdf5_frame_size(size, frames, frame));
    if (*size > room)
        return hdf5_wrong(frames->file, frames->path,
                          "frame %lld: expected at most %zu bytes, found %zu", (long long)frame,
                          room, *size);
    const FramePlace *place = &frames->places[frame];
    if (!hdf5_source_read(frames->file->source, bytes, place->address, place->size))
        return hdf5_wrong(frames->file, frames->path,
                          "frame %lld: expected an image, found none: %s", (long long)frame,
                          frames->file->source->reason);
    *deflated = frames->deflated && !place->skipped;
    return status_ok();
}
