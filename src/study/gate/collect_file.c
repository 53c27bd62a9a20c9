// Collected frames into a file (see facet_study/image_set.h).
#include "base/status.h"
#include "ranks/ranks.h"

#include <facet_study/gate.h>
#include <facet_study/image_set.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct FileSink {
    FacetImageWriter *writer;
    FacetPool *pool;
    FacetFactorTask *tasks; // [capacity], the same for all frames of a flight
    int *flights;
    int capacity;
} FileSink;

static FacetStatus reserve(FileSink *sink, int count)
{
    if (count <= sink->capacity) return status_ok();
    FacetFactorTask *tasks = realloc(sink->tasks, (size_t)count * sizeof *tasks);
    if (tasks) sink->tasks = tasks;
    int *flights = realloc(sink->flights, (size_t)count * sizeof *flights);
    if (flights) sink->flights = flights;
    if (!tasks || !flights)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d frames", count);
    sink->capacity = count;
    return status_ok();
}

static FacetStatus add(void *context, const FacetGateFrames *frames)
{
    FileSink *sink = context;
    TRY(reserve(sink, frames->count));
    for (int i = 0; i < frames->count; i++) {
        sink->tasks[i] = frames->task;
        sink->flights[i] = frames->flight;
    }
    return facet_image_writer_add(sink->writer, frames->rgb, frames->offsets, sink->tasks,
                                  sink->flights, frames->count, sink->pool);
}

// A share of flights that start near is told where there is one.
static void describe(char *out, size_t size, const FacetGateWorld *world,
                     const FacetGateCollection *options, bool piloted)
{
    char near[40] = "";
    if (options->near > 0.0) snprintf(near, sizeof near, "\"near\": %.17g, ", options->near);
    snprintf(out, size,
             "{\"seed\": %llu, \"flights\": %d, \"tasks\": %d, \"expert_share\": %.17g, "
             "\"gust_speed\": %.17g, \"fix_error\": %.17g, \"start_speed\": %.17g, "
             "\"start_tilt\": %.17g, \"redrawn\": %.17g, %s\"shrink\": %d, \"rate\": %.17g, "
             "\"speed\": %.17g}",
             (unsigned long long)options->seed, options->flights, options->task_count,
             piloted ? options->expert_share : 1.0, options->disturbance.gust_speed,
             options->disturbance.fix_error, options->start_speed, options->start_tilt,
             options->redrawn, near, options->shrink, world->rate, world->speed);
}

FacetStatus facet_gate_collect_file(const char *path, const FacetGateWorld *world,
                                    const FacetGateCollection *options, const FacetGateCrew *crew,
                                    FacetPool *pool, const FacetProgress *progress)
{
    if (options->shrink < 1)
        return status_fail(FACET_BAD_FILE, "%s: expected frames shrunk by 1 or more, found %d",
                           path, options->shrink);
    if (options->blind)
        return status_fail(FACET_BAD_ARGUMENT, "%s: expected frames to write, found none drawn",
                           path);
    char settings[512];
    describe(settings, sizeof settings, world, options, crew != NULL);
    const FacetFrameShape shape = {.width = world->camera.width / options->shrink,
                                   .height = world->camera.height / options->shrink,
                                   .horizon = FACET_GATE_HORIZON,
                                   .dim = FACET_GATE_DIM};
    FileSink sink = {.pool = pool};
    bool leads = ranks_lead(options->ranks);
    FacetStatus status =
        leads ? facet_image_writer_create(&sink.writer, path, world->space, shape, settings)
              : status_ok();
    TRY(ranks_agree(options->ranks, status));
    const FacetGateSink to = {.add = add, .context = &sink};
    status = facet_gate_collect(&to, world, options, crew, pool, progress);
    free(sink.tasks);
    free(sink.flights);
    if (leads && status.ok)
        status = facet_image_writer_finish(sink.writer);
    else if (leads)
        facet_image_writer_abandon(sink.writer);
    return status;
}
