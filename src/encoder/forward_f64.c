// The encoder's forward pass in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "encoder/forward.c"
