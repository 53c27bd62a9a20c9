// Curves of few steps as JSON: the results of a study, and what a study that stopped goes on from.
#include "race/few_steps.h"

#include <math.h>
#include <string.h>

// ---- Writing ------------------------------------------------------------------------------------

static Json *json_from_gates(const FewStepsGates *gates)
{
    Json *out = json_object();
    json_set_numbers(out, {"all", gates->all}, {"held_out", gates->held_out},
                     {"left_out", gates->left_out});
    return out;
}

static Json *json_from_cell(const FewStepsCell *cell, int steps, int seeds)
{
    Json *out = json_object(), *passed = json_array();
    json_set_number(out, "steps", steps);
    for (int k = 0; k < seeds; k++) json_push(passed, json_from_gates(&cell->passed[k]));
    json_set(out, "passed", passed);
    json_set_numbers(out, {"crashes", cell->crashes}, {"spread_m", cell->spread},
                     {"from_last_m", cell->from_last});
    return out;
}

Json *few_steps_to_json(const FewStepsCurve *curve)
{
    Json *out = json_object(), *cells = json_array();
    json_set_string(out, "method", curve->method);
    json_set_string(out, "sampler", policy_sampler_name(curve->sampler));
    json_set_string(out, "mode", policy_mode_name(curve->mode));
    json_set(out, "gates", json_from_gates(&curve->gates));
    for (int i = 0; i < FEW_STEPS_COUNT; i++)
        json_push(cells, json_from_cell(&curve->cells[i], few_steps[i], curve->seeds));
    json_set(out, "steps", cells);
    return out;
}

// ---- Reading ------------------------------------------------------------------------------------

static FacetStatus read_count(int *out, const JsonRef *at, const char *key)
{
    double number;
    TRY(json_member_number(&number, at, key, 0.0, 1e9));
    *out = (int)number;
    return status_ok();
}

static FacetStatus read_gates(FewStepsGates *gates, const JsonRef *at)
{
    TRY(read_count(&gates->all, at, "all"));
    TRY(read_count(&gates->held_out, at, "held_out"));
    return read_count(&gates->left_out, at, "left_out");
}

static FacetStatus read_cell(FewStepsCell *cell, const JsonRef *list, int index, int seeds)
{
    JsonRef at, passed, seed;
    int count;
    TRY(json_element(&at, list, index));
    TRY(json_member(&passed, &at, "passed"));
    TRY(json_length(&count, &passed));
    if (count != seeds) return json_wrong(&passed, "one entry a seed");
    for (int k = 0; k < seeds; k++) {
        TRY(json_element(&seed, &passed, k));
        TRY(read_gates(&cell->passed[k], &seed));
    }
    TRY(read_count(&cell->crashes, &at, "crashes"));
    TRY(json_member_number(&cell->spread, &at, "spread_m", 0.0, HUGE_VAL));
    return json_member_number(&cell->from_last, &at, "from_last_m", 0.0, HUGE_VAL);
}

static FacetStatus read_curve(FewStepsCurve *curve, const JsonRef *at)
{
    char name[16];
    JsonRef gates, cells;
    TRY(json_member_string(curve->method, sizeof curve->method, at, "method"));
    TRY(json_member_string(name, sizeof name, at, "sampler"));
    TRY(facet_policy_sampler_parse(&curve->sampler, name));
    TRY(json_member_string(name, sizeof name, at, "mode"));
    TRY(facet_policy_mode_parse(&curve->mode, name));
    TRY(json_member(&gates, at, "gates"));
    TRY(read_gates(&curve->gates, &gates));
    TRY(json_member(&cells, at, "steps"));
    for (int i = 0; i < FEW_STEPS_COUNT; i++)
        TRY(read_cell(&curve->cells[i], &cells, i, curve->seeds));
    return status_ok();
}

FacetStatus few_steps_from_json(FewStepsCurve *curve, const JsonRef *at, int seeds)
{
    *curve = (FewStepsCurve){0};
    FacetStatus status = few_steps_create(curve, seeds);
    if (status.ok) status = read_curve(curve, at);
    if (!status.ok) few_steps_free(curve);
    return status;
}

const FewStepsCurve *few_steps_find(const FewStepsCurve *curves, int count, const char *method,
                                    FacetPolicySampler sampler, FacetPolicyMode mode)
{
    for (int i = 0; i < count; i++)
        if (strcmp(curves[i].method, method) == 0 && curves[i].sampler == sampler &&
            curves[i].mode == mode)
            return &curves[i];
    return NULL;
}

FacetStatus few_steps_list_from_json(FewStepsCurve *curves, int *count, const JsonRef *list,
                                     int max, int seeds)
{
    JsonRef at;
    int length;
    *count = 0;
    TRY(json_length(&length, list));
    if (length > max) return json_wrong(list, "the curves of the study");
    for (int i = 0; i < length; i++) {
        FewStepsCurve *curve = &curves[i];
        TRY(json_element(&at, list, i));
        TRY(few_steps_from_json(curve, &at, seeds));
        ++*count;
        if (few_steps_find(curves, i, curve->method, curve->sampler, curve->mode))
            return json_wrong(&at, "a curve that is not there yet");
    }
    return status_ok();
}
