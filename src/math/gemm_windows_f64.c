// Products over windows in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "math/gemm_windows.c"
