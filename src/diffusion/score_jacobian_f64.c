// The Jacobians of the score network in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "diffusion/score_jacobian.c"
