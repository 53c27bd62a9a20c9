// Policies: loaded, described, and held against the settings of a training that would go on.
#include "fuzz.h"
#include "policy/parts.h"
#include "train/training.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size);
    FacetPolicy *policy;
    if (!facet_policy_load(&policy, path).ok) return 0;
    Safetensors *file;
    if (safetensors_read(&file, path).ok) {
        (void)checkpoint_matches(policy, file, path, "facet checkpoint 1");
        safetensors_free(file);
    }
    facet_policy_destroy(policy);
    return 0;
}
