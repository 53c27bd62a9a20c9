// Small text helpers for messages that a person reads (see text.h).
#include "text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Characters -----------------------------------------------------------------------------

int text_character(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char lead = bytes[0];
    if (lead == 0) return 0;
    if (lead < 0x80) return 1;
    int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    for (int i = 1; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80) return 0;
    // The second byte excludes overlong forms, surrogates and what lies beyond U+10FFFF.
    bool excluded = (lead == 0xE0 && bytes[1] < 0xA0) || (lead == 0xED && bytes[1] > 0x9F) ||
                    (lead == 0xF0 && bytes[1] < 0x90) || (lead == 0xF4 && bytes[1] > 0x8F);
    return excluded ? 0 : length;
}

// U+0300 to U+036F, as in a letter written with a separate accent.
static bool is_combining_mark(const char *character)
{
    unsigned char lead = (unsigned char)character[0], next = (unsigned char)character[1];
    return lead == 0xCC || (lead == 0xCD && next <= 0xAF);
}

int text_width(const char *text)
{
    int width = 0;
    while (*text) {
        int length = text_character(text);
        if (length < 2 || !is_combining_mark(text)) width++;
        text += length > 0 ? length : 1;
    }
    return width;
}

void text_clean(char *text)
{
    while (*text) {
        int length = text_character(text);
        bool control = (unsigned char)*text < ' ' || *text == 0x7F;
        if (length == 0 || control) {
            *text = '?';
            length = 1;
        }
        text += length;
    }
}

// ---- Near words -----------------------------------------------------------------------------

enum { WORD_MAX = 63 };

static int lower(char letter) { return tolower((unsigned char)letter); }

static int min3(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

// Optimal string alignment distance of two words, of which the first WORD_MAX letters count.
static int edit_distance(const char *a, const char *b)
{
    int rows[3][WORD_MAX + 1];
    int la = (int)strnlen(a, WORD_MAX), lb = (int)strnlen(b, WORD_MAX);
    for (int j = 0; j <= lb; j++) rows[0][j] = j;
    for (int i = 1; i <= la; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int change = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[la % 3][lb];
}

int text_nearest(const char *word, const char *const *words, int count)
{
    int best = -1, least = 0;
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, words[i]);
        if (best < 0 || distance < least) best = i, least = distance;
    }
    int length = (int)strnlen(word, WORD_MAX);
    return best >= 0 && least <= (length < 4 ? 1 : length / 2) ? best : -1;
}

void text_unknown(char *out, size_t size, const char *kind, const char *word,
                  const char *const *words, int count)
{
    int near = text_nearest(word, words, count);
    size_t used = (size_t)snprintf(out, size, "no %s '%.40s'", kind, word);
    if (near >= 0 && used < size)
        used +=
            (size_t)snprintf(out + used, size - used, ", did you mean '%s'? known", words[near]);
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : ": ", words[i]);
    text_clean(out);
}

// ---- Order ----------------------------------------------------------------------------------

// Compares the numbers that begin at *a and *b, of any length, and steps over them.
static int compare_numbers(const char **a, const char **b)
{
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    size_t length_a = strspn(*a, "0123456789"), length_b = strspn(*b, "0123456789");
    int order = length_a != length_b ? (length_a < length_b ? -1 : 1) : strncmp(*a, *b, length_a);
    *a += length_a;
    *b += length_b;
    return order;
}

int text_natural_compare(const char *a, const char *b)
{
    const char *at_a = a, *at_b = b;
    while (*at_a && *at_b) {
        if (isdigit((unsigned char)*at_a) && isdigit((unsigned char)*at_b)) {
            int order = compare_numbers(&at_a, &at_b);
            if (order) return order;
        } else {
            if (*at_a != *at_b) return (unsigned char)*at_a < (unsigned char)*at_b ? -1 : 1;
            at_a++, at_b++;
        }
    }
    if (*at_a || *at_b) return *at_a ? 1 : -1;
    return strcmp(a, b); // race01 and race1 are two names of one number
}

void text_difference(char *first, char *second, size_t size, const char *a, const char *b)
{
    size_t in_a = strcspn(a, ","), in_b = strcspn(b, ",");
    while (in_a == in_b && strncmp(a, b, in_a) == 0 && (*a || *b)) {
        a += in_a + (a[in_a] == ',');
        b += in_b + (b[in_b] == ',');
        in_a = strcspn(a, ",");
        in_b = strcspn(b, ",");
    }
    a += strspn(a, " ");
    b += strspn(b, " ");
    snprintf(first, size, "%.*s", (int)strcspn(a, ","), a);
    snprintf(second, size, "%.*s", (int)strcspn(b, ","), b);
}
