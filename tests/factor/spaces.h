// The space that the tests of this room share: two factors of unequal size.
#ifndef FACET_TESTS_FACTOR_SPACES_H
#define FACET_TESTS_FACTOR_SPACES_H

#include "testing.h"

#include <facet/factor.h>

static inline FactorSpace *race_space(void)
{
    static const char *const tracks[] = {"race1", "race2", "race10", "slalom"};
    static const char *const sizes[] = {"narrow", "standard", "wide"};
    FactorSpace *space;
    assert_ok(factor_space_create(&space));
    assert_ok(factor_space_add(space, "track", tracks, 4));
    assert_ok(factor_space_add(space, "size", sizes, 3));
    return space;
}

#endif
