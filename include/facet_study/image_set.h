// Camera frames with what the expert would do next, in HDF5 files that need not fit in memory.
//
// A file holds N frames: images [N][height][width][3] in bytes, compressed, one chunk a frame;
// actions [N][T][D], what the expert does from there; tasks [N][K], values of the factors; flights
// [N], which flight of the file a frame belongs to. Attributes carry the factor space (JSON) and a
// text of settings. h5py reads it with no help.
//
// A writer adds frames one after the other and keeps no more than a few in memory; the file gets
// its name when it is complete. A set may be several files with one factor space and one shape:
// the rounds of DAgger.
#ifndef FACET_IMAGE_SET_H
#define FACET_IMAGE_SET_H

#include <facet/api.h>
#include <facet/factor.h>
#include <facet/pool.h>
#include <facet/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetFrameShape {
    int width, height; // pixels
    int horizon, dim;  // T, D
} FacetFrameShape;

// ---- Writing ----------------------------------------------------------------------------------

typedef struct FacetImageWriter FacetImageWriter;

// `settings` is a text that is kept with the file (JSON of how it was made), or NULL.
FACET_API FacetStatus facet_image_writer_create(FacetImageWriter **writer, const char *path,
                                                const FacetFactorSpace *space,
                                                FacetFrameShape shape, const char *settings);

// Compresses and adds `count` frames: rgb [count][height][width][3], actions [count][T][D]. The
// pool compresses; NULL uses the calling thread.
FACET_API FacetStatus facet_image_writer_add(FacetImageWriter *writer, const uint8_t *rgb,
                                             const double *actions, const FacetFactorTask *tasks,
                                             const int *flights, int count, FacetPool *pool);

// Completes the file under its name. Close instead gives it up; it accepts NULL.
FACET_API FacetStatus facet_image_writer_finish(FacetImageWriter *writer); // frees the writer
FACET_API void facet_image_writer_abandon(FacetImageWriter *writer);

// ---- Reading ----------------------------------------------------------------------------------

typedef struct FacetImageSet FacetImageSet;

// Opens one file or several as one set; frames are numbered through. Everything but the images is
// checked and read at once: shapes, tasks inside the space, finite actions, as many images as
// actions, none of them cut short. A failure names the file and the array.
FACET_API FacetStatus facet_image_set_open(FacetImageSet **set, const char *const *paths,
                                           int count);
FACET_API void facet_image_set_close(FacetImageSet *set);

FACET_API int64_t facet_image_set_count(const FacetImageSet *set);
FACET_API FacetFrameShape facet_image_set_shape(const FacetImageSet *set);
FACET_API const FacetFactorSpace *facet_image_set_space(const FacetImageSet *set);
FACET_API const char *
facet_image_set_settings(const FacetImageSet *set); // of the first file; "" when there are none
FACET_API FacetFactorTask facet_image_set_task(const FacetImageSet *set, int64_t frame);
FACET_API const double *facet_image_set_actions(const FacetImageSet *set, int64_t frame); // [T][D]
FACET_API int facet_image_set_file(const FacetImageSet *set, int64_t frame); // which of the paths
FACET_API int facet_image_set_flight(const FacetImageSet *set, int64_t frame);

// Reads the images of these frames, [count][height][width][3]. The pool's threads decompress. A set
// is read by one caller at a time.
FACET_API FacetStatus facet_image_set_read(uint8_t *rgb, FacetImageSet *set, const int64_t *frames,
                                           int count, FacetPool *pool);

#ifdef __cplusplus
}
#endif

#endif
