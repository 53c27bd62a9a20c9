// What studies keep and read again. The first byte chooses: r the race's cells, of two trainings
// with a zero byte between them; g the single gate's, alike; p one of the study of pairs; s a
// folder's settings; b the bound of pairs left out; c the curves of a step study.
#include "fuzz.h"
#include "program/gate_cells.h"
#include "program/new_pair.h"
#include "program/pairs_cells.h"
#include "program/race_cells.h"
#include "race/few_steps.h"

#include <string.h>

enum { SEEDS = 2, CURVES = 8 };

// Both files of a folder of cells; the second is not there without a zero byte.
static void write_cells(const char *cell, const uint8_t *bytes, size_t size)
{
    const uint8_t *zero = size ? memchr(bytes, 0, size) : NULL;
    size_t first = zero ? (size_t)(zero - bytes) : size;
    char path[128];
    snprintf(path, sizeof path, "%s/%s-1.json", fuzz_folder(), cell);
    fuzz_write(path, bytes, first);
    snprintf(path, sizeof path, "%s/%s-2.json", fuzz_folder(), cell);
    if (zero)
        fuzz_write(path, zero + 1, size - first - 1);
    else
        unlink(path);
}

static void read_summary(const char *cell, const uint8_t *bytes, size_t size,
                         FacetStatus (*summary)(Json **, const char *, uint64_t))
{
    Json *document;
    write_cells(cell, bytes, size);
    if (summary(&document, fuzz_folder(), 1).ok) json_free(document);
}

static FacetStatus gate_summary(Json **document, const char *folder, uint64_t seed)
{
    return gate_cells_summary(document, &gate_study_table, folder, seed);
}

static void read_pairs(const uint8_t *bytes, size_t size)
{
    static const PairsSplit split = {2, {"bend/small", "straight/large"}};
    const PairsPlace place = {.split = &split, .first = &split, .trained = 1, .most = 1};
    EvidenceCounts counts[PAIRS_GROUPS] = {{0}};
    for (int g = 0; g < PAIRS_GROUPS; g++)
        if (!evidence_counts_create(&counts[g], PAIRS_TASKS_MAX, 1).ok) abort();
    PairsSpeeds speeds = {0};
    (void)pairs_cell_read(counts, &speeds, fuzz_file(bytes, size), "ours_composed", &place);
    for (int g = 0; g < PAIRS_GROUPS; g++) evidence_counts_free(&counts[g]);
}

static void read_settings(const uint8_t *bytes, size_t size)
{
    char path[128];
    FileLock lock;
    snprintf(path, sizeof path, "%s/settings.json", fuzz_folder());
    fuzz_write(path, bytes, size);
    if (step_folders(&lock, fuzz_folder(), NULL, "demos.h5", "seed 1, epochs 2").ok)
        lock_drop(&lock);
}

static void read_bound(const uint8_t *bytes, size_t size)
{
    static FacetPolicy *policy;
    NewPair pair;
    if (!policy && !facet_policy_load(&policy, FUZZ_SOURCE "/fuzz/corpus/policy/tiny").ok) abort();
    (void)new_pair_read(&pair, fuzz_file(bytes, size), policy);
}

static void read_curves(const uint8_t *bytes, size_t size)
{
    static FewStepsCurve curves[CURVES];
    Json *document;
    int count;
    if (!json_read(&document, fuzz_file(bytes, size)).ok) return;
    JsonRef root = json_root(document, "curves");
    (void)few_steps_list_from_json(curves, &count, &root, CURVES, SEEDS);
    while (count > 0) few_steps_free(&curves[--count]);
    json_free(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0) return 0;
    int kind = *bytes++;
    size--;
    if (kind == 'r') read_summary("ours", bytes, size, race_cells_summary);
    if (kind == 'g') read_summary("zero-shot-ours", bytes, size, gate_summary);
    if (kind == 'p') read_pairs(bytes, size);
    if (kind == 's') read_settings(bytes, size);
    if (kind == 'b') read_bound(bytes, size);
    if (kind == 'c') read_curves(bytes, size);
    return 0;
}
