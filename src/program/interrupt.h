// Ctrl-C and SIGTERM set a flag, which the program's progress turns into a stop of the work.
#ifndef FACET_PROGRAM_INTERRUPT_H
#define FACET_PROGRAM_INTERRUPT_H

#include <facet/progress.h>

// From here on the first Ctrl-C sets the flag. A second one ends the program at once.
void interrupt_watch(void);
bool interrupt_requested(void);

// Shows nothing, and stops the work after an interrupt.
const FacetProgress *interrupt_progress(void);

#endif
