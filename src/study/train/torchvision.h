// Weights trained elsewhere: torchvision's ResNet from a safetensors file.
#ifndef FACET_ENCODER_TORCHVISION_H
#define FACET_ENCODER_TORCHVISION_H

#include "encoder/encoder.h"

// Fills the parameters of stem and stages, and leaves the head alone: torchvision's names (conv1,
// bn1, layer1.0.conv1, ..., layer2.0.downsample.0, ...), at the widths of the encoder. The encoder
// has no norm ("resnet18-torchvision"): each batch norm becomes part of the convolution before it.
// Weights of another network are refused; on failure params is not whole.
//
// torchvision takes (c - mean) / deviation of each channel, this encoder (c - 0.5) / 0.25. The
// stem's weights and bias take up the difference, and "stem.pad" is what torchvision's zero border
// is in our scale, so the results are the same at the edges too.
FacetStatus encoder_read_torchvision(float *params, const Encoder *encoder, const char *path);

#endif
