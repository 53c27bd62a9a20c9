// Reading results that may be incomplete: what is missing or no number becomes NaN, with a note.
#ifndef FACET_REPORT_INPUT_H
#define FACET_REPORT_INPUT_H

#include "math/statistics.h"
#include "report/report.h"

// Adds a sentence about what was wrong with the inputs; one that is there already is not repeated.
void report_note(Report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));

FacetStatus input_read(Report *report, InputKind kind, const ReportSetup *setup);

// Refuses results of another command, and of tasks, gates or speeds that this course does not have.
FacetStatus input_check(const Report *report, InputKind kind);

const char *input_name(InputKind kind); // "eval"

// The document's root; its node is NULL when there is no document.
JsonRef input_root(const Report *report, InputKind kind);

// A member, or a ref without a node. `at` may have none itself.
JsonRef input_member(const JsonRef *at, const char *key);
JsonRef input_element(const JsonRef *at, int index);
int input_length(const JsonRef *at); // 0 when it is no list or object

// A member that is a finite number, or NaN. null stands for a number that does not exist; anything
// else that is there and is no number is noted.
double input_number(Report *report, const JsonRef *at, const char *key);
double input_share(Report *report, const JsonRef *at, const char *key); // or one from 0 to 1
const char *input_text(const JsonRef *at, const char *key);             // "" when there is none
bool input_flag(const JsonRef *at, const char *key);

// The object that the last name of a path as "a.b.c" is a member of, and a number at such a path.
JsonRef input_within(const char **last, const JsonRef *at, const char *path);
double input_at(Report *report, const JsonRef *at, const char *path);

// Entries of a list whose member is true.
int input_count(const JsonRef *list, const char *key);

// A row of the race study, by its method and way of inference; without a node where there is none.
bool input_is_row(const JsonRef *row, const char *method, const char *key);
JsonRef input_row(const JsonRef *rows, const char *method, const char *key);

// The entry of the same task, by its members track and size, in another list.
JsonRef input_same_task(const JsonRef *list, const JsonRef *task);

// One number of every entry of a list, at the path "a.b" in it. `training` leaves out those of
// held-out tasks.
Summary input_summary(Report *report, const JsonRef *list, const char *path, bool training);

// What made a file, for tables: text or NaN/"" where it does not tell.
typedef struct InputOrigin {
    const char *path, *command, *version;
    double seed;
} InputOrigin;
InputOrigin input_origin(Report *report, InputKind kind);

// Whether gates are of a version that attacks certificates: each has a member `attack`, null where
// none was needed. What an older file calls certified is the formula alone, and counts as none.
bool input_attacked(const JsonRef *gates);
int input_certified(const JsonRef *gates); // how many are

// The name of a recipe of leave-one-pair-out.
enum { REPORT_RECIPE_NAME = 48 };
void report_recipe_name(char out[REPORT_RECIPE_NAME], Report *report, const JsonRef *recipe);

// The task that an object names by its members track and size. False when the course has none.
bool input_task(FacetCourseTask *task, const Report *report, const JsonRef *at);

// The entry of a list that names this task; it has no node where there is none.
JsonRef input_find_task(const Report *report, const JsonRef *list, FacetCourseTask task);

#endif
