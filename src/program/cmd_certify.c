// facet certify: how far a policy's plans, and the flights along them, can be off.
#include "bar.h"
#include "base/file.h"
#include "base/progress.h"
#include "certify/attack.h"
#include "certify_budget.h"
#include "certify_data.h"
#include "commands.h"
#include "interrupt.h"
#include "json_certify.h"
#include "linalg/gemm.h"
#include "paper/paper.h"
#include "pilot.h"
#include "places.h"
#include "report/tables.h"
#include "show_race.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIAGNOSTIC_SAMPLES = 2000, GUST_FLIGHTS = 20 };

typedef struct CertifyCommand {
    CommonOptions common;
    StudyOptions study;
    TextList tasks;
    const char *policy, *data;
    const char *leave_one_out; // results of that study; NULL for those that ship
    int steps, seeds;
    bool sweep, budget;
    double gusts, slowest;
    bool raw;
    PassageOptions passage;
    char command[COMMAND_TEXT];
} CertifyCommand;

// The paper's numbers of steps, up to the noise levels that the policy has.
static void choose_sweep(CertifyOptions *options, const FacetPolicy *policy)
{
    for (int i = 0; i < PAPER_LTV_ROWS; i++)
        if (paper_ltv[i].steps <= policy_noise_steps(policy))
            options->sweep[options->sweep_count++] = paper_ltv[i].steps;
}

static FacetStatus diagnose(Certification *all, const CertifyCommand *command)
{
    return certify_study_diagnostics(&all->diagnostics, all->race, all->policy, DIAGNOSTIC_SAMPLES,
                                     command->common.seed, bar_open(command->common.quiet));
}

// The expert's own interaction, and what its exact composed score would plan.
static FacetStatus measure_interaction(Certification *all, const CertifyCommand *command)
{
    all->exact = calloc((size_t)facet_race_task_max(all->race), sizeof *all->exact);
    if (!all->exact) return status_fail(FACET_NO_MEMORY, "out of memory for the exact plans");
    FacetStatus status = exact_products(&all->products, all->race, all->policy, command->steps,
                                        command->common.seed, bar_open(command->common.quiet));
    bar_close();
    if (status.ok)
        status = exact_plans(all->exact, &all->exact_count, all->race, all->policy, command->steps,
                             command->common.seed, interrupt_progress());
    if (status.ok)
        status = budget_measure(&all->budget, all->race, all->policy, command->steps,
                                command->common.seed, interrupt_progress());
    if (status.code == FACET_INTERRUPTED) return status;
    // A policy may know too little of the course for it; the rest of the certificate stands.
    if (!status.ok)
        snprintf(all->no_interaction, sizeof all->no_interaction, "%.230s", status.text);
    return status_ok();
}

static FacetStatus fly_samples(Certification *all, const CertifyCommand *command)
{
    int samples = command->passage.samples, tasks = all->options.task_count;
    if (samples == 0) return status_ok();
    all->passage_options = command->passage;
    all->passage_options.seed = command->common.seed;
    all->passage = calloc((size_t)tasks, sizeof *all->passage);
    uint64_t *seeds = calloc((size_t)samples, sizeof *seeds);
    FacetStatus status =
        all->passage && seeds
            ? status_ok()
            : status_fail(FACET_NO_MEMORY, "out of memory for %d rollouts", samples);
    for (int i = 0; i < samples && status.ok; i++)
        seeds[i] = passage_plan_seed(&all->passage_options, i);
    const FacetPolicySampling how = {.mode = FACET_POLICY_COMPOSED, .steps = command->steps};
    Progress rollouts;
    progress_begin(&rollouts, bar_open(command->common.quiet), "rollouts", (long)samples * tasks);
    const FacetProgress part = progress_part(&rollouts), aside = progress_aside(&rollouts);
    for (int t = 0; t < tasks && status.ok; t++) {
        FacetPolicyPlanner *plans = NULL;
        const FacetCourseTask *task = &all->options.tasks[t];
        status = facet_policy_planner_create(&plans, all->policy, all->race, &how, task, 1, seeds,
                                             samples, &aside);
        if (status.ok) {
            FacetPlanner planner = facet_planner_from_policy(plans);
            status = passage_certify(&all->passage[t], all->race, &planner, task, 1,
                                     &all->passage_options, &part);
        }
        facet_policy_planner_destroy(plans);
    }
    progress_end(&rollouts);
    free(seeds);
    return status;
}

// What the study has to measure once its plans are certified.
static FacetStatus measure_rest(Certification *all, const CertifyCommand *command)
{
    FacetStatus status = diagnose(all, command);
    if (status.ok) status = measure_interaction(all, command);
    if (status.ok) status = fly_samples(all, command);
    if (status.code != FACET_INTERRUPTED) return status;
    return all->options.state
               ? status_fail(FACET_INTERRUPTED, "interrupted; the same command goes on from %s",
                             all->options.state)
               : status_fail(FACET_INTERRUPTED, "interrupted");
}

// The bound for a new pair is that of the study named, or of the one that ships, which is of the
// course and the vehicle that ship.
static FacetStatus find_new_pair(Certification *all, const CertifyCommand *command)
{
    char folder[FILE_PATH_MAX], file[FILE_PATH_MAX];
    if (command->leave_one_out)
        return new_pair_read(&all->new_pair, command->leave_one_out, all->policy);
    if (study_is_own(&command->common, &command->study) || !file_shipped(folder, "results").ok)
        return status_ok();
    snprintf(file, sizeof file, "%.900s/leave-one-out.json", folder);
    return file_exists(file) ? new_pair_read(&all->new_pair, file, all->policy) : status_ok();
}

static void show(const Certification *all, Json *document)
{
    printf("N = %d, seed %llu, gusts of %g m/s\n\n", all->options.steps,
           (unsigned long long)all->options.seed, all->options.gusts);
    print_document(stdout, all->race, INPUT_CERTIFY, document);
    new_pair_print(&all->new_pair);
    if (all->no_interaction[0]) printf("\nExact interaction left out: %s\n", all->no_interaction);
}

static FacetStatus certify(const FacetRace *race, const FacetPolicy *policy,
                           const FacetCourseTask *tasks, int count, const CertifyCommand *command)
{
    char name[24], flown[STUDY_NAME_SIZE], study[2 * FILE_PATH_MAX];
    certify_study_policy_name(name, policy);
    study_name(flown, race, &command->common, &command->study);
    snprintf(study, sizeof study,
             "policy %s, seed %llu, gusts %g, slowest %g, %s plans, attacks of %d rounds of %d, %s",
             name, (unsigned long long)command->common.seed, command->gusts, command->slowest,
             command->raw ? "raw" : "repaired", ATTACK_ROUNDS, ATTACK_DRAWN, flown);
    StudyState state;
    TRY(study_state_open(&state, &command->common));
    Certification all = {.race = race,
                         .policy = policy,
                         .policy_file = command->policy,
                         .command = command->command,
                         .options = {.tasks = tasks,
                                     .task_count = count,
                                     .steps = command->steps,
                                     .seed = command->common.seed,
                                     .seeds = command->seeds,
                                     .gusts = command->gusts,
                                     .slowest = command->slowest,
                                     .repair = !command->raw,
                                     .gust_flights = GUST_FLIGHTS,
                                     .state = state.keeps ? state.path : NULL,
                                     .ranks = team_ranks(),
                                     .study = study}};
    if (command->sweep) choose_sweep(&all.options, policy);
    FacetStatus status = find_new_pair(&all, command);
    status = ranks_agree(team_ranks(), status);
    if (status.ok)
        status =
            certify_study(&all.study, race, policy, &all.options, bar_open(command->common.quiet));
    if (status.ok && team_leads()) status = measure_rest(&all, command);
    if (status.ok && team_leads()) {
        Json *document = json_from_certification(&all);
        show(&all, document);
        status = json_finish(document, &command->common);
    }
    study_state_close(&state, status.ok);
    certify_study_free(&all.study);
    exact_products_free(&all.products);
    budget_free(&all.budget);
    free(all.exact);
    free(all.passage);
    return status;
}

static FacetStatus run(const FacetRace *race, const FacetPolicy *policy,
                       const CertifyCommand *command)
{
    FacetCourseTask *tasks =
        calloc((size_t)facet_race_task_max(race) + TEXT_LIST_MAX, sizeof *tasks);
    int count = 0;
    FacetStatus status = tasks ? study_tasks(tasks, &count, race, &command->tasks, "certify")
                               : status_fail(FACET_NO_MEMORY, "out of memory for the tasks");
    if (status.ok) status = certify(race, policy, tasks, count, command);
    free(tasks);
    return status;
}

// Finds what is wrong with the policy, the numbers and the memory before the study is opened.
static FacetStatus check(const FacetPolicy *policy, const CertifyCommand *command)
{
    TRY(gemm_prepare());
    TRY(certify_check_blind(policy));
    if (command->steps > policy_noise_steps(policy))
        return status_fail(FACET_BAD_ARGUMENT,
                           "--steps: the policy has %d noise levels, found %d steps; a level "
                           "visited twice changes nothing",
                           policy_noise_steps(policy), command->steps);
    return status_ok();
}

static int run_budget(const Usage *usage, const CertifyCommand *command)
{
    FacetRace *race = NULL;
    interrupt_watch();
    FacetStatus status = ranks_agree(team_ranks(), team_refuse());
    if (status.ok) status = study_open(&race, &command->common, &command->study);
    if (status.ok)
        status = certify_budget_run(race, command->policy, command->steps, command->command,
                                    &command->common);
    study_close(race);
    return status.ok ? EXIT_DONE : command_failed(usage->command, status);
}

int cmd_certify(int argc, char **argv)
{
    CertifyCommand command = {.common = common_defaults(),
                              .study = {.preset = "race"},
                              .steps = PAPER_STEPS,
                              .seeds = 1,
                              .gusts = facet_demo_defaults().gust_speed,
                              .slowest = 0.3,
                              .passage = passage_defaults()};
    command.passage.samples = 0;
    const Option options[] = {
        reads(option_text("policy", &command.policy, "POLICY",
                          "certify this policy (default: the one that ships with Facet)")),
        reads(option_text("data", &command.data, "FILE",
                          "only see whether composition works on these demonstrations, without a "
                          "course")),
        without(option_flag("budget", &command.budget,
                            "only the budget of Theorem 2, of the shipped policies with our loss "
                            "and the paper's, or of --policy"),
                "data"),
        without(option_list("task", &command.tasks, "TRACK/SIZE",
                            "only this task; without it all feasible ones"),
                "budget data"),
        without(option_int("steps", &command.steps, "N", 1, 1000, "denoising steps of a plan"),
                "data"),
        without(option_int("seeds", &command.seeds, "N", 1, 1000,
                           "certify the plans of this many seeds, from --seed on"),
                "budget data"),
        without(option_flag("sweep", &command.sweep,
                            "also certify with 10, 20, 30, 50 and 100 denoising steps"),
                "budget data"),
        without(option_double("slowest", &command.slowest, "PACE", 0.0, 1.0,
                              "share of its speed down to which an uncertified plan is tried"),
                "budget data"),
        without(option_flag("raw", &command.raw, "slow the plans without repairing them first"),
                "budget data"),
        without(option_double("gusts", &command.gusts, "M/S", 0.0, 20.0,
                              "standard deviation of the wind that flights are certified in"),
                "budget data"),
        without(option_int("samples", &command.passage.samples, "N", 0, 1000000,
                           "also fly N rollouts a task and bound the probability of passage"),
                "budget data"),
        with(option_double("confidence", &command.passage.confidence, "C", -INFINITY, INFINITY,
                           "of that bound, between 0 and 1"),
             "samples"),
        without(reads(option_text("leave-one-out", &command.leave_one_out, "FILE",
                                  "of facet study leave-one-out --json, for the bound on a new "
                                  "pair (default: the results that ship with Facet)")),
                "budget data"),
        without(option_text("preset", &command.study.preset, "NAME",
                            "gains and carrot of the controller"),
                "data"),
        without(reads(option_text("quad", &command.study.quad, "FILE",
                                  "JSON file of the vehicle's parameters")),
                "data"),
    };
    const Usage usage = {
        .command = "certify",
        .description =
            "Bounds how far an error of the composed score can move a policy's plans, and the "
            "flights along them at every gate, and prints the paper's tables with ours beside "
            "them. A gate is certified only where an attack with errors that the bound allows, "
            "through the real chain and flight, finds nothing beyond it. With --json FILE, a study "
            "that was stopped goes on from FILE.state.",
        .example = "facet certify --task race3/standard\n"
                   "facet certify --seeds 10 --sweep --json certificate.json\n"
                   "facet certify --budget --json budget.json\n"
                   "facet certify --policy robot.safetensors --data robot.h5",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &command.common,
        .json_kept = ".state",
        .courses_without = "data",
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    command_text(command.command, sizeof command.command, argc, argv);
    PassageOptions passage = command.passage;
    if (passage.samples == 0) passage.samples = 1; // none is fine here: it leaves them out
    FacetStatus status = passage_check(&passage);
    if (!status.ok) return command_misused(usage.command, status);
    if (command.budget) return run_budget(&usage, &command);
    char shipped[FILE_PATH_MAX];
    if (!command.policy) {
        if (!shipped_policy(shipped))
            return command_misused(usage.command,
                                   status_fail(FACET_BAD_ARGUMENT,
                                               "expected --policy POLICY: no policy ships with "
                                               "this Facet"));
        command.policy = shipped;
        status = places_apart(&usage, shipped);
        if (!status.ok) return command_misused(usage.command, status);
    }
    interrupt_watch();
    FacetPolicy *policy = NULL;
    FacetRace *race = NULL;
    if (command.data) {
        status = facet_policy_load(&policy, command.policy);
        if (status.ok)
            status = certify_data_run(policy, command.policy, command.data, command.command,
                                      &command.common);
        facet_policy_destroy(policy);
        return status.ok ? EXIT_DONE : command_failed(usage.command, status);
    }
    status = ranks_same_file(team_ranks(), command.policy);
    if (status.ok) status = facet_policy_load(&policy, command.policy);
    if (status.ok) status = check(policy, &command);
    status = ranks_agree(team_ranks(), status);
    if (status.ok) status = study_open(&race, &command.common, &command.study);
    if (status.ok) status = ranks_agree(team_ranks(), run(race, policy, &command));
    study_close(race);
    facet_policy_destroy(policy);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
