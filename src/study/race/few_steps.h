// Gates passed by the number of denoising steps, and where the plans lie.
//
// A curve is one way to plan: a policy, a sampler and a mode, flown on every feasible task with
// several seeds and every number of steps. Its distances say why few steps are enough, or are not:
// one step gives the mean of the plans that the policy could have made.
#ifndef FACET_RACE_FEW_STEPS_H
#define FACET_RACE_FEW_STEPS_H

#include "base/json.h"
#include "race/eval.h"

enum { FEW_STEPS_COUNT = 10 };

extern const int few_steps[FEW_STEPS_COUNT]; // 1 to 50

// Gates of a kind of task. Held out are those of the course's list that the policy was not trained
// on; left out are others that it was not trained on: what a choice may be made on.
typedef struct FewStepsGates {
    int all, held_out, left_out;
} FewStepsGates;

typedef struct FewStepsCell {
    FewStepsGates *passed; // [seeds]
    int crashes;           // of all seeds
    double spread;         // m, standard deviation of a task's plans over the seeds
    double from_last;      // m, distance from the plans with the most steps and the same noise
} FewStepsCell;

typedef struct FewStepsCurve {
    char method[16]; // as eval_method names it
    FacetPolicySampler sampler;
    FacetPolicyMode mode;
    int seeds;
    FewStepsGates gates; // of all tasks
    FewStepsCell cells[FEW_STEPS_COUNT];
} FewStepsCurve;

// A curve without results. Free it also when this fails.
FacetStatus few_steps_create(FewStepsCurve *curve, int seeds);
void few_steps_free(FewStepsCurve *curve);

// Plans and flies: the stage "steps", an item a denoising step and seed. `how` gives sampler, mode,
// temperature and the first seed.
FacetStatus few_steps_fly(FewStepsCurve *curve, const FacetRace *race, const FacetPolicy *policy,
                          const FacetPolicySampling *how, int seeds, const FacetProgress *progress);
long few_steps_items(int seeds); // of that stage

Json *few_steps_to_json(const FewStepsCurve *curve);
FacetStatus few_steps_from_json(FewStepsCurve *curve, const JsonRef *at, int seeds);

// A list of curves, none twice: curves [max], of which `count` are to be freed also when this
// fails.
FacetStatus few_steps_list_from_json(FewStepsCurve *curves, int *count, const JsonRef *list,
                                     int max, int seeds);

// The curve of a way to plan, or NULL.
const FewStepsCurve *few_steps_find(const FewStepsCurve *curves, int count, const char *method,
                                    FacetPolicySampler sampler, FacetPolicyMode mode);

#endif
