// Cells of the mechanism study and their summary (see mechanism_cells.h).
#include "mechanism_cells.h"

#include "base/file.h"
#include "base/text.h"
#include "show_race.h"
#include "speed_share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Four blocks see 21 keypoints; with dilations 1, 2, 4 and 8 they see all 32 with as many weights
// and operations. The U-Net sees all 32 too, with fewer operations and near as many weights.
const MechanismVariant mechanism_variants[MECHANISM_VARIANTS] = {
    {.name = "default", .text = "4 blocks", .kind = "blocks", .blocks = 4, .embed = 32},
    {.name = "blocks-1", .text = "1 block", .kind = "blocks", .blocks = 1, .embed = 32},
    {.name = "blocks-2", .text = "2 blocks", .kind = "blocks", .blocks = 2, .embed = 32},
    {.name = "blocks-3", .text = "3 blocks", .kind = "blocks", .blocks = 3, .embed = 32},
    {.name = "blocks-6", .text = "6 blocks", .kind = "blocks", .blocks = 6, .embed = 32},
    {.name = "dilated",
     .text = "dilations 1,1,2,4",
     .kind = "dilation",
     .blocks = 4,
     .embed = 32,
     .dilation = "1,1,2,4",
     .dilations = {1, 1, 2, 4}},
    {.name = "whole",
     .text = "dilations 1,2,4,8",
     .kind = "dilation",
     .blocks = 4,
     .embed = 32,
     .dilation = "1,2,4,8",
     .dilations = {1, 2, 4, 8}},
    {.name = "unet",
     .text = "U-Net",
     .kind = "unet",
     .blocks = 12,
     .embed = 32,
     .no_position = true,
     .unet = true},
    {.name = "no-position",
     .text = "no positions",
     .kind = "position",
     .blocks = 4,
     .embed = 32,
     .no_position = true},
    {.name = "embed-8", .text = "embeddings of 8", .kind = "embedding", .blocks = 4, .embed = 8},
    {.name = "embed-64", .text = "embeddings of 64", .kind = "embedding", .blocks = 4, .embed = 64},
    {.name = "drop-0",
     .text = "no dropout",
     .kind = "dropout",
     .blocks = 4,
     .embed = 32,
     .drop = "0",
     .of = "default"},
    {.name = "whole-drop-0",
     .text = "1,2,4,8, no dropout",
     .kind = "dropout",
     .blocks = 4,
     .embed = 32,
     .dilation = "1,2,4,8",
     .dilations = {1, 2, 4, 8},
     .drop = "0",
     .of = "whole"},
    {.name = "unet-drop-0",
     .text = "U-Net, no dropout",
     .kind = "dropout",
     .blocks = 12,
     .embed = 32,
     .no_position = true,
     .unet = true,
     .drop = "0",
     .of = "unet"},
};

FacetStatus mechanism_variant_find(int *index, const char *name)
{
    const char *names[MECHANISM_VARIANTS];
    char text[300];
    for (int i = 0; i < MECHANISM_VARIANTS; i++) {
        names[i] = mechanism_variants[i].name;
        *index = i;
        if (strcmp(name, names[i]) == 0) return status_ok();
    }
    text_unknown(text, sizeof text, "variant", name, names, MECHANISM_VARIANTS);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

ScoreNetConfig mechanism_network(const MechanismVariant *variant, int channels)
{
    ScoreNetConfig net = score_net_default();
    net.blocks = variant->blocks;
    net.channels = net.cond = channels;
    net.embed = variant->embed;
    net.no_position = variant->no_position;
    memcpy(net.dilation, variant->dilations, sizeof variant->dilations);
    return net;
}

int mechanism_reach(const MechanismVariant *variant)
{
    ScoreNetConfig net = mechanism_network(variant, 2);
    return variant->unet ? FACET_CHUNK_KEYPOINTS - 1 : score_reach(&net);
}

double mechanism_seen(int reach, int keypoints)
{
    double sum = 0.0;
    for (int t = 0; t < keypoints; t++) {
        int first = t > reach ? t - reach : 0;
        int last = t + reach < keypoints ? t + reach : keypoints - 1;
        sum += last - first + 1;
    }
    return sum / keypoints;
}

void mechanism_file(char out[STEP_WORD_SIZE], const char *folder, MechanismCell cell,
                    const char *suffix)
{
    char name[100];
    snprintf(name, sizeof name, "%s-w%g-%d.%.20s", mechanism_variants[cell.variant].name,
             cell.composed_loss, cell.fold + 1, suffix);
    step_file(out, folder, name);
}

// ---- A cell -------------------------------------------------------------------------------------

enum { COMPOSED, JOINT, MODES };
static const char *const mode_keys[MODES] = {"composed", "joint"};

Json *json_from_mechanism(const MechanismResults *results, const FacetCourse *course,
                          MechanismCell cell)
{
    Json *document = json_object(), *pairs = json_array();
    json_set_string(document, "variant", mechanism_variants[cell.variant].name);
    json_set_numbers(document, {"composed_loss", cell.composed_loss}, {"fold", cell.fold + 1},
                     {"parameters", results->parameters});
    for (int i = 0; i < results->count; i++) {
        Json *pair = json_object();
        json_set_task(pair, course, results->modes[COMPOSED][i].task);
        json_set_bool(pair, "left_out", results->fold[i] == cell.fold);
        json_set_number(pair, "speed_reference", results->references[i]);
        for (int m = 0; m < MODES; m++) {
            const PairResult *r = &results->modes[m][i];
            Json *mode = json_object();
            json_set_numbers(mode, {"error_m", r->error}, {"passed", r->passed},
                             {"crossings", r->gates}, {"crashes", r->crashes},
                             {"speed_generated", r->speed * results->references[i]});
            json_set(pair, mode_keys[m], mode);
        }
        json_push(pairs, pair);
    }
    json_set(document, "pairs", pairs);
    return document;
}

// ---- A row of the summary -----------------------------------------------------------------------

enum { TRAINING, LEFT_OUT, GROUPS };
static const char *const group_keys[GROUPS] = {"training", "left_out"};

// The pairs of a group, sampled in one mode, over the cells that are there.
typedef struct Tally {
    int count, folds;
    double errors[MECHANISM_FOLDS_MAX * MECHANISM_PAIRS_MAX];
    double fold_means[MECHANISM_FOLDS_MAX];
    double passed, crossings;
} Tally;

typedef struct Row {
    int cells;
    double parameters;
    Tally tallies[GROUPS][MODES];
    SpeedShare shares[MODES];
} Row;

static FacetStatus read_mode(Tally *tally, const JsonRef *pair, const char *key)
{
    JsonRef mode;
    double passed, crossings;
    TRY(json_member(&mode, pair, key));
    if (tally->count == MECHANISM_FOLDS_MAX * MECHANISM_PAIRS_MAX)
        return json_wrong(pair, "fewer pairs");
    TRY(json_member_number(&tally->errors[tally->count], &mode, "error_m", 0.0, 1e9));
    TRY(json_member_number(&passed, &mode, "passed", 0.0, 1e9));
    TRY(json_member_number(&crossings, &mode, "crossings", 0.0, 1e9));
    tally->count++;
    tally->passed += passed;
    tally->crossings += crossings;
    return status_ok();
}

static FacetStatus read_speed(SpeedPlan *plan, const JsonRef *pair, const char *key)
{
    JsonRef mode;
    TRY(json_member(&mode, pair, key));
    TRY(json_member_string(plan->track, sizeof plan->track, pair, "track"));
    TRY(json_member_bool(&plan->left_out, pair, "left_out"));
    TRY(json_member_number(&plan->planned, &mode, "speed_generated", 1e-3, 1e6));
    return json_member_number(&plan->reference, pair, "speed_reference", 1e-3, 1e6);
}

// Cells of an earlier version have no speeds.
static FacetStatus read_speeds(Row *row, const JsonRef *pairs)
{
    static SpeedPlan plans[MODES][MECHANISM_PAIRS_MAX];
    JsonRef pair = {0};
    int count = 0;
    for (; json_next(&pair, pairs) && json_has(&pair, "speed_reference"); count++) {
        if (count == MECHANISM_PAIRS_MAX) return json_wrong(&pair, "fewer pairs");
        for (int m = 0; m < MODES; m++) TRY(read_speed(&plans[m][count], &pair, mode_keys[m]));
    }
    for (int m = 0; m < MODES; m++) speed_share_add(&row->shares[m], plans[m], count);
    return status_ok();
}

static double mean_of(const double *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += values[i];
    return sum / count;
}

static FacetStatus read_pairs(Row *row, const JsonRef *root)
{
    int before[GROUPS][MODES];
    JsonRef pairs, pair = {0};
    TRY(json_member_number(&row->parameters, root, "parameters", 0.0, 1e12));
    TRY(json_member(&pairs, root, "pairs"));
    for (int g = 0; g < GROUPS; g++)
        for (int m = 0; m < MODES; m++) before[g][m] = row->tallies[g][m].count;
    while (json_next(&pair, &pairs)) {
        bool left_out;
        TRY(json_member_bool(&left_out, &pair, "left_out"));
        for (int m = 0; m < MODES; m++)
            TRY(read_mode(&row->tallies[left_out ? LEFT_OUT : TRAINING][m], &pair, mode_keys[m]));
    }
    for (int g = 0; g < GROUPS; g++)
        for (int m = 0; m < MODES; m++) {
            Tally *t = &row->tallies[g][m];
            int first = before[g][m], count = t->count - first;
            if (count > 0) t->fold_means[t->folds++] = mean_of(t->errors + first, count);
        }
    row->cells++;
    return read_speeds(row, &pairs);
}

static FacetStatus read_cell(Row *row, const char *path)
{
    Json *document;
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetStatus status = read_pairs(row, &root);
    json_free(document);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// Mean and median over pairs, least and most of the folds' means. Sorts the errors.
static Json *json_from_tally(Tally *t)
{
    Json *out = json_object();
    double least = NAN, most = NAN, median = NAN;
    if (t->count > 0) {
        qsort(t->errors, (size_t)t->count, sizeof *t->errors, by_size);
        median = 0.5 * (t->errors[(t->count - 1) / 2] + t->errors[t->count / 2]);
    }
    for (int i = 0; i < t->folds; i++) {
        least = fmin(least, t->fold_means[i]);
        most = fmax(most, t->fold_means[i]);
    }
    json_set_numbers(out, {"pairs", t->count}, {"error_m", mean_of(t->errors, t->count)},
                     {"median_m", median}, {"least_m", least}, {"most_m", most},
                     {"passed", t->passed}, {"crossings", t->crossings},
                     {"share", t->passed / t->crossings});
    return out;
}

static Json *json_from_row(Row *row, int variant, double loss, int channels)
{
    const MechanismVariant *v = &mechanism_variants[variant];
    ScoreNetConfig net = mechanism_network(v, channels);
    Json *out = json_object(), *dilation = json_array();
    int reach = mechanism_reach(v);
    json_set_string(out, "variant", v->name);
    json_set_string(out, "name", v->text);
    json_set_string(out, "kind", v->kind);
    if (v->of) json_set_string(out, "of", v->of);
    json_set_numbers(out, {"composed_loss", loss}, {"folds", row->cells}, {"blocks", v->blocks},
                     {"embed", v->embed});
    for (int l = 0; l < v->blocks && !v->unet; l++)
        json_push_number(dilation, score_dilation(&net, 2 * l));
    json_set(out, "dilation", dilation);
    json_set_bool(out, "position", !v->no_position);
    json_set_numbers(out, {"field", 2 * reach + 1},
                     {"seen", mechanism_seen(reach, FACET_CHUNK_KEYPOINTS)},
                     {"parameters", row->parameters});
    for (int g = 0; g < GROUPS; g++) {
        Json *group = json_object();
        for (int m = 0; m < MODES; m++)
            json_set(group, mode_keys[m], json_from_tally(&row->tallies[g][m]));
        json_set(out, group_keys[g], group);
    }
    Json *shares = json_object();
    for (int m = 0; m < MODES; m++)
        json_set(shares, mode_keys[m], json_from_speed_share(&row->shares[m]));
    json_set(out, "speed_share", shares);
    return out;
}

FacetStatus mechanism_summary(Json *document, const char *folder, const double *losses, int count,
                              int channels)
{
    Json *list = json_array();
    Row *row = calloc(1, sizeof *row);
    FacetStatus status =
        row ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for the summary");
    for (int i = 0; status.ok && i < count * MECHANISM_VARIANTS; i++) {
        MechanismCell cell = {.variant = i % MECHANISM_VARIANTS,
                              .composed_loss = losses[i / MECHANISM_VARIANTS]};
        memset(row, 0, sizeof *row);
        for (cell.fold = 0; status.ok && cell.fold < MECHANISM_FOLDS_MAX; cell.fold++) {
            char path[STEP_WORD_SIZE];
            mechanism_file(path, folder, cell, "json");
            if (file_exists(path)) status = read_cell(row, path);
        }
        if (status.ok && row->cells > 0)
            json_push(list, json_from_row(row, cell.variant, cell.composed_loss, channels));
    }
    free(row);
    json_set(document, "variants", list);
    return status;
}
