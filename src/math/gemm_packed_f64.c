// Products with a packed matrix in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "math/gemm_packed.c"
