// How a policy was trained (see json_training.h).
#include "json_training.h"

#include "race/eval.h"

// One number where all factors are hidden alike, else one a factor.
static void set_drop(Json *out, const FacetPolicy *policy)
{
    const PolicyRecord *record = policy_record(policy);
    int factors = facet_factor_count(facet_policy_space(policy));
    bool alike = true;
    for (int f = 1; f < factors; f++) alike = alike && record->drop[f] == record->drop[0];
    if (alike) {
        json_set_number(out, "drop", record->drop[0]);
        return;
    }
    Json *list = json_array();
    for (int f = 0; f < factors; f++) json_push_number(list, record->drop[f]);
    json_set(out, "drop", list);
}

Json *json_from_training(const FacetPolicy *policy)
{
    const PolicyRecord *record = policy_record(policy);
    Json *out = json_object();
    json_set_string(out, "command", record->command);
    json_set_string(out, "version", record->version);
    json_set_uint64(out, "seed", record->seed);
    json_set_string(out, "recipe", record->recipe);
    json_set_number(out, "composed_loss", record->composed_weight);
    set_drop(out, policy);
    json_set_numbers(out, {"updates", (double)record->updates},
                     {"rows", eval_training_rows(policy)}, {"networks", policy_networks(policy)},
                     {"parameters", (double)policy_parameters(policy)});
    if (record->agreement_weight > 0.0) json_set_number(out, "agreement", record->agreement_weight);
    if (record->frames[0]) json_set_string(out, "frames", record->frames);
    return out;
}
