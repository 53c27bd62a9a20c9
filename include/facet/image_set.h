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

#include <facet/factor.h>
#include <facet/pool.h>
#include <facet/status.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ImageShape {
    int width, height; // pixels
    int horizon, dim;  // T, D
} ImageShape;

// ---- Writing ----------------------------------------------------------------------------------

typedef struct ImageWriter ImageWriter;

// `settings` is a text that is kept with the file (JSON of how it was made), or NULL.
Status image_writer_create(ImageWriter **writer, const char *path, const FactorSpace *space,
                           ImageShape shape, const char *settings);

// Compresses and adds `count` frames: rgb [count][height][width][3], actions [count][T][D]. The
// pool compresses; NULL uses the calling thread.
Status image_writer_add(ImageWriter *writer, const uint8_t *rgb, const double *actions,
                        const FactorTask *tasks, const int *flights, int count, ThreadPool *pool);

// Completes the file under its name. Close instead gives it up; it accepts NULL.
Status image_writer_finish(ImageWriter *writer); // frees the writer
void image_writer_abandon(ImageWriter *writer);

// ---- Reading ----------------------------------------------------------------------------------

typedef struct ImageSet ImageSet;

// Opens one file or several as one set; frames are numbered through. Everything but the images is
// checked and read at once: shapes, tasks inside the space, finite actions, as many images as
// actions, none of them cut short. A failure names the file and the array.
Status image_set_open(ImageSet **set, const char *const *paths, int count);
void image_set_close(ImageSet *set);

int64_t image_set_count(const ImageSet *set);
ImageShape image_set_shape(const ImageSet *set);
const FactorSpace *image_set_space(const ImageSet *set);
const char *image_set_settings(const ImageSet *set); // of the first file; "" when there are none
FactorTask image_set_task(const ImageSet *set, int64_t frame);
const double *image_set_actions(const ImageSet *set, int64_t frame); // [T][D]
int image_set_file(const ImageSet *set, int64_t frame);              // which of the paths
int image_set_flight(const ImageSet *set, int64_t frame);

// Reads the images of these frames, [count][height][width][3]. The pool's threads decompress. A set
// is read by one caller at a time.
Status image_set_read(uint8_t *rgb, ImageSet *set, const int64_t *frames, int count,
                      ThreadPool *pool);

#ifdef __cplusplus
}
#endif

#endif
