// What the sub-commands of `facet gate` share.
#ifndef FACET_CLI_GATE_WORLD_H
#define FACET_CLI_GATE_WORLD_H

#include "args.h"
#include "base/file.h"
#include "json_gate.h"
#include "policy/policy.h"

// The sub-commands; argv[0] is "gate NAME".
int cmd_gate_demos(int argc, char **argv);
int cmd_gate_train(int argc, char **argv);
int cmd_gate_eval(int argc, char **argv);
int cmd_gate_beacon(int argc, char **argv);
int cmd_gate_modality(int argc, char **argv);
int cmd_gate_study(int argc, char **argv);
int cmd_gate_certify(int argc, char **argv);

// The file of the gate policy that ships with Facet; false when none does.
bool shipped_gate_policy(char path[FILE_PATH_MAX]);

// Takes it for a command without --policy: `name` points at `path` then. Refuses outputs that are
// the same file.
FacetStatus gate_policy_default(const char **name, char path[FILE_PATH_MAX], const Usage *usage);

// Loads a policy that can fly in this world.
FacetStatus gate_policy_load(FacetPolicy **policy, const FacetGateWorld *world, const char *path);

// The tasks that any of the patterns matches, such as venue=pool. The caller destroys the set.
FacetStatus gate_tasks_matching(FacetFactorSplit **tasks, const FacetGateWorld *world,
                                const TextList *patterns);

// Flies all trials; watches [count], or NULL.
FacetStatus gate_trials_fly(GateTrials *trials, FacetGateFlyer *flyer, FacetGatePurpose purpose,
                            const FacetGateWatch *watches, const CommonOptions *common);

#endif
