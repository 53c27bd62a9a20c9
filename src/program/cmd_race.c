// facet race: the main job. The expert flies every feasible task, and the policy that ships with
// Facet plans and flies those whose names it knows: its plans as they are, and verified.
#include "bar.h"
#include "base/progress.h"
#include "commands.h"
#include "interrupt.h"
#include "json_verify.h"
#include "paper/paper.h"
#include "pilot.h"
#include "places.h"
#include "report/tables.h"
#include "show_race.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct RaceCommand {
    CommonOptions common;
    StudyOptions study;
    char policy[FILE_PATH_MAX]; // empty: the expert alone
    const char *report;         // file of the page
    bool no_report;
    char command[COMMAND_TEXT]; // for the record
} RaceCommand;

// The feasible tasks a pilot flies, and what became of them.
typedef struct Heat {
    int count;
    int left_out; // feasible tasks that the policy does not know
    FacetCourseTask *tasks;
    FacetRaceResult *results;
    ReportFlight *flights;      // the same, recorded for the report
    int method;                 // of the report
    ReportDenoising denoise;    // the way of the policy's plans, when there is to be a report
    FacetVerifyReport *reports; // of verified plans, or NULL
} Heat;

// The tasks that the pilot flies: all feasible ones, or those that the policy knows.
static FacetStatus heat_begin(Heat *heat, const FacetRace *race, const FacetPolicy *policy)
{
    size_t room = (size_t)facet_race_task_max(race);
    *heat = (Heat){.tasks = calloc(room, sizeof *heat->tasks),
                   .results = calloc(room, sizeof *heat->results),
                   .flights = calloc(room, sizeof *heat->flights)};
    if (!heat->tasks || !heat->results || !heat->flights)
        return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    int feasible = facet_race_feasible_tasks(heat->tasks, race);
    for (int i = 0; i < feasible; i++)
        if (!policy || facet_policy_knows_task(policy, race, heat->tasks[i]))
            heat->tasks[heat->count++] = heat->tasks[i];
    heat->left_out = feasible - heat->count;
    return status_ok();
}

// Plans and flies all tasks of a heat once. Without a policy the expert flies.
static FacetStatus heat_fly(Heat *heat, const FacetRace *race, const FacetPolicy *policy,
                            const RaceCommand *options)
{
    TRY(heat_begin(heat, race, policy));
    if (heat->count == 0) return status_ok();
    const FacetPolicySampling how = {.steps = PAPER_STEPS, .seed = options->common.seed};
    heat->method = policy ? report_policy_method(policy, how.mode) : METHOD_EXPERT;
    if (policy && !options->no_report)
        TRY(report_denoising_begin(&heat->denoise, policy, &how, heat->tasks, heat->count));
    Pilot pilot;
    TRY(pilot_open(&pilot, heat->denoise.path, policy, race, &how, heat->tasks, heat->count));
    const char *label = policy ? "policy" : "expert";
    Progress flights;
    progress_begin(&flights, bar_open(options->common.quiet), label, heat->count);
    const FacetProgress part = progress_part(&flights);
    FacetStatus status = report_fly(heat->flights, race, &pilot.planner, heat->tasks, heat->count,
                                    options->common.seed, &part);
    progress_end(&flights);
    pilot_close(&pilot);
    for (int i = 0; i < heat->count && status.ok; i++) heat->results[i] = heat->flights[i].result;
    return status;
}

// The verified plan of a task, as a planner.
static FacetStatus plan_as_verified(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                    const FacetRace *race, FacetCourseTask task, uint64_t seed,
                                    void *context)
{
    (void)race, (void)seed;
    const Heat *heat = context;
    int i = 0;
    while (heat->tasks[i].track != task.track || heat->tasks[i].opening != task.opening) i++;
    for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++) chunk[k] = heat->reports[i].plan[k];
    return status_ok();
}

// Verifies the plans that the policy flew, and flies what came of them.
static FacetStatus heat_verify(Heat *heat, const Heat *policy, const FacetRace *race,
                               const RaceCommand *options)
{
    if (policy->count == 0) return status_ok();
    TRY(heat_begin(heat, race, NULL));
    heat->count = policy->count;
    heat->method = report_method("verified");
    heat->reports = calloc((size_t)heat->count, sizeof *heat->reports);
    if (!heat->reports) return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    const FacetVerifyOptions how = facet_verify_defaults();
    Progress plans;
    progress_begin(&plans, bar_open(options->common.quiet), "verified", heat->count);
    FacetStatus status = status_ok();
    for (int i = 0; i < heat->count && status.ok; i++) {
        heat->tasks[i] = policy->tasks[i];
        status = facet_race_verify(&heat->reports[i], race, policy->results[i].plan, heat->tasks[i],
                                   &how);
        if (status.ok) status = progress_add(&plans, 1, NULL);
    }
    progress_end(&plans);
    TRY(status);
    const FacetPlanner planner = {.name = "verified", .plan = plan_as_verified, .context = heat};
    TRY(report_fly(heat->flights, race, &planner, heat->tasks, heat->count, options->common.seed,
                   interrupt_progress()));
    for (int i = 0; i < heat->count; i++) { // held out is what the policy did not learn from
        heat->flights[i].result.held_out = policy->results[i].held_out;
        heat->results[i] = heat->flights[i].result;
    }
    return status_ok();
}

static void heat_free(Heat *heat)
{
    free(heat->reports);
    report_flights_free(heat->flights, heat->count);
    free(heat->flights);
    free(heat->tasks);
    free(heat->results);
    report_denoising_free(&heat->denoise);
}

// The sheets of the verified plans beside the raw ones, and what the document keeps of them.
static Json *show_verified(const FacetRace *race, const Heat *policy, const Heat *verified)
{
    const VerifiedFlights flights = {.count = verified->count,
                                     .raw = policy->results,
                                     .verified = verified->results,
                                     .reports = verified->reports,
                                     .options = facet_verify_defaults()};
    Json *document = json_from_verified(race, &flights);
    printf("\n");
    print_document(stdout, race, INPUT_VERIFY, document);
    return document;
}

// The policy's table and the expert's totals, or the expert's table alone.
static FacetStatus show_heats(const FacetRace *race, const Heat *expert, const Heat *policy,
                              const Heat *verified, const RaceCommand *options)
{
    const Heat *main_heat = policy->count > 0 ? policy : expert;
    Json *document = json_from_results(race, main_heat->results, main_heat->count);
    if (policy->count > 0) {
        FacetRaceTotals totals = facet_race_totals(expert->results, expert->count);
        printf("Expert: %d of %d tasks feasible, %d/%d gates\n", expert->count,
               facet_race_task_max(race), totals.all.passed, totals.all.gates);
        printf("Factored policy, composed inference:\n\n");
        Json *beside = json_from_results(race, expert->results, expert->count);
        json_set(document, "expert", beside);
    }
    json_set_string(document, "planner", policy->count > 0 ? "policy" : "expert");
    Json *plans = json_object();
    json_set(plans, report_methods[main_heat->method].id,
             json_from_plans(race, main_heat->results, main_heat->count));
    json_set(document, "plans", plans);
    json_set_origin(document, options->command, options->common.seed);
    json_set_number(document, "left_out", policy->left_out);
    print_flights(stdout, race, main_heat->results, main_heat->count);
    if (policy->left_out > 0)
        printf("\n%d feasible task%s left out: the policy was not trained on %s track or size\n",
               policy->left_out, policy->left_out == 1 ? " is" : "s are",
               policy->left_out == 1 ? "its" : "their");
    if (verified->count > 0) json_set(document, "verified", show_verified(race, policy, verified));
    return json_finish(document, &options->common);
}

static void heat_give(Report *report, Heat *heat)
{
    if (heat->count > 0) report_give_flights(report, heat->method, heat->flights, heat->count);
    if (heat->denoise.count > 0) report_give_denoising(report, &heat->denoise);
}

// The page with these flights, and with the results that ship with Facet when the study is theirs.
static FacetStatus write_report(const FacetRace *race, Heat *expert, Heat *policy, Heat *verified,
                                const RaceCommand *options)
{
    const ReportSetup setup = {.no_race_file = true,
                               .no_defaults = study_is_own(&options->common, &options->study),
                               .version = facet_version(),
                               .command = options->command,
                               .seed = options->common.seed,
                               .progress = interrupt_progress()};
    Report *report;
    TRY(report_open(&report, race, &setup));
    heat_give(report, expert);
    heat_give(report, policy);
    heat_give(report, verified);
    FacetStatus status = report_fly_files(report);
    char live[FILE_PATH_MAX];
    if (status.ok && !setup.no_defaults && shipped_live(live))
        status = report_add_live(report, live);
    if (status.ok) {
        Json *document = report_document(report);
        status = report_write_page(options->report, document, setup.progress);
        json_free(document);
    }
    report_close(report);
    if (status.ok) printf("\nThe flights in 3D, with figures and tables: %s\n", options->report);
    return status;
}

static FacetStatus fly_all(const FacetRace *race, const RaceCommand *options)
{
    Heat expert = {0}, policy = {0}, verified = {0};
    FacetPolicy *loaded = NULL;
    FacetStatus status = heat_fly(&expert, race, NULL, options);
    if (status.ok && options->policy[0]) status = facet_policy_load(&loaded, options->policy);
    if (status.ok && loaded) status = heat_fly(&policy, race, loaded, options);
    if (status.ok) status = heat_verify(&verified, &policy, race, options);
    if (status.ok) status = show_heats(race, &expert, &policy, &verified, options);
    if (status.ok && !options->no_report)
        status = write_report(race, &expert, &policy, &verified, options);
    heat_free(&expert);
    heat_free(&policy);
    heat_free(&verified);
    facet_policy_destroy(loaded);
    return status;
}

int cmd_race(int argc, char **argv)
{
    RaceCommand race_options = {
        .common = common_defaults(), .study = {.preset = "race"}, .report = "out/race.html"};
    const Option options[] = {
        without(in_new_folder(writes(option_text("report", &race_options.report, "FILE",
                                                 "the page with the flights"))),
                "no-report"),
        option_flag("no-report", &race_options.no_report, "write no page"),
        STUDY_OPTIONS(race_options.study),
    };
    const Usage usage = {
        .command = "race",
        .description = "The main job: the expert and the policy that ships with Facet fly every "
                       "feasible task of the course. Prints the policy's table of gates passed, "
                       "with its plans as they are and repaired before flight, "
                       "or the expert's where no policy ships or knows the tracks, and writes a "
                       "page that shows the flights in a browser.",
        .example = "facet race --json race.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &race_options.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!shipped_policy(race_options.policy)) race_options.policy[0] = '\0';
    command_text(race_options.command, sizeof race_options.command, argc, argv);

    FacetRace *race = NULL;
    FacetStatus status =
        race_options.policy[0] ? places_apart(&usage, race_options.policy) : status_ok();
    if (!status.ok) return command_misused(usage.command, status);
    interrupt_watch();
    status = study_open(&race, &race_options.common, &race_options.study);
    if (status.ok) status = fly_all(race, &race_options);
    study_close(race);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
