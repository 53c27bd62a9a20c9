// No number on the way to mish, or to its slope, leaves the normal ones, for all that a network's
// norms let through and everything below: on some processors each that does costs a hundred cycles.
// The processor's own flags tell.
#include "nn/layers.h"
#include "testing.h"
#include "train/layers_backward.h"

#include <fenv.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

// Results that were not normal, and operands, since the flags were cleared.
static unsigned not_normal(void)
{
#ifdef __SSE2__
    return _mm_getcsr() & (_MM_EXCEPT_DENORM | _MM_EXCEPT_UNDERFLOW);
#else
    return (unsigned)fetestexcept(FE_UNDERFLOW);
#endif
}

static void clear_flags(void)
{
    feclearexcept(FE_ALL_EXCEPT);
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() & ~(unsigned)_MM_EXCEPT_MASK);
#endif
}

enum { COUNT = 1 << 16 };
static float x[COUNT], y[COUNT], dy[COUNT];

// From far below where e^x is a normal number to 40. Above 43 compilers go on with e^x and choose
// afterwards.
static int fill(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        x[i] = 40.0f - (float)i / 128.0f;
        dy[i] = 1.0f;
    }
    x[COUNT - 1] = -1e30f;
    return 0;
}

// The flags see what they are there for.
static void the_flags_can_be_raised(void **state)
{
    (void)state;
    volatile float small = 2e-38f, third = 0.3f;
    clear_flags();
    assert_int_equal(not_normal(), 0);
    volatile float below = small * third;
    assert_true(not_normal() != 0);
    (void)below;
}

static void values_stay_normal(void **state)
{
    (void)state;
    clear_flags();
    mish_forward(y, x, COUNT);
    assert_int_equal(not_normal(), 0);
    assert_near((double)y[0], 40.0, 1e-4);
    assert_less(fabs((double)y[COUNT - 1]), 1e-15);
}

static void slopes_stay_normal(void **state)
{
    (void)state;
    clear_flags();
    mish_backward(y, dy, x, COUNT);
    assert_int_equal(not_normal(), 0);
    assert_near((double)y[0], 1.0, 1e-6);
    assert_less(fabs((double)y[COUNT - 1]), 1e-13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_flags_can_be_raised, fill),
        cmocka_unit_test_setup(values_stay_normal, fill),
        cmocka_unit_test_setup(slopes_stay_normal, fill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
