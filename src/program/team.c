// The ranks that the program runs on (see team.h).
#include "team.h"

#include "args.h"
#include "base/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FacetRanks *ranks;
static bool apart; // each rank works by itself

FacetStatus team_join(const char *commit, int argc, char **argv)
{
    enum { COMMAND_SIZE = 1 << 16 };
    static char command[COMMAND_SIZE];
    TRY(facet_ranks_join(&ranks));
    if (!ranks) return status_ok();
    if (ranks->rank > 0 && !freopen("/dev/null", "w", stdout))
        return status_fail(FACET_NO_ACCESS, "/dev/null: cannot write");
    setenv("NO_COLOR", "1", 0); // what mpirun gives a rank looks like a terminal
    TRY(ranks_same(ranks, "version", facet_version()));
    TRY(ranks_same(ranks, "commit", commit));
    TRY(ranks_same(ranks, "instructions", isa_name())); // others give other bits
    command_text(command, sizeof command, argc, argv);
    return ranks_same(ranks, "command", command);
}

void team_leave(void) { facet_ranks_leave(ranks); }

FacetRanks *team_ranks(void) { return apart ? NULL : ranks; }

void team_part(void) { apart = ranks != NULL; }

void team_meet(void) { apart = false; }

FacetStatus team_refuse(void)
{
    if (facet_ranks_count(team_ranks()) == 1) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT, "expected one rank, found %d: start it without mpirun",
                       ranks->count);
}

// A program without MPI has no ranks, but mpirun numbers it all the same.
bool team_leads(void)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    return ranks ? ranks->rank == 0 : !number || strcmp(number, "0") == 0;
}

bool team_writes(void) { return apart || team_leads(); }

void team_failed(const char *command, FacetStatus status)
{
    bool known = !ranks || (ranks->agreed && !apart);
    if (known && team_leads()) fprintf(stderr, "facet %s: %s\n", command, status.text);
    if (known) return;
    fprintf(stderr, "facet %s: rank %d: %s\n", command, ranks->rank, status.text);
    if (!apart) ranks_abort(ranks);
}
