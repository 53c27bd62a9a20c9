// What the program tells a person of long work: on stderr, a bar with an ETA on a terminal, plain
// lines elsewhere.
#ifndef FACET_PROGRAM_BAR_H
#define FACET_PROGRAM_BAR_H

#include <facet/progress.h>

// The progress that the program hands to the libraries. Nothing is drawn when `quiet` is set; an
// interrupt stops the work either way.
const FacetProgress *bar_open(bool quiet);

// Ends the line of a stage that did not complete, before something else is written.
void bar_close(void);

#endif
