// Small text helpers for messages that a person reads.
#ifndef FACET_BASE_TEXT_H
#define FACET_BASE_TEXT_H

#include <stddef.h>

// The index of the word nearest to `word` by edit distance (a swap of neighbours counts once), or
// -1 when nothing is near enough to be meant.
int text_nearest(const char *word, const char *const *words, int count);

// Writes "no KIND 'WORD': a, b, c" or "no KIND 'WORD', did you mean 'NEAR'? known: a, b, c".
void text_unknown(char *out, size_t size, const char *kind, const char *word,
                  const char *const *words, int count);

// Compares names so that numbers inside them count as numbers: race2 before race10.
int text_natural_compare(const char *a, const char *b);

#endif
