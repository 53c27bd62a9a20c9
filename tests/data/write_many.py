"""Writes files with h5py whose links and attributes are too many for the headers of the newest layout.

usage: write_many.py FOLDER
"""

import json
import os
import sys

import h5py
import numpy as np

DEMOS = 12
LINKS = 3000


def demos(file):
    """More demos than a header holds, the first of which is gone, with more attributes."""
    data = file.create_group("data", track_order=True)
    for n in range(20):
        data.attrs[f"note_{n}"] = n
    data.attrs["factors"] = json.dumps({"track": ["race1", "race2"]})
    data.attrs["env_args"] = np.bytes_(b'{"env_name": "' + 6000 * b"x" + b'"}')  # of fixed length
    data.attrs["total"] = 4 * DEMOS
    for n in range(DEMOS + 1):
        demo = data.create_group(f"demo_{n}", track_order=True)
        demo.attrs["num_samples"] = 4
        demo.attrs["track"] = f"race{1 + n % 2}"
        for k in range(9):
            demo.attrs[f"note_{k}"] = "text"
        demo["actions"] = np.full((4, 3), float(n))
    del data["demo_0"]


def links(file, count, length):
    group = file.create_group("links")
    numbers = file.create_dataset("numbers", data=np.arange(3.0))
    for n in range(count):
        group[f"link_{n:06d}_" + length * "x"] = numbers
    group["soft"] = h5py.SoftLink("/numbers")


def main():
    for name, options in (("latest", {"libver": "latest"}), ("ordered", {"track_order": True})):
        with h5py.File(os.path.join(sys.argv[1], name + ".h5"), "w", **options) as file:
            demos(file)
        # Long names fill tables of tables, short ones a block or a table.
        for length, count in ((0, 20), (4, LINKS), (300, LINKS)):
            path = os.path.join(sys.argv[1], f"{name}_{length}.h5")
            with h5py.File(path, "w", **options) as file:
                links(file, count, length)


main()
