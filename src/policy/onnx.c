// Writes ONNX models (see policy/onnx.h).
//
// An ONNX file is one ModelProto in the wire format of Protocol Buffers: a message is a sequence of
// fields, each a varint key, number << 3 | kind, and then a varint, four bytes, or a length and
// that many bytes. The field numbers below are those of onnx.proto.
//
// The network in operators. A stream of the network is [rows, T, C]; Conv wants time last, so it
// stands between two transpositions. Mish is x n / (n + 2) with n = e (e + 2), e = exp(min(x, 20)),
// as in nn/real.h: opset 17 has no Mish, and x tanh(softplus(x)) is slower in ONNX Runtime. The
// time embedding is a table of the schedule's steps. Gather counts a negative index from the end,
// so -1 picks the last row of an embedding, its null token.
#include "policy/onnx.h"

#include "base/file.h"
#include "base/text.h"
#include "nn/layers.h"
#include "policy/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IR_VERSION = 8, OPSET = 17 };

// ---- Wire format --------------------------------------------------------------------------------

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_FIXED32 = 5, VARINT_MAX = 10 };

typedef struct Bytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed; // out of memory; nothing is added any more
} Bytes;

// Room for `count` bytes at the end, or NULL.
static unsigned char *bytes_add(Bytes *bytes, size_t count)
{
    if (!bytes->failed && bytes->capacity - bytes->size < count) {
        size_t capacity = 2 * (bytes->size + count);
        unsigned char *data = realloc(bytes->data, capacity);
        bytes->failed = !data;
        if (data) bytes->data = data, bytes->capacity = capacity;
    }
    if (bytes->failed) return NULL;
    bytes->size += count;
    return bytes->data + bytes->size - count;
}

static void put_raw(Bytes *bytes, const void *data, size_t size)
{
    unsigned char *at = bytes_add(bytes, size);
    if (at && size) memcpy(at, data, size);
}

static int encode_varint(unsigned char out[VARINT_MAX], uint64_t value)
{
    int count = 0;
    for (; value >= 0x80; value >>= 7) out[count++] = (unsigned char)(value | 0x80);
    out[count++] = (unsigned char)value;
    return count;
}

static void put_varint(Bytes *bytes, uint64_t value)
{
    unsigned char code[VARINT_MAX];
    put_raw(bytes, code, (size_t)encode_varint(code, value));
}

static void put_key(Bytes *bytes, int field, int kind)
{
    put_varint(bytes, (uint64_t)(field << 3 | kind));
}

static void put_int(Bytes *bytes, int field, int64_t value)
{
    put_key(bytes, field, WIRE_VARINT);
    put_varint(bytes, (uint64_t)value);
}

static void put_float(Bytes *bytes, int field, float value)
{
    put_key(bytes, field, WIRE_FIXED32);
    put_raw(bytes, &value, sizeof value);
}

static void put_text(Bytes *bytes, int field, const char *text)
{
    put_key(bytes, field, WIRE_BYTES);
    put_varint(bytes, strlen(text));
    put_raw(bytes, text, strlen(text));
}

// A message inside a message: what is put between begin and end is its content, and the length goes
// before it at the end.
static size_t message_begin(Bytes *bytes, int field)
{
    put_key(bytes, field, WIRE_BYTES);
    return bytes->size;
}

static void message_end(Bytes *bytes, size_t start)
{
    unsigned char code[VARINT_MAX];
    size_t size = bytes->size - start, length = (size_t)encode_varint(code, size);
    if (!bytes_add(bytes, length)) return;
    memmove(bytes->data + start + length, bytes->data + start, size);
    memcpy(bytes->data + start, code, length);
}

// ---- Messages of ONNX ---------------------------------------------------------------------------

enum { MODEL_IR_VERSION = 1, MODEL_PRODUCER = 2, MODEL_DOC = 6, MODEL_GRAPH = 7 };
enum { MODEL_OPSET = 8, MODEL_METADATA = 14, OPSET_VERSION = 2, ENTRY_KEY = 1, ENTRY_VALUE = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_NAME = 1, ATTRIBUTE_FLOAT = 2, ATTRIBUTE_INT = 3, ATTRIBUTE_INTS = 8 };
enum { ATTRIBUTE_KIND = 20, KIND_FLOAT = 1, KIND_INT = 2, KIND_INTS = 7 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { TYPE_FLOAT = 1, TYPE_INT64 = 7 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, VALUE_DOC = 3, VALUE_TENSOR = 1 };
enum { TYPE_ELEMENT = 1, TYPE_SHAPE = 2, SHAPE_DIM = 1, DIM_VALUE = 1, DIM_PARAM = 2 };

// The name of a value: of an input, a constant or the result of a node.
typedef struct Name {
    char text[80];
} Name;

enum { ATTRIBUTE_MAX = 3, INPUTS_MAX = 1 + SCORE_FACTORS_MAX };

typedef struct Attribute {
    const char *name;
    int kind;
    float real;                   // KIND_FLOAT
    int64_t whole[ATTRIBUTE_MAX]; // KIND_INT, KIND_INTS
    int count;
} Attribute;

typedef struct Graph {
    const ScoreNet *net;
    Bytes bytes;
    const char *scope; // stands before the names of nodes: the part of the network they are in
    int nodes;
} Graph;

static Name name_of(const char *text)
{
    Name name;
    snprintf(name.text, sizeof name.text, "%s", text);
    return name;
}

static Name name_in(const char *scope, const char *part)
{
    Name name;
    snprintf(name.text, sizeof name.text, "%.40s.%.30s", scope, part);
    return name;
}

static void put_attribute(Bytes *bytes, const Attribute *a)
{
    size_t start = message_begin(bytes, NODE_ATTRIBUTE);
    put_text(bytes, ATTRIBUTE_NAME, a->name);
    if (a->kind == KIND_FLOAT) put_float(bytes, ATTRIBUTE_FLOAT, a->real);
    for (int i = 0; i < a->count; i++)
        put_int(bytes, a->kind == KIND_INT ? ATTRIBUTE_INT : ATTRIBUTE_INTS, a->whole[i]);
    put_int(bytes, ATTRIBUTE_KIND, a->kind);
    message_end(bytes, start);
}

static void put_node(Graph *g, const char *op, const Name *outputs, int output_count,
                     const Name *inputs, int input_count, const Attribute *attributes, int count)
{
    Name name;
    snprintf(name.text, sizeof name.text, "%.40s/%s.%d", g->scope, op, g->nodes);
    size_t start = message_begin(&g->bytes, GRAPH_NODE);
    for (int i = 0; i < input_count; i++) put_text(&g->bytes, NODE_INPUT, inputs[i].text);
    for (int i = 0; i < output_count; i++) put_text(&g->bytes, NODE_OUTPUT, outputs[i].text);
    put_text(&g->bytes, NODE_NAME, name.text);
    put_text(&g->bytes, NODE_OP, op);
    for (int i = 0; i < count; i++) put_attribute(&g->bytes, &attributes[i]);
    message_end(&g->bytes, start);
    g->nodes++;
}

// A node with one result, which it returns.
static Name node(Graph *g, const char *op, const Name *inputs, int input_count,
                 const Attribute *attributes, int count)
{
    Name out;
    snprintf(out.text, sizeof out.text, "%.40s/%s.%d.out", g->scope, op, g->nodes);
    put_node(g, op, &out, 1, inputs, input_count, attributes, count);
    return out;
}

static Name binary(Graph *g, const char *op, Name a, Name b)
{
    return node(g, op, (Name[]){a, b}, 2, NULL, 0);
}

// Begins a constant; its numbers follow as `size` raw bytes, little-endian.
static size_t constant_begin(Bytes *bytes, const char *name, int type, const int64_t *shape,
                             int rank, size_t size)
{
    size_t start = message_begin(bytes, GRAPH_INITIALIZER);
    for (int i = 0; i < rank; i++) put_int(bytes, TENSOR_DIM, shape[i]);
    put_int(bytes, TENSOR_TYPE, type);
    put_text(bytes, TENSOR_NAME, name);
    put_key(bytes, TENSOR_RAW, WIRE_BYTES);
    put_varint(bytes, size);
    return start;
}

static void put_floats(Graph *g, const char *name, const int64_t *shape, int rank,
                       const float *data)
{
    size_t size = sizeof *data;
    for (int i = 0; i < rank; i++) size *= (size_t)shape[i];
    size_t start = constant_begin(&g->bytes, name, TYPE_FLOAT, shape, rank, size);
    put_raw(&g->bytes, data, size);
    message_end(&g->bytes, start);
}

// The vector of whole numbers, or the scalar when rank is 0.
static void put_whole(Graph *g, const char *name, const int64_t *values, int count, int rank)
{
    size_t size = (size_t)count * sizeof *values;
    size_t start = constant_begin(&g->bytes, name, TYPE_INT64, (int64_t[]){count}, rank, size);
    put_raw(&g->bytes, values, size);
    message_end(&g->bytes, start);
}

// ---- Constants ----------------------------------------------------------------------------------

// A convolution's weight [3][in][out] in ONNX's order, [out][in][3].
static void put_kernel(Graph *g, const char *name, const float *w, int in, int out)
{
    size_t count = (size_t)3 * (size_t)in * (size_t)out;
    size_t start =
        constant_begin(&g->bytes, name, TYPE_FLOAT, (int64_t[]){out, in, 3}, 3, count * sizeof *w);
    unsigned char *at = bytes_add(&g->bytes, count * sizeof *w);
    if (!at) return;
    for (int o = 0; o < out; o++)
        for (int i = 0; i < in; i++)
            for (int k = 0; k < 3; k++, at += sizeof *w)
                memcpy(at, &w[((size_t)k * (size_t)in + (size_t)i) * (size_t)out + (size_t)o],
                       sizeof *w);
    message_end(&g->bytes, start);
}

// The tensors of the policy's file, under the same names. Those of rank 3 are convolutions.
static void put_weights(Graph *g, const float *params)
{
    const TensorTable *table = &g->net->table;
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        const float *data = params + tensor->offset;
        if (tensor->rank == 3)
            put_kernel(g, tensor->name, data, tensor->shape[1], tensor->shape[2]);
        else
            put_floats(g, tensor->name, (int64_t[]){tensor->shape[0], tensor->shape[1]},
                       tensor->rank, data);
    }
}

static void put_time_table(Graph *g, int steps)
{
    int width = g->net->config.time_width;
    float *table = malloc((size_t)steps * (size_t)width * sizeof *table);
    g->bytes.failed |= !table;
    if (!table) return;
    for (int i = 0; i < steps; i++)
        time_embedding(table + (size_t)i * (size_t)width, width, &(float){(float)i}, 1, width,
                       false);
    put_floats(g, "time", (int64_t[]){steps, width}, 2, table);
    free(table);
}

static void put_constants(Graph *g, const float *params, int steps)
{
    const ScoreNetConfig *c = &g->net->config;
    put_weights(g, params);
    put_time_table(g, steps);
    put_floats(g, "one", NULL, 0, &(float){1.0f});
    put_floats(g, "two", NULL, 0, &(float){2.0f});
    put_floats(g, "twenty", NULL, 0, &(float){20.0f});
    put_whole(g, "time_axis", (int64_t[]){1}, 1, 1);
    for (int64_t i = 0; i < c->factors; i++) {
        char name[32];
        snprintf(name, sizeof name, "factor.%d", (int)i);
        put_whole(g, name, &i, 1, 0);
    }
    int64_t sizes[2 * SCORE_BLOCKS_MAX];
    for (int i = 0; i < 2 * c->blocks; i++) sizes[i] = c->channels;
    put_whole(g, "film_sizes", sizes, 2 * c->blocks, 1);
}

// ---- Layers -------------------------------------------------------------------------------------

static Name mish(Graph *g, Name x)
{
    Name two = name_of("two");
    Name e = node(g, "Exp", (Name[]){binary(g, "Min", x, name_of("twenty"))}, 1, NULL, 0);
    Name n = binary(g, "Mul", e, binary(g, "Add", e, two));
    return binary(g, "Mul", x, binary(g, "Div", n, binary(g, "Add", n, two)));
}

static Name linear(Graph *g, Name x, const char *layer)
{
    return node(g, "Gemm", (Name[]){x, name_in(layer, "weight"), name_in(layer, "bias")}, 3, NULL,
                0);
}

static Name transpose(Graph *g, Name x)
{
    const Attribute order = {.name = "perm", .kind = KIND_INTS, .whole = {0, 2, 1}, .count = 3};
    return node(g, "Transpose", &x, 1, &order, 1);
}

static Name convolution(Graph *g, Name x, const char *layer)
{
    const Attribute attributes[] = {
        {.name = "kernel_shape", .kind = KIND_INTS, .whole = {3}, .count = 1},
        {.name = "pads", .kind = KIND_INTS, .whole = {1, 1}, .count = 2}};
    Name inputs[] = {transpose(g, x), name_in(layer, "weight"), name_in(layer, "bias")};
    return transpose(g, node(g, "Conv", inputs, 3, attributes, 2));
}

static Name norm(Graph *g, Name x, const char *layer)
{
    const Attribute attributes[] = {{.name = "axis", .kind = KIND_INT, .whole = {-1}, .count = 1},
                                    {.name = "epsilon", .kind = KIND_FLOAT, .real = 1e-5f}};
    return node(g, "LayerNormalization",
                (Name[]){x, name_in(layer, "gamma"), name_in(layer, "beta")}, 3, attributes, 2);
}

static Name gather(Graph *g, Name from, Name index, int axis)
{
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {axis}, .count = 1};
    return node(g, "Gather", (Name[]){from, index}, 2, &along, 1);
}

// ---- The network --------------------------------------------------------------------------------

static Name condition(Graph *g)
{
    const ScoreNetConfig *c = &g->net->config;
    Name parts[INPUTS_MAX];
    g->scope = "cond";
    parts[0] = gather(g, name_of("time"), name_of("t"), 0);
    for (int i = 0; i < c->factors; i++) {
        char table[32], column[32];
        snprintf(table, sizeof table, "embed.%d", i);
        snprintf(column, sizeof column, "factor.%d", i);
        parts[1 + i] = gather(g, name_of(table), gather(g, name_of("z"), name_of(column), 1), 0);
    }
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {1}, .count = 1};
    Name in = node(g, "Concat", parts, 1 + c->factors, &along, 1);
    return mish(g, linear(g, mish(g, linear(g, in, "cond.0")), "cond.1"));
}

// Scale and shift of every block, [rows, 1, C] each.
static void films(Name out[2 * SCORE_BLOCKS_MAX], Graph *g)
{
    Name c = condition(g);
    g->scope = "film";
    Name both = binary(g, "Unsqueeze", linear(g, c, "film"), name_of("time_axis"));
    int count = 2 * g->net->config.blocks;
    for (int i = 0; i < count; i++)
        snprintf(out[i].text, sizeof out[i].text, "film/%s.%d", i % 2 ? "shift" : "scale", i / 2);
    const Attribute along = {.name = "axis", .kind = KIND_INT, .whole = {2}, .count = 1};
    put_node(g, "Split", out, count, (Name[]){both, name_of("film_sizes")}, 2, &along, 1);
}

static Name unit(Graph *g, Name h, int block, int half)
{
    char layer[32];
    snprintf(layer, sizeof layer, "block.%d.%d", block, half);
    return mish(g, norm(g, convolution(g, h, layer), layer));
}

static void put_network(Graph *g)
{
    Name film[2 * SCORE_BLOCKS_MAX];
    films(film, g);
    g->scope = "in";
    Name h = binary(g, "Add", convolution(g, name_of("x"), "in"), name_of("position"));
    for (int l = 0; l < g->net->config.blocks; l++) {
        char scope[32];
        snprintf(scope, sizeof scope, "block.%d", l);
        g->scope = scope;
        Name scale = binary(g, "Add", film[2 * l], name_of("one"));
        Name u = binary(g, "Mul", unit(g, h, l, 0), scale);
        u = binary(g, "Add", u, film[2 * l + 1]);
        h = binary(g, "Add", h, unit(g, u, l, 1));
    }
    g->scope = "out";
    Name out = convolution(g, mish(g, norm(g, h, "out")), "out");
    put_node(g, "Identity", (Name[]){name_of("prediction")}, 1, &out, 1, NULL, 0);
}

// ---- The model ----------------------------------------------------------------------------------

// An input or output [rows, ...] of this type; `rank` counts the dimensions after the rows.
static void put_value(Bytes *bytes, int field, const char *name, const char *doc, int type,
                      const int *shape, int rank)
{
    size_t value = message_begin(bytes, field);
    put_text(bytes, VALUE_NAME, name);
    size_t kind = message_begin(bytes, VALUE_TYPE), tensor = message_begin(bytes, VALUE_TENSOR);
    put_int(bytes, TYPE_ELEMENT, type);
    size_t dims = message_begin(bytes, TYPE_SHAPE), dim = message_begin(bytes, SHAPE_DIM);
    put_text(bytes, DIM_PARAM, "rows");
    message_end(bytes, dim);
    for (int i = 0; i < rank; i++) {
        dim = message_begin(bytes, SHAPE_DIM);
        put_int(bytes, DIM_VALUE, shape[i]);
        message_end(bytes, dim);
    }
    message_end(bytes, dims);
    message_end(bytes, tensor);
    message_end(bytes, kind);
    put_text(bytes, VALUE_DOC, doc);
    message_end(bytes, value);
}

static const char *const prediction_docs[] = {
    [PREDICT_EPSILON] = "the noise eps of x",
    [PREDICT_V] = "v = sqrt(abar) eps - sqrt(1 - abar) x0",
    [PREDICT_X0] = "the clean chunk x0",
};

static void put_graph(Graph *g, const Policy *policy, const float *params)
{
    const ScoreNetConfig *c = &policy->net->config;
    const int chunk[] = {c->horizon, c->dim};
    char steps[80];
    snprintf(steps, sizeof steps, "diffusion steps, 0 to %d; 0 has the least noise",
             policy->schedule.steps - 1);
    size_t graph = message_begin(&g->bytes, MODEL_GRAPH);
    put_text(&g->bytes, GRAPH_NAME, "score");
    put_network(g);
    put_constants(g, params, policy->schedule.steps);
    put_value(&g->bytes, GRAPH_INPUT, "x", "noisy chunks, normalised to [-1, 1]", TYPE_FLOAT, chunk,
              2);
    put_value(&g->bytes, GRAPH_INPUT, "t", steps, TYPE_INT64, NULL, 0);
    if (c->factors)
        put_value(&g->bytes, GRAPH_INPUT, "z",
                  "value of each factor by its place in the metadata's factors; -1 is the null "
                  "token",
                  TYPE_INT64, &c->factors, 1);
    put_value(&g->bytes, GRAPH_OUTPUT, "prediction", prediction_docs[policy->prediction],
              TYPE_FLOAT, chunk, 2);
    message_end(&g->bytes, graph);
}

static void put_entry(Bytes *bytes, const char *key, const char *value)
{
    size_t entry = message_begin(bytes, MODEL_METADATA);
    put_text(bytes, ENTRY_KEY, key);
    put_text(bytes, ENTRY_VALUE, value);
    message_end(bytes, entry);
}

static Status put_metadata(Bytes *bytes, const Policy *policy, const char *network)
{
    Json *metadata = policy_metadata(policy, "facet onnx 1"), *signal = json_array();
    JsonRef root = json_root(metadata, "metadata"), at;
    int count = 0;
    Status status = json_length(&count, &root);
    for (int i = 0; i < count && status.ok; i++) {
        status = json_element(&at, &root, i);
        if (status.ok) put_entry(bytes, json_key(&at), json_chars(&at));
    }
    json_free(metadata);
    for (int i = 0; i < policy->schedule.steps; i++)
        json_push_number(signal, policy->schedule.alpha_bar[i]);
    char *text = json_line(signal);
    json_free(signal);
    put_entry(bytes, "alpha_bar", text);
    free(text);
    if (network) put_entry(bytes, "network_name", network);
    return status;
}

static const char model_doc[] =
    "The score network of a Facet policy. x = sqrt(abar) x0 + sqrt(1 - abar) eps holds noisy "
    "chunks, t their diffusion steps, z the value of each factor (-1 for its null token; absent "
    "from a network without factors). A "
    "composed prediction is p_null + sum_i (p_i - p_null), where p_i shows factor i alone and the "
    "other factors are null. The metadata hold what sampling needs: predict, alpha_bar, "
    "normalizer, factors, sample_steps, sample_spacing, sample_clip, "
    "sample_temperature.";

static Status put_model(Graph *g, const Policy *policy, const float *params, const char *network)
{
    Bytes *bytes = &g->bytes;
    put_int(bytes, MODEL_IR_VERSION, IR_VERSION);
    put_text(bytes, MODEL_PRODUCER, "facet");
    put_text(bytes, MODEL_DOC, model_doc);
    size_t opset = message_begin(bytes, MODEL_OPSET);
    put_int(bytes, OPSET_VERSION, OPSET);
    message_end(bytes, opset);
    TRY(put_metadata(bytes, policy, network));
    put_graph(g, policy, params);
    return bytes->failed ? status_fail("out of memory for the model") : status_ok();
}

// ---- Which network ------------------------------------------------------------------------------

static Status find_network(int *index, const Policy *policy, const char *network)
{
    *index = 0;
    if (policy->method != POLICY_KNET)
        return network ? status_fail("expected no name of a network, found '%.60s': a %s policy "
                                     "has one",
                                     network, policy_method_name(policy->method))
                       : status_ok();
    char(*names)[SAFETENSORS_NAME_SIZE] = calloc((size_t)policy->networks, sizeof *names);
    const char **list = calloc((size_t)policy->networks, sizeof *list);
    Status status = names && list ? status_ok() : status_fail("out of memory");
    int found = -1;
    for (int i = 0; i < policy->networks && status.ok; i++) {
        policy_prefix(names[i], policy, i);
        names[i][strlen(names[i]) - 1] = '\0'; // the point
        list[i] = names[i];
        if (network && strcmp(names[i], network) == 0) found = i;
    }
    if (status.ok && !network)
        status = status_fail("expected the name of one of the %d networks of this knet policy: "
                             "%s, %s, ...",
                             policy->networks, list[0], list[1]);
    if (status.ok && found < 0) {
        char text[400];
        text_unknown(text, sizeof text, "network", network, list, policy->networks);
        status = status_fail("%s", text);
    }
    if (status.ok) *index = found;
    free(names);
    free(list);
    return status;
}

Status onnx_export(const Policy *policy, const char *network, const char *path)
{
    enum { SIZE_MAX_MB = 2000 }; // a Protocol Buffers message has at most 2 GiB
    int index;
    TRY(find_network(&index, policy, network));
    double size = 4e-6 * (double)policy->net->table.parameters;
    if (size > SIZE_MAX_MB)
        return status_fail("%s: expected a network of at most %d MB, found %.0f MB: an ONNX file "
                           "holds no more",
                           path, SIZE_MAX_MB, size);
    Graph graph = {.net = policy->net};
    Status status = put_model(&graph, policy, policy->params[index], network);
    if (status.ok)
        status = file_write(path, graph.bytes.data, graph.bytes.size);
    else
        status = status_fail("%s: %s", path, status.text);
    free(graph.bytes.data);
    return status;
}
