// Numbers at the six points of F(4, 3), by value, so that a loop over channels keeps them in
// registers (private to nn/winograd_image.c and its backward pass).
#ifndef FACET_NN_WINOGRAD_POINTS_H
#define FACET_NN_WINOGRAD_POINTS_H

#include "math/real.h"

#define WinogradSix REAL_NAME(WinogradSix)

typedef struct WinogradSix {
    Real p0, p1, p2, p3, p4, p5;
} WinogradSix;

// CALL(n) for each of the six, as a constant.
#define WINOGRAD_SIX(CALL)                                                                         \
    CALL(0);                                                                                       \
    CALL(1);                                                                                       \
    CALL(2);                                                                                       \
    CALL(3);                                                                                       \
    CALL(4);                                                                                       \
    CALL(5);

#endif
