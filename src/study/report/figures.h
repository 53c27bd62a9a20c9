// What the files that draw figures share.
#ifndef FACET_REPORT_FIGURES_H
#define FACET_REPORT_FIGURES_H

#include "report/document.h"
#include "report/input.h"
#include "report/svg.h"

typedef struct Figure {
    const char *id, *group, *title, *caption;
    double width, height; // px
} Figure;

// Adds a drawn figure to the list; frees the text.
void figure_push(Json *list, const Figure *figure, char *svg);

// Adds a figure that cannot be drawn, with a sentence that says why.
void figure_missing(Json *list, const Figure *figure, const char *message);

// The methods that flew, as a legend that breaks its lines at `right`. Returns the last line's y.
double figure_legend(Svg *svg, const Report *report, double left, double top, double right);

// Space that figure_legend needs below `top`.
double figure_legend_height(const Report *report, double left, double right);

// Share of a task's gates that a method passed and its standard deviation over seeds: of the
// evaluation, or of the flight when there is none (the spread is then NaN). False without either.
bool report_share(double *share, double *spread, Report *report, int method, FacetCourseTask task);

// The seeds behind report_share; 1 for a single flight.
int report_share_seeds(Report *report, int method);

// Each adds its figures to the list.
void figures_overview(Json *list, Report *report);
void figures_tracks(Json *list, Report *report);
void figures_passage(Json *list, Report *report);
void figures_repair(Json *list, Report *report);
void figures_certificates(Json *list, Report *report);
void figures_budget(Json *list, Report *report);
void figures_leave_one_out(Json *list, Report *report);
void figures_race_study(Json *list, Report *report);
void figures_mechanism(Json *list, Report *report);
void figures_sampling(Json *list, Report *report);
void figures_steps(Json *list, Report *report);
void figures_training(Json *list, const Report *report);
void figures_gate(Json *list, const Report *report);
void figures_gate_study(Json *list, Report *report);

#endif
