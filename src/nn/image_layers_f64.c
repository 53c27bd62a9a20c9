// The image layers in double precision (see math/real.h).
#define FACET_REAL_DOUBLE
#include "nn/image_layers.c"
