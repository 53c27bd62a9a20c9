// The parts of the page's data, each made in a file of its own.
#ifndef FACET_REPORT_DOCUMENT_H
#define FACET_REPORT_DOCUMENT_H

#include "report/report.h"

enum { REPORT_TASK_NAME = 2 * FACET_COURSE_NAME_MAX };

// "race1/wide"
void report_task_name(char out[REPORT_TASK_NAME], const Report *report, FacetCourseTask task);

// The entry of a task among the certificates; it has no node where there is none.
JsonRef report_certified_task(const Report *report, FacetCourseTask task);

// C_LTV of such an entry: the mean over its seeds and their standard deviation, which is NaN for a
// single one; NaN where there is none.
double report_ltv(double *deviation, Report *report, const JsonRef *entry);

// Sets a text, or null for an empty one.
void document_set_text(Json *object, const char *key, const char *text);

// The 32 keypoints x, y, z, speed of a plan in one list, with so many decimals.
Json *document_plan(const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], int places);

Json *document_colors(void);
Json *document_live(const Report *report);
Json *document_gate(const Report *report);
Json *document_figures(Report *report);
Json *document_tables(Report *report);

#endif
