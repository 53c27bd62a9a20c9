// facet fly: flies tasks of the race study and shows what became of them.
#include "bar.h"
#include "base/progress.h"
#include "commands.h"
#include "interrupt.h"
#include "json_verify.h"
#include "pilot.h"
#include "places.h"
#include "report/tables.h"
#include "show_race.h"

#include <stdlib.h>

typedef struct FlyOptions {
    CommonOptions common;
    StudyOptions study;
    TextList tasks;
    bool expert;
    const char *policy, *mode, *sampler; // policy: NULL for the one that ships
    FacetPolicySampling how;
    double gusts;
    int samples; // flights a task
    bool verify;
    FacetVerifyOptions verification;
    VerdictOptions verdict;
    char command[COMMAND_TEXT]; // for the record
} FlyOptions;

// Flies the plans of every seed: results [seeds][tasks].
static FacetStatus fly_seeds(FacetRaceResult *results, const FacetRace *race,
                             const FacetPlanner *planner, const FacetCourseTask *tasks, int count,
                             const uint64_t *seeds, const FlyOptions *options)
{
    Progress flights;
    progress_begin(&flights, bar_open(options->common.quiet), "flights",
                   (long)count * options->samples);
    const FacetProgress part = progress_part(&flights);
    FacetStatus status = status_ok();
    for (int k = 0; k < options->samples && status.ok; k++)
        status = facet_race_fly_all(results + (size_t)k * (size_t)count, race, planner, tasks,
                                    count, seeds[k], options->gusts, &part);
    progress_end(&flights);
    return status;
}

// Flies the planner's plans and shows what became of them.
static FacetStatus fly_raw(const FacetRace *race, const FacetPlanner *planner,
                           const FacetCourseTask *tasks, int count, const uint64_t *seeds,
                           const FlyOptions *options)
{
    const CommonOptions *common = &options->common;
    size_t flights = (size_t)count * (size_t)options->samples;
    FacetRaceResult *results = calloc(flights + 1, sizeof *results);
    if (!results) return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    FacetStatus status = fly_seeds(results, race, planner, tasks, count, seeds, options);
    if (status.ok && options->samples == 1) print_flights(stdout, race, results, count);
    if (status.ok && options->samples > 1)
        print_samples(stdout, race, results, count, options->samples);
    if (status.ok && common->json) {
        Json *document = json_from_results(race, results, (int)flights);
        json_set_origin(document, options->command, common->seed);
        status = json_write(document, common->json);
    }
    free(results);
    return status;
}

// With --samples, how surely the verified plans pass.
static FacetStatus fly_verdicts(VerifiedFlights *flights, const FacetRace *race,
                                const FacetCourseTask *tasks, const FlyOptions *options)
{
    if (options->samples < 2) return status_ok();
    size_t room = (size_t)flights->count + 1;
    const FacetKeypoint **plans = calloc(2 * room, sizeof *plans);
    flights->verdicts = calloc(room, sizeof *flights->verdicts);
    flights->verdict_options = options->verdict;
    flights->verdict_options.samples = options->samples;
    flights->verdict_options.seed = options->common.seed;
    if (options->gusts > 0.0) flights->verdict_options.gusts = options->gusts;
    FacetStatus status = plans && flights->verdicts
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for the verdicts");
    for (int i = 0; i < flights->count && status.ok; i++) {
        plans[i] = flights->raw[i].plan;
        plans[room + (size_t)i] = flights->reports[i].plan;
    }
    if (status.ok)
        status = verdicts_fly(flights->verdicts, race, tasks, plans, plans + room, flights->count,
                              &flights->verdict_options, bar_open(options->common.quiet));
    free(plans);
    return status;
}

// The same with every plan verified, and the raw one flown beside it.
static FacetStatus fly_verified(const FacetRace *race, const FacetPlanner *planner,
                                const FacetCourseTask *tasks, int count, const FlyOptions *options)
{
    const CommonOptions *common = &options->common;
    size_t room = (size_t)count + 1;
    VerifiedFlights flights = {.count = count,
                               .raw = calloc(room, sizeof *flights.raw),
                               .verified = calloc(room, sizeof *flights.verified),
                               .reports = calloc(room, sizeof *flights.reports),
                               .options = options->verification};
    FacetStatus status = flights.raw && flights.verified && flights.reports
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    if (status.ok)
        status = facet_race_fly_verified(flights.raw, flights.verified, flights.reports, race,
                                         planner, &flights.options, tasks, count, common->seed,
                                         options->gusts, bar_open(common->quiet));
    if (status.ok) status = fly_verdicts(&flights, race, tasks, options);
    if (status.ok) {
        Json *document = json_from_verified(race, &flights);
        json_set_origin(document, options->command, common->seed);
        print_document(stdout, race, INPUT_VERIFY, document);
        status = json_finish(document, common);
    }
    free(flights.raw);
    free(flights.verified);
    free(flights.reports);
    free(flights.verdicts);
    return status;
}

static FacetStatus plan_and_fly(const FacetRace *race, const FacetPolicy *policy,
                                const FacetCourseTask *tasks, int count, uint64_t *seeds,
                                const FlyOptions *options)
{
    Pilot pilot;
    int plans = options->verify ? 1 : options->samples; // with --verify, samples fly one plan
    for (int k = 0; k < plans; k++) seeds[k] = options->common.seed + (uint64_t)k;
    const FacetProgress *progress =
        plans > 1 ? bar_open(options->common.quiet) : interrupt_progress();
    TRY(pilot_open_seeds(&pilot, policy, race, &options->how, tasks, count, seeds, plans,
                         progress));
    FacetStatus status = options->verify
                             ? fly_verified(race, &pilot.planner, tasks, count, options)
                             : fly_raw(race, &pilot.planner, tasks, count, seeds, options);
    pilot_close(&pilot);
    return status;
}

static FacetStatus fly(const FacetRace *race, const FlyOptions *options)
{
    size_t room = (size_t)facet_race_task_max(race) + TEXT_LIST_MAX;
    FacetCourseTask *tasks = calloc(room, sizeof *tasks);
    uint64_t *seeds = calloc((size_t)options->samples, sizeof *seeds);
    int count = 0;
    FacetStatus status = tasks && seeds
                             ? study_tasks(tasks, &count, race, &options->tasks, "fly")
                             : status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    FacetPolicy *policy = NULL;
    if (status.ok && !options->expert) status = facet_policy_load(&policy, options->policy);
    if (status.ok) status = plan_and_fly(race, policy, tasks, count, seeds, options);
    facet_policy_destroy(policy);
    free(tasks);
    free(seeds);
    return status;
}

// Looks the tasks up before the search of the speed map, which takes a second or two.
static FacetStatus check_names(const TextList *names, const char *courses)
{
    if (names->count == 0) return status_ok();
    FacetCourse *course;
    TRY(facet_course_load(&course, courses));
    FacetStatus status = status_ok();
    for (int i = 0; i < names->count && status.ok; i++) {
        FacetCourseTask task;
        status = facet_course_find_task(&task, course, names->items[i]);
    }
    facet_course_destroy(course);
    return status;
}

int cmd_fly(int argc, char **argv)
{
    FlyOptions fly_options = {.common = common_defaults(),
                              .study = {.preset = "race"},
                              .mode = "composed",
                              .sampler = "ddim",
                              .samples = 1,
                              .verification = facet_verify_defaults(),
                              .verdict = verdict_defaults()};
    const Option options[] = {
        option_flag("expert", &fly_options.expert, "fly the expert's own command"),
        without(reads(option_text("policy", &fly_options.policy, "POLICY",
                                  "fly a trained policy (default: the one that ships with Facet)")),
                "expert"),
        without(option_text("mode", &fly_options.mode, "NAME", mode_help("of the policy: ")),
                "expert"),
        without(option_int("steps", &fly_options.how.steps, "N", 0, 1000,
                           "denoising steps, 0 for the policy's own number"),
                "expert"),
        without(option_double("temperature", &fly_options.how.temperature, "X", 0.0, 10.0,
                              "scale of the starting noise, 0 for the policy's own"),
                "expert"),
        without(
            option_text("sampler", &fly_options.sampler, "NAME", "of the policy: ddim or dpmpp"),
            "expert"),
        option_list("task", &fly_options.tasks, "TRACK/SIZE",
                    "only this task; without it all feasible ones"),
        option_int("samples", &fly_options.samples, "N", 1, 100000,
                   "flights a task, with plans and gusts of the seeds from --seed on; with "
                   "--verify, of the verified plan in gusts from spread starts, for a verdict"),
        with(option_double("confidence", &fly_options.verdict.confidence, "C", 0.5, 0.999999,
                           "of --verify --samples: of the bounds of all tasks at once"),
             "verify samples"),
        with(option_double("least", &fly_options.verdict.least, "P", 0.01, 0.999999,
                           "of --verify --samples: probability of all gates that a go needs"),
             "verify samples"),
        option_double("gusts", &fly_options.gusts, "M/S", 0.0, 20.0,
                      "standard deviation of the wind on each axis"),
        option_flag("verify", &fly_options.verify,
                    "simulate each plan and repair it where it would miss, before it is flown"),
        with(option_flag("slow-only", &fly_options.verification.slow_only,
                         "of --verify: leave the path as it is, slow it, and look at still air "
                         "alone"),
             "verify"),
        with(option_int("tries", &fly_options.verification.tries, "N", 1, 1000,
                        "of --verify: plans to look at where nothing cures the first"),
             "verify"),
        with(option_double("margin", &fly_options.verification.margin, "SHARE", 0.0, 0.99,
                           "of the half-width that a verified crossing keeps free in still air"),
             "verify"),
        STUDY_OPTIONS(fly_options.study),
    };
    const Usage usage = {
        .command = "fly",
        .description = "Flies tasks closed loop at 600 Hz and shows, for each, the gates passed, "
                       "the worst miss beside the half-width, the plan's speed beside the "
                       "reference, and the mean distance from the expert's path. With --verify "
                       "every plan is simulated first, in still air and in gusts from spread "
                       "starts. Where it would miss, its path is changed as little as centres the "
                       "crossing, and where that is not enough it is slowed; where that does not "
                       "help, the plans of the next seeds are tried. This knows the course and "
                       "the simulator, which the policy is not told: the raw plan's flight is "
                       "shown beside it.",
        .example = "facet fly --expert --task race4/standard\n"
                   "facet fly --policy policy.safetensors --mode joint\n"
                   "facet fly --samples 50 --steps 10\n"
                   "facet fly --verify --samples 200",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &fly_options.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    FacetStatus status = facet_policy_mode_parse(&fly_options.how.mode, fly_options.mode);
    if (status.ok)
        status = facet_policy_sampler_parse(&fly_options.how.sampler, fly_options.sampler);
    if (!status.ok) return command_misused(usage.command, status);
    char shipped[FILE_PATH_MAX];
    if (!fly_options.expert && !fly_options.policy) {
        if (!shipped_policy(shipped))
            return command_misused(usage.command,
                                   status_fail(FACET_BAD_ARGUMENT, "expected --policy POLICY or "
                                                                   "--expert: no policy ships with "
                                                                   "this Facet"));
        fly_options.policy = shipped;
        status = places_apart(&usage, shipped);
        if (!status.ok) return command_misused(usage.command, status);
    }
    fly_options.how.seed = fly_options.common.seed;
    command_text(fly_options.command, sizeof fly_options.command, argc, argv);

    FacetRace *race = NULL;
    interrupt_watch();
    status = check_names(&fly_options.tasks, fly_options.common.courses);
    if (status.ok) status = study_open(&race, &fly_options.common, &fly_options.study);
    if (status.ok) status = fly(race, &fly_options);
    study_close(race);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
