// Checkpoints: a small training goes on from one, or refuses it. The first byte chooses: f for a
// file of the bytes that follow; else they are changes of the training's own checkpoint, four bytes
// each: a place, modulo its size, in three, and the byte that is put there.
#include "base/file.h"
#include "factor/factor.h"
#include "fuzz.h"

#include <facet_study/dataset.h>
#include <facet_study/train.h>
#include <string.h>

enum { DEMOS = 4, STEPS = 4 };

static char data_path[128], policy_path[128], checkpoint_path[128];
static char *checkpoint; // after the first of two updates
static size_t checkpoint_size;

static void demand(FacetStatus status)
{
    if (status.ok) return;
    fprintf(stderr, "%s\n", status.text);
    abort();
}

static void write_demos(void)
{
    FacetFactorSpace *space;
    FacetDatasetWriter *writer;
    demand(factor_space_from_json(&space, "{\"track\":[\"a\",\"b\"]}", "factors"));
    const FacetDatasetLayout layout = {
        .space = space, .steps = STEPS, .action_dim = 1, .env_name = "fuzz"};
    demand(facet_dataset_writer_open(&writer, data_path, &layout));
    for (int i = 0; i < DEMOS; i++) {
        const double actions[STEPS] = {0.0, 1.0, i, i % 2};
        demand(facet_dataset_writer_append(writer, factor_task_at(space, i % 2), actions, NULL));
    }
    demand(facet_dataset_writer_close(writer));
    facet_factor_space_destroy(space);
}

static bool stop_after_one(void *context, const FacetProgressEvent *event)
{
    (void)context;
    return event->done < 1;
}

static FacetStatus train(const FacetProgress *progress)
{
    const FacetTrainOptions options = {.epochs = 1,
                                       .batch = DEMOS / 2,
                                       .blocks = 1,
                                       .channels = 4,
                                       .embed = 4,
                                       .resume = true,
                                       .command = "fuzz",
                                       .version = "0"};
    FacetTrainSummary summary;
    return facet_policy_train(&summary, data_path, policy_path, &options, NULL, progress);
}

// The demonstrations, and the checkpoint of a training that is stopped.
static void begin(void)
{
    const FacetProgress progress = {.report = stop_after_one};
    snprintf(data_path, sizeof data_path, "%s/demos.h5", fuzz_folder());
    snprintf(policy_path, sizeof policy_path, "%s/policy", fuzz_folder());
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/policy.ckpt", fuzz_folder());
    write_demos();
    if (train(&progress).code != FACET_INTERRUPTED) abort();
    demand(file_read(&checkpoint, &checkpoint_size, checkpoint_path));
}

static void write_changed(const uint8_t *bytes, size_t size)
{
    char *copy = malloc(checkpoint_size);
    if (!copy) abort();
    memcpy(copy, checkpoint, checkpoint_size);
    for (size_t i = 0; i + 4 <= size; i += 4) {
        size_t place = (size_t)bytes[i] | (size_t)bytes[i + 1] << 8 | (size_t)bytes[i + 2] << 16;
        copy[place % checkpoint_size] = (char)bytes[i + 3];
    }
    fuzz_write(checkpoint_path, copy, checkpoint_size);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (!checkpoint) begin();
    if (size == 0) return 0;
    if (bytes[0] == 'f')
        fuzz_write(checkpoint_path, bytes + 1, size - 1);
    else
        write_changed(bytes + 1, size - 1);
    FacetStatus status = train(NULL);
    if (size < 5 && bytes[0] != 'f') demand(status); // nothing was changed
    return 0;
}
