// Exports the networks of a policy as ONNX models, for other runtimes (docs/export.md).
//
// The score network is the network of diffusion/score_net.h in standard operators of opset 17:
//   x          [rows, T, D] float   noisy chunks, normalised
//   t          [rows] int64         diffusion steps, 0 to N - 1
//   z          [rows, K] int64      values of the factors, -1 for the null token; left out of a
//                                   network that is shown no factors
//   context    [rows, F] float      features of frames; only of a policy that sees
//   prediction [rows, T, D] float   what the network predicts: eps, v or x0
// The encoder of a policy that sees is another model:
//   image      [rows, height, width, 3] float   shrunk frames, (c / 255 - 0.5) / 0.25
//   features   [rows, F] float
// The metadata are those of the policy's file, with the noise schedule's alpha_bar written out: all
// that sampling elsewhere needs.
#ifndef FACET_POLICY_ONNX_H
#define FACET_POLICY_ONNX_H

#include "policy/policy.h"

// `network` is NULL for the score network, or "encoder"; of a knet policy it names one, as "null"
// or "track=race1". The file appears whole or not at all.
FacetStatus onnx_export(const FacetPolicy *policy, const char *network, const char *path);

// Of the network that such an export writes.
size_t onnx_parameters(const FacetPolicy *policy, const char *network);

#endif
