// What a training run does: the recipes, the options over them, and the demonstrations chosen.
#include "base/hash.h"
#include "base/text.h"
#include "data/dataset.h"
#include "factor/factor.h"
#include "train/training.h"

#include <facet_study/train.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- The numbers --------------------------------------------------------------------------------

// Rates warm up linearly over `warmup` updates, or a tenth of the training if that is shorter, and
// fall along a cosine to `rate_floor` of the peak.
typedef struct Recipe {
    const char *name;
    int epochs, batch;
    double rate, rate_floor;
    long warmup;
    double drop;          // probability that a factor is null
    double drop_composed; // the same beside a composed loss
    double temperature;   // of sampling
    int sample_steps;
    int sample_steps_composed; // the same beside a composed loss (docs/steps.md)
    int draws;                 // of noise a frame, for policies that see
    double jitter;             // strength of the change of a frame's colours
    double knee;               // of the normalizer, in the data's units
} Recipe;

static const Recipe recipes[] = {
    {"default", 160, 16, 1e-3, 0.0, 200, 0.1, 0.3, 0.5, 50, 6, 1, 0.0, 0.0},
    // Section 4.1; warm-up of Diffusion Policy
    {"paper", 1500, 32, 1e-4, 0.0, 500, 0.1, 0.1, 1.0, 50, 50, 1, 0.0, 0.0},
    {"observe", 40, 64, 1e-3, 0.0, 200, 0.1, 0.3, 0.5, 10, 6, 1, 1.0, 0.0},
    {"images", 0, 32, 1e-3, 0.0, 200, 0.1, 0.5, 0.5, 10, 10, 2, 1.0, 1.0},
};
enum { RECIPE_COUNT = sizeof recipes / sizeof *recipes };

enum { NOISE_STEPS = 100 };

// Sampling clips the clean sample a little outside the data's range of [-1, 1]: composition may
// well leave that range by some, and an error at high noise is bounded all the same.
static const double SAMPLE_CLIP = 1.5;

// A network that predicts noise says nothing about the clean sample where there is only noise.
static Spacing default_spacing(Prediction prediction)
{
    return prediction == PREDICT_EPSILON ? SPACING_LEADING : SPACING_TRAILING;
}

// ---- Options over the recipe --------------------------------------------------------------------

static FacetStatus find_recipe(const Recipe **recipe, const FacetTrainOptions *o)
{
    const char *names[RECIPE_COUNT];
    const char *name = o->recipe ? o->recipe : o->observe_count ? "observe" : recipes[0].name;
    for (int i = 0; i < RECIPE_COUNT; i++) {
        *recipe = &recipes[i];
        names[i] = recipes[i].name;
        if (strcmp(name, names[i]) == 0) return status_ok();
    }
    char text[200];
    text_unknown(text, sizeof text, "recipe", name, names, RECIPE_COUNT);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

static FacetStatus probability(double *out, const char *text, size_t length)
{
    char word[32], *end;
    snprintf(word, sizeof word, "%.*s", (int)(length < 31 ? length : 31), text);
    *out = strtod(word, &end);
    if (end == word || *end || !(*out >= 0.0 && *out <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "drop: expected a probability from 0 to 1, found '%s'", word);
    return status_ok();
}

// "0.1", or "track=0.1,size=0.3" over the values there already.
static FacetStatus parse_drop(double *drop, const FacetFactorSpace *space, const char *text)
{
    if (!strchr(text, '=')) {
        double all;
        TRY(probability(&all, text, strlen(text)));
        for (int f = 0; f < facet_factor_count(space); f++) drop[f] = all;
        return status_ok();
    }
    while (*text) {
        char name[FACET_FACTOR_NAME_SIZE];
        size_t length = strcspn(text, ","), sign = strcspn(text, "=");
        int factor;
        if (sign >= length)
            return status_fail(FACET_BAD_ARGUMENT,
                               "drop: expected FACTOR=PROBABILITY, found '%.*s'", (int)length,
                               text);
        snprintf(name, sizeof name, "%.*s", (int)(sign < sizeof name ? sign : sizeof name - 1),
                 text);
        TRY(facet_factor_find(&factor, space, name));
        TRY(probability(&drop[factor], text + sign + 1, length - sign - 1));
        text += length + (text[length] == ',');
    }
    return status_ok();
}

// What the recipe and the options say, into the policy's record and its way of sampling.
static FacetStatus set_record(double *knee, FacetPolicy *policy, const FacetTrainOptions *o)
{
    PolicyRecord *record = &policy->record;
    const Recipe *recipe;
    TRY(find_recipe(&recipe, o));
    bool factored =
        policy->method == FACET_POLICY_FACTORED || policy->method == FACET_POLICY_ORACLE;
    if (!factored && (o->drop || o->composed_weight > 0.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected no %s with the method %s, whose networks are not shown "
                           "factors",
                           o->drop ? "drop probability" : "composed loss",
                           facet_policy_method_name(policy->method));
    if (!(o->agreement_weight >= 0.0) || (o->agreement_weight > 0.0 && !(o->composed_weight > 0.0)))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected an agreement of 0 or more, beside a composed loss, found %g "
                           "beside %g",
                           o->agreement_weight, o->composed_weight);
    if (o->no_selection && !(factored && o->encoder))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy that sees and is shown factors, found one without a "
                           "selection to leave out");
    if (o->epochs < 0 || o->batch < 0 || !(o->rate >= 0.0) || !(o->composed_weight >= 0.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected epochs, batch, rate and composed loss of 0 or more, found "
                           "%d, %d, %g and %g",
                           o->epochs, o->batch, o->rate, o->composed_weight);
    *knee = o->knee > 0.0 ? o->knee : o->knee < 0.0 ? 0.0 : recipe->knee;
    policy->temperature = recipe->temperature;
    bool composed = o->composed_weight > 0.0;
    policy->default_steps = composed ? recipe->sample_steps_composed : recipe->sample_steps;
    snprintf(record->recipe, sizeof record->recipe, "%s", recipe->name);
    snprintf(record->command, sizeof record->command, "%s", o->command ? o->command : "");
    snprintf(record->version, sizeof record->version, "%s", o->version ? o->version : "");
    record->seed = o->seed;
    record->epochs = o->epochs ? o->epochs : recipe->epochs;
    record->batch = o->batch ? o->batch : recipe->batch;
    if (!record->epochs && !o->updates)
        return status_fail(FACET_BAD_ARGUMENT,
                           "the recipe '%s' does not say how long: expected epochs or updates",
                           recipe->name);
    record->rate = o->rate > 0.0 ? o->rate : recipe->rate;
    record->rate_floor = recipe->rate_floor;
    record->warmup = recipe->warmup;
    record->composed_weight = o->composed_weight;
    record->agreement_weight = o->agreement_weight;
    record->frozen_encoder = o->encoder_from != NULL;
    record->no_selection = o->no_selection;
    snprintf(record->frames, sizeof record->frames, "%s", o->frames ? o->frames : "");
    record->draws = o->draws ? o->draws : recipe->draws;
    record->jitter = o->jitter > 0.0 ? o->jitter : o->jitter < 0.0 ? 0.0 : recipe->jitter;
    double drop = composed ? recipe->drop_composed : recipe->drop;
    for (int f = 0; factored && f < facet_factor_count(policy->space); f++) record->drop[f] = drop;
    return o->drop ? parse_drop(record->drop, policy->space, o->drop) : status_ok();
}

static void set_config(TrainConfig *config, const FacetPolicy *policy)
{
    const PolicyRecord *record = &policy->record;
    *config = trainer_default();
    config->batch = record->batch;
    config->prediction = policy->prediction;
    config->composed_weight = record->composed_weight;
    config->agreement_weight = record->agreement_weight;
    config->rate = record->rate;
    config->rate_floor = record->rate_floor;
    config->draws = record->draws;
    config->no_selection = record->no_selection;
    for (int f = 0; f < policy->net->config.factors; f++) config->drop[f] = record->drop[f];
}

// ---- Demonstrations -----------------------------------------------------------------------------

static uint64_t hash_observed(uint64_t hash, const FacetDataset *dataset)
{
    for (int i = 0; i < dataset->observation_count; i++) {
        const FacetDatasetObservation *of = &dataset->observations[i];
        size_t rows = (size_t)dataset->rows;
        hash = hash_bytes(hash, of->name, strlen(of->name));
        if (of->values)
            hash = hash_bytes(hash, of->values, rows * (size_t)of->dim * sizeof *of->values);
        else
            hash = hash_bytes(hash, of->pixels, rows * (size_t)(of->width * of->height) * 3);
    }
    return hash;
}

// Of what training reads: factors, tasks, actions and observations.
FacetStatus training_data_hash(char *out, size_t size, const FacetDataset *dataset)
{
    uint64_t hash = HASH_START;
    char *space = factor_space_to_json(dataset->space);
    if (!space) return status_fail(FACET_NO_MEMORY, "out of memory for demonstrations");
    const int sizes[] = {dataset->demos, dataset->steps, dataset->action_dim};
    hash = hash_bytes(hash, space, strlen(space));
    hash = hash_bytes(hash, sizes, sizeof sizes);
    if (!dataset->steps)
        hash = hash_bytes(hash, dataset->starts,
                          (size_t)(dataset->demos + 1) * sizeof *dataset->starts);
    hash = hash_bytes(hash, dataset->tasks, (size_t)dataset->demos * sizeof *dataset->tasks);
    hash =
        hash_bytes(hash, dataset->actions,
                   (size_t)dataset->rows * (size_t)dataset->action_dim * sizeof *dataset->actions);
    hash = hash_observed(hash, dataset);
    free(space);
    snprintf(out, size, "%016llx", (unsigned long long)hash);
    return status_ok();
}

static FacetStatus set_data(PolicyRecord *record, const FacetDataset *dataset, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(record->data, sizeof record->data, "%.255s", slash ? slash + 1 : path);
    FacetStatus status = training_data_hash(record->data_hash, sizeof record->data_hash, dataset);
    return status.ok ? status : status_fail(status.code, "%s: %s", path, status.text);
}

static FacetStatus hold_out(FacetPolicy *policy, const FacetTrainOptions *options)
{
    for (int i = 0; i < options->hold_out_count; i++) {
        FacetFactorTask task;
        FacetStatus status = facet_factor_task_parse(&task, policy->space, options->hold_out[i],
                                                     FACET_FACTOR_MISSING_NULL);
        if (!status.ok) return status_fail(FACET_BAD_ARGUMENT, "hold-out %s", status.text);
        if (policy->method != FACET_POLICY_ORACLE)
            TRY(factor_split_add_matching(policy->held_out, task));
    }
    return status_ok();
}

// The tasks that are trained on and the channels' ranges.
static FacetStatus set_training(Training *t, const FacetDataset *dataset, const bool *mask)
{
    FacetPolicy *policy = t->policy;
    for (int i = 0; i < dataset->demos; i++)
        if (mask[i]) TRY(factor_split_add(policy->training, dataset->tasks[i]));
    int tasks = facet_factor_split_count(policy->training);
    if (tasks == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected demonstrations to train on, found all %d held out",
                           dataset->demos);
    if (tasks == 1 && policy->method != FACET_POLICY_BASELINE)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected demonstrations of two tasks or more to tell factors apart, "
                           "found one task");
    const Normalizer *given = t->ranges;
    TRY(given ? normalizer_create(&policy->normalizer, given->min, given->max, given->dim)
              : dataset_normalizer(&policy->normalizer, dataset, mask));
    policy->normalizer->knee = t->knee;
    return status_ok();
}

// What the policy takes beside its task: what the options name, or frames of files.
static FacetStatus set_observe(Training *t, const FacetDataset *dataset, const bool *mask)
{
    const FacetTrainOptions *o = t->options;
    if (o->observe_count) return training_observe(t, dataset, mask);
    if (!o->encoder) return status_ok();
    EncoderConfig encoder;
    TRY(encoder_config_find(&encoder, o->encoder));
    TRY(encoder_create(&t->policy->encoder, encoder));
    return policy_observe_frame(t->policy);
}

// The first demonstrations say what the policy is.
static FacetStatus set_policy(Training *t, const FacetDataset *dataset, const bool *mask)
{
    if (t->options->observe_count == 0 && dataset->steps == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected demonstrations of one length to learn whole, found several; "
                           "with observations (--observe) they are learned in chunks");
    TRY(set_training(t, dataset, mask));
    return set_observe(t, dataset, mask);
}

FacetStatus training_add(Training *t, const FacetDataset *dataset, bool whole)
{
    const FacetPolicy *policy = t->policy;
    int horizon = training_horizon(t, dataset);
    bool *mask = calloc((size_t)dataset->demos, sizeof *mask);
    if (!mask)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d demonstrations", dataset->demos);
    facet_dataset_select(mask, dataset, policy->held_out, false);
    FacetStatus status = t->samples.sources == 0 ? set_policy(t, dataset, mask) : status_ok();
    if (status.ok) status = samples_add(&t->samples, policy, horizon, dataset, mask, whole);
    int held_out = facet_dataset_select(mask, dataset, policy->held_out, true);
    if (status.ok && held_out && !t->images)
        status = samples_add(&t->checked[CHECK_HELD_OUT], policy, horizon, dataset, mask, whole);
    free(mask);
    return status;
}

FacetStatus training_add_valid(Training *t, const FacetDataset *dataset, const char *data)
{
    TrainConfig config = t->config;
    config.ranks = t->options->ranks;
    if (!trainer_validates(&config, t->policy->net->config.factors))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected one rank and a larger batch to look at the loss on '%.80s', "
                           "found %d rank%s and a batch of %d",
                           t->options->validate, facet_ranks_count(config.ranks),
                           facet_ranks_count(config.ranks) == 1 ? "" : "s", config.batch);
    bool *mask = calloc((size_t)dataset->demos, sizeof *mask), whole = !t->options->observe_count;
    if (!mask)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d demonstrations", dataset->demos);
    if (!factor_space_equal(dataset->space, t->policy->space) ||
        dataset->action_dim != t->samples.dim || (whole && dataset->steps != t->samples.horizon)) {
        free(mask);
        return status_fail(FACET_BAD_FILE,
                           "%s: expected demonstrations for validation like those for training",
                           data);
    }
    int count = facet_dataset_select(mask, dataset, t->policy->training, true);
    FacetStatus status =
        count ? samples_add(&t->checked[CHECK_VALID], t->policy, t->samples.horizon, dataset, mask,
                            whole)
              : status_fail(FACET_BAD_ARGUMENT,
                            "%s: expected demonstrations of training tasks for validation, found "
                            "none",
                            data);
    free(mask);
    return status;
}

// "1,2,4": one whole number a block.
static FacetStatus set_dilation(ScoreNetConfig *net, const char *text)
{
    const char *at = text;
    for (int l = 0; l < net->blocks; l++) {
        char *end;
        long dilation = strtol(at, &end, 10);
        bool last = l + 1 == net->blocks;
        if (end == at || *end != (last ? '\0' : ',') || dilation < 1 || dilation > net->horizon)
            return status_fail(FACET_BAD_ARGUMENT,
                               "dilation: expected %d numbers from 1 to %d, as 1,2,4, found "
                               "'%.60s'",
                               net->blocks, net->horizon, text);
        net->dilation[l] = (int)dilation;
        at = end + 1;
    }
    return status_ok();
}

// The default network, or for a policy that takes observations a lighter one, which runs in a loop.
static FacetStatus set_networks(Training *t, const FacetDataset *dataset)
{
    const FacetTrainOptions *o = t->options;
    ScoreNetConfig net = score_net_default();
    if (t->policy->observe) {
        net.blocks = 3;
        net.channels = 96;
        net.embed = 32;
    }
    net.horizon = t->samples.horizon;
    net.dim = dataset->action_dim;
    if (o->blocks) net.blocks = o->blocks;
    if (o->channels) net.channels = net.cond = o->channels;
    if (o->embed) net.embed = o->embed;
    if (o->dilation) TRY(set_dilation(&net, o->dilation));
    net.no_position = o->no_position;
    TRY(policy_build(t->policy, net));
    return policy_allocate(t->policy);
}

FacetStatus training_set_up(Training *t, const FacetDataset *dataset, const char *data, bool whole)
{
    const FacetTrainOptions *o = t->options;
    FacetPolicy *policy = t->policy = calloc(1, sizeof *policy);
    if (!policy) return status_fail(FACET_NO_MEMORY, "out of memory for a policy");
    policy->method = o->method;
    policy->clip = SAMPLE_CLIP;
    TRY(schedule_cosine(&policy->schedule, NOISE_STEPS));
    TRY(prediction_parse(&policy->prediction, o->predict ? o->predict : "v"));
    policy->spacing = default_spacing(policy->prediction);
    TRY(factor_space_copy(&policy->space, dataset->space));
    TRY(factor_split_create(&policy->training, policy->space));
    TRY(factor_split_create(&policy->held_out, policy->space));
    TRY(set_record(&t->knee, policy, o));
    TRY(hold_out(policy, o));
    FacetStatus status = training_add(t, dataset, whole);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: %s", data, status.text);
    TRY(set_data(&policy->record, dataset, data));
    TRY(set_networks(t, dataset));
    set_config(&t->config, policy);
    return status_ok();
}
