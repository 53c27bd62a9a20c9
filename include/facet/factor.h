// Factors: what a task is made of.
//
// A FactorSpace is an ordered list of named factors (track, size, ...), each with an ordered list
// of named values (race1, race2, ...). A task picks one value of every factor; the tasks of a
// space are the product of its factors. Nothing here knows what a factor means.
//
// A name has 1 to 63 bytes, no control characters, none of , = / in it, no space at its ends, and
// is not "*", which stands for the null token.
#ifndef FACET_FACTOR_H
#define FACET_FACTOR_H

#include <facet/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FACTOR_MAX = 16,         // factors of a space
    FACTOR_NAME_SIZE = 64,   // bytes of a name, with its final zero
    FACTOR_TASK_TEXT = 2048, // bytes that hold the text of any task, with its final zero
    FACTOR_NULL = -1,        // the null token: no value of this factor
};

// ---- Spaces ---------------------------------------------------------------------------------

typedef struct FactorSpace FactorSpace;

// An empty space. Destroy accepts NULL.
Status factor_space_create(FactorSpace **space);
Status factor_space_copy(FactorSpace **copy, const FactorSpace *space);
void factor_space_destroy(FactorSpace *space);

// Adds a last factor, or a last value of a factor. A name is unique among its siblings, and a
// space has at most INT64_MAX tasks. A refused name leaves the space as it was.
Status factor_space_add_factor(FactorSpace *space, const char *name);
Status factor_space_add_value(FactorSpace *space, int factor, const char *name);

// Adds a last factor with these values in one call.
Status factor_space_add(FactorSpace *space, const char *name, const char *const *values, int count);

int factor_count(const FactorSpace *space);
int factor_value_count(const FactorSpace *space, int factor);
const char *factor_name(const FactorSpace *space, int factor);
const char *factor_value_name(const FactorSpace *space, int factor, int value); // null is "*"

// The same names in the same order.
bool factor_space_equal(const FactorSpace *a, const FactorSpace *b);

// The index of a name. A failure names the nearest right word and the known ones:
// "no track 'rcae1', did you mean 'race1'? known: race1, race2".
Status factor_find(int *factor, const FactorSpace *space, const char *name);
Status factor_find_value(int *value, const FactorSpace *space, int factor, const char *name);

// A space as one line of JSON, {"track":["race1","race2"],"size":["narrow","wide"]}, in order; the
// caller frees the text. Reading wants at least one factor and at least one value of each; `source`
// says in messages where the text comes from.
char *factor_space_to_json(const FactorSpace *space);
Status factor_space_from_json(FactorSpace **space, const char *text, const char *source);

// ---- Tasks ----------------------------------------------------------------------------------

// One value index for each factor of a space, or FACTOR_NULL. Entries past the last factor are
// FACTOR_NULL, so that equal tasks have equal bytes.
typedef struct FactorTask {
    int value[FACTOR_MAX];
} FactorTask;

FactorTask factor_task_null(void); // every factor null
bool factor_task_equal(FactorTask a, FactorTask b);

// Every factor has one of its values, or may also be null.
bool factor_task_complete(const FactorSpace *space, FactorTask task);
bool factor_task_valid(const FactorSpace *space, FactorTask task);

typedef enum FactorMissing {
    FACTOR_MISSING_REFUSED, // every factor has a value
    FACTOR_MISSING_NULL,    // a factor left out, or given as "*", is the null token
} FactorMissing;

// Reads "size=wide,track=race1" (any order, no factor twice) or "race1/wide" (every factor, in
// order). Spaces around names do not count.
Status factor_task_parse(FactorTask *task, const FactorSpace *space, const char *text,
                         FactorMissing missing);

typedef enum FactorStyle {
    FACTOR_STYLE_VALUES, // race1/wide
    FACTOR_STYLE_PAIRS,  // track=race1,size=wide
} FactorStyle;

// The text of a task, which factor_task_parse reads back. A null is written as "*".
void factor_task_format(char out[FACTOR_TASK_TEXT], const FactorSpace *space, FactorTask task,
                        FactorStyle style);

// Complete tasks are numbered 0 to factor_task_count - 1; the last factor changes fastest.
int64_t factor_task_count(const FactorSpace *space);
int64_t factor_task_index(const FactorSpace *space, FactorTask task);
FactorTask factor_task_at(const FactorSpace *space, int64_t index);

// ---- Splits ---------------------------------------------------------------------------------

// A set of complete tasks held out of training.
typedef struct FactorSplit FactorSplit;

// An empty set over a copy of the space. Destroy accepts NULL.
Status factor_split_create(FactorSplit **split, const FactorSpace *space);
void factor_split_destroy(FactorSplit *split);

Status factor_split_add(FactorSplit *split, FactorTask task); // a second time changes nothing
Status factor_split_add_matching(FactorSplit *split, FactorTask task); // a null stands for all
bool factor_split_contains(const FactorSplit *split, FactorTask task);
int factor_split_count(const FactorSplit *split);
FactorTask factor_split_task(const FactorSplit *split, int index); // in the order of their indices
const FactorSpace *factor_split_space(const FactorSplit *split);   // lives as long as the split

#ifdef __cplusplus
}
#endif

#endif
