// facet certify --budget (see certify_budget.h).
#include "certify_budget.h"

#include "bar.h"
#include "json_certify.h"
#include "pilot.h"
#include "report/tables.h"

#include <stdio.h>

static FacetStatus measure(Json *budgets, const FacetRace *race, const FacetPolicy *policy,
                           int steps, const CommonOptions *common)
{
    Budget budget;
    TRY(certify_check_blind(policy));
    FacetStatus status =
        budget_measure(&budget, race, policy, steps, common->seed, bar_open(common->quiet));
    bar_close();
    if (status.ok) json_push(budgets, json_from_budget(&budget, policy));
    budget_free(&budget);
    return status;
}

FacetStatus certify_budget_run(const FacetRace *race, const char *policy, int steps,
                               const char *command, const CommonOptions *common)
{
    static const char *const methods[] = {"ours", "factored"};
    PolicySet set = {0};
    Json *document = json_object(), *budgets = json_array();
    json_set_origin(document, command, common->seed);
    json_set_number(document, "steps", steps);
    FacetStatus status = policies_open(&set, &policy, policy ? 1 : 0);
    for (int i = 0; i < 2 && status.ok; i++) {
        const FacetPolicy *found = policies_find(&set, methods[i]);
        if (found) status = measure(budgets, race, found, steps, common);
    }
    policies_close(&set);
    json_set(document, "budgets", budgets);
    if (!status.ok) {
        json_free(document);
        return status;
    }
    print_document(stdout, race, INPUT_BUDGET, document);
    return json_finish(document, common);
}
