// facet demos: demonstrations of every feasible task as one HDF5 file.
#include "bar.h"
#include "base/file.h"
#include "commands.h"
#include "interrupt.h"
#include "show_race.h"

#include <stdio.h>
#include <stdlib.h>

static Json *json_from_demos(const FacetRace *race, const FacetDemoOptions *demos, const char *path,
                             int tasks)
{
    Json *document = json_object();
    json_set_string(document, "file", path);
    json_set_number(document, "tasks", tasks);
    json_set_number(document, "demos", (double)tasks * demos->rollouts);
    json_set_number(document, "rollouts", demos->rollouts);
    json_set_number(document, "steps", FACET_CHUNK_KEYPOINTS);
    json_set_number(document, "action_dim", FACET_CHUNK_CHANNELS);
    json_set_uint64(document, "seed", demos->seed);
    json_set_string(document, "preset", race->preset.name);
    return document;
}

int cmd_demos(int argc, char **argv)
{
    CommonOptions common = common_defaults();
    StudyOptions study = {.preset = "race"};
    FacetDemoOptions demos = facet_demo_defaults();
    const char *out = NULL;
    const Option options[] = {
        keeps(option_text("out", &out, "FILE", "the HDF5 file to write"), NULL),
        option_int("rollouts", &demos.rollouts, "N", 1, 100000, "demonstrations a feasible task"),
        option_double("start-spread", &demos.start_spread, "M", 0.0, 2.0,
                      "standard deviation of the start's offset on each axis"),
        option_double("speed-least", &demos.speed_least, "SHARE", 0.0, 1.0,
                      "least start speed, as a share of the reference"),
        option_double("gusts", &demos.gust_speed, "M/S", 0.0, 20.0,
                      "standard deviation of the wind on each axis"),
        STUDY_OPTIONS(study),
    };
    const Usage usage = {
        .command = "demos",
        .description = "Flies rollouts of every feasible task from random starts in gusts and "
                       "writes them, labelled with the expert's 32 keypoints, in robomimic's HDF5 "
                       "layout. The same seed gives the same bytes at any number of threads.",
        .example = "facet demos --out demos.h5 --rollouts 50",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!out)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --out FILE"));
    demos.seed = common.seed;
    interrupt_watch();

    FacetRace *race = NULL;
    FacetStatus status = study_open(&race, &common, &study);
    if (status.code == FACET_INTERRUPTED)
        status = status_fail(FACET_INTERRUPTED, "%s: interrupted, not written", out);
    if (!status.ok) return command_failed(usage.command, status);
    status = facet_race_write_demos(out, race, &demos, bar_open(common.quiet));
    if (status.ok) {
        int tasks = facet_race_feasible_count(race);
        printf("%s: %d demonstrations of %d tasks, %d x %d actions each\n", out,
               tasks * demos.rollouts, tasks, FACET_CHUNK_KEYPOINTS, FACET_CHUNK_CHANNELS);
        if (common.json)
            status = json_write(json_from_demos(race, &demos, out, tasks), common.json);
    }
    study_close(race);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
