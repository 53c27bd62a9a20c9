// Small text helpers for messages that a person reads (see text.h).
#include "text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 63 };

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
            int change = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two_above[j - 2] + 1 < row[j])
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
        used += (size_t)snprintf(out + used, size - used, ", did you mean '%s'?", words[near]);
    if (used < size) used += (size_t)snprintf(out + used, size - used, " known: ");
    for (int i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", words[i]);
}

int text_natural_compare(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            char *end_a, *end_b;
            unsigned long long na = strtoull(a, &end_a, 10), nb = strtoull(b, &end_b, 10);
            if (na != nb) return na < nb ? -1 : 1;
            a = end_a, b = end_b;
        } else {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++, b++;
        }
    }
    return *a ? 1 : *b ? -1 : 0;
}
