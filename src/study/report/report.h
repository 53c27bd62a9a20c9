// A report: results gathered from files and flights, and written as one page.
//
// It holds flights of every method on every task, the way of the default policy's plans from noise,
// and the documents that `facet race`, `facet eval` and `facet certify` wrote, as far as they are
// there; and the single-gate study of `facet gate`, which may also stand alone. docs/report.md
// describes what the page gets.
#ifndef FACET_REPORT_REPORT_H
#define FACET_REPORT_REPORT_H

#include "base/file.h"
#include "base/json.h"
#include "report/training_log.h"

#include <facet_study/race.h>
#include <stdio.h>

// ---- Methods ------------------------------------------------------------------------------------

enum { REPORT_METHODS = 10 };

// The methods of the comparison, in the paper's order, with how they are drawn.
typedef struct ReportMethod {
    const char *id, *name, *short_name;
    const char *description;  // one sentence for a newcomer
    const char *paper;        // the key of paper_totals, or NULL
    const char *light, *dark; // colours
    const char *dash;         // SVG dash pattern, empty for a solid line
    double width;             // px
    bool shown;               // at first, in the viewer
} ReportMethod;

extern const ReportMethod report_methods[REPORT_METHODS];
enum { METHOD_EXPERT = 0 };

// The index of a method's id, or -1.
int report_method(const char *id);

// ---- Files --------------------------------------------------------------------------------------

typedef enum InputKind {
    INPUT_RACE,
    INPUT_EVAL,
    INPUT_STEPS, // of facet eval --step-study
    INPUT_CERTIFY,
    INPUT_VERIFY, // of facet fly --verify
    // Other studies, which a report of races does not miss.
    INPUT_BUDGET,        // of facet certify --budget
    INPUT_LEAVE_ONE_OUT, // of facet study leave-one-out
    INPUT_MECHANISM,     // of facet study mechanism
    INPUT_METAWORLD,     // of examples/metaworld/run.sh
    INPUT_RACE_STUDY,    // of facet reproduce
    INPUT_PAIRS,         // of facet study pairs
    INPUT_OPERATORS,     // of facet study operators
    // The single gate, which needs no race.
    INPUT_GATE,
    INPUT_GATE_STUDY,  // of facet gate study
    INPUT_GATE_LADDER, // of facet gate study --ladder
    INPUT_MODALITY,    // of facet gate modality
    INPUT_KINDS
} InputKind;

// A file of results.
typedef struct ReportInput {
    char path[FILE_PATH_MAX]; // as it is shown: a shipped file has no folders above "results"
    Json *document;           // NULL when there is no file
} ReportInput;

// ---- A report -----------------------------------------------------------------------------------

#define REPORT_RATE 25.0 // samples of a flight a second

typedef struct ReportFlight {
    bool flown;
    FacetRaceResult result;
    int samples;
    double *positions; // [samples][3], m
    double *attitudes; // [samples][4], w x y z, body to world
    double *speeds;    // [samples], m/s
} ReportFlight;

// The way of one method's plans from noise.
typedef struct ReportDenoising {
    int method, steps, count;
    FacetCourseTask *tasks; // [count]
    double *levels;         // [steps + 1], standard deviation of the noise left
    double *path;           // [steps + 1][count][32][4]
} ReportDenoising;

// A policy for the page to sample from itself, and what it passed here.
typedef struct ReportLive {
    char name[104]; // of its file
    size_t parameters;
    int steps, count;
    FacetRaceResult *results; // [count]
    char *weights;            // the whole file, in base 64
} ReportLive;

enum { REPORT_NOTES_MAX = 40, REPORT_NOTE_SIZE = 256 };

struct GateStudy;

typedef struct Report {
    const FacetRace *race;         // NULL: of the single-gate study alone
    const char *version, *command; // of the program that makes the report
    uint64_t seed;                 // of the flights computed here
    const FacetProgress *progress; // NULL, or asked whether to stop
    ReportInput inputs[INPUT_KINDS];
    struct GateStudy *gate;              // NULL without results of facet gate
    int task_count;                      // pairs of a track and an opening
    ReportFlight *flights;               // [REPORT_METHODS][task_count]
    const char *origins[REPORT_METHODS]; // "race", "eval" or "flights": where the plans come from
    ReportDenoising denoising;           // count 0 for none
    ReportLive live;                     // count 0 for none
    TrainingLog *training;               // [training_count]
    int training_count;
    int note_count;
    char notes[REPORT_NOTES_MAX][REPORT_NOTE_SIZE]; // what was wrong with the inputs
} Report;

typedef struct ReportSetup {
    const char *files[INPUT_KINDS]; // named by the user; NULL takes the default place
    const char *const *training;    // logs of trainings, [training_count]
    int training_count;
    bool no_defaults;  // NULL takes none: the study is not the shipped one
    bool no_race_file; // the race is not read from a file
    bool no_gate_file; // nor are the flights through single gates
    const char *version, *command;
    uint64_t seed;
    const FacetProgress *progress; // NULL, or asked whether to stop
} ReportSetup;

// Reads the files. A file that is named and cannot be read, or is not JSON, fails. The race must
// outlive the report. Without a race the report is of the single-gate study alone, and no file of
// races is read.
FacetStatus report_open(Report **report, const FacetRace *race, const ReportSetup *setup);
void report_close(Report *report);

// Flies tasks and keeps what a report shows of them: flights [count].
FacetStatus report_fly(ReportFlight *flights, const FacetRace *race, const FacetPlanner *planner,
                       const FacetCourseTask *tasks, int count, uint64_t seed,
                       const FacetProgress *progress);
void report_flights_free(ReportFlight *flights, int count);

// Gives the report the flights of a method, in place of what it had. What they hold becomes the
// report's, and they are left empty.
void report_give_flights(Report *report, int method, ReportFlight *flights, int count);

// Flies the expert and the plans that the files hold, as far as the report has no flights of a
// method. Does nothing without a race.
FacetStatus report_fly_files(Report *report);

bool report_has_method(const Report *report, int method);
const ReportFlight *report_flight(const Report *report, int method, FacetCourseTask task);
int report_task_index(const Report *report, FacetCourseTask task);

// Whether the policy of the main method did not learn from a task, as its own record says.
bool report_held_out(const Report *report, FacetCourseTask task);

// The method that stands for Facet's factored policy, or the expert when no policy flew.
int report_main_method(const Report *report);

// Samples plans of a policy for the tasks that it knows and flies them, unless the report has that
// method already; with `denoising` keeps their way from noise. Does nothing when it knows no task.
FacetStatus report_add_policy(Report *report, const FacetPolicy *policy, FacetPolicyMode mode,
                              bool denoising);

// Makes room for the way of a policy's plans for these tasks: sampling them with `how` is to fill
// its path. Free it also when this fails.
FacetStatus report_denoising_begin(ReportDenoising *out, const FacetPolicy *policy,
                                   const FacetPolicySampling *how, const FacetCourseTask *tasks,
                                   int count);

// Gives the report the way of a method's plans from noise, which becomes the report's; `denoising`
// is left empty.
void report_give_denoising(Report *report, ReportDenoising *denoising);
void report_denoising_free(ReportDenoising *denoising);

// The method that a policy with a mode is.
int report_policy_method(const FacetPolicy *policy, FacetPolicyMode mode);

// Puts the policy of a file into the page, for it to plan and fly by itself, and flies the tasks
// that the policy knows, so that the page can say how well. Does nothing when it knows no task.
FacetStatus report_add_live(Report *report, const char *path);
void report_live_free(ReportLive *live);

// Writes a page of the single-gate study alone: the flights of the document that facet gate makes,
// and the tables of the study that ships with Facet.
FacetStatus report_write_gate(const char *path, const Json *gate, const ReportSetup *setup);

// All of the page's data. Reading it may add notes.
Json *report_document(Report *report);

// Writes the page with a document in it, the document alone, and its figures into a folder.
FacetStatus report_write_page(const char *path, const Json *document,
                              const FacetProgress *progress);
FacetStatus report_write_data(const char *path, const Json *document,
                              const FacetProgress *progress);
FacetStatus report_write_figures(const char *folder, const Json *document,
                                 const FacetProgress *progress);

// Writes flight.svg into a folder: a held-out task's plan and flight, moving. Nothing where the
// main method flies no such task whole.
FacetStatus report_write_animation(const char *folder, const Report *report);

#endif
