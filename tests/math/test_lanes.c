// Tests of the arithmetic on eight lanes, against the same in double precision.
#include "base/rng.h"
#include "math/lanes.h"
#include "testing.h"

static void sines_and_cosines_are_those_of_the_c_library(void **unused)
{
    (void)unused;
    for (int i = -4000; i <= 4000; i += BATCH_LANES) {
        Lanes angle, sine, cosine;
        for (int lane = 0; lane < BATCH_LANES; lane++) angle[lane] = 0.01f * (float)(i + lane);
        lanes_sincos(&sine, &cosine, angle);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            assert_near((double)sine[lane], sin((double)angle[lane]), 2e-7);
            assert_near((double)cosine[lane], cos((double)angle[lane]), 2e-7);
        }
    }
}

static Lanes random_lanes(FacetRng *rng, double low, double high)
{
    Lanes out;
    for (int lane = 0; lane < BATCH_LANES; lane++) out[lane] = (float)rng_range(rng, low, high);
    return out;
}

static void a_mix_goes_from_one_number_to_the_other(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < 100; i++) {
        Lanes a = random_lanes(&rng, -2.0, 2.0), b = random_lanes(&rng, -2.0, 2.0);
        Lanes t = random_lanes(&rng, 0.0, 1.0);
        Lanes first = lanes_mix(a, b, lanes(0.0f)), last = lanes_mix(a, b, lanes(1.0f));
        Lanes between = lanes_mix(a, b, t);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            double from = (double)a[lane], to = (double)b[lane], part = (double)t[lane];
            assert_near((double)first[lane], from, 0.0);
            assert_near((double)last[lane], to, 1e-6);
            assert_near((double)between[lane], (1.0 - part) * from + part * to, 1e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sines_and_cosines_are_those_of_the_c_library),
        cmocka_unit_test(a_mix_goes_from_one_number_to_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
