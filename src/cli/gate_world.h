// What the sub-commands of `facet gate` share.
#ifndef FACET_CLI_GATE_WORLD_H
#define FACET_CLI_GATE_WORLD_H

#include "args.h"
#include "base/file.h"
#include "show_gate.h"

#include <facet/policy.h>

// The sub-commands; argv[0] is "gate NAME".
int cmd_gate_demos(int argc, char **argv);
int cmd_gate_train(int argc, char **argv);
int cmd_gate_eval(int argc, char **argv);
int cmd_gate_study(int argc, char **argv);
int cmd_gate_certify(int argc, char **argv);

// The file of the gate policy that ships with Facet; false when none does.
bool shipped_gate_policy(char path[FILE_PATH_MAX]);

// Loads a policy that can fly in this world.
Status gate_policy_load(Policy **policy, const GateWorld *world, const char *path);

// The tasks that any of the patterns matches, such as venue=pool. The caller destroys the set.
Status gate_tasks_matching(FactorSplit **tasks, const GateWorld *world, const TextList *patterns);

// Flies all trials; watches [count], or NULL.
Status gate_trials_fly(GateTrials *trials, GateFlyer *flyer, const GateWatch *watches,
                       const CommonOptions *common);

#endif
