// The safetensors format: named tensors and a map of texts in one file.
//
//   8 bytes   length of the header, little-endian
//   header    JSON: {"__metadata__": {key: text}, name: {"dtype", "shape", "data_offsets"}, ...}
//   data      the tensors, one after the other without gaps; offsets count from here
//
// A reader refuses whatever does not fit together, in one line. A writer puts larger elements
// first, so that every tensor is aligned to its elements, and the file appears whole or not at all.
#ifndef FACET_BASE_SAFETENSORS_H
#define FACET_BASE_SAFETENSORS_H

#include "base/json.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef enum TensorType {
    TENSOR_F32,
    TENSOR_F16,
    TENSOR_I64,
    TENSOR_U8,
} TensorType;

enum { SAFETENSORS_RANK_MAX = 4, SAFETENSORS_NAME_SIZE = 256 };

// ---- Half precision ---------------------------------------------------------------------------

// The nearest half of a float, ties to even; beyond 65504 it is infinite. And back, exactly.
uint16_t half_from_float(float value);
float half_to_float(uint16_t half);

// ---- Reading ----------------------------------------------------------------------------------

typedef struct StoredTensor {
    char name[SAFETENSORS_NAME_SIZE];
    TensorType type;
    int rank;
    int64_t shape[SAFETENSORS_RANK_MAX];
    size_t count; // elements
    const unsigned char *data;
    size_t begin, end; // in the data
} StoredTensor;

typedef struct Safetensors Safetensors;

// Loads a whole file. Free accepts NULL.
FacetStatus safetensors_read(Safetensors **file, const char *path);
void safetensors_free(Safetensors *file);

int safetensors_count(const Safetensors *file);
const StoredTensor *safetensors_find(const Safetensors *file, const char *name); // or NULL

// A text of the metadata, or NULL. It lives as long as the file.
const char *safetensors_metadata(const Safetensors *file, const char *key);

// Refuses a file without this tensor of floats (F32 or F16) in this shape.
FacetStatus safetensors_expect(const Safetensors *file, const char *name, int rank,
                               const int *shape);

// Copies a tensor of this shape as floats, from F32 or F16. Refuses another shape or type, and a
// number that is not finite.
FacetStatus safetensors_floats(float *out, const Safetensors *file, const char *name, int rank,
                               const int *shape);

// ---- Writing ----------------------------------------------------------------------------------

// A tensor to write. F16 is converted from floats, and refuses a number beyond its range.
typedef struct TensorSource {
    char name[SAFETENSORS_NAME_SIZE];
    TensorType type;
    int rank;
    int64_t shape[SAFETENSORS_RANK_MAX];
    const void *data; // float for F32 and F16, int64_t for I64, bytes for U8
} TensorSource;

// `metadata` is an object of texts; the call takes and frees it.
FacetStatus safetensors_write(const char *path, Json *metadata, const TensorSource *tensors,
                              int count);

#endif
