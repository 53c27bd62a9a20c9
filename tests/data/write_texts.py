"""Writes lists of texts and small images with h5py.

usage: write_texts.py FOLDER
"""

import os
import sys

import h5py
import numpy as np

NAMES = ["demo_0", "demo_10", "Zürich"]


def write(file):
    mask = file.create_group("mask")
    mask["fixed"] = np.array([name.encode() for name in NAMES])
    mask.create_dataset("variable", data=NAMES, dtype=h5py.string_dtype())
    mask.create_dataset("chunked", data=NAMES, dtype=h5py.string_dtype(), chunks=(2,))
    mask.create_dataset("none", shape=(0,), dtype="S8")
    mask["numbers"] = np.arange(3)
    mask["table"] = np.array([[b"a", b"b"], [b"c", b"d"]])
    pixels = (3 * np.arange(2 * 3 * 4 * 3) % 251).astype("u1").reshape(2, 3, 4, 3)
    file["plain"] = pixels
    file.create_dataset("packed", data=pixels, chunks=(1, 2, 3, 3), compression="gzip", shuffle=True)


def main():
    for name, version in (("old", "earliest"), ("latest", "latest")):
        with h5py.File(os.path.join(sys.argv[1], name + ".h5"), "w", libver=version) as file:
            write(file)


main()
