// facet report: results and flights as one page that opens from disk.
#include "bar.h"
#include "base/progress.h"
#include "commands.h"
#include "interrupt.h"
#include "pilot.h"
#include "places.h"
#include "race/eval.h"
#include "report/report.h"
#include "show_race.h"

#include <stdio.h>
#include <string.h>

typedef struct ReportOptions {
    CommonOptions common;
    StudyOptions study;
    const char *out, *figures, *data;
    TextList training;
    ReportSetup setup;
} ReportOptions;

// The ways of inference that a method is shown with, from first to last.
static void modes_of(FacetPolicyMode *first, FacetPolicyMode *last, const FacetPolicy *policy)
{
    FacetPolicyMethod method = policy_method(policy);
    *first = method == FACET_POLICY_BASELINE ? FACET_POLICY_JOINT : FACET_POLICY_COMPOSED;
    *last = method == FACET_POLICY_FACTORED ? FACET_POLICY_JOINT : *first;
}

// Between parts of the work that do not ask.
static FacetStatus go_on(void)
{
    return interrupt_requested() ? status_fail(FACET_INTERRUPTED, "interrupted") : status_ok();
}

// Adds the shipped policies, composed and joint, as far as no file had their plans. The default
// one is always sampled composed, for the way of its plans from noise.
static FacetStatus add_shipped(Report *report, const ReportOptions *options)
{
    PolicySet set = {0};
    char default_policy[FILE_PATH_MAX];
    // They learned the gates of the course that ships.
    if (options->setup.no_defaults || !shipped_policy(default_policy)) return status_ok();
    FacetStatus status = policies_open(&set, NULL, 0);
    Progress plans;
    progress_begin(&plans, bar_open(options->common.quiet), "plans", set.count);
    const FacetPolicy *chosen = policies_find(&set, "ours");
    if (!chosen) chosen = policies_find(&set, "factored");
    for (int i = 0; i < set.count && status.ok; i++) {
        FacetPolicyMode mode, last;
        for (modes_of(&mode, &last, set.policies[i]); mode <= last && status.ok; mode++) {
            bool denoising = set.policies[i] == chosen && mode == FACET_POLICY_COMPOSED;
            int method = report_policy_method(set.policies[i], mode);
            status = go_on();
            if (status.ok && (denoising || !report_has_method(report, method)))
                status = report_add_policy(report, set.policies[i], mode, denoising);
        }
        if (status.ok) status = progress_add(&plans, 1, NULL);
    }
    progress_end(&plans);
    policies_close(&set);
    char live[FILE_PATH_MAX];
    if (status.ok && shipped_live(live)) status = report_add_live(report, live);
    return status;
}

static FacetStatus write_all(const Json *document, const ReportOptions *options)
{
    const FacetProgress *progress = options->setup.progress;
    if (options->figures) TRY(report_write_figures(options->figures, document, progress));
    if (options->data) TRY(report_write_data(options->data, document, progress));
    return report_write_page(options->out, document, progress);
}

static FacetStatus make_report(const FacetRace *race, const ReportOptions *options)
{
    Report *report;
    TRY(report_open(&report, race, &options->setup));
    FacetStatus status = report_fly_files(report);
    if (status.ok) status = go_on();
    if (status.ok) status = add_shipped(report, options);
    if (status.ok) status = go_on();
    if (status.ok) {
        Json *document = report_document(report);
        status = write_all(document, options);
        if (status.code == FACET_INTERRUPTED) // there may be figures
            status = status_fail(FACET_INTERRUPTED, "interrupted before the page was written: the "
                                                    "same command begins anew");
        json_free(document);
        if (status.ok && options->figures)
            status = report_write_animation(options->figures, report);
    }
    report_close(report);
    return status;
}

// The results and policies that are read though nobody named them.
static FacetStatus shipped_apart(const Usage *usage)
{
    static const char *const folders[] = {"results", "models"};
    for (int i = 0; i < 2; i++) {
        char folder[FILE_PATH_MAX];
        if (file_shipped(folder, folders[i]).ok) TRY(places_apart(usage, folder));
    }
    return status_ok();
}

int cmd_report(int argc, char **argv)
{
    char command[COMMAND_TEXT];
    ReportOptions report = {.common = common_defaults(),
                            .study = {.preset = "race"},
                            .out = "out/report.html",
                            .setup = {.version = facet_version()}};
    const Option options[] = {
        in_new_folder(writes(option_text("out", &report.out, "FILE", "the page"))),
        reads(option_text("race", &report.setup.files[INPUT_RACE], "FILE", "of facet race --json")),
        reads(option_text("eval", &report.setup.files[INPUT_EVAL], "FILE",
                          "of facet eval --json (default: the results that ship with Facet)")),
        reads(option_text("steps", &report.setup.files[INPUT_STEPS], "FILE",
                          "of facet eval --step-study --json (default: the results that ship with "
                          "Facet)")),
        reads(option_text("certify", &report.setup.files[INPUT_CERTIFY], "FILE",
                          "of facet certify --json (default: the results that ship with Facet)")),
        reads(option_text(
            "verify", &report.setup.files[INPUT_VERIFY], "FILE",
            "of facet fly --verify --json (default: the results that ship with Facet)")),
        reads(option_text("budget", &report.setup.files[INPUT_BUDGET], "FILE",
                          "of facet certify --budget --json (default: the results that ship with "
                          "Facet)")),
        reads(option_text("leave-one-out", &report.setup.files[INPUT_LEAVE_ONE_OUT], "FILE",
                          "of facet study leave-one-out --json (default: the results that ship "
                          "with Facet)")),
        reads(option_text("mechanism", &report.setup.files[INPUT_MECHANISM], "FILE",
                          "of facet study mechanism --json (default: the results that ship with "
                          "Facet)")),
        reads(option_text("metaworld", &report.setup.files[INPUT_METAWORLD], "FILE",
                          "of examples/metaworld/run.sh (default: the results that ship with "
                          "Facet)")),
        reads(option_text("race-study", &report.setup.files[INPUT_RACE_STUDY], "FILE",
                          "of facet reproduce --json (default: the results that ship with Facet)")),
        reads(option_text("pairs", &report.setup.files[INPUT_PAIRS], "FILE",
                          "of facet study pairs --json (default: the results that ship with "
                          "Facet)")),
        reads(option_text("operators", &report.setup.files[INPUT_OPERATORS], "FILE",
                          "of facet study operators --json (default: the results that ship with "
                          "Facet)")),
        reads(option_text("gate", &report.setup.files[INPUT_GATE], "FILE",
                          "of facet gate --json (default: the results that ship with Facet)")),
        reads(
            option_text("gate-study", &report.setup.files[INPUT_GATE_STUDY], "FILE",
                        "of facet gate study --json (default: the results that ship with Facet)")),
        reads(option_text("gate-ladder", &report.setup.files[INPUT_GATE_LADDER], "FILE",
                          "of facet gate study --ladder --json (default: the results that ship "
                          "with Facet)")),
        reads(option_text("modality", &report.setup.files[INPUT_MODALITY], "FILE",
                          "of facet gate modality --json (default: the results that ship with "
                          "Facet)")),
        reads(option_list("training", &report.training, "FILE",
                          "POLICY.csv of facet train; more than one may be named")),
        fills(option_text("figures", &report.figures, "DIR", "also write the figures as SVG files"),
              "*.svg"),
        STUDY_OPTIONS(report.study),
    };
    const Usage usage = {
        .command = "report",
        .description = "Gathers the results that exist, flies every plan again, and writes one "
                       "HTML page with the flights, figures, tables and certificates. The page "
                       "opens from disk, with no network. --json writes the page's data alone.",
        .example = "facet report --out report.html\n"
                   "facet report --eval eval.json --figures figures",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &report.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    command_text(command, sizeof command, argc, argv);
    report.setup.command = command;
    report.setup.training = report.training.items;
    report.setup.training_count = report.training.count;
    report.setup.seed = report.common.seed;
    report.setup.progress = interrupt_progress();
    report.setup.no_defaults = study_is_own(&report.common, &report.study);
    report.data = report.common.json;

    FacetRace *race = NULL;
    FacetStatus status = report.setup.no_defaults ? status_ok() : shipped_apart(&usage);
    if (!status.ok) return command_misused(usage.command, status);
    interrupt_watch();
    if (report.figures) status = file_make_folder(report.figures);
    if (status.ok) status = study_open(&race, &report.common, &report.study);
    if (status.ok) status = make_report(race, &report);
    study_close(race);
    if (!status.ok) return command_failed(usage.command, status);
    printf("%s\n", report.out);
    return EXIT_DONE;
}
