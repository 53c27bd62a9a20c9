// JSON of facet certify (see json_certify.h).
#include "json_certify.h"

#include "commit.h"
#include "race/eval.h"
#include "show_race.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Numbers of a record ------------------------------------------------------------------------

// Entries that have a number: those of tasks have all.
enum { IN_SWEEP = 1, IN_SEEDS = 2, IN_TASKS = 4 };

static void set_numbers(Json *entry, const CertifyRecord *record, int where)
{
    const FacetPlanCertificate *plan = &record->plan;
    const FacetTubeConstants paper = facet_tube_paper_constants(), own = record->loop.constants;
    double command = command_bound(plan->ltv.value, plan->eps_s), path = plan->path.value;
    const struct {
        const char *key;
        double value;
        int where;
    } numbers[] = {{"c_ltv", bound_value(plan->ltv), IN_SWEEP | IN_SEEDS},
                   {"c_gronwall", bound_value(plan->ode), IN_SWEEP},
                   {"c_gronwall_discrete", bound_value(plan->product), 0},
                   {"c_emp", plan->amplification, IN_SWEEP | IN_SEEDS},
                   {"eps_s", plan->eps_s, IN_SWEEP | IN_SEEDS},
                   {"path_bound", bound_value(plan->path), IN_SWEEP},
                   {"r_ss_default", facet_tube_radius(paper, command), 0},
                   {"r_ss_default_path", facet_tube_radius(paper, path), 0},
                   {"r_ss_measured", facet_tube_radius(own, command), 0},
                   {"r_ss_measured_path", facet_tube_radius(own, path), 0},
                   {"tube_seen", record->tube, IN_SWEEP}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((numbers[i].where | IN_TASKS) & where)
            json_set_number(entry, numbers[i].key, numbers[i].value);
}

// ---- The parts of the document ------------------------------------------------------------------

static Json *json_from_spread(FacetCertifySpread spread)
{
    Json *out = json_object();
    json_set_numbers(out, {"mean", spread.mean}, {"p95", spread.p95}, {"max", spread.max});
    return out;
}

static Json *json_from_gates(const GateRecord *gates, const CertifyRecord *record,
                             const FacetCourse *course)
{
    Json *out = json_array();
    for (int g = 0; g < record->gate_count; g++) {
        const GateRecord *gate = &gates[g];
        Json *entry = json_object();
        json_set_string(entry, "gate", course->tracks[record->task.track].gates[g].name);
        json_set_bool(entry, "crossed", gate->crossed);
        json_set_numbers(entry, {"miss_nominal", gate->miss}, {"radius", gate->radius},
                         {"reach", gate->reach}, {"disturbance", gate->disturbance},
                         {"sensitivity", gate->slope}, {"probe", gate->probe},
                         {"bound", gate->bound}, {"attack", gate->attack},
                         {"half_width", course->openings[record->task.opening].half_width});
        json_set_bool(entry, "formula", gate->formula);
        json_set_bool(entry, "certified", gate->certified);
        json_set_bool(entry, "certified_still", gate->certified_still);
        json_push(out, entry);
    }
    return out;
}

// The highest pace at which the whole task is certified, null when there is none.
static Json *json_from_pace(const CertifyRecord *record, const FacetCourse *course)
{
    const PaceRecord *paced = &record->paced;
    bool found = paced->pace > 0.0;
    Json *out = json_object();
    json_set_numbers(out, {"pace", found ? paced->pace : nan("")},
                     {"time", found ? paced->time : nan("")}, {"fold", paced->fold},
                     {"shift", paced->shift});
    json_set(out, "gates", json_from_gates(paced->gates, record, course));
    json_set(out, "linear_check", json_from_check(&paced->check));
    return out;
}

static Json *json_from_passage(const PassageResult *result)
{
    Json *out = json_object(), *gates = json_array();
    json_set_numbers(out, {"samples", result->samples}, {"clear", result->clear});
    for (int g = 0; g < result->gate_count; g++) json_push_number(gates, result->gate_lower[g]);
    json_set(out, "gate_lower_bounds", gates);
    return out;
}

static Json *json_from_constants(const Certification *all)
{
    FacetTubeConstants constants = study_constants(&all->study, &all->options);
    Json *out = json_object();
    json_set_numbers(out, {"lambda", constants.lambda}, {"b_kappa", constants.b_kappa},
                     {"w", constants.w});
    return out;
}

static void set_interaction(Json *entry, double g, double m, double bound, double max_gap)
{
    json_set_numbers(entry, {"g", g}, {"m", m}, {"bound", bound}, {"max_gap", max_gap});
}

static Json *json_from_product(const ExactProduct *product)
{
    const InteractionReport *report = &product->report;
    Json *entry = json_object(), *levels = json_array();
    json_set_string(entry, "tasks", product->name);
    set_interaction(entry, report->g, report->m, report->bound, report->max_gap);
    json_set_number(entry, "worst_ratio", report->worst_ratio);
    json_set_bool(entry, "theorem_holds", report->holds);
    for (int k = 0; k < report->level_count; k++) {
        const InteractionLevel *level = &report->levels[k];
        Json *row = json_object();
        json_set_number(row, "sigma", level->sigma);
        set_interaction(row, level->g, level->m, level->bound, level->max_gap);
        json_push(levels, row);
    }
    json_set(entry, "levels", levels);
    return entry;
}

static Json *json_from_interaction(const ExactProducts *all)
{
    InteractionReport worst = products_worst(all);
    Json *out = json_object(), *products = json_array();
    set_interaction(out, worst.g, worst.m, worst.bound, worst.max_gap);
    json_set_bool(out, "theorem_holds", worst.holds);
    for (int i = 0; i < all->count; i++) json_push(products, json_from_product(&all->product[i]));
    json_set(out, "products", products);
    return out;
}

static Json *json_from_exact(const Certification *all)
{
    const FacetCourse *course = all->race->course;
    Json *out = json_array();
    for (int i = 0; i < all->exact_count; i++) {
        const ExactPlan *plan = &all->exact[i];
        Json *entry = json_object();
        json_set_task(entry, course, plan->task);
        json_set_bool(entry, "held_out", plan->held_out);
        json_set_numbers(entry, {"exact_m", plan->exact.position},
                         {"exact_speed", plan->exact.speed}, {"network_m", plan->network.position},
                         {"network_speed", plan->network.speed});
        json_set_string(entry, "nearest_track", course->tracks[plan->nearest.track].name);
        json_set_string(entry, "nearest_size", course->openings[plan->nearest.opening].name);
        json_set_number(entry, "nearest_m", plan->nearest_error.position);
        json_push(out, entry);
    }
    return out;
}

static Json *json_from_seeds(const Certification *all, FacetCourseTask task)
{
    Json *out = json_array();
    for (int k = 0; k < all->options.seeds; k++) {
        Json *entry = json_object();
        json_set_uint64(entry, "seed", all->options.seed + (uint64_t)k);
        set_numbers(entry, certify_study_record(&all->study, task, all->options.steps, k),
                    IN_SEEDS);
        json_push(out, entry);
    }
    return out;
}

static Json *json_from_task(const Certification *all, int t)
{
    const FacetCourse *course = all->race->course;
    FacetCourseTask task = all->options.tasks[t];
    const CertifyRecord *record = certify_study_record(&all->study, task, all->options.steps, 0);
    const FacetPlanCertificate *plan = &record->plan;
    char failure[RECORD_FAILURE];
    Json *out = json_object(), *residual = json_object();
    json_set_task(out, course, task);
    json_set_bool(out, "held_out", facet_policy_holds_out(all->policy, all->race, task));
    set_numbers(out, record, IN_TASKS);
    json_set(out, "closed_loop", json_from_loop(&record->loop));
    json_set_numbers(residual, {"actual", plan->actual}, {"linearised", plan->linear},
                     {"ltv", bound_value(plan->path)});
    json_set(out, "residual", residual);
    record_failure(failure, record);
    if (failure[0]) json_set_string(out, "not_certified", failure);
    json_set(out, "gates", json_from_gates(record->gates, record, course));
    json_set_bool(out, "certified", gates_certified(record->gates, record->gate_count));
    json_set_numbers(out, {"fold", record->fold}, {"shift", record->shift});
    json_set(out, "paced", json_from_pace(record, course));
    json_set_number(out, "passage_lower_bound", all->passage ? all->passage[t].lower : nan(""));
    if (all->passage) json_set(out, "passage", json_from_passage(&all->passage[t]));
    json_set(out, "linear_check", json_from_check(&record->check));
    json_set(out, "seeds", json_from_seeds(all, task));
    return out;
}

static Json *json_from_sweep(const Certification *all)
{
    Json *out = json_array();
    for (int i = 0; i < all->options.sweep_count; i++) {
        Json *row = json_object(), *tasks = json_array();
        json_set_number(row, "steps", all->options.sweep[i]);
        for (int t = 0; t < all->options.task_count; t++) {
            FacetCourseTask task = all->options.tasks[t];
            Json *entry = json_object();
            json_set_task(entry, all->race->course, task);
            set_numbers(entry, certify_study_record(&all->study, task, all->options.sweep[i], 0),
                        IN_SWEEP);
            json_push(tasks, entry);
        }
        json_set(row, "tasks", tasks);
        json_push(out, row);
    }
    return out;
}

static Json *json_from_levels(const FacetCertifyDiagnostics *d)
{
    Json *out = json_array();
    for (int i = 0; i < FACET_CERTIFY_LEVELS; i++) {
        const FacetCertifyLevel *level = &d->levels[i];
        if (level->count == 0) continue;
        Json *entry = json_object(), *channels = json_array();
        json_set_numbers(entry, {"t_first", level->t_first}, {"t_last", level->t_last},
                         {"samples", level->count}, {"mean", level->mean}, {"p95", level->p95},
                         {"joint_error", level->joint_error},
                         {"composed_error", level->composed_error});
        for (int c = 0; c < d->channels; c++) json_push_number(channels, level->channel[c]);
        json_set(entry, "channel_rms", channels);
        json_push(out, entry);
    }
    return out;
}

Json *json_from_budget(const Budget *budget, const FacetPolicy *policy)
{
    static const char *const names[BUDGET_SETS] = {"along_network", "along_exact"};
    Json *out = json_object();
    json_set_string(out, "method", eval_method(policy));
    json_set_number(out, "tasks", budget->tasks);
    for (int set = 0; set < BUDGET_SETS; set++) {
        Json *levels = json_array();
        for (int k = 0; k < budget->count; k++) {
            const BudgetLevel *level = &budget->levels[set][k];
            Json *entry = json_object();
            json_set_numbers(entry, {"sigma", level->sigma}, {"g", level->g}, {"m", level->m},
                             {"interaction", level->interaction}, {"gap", level->gap},
                             {"eta", level->eta}, {"total", level->total},
                             {"measured", level->measured}, {"l1", level->lipschitz[0]},
                             {"l2", level->lipschitz[1]}, {"changed", level->changed});
            json_push(levels, entry);
        }
        json_set(out, names[set], levels);
    }
    return out;
}

static void json_set_spreads(Json *out, const FacetCertifyDiagnostics *d)
{
    json_set(out, "eps_d", json_from_spread(d->eps_d));
    for (int f = 0; f < d->factors; f++) {
        char key[8];
        snprintf(key, sizeof key, "l%d", f + 1);
        json_set(out, key, json_from_spread(d->lipschitz[f]));
    }
    json_set(out, "l_joint", json_from_spread(d->joint));
}

void json_set_diagnostics(Json *out, const FacetCertifyDiagnostics *d)
{
    json_set_spreads(out, d);
    json_set(out, "by_noise_level", json_from_levels(d));
}

Json *json_from_certification(const Certification *all)
{
    const FacetCertifyDiagnostics *d = &all->diagnostics;
    Json *out = json_object(), *tasks = json_array();
    json_set_string(out, "version", facet_version());
    json_set_string(out, "commit", program_commit());
    json_set_string(out, "command", all->command);
    const char *slash = strrchr(all->policy_file, '/');
    json_set_string(out, "policy", slash ? slash + 1 : all->policy_file);
    json_set_uint64(out, "seed", all->options.seed);
    json_set_numbers(out, {"steps", all->options.steps}, {"gusts", all->options.gusts});
    for (int t = 0; t < all->options.task_count; t++) json_push(tasks, json_from_task(all, t));
    json_set(out, "tasks", tasks);
    json_set(out, "constants", json_from_constants(all));
    json_set_spreads(out, d);
    if (all->no_interaction[0]) {
        json_set_string(out, "interaction_left_out", all->no_interaction);
    } else {
        json_set(out, "interaction", json_from_interaction(&all->products));
        json_set(out, "exact_plans", json_from_exact(all));
    }
    if (all->passage) json_set_number(out, "confidence", all->passage_options.confidence);
    json_set(out, "by_noise_level", json_from_levels(d));
    if (all->budget.count > 0) {
        Json *budgets = json_array();
        json_push(budgets, json_from_budget(&all->budget, all->policy));
        json_set(out, "budgets", budgets);
    }
    if (all->new_pair.known) json_set(out, "new_pair", json_from_new_pair(&all->new_pair));
    json_set(out, "sweep", json_from_sweep(all));
    return out;
}
