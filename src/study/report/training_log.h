// The losses of a training, as facet train writes them to POLICY.csv.
#ifndef FACET_REPORT_TRAINING_LOG_H
#define FACET_REPORT_TRAINING_LOG_H

#include "base/file.h"

// The columns that are drawn.
typedef enum TrainingColumn {
    TRAINING_DENOISE,  // of the batches, with factors dropped
    TRAINING_COMPOSED, // of their composed predictions
    TRAINING_VALID,    // of what nothing is learned from, with all factors shown and composed
    TRAINING_VALID_COMPOSED,
    TRAINING_HELD_OUT,
    TRAINING_HELD_OUT_COMPOSED,
    TRAINING_COLUMNS
} TrainingColumn;

enum { TRAINING_POINTS = 200 };

// Means over equal pieces of the training, as far as a piece has losses above 0.
typedef struct TrainingCurve {
    int count;
    double update[TRAINING_POINTS]; // mean, from the beginning of the first network on
    double loss[TRAINING_POINTS];
    double last; // the last single loss, NAN for none
} TrainingCurve;

typedef struct TrainingLog {
    char path[FILE_PATH_MAX];
    long updates; // of all networks
    int networks;
    TrainingCurve curves[TRAINING_COLUMNS];
} TrainingLog;

// Reads a log. A row that is not whole yet, at the end of one that is being written, is left out.
FacetStatus training_log_read(TrainingLog *log, const char *path);

#endif
