// Blocks of memory of all sizes are zeros, start on a line of cache, and can be written to the end.
#include "base/memory.h"
#include "testing.h"

#include <stdint.h>
#include <stdlib.h>

static void check_block(size_t bytes)
{
    unsigned char *block = memory_block(bytes);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % 64, 0);
    for (size_t i = 0; i < bytes; i++)
        if (block[i]) fail_msg("byte %zu of %zu is %d", i, bytes, block[i]);
    memset(block, 1, bytes);
    free(block);
}

static void blocks_are_zeros(void **state)
{
    (void)state;
    for (int repeat = 0; repeat < 2; repeat++) { // the second time in memory that was used
        check_block(1);
        check_block(1000);
        check_block((1 << 21) - 1);
        check_block(1 << 21);
        check_block((5 << 20) + 3);
    }
}

static void what_is_too_large_is_refused(void **state)
{
    (void)state;
    assert_null(memory_block(SIZE_MAX));
    assert_null(memory_block(SIZE_MAX - 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_zeros),
        cmocka_unit_test(what_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
