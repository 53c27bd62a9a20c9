"""Writes files with h5py that lead out of themselves, claim more than they hold, or are to be damaged.

usage: write_damaged.py FOLDER
"""

import os
import struct
import sys

import h5py
import numpy as np


def good(file, rows=5):
    """Texts of variable length, as h5py writes them, and packed numbers."""
    data = file.create_group("data")
    data.attrs["factors"] = '{"track":["race1","race2"],"size":["narrow","wide"]}'
    data.attrs["env_args"] = "{}"
    data.attrs["total"] = 3 * rows
    for n in range(3):
        demo = data.create_group(f"demo_{n}")
        demo.attrs["num_samples"] = rows
        demo.attrs["track"] = "race1"
        demo.attrs["size"] = "wide"
        demo.create_dataset("actions", data=np.ones((rows, 3)), chunks=(2, 3), compression="gzip")
        demo["obs/state"] = np.ones((rows, 2))
    return data


def plain(file):
    good(file)


def external_numbers(file):
    """The actions of a demo are the bytes of another file."""
    data = good(file)
    del data["demo_1/actions"]
    data["demo_1"].create_dataset("actions", (5, 3), "f8", external=[("/etc/passwd", 0, 120)])


def external_link(file):
    """A demo stands in another file."""
    data = good(file)
    del data["demo_1"]
    data["demo_1"] = h5py.ExternalLink("plain.h5", "/data/demo_0")


def claims_gigabytes(file):
    """Every demo claims 400 MB that nobody has written."""
    good(file)
    for n in range(3):
        demo = file[f"data/demo_{n}"]
        del demo["actions"]
        demo.create_dataset("actions", (5, 10**7), "f8", chunks=(1, 1000), compression="gzip")


def links_in_a_circle(file):
    data = good(file)
    data["demo_3"] = h5py.SoftLink("/data/demo_4")
    data["demo_4"] = h5py.SoftLink("/data/demo_3/x")


def many(file):
    """More links and attributes than a header of the newest layout holds, and a large one."""
    data = good(file)
    for n in range(9):
        data.attrs[f"note_{n}"] = n
        data[f"link_{n}"] = h5py.SoftLink("/data/demo_0")
    data.attrs["env_args"] = np.bytes_(b"{" + 5000 * b" " + b"}")


def main():
    for write in (plain, external_numbers, external_link, claims_gigabytes, links_in_a_circle):
        with h5py.File(os.path.join(sys.argv[1], write.__name__ + ".h5"), "w") as file:
            write(file)
    for name, write in (("latest", good), ("many", many)):
        with h5py.File(os.path.join(sys.argv[1], name + ".h5"), "w", libver="latest") as file:
            write(file)
    # An array within its header that says it has one number more than there is.
    path = os.path.join(sys.argv[1], "compact.h5")
    with h5py.File(path, "w") as file:
        layout = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        layout.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple((13,), (13,))
        array = h5py.h5d.create(file.id, b"numbers", h5py.h5t.NATIVE_DOUBLE, space, layout)
        array.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(13.0))
    with open(path, "rb") as file:
        written = file.read()
    with open(os.path.join(sys.argv[1], "fewer.h5"), "wb") as file:
        file.write(written.replace(struct.pack("<Q", 13), struct.pack("<Q", 14)))
    # More frames than one page of each index holds.
    for name, most in (("fixed", 2500), ("growing", None)):
        with h5py.File(os.path.join(sys.argv[1], name + "_index.h5"), "w", libver="latest") as file:
            for k, packing in enumerate((None, "gzip")):
                file.create_dataset(f"numbers_{k}", data=np.arange(5000.0).reshape(2500, 2),
                                    chunks=(1, 2), maxshape=(most, 2), compression=packing)


main()
