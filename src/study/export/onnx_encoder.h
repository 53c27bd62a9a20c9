// The encoder of a policy that sees as an ONNX graph (see export/onnx.h).
#ifndef FACET_POLICY_ONNX_ENCODER_H
#define FACET_POLICY_ONNX_ENCODER_H

#include "export/onnx_graph.h"

extern const char onnx_encoder_doc[];

// Nodes, constants, the input and the output, for parameters that are a block of its table.
void onnx_put_encoder(Graph *graph, const Encoder *encoder, const float *params);

#endif
