// Writes a file of demonstrations, reads it back and prints what is in it.
//
//     demos FILE
#include <facet_study/study.h>

#include <stdio.h>

enum { STEPS = 4, DIM = 2 };

static FacetStatus write_demos(const char *path, const FacetFactorSpace *space)
{
    const FacetDatasetLayout layout = {
        .space = space, .steps = STEPS, .action_dim = DIM, .env_name = "outside"};
    FacetDatasetWriter *writer;
    FacetStatus status = facet_dataset_writer_open(&writer, path, &layout);
    if (!status.ok) return status;
    for (int value = 0; value < 2 && status.ok; value++) {
        double actions[STEPS * DIM];
        for (int i = 0; i < STEPS * DIM; i++) actions[i] = value + 0.25 * i;
        FacetFactorTask task = facet_factor_task_null();
        task.value[0] = value;
        status = facet_dataset_writer_append(writer, task, actions, NULL);
    }
    if (status.ok) return facet_dataset_writer_close(writer);
    facet_dataset_writer_abort(writer);
    return status;
}

static FacetStatus print_demos(const char *path)
{
    FacetDataset *data;
    FacetStatus status = facet_dataset_read(&data, path);
    if (!status.ok) return status;
    printf("%d demos of %d x %d, the last ends with %g\n", data->demos, data->steps,
           data->action_dim, facet_dataset_actions(data, data->demos - 1)[STEPS * DIM - 1]);
    facet_dataset_destroy(data);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    const char *const sizes[] = {"narrow", "wide"};
    FacetFactorSpace *space = NULL;
    FacetStatus status = facet_factor_space_create(&space);
    if (status.ok) status = facet_factor_space_add(space, "size", sizes, 2);
    if (status.ok) status = write_demos(argv[1], space);
    if (status.ok) status = print_demos(argv[1]);
    if (!status.ok) fprintf(stderr, "demos: %s\n", status.text);
    facet_factor_space_destroy(space);
    return status.ok ? 0 : 1;
}
