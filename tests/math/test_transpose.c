// Transposing: blocks in registers and what is left at the edges, with nothing around them touched.
#include "math/transpose.h"
#include "testing.h"

#include <stdbool.h>

enum { ROWS = 19, COLUMNS = 21, STRIDE = 32 };

static void any_size_is_turned_and_nothing_else_touched(void **state)
{
    (void)state;
    for (int rows = 1; rows <= ROWS; rows++)
        for (int columns = 1; columns <= COLUMNS; columns++) {
            float in[ROWS * STRIDE], out[STRIDE * STRIDE];
            for (int i = 0; i < ROWS * STRIDE; i++) in[i] = (float)i;
            for (int i = 0; i < STRIDE * STRIDE; i++) out[i] = -1.0f;
            transpose(out, STRIDE, in, STRIDE, rows, columns);
            for (int r = 0; r < STRIDE; r++)
                for (int c = 0; c < STRIDE; c++) {
                    bool inside = r < columns && c < rows;
                    float expected = inside ? in[c * STRIDE + r] : -1.0f;
                    assert_true(out[r * STRIDE + c] == expected);
                }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_size_is_turned_and_nothing_else_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
