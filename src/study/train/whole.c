// Training on samples that each have a plan of their own: frames of image sets, and demonstrations
// in memory (see facet_study/train.h and train/whole.h).
#include "train/whole.h"
#include "factor/factor.h"
#include "train/training.h"

#include <facet_study/train.h>
#include <stdlib.h>
#include <string.h>

// ---- Frames of files ----------------------------------------------------------------------------

// Tasks and actions of the frames of one file, in the form of demonstrations.
static FacetStatus frames_of(FacetDataset *dataset, const FacetImageSet *images, int64_t first,
                             int file)
{
    FacetFrameShape shape = facet_image_set_shape(images);
    size_t size = (size_t)shape.horizon * (size_t)shape.dim;
    int64_t last = first;
    while (last < facet_image_set_count(images) && facet_image_set_file(images, last) == file)
        last++;
    *dataset = (FacetDataset){.demos = (int)(last - first),
                              .steps = shape.horizon,
                              .action_dim = shape.dim,
                              .rows = (last - first) * shape.horizon,
                              .starts = calloc((size_t)(last - first) + 1, sizeof(int64_t)),
                              .tasks = calloc((size_t)(last - first) + 1, sizeof *dataset->tasks),
                              .actions = calloc((size_t)(last - first) * size + 1, sizeof(double))};
    TRY(factor_space_copy(&dataset->space, facet_image_set_space(images)));
    if (!dataset->tasks || !dataset->actions || !dataset->starts)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d frames", dataset->demos);
    for (int64_t i = first; i < last; i++) {
        dataset->starts[i - first + 1] = (i - first + 1) * shape.horizon;
        dataset->tasks[i - first] = facet_image_set_task(images, i);
        memcpy(dataset->actions + (size_t)(i - first) * size, facet_image_set_actions(images, i),
               size * sizeof(double));
    }
    return status_ok();
}

static FacetStatus set_up_images(Training *t, const char *const *files, int count)
{
    const EncoderConfig *encoder;
    int64_t first = 0;
    TRY(facet_image_set_open(&t->images, files, count));
    for (int i = 0; i < count; i++) {
        FacetDataset *dataset = calloc(1, sizeof *dataset);
        if (!dataset) return status_fail(FACET_NO_MEMORY, "out of memory");
        FacetStatus status = frames_of(dataset, t->images, first, i);
        if (status.ok)
            status = i == 0 ? training_set_up(t, dataset, files[i], true)
                            : training_add(t, dataset, true);
        first += dataset->demos;
        facet_dataset_destroy(dataset);
        TRY(status);
    }
    FacetFrameShape shape = facet_image_set_shape(t->images);
    encoder = encoder_config(t->policy->encoder);
    if (shape.width == encoder->width && shape.height == encoder->height) return status_ok();
    return status_fail(
        FACET_BAD_FILE, "%s: expected frames of %d x %d for the encoder '%s', found %d x %d",
        files[0], encoder->width, encoder->height, t->options->encoder, shape.width, shape.height);
}

FacetStatus facet_policy_train_images(FacetTrainSummary *summary, const char *const *files,
                                      int count, const char *out, const FacetTrainOptions *options,
                                      FacetPool *pool, const FacetProgress *progress)
{
    Training t;
    if (options->method == FACET_POLICY_KNET)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected one network for frames of files, found the method knet");
    if (!options->encoder)
        return status_fail(FACET_BAD_ARGUMENT, "expected an encoder for frames, found none");
    if (facet_ranks_count(options->ranks) > 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected one rank for a policy that sees, found %d",
                           facet_ranks_count(options->ranks));
    if (options->updates < 1 || options->until < 0 || options->until > options->updates)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected 1 update or more and a stop before the last, found %ld and "
                           "%ld",
                           options->updates, options->until);
    *summary = (FacetTrainSummary){0};
    TRY(training_begin(&t, out, options, pool, progress));
    FacetStatus status = set_up_images(&t, files, count);
    if (status.ok) status = training_run(summary, &t);
    training_end(&t);
    return status;
}

// ---- In memory ----------------------------------------------------------------------------------

FacetStatus train_whole(FacetTrainSummary *summary, const FacetDataset *dataset, const char *name,
                        const Normalizer *ranges, const char *out, const FacetTrainOptions *options,
                        FacetPool *pool, const FacetProgress *progress)
{
    Training t;
    *summary = (FacetTrainSummary){0};
    TRY(training_begin(&t, out, options, pool, progress));
    t.ranges = ranges;
    FacetStatus status = training_set_up(&t, dataset, name, true);
    if (status.ok) status = training_run(summary, &t);
    training_end(&t);
    return status;
}
