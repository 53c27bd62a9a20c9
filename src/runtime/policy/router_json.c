// A policy's router: its making, and its settings as JSON for the metadata of files.
#include "factor/factor.h"
#include "policy/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void policy_router_free(FacetPolicy *policy)
{
    router_free(policy->router);
    free(policy->router_params);
    policy->router = NULL;
    policy->router_params = NULL;
}

FacetStatus policy_router_create(FacetPolicy *policy, int hidden)
{
    const ScoreNetConfig *net = &policy->net->config;
    RouterConfig config = {.horizon = net->horizon,
                           .dim = net->dim,
                           .time_width = net->time_width,
                           .hidden = hidden,
                           .factors = facet_factor_count(policy->space)};
    if (policy->method != FACET_POLICY_KNET)
        return status_fail(FACET_BAD_ARGUMENT,
                           "router: expected the networks of a knet, found the method %s",
                           facet_policy_method_name(policy->method));
    for (int f = 0; f < config.factors; f++)
        config.values[f] = facet_factor_value_count(policy->space, f);
    policy_router_free(policy);
    TRY(router_create(&policy->router, config));
    policy->router_params = policy_block(&policy->router->table);
    if (policy->router_params) return status_ok();
    policy_router_free(policy);
    return status_fail(FACET_NO_MEMORY, "out of memory for the router");
}

Json *policy_router_to_json(const FacetPolicy *policy)
{
    const PolicyRouterRecord *record = &policy->router_record;
    char seed[32];
    Json *out = json_object();
    snprintf(seed, sizeof seed, "%" PRIu64, record->seed);
    json_set_numbers(out, {"hidden", policy->router->config.hidden}, {"batch", record->batch},
                     {"updates", (double)record->updates}, {"rate", record->rate},
                     {"loss", record->loss});
    json_set_string(out, "seed", seed);
    json_set_string(out, "command", record->command);
    json_set_string(out, "facet_version", record->version);
    return out;
}

static FacetStatus whole(long *out, const JsonRef *root, const char *key, double least, double most)
{
    double value;
    JsonRef at;
    TRY(json_member_number(&value, root, key, least, most));
    *out = (long)value;
    if ((double)*out == value) return status_ok();
    TRY(json_member(&at, root, key));
    return json_wrong(&at, "a whole number");
}

static FacetStatus text(char *out, size_t size, const JsonRef *root, const char *key)
{
    JsonRef at;
    TRY(json_member(&at, root, key));
    const char *found = json_chars(&at);
    if (!found || strlen(found) >= size) return json_wrong(&at, "a shorter text");
    strcpy(out, found);
    return status_ok();
}

static FacetStatus read_seed(uint64_t *seed, const JsonRef *root)
{
    char digits[32], *end;
    JsonRef at;
    TRY(text(digits, sizeof digits, root, "seed"));
    *seed = strtoull(digits, &end, 10);
    if (end != digits && !*end) return status_ok();
    TRY(json_member(&at, root, "seed"));
    return json_wrong(&at, "a whole number");
}

FacetStatus policy_router_from_json(FacetPolicy *policy, const JsonRef *root)
{
    PolicyRouterRecord *record = &policy->router_record;
    long hidden, batch;
    TRY(whole(&hidden, root, "hidden", 1.0, 4096.0));
    TRY(whole(&batch, root, "batch", 1.0, 1 << 20));
    TRY(whole(&record->updates, root, "updates", 0.0, 1e15));
    TRY(json_member_number(&record->rate, root, "rate", 0.0, 1e9));
    TRY(json_member_number(&record->loss, root, "loss", 0.0, 1e300));
    TRY(read_seed(&record->seed, root));
    TRY(text(record->command, sizeof record->command, root, "command"));
    TRY(text(record->version, sizeof record->version, root, "facet_version"));
    record->batch = (int)batch;
    return policy_router_create(policy, (int)hidden);
}
