// Demonstrations in HDF5, in the layout of robomimic with the factors of each demonstration.
//
//   data                      attributes  total     the sum of num_samples
//                                         env_args  JSON: env_name, type, env_kwargs
//                                         factors   JSON: {"track":["race1",...],"size":[...]}
//   data/demo_N               attributes  num_samples = T, and one text a factor: track = "race1"
//   data/demo_N/actions       T x D numbers
//   data/demo_N/obs/NAME      T x d numbers, for any number of names
//
// A reader takes any file in this layout, whatever wrote it: floats and integers of any size,
// texts of fixed or variable length, chunks and compression, demos in any order. T and D are equal
// over the demos, and so are the names and widths of the observations; every number is finite.
// `total`, `env_args` and `obs` may be missing, and what else is in the file is ignored.
//
// One thread at a time may read or write.
#ifndef FACET_DATASET_H
#define FACET_DATASET_H

#include <facet/factor.h>
#include <facet/normalizer.h>
#include <facet/status.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DATASET_NAME_SIZE = 128 }; // bytes of an observation's name, with its final zero

// ---- Reading --------------------------------------------------------------------------------

typedef struct DatasetObservation {
    char name[DATASET_NAME_SIZE];
    int dim;        // d
    double *values; // [demos][steps][dim]
} DatasetObservation;

typedef struct Dataset {
    FactorSpace *space;
    int demos;         // N, in the natural order of their names
    int steps;         // T
    int action_dim;    // D
    FactorTask *tasks; // [demos]
    double *actions;   // [demos][steps][action_dim]
    int observation_count;
    DatasetObservation *observations; // in the natural order of their names
    char *env_args;                   // JSON, or NULL when the file has none
} Dataset;

// Loads a whole file. A failure names the file, the field, what was expected and what was found.
// Rows and columns in messages count from 0. Destroy accepts NULL.
Status dataset_read(Dataset **dataset, const char *path);
void dataset_destroy(Dataset *dataset);

// The T x D actions of one demo.
const double *dataset_actions(const Dataset *dataset, int demo);

// The observation of this name; a failure names the nearest right one.
Status dataset_find_observation(const DatasetObservation **observation, const Dataset *dataset,
                                const char *name);

// The T x d values of one demo.
const double *dataset_observed(const Dataset *dataset, const DatasetObservation *observation,
                               int demo);

// ---- Writing --------------------------------------------------------------------------------

typedef struct DatasetField {
    const char *name;
    int dim;
} DatasetField;

// What every demo of a file has in common. Everything is copied.
typedef struct DatasetLayout {
    const FactorSpace *space;         // no factor is called num_samples
    int steps;                        // T
    int action_dim;                   // D
    const DatasetField *observations; // with distinct names
    int observation_count;
    const char *env_name;   // of env_args
    int env_type;           // robomimic's number for the kind of environment
    const char *env_kwargs; // a JSON object, or NULL for {}
} DatasetLayout;

typedef struct DatasetWriter DatasetWriter;

// Starts a file, which grows in memory. Nothing appears at `path` before the close, and what was
// there stays until then; a path that cannot be written is refused at once.
Status dataset_writer_open(DatasetWriter **writer, const char *path, const DatasetLayout *layout);

// Appends a demo: T x D actions, and for each observation of the layout T x d values. A number
// that is not finite is refused, and the writer goes on without that demo. After a Ctrl-C that the
// program watches for, every append and the close are refused.
Status dataset_writer_append(DatasetWriter *writer, FactorTask task, const double *actions,
                             const double *const *observations);

// Gives the file its name, whole and flushed to disk, or leaves nothing. The writer is gone either
// way. Equal demos in equal order give equal bytes.
Status dataset_writer_close(DatasetWriter *writer);

// Drops the file; accepts NULL.
void dataset_writer_abort(DatasetWriter *writer);

// ---- Statistics -----------------------------------------------------------------------------

typedef struct ChannelStats {
    double min, max;
    double mean;
    double std; // of the population: the mean of squares about the mean, under the root
} ChannelStats;

// Marks the demos of a dataset whose task is in a split, or is not; the number marked is returned.
// The split is over the dataset's space.
int dataset_select(bool *mask, const Dataset *dataset, const FactorSplit *split, bool inside);

// Statistics of each action channel over all steps of the demos with mask[demo], or of all demos
// when mask is NULL. stats holds action_dim. Fails when no demo is chosen.
Status dataset_stats(ChannelStats *stats, const Dataset *dataset, const bool *mask);

// The normalizer of the actions over the same choice of demos.
Status dataset_normalizer(Normalizer **normalizer, const Dataset *dataset, const bool *mask,
                          NormalizerConstant constant);

#ifdef __cplusplus
}
#endif

#endif
