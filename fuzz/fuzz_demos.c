// Demonstrations in HDF5 files.
#include "fuzz.h"

#include <facet_study/dataset.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    FacetDataset *dataset;
    if (facet_dataset_read(&dataset, fuzz_file(bytes, size)).ok) facet_dataset_destroy(dataset);
    return 0;
}
