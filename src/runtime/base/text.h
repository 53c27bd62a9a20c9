// Small text helpers for messages that a person reads.
#ifndef FACET_BASE_TEXT_H
#define FACET_BASE_TEXT_H

#include <stddef.h>

// The number of bytes of the character that begins at `text`, or 0 when they are not UTF-8. A
// zero byte is no character.
int text_character(const char *text);

// Columns that a text takes on a terminal: one a character, none for combining marks.
int text_width(const char *text);

// Replaces control characters and broken UTF-8 by '?', so that a name or a piece of a file can be
// shown in one line of a message.
void text_clean(char *text);

// The index of the word nearest to `word` by edit distance (a swap of neighbours counts once), or
// -1 when nothing is near enough to be meant.
int text_nearest(const char *word, const char *const *words, int count);

// Writes "no KIND 'WORD': a, b, c" or "no KIND 'WORD', did you mean 'NEAR'? known: a, b, c".
void text_unknown(char *out, size_t size, const char *kind, const char *word,
                  const char *const *words, int count);

// Compares names so that numbers inside them count as numbers: race2 before race10. Only equal
// names compare equal.
int text_natural_compare(const char *a, const char *b);

// The first parts in which two lists of settings differ, such as "seed 1, gusts 0.5" and
// "seed 2, gusts 0.5"; empty where a list has no such part.
void text_difference(char *first, char *second, size_t size, const char *a, const char *b);

#endif
