// The encoder's input in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "encoder/image_input.c"
