// Writes ONNX models: an ONNX file is one ModelProto in the wire format of Protocol Buffers (see
// export/onnx.h for what is written).
//
// A Graph collects nodes, constants, inputs and outputs. A value has a name: that of an input, of a
// constant or of the result of a node. Running out of memory is remembered, and the last call says
// so.
#ifndef FACET_POLICY_ONNX_GRAPH_H
#define FACET_POLICY_ONNX_GRAPH_H

#include "policy/parts.h"

typedef struct OnnxBytes {
    unsigned char *data;
    size_t size, capacity;
    bool failed; // out of memory; nothing is added any more
} OnnxBytes;

typedef struct Name {
    char text[80];
} Name;

enum { ATTRIBUTE_MAX = 4 };
typedef enum AttributeKind { KIND_FLOAT = 1, KIND_INT = 2, KIND_INTS = 7 } AttributeKind;

typedef struct Attribute {
    const char *name;
    AttributeKind kind;
    float real;                   // KIND_FLOAT
    int64_t whole[ATTRIBUTE_MAX]; // KIND_INT, KIND_INTS
    int count;
} Attribute;

typedef struct Graph {
    OnnxBytes bytes;
    const char *scope; // stands before the names of nodes: the part of the network they are in
    int nodes;
    size_t start; // of the graph in the model
} Graph;

// ---- A model --------------------------------------------------------------------------------

// Begins a model with its description and the policy's metadata; `network` is noted unless NULL.
FacetStatus onnx_graph_begin(Graph *graph, const char *name, const char *doc,
                             const FacetPolicy *policy, const char *network);

// Ends it, writes it if nothing went wrong, and frees the graph.
FacetStatus onnx_graph_write(Graph *graph, FacetStatus status, const char *path);

// ---- Names and nodes ------------------------------------------------------------------------

Name onnx_name(const char *text);
Name onnx_name_in(const char *layer, const char *part); // "layer.part"

void onnx_put_node(Graph *graph, const char *op, const Name *outputs, int output_count,
                   const Name *inputs, int input_count, const Attribute *attributes, int count);

// A node with one result, which it returns; the others are special cases.
Name onnx_node(Graph *graph, const char *op, const Name *inputs, int input_count,
               const Attribute *attributes, int count);
Name onnx_unary(Graph *graph, const char *op, Name x);
Name onnx_binary(Graph *graph, const char *op, Name a, Name b);
Name onnx_transpose(Graph *graph, Name x, const int64_t *order, int rank);
Name onnx_linear(Graph *graph, Name x, const char *layer);

// The norm over the last axis with the layer's gamma and beta.
Name onnx_layer_norm(Graph *g, Name x, const char *layer); // with layer.weight and layer.bias

// ---- Constants, inputs and outputs ----------------------------------------------------------

void onnx_put_floats(Graph *graph, const char *name, const int64_t *shape, int rank,
                     const float *data);

// The vector of whole numbers, or the scalar when rank is 0.
void onnx_put_whole(Graph *graph, const char *name, const int64_t *values, int count, int rank);

// A tensor of a table, under its own name. Those of rank 3 are convolutions, [taps][in][out]; they
// become [out][in][taps], or [out][in][k][k] with two `axes`.
void onnx_put_tensor(Graph *graph, const Tensor *tensor, const float *params, int axes);

// An input or output [rows, ...] of this type; `rank` counts the dimensions after the rows.
typedef enum ValueType { TYPE_FLOAT = 1, TYPE_INT64 = 7 } ValueType;
void onnx_put_input(Graph *graph, const char *name, const char *doc, ValueType type,
                    const int *shape, int rank);
void onnx_put_output(Graph *graph, const char *name, const char *doc, ValueType type,
                     const int *shape, int rank);

#endif
