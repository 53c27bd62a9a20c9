// From the camera's bytes to the encoder's numbers (see encoder/frame.h).
#include "encoder/frame.h"

#include <assert.h>
#include <stddef.h>

void frame_shrink(uint8_t *out, const uint8_t *rgb, int width, int height, int shrink)
{
    assert(shrink > 0 && width % shrink == 0 && height % shrink == 0);
    unsigned area = (unsigned)(shrink * shrink), half = area / 2;
    int columns = width / shrink, rows = height / shrink;
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            for (int c = 0; c < 3; c++) {
                const uint8_t *block =
                    rgb + ((size_t)y * shrink * width + (size_t)x * shrink) * 3 + c;
                unsigned sum = 0;
                for (int j = 0; j < shrink; j++)
                    for (int i = 0; i < shrink; i++)
                        sum += block[((size_t)j * width + (size_t)i) * 3];
                out[((size_t)y * columns + (size_t)x) * 3 + (size_t)c] =
                    (uint8_t)((sum + half) / area);
            }
}

FrameJitter frame_jitter_none(void) { return (FrameJitter){{1, 1, 1}, {0, 0, 0}}; }

// Contrast turns about the middle grey: exposure (contrast (c - 1/2) + 1/2) + brightness, with a
// gain of its own for every channel.
FrameJitter frame_jitter_draw(FacetRng *rng, double strength)
{
    double exposure = 1.0 + 0.3 * strength * rng_range(rng, -1.0, 1.0);
    double contrast = 1.0 + 0.3 * strength * rng_range(rng, -1.0, 1.0);
    double brightness = 0.1 * strength * rng_range(rng, -1.0, 1.0);
    FrameJitter jitter;
    for (int c = 0; c < 3; c++) {
        double cast = exposure * (1.0 + 0.15 * strength * rng_range(rng, -1.0, 1.0));
        jitter.gain[c] = (float)(cast * contrast);
        jitter.offset[c] = (float)(cast * 0.5 * (1.0 - contrast) + brightness);
    }
    return jitter;
}
