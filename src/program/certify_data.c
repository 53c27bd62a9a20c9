// facet certify --data: does composition work, for any policy and its demonstrations.
#include "certify_data.h"

#include "bar.h"
#include "certify/diagnostics.h"
#include "commit.h"
#include "json_certify.h"
#include "policy/policy.h"
#include "report/table.h"
#include "show_race.h"

#include <stdio.h>

enum { SAMPLES = 2000 };

static void print_spread(Table *table, const char *name, FacetCertifySpread spread)
{
    table_cell(table, "%s", name);
    table_cell(table, "%.3f", spread.mean);
    table_cell(table, "%.3f", spread.p95);
    table_cell(table, "%.3f", spread.max);
}

static void print_spreads(const FacetCertifyDiagnostics *d, const FacetPolicy *policy)
{
    const TableColumn columns[] = {{"quantity", TABLE_LEFT},
                                   {"mean", TABLE_RIGHT},
                                   {"95 %", TABLE_RIGHT},
                                   {"most", TABLE_RIGHT}};
    Table *table = table_create(columns, 4);
    print_spread(table, "decomposition error, ε_D", d->eps_d);
    for (int f = 0; f < d->factors; f++) {
        char name[120];
        snprintf(name, sizeof name, "L%d, another %s", f + 1,
                 facet_factor_name(facet_policy_space(policy), f));
        print_spread(table, name, d->lipschitz[f]);
    }
    print_spread(table, "L_joint", d->joint);
    table_print(table, stdout);
    table_destroy(table);
}

static void print_levels(const FacetCertifyDiagnostics *d)
{
    const TableColumn columns[] = {{"noise level", TABLE_RIGHT},
                                   {"samples", TABLE_RIGHT},
                                   {"ε_D", TABLE_RIGHT},
                                   {"error, joint", TABLE_RIGHT},
                                   {"error, composed", TABLE_RIGHT}};
    Table *table = table_create(columns, 5);
    for (int i = 0; i < FACET_CERTIFY_LEVELS; i++) {
        const FacetCertifyLevel *level = &d->levels[i];
        if (level->count == 0) continue;
        table_cell(table, "%d–%d", level->t_first, level->t_last);
        table_cell(table, "%d", level->count);
        table_cell(table, "%.3f", level->mean);
        table_cell(table, "%.4f", level->joint_error);
        table_cell(table, "%.4f", level->composed_error);
    }
    table_print(table, stdout);
    table_destroy(table);
}

static Json *json_from_set(const FacetCertifyDiagnostics *d, int chunks)
{
    Json *out = json_object();
    json_set_number(out, "chunks", chunks);
    json_set_diagnostics(out, d);
    return out;
}

FacetStatus certify_data_run(const FacetPolicy *policy, const char *policy_file, const char *data,
                             const char *command, const CommonOptions *common)
{
    static const struct {
        const char *key, *title;
        bool training;
    } sets[] = {{"training", "Training tasks", true}, {"others", "Other tasks", false}};
    Json *document = json_object();
    FacetPool *pool;
    TRY(facet_pool_create(&pool, common->threads));
    json_set_string(document, "version", facet_version());
    json_set_string(document, "commit", program_commit());
    json_set_string(document, "command", command);
    json_set_string(document, "policy", policy_file);
    json_set_string(document, "data", data);
    json_set_uint64(document, "seed", common->seed);
    FacetStatus status = status_ok();
    for (int i = 0; i < 2 && status.ok; i++) {
        FacetCertifyDiagnostics d;
        int chunks;
        status = certify_data(&d, &chunks, policy, data, sets[i].training, SAMPLES, common->seed,
                              pool, bar_open(common->quiet));
        bar_close();
        if (!status.ok || !chunks) continue;
        printf("%s%s: %d of their chunks\n\n", i ? "\n" : "", sets[i].title, chunks);
        print_spreads(&d, policy);
        putchar('\n');
        print_levels(&d);
        json_set(document, sets[i].key, json_from_set(&d, chunks));
    }
    facet_pool_destroy(pool);
    if (!status.ok) {
        json_free(document);
        return status;
    }
    table_note(stdout,
               "\nε_D is the distance between the composed and the joint prediction of the noise, "
               "L that between two values of a factor, as norms over a chunk; the errors are those "
               "of one number of it. Where ε_D is small beside L, and the composed error is the "
               "joint one's, the factors add up.");
    return json_finish(document, common);
}
