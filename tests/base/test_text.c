// Near words, natural order, widths.
#include "base/text.h"
#include "testing.h"

#include <stdlib.h>

static const char *const tracks[] = {"race1", "race2", "race10", "corkscrew"};
enum { TRACKS = 4 };

static void nearest_word_is_found(void **state)
{
    (void)state;
    assert_int_equal(text_nearest("race2", tracks, TRACKS), 1);
    assert_int_equal(text_nearest("rcae2", tracks, TRACKS), 1); // neighbours swapped
    assert_int_equal(text_nearest("RACE10", tracks, TRACKS), 2);
    assert_int_equal(text_nearest("corkscre", tracks, TRACKS), 3);
    assert_int_equal(text_nearest("ab", (const char *const[]){"BA"}, 1), 0);
}

static void far_words_are_not_offered(void **state)
{
    (void)state;
    assert_int_equal(text_nearest("helicopter", tracks, TRACKS), -1);
    assert_int_equal(text_nearest("xy", tracks, TRACKS), -1);
    assert_int_equal(text_nearest("", tracks, TRACKS), -1);
    assert_int_equal(text_nearest("race1", tracks, 0), -1);
}

static void long_words_are_compared_safely(void **state)
{
    (void)state;
    char word[500];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    const char *words[] = {"b", word};
    assert_int_equal(text_nearest(word, words, 2), 1);
}

static void unknown_word_names_the_known_ones(void **state)
{
    (void)state;
    char text[200];
    text_unknown(text, sizeof text, "track", "rcae2", tracks, TRACKS);
    assert_string_equal(text,
                        "no track 'rcae2', did you mean 'race2'? known: race1, race2, race10, "
                        "corkscrew");
    text_unknown(text, sizeof text, "track", "moon", tracks, 2);
    assert_string_equal(text, "no track 'moon': race1, race2");
    text_unknown(text, sizeof text, "track", "a\nb", tracks, 1);
    assert_string_equal(text, "no track 'a?b': race1");
    char small[20];
    text_unknown(small, sizeof small, "track", "moon", tracks, TRACKS);
    assert_string_equal(small, "no track 'moon': ra");
}

static void numbers_in_names_count_as_numbers(void **state)
{
    (void)state;
    assert_true(text_natural_compare("race2", "race10") < 0);
    assert_true(text_natural_compare("race10", "race2") > 0);
    assert_true(text_natural_compare("race1", "race1") == 0);
    assert_true(text_natural_compare("race", "race1") < 0);
    assert_true(text_natural_compare("a2b10", "a2b9") > 0);
    assert_true(text_natural_compare("a", "b") < 0);
    assert_true(text_natural_compare("", "a") < 0);
}

static void order_is_total(void **state)
{
    (void)state;
    const char *zeros[] = {"race01", "race1", "race001", "race2"};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int forth = text_natural_compare(zeros[i], zeros[j]);
            int back = text_natural_compare(zeros[j], zeros[i]);
            assert_true(i == j ? forth == 0 : (forth < 0) == (back > 0) && forth != 0);
        }
    assert_true(text_natural_compare("race01", "race2") < 0);
    // Beyond any integer type.
    assert_true(text_natural_compare("n99999999999999999999998", "n99999999999999999999999") < 0);
    assert_true(text_natural_compare("n99999999999999999999999", "n100000000000000000000000") < 0);
}

static void width_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("plain"), 5);
    assert_int_equal(text_width("— ± ‖"), 5);
    assert_int_equal(text_width("Grönwall"), 8);
    assert_int_equal(text_width("o\xCC\x88"), 1); // o and a combining diaeresis
    assert_int_equal(text_width("\xFF\xFE"), 2);
}

static void characters_are_valid_utf8(void **state)
{
    (void)state;
    assert_int_equal(text_character("a"), 1);
    assert_int_equal(text_character("±"), 2);
    assert_int_equal(text_character("—"), 3);
    assert_int_equal(text_character("\xF0\x9F\x9A\x81"), 4);
    const char *const broken[] = {"",
                                  "\x80",
                                  "\xC0\xAF",
                                  "\xE2\x80",
                                  "\xED\xA0\x80",
                                  "\xE0\x80\x80",
                                  "\xF4\x90\x80\x80",
                                  "\xF5\x80\x80\x80"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(text_character(broken[i]), 0);
}

// The vectors of RFC 4648, Section 10.
static void the_setting_that_differs_is_found(void **state)
{
    (void)state;
    static const char *const cases[][4] = {
        {"seed 1, gusts 0.5", "seed 2, gusts 0.5", "seed 1", "seed 2"},
        {"seed 1, gusts 0.5", "seed 1, gusts 0.25", "gusts 0.5", "gusts 0.25"},
        {"a=1,b=2", "a=1", "b=2", ""},
        {"a=1", "none", "a=1", "none"},
        {"a=1,b=2", "a=1,b=2", "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char first[32], second[32];
        text_difference(first, second, sizeof first, cases[i][0], cases[i][1]);
        assert_string_equal(first, cases[i][2]);
        assert_string_equal(second, cases[i][3]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_word_is_found),
        cmocka_unit_test(far_words_are_not_offered),
        cmocka_unit_test(long_words_are_compared_safely),
        cmocka_unit_test(unknown_word_names_the_known_ones),
        cmocka_unit_test(numbers_in_names_count_as_numbers),
        cmocka_unit_test(order_is_total),
        cmocka_unit_test(width_counts_characters),
        cmocka_unit_test(characters_are_valid_utf8),
        cmocka_unit_test(the_setting_that_differs_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
