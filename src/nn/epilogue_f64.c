// The fused pass after a convolution, in double precision (see nn/real.h).
#define FACET_REAL_DOUBLE
#include "nn/epilogue.c"
