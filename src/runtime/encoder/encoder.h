// The image encoder: a residual convolutional network from a frame to a vector of features.
//
//   stem     h = act(norm(conv(image)))            kernel and stride of the stem, then a max pool
//   stage s  blocks of  h <- act(skip(h) + norm(conv(act(norm(conv(h))))))
//   head     y = W [keypoints(h); mean(h); h] + b          h itself only where the config says so;
//   then y <- norm(y)
//
// Convolutions in stages have kernel 3; a stage's first block takes its stride, and where the shape
// changes the skip is a strided 1x1 convolution with a norm. The norm is GroupNorm, or none (the
// batch norm of imported weights is folded into convolutions with a bias). keypoints(h) is the
// spatial softmax: for each channel the mean place (u, v) in [-1, 1]^2 under softmax(h). It keeps
// where things are, which an average forgets.
//
// One description covers the small default and ResNet-18 (He et al. 2016).
#ifndef FACET_ENCODER_ENCODER_H
#define FACET_ENCODER_ENCODER_H

#include "base/pool.h"
#include "math/real.h"
#include "nn/tensor.h"

#include <stdbool.h>
#include <stdint.h>

enum { ENCODER_STAGES_MAX = 4, ENCODER_BLOCKS_MAX = 4 };

typedef struct EncoderConfig {
    int width, height; // pixels of an image, after shrinking
    int shrink;        // the camera's frame is averaged over shrink x shrink pixels first
    int stem_channels, stem_kernel, stem_stride;
    bool stem_pool; // a 3x3 max pool of stride 2 after the stem
    int stages;
    int channels[ENCODER_STAGES_MAX];
    int strides[ENCODER_STAGES_MAX];
    int blocks;         // a stage
    int groups;         // of GroupNorm; 0 for convolutions with a bias and no norm
    int frozen;         // how many of stem, stage 1, stage 2, ... keep their weights in training
    bool flat;          // the head takes the last activation whole as well
    bool norm_features; // the result is normalised over its width
    int features;       // width of the result
} EncoderConfig;

// "small": 80x60, shrunk by 4, trained on two cores. "small160": the same at 160x120. "resnet18":
// at 320x240, with stem and the first two stages frozen at their initial values: not the paper's,
// which begins with ImageNet's weights. "resnet18-torchvision" is the same without a norm, for
// imported weights (train/torchvision.h). A failure names the known ones.
FacetStatus encoder_config_find(EncoderConfig *config, const char *name);

bool encoder_config_equal(const EncoderConfig *a, const EncoderConfig *b);

typedef struct Encoder Encoder; // the shape, and its table of tensors

FacetStatus encoder_create(Encoder **encoder, EncoderConfig config);
void encoder_free(Encoder *encoder);
const EncoderConfig *encoder_config(const Encoder *encoder);
const TensorTable *encoder_table(const Encoder *encoder);
double encoder_flops(const Encoder *encoder);         // of the products of one image's forward pass
double encoder_flops_trained(const Encoder *encoder); // of them, those of trained parts

// The first number of the block that is trained: the frozen parts stand before it.
size_t encoder_trained_from(const Encoder *encoder);

#define EncoderWork         REAL_NAME(EncoderWork)
#define encoder_work_create REAL_NAME(encoder_work_create)
#define encoder_work_free   REAL_NAME(encoder_work_free)
#define encoder_load        REAL_NAME(encoder_load)
#define encoder_forward     REAL_NAME(encoder_forward)

typedef struct EncoderWork EncoderWork;

// A workspace for up to `images` images with a pool of up to `threads` threads, to evaluate or to
// train. The encoder must outlive it. Training shares the images out over the threads; evaluating
// one image shares out the rows of each layer. The bits do not depend on the threads either way.
FacetStatus encoder_work_create(EncoderWork **work, const Encoder *encoder, int images, int threads,
                                bool train);
void encoder_work_free(EncoderWork *work);

// Takes the parameters, a block of the encoder's table: packs the weights, and keeps the pointer.
void encoder_load(EncoderWork *work, const Real *params, FacetPool *pool);

// features [images][features] from inputs [images][height][width][3] (encoder/frame.h).
void encoder_forward(Real *features, EncoderWork *work, const Real *inputs, int images,
                     FacetPool *pool);

#endif
