// facet gate certify: how far an error of the composed score can move the first plan of a flight.
//
// The bounds are those of gate/first_plan.h, over trials of tasks that the policy was trained on.
#include "bar.h"
#include "base/progress.h"
#include "base/rng.h"
#include "certify/path.h"
#include "commands.h"
#include "gate/first_plan.h"
#include "gate_world.h"
#include "interrupt.h"
#include "paper/paper.h"
#include "places.h"
#include "report/tables.h"
#include "show_race.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct CertifyCommand {
    CommonOptions common;
    const char *policy;
    int tasks, steps;         // 0 steps for the policy's own
    char path[FILE_PATH_MAX]; // of the policy that ships
    char command[COMMAND_TEXT];
} CertifyCommand;

// ---- Certifying ---------------------------------------------------------------------------------

static FacetStatus certify_trials(FirstPlan *plans, FacetCertifier *certifier,
                                  const FacetGateWorld *world, const FacetPolicy *policy,
                                  const CertifyCommand *o)
{
    uint8_t *frame = malloc((size_t)world->camera.width * (size_t)world->camera.height * 3);
    if (!frame) return status_fail(FACET_NO_MEMORY, "out of memory for a frame");
    FacetRng rng = rng_make(o->common.seed, UINT64_MAX); // no trial has this stream
    FacetStatus status = status_ok();
    Progress steps;
    progress_begin(&steps, bar_open(o->common.quiet), "steps", (long)o->tasks * o->steps);
    const FacetProgress part = progress_part(&steps);
    for (int i = 0; status.ok && i < o->tasks; i++) {
        FacetGateTrial trial;
        FacetFactorTask task = first_plan_task(policy, i, o->tasks, &rng);
        status = facet_gate_trial(&trial, world, task, o->common.seed,
                                  facet_gate_number(FACET_GATE_FOR_CERTIFICATE, (uint64_t)i));
        if (status.ok)
            status = first_plan_certify(&plans[i], certifier, world, &trial, frame, &part);
    }
    progress_end(&steps);
    free(frame);
    return status;
}

// ---- JSON ---------------------------------------------------------------------------------------

static Json *json_from_first_plan(const FirstPlan *plan, const FacetGateWorld *world)
{
    Json *object = json_object();
    for (int f = 0; f < FACET_GATE_FACTORS; f++)
        json_set_string(object, facet_factor_name(world->space, f),
                        facet_factor_value_name(world->space, f, plan->task.value[f]));
    double numbers[FIRST_PLAN_NUMBERS];
    first_plan_numbers(numbers, plan);
    for (int n = 0; n < FIRST_PLAN_NUMBERS; n++)
        json_set_number(object, first_plan_keys[n], numbers[n]);
    if (plan->plan.ltv.step >= 0) {
        char text[80];
        snprintf(text, sizeof text, "C_LTV is not finite at step %d of %d", plan->plan.ltv.step + 1,
                 plan->plan.steps);
        json_set_string(object, "not_certified", text);
    }
    return object;
}

static Json *json_from_range(int count, double mean, double least, double most)
{
    Json *object = json_object();
    json_set_numbers(object, {"count", count}, {"mean", mean}, {"least", least}, {"most", most});
    return object;
}

static Json *json_from_paper(void)
{
    const PaperGateLtv *paper = &paper_gate_ltv;
    Json *object = json_object();
    json_set_number(object, "steps", paper->steps);
    json_set(object, "c_ltv",
             json_from_range(paper->tasks, paper->mean, paper->least, paper->most));
    json_set_numbers(object, {"eps_s", paper->eps_s}, {"r_ss_default", paper->r_ss});
    return object;
}

static Json *json_from_summary(const FirstPlan *plans, int count)
{
    Json *summary = json_object();
    for (int n = 0; n < FIRST_PLAN_NUMBERS; n++) {
        Summary s = first_plans_summary(plans, count, n);
        json_set(summary, first_plan_keys[n], json_from_range(s.count, s.mean, s.least, s.most));
    }
    return summary;
}

static Json *document_of(const FirstPlan *plans, const FacetGateWorld *world,
                         const CertifyCommand *o)
{
    Json *document = json_object(), *list = json_array();
    json_set_string(document, "policy", o->policy);
    json_set_number(document, "steps", o->steps);
    for (int i = 0; i < o->tasks; i++) json_push(list, json_from_first_plan(&plans[i], world));
    json_set(document, "plans", list);
    json_set(document, "summary", json_from_summary(plans, o->tasks));
    json_set(document, "paper", json_from_paper());
    json_set_origin(document, o->command, o->common.seed);
    return document;
}

// ---- The command --------------------------------------------------------------------------------

static FacetStatus certify(const FacetGateWorld *world, const FacetPolicy *policy,
                           CertifyCommand *o)
{
    const FacetPolicySampling how = {.steps = o->steps};
    FacetCertifier *certifier = NULL;
    FacetPool *pool;
    TRY(certify_check_policy(policy));
    if (facet_factor_split_count(facet_policy_training(policy)) == 0)
        return status_fail(FACET_BAD_FILE, "%s: expected tasks that it was trained on, found none",
                           o->policy);
    o->steps = policy_sampling_steps(policy, &how);
    FirstPlan *plans = calloc((size_t)o->tasks, sizeof *plans);
    if (!plans) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", o->tasks);
    FacetStatus status = facet_pool_create(&pool, o->common.threads);
    if (status.ok) {
        status = facet_certifier_create(&certifier, policy, o->steps, pool);
        if (status.ok) status = certify_trials(plans, certifier, world, policy, o);
        facet_certifier_destroy(certifier);
        facet_pool_destroy(pool);
    }
    if (status.ok) {
        Json *document = document_of(plans, world, o);
        printf("%s, composed, DDIM %d, seed %llu\n\n", o->policy, o->steps,
               (unsigned long long)o->common.seed);
        print_document(stdout, NULL, INPUT_GATE, document);
        status = json_finish(document, &o->common);
    }
    free(plans);
    return status;
}

int cmd_gate_certify(int argc, char **argv)
{
    CertifyCommand o = {.common = common_defaults(), .tasks = paper_gate_ltv.tasks};
    const Option options[] = {
        reads(option_text("policy", &o.policy, "FILE", "the policy (default: the one that ships)")),
        option_int("tasks", &o.tasks, "N", 1, 10000,
                   "trials, of training tasks spread over all of them"),
        option_int("steps", &o.steps, "N", 0, 1000, "denoising steps, 0 for the policy's own"),
    };
    const Usage usage = {
        .command = "gate certify",
        .description =
            "Bounds how far an error of the composed score can move the plan that a policy makes "
            "of the first frame of a flight, on tasks that it was trained on, and prints the "
            "paper's numbers with ours beside them.",
        .example = "facet gate certify --json certificate.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.policy) {
        if (!shipped_gate_policy(o.path))
            return command_failed(usage.command,
                                  status_fail(FACET_BAD_ARGUMENT,
                                              "no policy ships with this copy: give one with "
                                              "--policy FILE"));
        o.policy = o.path;
        FacetStatus apart = places_apart(&usage, o.path);
        if (!apart.ok) return command_misused(usage.command, apart);
    }
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    FacetGateWorld *world = NULL;
    FacetPolicy *policy = NULL;
    FacetStatus status = facet_gate_world_create(&world, o.common.courses);
    if (status.ok) status = gate_policy_load(&policy, world, o.policy);
    if (status.ok) status = certify(world, policy, &o);
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
