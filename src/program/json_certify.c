// JSON of facet certify (see show_certify.h; docs/json.md describes it).
#include "show_certify.h"

#include <math.h>
#include <string.h>

// A bound that holds is a number; one that does not is null.
static void set_bound(Json *object, const char *key, FacetCertifyBound bound)
{
    json_set_number(object, key, bound.step < 0 ? bound.value : nan(""));
}

static Json *json_from_spread(FacetCertifySpread spread)
{
    Json *out = json_object();
    json_set_number(out, "mean", spread.mean);
    json_set_number(out, "p95", spread.p95);
    json_set_number(out, "max", spread.max);
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
        json_set_number(entry, "miss_nominal", gate->miss);
        json_set_number(entry, "radius", gate->radius);
        json_set_number(entry, "reach", gate->reach);
        json_set_number(entry, "disturbance", gate->disturbance);
        json_set_number(entry, "sensitivity", gate->slope);
        json_set_number(entry, "half_width", course->openings[record->task.opening].half_width);
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
    json_set_number(out, "pace", found ? paced->pace : nan(""));
    json_set_number(out, "time", found ? paced->time : nan(""));
    json_set(out, "gates", json_from_gates(paced->gates, record, course));
    json_set(out, "linear_check", json_from_check(&paced->check));
    return out;
}

static Json *json_from_passage(const PassageResult *result)
{
    Json *out = json_object(), *gates = json_array();
    json_set_number(out, "samples", result->samples);
    json_set_number(out, "clear", result->clear);
    for (int g = 0; g < result->gate_count; g++) json_push_number(gates, result->gate_lower[g]);
    json_set(out, "gate_lower_bounds", gates);
    return out;
}

static Json *json_from_constants(const Certification *all)
{
    FacetTubeConstants constants = measured_constants(all);
    Json *out = json_object();
    json_set_number(out, "lambda", constants.lambda);
    json_set_number(out, "b_kappa", constants.b_kappa);
    json_set_number(out, "w", constants.w);
    return out;
}

static Json *json_from_interaction(const Certification *all)
{
    InteractionReport worst = worst_interaction(all);
    Json *out = json_object(), *products = json_array();
    json_set_number(out, "g", worst.g);
    json_set_number(out, "m", worst.m);
    json_set_number(out, "bound", worst.bound);
    json_set_number(out, "max_gap", worst.max_gap);
    json_set_bool(out, "theorem_holds", worst.holds);
    for (int i = 0; i < all->products.count; i++) {
        const ExactProduct *product = &all->products.product[i];
        const InteractionReport *report = &product->report;
        Json *entry = json_object(), *levels = json_array();
        json_set_string(entry, "tasks", product->name);
        json_set_number(entry, "g", report->g);
        json_set_number(entry, "m", report->m);
        json_set_number(entry, "bound", report->bound);
        json_set_number(entry, "max_gap", report->max_gap);
        json_set_number(entry, "worst_ratio", report->worst_ratio);
        json_set_bool(entry, "theorem_holds", report->holds);
        for (int k = 0; k < report->level_count; k++) {
            const InteractionLevel *level = &report->levels[k];
            Json *row = json_object();
            json_set_number(row, "sigma", level->sigma);
            json_set_number(row, "g", level->g);
            json_set_number(row, "m", level->m);
            json_set_number(row, "bound", level->bound);
            json_set_number(row, "max_gap", level->max_gap);
            json_push(levels, row);
        }
        json_set(entry, "levels", levels);
        json_push(products, entry);
    }
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
        json_set_string(entry, "track", course->tracks[plan->task.track].name);
        json_set_string(entry, "size", course->openings[plan->task.opening].name);
        json_set_bool(entry, "held_out", plan->held_out);
        json_set_number(entry, "exact_m", plan->exact.position);
        json_set_number(entry, "exact_speed", plan->exact.speed);
        json_set_number(entry, "network_m", plan->network.position);
        json_set_number(entry, "network_speed", plan->network.speed);
        json_set_string(entry, "nearest_track", course->tracks[plan->nearest.track].name);
        json_set_string(entry, "nearest_size", course->openings[plan->nearest.opening].name);
        json_set_number(entry, "nearest_m", plan->nearest_error.position);
        json_push(out, entry);
    }
    return out;
}

static Json *json_from_task(const Certification *all, int t)
{
    const FacetCourse *course = all->race->course;
    const CertifyRecord *record = main_record(all, t);
    const FacetPlanCertificate *plan = &record->plan;
    char failure[240];
    Json *out = json_object(), *residual = json_object(), *seeds = json_array();
    json_set_string(out, "track", course->tracks[record->task.track].name);
    json_set_string(out, "size", course->openings[record->task.opening].name);
    json_set_bool(out, "held_out", facet_course_is_held_out(course, record->task));
    set_bound(out, "c_ltv", plan->ltv);
    set_bound(out, "c_gronwall", plan->ode);
    set_bound(out, "c_gronwall_discrete", plan->product);
    json_set_number(out, "c_emp", plan->amplification);
    json_set_number(out, "eps_s", plan->eps_s);
    set_bound(out, "path_bound", plan->path);
    json_set_number(out, "r_ss_default",
                    facet_tube_radius(facet_tube_paper_constants(), command_bound(plan)));
    json_set_number(out, "r_ss_default_path",
                    facet_tube_radius(facet_tube_paper_constants(), plan->path.value));
    json_set_number(out, "r_ss_measured",
                    facet_tube_radius(record->loop.constants, command_bound(plan)));
    json_set_number(out, "r_ss_measured_path",
                    facet_tube_radius(record->loop.constants, plan->path.value));
    json_set_number(out, "tube_seen", record->tube);
    json_set(out, "closed_loop", json_from_loop(&record->loop));
    json_set_number(residual, "actual", plan->actual);
    json_set_number(residual, "linearised", plan->linear);
    set_bound(residual, "ltv", plan->path);
    json_set(out, "residual", residual);
    describe_failure(failure, record);
    if (failure[0]) json_set_string(out, "not_certified", failure);
    json_set(out, "gates", json_from_gates(record->gates, record, course));
    json_set_bool(out, "certified", task_certified(record));
    json_set(out, "paced", json_from_pace(record, course));
    json_set_number(out, "passage_lower_bound", all->passage ? all->passage[t].lower : nan(""));
    if (all->passage) json_set(out, "passage", json_from_passage(&all->passage[t]));
    json_set(out, "linear_check", json_from_check(&record->check));
    for (int k = 0; k < all->options.seeds; k++) {
        const CertifyRecord *turn =
            certify_study_record(&all->study, record->task, all->options.steps, k);
        Json *entry = json_object();
        json_set_uint64(entry, "seed", all->options.seed + (uint64_t)k);
        set_bound(entry, "c_ltv", turn->plan.ltv);
        json_set_number(entry, "c_emp", turn->plan.amplification);
        json_set_number(entry, "eps_s", turn->plan.eps_s);
        json_push(seeds, entry);
    }
    json_set(out, "seeds", seeds);
    return out;
}

static Json *json_from_sweep(const Certification *all)
{
    const FacetCourse *course = all->race->course;
    Json *out = json_array();
    for (int i = 0; i < all->options.sweep_count; i++) {
        Json *row = json_object(), *tasks = json_array();
        json_set_number(row, "steps", all->options.sweep[i]);
        for (int t = 0; t < all->options.task_count; t++) {
            FacetCourseTask task = all->options.tasks[t];
            const CertifyRecord *record =
                certify_study_record(&all->study, task, all->options.sweep[i], 0);
            Json *entry = json_object();
            json_set_string(entry, "track", course->tracks[task.track].name);
            json_set_string(entry, "size", course->openings[task.opening].name);
            set_bound(entry, "c_ltv", record->plan.ltv);
            set_bound(entry, "c_gronwall", record->plan.ode);
            json_set_number(entry, "c_emp", record->plan.amplification);
            json_set_number(entry, "eps_s", record->plan.eps_s);
            set_bound(entry, "path_bound", record->plan.path);
            json_set_number(entry, "tube_seen", record->tube);
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
        json_set_number(entry, "t_first", level->t_first);
        json_set_number(entry, "t_last", level->t_last);
        json_set_number(entry, "samples", level->count);
        json_set_number(entry, "mean", level->mean);
        json_set_number(entry, "p95", level->p95);
        for (int c = 0; c < d->channels; c++) json_push_number(channels, level->channel[c]);
        json_set(entry, "channel_rms", channels);
        json_push(out, entry);
    }
    return out;
}

Json *json_from_certification(const Certification *all)
{
    const FacetCertifyDiagnostics *d = &all->diagnostics;
    Json *out = json_object(), *tasks = json_array();
    json_set_string(out, "version", facet_version());
    json_set_string(out, "command", all->command);
    const char *slash = strrchr(all->policy_file, '/');
    json_set_string(out, "policy", slash ? slash + 1 : all->policy_file);
    json_set_uint64(out, "seed", all->options.seed);
    json_set_number(out, "steps", all->options.steps);
    json_set_number(out, "gusts", all->options.gusts);
    for (int t = 0; t < all->options.task_count; t++) json_push(tasks, json_from_task(all, t));
    json_set(out, "tasks", tasks);
    json_set(out, "constants", json_from_constants(all));
    json_set(out, "eps_d", json_from_spread(d->eps_d));
    for (int f = 0; f < d->factors; f++) {
        char key[8] = {'l', (char)('1' + f), '\0'};
        json_set(out, key, json_from_spread(d->lipschitz[f]));
    }
    json_set(out, "l_joint", json_from_spread(d->joint));
    if (all->no_interaction[0]) {
        json_set_string(out, "interaction_left_out", all->no_interaction);
    } else {
        json_set(out, "interaction", json_from_interaction(all));
        json_set(out, "exact_plans", json_from_exact(all));
    }
    if (all->passage) json_set_number(out, "confidence", all->passage_options.confidence);
    json_set(out, "by_noise_level", json_from_levels(d));
    json_set(out, "sweep", json_from_sweep(all));
    return out;
}
