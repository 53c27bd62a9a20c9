// Studies as a row of commands, each one that a person could type.
//
// A step is a command line in the making; running it shows it, and says how long it took.
#ifndef FACET_CLI_STEPS_H
#define FACET_CLI_STEPS_H

#include "args.h"
#include "base/lock.h"

enum { STEP_WORDS_MAX = 128, STEP_WORD_SIZE = FILE_PATH_MAX };

typedef struct Step {
    int count;
    char *argv[STEP_WORDS_MAX + 1];
    char words[STEP_WORDS_MAX][STEP_WORD_SIZE];
} Step;

// A step begins with its command's name. Words are copied.
void step_begin(Step *step, const char *command);
void step_add(Step *step, const char *word);
void step_pair(Step *step, const char *option, const char *value);
void step_number(Step *step, const char *option, long value); // nothing when the value is 0
void step_real(Step *step, const char *option, double value); // the same
void step_common(Step *step, const CommonOptions *common);    // --seed, --threads, --quiet

// Runs the command and returns its exit code.
int step_run(Step *step, int (*command)(int argc, char **argv));

// The same on the first rank alone; the others wait for it, and all get its exit code.
int step_run_alone(Step *step, int (*command)(int argc, char **argv));

// Whether the first rank finds the file there, so that all decide alike.
bool step_is_there(const char *path);

// What a study's command returns: its last step's code, and the line how to go on after a stop.
int step_ended(const char *command, int code);

// A folder belongs to one study with one set of settings, "seed 7, epochs 5", which it keeps in
// settings.json: what was made under others is not taken for this one's. `first` is the first file
// that the study makes. The first rank keeps others away until the lock is dropped.
//
// So does a folder of cells, NAME-SEED.json, NULL for the same one. Several studies with the same
// settings, each with a folder of its own, may fill it at a time.
FacetStatus step_folders(FileLock *lock, const char *folder, const char *cells, const char *first,
                         const char *settings);

// What a course is told by in settings, whatever its place: a hash of the files in its folder (part
// ".") or in one within it ("venues").
enum { STEP_COURSE_SIZE = 17 };
FacetStatus step_course(char out[STEP_COURSE_SIZE], const char *courses, const char *part);

double step_clock(void); // s, of a clock that only goes forward

// FOLDER/NAME.
void step_file(char out[STEP_WORD_SIZE], const char *folder, const char *name);

#endif
