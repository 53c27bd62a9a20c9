// Vehicles.
#include "fuzz.h"

#include <facet/quad.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    FacetQuadParams params;
    if (facet_quad_params_load(&params, fuzz_file(bytes, size)).ok)
        (void)facet_quad_model(&params, 1.0 / 600.0);
    return 0;
}
