// From bytes to the encoder's input: averaging, jitter, range.
#include "encoder/frame.h"
#include "testing.h"

static void frames_shrink(void **state)
{
    (void)state;
    enum { W = 6, H = 4 };
    uint8_t rgb[H * W * 3], out[H * W * 3];
    for (int i = 0; i < H * W * 3; i++) rgb[i] = (uint8_t)(i * 37 % 256);
    frame_shrink(out, rgb, W, H, 2);
    for (int y = 0; y < H / 2; y++)
        for (int x = 0; x < W / 2; x++)
            for (int c = 0; c < 3; c++) {
                double sum = 0.0;
                for (int k = 0; k < 4; k++)
                    sum += rgb[((2 * y + k / 2) * W + 2 * x + k % 2) * 3 + c];
                assert_int_equal(out[(y * W / 2 + x) * 3 + c], (int)floor(sum / 4.0 + 0.5));
            }
    frame_shrink(out, rgb, W, H, 1);
    assert_memory_equal(out, rgb, sizeof rgb);
    memset(rgb, 255, sizeof rgb);
    frame_shrink(out, rgb, W, H, 2);
    for (int i = 0; i < W / 2 * H / 2 * 3; i++) assert_int_equal(out[i], 255);
}

static void bytes_become_numbers(void **state)
{
    (void)state;
    enum { PIXELS = 101 }; // no multiple of a vector
    uint8_t rgb[3 * PIXELS];
    float out[3 * PIXELS];
    for (int i = 0; i < 3 * PIXELS; i++) rgb[i] = (uint8_t)(i * 91 % 256);
    frame_input(out, rgb, PIXELS, frame_jitter_none());
    for (int i = 0; i < 3 * PIXELS; i++)
        assert_near((double)out[i], (rgb[i] / 255.0 - 0.5) / 0.25, 1e-6);
    FrameJitter jitter = {{2.0f, 0.5f, 1.0f}, {-0.25f, 0.75f, 0.0f}};
    frame_input(out, rgb, PIXELS, jitter);
    for (int i = 0; i < 3 * PIXELS; i++) {
        double c = (double)jitter.gain[i % 3] * rgb[i] / 255.0 + (double)jitter.offset[i % 3];
        c = c < 0.0 ? 0.0 : c > 1.0 ? 1.0 : c;
        assert_near((double)out[i], (c - 0.5) / 0.25, 1e-5);
    }
}

static void jitter_keeps_to_its_ranges(void **state)
{
    (void)state;
    FacetRng rng = rng_make(1, 2);
    FrameJitter none = frame_jitter_draw(&rng, 0.0), plain = frame_jitter_none();
    for (int c = 0; c < 3; c++) {
        assert_near((double)none.gain[c], (double)plain.gain[c], 0.0);
        assert_near((double)none.offset[c], (double)plain.offset[c], 0.0);
    }
    double low = 10.0, high = 0.0, sum = 0.0;
    enum { DRAWS = 2000 };
    for (int i = 0; i < DRAWS; i++) {
        FrameJitter jitter = frame_jitter_draw(&rng, 1.0);
        double middle = (double)(0.5f * jitter.gain[0] + jitter.offset[0]); // of grey
        low = fmin(low, middle), high = fmax(high, middle), sum += middle;
    }
    assert_near(sum / DRAWS, 0.5, 0.01);
    assert_true(low < 0.3);
    assert_true(high > 0.7);
    assert_true(low > 0.1);
    assert_true(high < 0.9);
    FacetRng a = rng_make(7, 7), b = rng_make(7, 7);
    FrameJitter first = frame_jitter_draw(&a, 1.0), again = frame_jitter_draw(&b, 1.0);
    assert_memory_equal(&first, &again, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_shrink),
        cmocka_unit_test(bytes_become_numbers),
        cmocka_unit_test(jitter_keeps_to_its_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
