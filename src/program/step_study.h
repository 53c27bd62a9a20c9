// facet eval --step-study: gates passed by the number of denoising steps.
#ifndef FACET_CLI_STEP_STUDY_H
#define FACET_CLI_STEP_STUDY_H

#include "pilot.h"
#include "show_race.h"

typedef struct StepStudyOptions {
    const CommonOptions *common;
    const StudyOptions *study;
    int seeds;
    double temperature;  // 0 for each policy's own
    const char *command; // for the record
} StepStudyOptions;

// Flies the factored policies of the set, with our loss and with the paper's, composed and joint,
// by every sampler; prints the sheet and writes the JSON. With --json, a study that was stopped
// goes on from its state file.
FacetStatus step_study(const FacetRace *race, const PolicySet *set,
                       const StepStudyOptions *options);

#endif
