"""Reads the sample file of samples.h with h5py, as robomimic does, and checks every value.

usage: read_sample.py FILE DEMOS
"""

import json
import sys

import h5py
import numpy as np

TRACKS = ["race1", "race2", "Zürich"]
SIZES = ["narrow", "standard", "wide"]
STEPS, ACTIONS, STATES = 32, 3, 13


def sevenths(demo, factor, columns):
    step = np.arange(STEPS)[:, None]
    return (1000.0 * demo + factor * step + np.arange(columns)[None, :]) / 7.0


def check(condition, *seen):
    if not condition:
        raise SystemExit(f"{sys.argv[1]}: unexpected {seen}")


def equal(array, expected):
    check(array.dtype == np.float64, array.name, array.dtype)
    check(array.shape == expected.shape, array.name, array.shape)
    check(np.array_equal(array[()], expected), array.name)


def utf8(object, name):
    """The attribute is what h5py gives back as str, marked as UTF-8."""
    check(type(object.attrs[name]) is str, name, object.attrs[name])
    kind = h5py.check_string_dtype(object.attrs.get_id(name).dtype)
    check(kind.encoding == "utf-8", name, kind)


def main():
    path, demos = sys.argv[1], int(sys.argv[2])
    with h5py.File(path, "r", swmr=True, libver="latest") as file:
        check(list(file) == ["data"], list(file))
        data = file["data"]
        attributes = dict(data.attrs)
        check(set(attributes) == {"total", "env_args", "factors"}, attributes)
        check(attributes["total"] == demos * STEPS, attributes["total"])
        check(attributes["total"].dtype == np.int64, attributes["total"].dtype)
        utf8(data, "env_args")
        utf8(data, "factors")
        env = json.loads(attributes["env_args"])
        check(env["env_name"] == "facet-race" and env["type"] == 2, env)
        check(env["env_kwargs"] == {"rate": 600, "wind": [0.5, 0]}, env)
        factors = json.loads(attributes["factors"])
        check(list(factors.items()) == [("track", TRACKS), ("size", SIZES)], factors)

        check(set(data) == {f"demo_{n}" for n in range(demos)}, list(data))
        for n in range(demos):
            demo = data[f"demo_{n}"]
            attributes = dict(demo.attrs)
            task = 4 * n % 9
            check(set(attributes) == {"num_samples", "track", "size"}, attributes)
            check(attributes["num_samples"] == STEPS, attributes)
            check(attributes["num_samples"].dtype == np.int64, attributes)
            utf8(demo, "track")
            utf8(demo, "size")
            check(attributes["track"] == TRACKS[task // 3], n, attributes)
            check(attributes["size"] == SIZES[task % 3], n, attributes)
            check(set(demo) == {"actions", "obs"}, list(demo))
            check(set(demo["obs"]) == {"state", "gate"}, list(demo["obs"]))
            equal(demo["actions"], sevenths(n, 10.0, ACTIONS))
            equal(demo["obs/state"], -sevenths(n, 20.0, STATES))
            equal(demo["obs/gate"], np.arange(STEPS, dtype=np.float64)[:, None])


main()
