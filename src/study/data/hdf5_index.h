// Chunks of the newest layout of HDF5 files (see hdf5_values.h).
#ifndef FACET_DATA_HDF5_INDEX_H
#define FACET_DATA_HDF5_INDEX_H

#include "hdf5_values.h"

// Calls visit for every chunk of an array with such an index, until it says no.
bool hdf5_index_chunks(Hdf5Source *source, const Hdf5Array *array, Hdf5Visit *visit, void *context);

#endif
