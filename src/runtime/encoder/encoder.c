// The encoder's shape and its table of tensors (see encoder/encoder.h).
#include "encoder/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// He et al. 2016, with this many groups of its norm.
#define RESNET18(norm_groups)                                                                      \
    {                                                                                              \
        .width = 320, .height = 240, .shrink = 1, .stem_channels = 64, .stem_kernel = 7,           \
        .stem_stride = 2, .stem_pool = true, .stages = 4, .channels = {64, 128, 256, 512},         \
        .strides = {1, 2, 2, 2}, .blocks = 2, .groups = (norm_groups), .frozen = 3,                \
        .features = 128                                                                            \
    }

// Of a frame of 320x240 shrunk by this; the last stage's stride leaves 10x8 places either way.
#define SMALL(shrink_by, last_stride)                                                              \
    {                                                                                              \
        .width = 320 / (shrink_by), .height = 240 / (shrink_by), .shrink = (shrink_by),            \
        .stem_channels = 16, .stem_kernel = 5, .stem_stride = 2, .stages = 3,                      \
        .channels = {32, 64, 64}, .strides = {2, 2, (last_stride)}, .blocks = 1, .groups = 8,      \
        .flat = true, .norm_features = true, .features = 256                                       \
    }

static const struct {
    const char *name;
    EncoderConfig config;
} known[] = {
    {"small", SMALL(4, 1)},
    {"small160", SMALL(2, 2)},
    {"resnet18", RESNET18(32)},
    {"resnet18-torchvision", RESNET18(0)},
};

enum { KNOWN = sizeof known / sizeof known[0] };

FacetStatus encoder_config_find(EncoderConfig *config, const char *name)
{
    char names[256] = "";
    for (int i = 0; i < KNOWN; i++) {
        if (strcmp(known[i].name, name) == 0) {
            *config = known[i].config;
            return status_ok();
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", known[i].name);
    }
    return status_fail(FACET_NOT_FOUND, "no encoder '%s': %s", name, names);
}

bool encoder_config_equal(const EncoderConfig *a, const EncoderConfig *b)
{
    bool same = a->width == b->width && a->height == b->height && a->shrink == b->shrink &&
                a->stem_channels == b->stem_channels && a->stem_kernel == b->stem_kernel &&
                a->stem_stride == b->stem_stride && a->stem_pool == b->stem_pool &&
                a->stages == b->stages && a->blocks == b->blocks && a->groups == b->groups &&
                a->flat == b->flat && a->norm_features == b->norm_features &&
                a->frozen == b->frozen && a->features == b->features;
    for (int s = 0; same && s < a->stages; s++)
        same = a->channels[s] == b->channels[s] && a->strides[s] == b->strides[s];
    return same;
}

// ---- Checks -------------------------------------------------------------------------------------

static FacetStatus expect(const char *what, int found, int low, int high)
{
    if (found < low || found > high)
        return status_fail(FACET_BAD_ARGUMENT, "encoder: expected %s from %d to %d, found %d", what,
                           low, high, found);
    return status_ok();
}

static FacetStatus expect_channels(const char *what, int found, int groups)
{
    TRY(expect(what, found, 1, IMAGE_CHANNELS_MAX));
    if (groups && found % groups)
        return status_fail(FACET_BAD_ARGUMENT,
                           "encoder: expected %s that %d groups divide, found %d", what, groups,
                           found);
    return status_ok();
}

static FacetStatus expect_stride(const char *what, int found)
{
    if (found != 1 && found != 2 && found != 4)
        return status_fail(FACET_BAD_ARGUMENT, "encoder: expected %s of 1, 2 or 4, found %d", what,
                           found);
    return status_ok();
}

static FacetStatus check(const EncoderConfig *c)
{
    TRY(expect("a width", c->width, 8, 2048));
    TRY(expect("a height", c->height, 8, 2048));
    TRY(expect("a shrink factor", c->shrink, 1, 16));
    TRY(expect("groups", c->groups, 0, IMAGE_CHANNELS_MAX));
    TRY(expect_channels("channels of the stem", c->stem_channels, c->groups));
    TRY(expect("a kernel of the stem", c->stem_kernel, 1, 7));
    TRY(expect_stride("a stride of the stem", c->stem_stride));
    TRY(expect("stages", c->stages, 1, ENCODER_STAGES_MAX));
    TRY(expect("blocks a stage", c->blocks, 1, ENCODER_BLOCKS_MAX));
    TRY(expect("frozen parts", c->frozen, 0, c->stages + 1));
    TRY(expect("features", c->features, 1, 65536));
    for (int s = 0; s < c->stages; s++) {
        TRY(expect_channels("channels of a stage", c->channels[s], c->groups));
        TRY(expect_stride("a stride of a stage", c->strides[s]));
    }
    return status_ok();
}

// ---- Declarations -------------------------------------------------------------------------------

// The declarations of an encoder, and the encoder that they fill.
typedef struct Declare {
    Encoder *encoder;
    TensorDeclare tensors;
} Declare;

static size_t declare(Declare *d, const char *name, int a, int b, int c, TensorInit init,
                      double scale, bool decay)
{
    return tensor_declare(&d->tensors, name, a, b, c, init, scale, decay);
}

static size_t declare_part(Declare *d, const char *unit, const char *part, int a, int b, int c,
                           TensorInit init, double scale, bool decay)
{
    char name[TENSOR_NAME_MAX];
    snprintf(name, sizeof name, "%s.%s", unit, part);
    return declare(d, name, a, b, c, init, scale, decay);
}

// A convolution starts as He et al. 2015 for ReLU: normal with variance 2 / fan in. Returns the
// unit's index.
static int add_unit(Declare *d, const char *name, int level, ImageShape in, Conv2d conv,
                    double gamma)
{
    Encoder *e = d->encoder;
    int taps = conv.kernel * conv.kernel, index = e->unit_count++;
    EncoderUnit *unit = &e->units[index];
    *unit = (EncoderUnit){.conv = conv,
                          .in = in,
                          .out = image_bordered(conv2d_shape(in, conv), ENCODER_BORDER),
                          .level = level};
    unit->weight = declare_part(d, name, "weight", taps, conv.in, conv.out, INIT_NORMAL,
                                sqrt(2.0 / (taps * conv.in)), true);
    if (e->config.groups) {
        unit->gamma = declare_part(d, name, "gamma", conv.out, 0, 0, INIT_CONSTANT, gamma, false);
        unit->beta = declare_part(d, name, "beta", conv.out, 0, 0, INIT_CONSTANT, 0.0, false);
    } else {
        unit->bias = declare_part(d, name, "bias", conv.out, 0, 0, INIT_CONSTANT, 0.0, false);
    }
    return index;
}

// What a block adds to its skip starts small, so that a deep network starts near a shallow one.
static const double second_gamma = 0.2;

static ImageShape add_block(Declare *d, int stage, int block, ImageShape in, int channels,
                            int stride)
{
    Encoder *e = d->encoder;
    EncoderBlock *b = &e->blocks[e->block_count++];
    char name[TENSOR_NAME_MAX];
    snprintf(name, sizeof name, "stage.%d.%d.conv1", stage, block);
    b->first = add_unit(d, name, stage, in, (Conv2d){3, stride, in.channels, channels}, 1.0);
    ImageShape middle = e->units[b->first].out;
    snprintf(name, sizeof name, "stage.%d.%d.conv2", stage, block);
    b->second = add_unit(d, name, stage, middle, (Conv2d){3, 1, channels, channels}, second_gamma);
    b->skip = ENCODER_NONE;
    if (stride != 1 || in.channels != channels) {
        snprintf(name, sizeof name, "stage.%d.%d.skip", stage, block);
        b->skip = add_unit(d, name, stage, in, (Conv2d){1, stride, in.channels, channels}, 1.0);
    }
    return e->units[b->second].out;
}

static FacetStatus declare_all(Encoder *e)
{
    const EncoderConfig *c = &e->config;
    Declare d = {e, {&e->table, status_ok()}};
    ImageShape input = {c->height, c->width, 3, c->stem_kernel / 2};
    if (!c->groups) e->input_pad = declare(&d, "stem.pad", 3, 0, 0, INIT_CONSTANT, 0.0, false);
    add_unit(&d, "stem", 0, input, (Conv2d){c->stem_kernel, c->stem_stride, 3, c->stem_channels},
             1.0);
    e->pooled = e->units[0].out;
    if (c->stem_pool) e->pooled = image_bordered(max_pool_shape(e->pooled), ENCODER_BORDER);
    ImageShape shape = e->pooled;
    for (int s = 0; s < c->stages; s++) {
        if (c->frozen == s + 1) e->trained_from = e->table.size;
        for (int b = 0; b < c->blocks; b++)
            shape = add_block(&d, s + 1, b, shape, c->channels[s], b ? 1 : c->strides[s]);
    }
    if (c->frozen == c->stages + 1) e->trained_from = e->table.size;
    int width = encoder_pooled_width(e);
    e->head_weight = declare(&d, "head.weight", width, c->features, 0, INIT_UNIFORM,
                             1.0 / sqrt((double)width), true);
    e->head_bias = declare(&d, "head.bias", c->features, 0, 0, INIT_CONSTANT, 0.0, false);
    if (c->norm_features) {
        e->head_gamma = declare(&d, "head.gamma", c->features, 0, 0, INIT_CONSTANT, 1.0, false);
        e->head_beta = declare(&d, "head.beta", c->features, 0, 0, INIT_CONSTANT, 0.0, false);
    }
    return d.tensors.status;
}

FacetStatus encoder_create(Encoder **out, EncoderConfig config)
{
    *out = NULL;
    TRY(check(&config));
    Encoder *e = calloc(1, sizeof *e);
    if (!e) return status_fail(FACET_NO_MEMORY, "out of memory for the encoder");
    e->config = config;
    FacetStatus status = declare_all(e);
    if (!status.ok) {
        encoder_free(e);
        return status;
    }
    *out = e;
    return status_ok();
}

void encoder_free(Encoder *encoder)
{
    if (!encoder) return;
    tensor_table_free(&encoder->table);
    free(encoder);
}

const EncoderConfig *encoder_config(const Encoder *encoder) { return &encoder->config; }

const TensorTable *encoder_table(const Encoder *encoder) { return &encoder->table; }

size_t encoder_trained_from(const Encoder *encoder) { return encoder->trained_from; }

// The products of the head and of the units from this level on.
static double flops_from(const Encoder *encoder, int level)
{
    double sum = 2.0 * encoder_pooled_width(encoder) * encoder->config.features;
    for (int i = 0; i < encoder->unit_count; i++)
        if (encoder->units[i].level >= level) sum += unit_flops(&encoder->units[i]);
    return sum;
}

double encoder_flops(const Encoder *encoder) { return flops_from(encoder, 0); }

double encoder_flops_trained(const Encoder *encoder)
{
    return flops_from(encoder, encoder->config.frozen);
}
