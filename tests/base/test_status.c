// Messages are one clean line, whatever goes into them.
#include "base/status.h"
#include "testing.h"

static void ok_has_no_text(void **state)
{
    (void)state;
    FacetStatus status = status_ok();
    assert_true(status.ok);
    assert_string_equal(status.text, "");
}

static void failure_carries_its_text(void **state)
{
    (void)state;
    FacetStatus status =
        status_fail(FACET_BAD_FILE, "%s: expected %d, found %.1f", "a.json", 3, 2.5);
    assert_false(status.ok);
    assert_string_equal(status.text, "a.json: expected 3, found 2.5");
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    assert_string_equal(status_fail(FACET_BAD_ARGUMENT, "%s", "two\nlines\t\033[2J").text,
                        "two?lines??[2J");
    assert_string_equal(status_fail(FACET_BAD_ARGUMENT, "%s", "half \xE2\x80").text, "half ??");
    assert_string_equal(status_fail(FACET_BAD_ARGUMENT, "%s", "5 ± 1 — fine").text, "5 ± 1 — fine");
}

static void long_text_ends_in_an_ellipsis(void **state)
{
    (void)state;
    char long_name[1000];
    for (int shift = 0; shift < 3; shift++) {
        memset(long_name, 'x', sizeof long_name - 1);
        long_name[sizeof long_name - 1] = '\0';
        // The cut falls on every byte of a character of several bytes in turn.
        for (size_t i = 500 + (size_t)shift; i + 3 < sizeof long_name; i += 3)
            memcpy(long_name + i, "‖", 3);
        FacetStatus status = status_fail(FACET_NOT_FOUND, "%s", long_name);
        size_t length = strlen(status.text);
        assert_true(length < sizeof status.text);
        assert_true(length > sizeof status.text - 8);
        assert_string_equal(status.text + length - strlen("…"), "…");
        assert_null(strchr(status.text, '?'));
    }
}

static FacetStatus fails_halfway(int *reached)
{
    *reached = 1;
    TRY(status_ok());
    *reached = 2;
    TRY(status_fail(FACET_BAD_ARGUMENT, "stop"));
    *reached = 3;
    return status_ok();
}

static void try_returns_the_first_failure(void **state)
{
    (void)state;
    int reached = 0;
    assert_refused(fails_halfway(&reached), "stop");
    assert_int_equal(reached, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ok_has_no_text),
        cmocka_unit_test(failure_carries_its_text),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(long_text_ends_in_an_ellipsis),
        cmocka_unit_test(try_returns_the_first_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
