// Ctrl-C, SIGTERM and SIGHUP set a flag, which the program's progress turns into a stop of the
// work.
#ifndef FACET_PROGRAM_INTERRUPT_H
#define FACET_PROGRAM_INTERRUPT_H

#include <facet/progress.h>

// From here on the first of these signals stops the work at its next safe point, once the work has
// begun to ask; before that, while files are loaded, there is nothing to keep, and it ends the
// program at once. So does a Ctrl-C half a second or more after the first signal. A SIGHUP that the
// program was started without, as by nohup, stays ignored.
void interrupt_watch(void);

// Whether to stop. Work asks at every safe point.
bool interrupt_requested(void);

// Shows nothing, and stops the work after an interrupt.
const FacetProgress *interrupt_progress(void);

#endif
