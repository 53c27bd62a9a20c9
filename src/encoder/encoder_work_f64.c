// The encoder's workspace in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "encoder/encoder_work.c"
