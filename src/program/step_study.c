// facet eval --step-study (see step_study.h).
#include "step_study.h"

#include "bar.h"
#include "base/progress.h"
#include "base/text.h"
#include "certify/study.h"
#include "race/few_steps.h"
#include "report/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const methods[] = {"ours", "factored"};
enum { METHODS = 2, SAMPLERS = 2, MODES = 2, CURVES = METHODS * SAMPLERS * MODES };

typedef struct StepStudy {
    int wanted; // curves, of the policies there are
    int count;  // done
    FewStepsCurve curves[CURVES];
    StudyState state;            // what is done
    char key[2 * FILE_PATH_MAX]; // names all that results depend on
} StepStudy;

static Json *json_from_curves(const StepStudy *study)
{
    Json *list = json_array();
    for (int i = 0; i < study->count; i++) json_push(list, few_steps_to_json(&study->curves[i]));
    return list;
}

// ---- What is done -------------------------------------------------------------------------------

static void name_study(StepStudy *study, const FacetRace *race, const PolicySet *set,
                       const StepStudyOptions *options)
{
    char flown[STUDY_NAME_SIZE];
    study_name(flown, race, options->common, options->study);
    int used = snprintf(
        study->key, sizeof study->key, "seed %llu, seeds %d, temperature %g, %s, policies",
        (unsigned long long)options->common->seed, options->seeds, options->temperature, flown);
    for (int m = 0; m < METHODS; m++) {
        const FacetPolicy *policy = policies_find(set, methods[m]);
        if (!policy) continue;
        char name[24];
        certify_study_policy_name(name, policy);
        used += snprintf(study->key + used, sizeof study->key - (size_t)used, " %s", name);
        study->wanted += SAMPLERS * MODES;
    }
}

// Whether the study flies a curve.
static bool is_wanted(const FewStepsCurve *curve, const PolicySet *set)
{
    bool known = false;
    for (int m = 0; m < METHODS; m++) known = known || strcmp(curve->method, methods[m]) == 0;
    return known && policies_find(set, curve->method) && (int)curve->sampler < SAMPLERS &&
           (int)curve->mode < MODES;
}

static FacetStatus read_curves(StepStudy *study, const JsonRef *root, const PolicySet *set,
                               int seeds)
{
    JsonRef key, list, at;
    TRY(json_member(&key, root, "study"));
    const char *found = json_chars(&key) ? json_chars(&key) : "";
    if (strcmp(found, study->key) != 0) {
        char wanted[120], there[120];
        text_difference(wanted, there, sizeof wanted, study->key, found);
        return status_fail(FACET_BAD_FILE,
                           "%s: expected results of this study, with %s, found %s; remove it to "
                           "begin anew",
                           root->file, wanted, there);
    }
    TRY(json_member(&list, root, "curves"));
    TRY(few_steps_list_from_json(study->curves, &study->count, &list, CURVES, seeds));
    for (int i = 0; i < study->count; i++) {
        TRY(json_element(&at, &list, i));
        if (!is_wanted(&study->curves[i], set)) return json_wrong(&at, "a curve of the study");
    }
    return status_ok();
}

static FacetStatus read_state(StepStudy *study, const PolicySet *set, int seeds)
{
    if (!study->state.keeps || access(study->state.path, F_OK) != 0) return status_ok();
    Json *document;
    TRY(json_read(&document, study->state.path));
    JsonRef root = json_root(document, study->state.path);
    FacetStatus status = read_curves(study, &root, set, seeds);
    json_free(document);
    return status;
}

static FacetStatus write_state(const StepStudy *study)
{
    if (!study->state.keeps) return status_ok();
    Json *document = json_object();
    json_set_string(document, "study", study->key);
    json_set(document, "curves", json_from_curves(study));
    return json_write(document, study->state.path);
}

// ---- Flights ------------------------------------------------------------------------------------

static FacetStatus fly_curve(StepStudy *study, const FacetRace *race, const FacetPolicy *policy,
                             const FacetPolicySampling *how, int seeds,
                             const FacetProgress *progress)
{
    if (few_steps_find(study->curves, study->count, eval_method(policy), how->sampler, how->mode))
        return status_ok();
    TRY(few_steps_fly(&study->curves[study->count], race, policy, how, seeds, progress));
    study->count++;
    return write_state(study);
}

static FacetStatus fly_policy(StepStudy *study, const FacetRace *race, const FacetPolicy *policy,
                              const StepStudyOptions *options, const FacetProgress *progress)
{
    for (int sampler = 0; sampler < SAMPLERS; sampler++)
        for (int mode = 0; mode < MODES; mode++) {
            const FacetPolicySampling how = {.sampler = (FacetPolicySampler)sampler,
                                             .mode = (FacetPolicyMode)mode,
                                             .temperature = options->temperature,
                                             .seed = options->common->seed};
            TRY(fly_curve(study, race, policy, &how, options->seeds, progress));
        }
    return status_ok();
}

static FacetStatus fly_all(StepStudy *study, const FacetRace *race, const PolicySet *set,
                           const StepStudyOptions *options)
{
    Progress steps;
    progress_begin(&steps, bar_open(options->common->quiet), "steps",
                   (study->wanted - study->count) * few_steps_items(options->seeds));
    const FacetProgress part = progress_part(&steps);
    FacetStatus status = status_ok();
    for (int m = 0; m < METHODS && status.ok; m++) {
        const FacetPolicy *policy = policies_find(set, methods[m]);
        if (policy) status = fly_policy(study, race, policy, options, &part);
    }
    progress_end(&steps);
    if (status.code == FACET_INTERRUPTED && study->state.keeps && study->count > 0)
        return status_fail(FACET_INTERRUPTED,
                           "interrupted after %d of %d curves; the same command goes on from %s",
                           study->count, study->wanted, study->state.path);
    return status;
}

// ---- The study ----------------------------------------------------------------------------------

static FacetStatus run(StepStudy *study, const FacetRace *race, const PolicySet *set,
                       const StepStudyOptions *options)
{
    name_study(study, race, set, options);
    if (study->wanted == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--step-study: expected a factored policy, found none");
    TRY(study_state_open(&study->state, options->common));
    TRY(read_state(study, set, options->seeds));
    TRY(fly_all(study, race, set, options));
    Json *document = json_object();
    json_set_number(document, "seeds", options->seeds);
    json_set(document, "curves", json_from_curves(study));
    json_set_origin(document, options->command, options->common->seed);
    print_document(stdout, race, INPUT_STEPS, document);
    return json_finish(document, options->common);
}

FacetStatus step_study(const FacetRace *race, const PolicySet *set, const StepStudyOptions *options)
{
    StepStudy *study = calloc(1, sizeof *study);
    if (!study) return status_fail(FACET_NO_MEMORY, "out of memory for the study");
    FacetStatus status = run(study, race, set, options);
    study_state_close(&study->state, status.ok);
    for (int i = 0; i < study->count; i++) few_steps_free(&study->curves[i]);
    free(study);
    return status;
}
