// The comparison of the encoder with PyTorch in double precision.
#define FACET_REAL_DOUBLE
#include "test_reference.c"
