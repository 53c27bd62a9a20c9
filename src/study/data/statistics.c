// Statistics of a dataset's actions (see facet_study/dataset.h).
#include "data/dataset.h"
#include "factor/factor.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

int facet_dataset_select(bool *mask, const FacetDataset *dataset, const FacetFactorSplit *split,
                         bool inside)
{
    assert(factor_space_equal(dataset->space, factor_split_space(split)) &&
           "the split is over the dataset's space");
    int selected = 0;
    for (int demo = 0; demo < dataset->demos; demo++) {
        mask[demo] = facet_factor_split_contains(split, dataset->tasks[demo]) == inside;
        selected += mask[demo];
    }
    return selected;
}

FacetStatus facet_dataset_stats(FacetChannelStats *stats, const FacetDataset *dataset,
                                const bool *mask)
{
    int dim = dataset->action_dim, demos = 0;
    for (int demo = 0; demo < dataset->demos; demo++) demos += !mask || mask[demo];
    if (demos == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "statistics: expected at least one of %d demos, found none chosen",
                           dataset->demos);
    double rows = 0.0;
    for (int demo = 0; demo < dataset->demos; demo++)
        if (!mask || mask[demo]) rows += facet_dataset_length(dataset, demo);
    for (int i = 0; i < dim; i++) {
        FacetChannelStats channel = {.min = HUGE_VAL, .max = -HUGE_VAL};
        // Two passes: the mean first, then the squares about it.
        for (int pass = 0; pass < 2; pass++) {
            double sum = 0.0;
            for (int demo = 0; demo < dataset->demos; demo++) {
                if (mask && !mask[demo]) continue;
                const double *value = facet_dataset_actions(dataset, demo) + i;
                int steps = facet_dataset_length(dataset, demo);
                for (int step = 0; step < steps; step++, value += dim) {
                    channel.min = fmin(channel.min, *value);
                    channel.max = fmax(channel.max, *value);
                    double deviation = *value - channel.mean;
                    sum += pass == 0 ? *value : deviation * deviation;
                }
            }
            if (pass == 0)
                channel.mean = sum / rows;
            else
                channel.std = sqrt(sum / rows);
        }
        stats[i] = channel;
    }
    return status_ok();
}

FacetStatus dataset_normalizer(Normalizer **normalizer, const FacetDataset *dataset,
                               const bool *mask)
{
    *normalizer = NULL;
    size_t dim = (size_t)dataset->action_dim;
    FacetChannelStats *stats = malloc(dim * sizeof *stats);
    double *ranges = malloc(2 * dim * sizeof *ranges);
    FacetStatus status = stats && ranges
                             ? facet_dataset_stats(stats, dataset, mask)
                             : status_fail(FACET_NO_MEMORY, "out of memory for %zu channels", dim);
    if (status.ok) {
        for (size_t i = 0; i < dim; i++) {
            ranges[i] = stats[i].min;
            ranges[dim + i] = stats[i].max;
        }
        status = normalizer_create(normalizer, ranges, ranges + dim, (int)dim);
        if (status.ok && normalizer_constants(*normalizer) == (int)dim) {
            normalizer_destroy(*normalizer);
            *normalizer = NULL;
            status = status_fail(FACET_BAD_ARGUMENT,
                                 "expected numbers that change, found %zu "
                                 "constants",
                                 dim);
        }
        if (!status.ok) status = status_fail(FACET_BAD_ARGUMENT, "actions: %s", status.text);
    }
    free(stats);
    free(ranges);
    return status;
}
