// All of the runtime: load a policy, sample from it, fly what it plans.
//
// Everything is SI and radians; arrays are dense and row by row, [plans][T][D] with D fastest.
// Names begin with facet_, Facet or FACET_. Outputs come first, then inputs, then sizes.
//
// Failing: functions that touch the outside world return a FacetStatus; the others cannot fail.
// When a function that makes an object fails, it has freed what it made and the object is NULL.
//
// Memory: what a create or a load gives is the caller's, and ends with the destroy beside it, which
// accepts NULL. Structs without one are plain values that may be copied. Pointers handed in are not
// kept past the call unless the header says so. Only what is said to allocate does: the creates,
// the loads, facet_policy_sample and facet_expert_chunk. Nothing allocates in a step.
//
// Threads: there is no global state. Any number of threads may use one object through const
// pointers at the same time; an object that a function changes, or a pool, serves one call at a
// time.
//
// Nothing here writes to stdout or stderr, handles signals, starts a thread that is not in a pool
// of the caller's, or changes what belongs to the process.
#ifndef FACET_FACET_H
#define FACET_FACET_H

#include <facet/agent.h>
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
