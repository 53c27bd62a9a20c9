// The comparison of image layers with PyTorch in double precision.
#define FACET_REAL_DOUBLE
#include "test_image_reference.c"
