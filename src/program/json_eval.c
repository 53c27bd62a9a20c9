// JSON of `facet eval` (see json_eval.h).
#include "json_eval.h"

#include "math/statistics.h"
#include "show_race.h"

static Json *json_from_rate(FacetRaceTally tally)
{
    Json *out = json_object();
    Interval interval = wilson_interval(tally.passed, tally.gates);
    json_set_numbers(out, {"passed", tally.passed}, {"gates", tally.gates}, {"low", interval.low},
                     {"high", interval.high});
    return out;
}

static Json *json_from_totals(FacetRaceTotals totals)
{
    Json *out = json_object();
    json_set(out, "all", json_from_rate(totals.all));
    json_set(out, "training", json_from_rate(totals.training));
    json_set(out, "held_out", json_from_rate(totals.held_out));
    json_set_number(out, "crashes", totals.crashes);
    return out;
}

static Json *json_from_row(const FacetRace *race, const EvalRow *row)
{
    Json *out = json_from_totals(eval_totals(&row->run, 0)), *tasks = json_array();
    json_set_numbers(out, {"error_m", eval_error(&row->run, 0)}, {"seeds", row->run.seeds});
    json_set(out, "all_seeds", json_from_totals(eval_totals_all(&row->run)));
    for (int t = 0; t < row->run.tasks; t++) {
        const FacetRaceResult *result = eval_result(&row->run, 0, t);
        FacetRaceTally tally = eval_task_tally(&row->run, t);
        Json *task = json_object();
        json_set_task(task, race->course, result->task);
        json_set_bool(task, "held_out", result->held_out);
        json_set_numbers(task, {"gates", result->flight.gate_count},
                         {"passed", result->flight.passed},
                         {"share_all_seeds", (double)tally.passed / tally.gates},
                         {"share_std", eval_task_spread(&row->run, t)},
                         {"speed_generated", eval_speed(&row->run, t)},
                         {"speed_reference", result->speed_reference}, {"error_m", result->error});
        json_push(tasks, task);
    }
    json_set(out, "tasks", tasks);
    return out;
}

static Json *json_from_held_out(const FacetRace *race, const Evaluation *evaluation)
{
    Json *out = json_array();
    for (int i = 0; i < evaluation->row_count; i++) {
        const EvalRow *row = &evaluation->rows[i];
        for (int k = 0; k < row->run.seeds; k++)
            for (int t = 0; t < row->run.tasks; t++) {
                const FacetRaceResult *result = eval_result(&row->run, k, t);
                if (!result->held_out) continue;
                Json *entry = json_object();
                json_set_string(entry, "method", row->key);
                json_set_task(entry, race->course, result->task);
                json_set_numbers(entry, {"seed", (double)result->seed},
                                 {"passed", result->flight.passed},
                                 {"gates", result->flight.gate_count});
                json_set_bool(entry, "crashed", result->flight.end == FACET_FLIGHT_CRASHED);
                json_set_numbers(entry, {"speed_generated", result->speed_generated},
                                 {"speed_reference", result->speed_reference});
                json_push(out, entry);
            }
    }
    return out;
}

Json *json_from_evaluation(const FacetRace *race, const Evaluation *evaluation)
{
    Json *document = json_object(), *methods = json_object(), *sweep = json_array();
    json_set_number(document, "steps", evaluation->steps);
    for (int i = 0; i < evaluation->row_count; i++)
        json_set(methods, evaluation->rows[i].key, json_from_row(race, &evaluation->rows[i]));
    json_set(document, "methods", methods);
    for (int i = 0; i < evaluation->sweep_count; i++) {
        const EvalSweepRow *row = &evaluation->sweep[i];
        Json *entry = json_object();
        json_set_string(entry, "method", evaluation->sweep_method);
        json_set_number(entry, "steps", row->steps);
        json_set(entry, "composed", json_from_totals(row->composed));
        json_set(entry, "joint", json_from_totals(row->joint));
        json_push(sweep, entry);
    }
    json_set(document, "ddim_sweep", sweep);
    json_set(document, "heldout", json_from_held_out(race, evaluation));
    Json *plans = json_object();
    for (int i = 0; i < evaluation->row_count; i++) {
        const EvalRun *run = &evaluation->rows[i].run;
        json_set(plans, evaluation->rows[i].key,
                 json_from_plans(race, eval_result(run, 0, 0), run->tasks));
    }
    json_set(document, "plans", plans);
    return document;
}
