"""Writes image files with h5py that look unlike ours and are valid all the same.

usage: write_odd_images.py FOLDER

Every file holds the six frames of sample_images.py.
"""

import os
import sys

import h5py
import numpy as np
import sample_images as sample


def gzip_9(file):
    sample.write(file, compression_opts=9)


def no_compression(file):
    sample.write(file, compression=None)


def can_grow(file):
    sample.write(file, maxshape=(None, sample.HEIGHT, sample.WIDTH, 3))


def some_frames_skip_the_filter(file):
    """As HDF5 stores frames that gzip does not make smaller."""
    sample.write(file)
    images = sample.images(6)
    for n in (1, 4):
        file["images"].id.write_direct_chunk((n, 0, 0, 0), images[n].tobytes(), filter_mask=1)


def other_numbers(file):
    sample.write(file)
    big = (7.0 * sample.actions(6)).round().astype(">f4")  # whole numbers, which floats hold
    for name, values in (("actions", big), ("tasks", sample.tasks(6).astype(">i8")),
                         ("flights", sample.flights(6).astype("u1"))):
        del file[name]
        file[name] = values


def compressed_labels(file):
    sample.write(file)
    for name in ("actions", "tasks", "flights"):
        values = file[name][()]
        del file[name]
        file.create_dataset(name, data=values, chunks=True, compression="gzip", shuffle=True,
                            fletcher32=True)


def with_extras(file):
    sample.write(file)
    file.attrs["author"] = "somebody"
    file["images"].attrs["camera"] = "front"
    file["depth"] = np.zeros(6)
    file.create_group("notes")


def fixed_texts(file):
    sample.write(file)
    for name in ("factors", "settings"):
        file.attrs[name] = np.bytes_(file.attrs[name].encode())


OLD = [gzip_9, no_compression, can_grow, some_frames_skip_the_filter, other_numbers,
       compressed_labels, with_extras, fixed_texts]
LATEST = [gzip_9, no_compression, can_grow]  # each with another kind of index of its chunks


def main():
    for prefix, version, writes in (("", "earliest", OLD), ("latest_", "latest", LATEST)):
        for write in writes:
            path = os.path.join(sys.argv[1], prefix + write.__name__ + ".h5")
            with h5py.File(path, "w", libver=version) as file:
                write(file)


main()
