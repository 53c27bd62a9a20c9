// The bound for a pair that nobody has flown (see new_pair.h).
#include "new_pair.h"

#include "policy/policy.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>

static FacetStatus read_recipe(NewPair *out, const JsonRef *recipe)
{
    JsonRef pairs, bounds, bound;
    TRY(json_member(&pairs, recipe, "pairs"));
    TRY(json_length(&out->pairs, &pairs));
    TRY(json_member_number(&out->parameters, recipe, "parameters", 0.0, INFINITY));
    TRY(json_member(&bounds, recipe, "bounds"));
    TRY(json_element(&bound, &bounds, 0));
    TRY(json_member_number(&out->confidence, &bound, "confidence", 0.0, 1.0));
    TRY(json_member_number(&out->largest, &bound, "largest_m", 0.0, INFINITY));
    TRY(json_member_number(&out->mean, &bound, "mean_m", 0.0, INFINITY));
    out->known = true;
    return status_ok();
}

// The first recipe with the losses of the policy, whatever their weights are.
static FacetStatus read_study(NewPair *out, const JsonRef *root, const PolicyRecord *policy)
{
    JsonRef recipes, recipe = {0};
    TRY(json_member(&recipes, root, "recipes"));
    while (json_next(&recipe, &recipes)) {
        TRY(json_member_number(&out->composed_loss, &recipe, "composed_loss", 0.0, INFINITY));
        out->agreement = 0.0;
        if (json_has(&recipe, "agreement"))
            TRY(json_member_number(&out->agreement, &recipe, "agreement", 0.0, INFINITY));
        if ((out->composed_loss > 0.0) == (policy->composed_weight > 0.0) &&
            (out->agreement > 0.0) == (policy->agreement_weight > 0.0))
            return read_recipe(out, &recipe);
    }
    return status_ok();
}

FacetStatus new_pair_read(NewPair *out, const char *file, const FacetPolicy *policy)
{
    Json *document;
    *out = (NewPair){0};
    TRY(json_read(&document, file));
    JsonRef root = json_root(document, file);
    FacetStatus status = read_study(out, &root, policy_record(policy));
    json_free(document);
    return status;
}

Json *json_from_new_pair(const NewPair *pair)
{
    Json *out = json_object();
    json_set_numbers(out, {"pairs", pair->pairs}, {"composed_loss", pair->composed_loss},
                     {"parameters", pair->parameters}, {"confidence", pair->confidence},
                     {"largest_m", pair->largest}, {"mean_m", pair->mean});
    if (pair->agreement > 0.0) json_set_number(out, "agreement", pair->agreement);
    return out;
}

void new_pair_print(const NewPair *pair)
{
    char text[500];
    if (!pair->known) return;
    snprintf(
        text, sizeof text,
        "\nA pair that nobody has flown: with a probability of at least %.3f over exchangeable "
        "pairs, no keypoint of its plan is farther than %.3f m from the expert's. That is of "
        "networks of %.2f M parameters with this loss, each of %d pairs left out in turn "
        "(facet study leave-one-out).",
        pair->confidence, pair->largest, 1e-6 * pair->parameters, pair->pairs);
    table_note(stdout, text);
}
