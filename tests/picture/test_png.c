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
        cmocka_unit_test(a_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
