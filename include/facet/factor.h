// Factors: what a task is made of.
//
// A FacetFactorSpace is an ordered list of named factors (track, size, ...), each with an ordered
// list of named values (race1, race2, ...). A task picks one value of every factor; the tasks of a
// space are the product of its factors. Nothing here knows what a factor means.
//
// Factors, their values and the tasks of a split count from 0; an index out of range is a
// programmer's mistake. Only create and add allocate. A space may be read from any number of
// threads while none adds to it. Texts that are returned live as long as their space.
//
// A name has 1 to 63 bytes, no control characters, none of , = / in it, no space at its ends, and
// is not "*", which stands for the null token.
#ifndef FACET_FACTOR_H
#define FACET_FACTOR_H

#include <facet/api.h>
#include <facet/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FACET_FACTOR_MAX = 16,         // factors of a space
    FACET_FACTOR_NAME_SIZE = 64,   // bytes of a name, with its final zero
    FACET_FACTOR_TASK_TEXT = 2048, // bytes that hold the text of any task, with its final zero
    FACET_FACTOR_NULL = -1,        // the null token: no value of this factor
};

// ---- Spaces ---------------------------------------------------------------------------------

typedef struct FacetFactorSpace FacetFactorSpace;

// An empty space, which is the caller's. Destroy accepts NULL.
FACET_API FacetStatus facet_factor_space_create(FacetFactorSpace **space);
FACET_API void facet_factor_space_destroy(FacetFactorSpace *space);

// Adds a last factor with `count` values; all names are copied. A failure leaves the space as it
// was.
FACET_API FacetStatus facet_factor_space_add(FacetFactorSpace *space, const char *name,
                                             const char *const *values, int count);

FACET_API int facet_factor_count(const FacetFactorSpace *space); // factors
FACET_API int facet_factor_value_count(const FacetFactorSpace *space, int factor);
FACET_API const char *facet_factor_name(const FacetFactorSpace *space, int factor);
FACET_API const char *facet_factor_value_name(const FacetFactorSpace *space, int factor,
                                              int value); // null is "*"

// The index of a name. A failure names the nearest right word and the known ones:
// "no track 'rcae1', did you mean 'race1'? known: race1, race2".
FACET_API FacetStatus facet_factor_find(int *factor, const FacetFactorSpace *space,
                                        const char *name);
FACET_API FacetStatus facet_factor_find_value(int *value, const FacetFactorSpace *space, int factor,
                                              const char *name);

// ---- Tasks ----------------------------------------------------------------------------------

// One value index for each factor of a space, or FACET_FACTOR_NULL. Entries past the last factor
// are FACET_FACTOR_NULL, so that equal tasks have equal bytes.
typedef struct FacetFactorTask {
    int value[FACET_FACTOR_MAX];
} FacetFactorTask;

FACET_API FacetFactorTask facet_factor_task_null(void); // every factor null

typedef enum FacetFactorMissing {
    FACET_FACTOR_MISSING_REFUSED, // every factor has a value
    FACET_FACTOR_MISSING_NULL,    // a factor left out, or given as "*", is the null token
} FacetFactorMissing;

// Reads "size=wide,track=race1" (any order, no factor twice) or "race1/wide" (every factor, in
// order). Spaces around names do not count. After a failure the task is null.
FACET_API FacetStatus facet_factor_task_parse(FacetFactorTask *task, const FacetFactorSpace *space,
                                              const char *text, FacetFactorMissing missing);

typedef enum FacetFactorStyle {
    FACET_FACTOR_STYLE_VALUES, // race1/wide
    FACET_FACTOR_STYLE_PAIRS,  // track=race1,size=wide
} FacetFactorStyle;

// The text of a task, which facet_factor_task_parse reads back. A null is written as "*".
FACET_API void facet_factor_task_format(char out[FACET_FACTOR_TASK_TEXT],
                                        const FacetFactorSpace *space, FacetFactorTask task,
                                        FacetFactorStyle style);

// ---- Splits ---------------------------------------------------------------------------------

// A set of complete tasks, such as those held out of training. It belongs to what it is asked of
// (facet_policy_held_out) and is constant.
typedef struct FacetFactorSplit FacetFactorSplit;

// The task is complete: it has a value of every factor.
FACET_API bool facet_factor_split_contains(const FacetFactorSplit *split, FacetFactorTask task);
FACET_API int facet_factor_split_count(const FacetFactorSplit *split);
FACET_API FacetFactorTask facet_factor_split_task(const FacetFactorSplit *split,
                                                  int index); // in the order of their indices

#ifdef __cplusplus
}
#endif

#endif
