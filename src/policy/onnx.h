// Exports the score network of a policy as an ONNX model, for other runtimes (docs/export.md).
//
// The model is the network of diffusion/score_net.h in standard operators of opset 17:
//   x          [rows, T, D] float   noisy chunks, normalised
//   t          [rows] int64         diffusion steps, 0 to N - 1
//   z          [rows, K] int64      values of the factors, -1 for the null token; left out of a
//                                   network that is shown no factors
//   prediction [rows, T, D] float   what the network predicts: eps, v or x0
// Its metadata are those of the policy's file, with the noise schedule's alpha_bar written out: all
// that sampling elsewhere needs.
#ifndef FACET_POLICY_ONNX_H
#define FACET_POLICY_ONNX_H

#include <facet/policy.h>

// `network` is NULL for a policy of one network; of a knet policy it names one, as "null" or
// "track=race1". The file appears whole or not at all.
Status onnx_export(const Policy *policy, const char *network, const char *path);

#endif
