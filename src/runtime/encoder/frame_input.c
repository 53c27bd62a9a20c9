// The encoder's input from bytes (see encoder/frame.h).
#include "encoder/frame.h"

// A byte b becomes 4 (gain b / 255 + offset limited to [0, 1]) - 2.
void frame_input(Real *out, const uint8_t *rgb, int pixels, FrameJitter jitter)
{
    // Eight pixels at a time, so that the channels' gains repeat after a whole number of vectors.
    enum { BLOCK = 24 };
    Real gain[BLOCK], offset[BLOCK];
    for (int i = 0; i < BLOCK; i++) {
        gain[i] = (Real)jitter.gain[i % 3] * (R(4) / R(255));
        offset[i] = (Real)jitter.offset[i % 3] * R(4) - R(2);
    }
    int size = 3 * pixels;
    for (int at = 0; at < size; at += BLOCK) {
        int count = size - at < BLOCK ? size - at : BLOCK;
#pragma omp simd
        for (int i = 0; i < count; i++) {
            Real value = gain[i] * (Real)rgb[at + i] + offset[i];
            value = value > R(-2) ? value : R(-2);
            out[at + i] = value < R(2) ? value : R(2);
        }
    }
}
