// A policy as a safetensors file: settings in the metadata, one tensor a row of the net's table.
#include "base/isa.h"
#include "factor/factor.h"
#include "policy/parts.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACT_SIZE = 4096 };

// ---- Settings to texts --------------------------------------------------------------------------

static void set_number(Json *metadata, const char *key, double value)
{
    char text[32];
    for (int precision = 6; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) break;
    }
    json_set_string(metadata, key, text);
}

static void set_json(Json *metadata, const char *key, Json *value)
{
    char *text = json_line(value);
    json_free(value);
    json_set_string(metadata, key, text);
    free(text);
}

static Json *numbers(const double *values, int count)
{
    Json *array = json_array();
    for (int i = 0; i < count; i++) json_push_number(array, values[i]);
    return array;
}

static Json *tasks_of(const FacetFactorSplit *split)
{
    Json *array = json_array();
    char text[FACET_FACTOR_TASK_TEXT];
    for (int i = 0; i < facet_factor_split_count(split); i++) {
        facet_factor_task_format(text, factor_split_space(split), facet_factor_split_task(split, i),
                                 FACET_FACTOR_STYLE_VALUES);
        json_push_string(array, text);
    }
    return array;
}

static Json *network_of(const ScoreNetConfig *config)
{
    Json *network = json_object();
    json_set_number(network, "horizon", config->horizon);
    json_set_number(network, "dim", config->dim);
    json_set_number(network, "blocks", config->blocks);
    json_set_number(network, "channels", config->channels);
    json_set_number(network, "cond", config->cond);
    json_set_number(network, "time_width", config->time_width);
    json_set_number(network, "embed", config->embed);
    if (score_is_plain(config)) return network;
    Json *dilation = json_array();
    for (int l = 0; l < config->blocks; l++)
        json_push_number(dilation, score_dilation(config, 2 * l));
    json_set(network, "dilation", dilation);
    json_set_bool(network, "position", !config->no_position);
    return network;
}

// The second has dilations and may lack the position embedding. A reader of the first alone refuses
// it, and a network that needs neither is written as the first.
static const char *const architectures[] = {"score-convnet 1", "score-convnet 2"};

// What becomes of the encoder in training.
static const char *const encoder_words[] = {"trained", "frozen"};

static void set_record(Json *metadata, const PolicyRecord *record, int factors, bool sees)
{
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, record->seed);
    json_set_string(metadata, "train_recipe", record->recipe);
    json_set_string(metadata, "train_seed", seed);
    set_number(metadata, "train_epochs", record->epochs);
    set_number(metadata, "train_batch", record->batch);
    set_number(metadata, "train_rate", record->rate);
    set_number(metadata, "train_rate_floor", record->rate_floor);
    set_number(metadata, "train_warmup", (double)record->warmup);
    set_json(metadata, "train_drop", numbers(record->drop, factors));
    set_number(metadata, "train_composed_weight", record->composed_weight);
    if (record->agreement_weight > 0.0)
        set_number(metadata, "train_agreement_weight", record->agreement_weight);
    if (sees) {
        set_number(metadata, "train_draws", record->draws);
        set_number(metadata, "train_jitter", record->jitter);
        json_set_string(metadata, "train_encoder", encoder_words[record->frozen_encoder]);
        if (record->frames[0]) json_set_string(metadata, "train_frames", record->frames);
        if (record->no_selection) json_set_string(metadata, "train_selection", "off");
    }
    if (record->grown[0]) json_set_string(metadata, "train_new_value", record->grown);
    json_set_string(metadata, "train_data_hash", record->data_hash);
    json_set_string(metadata, "train_data", record->data);
    json_set_string(metadata, "train_command", record->command);
    json_set_string(metadata, "facet_version", record->version);
    set_number(metadata, "train_updates", (double)record->updates);
    set_number(metadata, "train_loss", record->loss);
}

Json *policy_metadata(const FacetPolicy *policy, const char *format)
{
    Json *metadata = json_object(), *ranges = json_object();
    json_set_string(metadata, "format", format);
    json_set_string(metadata, "architecture", architectures[!score_is_plain(&policy->net->config)]);
    json_set_string(metadata, "method", facet_policy_method_name(policy->method));
    char *space = factor_space_to_json(policy->space);
    json_set_string(metadata, "factors", space);
    free(space);
    set_json(metadata, "training_tasks", tasks_of(policy->training));
    set_json(metadata, "held_out_tasks", tasks_of(policy->held_out));
    json_set(ranges, "min", numbers(policy->normalizer->min, policy->normalizer->dim));
    json_set(ranges, "max", numbers(policy->normalizer->max, policy->normalizer->dim));
    if (policy->normalizer->knee > 0.0) json_set_number(ranges, "knee", policy->normalizer->knee);
    set_json(metadata, "normalizer", ranges);
    set_json(metadata, "network", network_of(&policy->net->config));
    json_set_string(metadata, "noise_schedule", "cosine");
    set_number(metadata, "noise_steps", policy->schedule.steps);
    json_set_string(metadata, "predict", prediction_name(policy->prediction));
    json_set_string(metadata, "sample_spacing", spacing_name(policy->spacing));
    set_number(metadata, "sample_clip", policy->clip);
    set_number(metadata, "sample_steps", policy->default_steps);
    set_number(metadata, "sample_temperature", policy->temperature);
    if (policy->observe && !policy_observes_frame(policy))
        set_json(metadata, "observe", observe_to_json(policy->observe));
    if (policy->encoder)
        set_json(metadata, "encoder", policy_encoder_to_json(encoder_config(policy->encoder)));
    if (policy->router) set_json(metadata, "router", policy_router_to_json(policy));
    set_record(metadata, &policy->record, facet_factor_count(policy->space), policy->encoder);
    return metadata;
}

// ---- Texts to settings --------------------------------------------------------------------------

// The metadata of a file, with its name for messages.
typedef struct Facts {
    const Safetensors *file;
    const char *path;
} Facts;

static FacetStatus get_text(const char **text, const Facts *facts, const char *key)
{
    *text = safetensors_metadata(facts->file, key);
    return *text ? status_ok()
                 : status_fail(FACET_BAD_FILE, "%s: expected '%s' in the metadata, found none",
                               facts->path, key);
}

static FacetStatus expect_text(const Facts *facts, const char *key, const char *expected)
{
    const char *text;
    TRY(get_text(&text, facts, key));
    if (strcmp(text, expected) == 0) return status_ok();
    return status_fail(FACET_BAD_FILE, "%s: %s: expected '%s', found '%.60s'", facts->path, key,
                       expected, text);
}

static FacetStatus copy_text(char *out, size_t size, const Facts *facts, const char *key)
{
    const char *text;
    TRY(get_text(&text, facts, key));
    if (strlen(text) >= size)
        return status_fail(FACET_BAD_FILE, "%s: %s: expected less than %zu bytes", facts->path, key,
                           size);
    strcpy(out, text);
    return status_ok();
}

static FacetStatus get_number(double *out, const Facts *facts, const char *key, double min,
                              double max)
{
    const char *text;
    char *end;
    TRY(get_text(&text, facts, key));
    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= min && *out <= max))
        return status_fail(FACET_BAD_FILE, "%s: %s: expected a number from %g to %g, found '%.40s'",
                           facts->path, key, min, max, text);
    return status_ok();
}

static FacetStatus get_whole(long *out, const Facts *facts, const char *key, long min, long max)
{
    double value;
    TRY(get_number(&value, facts, key, (double)min, (double)max));
    *out = (long)value;
    if ((double)*out != value)
        return status_fail(FACET_BAD_FILE, "%s: %s: expected a whole number, found %g", facts->path,
                           key, value);
    return status_ok();
}

// Parses a JSON text of the metadata; `source` (FACT_SIZE bytes) names it in messages and must
// outlive the document.
static FacetStatus get_json(Json **document, JsonRef *root, char *source, const Facts *facts,
                            const char *key)
{
    const char *text;
    *document = NULL;
    TRY(get_text(&text, facts, key));
    snprintf(source, FACT_SIZE, "%s: %s", facts->path, key);
    TRY(json_parse(document, text, source));
    *root = json_root(*document, source);
    return status_ok();
}

static FacetStatus read_numbers(double *out, int count, const JsonRef *array)
{
    JsonRef at;
    int found;
    TRY(json_length(&found, array));
    if (found != count) {
        char expected[40];
        snprintf(expected, sizeof expected, "%d numbers", count);
        return json_wrong(array, expected);
    }
    for (int i = 0; i < count; i++) {
        TRY(json_element(&at, array, i));
        TRY(json_number(&out[i], &at, -INFINITY, INFINITY));
    }
    return status_ok();
}

static FacetStatus get_tasks(FacetFactorSplit **split, const Facts *facts, const char *key,
                             const FacetFactorSpace *space)
{
    char source[FACT_SIZE];
    Json *document;
    JsonRef root, at = {0};
    int count = 0;
    TRY(factor_split_create(split, space));
    FacetStatus status = get_json(&document, &root, source, facts, key);
    if (status.ok) status = json_length(&count, &root);
    while (status.ok && json_next(&at, &root)) {
        FacetFactorTask task;
        const char *text = json_chars(&at);
        if (!text) status = json_wrong(&at, "a task");
        if (status.ok)
            status = facet_factor_task_parse(&task, space, text, FACET_FACTOR_MISSING_REFUSED);
        if (status.ok) status = factor_split_add(*split, task);
        if (!status.ok)
            status = status_fail(FACET_BAD_FILE, "%s: %s: %s", facts->path, key, status.text);
    }
    json_free(document);
    return status;
}

static FacetStatus read_normalizer(Normalizer **normalizer, const JsonRef *root)
{
    enum { DIM_MAX = 1024 };
    double ranges[2][DIM_MAX];
    JsonRef min, max;
    int dim;
    TRY(json_member(&min, root, "min"));
    TRY(json_member(&max, root, "max"));
    TRY(json_length(&dim, &min));
    if (dim < 1 || dim > DIM_MAX) return json_wrong(&min, "1 to 1024 numbers");
    TRY(read_numbers(ranges[0], dim, &min));
    TRY(read_numbers(ranges[1], dim, &max));
    double knee = 0.0;
    if (json_has(root, "knee")) TRY(json_member_number(&knee, root, "knee", 0.0, 1e300));
    FacetStatus status = normalizer_create(normalizer, ranges[0], ranges[1], dim);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: %s", root->file, status.text);
    (*normalizer)->knee = knee;
    return status_ok();
}

// What only the second architecture has.
static FacetStatus read_shape(ScoreNetConfig *config, const JsonRef *root)
{
    double dilation[SCORE_BLOCKS_MAX];
    JsonRef list;
    bool position;
    TRY(json_member(&list, root, "dilation"));
    if (config->blocks > SCORE_BLOCKS_MAX) return json_wrong(root, "64 blocks or fewer");
    TRY(read_numbers(dilation, config->blocks, &list));
    for (int l = 0; l < config->blocks; l++) {
        if (!(dilation[l] >= 1.0 && dilation[l] <= 4096.0) || dilation[l] != floor(dilation[l]))
            return json_wrong(&list, "whole numbers from 1 to 4096");
        config->dilation[l] = (int)dilation[l];
    }
    TRY(json_member_bool(&position, root, "position"));
    config->no_position = !position;
    return status_ok();
}

static FacetStatus read_network(ScoreNetConfig *config, const JsonRef *root, int architecture)
{
    const struct {
        const char *key;
        int *value;
    } sizes[] = {{"horizon", &config->horizon}, {"dim", &config->dim},
                 {"blocks", &config->blocks},   {"channels", &config->channels},
                 {"cond", &config->cond},       {"time_width", &config->time_width},
                 {"embed", &config->embed}};
    *config = (ScoreNetConfig){0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double value;
        TRY(json_member_number(&value, root, sizes[i].key, 1.0, 4096.0));
        *sizes[i].value = (int)value;
    }
    return architecture > 0 ? read_shape(config, root) : status_ok();
}

static FacetStatus get_architecture(int *architecture, const Facts *facts)
{
    const char *text;
    TRY(get_text(&text, facts, "architecture"));
    for (*architecture = 0; *architecture < 2; ++*architecture)
        if (strcmp(text, architectures[*architecture]) == 0) return status_ok();
    return status_fail(FACET_BAD_FILE, "%s: architecture: expected '%s' or '%s', found '%.60s'",
                       facts->path, architectures[0], architectures[1], text);
}

static FacetStatus get_image_record(PolicyRecord *record, const Facts *facts)
{
    const char *text;
    long draws;
    TRY(get_whole(&draws, facts, "train_draws", 1, 1 << 20));
    TRY(get_number(&record->jitter, facts, "train_jitter", 0.0, 1e9));
    TRY(get_text(&text, facts, "train_encoder"));
    if (safetensors_metadata(facts->file, "train_frames"))
        TRY(copy_text(record->frames, sizeof record->frames, facts, "train_frames"));
    record->no_selection = safetensors_metadata(facts->file, "train_selection") != NULL;
    record->draws = (int)draws;
    record->frozen_encoder = strcmp(text, encoder_words[1]) == 0;
    if (record->frozen_encoder || strcmp(text, encoder_words[0]) == 0) return status_ok();
    return status_fail(FACET_BAD_FILE,
                       "%s: train_encoder: expected trained or frozen, found '%.40s'", facts->path,
                       text);
}

static FacetStatus get_record(PolicyRecord *record, const Facts *facts, int factors, bool sees)
{
    const char *text;
    char *end, source[FACT_SIZE];
    long epochs, batch;
    TRY(copy_text(record->recipe, sizeof record->recipe, facts, "train_recipe"));
    TRY(copy_text(record->command, sizeof record->command, facts, "train_command"));
    TRY(copy_text(record->data, sizeof record->data, facts, "train_data"));
    TRY(copy_text(record->data_hash, sizeof record->data_hash, facts, "train_data_hash"));
    TRY(copy_text(record->version, sizeof record->version, facts, "facet_version"));
    TRY(get_text(&text, facts, "train_seed"));
    errno = 0;
    record->seed = strtoull(text, &end, 10);
    if (errno || end == text || *end)
        return status_fail(FACET_BAD_FILE, "%s: train_seed: expected a whole number, found '%.40s'",
                           facts->path, text);
    if (safetensors_metadata(facts->file, "train_new_value"))
        TRY(copy_text(record->grown, sizeof record->grown, facts, "train_new_value"));
    TRY(get_whole(&epochs, facts, "train_epochs", 0, 1 << 30));
    TRY(get_whole(&batch, facts, "train_batch", 1, 1 << 20));
    TRY(get_whole(&record->warmup, facts, "train_warmup", 0, 1 << 30));
    TRY(get_whole(&record->updates, facts, "train_updates", 0, LONG_MAX / 2));
    TRY(get_number(&record->rate, facts, "train_rate", 0.0, 1e9));
    TRY(get_number(&record->rate_floor, facts, "train_rate_floor", 0.0, 1.0));
    TRY(get_number(&record->composed_weight, facts, "train_composed_weight", 0.0, 1e9));
    if (safetensors_metadata(facts->file, "train_agreement_weight"))
        TRY(get_number(&record->agreement_weight, facts, "train_agreement_weight", 0.0, 1e9));
    TRY(get_number(&record->loss, facts, "train_loss", 0.0, 1e300));
    record->epochs = (int)epochs;
    record->batch = (int)batch;
    record->draws = 1;
    if (sees) TRY(get_image_record(record, facts));
    Json *document;
    JsonRef root;
    FacetStatus status = get_json(&document, &root, source, facts, "train_drop");
    if (status.ok) status = read_numbers(record->drop, factors, &root);
    json_free(document);
    return status;
}

static FacetStatus get_sampling(FacetPolicy *policy, const Facts *facts)
{
    const char *text;
    long steps;
    TRY(expect_text(facts, "noise_schedule", "cosine"));
    TRY(get_whole(&steps, facts, "noise_steps", 1, SCHEDULE_STEPS_MAX));
    TRY(schedule_cosine(&policy->schedule, (int)steps));
    TRY(get_text(&text, facts, "predict"));
    FacetStatus status = prediction_parse(&policy->prediction, text);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: predict: %s", facts->path, status.text);
    TRY(get_text(&text, facts, "sample_spacing"));
    status = spacing_parse(&policy->spacing, text);
    if (!status.ok)
        return status_fail(FACET_BAD_FILE, "%s: sample_spacing: %s", facts->path, status.text);
    TRY(get_number(&policy->clip, facts, "sample_clip", 0.0, 1e9));
    TRY(get_whole(&steps, facts, "sample_steps", 1, policy->schedule.steps));
    policy->default_steps = (int)steps;
    policy->temperature = 1.0; // of files that have none
    if (safetensors_metadata(facts->file, "sample_temperature"))
        TRY(get_number(&policy->temperature, facts, "sample_temperature", 0.0, 10.0));
    return status_ok();
}

// A policy without this setting does not see.
static FacetStatus get_encoder(FacetPolicy *policy, const Facts *facts)
{
    char source[FACT_SIZE];
    Json *document;
    JsonRef root;
    EncoderConfig config;
    if (!safetensors_metadata(facts->file, "encoder")) return status_ok();
    FacetStatus status = get_json(&document, &root, source, facts, "encoder");
    if (status.ok) status = policy_encoder_from_json(&config, &root);
    json_free(document);
    if (!status.ok) return status;
    status = encoder_create(&policy->encoder, config);
    return status.ok ? status : status_fail(FACET_BAD_FILE, "%s: %s", facts->path, status.text);
}

// A policy that sees and says nothing of observations takes one frame of a camera.
static FacetStatus get_observe(FacetPolicy *policy, const Facts *facts)
{
    char source[FACT_SIZE];
    Json *document;
    JsonRef root;
    if (!safetensors_metadata(facts->file, "observe"))
        return policy->encoder ? policy_observe_frame(policy) : status_ok();
    FacetStatus status = get_json(&document, &root, source, facts, "observe");
    if (status.ok) status = observe_from_json(&policy->observe, &root);
    json_free(document);
    if (status.ok) status = policy_check_observe(policy);
    return status.ok || status.code == FACET_BAD_FILE
               ? status
               : status_fail(FACET_BAD_FILE, "%s: observe: %s", facts->path, status.text);
}

// A policy without this setting has no router.
static FacetStatus get_router(FacetPolicy *policy, const Facts *facts)
{
    char source[FACT_SIZE];
    Json *document;
    JsonRef root;
    if (!safetensors_metadata(facts->file, "router")) return status_ok();
    FacetStatus status = get_json(&document, &root, source, facts, "router");
    if (status.ok) status = policy_router_from_json(policy, &root);
    json_free(document);
    return status.ok || status.code == FACET_BAD_FILE
               ? status
               : status_fail(FACET_BAD_FILE, "%s: %s", facts->path, status.text);
}

static FacetStatus get_all(FacetPolicy *policy, const Facts *facts)
{
    const char *text;
    char source[FACT_SIZE];
    Json *document;
    JsonRef root;
    ScoreNetConfig config;
    int architecture = 0;
    TRY(expect_text(facts, "format", POLICY_FORMAT));
    TRY(get_architecture(&architecture, facts));
    TRY(get_text(&text, facts, "method"));
    FacetStatus status = policy_method_parse(&policy->method, text);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: method: %s", facts->path, status.text);
    TRY(get_text(&text, facts, "factors"));
    snprintf(source, sizeof source, "%s: factors", facts->path);
    TRY(factor_space_from_json(&policy->space, text, source));
    TRY(get_tasks(&policy->training, facts, "training_tasks", policy->space));
    TRY(get_tasks(&policy->held_out, facts, "held_out_tasks", policy->space));
    TRY(get_sampling(policy, facts));
    TRY(get_encoder(policy, facts));
    TRY(get_observe(policy, facts));
    TRY(get_record(&policy->record, facts, facet_factor_count(policy->space), policy->encoder));
    status = get_json(&document, &root, source, facts, "normalizer");
    if (status.ok) status = read_normalizer(&policy->normalizer, &root);
    json_free(document);
    if (!status.ok) return status;
    status = get_json(&document, &root, source, facts, "network");
    if (status.ok) status = read_network(&config, &root, architecture);
    json_free(document);
    if (!status.ok) return status;
    if (policy->observe && policy->observe->execute > config.horizon)
        return status_fail(FACET_BAD_FILE,
                           "%s: observe: expected at most %d actions to execute, the horizon, "
                           "found %d",
                           facts->path, config.horizon, policy->observe->execute);
    if (config.dim != policy->normalizer->dim)
        return status_fail(FACET_BAD_FILE, "%s: expected ranges of %d channels, found %d",
                           facts->path, config.dim, policy->normalizer->dim);
    status = policy_build(policy, config);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: %s", facts->path, status.text);
    return get_router(policy, facts);
}

// ---- Weights ------------------------------------------------------------------------------------

static void tensor_name(char out[SAFETENSORS_NAME_SIZE], const char *prefix, const Tensor *tensor)
{
    snprintf(out, SAFETENSORS_NAME_SIZE, "%.200s%s", prefix, tensor->name);
}

void policy_sources(TensorSource *sources, const TensorTable *table, const float *params,
                    TensorType type, const char *prefix)
{
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        sources[i] =
            (TensorSource){.type = type, .rank = tensor->rank, .data = params + tensor->offset};
        for (int d = 0; d < tensor->rank; d++) sources[i].shape[d] = tensor->shape[d];
        tensor_name(sources[i].name, prefix, tensor);
    }
}

// Whether the file has a block of these tensors.
static FacetStatus expect_block(const TensorTable *table, const Safetensors *file,
                                const char *prefix)
{
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        char name[SAFETENSORS_NAME_SIZE];
        tensor_name(name, prefix, tensor);
        TRY(safetensors_expect(file, name, tensor->rank, tensor->shape));
    }
    return status_ok();
}

FacetStatus policy_read_block(float *params, const TensorTable *table, const Safetensors *file,
                              const char *prefix)
{
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        char name[SAFETENSORS_NAME_SIZE];
        tensor_name(name, prefix, tensor);
        TRY(safetensors_floats(params + tensor->offset, file, name, tensor->rank, tensor->shape));
    }
    return status_ok();
}

// ---- Files --------------------------------------------------------------------------------------

static int tensor_count(const FacetPolicy *policy)
{
    int encoder = policy->encoder ? encoder_table(policy->encoder)->count : 0;
    int router = policy->router ? policy->router->table.count : 0;
    return policy->networks * (policy->net->table.count + encoder) + router;
}

static FacetStatus read_weights(FacetPolicy *policy, const Safetensors *file, const char *path)
{
    char prefix[SAFETENSORS_NAME_SIZE];
    for (int i = 0; i < policy->networks; i++) {
        policy_prefix(prefix, policy, i);
        TRY(expect_block(&policy->net->table, file, prefix));
        policy_encoder_prefix(prefix, policy, i);
        if (policy->encoder) TRY(expect_block(encoder_table(policy->encoder), file, prefix));
    }
    if (policy->router) TRY(expect_block(&policy->router->table, file, ""));
    int expected = tensor_count(policy);
    if (safetensors_count(file) != expected)
        return status_fail(FACET_BAD_FILE,
                           "%s: expected the %d tensors of its architecture, found %d", path,
                           expected, safetensors_count(file));
    TRY(policy_allocate(policy));
    for (int i = 0; i < policy->networks; i++) {
        policy_prefix(prefix, policy, i);
        TRY(policy_read_block(policy->params[i], &policy->net->table, file, prefix));
        policy_encoder_prefix(prefix, policy, i);
        if (policy->encoder)
            TRY(policy_read_block(policy->encoder_params[i], encoder_table(policy->encoder), file,
                                  prefix));
    }
    if (!policy->router) return status_ok();
    return policy_read_block(policy->router_params, &policy->router->table, file, "");
}

FacetStatus facet_policy_load(FacetPolicy **policy, const char *path)
{
    *policy = NULL;
    TRY(isa_status());
    Safetensors *file;
    TRY(safetensors_read(&file, path));
    *policy = calloc(1, sizeof **policy);
    FacetStatus status = *policy ? get_all(*policy, &(Facts){file, path})
                                 : status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    if (status.ok) status = read_weights(*policy, file, path);
    if (!status.ok) {
        facet_policy_destroy(*policy);
        *policy = NULL;
    }
    safetensors_free(file);
    return status;
}

FacetStatus policy_save(const FacetPolicy *policy, const char *path, TensorType weights)
{
    int tensors = policy->net->table.count, all = policy->networks * tensors;
    TensorSource *sources = calloc((size_t)tensor_count(policy), sizeof *sources);
    if (!sources) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    for (int i = 0; i < policy->networks; i++) {
        char prefix[SAFETENSORS_NAME_SIZE];
        policy_prefix(prefix, policy, i);
        policy_sources(sources + i * tensors, &policy->net->table, policy->params[i], weights,
                       prefix);
        if (!policy->encoder) continue;
        const TensorTable *encoder = encoder_table(policy->encoder);
        policy_encoder_prefix(prefix, policy, i);
        policy_sources(sources + all + i * encoder->count, encoder, policy->encoder_params[i],
                       weights, prefix);
    }
    if (policy->router)
        policy_sources(sources + tensor_count(policy) - policy->router->table.count,
                       &policy->router->table, policy->router_params, weights, "");
    FacetStatus status = safetensors_write(path, policy_metadata(policy, POLICY_FORMAT), sources,
                                           tensor_count(policy));
    free(sources);
    return status;
}
