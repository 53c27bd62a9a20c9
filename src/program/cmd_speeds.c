// facet speeds: the highest feasible speed of every task.
#include "commands.h"
#include "interrupt.h"
#include "report/tables.h"
#include "show_race.h"

int cmd_speeds(int argc, char **argv)
{
    CommonOptions common = common_defaults();
    StudyOptions study = {.preset = "race", .search = true};
    const Option options[] = {STUDY_OPTIONS(study)};
    const Usage usage = {
        .command = "speeds",
        .description = "Finds the highest speed at which the expert clears every gate, for every "
                       "track and opening, by flying candidates closed loop. The search has no "
                       "chance in it, so --seed changes nothing.",
        .example = "facet speeds --json speeds.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;

    FacetRace *race;
    interrupt_watch();
    FacetStatus status = study_open(&race, &common, &study);
    if (!status.ok) return command_failed(usage.command, status);
    print_speeds(stdout, race);
    if (common.json) status = json_write(json_from_speeds(race), common.json);
    study_close(race);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
