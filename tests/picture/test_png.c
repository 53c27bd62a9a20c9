// Pictures that we write, read by someone else.
#include "base/rng.h"
#include "picture/png.h"
#include "read_png.h"
#include "scratch.h"

static void round_trip(int width, int height)
{
    Scratch scratch = scratch_begin();
    char raw[128];
    snprintf(raw, sizeof raw, "%s", scratch_path(&scratch, "pixels.raw"));
    const char *path = scratch_path(&scratch, "picture.png");
    size_t size = (size_t)width * (size_t)height * 3;
    uint8_t *rgb = malloc(size);
    assert_non_null(rgb);
    FacetRng rng = rng_make(3, (uint64_t)width);
    // Half smooth, half random, so that every branch of the predictor is taken.
    for (size_t i = 0; i < size; i++)
        rgb[i] = (uint8_t)(i % 2 ? rng_u32(&rng) : (uint32_t)(i * i / 97));
    assert_ok(png_write(path, rgb, width, height));
    uint8_t *back = read_png(path, raw, width, height);
    assert_memory_equal(back, rgb, size);
    free(back);
    free(rgb);
    scratch_end(&scratch);
}

static void others_read_what_we_write(void **state)
{
    (void)state;
    round_trip(1, 1);
    round_trip(5, 3);
    round_trip(64, 48);
}

static void we_read_what_we_write(void **state)
{
    (void)state;
    enum { WIDTH = 31, HEIGHT = 17, SIZE = WIDTH * HEIGHT * 3 };
    uint8_t rgb[SIZE], *bytes, *back;
    size_t size;
    int width, height;
    FacetRng rng = rng_make(4, 1);
    for (int i = 0; i < SIZE; i++) rgb[i] = (uint8_t)(i % 3 ? rng_u32(&rng) : (uint32_t)i);
    assert_ok(png_encode(&bytes, &size, rgb, WIDTH, HEIGHT));
    assert_true(png_decode(&back, &width, &height, bytes, size));
    assert_int_equal(width, WIDTH);
    assert_int_equal(height, HEIGHT);
    assert_memory_equal(back, rgb, SIZE);
    free(back);
    // Any byte short, and another in the header or in the packed rows, is refused or read whole.
    for (size_t cut = 0; cut < size; cut++)
        assert_false(png_decode(&back, &width, &height, bytes, cut));
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x55;
        bool read = png_decode(&back, &width, &height, bytes, size);
        if (read)
            free(back);
        else
            assert_null(back);
        bytes[at] ^= 0x55;
    }
    bytes[0] ^= 1;
    assert_false(png_decode(&back, &width, &height, bytes, size));
    free(bytes);
}

static void a_folder_that_is_not_there(void **state)
{
    (void)state;
    const uint8_t pixel[3] = {1, 2, 3};
    assert_refused(png_write("no/such/folder/picture.png", pixel, 1, 1), "no/such/folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_read_what_we_write),
        cmocka_unit_test(we_read_what_we_write),
        cmocka_unit_test(a_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
