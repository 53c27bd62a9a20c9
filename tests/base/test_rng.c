// Random numbers: the published vectors of Philox 4x32-10, moments, independence of streams.
#include "base/rng.h"
#include "testing.h"

// Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10).
static void blocks_match_the_published_vectors(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, stream, index;
        uint32_t words[4];
    } vectors[] = {
        {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        // The counter's words are 243f6a88 85a308d3 13198a2e 03707344, the key's a4093822 299f31d0.
        {0x299f31d0a4093822,
         0x0370734413198a2e,
         0x85a308d3243f6a88,
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        uint32_t words[4];
        rng_block(words, vectors[i].seed, vectors[i].stream, vectors[i].index);
        assert_memory_equal(words, vectors[i].words, sizeof words);
    }
}

static void generator_hands_out_the_blocks_in_order(void **state)
{
    (void)state;
    FacetRng rng = rng_make(7, 11);
    for (uint64_t index = 0; index < 5; index++) {
        uint32_t words[4];
        rng_block(words, 7, 11, index);
        for (int i = 0; i < 4; i++) assert_int_equal(rng_u32(&rng), words[i]);
    }
}

static void uniform_has_its_moments(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    FacetRng rng = rng_make(1, 0);
    double sum = 0.0, squares = 0.0, least = 1.0, most = 0.0;
    for (int i = 0; i < COUNT; i++) {
        double u = rng_uniform(&rng);
        assert_true(u >= 0.0);
        assert_true(u < 1.0);
        sum += u, squares += u * u;
        least = fmin(least, u), most = fmax(most, u);
    }
    // Five standard errors: sqrt(1/12/n) for the mean, sqrt(4/45/n) for the second moment.
    assert_near(sum / COUNT, 0.5, 5.0 * sqrt(1.0 / 12.0 / COUNT));
    assert_near(squares / COUNT, 1.0 / 3.0, 5.0 * sqrt(4.0 / 45.0 / COUNT));
    assert_less(least, 1e-4);
    assert_less(1.0 - most, 1e-4);
}

static void normal_has_its_moments(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    FacetRng rng = rng_make(2, 0);
    double power[5] = {0.0};
    for (int i = 0; i < COUNT; i++) {
        double x = rng_normal(&rng), product = 1.0;
        assert_true(isfinite(x));
        for (int k = 1; k < 5; k++) power[k] += (product *= x) / COUNT;
    }
    // Moments 0, 1, 0, 3 within five standard errors: the variances are 1, 2, 15, 96 over n.
    assert_near(power[1], 0.0, 5.0 * sqrt(1.0 / COUNT));
    assert_near(power[2], 1.0, 5.0 * sqrt(2.0 / COUNT));
    assert_near(power[3], 0.0, 5.0 * sqrt(15.0 / COUNT));
    assert_near(power[4], 3.0, 5.0 * sqrt(96.0 / COUNT));
}

static void range_stays_inside(void **state)
{
    (void)state;
    FacetRng rng = rng_make(3, 0);
    for (int i = 0; i < 10000; i++) {
        double x = rng_range(&rng, -2.0, 5.0);
        assert_true(x >= -2.0);
        assert_true(x < 5.0);
        // So narrow that low + (high - low) u rounds up to high half of the time.
        assert_true(rng_range(&rng, 1.0, nextafter(1.0, 2.0)) == 1.0);
    }
    assert_true(rng_range(&rng, 4.0, 4.0) == 4.0);
}

static void streams_do_not_resemble_each_other(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    static const uint64_t other[][2] = {{5, 1}, {6, 0}, {5, UINT64_C(1) << 32}};
    for (int k = 0; k < 3; k++) {
        FacetRng a = rng_make(5, 0), b = rng_make(other[k][0], other[k][1]);
        double correlation = 0.0;
        for (int i = 0; i < COUNT; i++) correlation += rng_normal(&a) * rng_normal(&b) / COUNT;
        assert_near(correlation, 0.0, 5.0 / sqrt(COUNT));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_match_the_published_vectors),
        cmocka_unit_test(generator_hands_out_the_blocks_in_order),
        cmocka_unit_test(uniform_has_its_moments),
        cmocka_unit_test(normal_has_its_moments),
        cmocka_unit_test(range_stays_inside),
        cmocka_unit_test(streams_do_not_resemble_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
