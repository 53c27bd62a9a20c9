// Reads and writes safetensors (see base/safetensors.h).
#include "base/safetensors.h"

#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_ALIGN = 64, LENGTH_BYTES = 8 };
enum { HEADER_MAX = 100000000 }; // bytes, as in the format's own library

static const struct {
    const char *name;
    size_t size;
} types[] = {[TENSOR_F32] = {"F32", 4},
             [TENSOR_F16] = {"F16", 2},
             [TENSOR_I64] = {"I64", 8},
             [TENSOR_U8] = {"U8", 1}};
enum { TYPE_COUNT = sizeof types / sizeof *types };

// ---- Half precision ---------------------------------------------------------------------------

uint16_t half_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);  // NaN
    if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u); // 65536 and more
    // The significand with its leading one, and how many of its bits a half drops.
    uint32_t exponent = magnitude >> 23, significand = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t dropped = exponent >= 113 ? 13 : 126 - exponent;
    if (dropped > 24) return (uint16_t)sign; // below half of the smallest subnormal
    uint32_t kept = significand >> dropped, rest = significand & ((1u << dropped) - 1);
    uint32_t tie = 1u << (dropped - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    // For a normal half the leading one adds one to the exponent; so does a carry out of rounding.
    uint32_t base = exponent >= 113 ? (exponent - 113) << 10 : 0;
    return (uint16_t)(sign | (base + kept));
}

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 0x1fu;
    uint32_t significand = half & 0x3ffu, bits;
    if (exponent == 31) {
        bits = 0x7f800000u | significand << 13;
    } else if (exponent > 0) {
        bits = (exponent + 112) << 23 | significand << 13;
    } else {
        float small = (float)significand * 0x1p-24f;
        memcpy(&bits, &small, sizeof bits);
    }
    bits |= sign;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// ---- Reading ----------------------------------------------------------------------------------

struct Safetensors {
    char *path;
    char *bytes; // the whole file
    Json *header;
    const unsigned char *data;
    size_t data_size;
    StoredTensor *tensors;
    int count;
};

static FacetStatus parse_header(Safetensors *file, size_t size)
{
    uint64_t length = 0;
    if (size < LENGTH_BYTES)
        return status_fail(FACET_BAD_FILE, "%s: expected a safetensors file, found %zu bytes",
                           file->path, size);
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        length = length << 8 | (unsigned char)file->bytes[i];
    if (length > size - LENGTH_BYTES)
        return status_fail(FACET_BAD_FILE,
                           "%s: expected a header of %" PRIu64 " bytes, found %zu bytes in the "
                           "file: truncated, or not a safetensors file",
                           file->path, length, size - LENGTH_BYTES);
    if (length > HEADER_MAX)
        return status_fail(FACET_BAD_FILE,
                           "%s: expected a header of at most %d bytes, found %" PRIu64, file->path,
                           HEADER_MAX, length);
    char *text = malloc((size_t)length + 1);
    if (!text) return status_fail(FACET_NO_MEMORY, "%s: out of memory", file->path);
    memcpy(text, file->bytes + LENGTH_BYTES, (size_t)length);
    text[length] = '\0';
    FacetStatus status =
        strlen(text) == length
            ? json_parse(&file->header, text, file->path)
            : status_fail(FACET_BAD_FILE, "%s: expected a header of JSON, found a zero byte in it",
                          file->path);
    free(text);
    file->data = (const unsigned char *)file->bytes + LENGTH_BYTES + length;
    file->data_size = size - LENGTH_BYTES - (size_t)length;
    return status;
}

static FacetStatus whole_number(double *out, const JsonRef *at)
{
    TRY(json_number(out, at, 0.0, 0x1p53));
    return *out == floor(*out) ? status_ok() : json_wrong(at, "a whole number");
}

static FacetStatus parse_type(TensorType *type, const JsonRef *tensor)
{
    JsonRef at;
    TRY(json_member(&at, tensor, "dtype"));
    const char *name = json_chars(&at);
    for (int i = 0; name && i < TYPE_COUNT; i++)
        if (strcmp(name, types[i].name) == 0) {
            *type = (TensorType)i;
            return status_ok();
        }
    return json_wrong(&at, "F32, F16, I64 or U8");
}

static FacetStatus parse_shape(StoredTensor *out, const JsonRef *tensor)
{
    JsonRef shape, at;
    TRY(json_member(&shape, tensor, "shape"));
    if (!json_is_array(&shape)) return json_wrong(&shape, "an array");
    TRY(json_length(&out->rank, &shape));
    if (out->rank > SAFETENSORS_RANK_MAX) return json_wrong(&shape, "at most 4 dimensions");
    out->count = 1;
    for (int i = 0; i < out->rank; i++) {
        double size;
        TRY(json_element(&at, &shape, i));
        TRY(whole_number(&size, &at));
        out->shape[i] = (int64_t)size;
        if (size > 0.0 && out->count > SIZE_MAX / 8 / (size_t)size)
            return json_wrong(&at, "a size that fits in memory");
        out->count *= (size_t)size;
    }
    return status_ok();
}

static FacetStatus parse_offsets(StoredTensor *out, const JsonRef *tensor)
{
    JsonRef offsets, at;
    double value[2];
    int count;
    TRY(json_member(&offsets, tensor, "data_offsets"));
    if (!json_is_array(&offsets)) return json_wrong(&offsets, "two offsets");
    TRY(json_length(&count, &offsets));
    if (count != 2) return json_wrong(&offsets, "two offsets");
    for (int i = 0; i < 2; i++) {
        TRY(json_element(&at, &offsets, i));
        TRY(whole_number(&value[i], &at));
    }
    out->begin = (size_t)value[0];
    out->end = (size_t)value[1];
    return status_ok();
}

static FacetStatus parse_tensor(StoredTensor *out, const Safetensors *file, const JsonRef *tensor)
{
    if (strlen(json_key(tensor)) >= sizeof out->name)
        return status_fail(FACET_BAD_FILE,
                           "%s: tensor %.80s…: expected a name of less than %zu bytes", file->path,
                           json_key(tensor), sizeof out->name);
    if (!json_is_object(tensor)) return json_wrong(tensor, "a tensor");
    strcpy(out->name, json_key(tensor));
    TRY(parse_type(&out->type, tensor));
    TRY(parse_shape(out, tensor));
    TRY(parse_offsets(out, tensor));
    size_t bytes = out->count * types[out->type].size;
    if (out->begin > out->end || out->end - out->begin != bytes)
        return status_fail(
            FACET_BAD_FILE,
            "%s: tensor %.80s: expected %zu bytes for its shape, found the offsets %zu "
            "to %zu",
            file->path, out->name, bytes, out->begin, out->end);
    if (out->end > file->data_size)
        return status_fail(FACET_BAD_FILE,
                           "%s: tensor %.80s: expected data up to byte %zu, found %zu bytes: "
                           "truncated",
                           file->path, out->name, out->end, file->data_size);
    out->data = file->data + out->begin;
    return status_ok();
}

static FacetStatus check_metadata(const JsonRef *metadata)
{
    JsonRef at = {0};
    if (!json_is_object(metadata)) return json_wrong(metadata, "an object of texts");
    while (json_next(&at, metadata))
        if (!json_chars(&at)) return json_wrong(&at, "a text");
    return status_ok();
}

static int by_begin(const void *a, const void *b)
{
    const StoredTensor *first = a, *second = b;
    if (first->begin != second->begin) return first->begin < second->begin ? -1 : 1;
    return (first->end > second->end) - (first->end < second->end);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const StoredTensor *)a)->name, ((const StoredTensor *)b)->name);
}

// The tensors follow each other without overlaps or gaps and fill the data. Sorts them by name.
static FacetStatus check_layout(Safetensors *file)
{
    size_t end = 0;
    qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, by_begin);
    for (int i = 0; i < file->count; i++) {
        const StoredTensor *tensor = &file->tensors[i];
        if (tensor->begin != end)
            return status_fail(FACET_BAD_FILE,
                               "%s: tensor %.80s: expected its data at byte %zu, found %zu: %s",
                               file->path, tensor->name, end, tensor->begin,
                               tensor->begin < end ? "it overlaps another" : "there is a gap");
        end = tensor->end;
    }
    if (end != file->data_size)
        return status_fail(FACET_BAD_FILE, "%s: expected %zu bytes of data, found %zu", file->path,
                           end, file->data_size);
    qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, by_name);
    for (int i = 1; i < file->count; i++)
        if (strcmp(file->tensors[i - 1].name, file->tensors[i].name) == 0)
            return status_fail(FACET_BAD_FILE, "%s: tensor %.80s: expected once, found again",
                               file->path, file->tensors[i].name);
    return status_ok();
}

static FacetStatus parse_tensors(Safetensors *file)
{
    JsonRef root = json_root(file->header, file->path), at = {0};
    int members;
    if (!json_is_object(&root)) return json_wrong(&root, "an object of tensors");
    TRY(json_length(&members, &root));
    file->tensors = calloc((size_t)members + 1, sizeof *file->tensors);
    if (!file->tensors) return status_fail(FACET_NO_MEMORY, "%s: out of memory", file->path);
    while (json_next(&at, &root)) {
        if (strcmp(json_key(&at), "__metadata__") == 0)
            TRY(check_metadata(&at));
        else
            TRY(parse_tensor(&file->tensors[file->count++], file, &at));
    }
    return check_layout(file);
}

FacetStatus safetensors_read(Safetensors **out, const char *path)
{
    *out = NULL;
    Safetensors *file = calloc(1, sizeof *file);
    if (!file || !(file->path = malloc(strlen(path) + 1))) {
        free(file);
        return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    }
    strcpy(file->path, path);
    size_t size;
    FacetStatus status = file_read(&file->bytes, &size, path);
    if (status.ok) status = parse_header(file, size);
    if (status.ok) status = parse_tensors(file);
    if (!status.ok) {
        safetensors_free(file);
        return status;
    }
    *out = file;
    return status_ok();
}

void safetensors_free(Safetensors *file)
{
    if (!file) return;
    json_free(file->header);
    free(file->tensors);
    free(file->bytes);
    free(file->path);
    free(file);
}

int safetensors_count(const Safetensors *file) { return file->count; }

const StoredTensor *safetensors_find(const Safetensors *file, const char *name)
{
    StoredTensor wanted;
    if (strlen(name) >= sizeof wanted.name) return NULL;
    strcpy(wanted.name, name);
    return bsearch(&wanted, file->tensors, (size_t)file->count, sizeof wanted, by_name);
}

const char *safetensors_metadata(const Safetensors *file, const char *key)
{
    JsonRef root = json_root(file->header, file->path), metadata, at;
    if (!json_member(&metadata, &root, "__metadata__").ok) return NULL;
    return json_member(&at, &metadata, key).ok ? json_chars(&at) : NULL;
}

// "[3, 64, 64]"
static void shape_text(char out[96], const int64_t *shape, int rank)
{
    int used = snprintf(out, 96, "[");
    for (int i = 0; i < rank; i++)
        used += snprintf(out + used, 96 - (size_t)used, "%s%" PRId64, i ? ", " : "", shape[i]);
    snprintf(out + used, 96 - (size_t)used, "]");
}

FacetStatus safetensors_expect(const Safetensors *file, const char *name, int rank,
                               const int *shape)
{
    const StoredTensor *tensor = safetensors_find(file, name);
    if (!tensor)
        return status_fail(FACET_BAD_FILE, "%s: expected a tensor %s, found none", file->path,
                           name);
    int64_t wanted[SAFETENSORS_RANK_MAX] = {0};
    bool equal = tensor->rank == rank;
    for (int i = 0; i < rank; i++) {
        wanted[i] = shape[i];
        equal = equal && tensor->shape[i] == wanted[i];
    }
    if (!equal) {
        char expected[96], found[96];
        shape_text(expected, wanted, rank);
        shape_text(found, tensor->shape, tensor->rank);
        return status_fail(FACET_BAD_FILE, "%s: tensor %s: expected the shape %s, found %s",
                           file->path, name, expected, found);
    }
    if (tensor->type != TENSOR_F32 && tensor->type != TENSOR_F16)
        return status_fail(FACET_BAD_FILE, "%s: tensor %s: expected F32 or F16, found %s",
                           file->path, name, types[tensor->type].name);
    return status_ok();
}

FacetStatus safetensors_floats(float *out, const Safetensors *file, const char *name, int rank,
                               const int *shape)
{
    TRY(safetensors_expect(file, name, rank, shape));
    const StoredTensor *tensor = safetensors_find(file, name);
    for (size_t i = 0; i < tensor->count; i++) {
        if (tensor->type == TENSOR_F32) {
            memcpy(&out[i], tensor->data + 4 * i, 4);
        } else {
            uint16_t half;
            memcpy(&half, tensor->data + 2 * i, 2);
            out[i] = half_to_float(half);
        }
        if (!isfinite(out[i]))
            return status_fail(FACET_BAD_FILE,
                               "%s: tensor %s: expected finite numbers, found %g at element %zu",
                               file->path, name, (double)out[i], i);
    }
    return status_ok();
}

// ---- Writing ----------------------------------------------------------------------------------

static size_t source_count(const TensorSource *source)
{
    size_t count = 1;
    for (int i = 0; i < source->rank; i++) count *= (size_t)source->shape[i];
    return count;
}

static Json *describe(const TensorSource *source, size_t begin, size_t end)
{
    Json *tensor = json_object(), *shape = json_array(), *offsets = json_array();
    for (int i = 0; i < source->rank; i++) json_push_number(shape, (double)source->shape[i]);
    json_push_number(offsets, (double)begin);
    json_push_number(offsets, (double)end);
    json_set_string(tensor, "dtype", types[source->type].name);
    json_set(tensor, "shape", shape);
    json_set(tensor, "data_offsets", offsets);
    return tensor;
}

// Types with larger elements come first.
static const TensorType order[TYPE_COUNT] = {TENSOR_I64, TENSOR_F32, TENSOR_F16, TENSOR_U8};

static FacetStatus write_header(FILE *stream, Json *metadata, const TensorSource *tensors,
                                int count)
{
    Json *header = json_object();
    json_set(header, "__metadata__", metadata);
    size_t end = 0;
    for (int k = 0; k < TYPE_COUNT; k++)
        for (int i = 0; i < count; i++) {
            if (tensors[i].type != order[k]) continue;
            size_t begin = end;
            end += source_count(&tensors[i]) * types[order[k]].size;
            json_set(header, tensors[i].name, describe(&tensors[i], begin, end));
        }
    char *text = json_line(header);
    json_free(header);
    if (!text) return status_fail(FACET_NO_MEMORY, "out of memory for the header");
    size_t length = strlen(text);
    size_t padded = (length + LENGTH_BYTES + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    unsigned char prefix[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++)
        prefix[i] = (unsigned char)((uint64_t)(padded - LENGTH_BYTES) >> 8 * i);
    bool written = fwrite(prefix, 1, LENGTH_BYTES, stream) == LENGTH_BYTES &&
                   fprintf(stream, "%-*s", (int)(padded - LENGTH_BYTES), text) >= 0;
    free(text);
    return written ? status_ok()
                   : status_fail(status_errno(errno), "cannot write: %s", strerror(errno));
}

static FacetStatus write_halves(FILE *stream, const TensorSource *source)
{
    enum { BLOCK = 4096 };
    uint16_t block[BLOCK];
    const float *values = source->data;
    size_t count = source_count(source);
    for (size_t start = 0; start < count; start += BLOCK) {
        size_t size = count - start < BLOCK ? count - start : BLOCK;
        for (size_t i = 0; i < size; i++) {
            block[i] = half_from_float(values[start + i]);
            if ((block[i] & 0x7c00u) == 0x7c00u)
                return status_fail(FACET_BAD_ARGUMENT,
                                   "tensor %s: expected numbers that half precision holds, found "
                                   "%g",
                                   source->name, (double)values[start + i]);
        }
        if (fwrite(block, sizeof *block, size, stream) != size)
            return status_fail(status_errno(errno), "cannot write: %s", strerror(errno));
    }
    return status_ok();
}

static FacetStatus write_all(FILE *stream, Json *metadata, const TensorSource *tensors, int count)
{
    TRY(write_header(stream, metadata, tensors, count));
    for (int k = 0; k < TYPE_COUNT; k++)
        for (int i = 0; i < count; i++) {
            if (tensors[i].type != order[k]) continue;
            size_t elements = source_count(&tensors[i]);
            if (order[k] == TENSOR_F16)
                TRY(write_halves(stream, &tensors[i]));
            else if (fwrite(tensors[i].data, types[order[k]].size, elements, stream) != elements)
                return status_fail(status_errno(errno), "cannot write: %s", strerror(errno));
        }
    return status_ok();
}

FacetStatus safetensors_write(const char *path, Json *metadata, const TensorSource *tensors,
                              int count)
{
    AtomicFile file;
    FacetStatus status = atomic_begin(&file, path);
    if (!status.ok) {
        json_free(metadata);
        return status;
    }
    FILE *stream = atomic_stream(&file);
    if (stream) {
        status = write_all(stream, metadata, tensors, count);
    } else {
        json_free(metadata);
        status = status_fail(status_errno(errno), "cannot write: %s", strerror(errno));
    }
    if (stream && fclose(stream) != 0 && status.ok)
        status = status_fail(status_errno(errno), "cannot write: %s", strerror(errno));
    if (status.ok) return atomic_commit(&file);
    atomic_abort(&file);
    return status_fail(FACET_BAD_FILE, "%s: %s", path, status.text);
}
