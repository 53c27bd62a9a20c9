// An encoder's settings as JSON, for the metadata of files.
#include "policy/parts.h"

#include <string.h>

// The numbers of a config, but those a stage.
typedef struct Setting {
    const char *key;
    int *value;
} Setting;

enum { SETTINGS = 10 };

static void list_settings(Setting settings[SETTINGS], EncoderConfig *config)
{
    const Setting all[SETTINGS] = {
        {"width", &config->width},
        {"height", &config->height},
        {"shrink", &config->shrink},
        {"stem_channels", &config->stem_channels},
        {"stem_kernel", &config->stem_kernel},
        {"stem_stride", &config->stem_stride},
        {"blocks", &config->blocks},
        {"groups", &config->groups},
        {"frozen", &config->frozen},
        {"features", &config->features},
    };
    memcpy(settings, all, sizeof all);
}

Json *policy_encoder_to_json(const EncoderConfig *config)
{
    EncoderConfig copy = *config;
    Setting settings[SETTINGS];
    Json *out = json_object(), *channels = json_array(), *strides = json_array();
    list_settings(settings, &copy);
    for (int i = 0; i < SETTINGS; i++) json_set_number(out, settings[i].key, *settings[i].value);
    json_set_bool(out, "stem_pool", config->stem_pool);
    json_set_bool(out, "flat", config->flat);
    json_set_bool(out, "norm_features", config->norm_features);
    for (int s = 0; s < config->stages; s++) {
        json_push_number(channels, config->channels[s]);
        json_push_number(strides, config->strides[s]);
    }
    json_set(out, "channels", channels);
    json_set(out, "strides", strides);
    return out;
}

static FacetStatus whole(int *out, const JsonRef *at)
{
    double value;
    TRY(json_number(&value, at, 0.0, 1 << 20));
    *out = (int)value;
    return *out == value ? status_ok() : json_wrong(at, "a whole number");
}

static FacetStatus read_stages(int *stages, int out[ENCODER_STAGES_MAX], const JsonRef *root,
                               const char *key)
{
    JsonRef array, at;
    TRY(json_member(&array, root, key));
    TRY(json_length(stages, &array));
    if (!json_is_array(&array) || *stages < 1 || *stages > ENCODER_STAGES_MAX)
        return json_wrong(&array, "1 to 4 numbers");
    for (int s = 0; s < *stages; s++) {
        TRY(json_element(&at, &array, s));
        TRY(whole(&out[s], &at));
    }
    return status_ok();
}

FacetStatus policy_encoder_from_json(EncoderConfig *config, const JsonRef *root)
{
    Setting settings[SETTINGS];
    JsonRef at;
    int strides;
    *config = (EncoderConfig){0};
    list_settings(settings, config);
    for (int i = 0; i < SETTINGS; i++) {
        TRY(json_member(&at, root, settings[i].key));
        TRY(whole(settings[i].value, &at));
    }
    TRY(json_member_bool(&config->stem_pool, root, "stem_pool"));
    TRY(json_member_bool(&config->flat, root, "flat"));
    TRY(json_member_bool(&config->norm_features, root, "norm_features"));
    TRY(read_stages(&config->stages, config->channels, root, "channels"));
    TRY(read_stages(&strides, config->strides, root, "strides"));
    if (strides == config->stages) return status_ok();
    TRY(json_member(&at, root, "strides"));
    return json_wrong(&at, "as many strides as channels");
}
