// What the commands of the race study share: their options and JSON.
#ifndef FACET_CLI_SHOW_RACE_H
#define FACET_CLI_SHOW_RACE_H

#include "args.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"

#include <facet_study/race.h>

// Options of every command that opens a race study, beside the common ones.
typedef struct StudyOptions {
    const char *quad;   // file; NULL for the default vehicle
    const char *preset; // of the controller
    bool search;        // for the speed map, whatever the user's cache has
} StudyOptions;

// Their rows in a command's table of options.
#define STUDY_OPTIONS(study)                                                                       \
    option_text("preset", &(study).preset, "NAME", "gains and carrot of the controller"),          \
        reads(option_text("quad", &(study).quad, "FILE", "JSON file of the vehicle's parameters"))

// Opens the study that the options describe, with a pool of its own. Close accepts NULL.
FacetStatus study_open(FacetRace **race, const CommonOptions *common, const StudyOptions *study);
void study_close(FacetRace *race);

// The file beside that of --json in which a study keeps what is done, so that the same command goes
// on from it. Without --json, or with a device or a pipe, there is none. Fails when it cannot be
// written.
typedef struct StudyState {
    bool keeps;                   // there is such a file
    char path[FILE_PATH_MAX + 8]; // its name
    FileLock lock;                // for one study at a time
} StudyState;

FacetStatus study_state_open(StudyState *state, const CommonOptions *common);
void study_state_close(StudyState *state, bool complete); // removes it when all is done

// Whether the course or the vehicle is not the one that ships with Facet.
bool study_is_own(const CommonOptions *common, const StudyOptions *study);

// Names the controller, the vehicle and the course in what a state file is of. Files of one's own
// may change under their name, so their numbers are named too.
enum { STUDY_NAME_SIZE = 800 };
void study_name(char out[STUDY_NAME_SIZE], const FacetRace *race, const CommonOptions *common,
                const StudyOptions *study);

// The tasks asked for, or all feasible ones, to `use` ("fly"). `tasks` holds enough for either.
FacetStatus study_tasks(FacetCourseTask *tasks, int *count, const FacetRace *race,
                        const TextList *names, const char *use);

Json *json_from_speeds(const FacetRace *race);

// Results of flights: an entry a task, and the totals.
Json *json_from_results(const FacetRace *race, const FacetRaceResult *results, int count);

// The plans of results, {"race1/wide": [[x, y, z, speed], ...32], ...}: enough to fly them again.
Json *json_from_plans(const FacetRace *race, const FacetRaceResult *results, int count);

// Adds the names of a task, as track and size.
void json_set_task(Json *entry, const FacetCourse *course, FacetCourseTask task);

// Adds what made a document: the command, the seed, the version and the commit.
void json_set_origin(Json *document, const char *command, uint64_t seed);

// Writes the document where --json says, and frees it.
FacetStatus json_finish(Json *document, const CommonOptions *common);

#endif
