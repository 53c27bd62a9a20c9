#!/usr/bin/env python3
"""Reads demonstrations with robomimic's SequenceDataset and compares every row with h5py's.

usage: read.py FILE

run.sh makes what this needs and calls it.
"""
import contextlib
import importlib.metadata
import io
import os
import sys

sys.setdlopenflags(os.RTLD_LAZY)  # CUDA's functions are not there, and nothing calls them
import h5py
import numpy as np
import robomimic.utils.obs_utils as obs_utils
from robomimic.utils.dataset import SequenceDataset

STACK, LENGTH = 2, 4  # observations before a row, with it, and actions from it on


def rows_of(values, first, count):
    """Rows from `first` on; before the beginning the first, past the end the last."""
    return values[np.clip(np.arange(first, first + count), 0, len(values) - 1)]


def read(path):
    """Actions and observed numbers of every demo, in the order of their numbers, by h5py alone."""
    with h5py.File(path) as file:
        demos = {}
        for name in sorted(file["data"], key=lambda text: int(text.split("_")[1])):
            demo = file["data"][name]
            observed = {key: values[:] for key, values in demo["obs"].items()
                        if values.ndim == 2}
            demos[name] = demo["actions"][:], observed
        return demos


def compare_demo(dataset, first, name, actions, observed):
    """A sample has the observations of the stack before a row, and of the sequence from it on."""
    for row in range(len(actions)):
        sample = dataset[first + row]
        for found, values in [(sample["actions"], actions),
                              *((sample["obs"][key], observed[key]) for key in observed)]:
            np.testing.assert_array_equal(
                found, rows_of(values, row - STACK + 1, STACK + LENGTH - 1), f"{name}, row {row}")


def compare(path):
    """The samples, the demos and the keys, after all of them were compared."""
    demos = read(path)
    keys = sorted(next(iter(demos.values()))[1])
    with contextlib.redirect_stdout(io.StringIO()):
        obs_utils.initialize_obs_utils_with_obs_specs({"obs": {"low_dim": keys}})
    dataset = SequenceDataset(path, keys, ["actions"], frame_stack=STACK, seq_length=LENGTH,
                              load_next_obs=False)
    at = 0
    for name in demos:
        compare_demo(dataset, at, name, *demos[name])
        at += len(demos[name][0])
    if at != len(dataset) or list(demos) != dataset.demos:
        sys.exit(f"{path}: expected {at} samples of {list(demos)}, robomimic finds {len(dataset)} of "
                 f"{dataset.demos}")
    return at, len(demos), keys


def main():
    samples, demos, keys = compare(sys.argv[1])
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}"
                         for name in ("robomimic", "torch", "h5py", "numpy"))
    print(f"SequenceDataset reads {demos} demonstrations, {samples} samples of {', '.join(keys)} and "
          f"actions, as they are ({versions})")


if __name__ == "__main__":
    main()
