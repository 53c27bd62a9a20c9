// The linearised score network in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "diffusion/score_linear.c"
