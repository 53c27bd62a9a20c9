// Demonstrations in HDF5, in the layout of robomimic with the factors of each demonstration.
//
//   data                      attributes  total     the sum of num_samples
//                                         env_args  JSON: env_name, type, env_kwargs
//                                         factors   JSON: {"track":["race1",...],"size":[...]}
//   data/demo_N               attributes  num_samples = T, and one text a factor: track = "race1"
//   data/demo_N/actions       T x D numbers
//   data/demo_N/obs/NAME      T x d numbers, or T x height x width x 3 bytes, for any number of
//                             names
//   mask/FILTER               names of demos: a part of the file, such as train or valid
//
// A reader takes any file in this layout, whatever wrote it: floats and integers of any size,
// texts of fixed or variable length, chunks and compression, demos in any order. T may differ from
// demo to demo; D is equal over the demos, and so are the names and widths of the observations that
// are read; every number is finite. `total`, `env_args`, `obs` and `mask` may be missing, and what
// else is in the file is ignored.
//
// One thread at a time may read or write.
#ifndef FACET_DATASET_H
#define FACET_DATASET_H

#include <facet/api.h>
#include <facet/factor.h>
#include <facet/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FACET_DATASET_NAME_SIZE = 128 }; // bytes of an observation's name, with its final zero

// ---- Reading --------------------------------------------------------------------------------

// Numbers or images, the other is NULL and its sizes 0.
typedef struct FacetDatasetObservation {
    char name[FACET_DATASET_NAME_SIZE];
    int dim;           // d
    double *values;    // [rows][dim]
    int height, width; // pixels
    uint8_t *pixels;   // [rows][height][width][3]
} FacetDatasetObservation;

// The rows of all demos stand one behind the other.
typedef struct FacetDataset {
    FacetFactorSpace *space;
    int demos;              // N, in the natural order of their names
    int64_t rows;           // of all demos
    int64_t *starts;        // [demos + 1], the first row of each demo; last, rows
    int steps;              // T, where all demos have as many rows; else 0
    int action_dim;         // D
    FacetFactorTask *tasks; // [demos]
    double *actions;        // [rows][action_dim]
    int observation_count;
    FacetDatasetObservation *observations; // as asked for, or in the natural order of their names
    char *env_args;                        // JSON, or NULL when the file has none
} FacetDataset;

// What is read of a file.
typedef struct FacetDatasetRequest {
    const char *const *observations; // names; numbers or images
    int observation_count;
    const char *filter;  // only the demos that mask/FILTER names; NULL for all
    const char *without; // none that mask/WITHOUT names, which the filter must not name; or NULL
} FacetDatasetRequest;

// Loads a file: what is asked for, or all demos with all observations that are numbers. A failure
// names the file, the field, what was expected and what was found; for a name that is not there,
// those that are. Rows and columns in messages count from 0. Destroy accepts NULL.
FACET_API FacetStatus facet_dataset_read(FacetDataset **dataset, const char *path);
FACET_API FacetStatus facet_dataset_read_some(FacetDataset **dataset, const char *path,
                                              const FacetDatasetRequest *request);
FACET_API void facet_dataset_destroy(FacetDataset *dataset);

// The rows of one demo, and its actions [rows][D].
FACET_API int facet_dataset_length(const FacetDataset *dataset, int demo);
FACET_API const double *facet_dataset_actions(const FacetDataset *dataset, int demo);

// The observation of this name; a failure names the nearest right one.
FACET_API FacetStatus facet_dataset_find_observation(const FacetDatasetObservation **observation,
                                                     const FacetDataset *dataset, const char *name);

// The values [rows][d] of one demo.
FACET_API const double *facet_dataset_observed(const FacetDataset *dataset,
                                               const FacetDatasetObservation *observation,
                                               int demo);

// ---- Writing --------------------------------------------------------------------------------

typedef struct FacetDatasetField {
    const char *name;
    int dim;
} FacetDatasetField;

// What every demo of a file has in common. Everything is copied.
typedef struct FacetDatasetLayout {
    const FacetFactorSpace *space;         // no factor is called num_samples
    int steps;                             // T
    int action_dim;                        // D
    const FacetDatasetField *observations; // with distinct names
    int observation_count;
    const char *env_name;   // of env_args
    int env_type;           // robomimic's number for the kind of environment
    const char *env_kwargs; // a JSON object, or NULL for {}
} FacetDatasetLayout;

typedef struct FacetDatasetWriter FacetDatasetWriter;

// Starts a file, which grows in memory. Nothing appears at `path` before the close, and what was
// there stays until then; a path that cannot be written is refused at once.
FACET_API FacetStatus facet_dataset_writer_open(FacetDatasetWriter **writer, const char *path,
                                                const FacetDatasetLayout *layout);

// Appends a demo: T x D actions, and for each observation of the layout T x d values. A number
// that is not finite is refused, and the writer goes on without that demo.
FACET_API FacetStatus facet_dataset_writer_append(FacetDatasetWriter *writer, FacetFactorTask task,
                                                  const double *actions,
                                                  const double *const *observations);

// Gives the file its name, whole and flushed to disk, or leaves nothing. The writer is gone either
// way. Equal demos in equal order give equal bytes.
FACET_API FacetStatus facet_dataset_writer_close(FacetDatasetWriter *writer);

// Drops the file; accepts NULL.
FACET_API void facet_dataset_writer_abort(FacetDatasetWriter *writer);

// ---- Statistics -----------------------------------------------------------------------------

typedef struct FacetChannelStats {
    double min, max;
    double mean;
    double std; // of the population: the mean of squares about the mean, under the root
} FacetChannelStats;

// Marks the demos of a dataset whose task is in a split, or is not; the number marked is returned.
// The split is over the dataset's space.
FACET_API int facet_dataset_select(bool *mask, const FacetDataset *dataset,
                                   const FacetFactorSplit *split, bool inside);

// Statistics of each action channel over all steps of the demos with mask[demo], or of all demos
// when mask is NULL. stats holds action_dim. Fails when no demo is chosen.
FACET_API FacetStatus facet_dataset_stats(FacetChannelStats *stats, const FacetDataset *dataset,
                                          const bool *mask);

#ifdef __cplusplus
}
#endif

#endif
