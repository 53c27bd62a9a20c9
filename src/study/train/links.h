// Which tasks a sum over factors is determined for.
//
// A composed prediction is an effect of each value, added up. The training tasks fix the sums of
// their own values alone; the sum of another task follows from them only if its row of zeros and
// ones, one column a value, is a combination of theirs. With two factors that means: a chain of
// training tasks leads from one value of the task to the other, each sharing a value with the next.
// That every value was seen is not enough: from a/x and b/y nothing follows about a/y.
#ifndef FACET_TRAIN_LINKS_H
#define FACET_TRAIN_LINKS_H

#include "factor/factor.h"

// Sets linked[i] for task i of `asked`: whether those of `training` determine its sum.
FacetStatus links_find(bool *linked, const FacetFactorSplit *asked,
                       const FacetFactorSplit *training);

#endif
