// Options of the beacon (see gate_beside.h).
#include "gate_beside.h"

#include "gate/beacon.h"

FacetBeaconParams beacon_options(void) { return beacon_params_default(); }

Json *json_from_beacon(const FacetBeaconParams *beacon)
{
    Json *object = json_object();
    json_set_numbers(object, {"bias_m", beacon->bias}, {"noise_m", beacon->noise},
                     {"survey_m", beacon->survey});
    return object;
}

FacetStatus gate_beside_load(FacetPolicy **beside, const FacetPolicy *policy,
                             const FacetPolicySampling *how, const char *path)
{
    TRY(facet_policy_load(beside, path));
    FacetStatus status = facet_gate_check_beside(policy, *beside, how);
    if (status.ok) return status;
    facet_policy_destroy(*beside);
    *beside = NULL;
    return status_fail(FACET_BAD_FILE, "%s: %s", path, status.text);
}
