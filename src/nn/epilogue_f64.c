// The fused pass after a convolution, in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "nn/epilogue.c"
