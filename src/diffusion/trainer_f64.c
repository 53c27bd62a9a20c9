// Training in double precision (see nn/real.h).
#define FACET_REAL_DOUBLE
#include "diffusion/trainer.c"
