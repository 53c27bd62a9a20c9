// From the camera's bytes to the encoder's numbers.
#ifndef FACET_ENCODER_FRAME_H
#define FACET_ENCODER_FRAME_H

#include "base/rng.h"
#include "math/real.h"

#include <stdint.h>

// Averages blocks of shrink x shrink pixels: out [height / shrink][width / shrink][3]. The sizes
// are multiples of shrink; averages are rounded to the nearest.
void frame_shrink(uint8_t *out, const uint8_t *rgb, int width, int height, int shrink);

// How a training image is changed: each channel becomes gain c + offset, c in [0, 1].
typedef struct FrameJitter {
    float gain[3], offset[3];
} FrameJitter;

FrameJitter frame_jitter_none(void);

// A random exposure, contrast and colour cast; `strength` 0 is none, 1 the usual.
FrameJitter frame_jitter_draw(FacetRng *rng, double strength);

#define frame_input REAL_NAME(frame_input)

// out [pixels][3] = (changed c - 0.5) / 0.25, changed c limited to [0, 1].
void frame_input(Real *out, const uint8_t *rgb, int pixels, FrameJitter jitter);

#endif
