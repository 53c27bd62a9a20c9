// The space that the tests of this room share: two factors of unequal size.
#ifndef FACET_TESTS_FACTOR_SPACES_H
#define FACET_TESTS_FACTOR_SPACES_H

#include "factor/factor.h"
#include "testing.h"

static inline FacetFactorSpace *race_space(void)
{
    static const char *const tracks[] = {"race1", "race2", "race10", "slalom"};
    static const char *const sizes[] = {"narrow", "standard", "wide"};
    FacetFactorSpace *space;
    assert_ok(facet_factor_space_create(&space));
    assert_ok(facet_factor_space_add(space, "track", tracks, 4));
    assert_ok(facet_factor_space_add(space, "size", sizes, 3));
    return space;
}

#endif
