// What ranks agree on (see ranks/ranks.h).
#include "ranks/ranks.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int facet_ranks_rank(const FacetRanks *ranks) { return ranks ? ranks->rank : 0; }

int facet_ranks_count(const FacetRanks *ranks) { return ranks ? ranks->count : 1; }

bool ranks_any(FacetRanks *ranks, bool value) { return ranks_least(ranks, value ? 0 : 1) == 0; }

FacetStatus ranks_agree(FacetRanks *ranks, FacetStatus status)
{
    if (!ranks) return status;
    int first = (int)ranks_least(ranks, status.ok ? ranks->count : ranks->rank);
    if (first == ranks->count) return status;
    FacetStatus shared = status;
    ranks_broadcast(ranks, first, &shared, sizeof shared);
    bool others = ranks_any(ranks, status.ok || strcmp(status.text, shared.text) != 0);
    ranks->agreed = true;
    if (!others || shared.code == FACET_INTERRUPTED) return shared;
    return status_fail(shared.code, "rank %d: %.480s", first, shared.text);
}

// The word of a text where it leaves another, with the option that it belongs to: "--seed 2".
static void show_words(char out[80], const char *text, size_t place)
{
    size_t start = text[place] == ' ' ? place + 1 : place;
    while (start > 0 && text[start - 1] != ' ') start--;
    if (start > 1 && text[start] != '-')
        for (start--; start > 0 && text[start - 1] != ' ';) start--;
    size_t end = start + strcspn(text + start, " ");
    if (text[end]) end += 1 + strcspn(text + end + 1, " ");
    snprintf(out, 80, "%.*s", (int)(end - start < 79 ? end - start : 79), text + start);
}

FacetStatus ranks_same(FacetRanks *ranks, const char *what, const char *text)
{
    if (!ranks) return status_ok();
    size_t length = strlen(text) + 1, place = 0;
    ranks_broadcast(ranks, 0, &length, sizeof length);
    char *first = calloc(length, 1);
    FacetStatus status = ranks_agree(
        ranks, first ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for %s", what));
    if (status.ok && ranks->rank == 0) memcpy(first, text, length);
    if (status.ok) {
        ranks_broadcast(ranks, 0, first, length);
        while (first[place] && first[place] == text[place]) place++;
        if (first[place] != text[place]) {
            char wanted[80], found[80];
            show_words(wanted, first, place);
            show_words(found, text, place);
            status = status_fail(FACET_BAD_ARGUMENT, "%s: expected '%s' as on rank 0, found '%s'",
                                 what, wanted, found);
        }
        status = ranks_agree(ranks, status);
    }
    free(first);
    return status;
}

FacetStatus ranks_same_file(FacetRanks *ranks, const char *path)
{
    char *bytes, name[40];
    size_t size;
    if (!ranks) return status_ok();
    TRY(ranks_agree(ranks, file_read(&bytes, &size, path)));
    snprintf(name, sizeof name, "%zu bytes %016llx", size,
             (unsigned long long)hash_bytes(HASH_START, bytes, size));
    free(bytes);
    return ranks_same(ranks, path, name);
}

void ranks_collect(FacetRanks *ranks, void *results, size_t size, int count)
{
    for (int i = 0; ranks && i < count; i++)
        ranks_broadcast(ranks, i % ranks->count, (char *)results + (size_t)i * size, size);
}
