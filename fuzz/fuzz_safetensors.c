// Files of tensors.
#include "base/safetensors.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    Safetensors *file;
    if (!safetensors_read(&file, fuzz_file(bytes, size)).ok) return 0;
    float values[64];
    (void)safetensors_metadata(file, "format");
    (void)safetensors_floats(values, file, "w", 2, (int[]){4, 4});
    safetensors_free(file);
    return 0;
}
