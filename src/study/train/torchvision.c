// torchvision's weights (see train/torchvision.h).
//
//   batch norm   gamma (w x - mean) / sqrt(var + 1e-5) + beta = (r w) x + (beta - r mean),
//                r = gamma / sqrt(var + 1e-5)
//   input        (c - m) / d = a x + b with x = (c - 0.5) / 0.25, a = 0.25 / d, b = (0.5 - m) / d
#include "train/torchvision.h"

#include "base/safetensors.h"
#include "encoder/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double norm_epsilon = 1e-5; // of torch.nn.BatchNorm2d
static const double input_mean[3] = {0.485, 0.456, 0.406};
static const double input_deviation[3] = {0.229, 0.224, 0.225};

enum { NAME_SIZE = 64 };

// One unit's tensors: the convolution, and gamma, beta, mean and variance of its norm.
typedef struct Import {
    float *params;
    const Encoder *encoder;
    const Safetensors *file;
    const char *path;
    float *weight, *norm[4]; // room for the largest
} Import;

static FacetStatus read_norm(const Import *in, const char *name, int channels)
{
    static const char *const parts[4] = {"weight", "bias", "running_mean", "running_var"};
    char tensor[NAME_SIZE + 16];
    for (int i = 0; i < 4; i++) {
        snprintf(tensor, sizeof tensor, "%s.%s", name, parts[i]);
        TRY(safetensors_floats(in->norm[i], in->file, tensor, 1, &channels));
    }
    for (int c = 0; c < channels; c++)
        if (in->norm[3][c] < 0.0f)
            return status_fail(FACET_BAD_FILE,
                               "%s: tensor %s: expected variances, found %g at element %d",
                               in->path, tensor, (double)in->norm[3][c], c);
    return status_ok();
}

// [out][in][k][k] to [k k][in][out], each channel of the result times its norm's factor.
static void fold(const Import *in, const EncoderUnit *unit)
{
    const float *gamma = in->norm[0], *beta = in->norm[1], *mean = in->norm[2], *var = in->norm[3];
    int taps = unit->conv.kernel * unit->conv.kernel, inputs = unit->conv.in, out = unit->conv.out;
    bool stem = unit == in->encoder->units;
    for (int o = 0; o < out; o++) {
        double factor = (double)gamma[o] / sqrt((double)var[o] + norm_epsilon);
        double bias = (double)beta[o] - factor * (double)mean[o];
        for (int i = 0; i < inputs; i++)
            for (int k = 0; k < taps; k++) {
                double w = factor * (double)in->weight[((size_t)o * inputs + i) * taps + k];
                if (stem) {
                    bias += w * (0.5 - input_mean[i]) / input_deviation[i];
                    w *= 0.25 / input_deviation[i];
                }
                in->params[unit->weight + ((size_t)k * inputs + i) * out + o] = (float)w;
            }
        in->params[unit->bias + (size_t)o] = (float)bias;
    }
}

static FacetStatus read_unit(const Import *in, int index, const char *conv, const char *norm)
{
    const EncoderUnit *unit = &in->encoder->units[index];
    const Conv2d *c = &unit->conv;
    char tensor[NAME_SIZE + 16];
    snprintf(tensor, sizeof tensor, "%s.weight", conv);
    TRY(safetensors_floats(in->weight, in->file, tensor, 4,
                           (int[]){c->out, c->in, c->kernel, c->kernel}));
    TRY(read_norm(in, norm, c->out));
    fold(in, unit);
    return status_ok();
}

static FacetStatus read_block(const Import *in, const EncoderBlock *block, int stage, int number)
{
    char base[NAME_SIZE - 16], conv[NAME_SIZE], norm[NAME_SIZE];
    snprintf(base, sizeof base, "layer%d.%d", stage, number);
    for (int half = 1; half <= 2; half++) {
        snprintf(conv, sizeof conv, "%s.conv%d", base, half);
        snprintf(norm, sizeof norm, "%s.bn%d", base, half);
        TRY(read_unit(in, half == 1 ? block->first : block->second, conv, norm));
    }
    if (block->skip == ENCODER_NONE) return status_ok();
    snprintf(conv, sizeof conv, "%s.downsample.0", base);
    snprintf(norm, sizeof norm, "%s.downsample.1", base);
    return read_unit(in, block->skip, conv, norm);
}

// A deeper network has all the tensors of a shallower one.
static FacetStatus refuse_more(const Import *in, int stage, int block)
{
    char tensor[NAME_SIZE];
    snprintf(tensor, sizeof tensor, "layer%d.%d.conv1.weight", stage, block);
    if (!safetensors_find(in->file, tensor)) return status_ok();
    const EncoderConfig *c = &in->encoder->config;
    return status_fail(FACET_BAD_FILE,
                       "%s: expected weights of %d stages of %d blocks, found a tensor %s too",
                       in->path, c->stages, c->blocks, tensor);
}

static FacetStatus read_all(const Import *in)
{
    const Encoder *e = in->encoder;
    int blocks = e->config.blocks, stages = e->config.stages;
    TRY(read_unit(in, 0, "conv1", "bn1"));
    for (int i = 0; i < 3; i++)
        in->params[e->input_pad + (size_t)i] = (float)((input_mean[i] - 0.5) / 0.25);
    for (int b = 0; b < e->block_count; b++)
        TRY(read_block(in, &e->blocks[b], b / blocks + 1, b % blocks));
    for (int s = 1; s <= stages; s++) TRY(refuse_more(in, s, blocks));
    return refuse_more(in, stages + 1, 0);
}

static size_t largest_weight(const Encoder *e)
{
    size_t largest = 0;
    for (int i = 0; i < e->table.count; i++)
        if (e->table.tensors[i].size > largest) largest = e->table.tensors[i].size;
    return largest;
}

FacetStatus encoder_read_torchvision(float *params, const Encoder *encoder, const char *path)
{
    if (encoder->config.groups)
        return status_fail(FACET_BAD_FILE,
                           "%s: expected an encoder without a norm (resnet18-torchvision), found "
                           "one with %d groups",
                           path, encoder->config.groups);
    Safetensors *file;
    TRY(safetensors_read(&file, path));
    float *memory = malloc((largest_weight(encoder) + 4 * IMAGE_CHANNELS_MAX) * sizeof *memory);
    FacetStatus status = status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    if (memory) {
        Import in = {.params = params, .encoder = encoder, .file = file, .path = path};
        for (int i = 0; i < 4; i++) in.norm[i] = memory + (size_t)i * IMAGE_CHANNELS_MAX;
        in.weight = memory + (size_t)4 * IMAGE_CHANNELS_MAX;
        status = read_all(&in);
    }
    free(memory);
    safetensors_free(file);
    return status;
}
