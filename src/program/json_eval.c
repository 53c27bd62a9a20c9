// JSON of `facet eval` (see json_eval.h).
#include "json_eval.h"

#include "json_training.h"
#include "math/statistics.h"
#include "show_race.h"

#include <math.h>
#include <stdio.h>

static Json *json_from_rate(FacetRaceTally tally)
{
    Json *out = json_object();
    Interval interval = wilson_interval(tally.passed, tally.gates);
    if (tally.gates == 0) interval = (Interval){nan(""), nan("")};
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

// Gates of held-out tasks of which no training task has both path and speed, over all seeds.
static FacetRaceTally tally_new(const EvalRun *run)
{
    FacetRaceTally sum = {0};
    for (int t = 0; t < run->tasks; t++) {
        if (!eval_result(run, 0, t)->held_out || eval_same_task(run, t) >= 0) continue;
        FacetRaceTally tally = eval_task_tally(run, t);
        sum.passed += tally.passed;
        sum.gates += tally.gates;
    }
    return sum;
}

static void set_same_task(Json *task, const FacetRace *race, const EvalRun *run, int t)
{
    int same = eval_same_task(run, t);
    if (same < 0) return;
    const FacetCourse *course = race->course;
    FacetCourseTask other = eval_result(run, 0, same)->task;
    char name[2 * FACET_COURSE_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s/%s", course->tracks[other.track].name,
             course->openings[other.opening].name);
    json_set_string(task, "same_as", name);
}

static double vehicle_share(const FacetRace *race, const EvalRun *run, int t)
{
    int passed = 0;
    for (int k = 0; k < run->seeds; k++)
        passed += eval_vehicle_passed(race, eval_result(run, k, t), EVAL_VEHICLE_RADIUS);
    return (double)passed / eval_task_tally(run, t).gates;
}

static Json *json_from_order(EvalOrder order)
{
    Json *out = json_object();
    json_set_numbers(out, {"right", order.right}, {"pairs", order.pairs});
    return out;
}

static Json *json_from_row(const FacetRace *race, const EvalRow *row, double asked)
{
    double temperature = asked > 0.0 ? asked : policy_default_temperature(row->policy);
    const EvalRun *run = &row->run;
    Json *out = json_from_totals(eval_totals(run, 0)), *tasks = json_array();
    json_set_numbers(out, {"error_m", eval_error(run, 0)}, {"seeds", run->seeds},
                     {"temperature", temperature});
    json_set(out, "all_seeds", json_from_totals(eval_totals_all(run)));
    json_set(out, "vehicle",
             json_from_totals(eval_vehicle_totals(run, race, EVAL_VEHICLE_RADIUS, 0)));
    json_set(out, "vehicle_all_seeds",
             json_from_totals(eval_vehicle_totals(run, race, EVAL_VEHICLE_RADIUS, -1)));
    json_set(out, "held_out_new_all_seeds", json_from_rate(tally_new(run)));
    json_set(out, "speed_order", json_from_order(eval_speed_order(run)));
    json_set(out, "training_run", json_from_training(row->policy));
    for (int t = 0; t < row->run.tasks; t++) {
        const FacetRaceResult *result = eval_result(&row->run, 0, t);
        FacetRaceTally tally = eval_task_tally(&row->run, t);
        Json *task = json_object();
        json_set_task(task, race->course, result->task);
        json_set_bool(task, "held_out", result->held_out);
        set_same_task(task, race, &row->run, t);
        json_set_numbers(task, {"gates", result->flight.gate_count},
                         {"passed", result->flight.passed},
                         {"share_all_seeds", (double)tally.passed / tally.gates},
                         {"share_std", eval_task_spread(&row->run, t)},
                         {"share_vehicle", vehicle_share(race, &row->run, t)},
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
        json_set(methods, evaluation->rows[i].key,
                 json_from_row(race, &evaluation->rows[i], evaluation->temperature));
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
    if (evaluation->no_plans) return document;
    Json *plans = json_object();
    for (int i = 0; i < evaluation->row_count; i++) {
        const EvalRun *run = &evaluation->rows[i].run;
        json_set(plans, evaluation->rows[i].key,
                 json_from_plans(race, eval_result(run, 0, 0), run->tasks));
    }
    json_set(document, "plans", plans);
    return document;
}
