// The ranks that the program runs on when mpirun started it (facet_study/ranks.h).
//
// All of them run the same command. The first shows progress and results and writes files; the
// others say nothing unless they fail. Alone, the program is the first.
#ifndef FACET_PROGRAM_TEAM_H
#define FACET_PROGRAM_TEAM_H

#include "ranks/ranks.h"

// Joins, and refuses ranks of another version or commit, with other kernels or another command
// line.
FacetStatus team_join(const char *commit, int argc, char **argv);
void team_leave(void);

// NULL when the program is alone, or while each rank works by itself.
FacetRanks *team_ranks(void);

// From here on each rank works by itself, on a part that is its own; then together again.
void team_part(void);
void team_meet(void);

// Fails when there are several ranks, for work that they do not share.
FacetStatus team_refuse(void);

bool team_leads(void);  // whether this rank shows progress and results
bool team_writes(void); // whether it writes the results of what it does now

// Writes the line of a failure once: on the first rank if all know of it. Else this rank writes it
// and, if the others wait for it, ends them all.
void team_failed(const char *command, FacetStatus status);

#endif
