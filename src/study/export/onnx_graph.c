// Writes ONNX models (see export/onnx_graph.h).
//
// A message of Protocol Buffers is a sequence of fields, each a varint key, number << 3 | kind, and
// then a varint, four bytes, or a length and that many bytes. The field numbers below are those of
// onnx.proto.
#include "export/onnx_graph.h"

#include "base/file.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IR_VERSION = 8, OPSET = 17 };

// ---- Wire format --------------------------------------------------------------------------------

enum { WIRE_VARINT = 0, WIRE_BYTES = 2, WIRE_FIXED32 = 5, VARINT_MAX = 10 };

// Room for `count` bytes at the end, or NULL.
static unsigned char *bytes_add(OnnxBytes *bytes, size_t count)
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

static void put_raw(OnnxBytes *bytes, const void *data, size_t size)
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

static void put_varint(OnnxBytes *bytes, uint64_t value)
{
    unsigned char code[VARINT_MAX];
    put_raw(bytes, code, (size_t)encode_varint(code, value));
}

static void put_key(OnnxBytes *bytes, int field, int kind)
{
    put_varint(bytes, (uint64_t)(field << 3 | kind));
}

static void put_int(OnnxBytes *bytes, int field, int64_t value)
{
    put_key(bytes, field, WIRE_VARINT);
    put_varint(bytes, (uint64_t)value);
}

static void put_float(OnnxBytes *bytes, int field, float value)
{
    put_key(bytes, field, WIRE_FIXED32);
    put_raw(bytes, &value, sizeof value);
}

static void put_text(OnnxBytes *bytes, int field, const char *text)
{
    put_key(bytes, field, WIRE_BYTES);
    put_varint(bytes, strlen(text));
    put_raw(bytes, text, strlen(text));
}

// A message inside a message: what is put between begin and end is its content, and the length goes
// before it at the end.
static size_t message_begin(OnnxBytes *bytes, int field)
{
    put_key(bytes, field, WIRE_BYTES);
    return bytes->size;
}

static void message_end(OnnxBytes *bytes, size_t start)
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
enum { ATTRIBUTE_KIND = 20 };
enum { TENSOR_DIM = 1, TENSOR_TYPE = 2, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, VALUE_DOC = 3, VALUE_TENSOR = 1 };
enum { TYPE_ELEMENT = 1, TYPE_SHAPE = 2, SHAPE_DIM = 1, DIM_VALUE = 1, DIM_PARAM = 2 };

Name onnx_name(const char *text)
{
    Name name;
    snprintf(name.text, sizeof name.text, "%s", text);
    return name;
}

Name onnx_name_in(const char *scope, const char *part)
{
    Name name;
    snprintf(name.text, sizeof name.text, "%.40s.%.30s", scope, part);
    return name;
}

static void put_attribute(OnnxBytes *bytes, const Attribute *a)
{
    size_t start = message_begin(bytes, NODE_ATTRIBUTE);
    put_text(bytes, ATTRIBUTE_NAME, a->name);
    if (a->kind == KIND_FLOAT) put_float(bytes, ATTRIBUTE_FLOAT, a->real);
    for (int i = 0; i < a->count; i++)
        put_int(bytes, a->kind == KIND_INT ? ATTRIBUTE_INT : ATTRIBUTE_INTS, a->whole[i]);
    put_int(bytes, ATTRIBUTE_KIND, a->kind);
    message_end(bytes, start);
}

void onnx_put_node(Graph *g, const char *op, const Name *outputs, int output_count,
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

Name onnx_node(Graph *g, const char *op, const Name *inputs, int input_count,
               const Attribute *attributes, int count)
{
    Name out;
    snprintf(out.text, sizeof out.text, "%.40s/%s.%d.out", g->scope, op, g->nodes);
    onnx_put_node(g, op, &out, 1, inputs, input_count, attributes, count);
    return out;
}

Name onnx_unary(Graph *g, const char *op, Name x) { return onnx_node(g, op, &x, 1, NULL, 0); }

Name onnx_binary(Graph *g, const char *op, Name a, Name b)
{
    return onnx_node(g, op, (Name[]){a, b}, 2, NULL, 0);
}

Name onnx_transpose(Graph *g, Name x, const int64_t *order, int rank)
{
    Attribute perm = {.name = "perm", .kind = KIND_INTS, .count = rank};
    for (int i = 0; i < rank; i++) perm.whole[i] = order[i];
    return onnx_node(g, "Transpose", &x, 1, &perm, 1);
}

Name onnx_linear(Graph *g, Name x, const char *layer)
{
    return onnx_node(g, "Gemm",
                     (Name[]){x, onnx_name_in(layer, "weight"), onnx_name_in(layer, "bias")}, 3,
                     NULL, 0);
}

// Begins a constant; its numbers follow as `size` raw bytes, little-endian.
static size_t constant_begin(OnnxBytes *bytes, const char *name, int type, const int64_t *shape,
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

void onnx_put_floats(Graph *g, const char *name, const int64_t *shape, int rank, const float *data)
{
    size_t size = sizeof *data;
    for (int i = 0; i < rank; i++) size *= (size_t)shape[i];
    size_t start = constant_begin(&g->bytes, name, TYPE_FLOAT, shape, rank, size);
    put_raw(&g->bytes, data, size);
    message_end(&g->bytes, start);
}

void onnx_put_whole(Graph *g, const char *name, const int64_t *values, int count, int rank)
{
    size_t size = (size_t)count * sizeof *values;
    size_t start = constant_begin(&g->bytes, name, TYPE_INT64, (int64_t[]){count}, rank, size);
    put_raw(&g->bytes, values, size);
    message_end(&g->bytes, start);
}

// A convolution's weight [taps][in][out] as [out][in][taps].
static void put_kernel(Graph *g, const Tensor *tensor, const float *w, int axes)
{
    int taps = tensor->shape[0], in = tensor->shape[1], out = tensor->shape[2], side = 1;
    while (axes == 2 && side * side < taps) side++;
    const int64_t line[] = {out, in, taps}, square[] = {out, in, side, side};
    size_t size = tensor->size * sizeof *w;
    size_t start = constant_begin(&g->bytes, tensor->name, TYPE_FLOAT, axes == 2 ? square : line,
                                  2 + axes, size);
    unsigned char *at = bytes_add(&g->bytes, size);
    if (!at) return;
    for (int o = 0; o < out; o++)
        for (int i = 0; i < in; i++)
            for (int k = 0; k < taps; k++, at += sizeof *w)
                memcpy(at, &w[((size_t)k * (size_t)in + (size_t)i) * (size_t)out + (size_t)o],
                       sizeof *w);
    message_end(&g->bytes, start);
}

void onnx_put_tensor(Graph *g, const Tensor *tensor, const float *params, int axes)
{
    const float *data = params + tensor->offset;
    const int64_t shape[TENSOR_RANK_MAX] = {tensor->shape[0], tensor->shape[1], tensor->shape[2]};
    assert(tensor->rank >= 1 && tensor->rank <= TENSOR_RANK_MAX);
    if (tensor->rank == 3)
        put_kernel(g, tensor, data, axes);
    else
        onnx_put_floats(g, tensor->name, shape, tensor->rank, data);
}

static void put_value(OnnxBytes *bytes, int field, const char *name, const char *doc, int type,
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

void onnx_put_input(Graph *g, const char *name, const char *doc, ValueType type, const int *shape,
                    int rank)
{
    put_value(&g->bytes, GRAPH_INPUT, name, doc, type, shape, rank);
}

void onnx_put_output(Graph *g, const char *name, const char *doc, ValueType type, const int *shape,
                     int rank)
{
    put_value(&g->bytes, GRAPH_OUTPUT, name, doc, type, shape, rank);
}

// ---- Models -------------------------------------------------------------------------------------

static void put_entry(OnnxBytes *bytes, const char *key, const char *value)
{
    size_t entry = message_begin(bytes, MODEL_METADATA);
    put_text(bytes, ENTRY_KEY, key);
    put_text(bytes, ENTRY_VALUE, value);
    message_end(bytes, entry);
}

static FacetStatus put_metadata(OnnxBytes *bytes, const FacetPolicy *policy, const char *network)
{
    Json *metadata = policy_metadata(policy, "facet onnx 1"), *signal = json_array();
    JsonRef root = json_root(metadata, "metadata"), at;
    int count = 0;
    FacetStatus status = json_whole(metadata)
                             ? json_length(&count, &root)
                             : status_fail(FACET_NO_MEMORY, "out of memory for the metadata");
    for (int i = 0; i < count && status.ok; i++) {
        status = json_element(&at, &root, i);
        if (status.ok) put_entry(bytes, json_key(&at), json_chars(&at));
    }
    json_free(metadata);
    for (int i = 0; i < policy->schedule.steps; i++)
        json_push_number(signal, policy->schedule.alpha_bar[i]);
    char *text = json_line(signal);
    json_free(signal);
    if (!text) return status_fail(FACET_NO_MEMORY, "out of memory for the noise schedule");
    put_entry(bytes, "alpha_bar", text);
    free(text);
    if (network) put_entry(bytes, "network_name", network);
    return status;
}

FacetStatus onnx_graph_begin(Graph *g, const char *name, const char *doc, const FacetPolicy *policy,
                             const char *network)
{
    OnnxBytes *bytes = &g->bytes;
    *g = (Graph){.scope = name};
    put_int(bytes, MODEL_IR_VERSION, IR_VERSION);
    put_text(bytes, MODEL_PRODUCER, "facet");
    put_text(bytes, MODEL_DOC, doc);
    size_t opset = message_begin(bytes, MODEL_OPSET);
    put_int(bytes, OPSET_VERSION, OPSET);
    message_end(bytes, opset);
    TRY(put_metadata(bytes, policy, network));
    g->start = message_begin(bytes, MODEL_GRAPH);
    put_text(bytes, GRAPH_NAME, name);
    return status_ok();
}

FacetStatus onnx_graph_write(Graph *g, FacetStatus status, const char *path)
{
    if (status.ok) message_end(&g->bytes, g->start);
    if (status.ok && g->bytes.failed)
        status = status_fail(FACET_NO_MEMORY, "out of memory for the model");
    status = status.ok ? file_write(path, g->bytes.data, g->bytes.size)
                       : status_fail(FACET_BAD_FILE, "%s: %s", path, status.text);
    free(g->bytes.data);
    return status;
}

Name onnx_layer_norm(Graph *g, Name x, const char *layer)
{
    const Attribute attributes[] = {{.name = "axis", .kind = KIND_INT, .whole = {-1}, .count = 1},
                                    {.name = "epsilon", .kind = KIND_FLOAT, .real = 1e-5f}};
    return onnx_node(g, "LayerNormalization",
                     (Name[]){x, onnx_name_in(layer, "gamma"), onnx_name_in(layer, "beta")}, 3,
                     attributes, 2);
}
