"""Reads an image file of images.h with h5py and checks every value.

usage: read_images.py FILE FRAMES
"""

import sys

import h5py
import numpy as np
import sample_images as sample


def check(condition, *seen):
    if not condition:
        raise SystemExit(f"{sys.argv[1]}: unexpected {seen}")


def equal(array, expected):
    check(array.dtype == expected.dtype, array.name, array.dtype)
    check(array.shape == expected.shape, array.name, array.shape)
    check(np.array_equal(array[()], expected), array.name)


def main():
    path, frames = sys.argv[1], int(sys.argv[2])
    with h5py.File(path, "r") as file:
        check(set(file) == {"images", "actions", "tasks", "flights"}, list(file))
        check(dict(file.attrs) == {"factors": sample.FACTORS, "settings": sample.SETTINGS},
              dict(file.attrs))
        images = file["images"]
        check(images.chunks == (1, sample.HEIGHT, sample.WIDTH, 3), images.chunks)
        check(images.compression == "gzip" and not images.shuffle, images.compression)
        equal(images, sample.images(frames))
        check(np.array_equal(images[frames // 2], sample.images(frames)[frames // 2]), "one frame")
        equal(file["actions"], sample.actions(frames))
        equal(file["tasks"], sample.tasks(frames))
        equal(file["flights"], sample.flights(frames))


main()
