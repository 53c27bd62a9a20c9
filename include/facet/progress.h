// How long work tells its host how far it is, and asks whether to go on.
//
// A host fills in a FacetProgress and hands it to the functions that take a while; NULL means that
// nobody watches. There is nothing to create or to destroy.
#ifndef FACET_PROGRESS_H
#define FACET_PROGRESS_H

#include <facet/api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where a stage of the work stands. The texts live as long as the call.
typedef struct FacetProgressEvent {
    const char *stage; // a word or two: "speed map"
    long done, total;  // items; a stage begins with none done, and is complete with all
    const char *note;  // of the items just done, such as a loss; NULL for none
} FacetProgressEvent;

// `report` is called when a stage begins, after every item or few, and now and then between them
// with the same count. It returns false to stop. The calls come from whichever thread of the pool
// is at work, one at a time, and hold up that thread: a report is to return at once, and must not
// use the pool.
//
// After a stop the work ends within a second or so, `report` is not called again, and the function
// fails with FACET_INTERRUPTED: its results are not to be used, and a file that it was writing is
// not there, except where its header promises one to go on from.
typedef struct FacetProgress {
    bool (*report)(void *context, const FacetProgressEvent *event);
    void *context;
} FacetProgress;

#ifdef __cplusplus
}
#endif

#endif
