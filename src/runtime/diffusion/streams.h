// Who draws which random numbers: a stream's top bits name the purpose, so that draws with the same
// seed never overlap. The weights' initial values use the purpose 0 (train/optim.h).
#ifndef FACET_DIFFUSION_STREAMS_H
#define FACET_DIFFUSION_STREAMS_H

#include <stdint.h>

#define STREAM_TRAIN   (UINT64_C(1) << 60) // + update * 2^20 + row
#define STREAM_SAMPLE  (UINT64_C(2) << 60) // + the caller's number of the sample
#define STREAM_DATA    (UINT64_C(3) << 60) // + epoch, for the order of the data
#define STREAM_IMAGE   (UINT64_C(6) << 60) // + update * 2^20 + sample, for changes of images
#define STREAM_ENCODER (UINT64_C(7) << 60) // the seed of an encoder's initial values
#define STREAM_VALID   (UINT64_C(8) << 60) // + validation * 2^20 + sample
#define STREAM_ROUTER  (UINT64_C(9) << 60) // + update * 2^20 + row, from 1 on; 0: initial values
#define STREAM_CERTIFY (UINT64_C(5) << 60) // + the number of a diagnostic sample

#endif
