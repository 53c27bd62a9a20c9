// The fused norm, skip and ReLU in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "nn/image_epilogue.c"
