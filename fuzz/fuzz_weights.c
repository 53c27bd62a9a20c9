// torchvision's weights for a small encoder.
#include "encoder/encoder.h"
#include "fuzz.h"
#include "train/torchvision.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static Encoder *encoder;
    static float *params;
    if (!encoder) {
        const EncoderConfig config = {.width = 16,
                                      .height = 12,
                                      .shrink = 2,
                                      .stem_channels = 8,
                                      .stem_kernel = 7,
                                      .stem_stride = 2,
                                      .stages = 1,
                                      .channels = {8},
                                      .strides = {1},
                                      .blocks = 1,
                                      .groups = 4,
                                      .features = 8};
        if (!encoder_create(&encoder, config).ok) abort();
        params = calloc(encoder_table(encoder)->size, sizeof *params);
        if (!params) abort();
    }
    (void)encoder_read_torchvision(params, encoder, fuzz_file(bytes, size));
    return 0;
}
