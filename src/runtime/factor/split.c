// A set of tasks held out of training, kept as sorted task numbers (see facet/factor.h).
#include "base/status.h"
#include "factor/factor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct FacetFactorSplit {
    FacetFactorSpace *space;
    int64_t *tasks; // ascending, each once
    int count, capacity;
};

FacetStatus factor_split_create(FacetFactorSplit **out, const FacetFactorSpace *space)
{
    *out = NULL;
    FacetFactorSplit *split = calloc(1, sizeof *split);
    if (!split) return status_fail(FACET_NO_MEMORY, "out of memory for a split");
    FacetStatus status = factor_space_copy(&split->space, space);
    if (!status.ok) {
        free(split);
        return status;
    }
    *out = split;
    return status_ok();
}

void factor_split_destroy(FacetFactorSplit *split)
{
    if (!split) return;
    facet_factor_space_destroy(split->space);
    free(split->tasks);
    free(split);
}

// The place of a task number: the first that is not smaller.
static int place_of(const FacetFactorSplit *split, int64_t task)
{
    int low = 0, high = split->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (split->tasks[middle] < task)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

FacetStatus factor_split_add(FacetFactorSplit *split, FacetFactorTask task)
{
    int64_t number = factor_task_index(split->space, task);
    int place = place_of(split, number);
    if (place < split->count && split->tasks[place] == number) return status_ok();
    if (split->count == split->capacity) {
        int capacity = split->capacity ? 2 * split->capacity : 16;
        int64_t *tasks = realloc(split->tasks, (size_t)capacity * sizeof *tasks);
        if (!tasks)
            return status_fail(FACET_NO_MEMORY, "out of memory for a split of %d tasks", capacity);
        split->tasks = tasks;
        split->capacity = capacity;
    }
    memmove(&split->tasks[place + 1], &split->tasks[place],
            (size_t)(split->count - place) * sizeof *split->tasks);
    split->tasks[place] = number;
    split->count++;
    return status_ok();
}

static bool matches(const FacetFactorSpace *space, FacetFactorTask task, FacetFactorTask pattern)
{
    for (int f = 0; f < facet_factor_count(space); f++)
        if (pattern.value[f] != FACET_FACTOR_NULL && pattern.value[f] != task.value[f])
            return false;
    return true;
}

FacetStatus factor_split_add_matching(FacetFactorSplit *split, FacetFactorTask pattern)
{
    if (factor_task_complete(split->space, pattern)) return factor_split_add(split, pattern);
    for (int64_t i = 0; i < factor_task_count(split->space); i++) {
        FacetFactorTask task = factor_task_at(split->space, i);
        if (matches(split->space, task, pattern)) TRY(factor_split_add(split, task));
    }
    return status_ok();
}

bool facet_factor_split_contains(const FacetFactorSplit *split, FacetFactorTask task)
{
    int64_t number = factor_task_index(split->space, task);
    int place = place_of(split, number);
    return place < split->count && split->tasks[place] == number;
}

int facet_factor_split_count(const FacetFactorSplit *split) { return split->count; }

FacetFactorTask facet_factor_split_task(const FacetFactorSplit *split, int index)
{
    assert(index >= 0 && index < split->count && "the split has this task");
    return factor_task_at(split->space, split->tasks[index]);
}

const FacetFactorSpace *factor_split_space(const FacetFactorSplit *split) { return split->space; }
