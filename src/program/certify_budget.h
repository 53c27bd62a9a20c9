// facet certify --budget: the budget of Theorem 2 alone (certify/budget.h).
#ifndef FACET_PROGRAM_CERTIFY_BUDGET_H
#define FACET_PROGRAM_CERTIFY_BUDGET_H

#include "show_race.h"

// Measures it for a policy's file, or for the shipped policies of our loss and the paper's when
// that is NULL; prints it, and writes what the common options say.
FacetStatus certify_budget_run(const FacetRace *race, const char *policy, int steps,
                               const char *command, const CommonOptions *common);

#endif
