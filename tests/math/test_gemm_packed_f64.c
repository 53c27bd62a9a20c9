// Packed products in double precision.
#define FACET_REAL_DOUBLE
#include "test_gemm_packed.c"
