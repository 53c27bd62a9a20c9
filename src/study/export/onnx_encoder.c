// The encoder in operators of ONNX (see export/onnx_encoder.h).
//
// Conv wants channels first, so the image is turned once. Opset 17 has no GroupNormalization: a
// norm over groups is InstanceNormalization of [rows, groups, rest], which leaves scale and shift
// of the channels to a product and a sum. Without norms the border of the input is not zero but a
// colour p:
//   conv(x with border p) = conv(x - p with border 0) + sum of the taps of p.
#include "export/onnx_encoder.h"

#include "nn/image_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char onnx_encoder_doc[] =
    "The encoder of a Facet policy that sees: image to features, the context of the score network. "
    "The camera's frame is averaged over shrink x shrink pixels (encoder in the metadata) and "
    "rounded to bytes; image = (c / 255 - 0.5) / 0.25, so that -2 is black and 2 is white.";

typedef struct Export {
    Graph *graph;
    const EncoderConfig *config;
    const TensorTable *table;
    const float *params;
} Export;

static const Tensor *find(const Export *x, const char *layer, const char *part)
{
    char name[TENSOR_NAME_MAX];
    snprintf(name, sizeof name, "%s.%s", layer, part);
    return tensor_find(x->table, name);
}

// ---- Constants ----------------------------------------------------------------------------------

// The stem's bias and what the taps of the border's colour add to it.
static void put_stem_bias(const Export *x)
{
    const Tensor *weight = find(x, "stem", "weight"), *bias = find(x, "stem", "bias");
    const float *w = x->params + weight->offset, *pad = x->params + find(x, "stem", "pad")->offset;
    size_t inputs = (size_t)weight->shape[0] * (size_t)weight->shape[1], out = bias->size;
    float *sums = malloc(out * sizeof *sums);
    x->graph->bytes.failed |= !sums;
    if (!sums) return;
    for (size_t o = 0; o < out; o++) {
        double sum = (double)x->params[bias->offset + o];
        for (size_t i = 0; i < inputs; i++) sum += (double)(w[i * out + o] * pad[i % 3]);
        sums[o] = (float)sum;
    }
    onnx_put_floats(x->graph, bias->name, (int64_t[]){(int64_t)out}, 1, sums);
    free(sums);
}

static void put_weights(const Export *x)
{
    bool bordered = tensor_find(x->table, "stem.pad");
    for (int i = 0; i < x->table->count; i++) {
        const Tensor *tensor = &x->table->tensors[i];
        const char *part = strrchr(tensor->name, '.') + 1;
        const int64_t channel[] = {1, (int64_t)tensor->size, 1, 1};
        if (bordered && strcmp(tensor->name, "stem.bias") == 0)
            put_stem_bias(x);
        else if (strncmp(tensor->name, "head.", 5) != 0 &&
                 (strcmp(part, "gamma") == 0 || strcmp(part, "beta") == 0))
            onnx_put_floats(x->graph, tensor->name, channel, 4, x->params + tensor->offset);
        else
            onnx_put_tensor(x->graph, tensor, x->params, 2);
    }
}

// The place of every pixel in [-1, 1]^2, [height width, 2].
static void put_places(const Export *x, int height, int width)
{
    size_t pixels = (size_t)height * (size_t)width;
    float *places = malloc(2 * pixels * sizeof *places);
    x->graph->bytes.failed |= !places;
    if (!places) return;
    for (int v = 0; v < height; v++)
        for (int u = 0; u < width; u++) {
            float *at = places + 2 * ((size_t)v * (size_t)width + (size_t)u);
            at[0] = width > 1 ? 2.0f * (float)u / (float)(width - 1) - 1.0f : 0.0f;
            at[1] = height > 1 ? 2.0f * (float)v / (float)(height - 1) - 1.0f : 0.0f;
        }
    onnx_put_floats(x->graph, "places", (int64_t[]){(int64_t)pixels, 2}, 2, places);
    free(places);
}

static void put_group_constants(const Export *x)
{
    float ones[IMAGE_CHANNELS_MAX], zeros[IMAGE_CHANNELS_MAX];
    for (int i = 0; i < x->config->groups; i++) ones[i] = 1.0f, zeros[i] = 0.0f;
    const int64_t groups[] = {x->config->groups};
    onnx_put_floats(x->graph, "ones", groups, 1, ones);
    onnx_put_floats(x->graph, "zeros", groups, 1, zeros);
    onnx_put_whole(x->graph, "grouped", (int64_t[]){0, groups[0], -1}, 3, 1);
}

// ---- Layers -------------------------------------------------------------------------------------

static Name convolution(const Export *x, Name image, const char *layer, int stride)
{
    const Tensor *weight = find(x, layer, "weight");
    int side = 1;
    while (side * side < weight->shape[0]) side++;
    int pad = side / 2;
    const Attribute attributes[] = {
        {.name = "kernel_shape", .kind = KIND_INTS, .whole = {side, side}, .count = 2},
        {.name = "pads", .kind = KIND_INTS, .whole = {pad, pad, pad, pad}, .count = 4},
        {.name = "strides", .kind = KIND_INTS, .whole = {stride, stride}, .count = 2}};
    Name inputs[] = {image, onnx_name_in(layer, "weight"), onnx_name_in(layer, "bias")};
    return onnx_node(x->graph, "Conv", inputs, x->config->groups ? 2 : 3, attributes, 3);
}

static Name norm(const Export *x, Name image, const char *layer)
{
    Graph *g = x->graph;
    const Attribute epsilon = {.name = "epsilon", .kind = KIND_FLOAT, .real = 1e-5f};
    if (!x->config->groups) return image;
    Name groups[] = {onnx_binary(g, "Reshape", image, onnx_name("grouped")), onnx_name("ones"),
                     onnx_name("zeros")};
    Name hat = onnx_node(g, "InstanceNormalization", groups, 3, &epsilon, 1);
    hat = onnx_binary(g, "Reshape", hat, onnx_unary(g, "Shape", image));
    return onnx_binary(g, "Add", onnx_binary(g, "Mul", hat, onnx_name_in(layer, "gamma")),
                       onnx_name_in(layer, "beta"));
}

static Name unit(const Export *x, Name image, const char *layer, int stride)
{
    return norm(x, convolution(x, image, layer, stride), layer);
}

static Name block(const Export *x, Name image, int stage, int number, int stride)
{
    Graph *g = x->graph;
    char scope[32], layer[40];
    snprintf(scope, sizeof scope, "stage.%d.%d", stage, number);
    g->scope = scope;
    snprintf(layer, sizeof layer, "%s.skip", scope);
    Name skip = find(x, layer, "weight") ? unit(x, image, layer, stride) : image;
    snprintf(layer, sizeof layer, "%s.conv1", scope);
    Name h = onnx_unary(g, "Relu", unit(x, image, layer, stride));
    snprintf(layer, sizeof layer, "%s.conv2", scope);
    return onnx_unary(g, "Relu", onnx_binary(g, "Add", unit(x, h, layer, 1), skip));
}

static Name stem(const Export *x)
{
    Graph *g = x->graph;
    Name image = onnx_name("image");
    g->scope = "stem";
    if (!x->config->groups) image = onnx_binary(g, "Sub", image, onnx_name("stem.pad"));
    image = onnx_transpose(g, image, (int64_t[]){0, 3, 1, 2}, 4);
    Name h = onnx_unary(g, "Relu", unit(x, image, "stem", x->config->stem_stride));
    if (!x->config->stem_pool) return h;
    const Attribute attributes[] = {
        {.name = "kernel_shape", .kind = KIND_INTS, .whole = {3, 3}, .count = 2},
        {.name = "pads", .kind = KIND_INTS, .whole = {1, 1, 1, 1}, .count = 4},
        {.name = "strides", .kind = KIND_INTS, .whole = {2, 2}, .count = 2}};
    return onnx_node(g, "MaxPool", &h, 1, attributes, 3);
}

// Keypoints along u, keypoints along v, means, [rows, 3 C], and where the config says so the pixels
// themselves, as they lie in an image; then the linear layer on them, and its norm.
static Name head(const Export *x, Name h)
{
    Graph *g = x->graph;
    g->scope = "head";
    const Attribute last = {.name = "axis", .kind = KIND_INT, .whole = {-1}, .count = 1};
    const Attribute mean[] = {{.name = "axes", .kind = KIND_INTS, .whole = {2}, .count = 1},
                              {.name = "keepdims", .kind = KIND_INT, .whole = {0}, .count = 1}};
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {1}, .count = 1};
    Name pixels = onnx_binary(g, "Reshape", h, onnx_name("flat_pixels")); // [rows, C, height width]
    Name softmax = onnx_node(g, "Softmax", &pixels, 1, &last, 1);
    Name places = onnx_binary(g, "MatMul", softmax, onnx_name("places"));
    places = onnx_transpose(g, places, (int64_t[]){0, 2, 1}, 3);
    Name parts[3] = {onnx_binary(g, "Reshape", places, onnx_name("flat")),
                     onnx_node(g, "ReduceMean", &pixels, 1, mean, 2)};
    if (x->config->flat)
        parts[2] = onnx_binary(g, "Reshape", onnx_transpose(g, h, (int64_t[]){0, 2, 3, 1}, 4),
                               onnx_name("flat"));
    Name y =
        onnx_linear(g, onnx_node(g, "Concat", parts, x->config->flat ? 3 : 2, &along, 1), "head");
    return x->config->norm_features ? onnx_layer_norm(g, y, "head") : y;
}

void onnx_put_encoder(Graph *g, const Encoder *encoder, const float *params)
{
    const EncoderConfig *c = encoder_config(encoder);
    const Export x = {g, c, encoder_table(encoder), params};
    int height = conv2d_side(c->height, c->stem_kernel, c->stem_stride);
    int width = conv2d_side(c->width, c->stem_kernel, c->stem_stride);
    if (c->stem_pool) height = conv2d_side(height, 3, 2), width = conv2d_side(width, 3, 2);
    Name h = stem(&x);
    for (int s = 0; s < c->stages; s++) {
        for (int b = 0; b < c->blocks; b++) h = block(&x, h, s + 1, b, b ? 1 : c->strides[s]);
        height = conv2d_side(height, 3, c->strides[s]);
        width = conv2d_side(width, 3, c->strides[s]);
    }
    Name features = head(&x, h);
    onnx_put_node(g, "Identity", (Name[]){onnx_name("features")}, 1, &features, 1, NULL, 0);
    put_weights(&x);
    put_places(&x, height, width);
    if (c->groups) put_group_constants(&x);
    onnx_put_whole(g, "flat_pixels", (int64_t[]){0, 0, -1}, 3, 1);
    onnx_put_whole(g, "flat", (int64_t[]){0, -1}, 2, 1);
    onnx_put_input(g, "image", "shrunk frames, (c / 255 - 0.5) / 0.25", TYPE_FLOAT,
                   (int[]){c->height, c->width, 3}, 3);
    onnx_put_output(g, "features", "the context of the score network", TYPE_FLOAT, &c->features, 1);
}
