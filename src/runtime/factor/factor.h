// Factors beyond facet/factor.h: editing, numbering and storing spaces, tasks and splits.
#ifndef FACET_FACTOR_FACTOR_H
#define FACET_FACTOR_FACTOR_H

#include <facet/factor.h>

FacetStatus factor_space_copy(FacetFactorSpace **copy, const FacetFactorSpace *space);

// Adds a last factor, or a last value of a factor. A name is unique among its siblings, and a
// space has at most INT64_MAX tasks. A refused name leaves the space as it was.
FacetStatus factor_space_add_factor(FacetFactorSpace *space, const char *name);
FacetStatus factor_space_add_value(FacetFactorSpace *space, int factor, const char *name);

// The same names in the same order.
bool factor_space_equal(const FacetFactorSpace *a, const FacetFactorSpace *b);

// A space as one line of JSON, {"track":["race1","race2"],"size":["narrow","wide"]}, in order; the
// caller frees the text. Reading wants at least one factor and at least one value of each; `source`
// says in messages where the text comes from. The text is NULL when memory runs out.
char *factor_space_to_json(const FacetFactorSpace *space);
FacetStatus factor_space_from_json(FacetFactorSpace **space, const char *text, const char *source);

bool factor_task_equal(FacetFactorTask a, FacetFactorTask b);

// Every factor has one of its values, or may also be null.
bool factor_task_complete(const FacetFactorSpace *space, FacetFactorTask task);
bool factor_task_valid(const FacetFactorSpace *space, FacetFactorTask task);

// Complete tasks are numbered 0 to factor_task_count - 1; the last factor changes fastest.
int64_t factor_task_count(const FacetFactorSpace *space);
int64_t factor_task_index(const FacetFactorSpace *space, FacetFactorTask task);
FacetFactorTask factor_task_at(const FacetFactorSpace *space, int64_t index);

// An empty set over a copy of the space. Destroy accepts NULL.
FacetStatus factor_split_create(FacetFactorSplit **split, const FacetFactorSpace *space);
void factor_split_destroy(FacetFactorSplit *split);

FacetStatus factor_split_add(FacetFactorSplit *split,
                             FacetFactorTask task); // a second time changes nothing
FacetStatus factor_split_add_matching(FacetFactorSplit *split,
                                      FacetFactorTask task); // a null stands for all
const FacetFactorSpace *
factor_split_space(const FacetFactorSplit *split); // lives as long as the split

#endif
