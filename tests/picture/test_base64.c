// Bytes in base 64, there and back.
#include "picture/base64.h"
#include "testing.h"

#include <stdlib.h>

static void bytes_become_text_and_come_back(void **state)
{
    (void)state;
    const char *const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *text = base64_encode((const uint8_t *)"foobar", i);
        assert_string_equal(text, expected[i]);
        size_t size;
        uint8_t *back = base64_decode(&size, text);
        assert_int_equal(size, i);
        assert_memory_equal(back, "foobar", i);
        free(back);
        free(text);
    }
    static const char *const wrong[] = {
        "Z", "Zg=", "Zg", "Zm9v=", "Zm 9", "Z===", "====", "Zm9v-A=="};
    size_t size;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(base64_decode(&size, wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_become_text_and_come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
