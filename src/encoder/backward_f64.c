// The encoder's backward pass in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "encoder/backward.c"
