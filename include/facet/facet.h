// All of the runtime: load a policy, sample from it, fly what it plans.
//
// Everything is SI and radians. Names begin with facet_, Facet or FACET_. Functions that touch the
// outside world return a FacetStatus; the others cannot fail. Nothing here writes to stdout or
// stderr, handles signals, starts a thread that is not in a pool of the caller's, or keeps state
// that belongs to the process.
#ifndef FACET_FACET_H
#define FACET_FACET_H

#include <facet/api.h>
#include <facet/control.h>
#include <facet/course.h>
#include <facet/factor.h>
#include <facet/flight.h>
#include <facet/policy.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/quad.h>
#include <facet/status.h>
#include <facet/types.h>

#endif
