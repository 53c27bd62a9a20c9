"""Writes files with h5py that look unlike ours and are valid datasets all the same.

usage: write_odd.py FOLDER

Unless its comment says otherwise, a file holds the three demos of `numbers` under the two factors
of FACTORS, with demo n of task (tracks[n], sizes[2 - n]).
"""

import json
import os
import sys

import h5py
import numpy as np

TRACKS = ["race1", "race2", "Zürich"]
SIZES = ["narrow", "standard", "wide"]
FACTORS = {"track": TRACKS, "size": SIZES}


def numbers(demo, rows=4, columns=3):
    """Small integers, which every number type holds."""
    return 20.0 * demo + 5.0 * np.arange(rows)[:, None] + np.arange(columns)[None, :]


def plain(file, order=(0, 1, 2), text=lambda value: value, array=None):
    """Writes the three demos; `text` and `array` say how attributes and matrices are stored."""
    array = array or (lambda group, name, values: group.create_dataset(name, data=values))
    data = file.create_group("data")
    data.attrs["factors"] = text(json.dumps(FACTORS, indent=2, ensure_ascii=False))
    data.attrs["env_args"] = text(json.dumps({"env_name": "x", "type": 1, "env_kwargs": {}}))
    data.attrs["total"] = 12
    for n in order:
        demo = data.create_group(f"demo_{n}")
        demo.attrs["num_samples"] = 4
        demo.attrs["track"] = text(TRACKS[n])
        demo.attrs["size"] = text(SIZES[2 - n])
        array(demo, "actions", numbers(n))
        array(demo.create_group("obs"), "state", -numbers(n, columns=2))
    return data


def stored_as(dtype):
    return lambda group, name, values: group.create_dataset(name, data=values.astype(dtype))


def float32(file):
    plain(file, array=stored_as("<f4"))


def float16(file):
    plain(file, array=stored_as("<f2"))


def big_endian(file):
    data = plain(file, array=stored_as(">f8"))
    for n in range(3):
        data[f"demo_{n}"].attrs["num_samples"] = np.array(4, dtype=">i2")


def integers(file):
    plain(file, array=stored_as("i2"))


def chunked(file):
    plain(
        file,
        array=lambda group, name, values: group.create_dataset(
            name, data=values, chunks=(3, 2), maxshape=(None, None), compression="gzip",
            shuffle=True, fletcher32=True
        ),
    )


def fixed_texts(file):
    """Texts of fixed length: bytes, as numpy writes them."""
    plain(file, text=lambda value: np.bytes_(value.encode()))


def padded_texts(file):
    """Texts of fixed length in UTF-8, padded with spaces, as Fortran writes them."""
    data = plain(file)

    def pad(object, name):
        value = object.attrs[name].encode()
        del object.attrs[name]
        kind = h5py.h5t.TypeID.copy(h5py.h5t.FORTRAN_S1)
        kind.set_size(len(value) + 5)
        kind.set_strpad(h5py.h5t.STR_SPACEPAD)
        kind.set_cset(h5py.h5t.CSET_UTF8)
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        attribute = h5py.h5a.create(object.id, name.encode(), kind, space)
        attribute.write(np.array(value.ljust(len(value) + 5)), mtype=kind)

    pad(data, "factors")
    for n in range(3):
        pad(data[f"demo_{n}"], "track")
        pad(data[f"demo_{n}"], "size")


def one_element_arrays(file):
    """Attributes that are arrays of one element."""
    data = plain(file)
    for n in range(3):
        demo = data[f"demo_{n}"]
        demo.attrs["num_samples"] = np.array([4], dtype="u1")
        demo.attrs.create("track", np.array([TRACKS[n]], dtype=h5py.string_dtype()))


def any_order(file):
    plain(file, order=(2, 0, 1))


def with_extras(file):
    """Much that the layout does not name."""
    file.attrs["author"] = "somebody"
    file["mask/train"] = np.array([b"demo_0"])
    data = plain(file)
    data.attrs["version"] = 3
    data["readme"] = "text"
    data["demo_notes"] = np.arange(3)
    data.create_group("notes").create_group("demo_7")
    for n in range(3):
        demo = data[f"demo_{n}"]
        demo.attrs["model_file"] = "<xml/>"
        demo["rewards"] = np.zeros(4)
        demo["dones"] = np.zeros(4, dtype=bool)
        demo["states"] = np.zeros((4, 7))
        demo["next_obs/state"] = np.zeros((4, 2))
        demo.create_group("obs/camera")
        demo["obs"].attrs["frame"] = "world"


def links(file):
    """A demo that lives elsewhere, and a link that leads nowhere."""
    data = plain(file)
    file.move("data/demo_1", "elsewhere")
    data["demo_1"] = h5py.SoftLink("/elsewhere")
    data["demo_3"] = h5py.SoftLink("/nowhere")


def bare(file):
    """One factor, one demo of 1x1, no observations, no total, no env_args."""
    data = file.create_group("data")
    data.attrs["factors"] = '{"task":["only"]}'
    demo = data.create_group("demo_0")
    demo.attrs["num_samples"] = 1
    demo.attrs["task"] = "only"
    demo["actions"] = np.array([[42.5]])


def names_beyond_ten(file):
    """Demos 0, 7, 10 and 100 under five factors, out of order and one with a leading zero."""
    data = file.create_group("data")
    data.attrs["factors"] = '{"a":["x","y"],"b":["x"],"c":["x","y","z"],"d":["x"],"e":["x"]}'
    for place, name in ((3, "demo_0100"), (1, "demo_7"), (0, "demo_0"), (2, "demo_10")):
        demo = data.create_group(name)
        demo.attrs["num_samples"] = 2
        for factor in "abde":
            demo.attrs[factor] = "x"
        demo.attrs["c"] = "xyz"[place % 3]
        demo["actions"] = np.full((2, 2), float(place))


PLAIN = [float32, float16, big_endian, integers, chunked, fixed_texts, padded_texts,
         one_element_arrays, any_order, with_extras, links]


def main():
    folder = sys.argv[1]
    for write in PLAIN + [bare, names_beyond_ten]:
        with h5py.File(os.path.join(folder, write.__name__ + ".h5"), "w") as file:
            write(file)
    with h5py.File(os.path.join(folder, "latest_format.h5"), "w", libver="latest",
                   track_order=True) as file:
        plain(file)
    with h5py.File(os.path.join(folder, "user_block.h5"), "w", userblock_size=1024) as file:
        plain(file)


main()
