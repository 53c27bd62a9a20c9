"""Writes files as robomimic's tools write them, with demos of several lengths, and broken ones.

usage: write_observed.py FOLDER

robot.h5 is good. Each function below breaks such a file in one way; the file has its name.
"""

import json
import os
import sys

import h5py
import numpy as np

LENGTHS = [3, 7, 5, 1, 4]
HEIGHT, WIDTH = 5, 4


def joints(demo, rows):
    """Eighths, which every float holds."""
    return demo + 0.25 * np.arange(rows)[:, None] + 0.125 * np.arange(3)[None, :]


def wrist(demo, rows):
    row, y, x, c = np.ogrid[:rows, :HEIGHT, :WIDTH, :3]
    return ((50 * demo + 20 * row + 7 * y + 3 * x + c) % 256).astype(np.uint8)


def good(file):
    data = file.create_group("data")
    data.attrs["env_args"] = json.dumps({"env_name": "Lift", "type": 1, "env_kwargs": {}})
    data.attrs["total"] = sum(LENGTHS)
    data.attrs["factors"] = json.dumps({"skill": ["lift", "push"], "object": ["can", "cube"]})
    for n, rows in enumerate(LENGTHS):
        demo = data.create_group(f"demo_{n}")
        demo.attrs["num_samples"] = rows
        demo.attrs["model_file"] = "<mujoco/>"
        demo.attrs["skill"] = ["lift", "push"][n % 2]
        demo.attrs["object"] = ["can", "cube"][n // 2 % 2]
        demo.create_dataset("actions", data=-joints(n, rows)[:, :2])
        demo.create_dataset("states", data=np.zeros((rows, 9)))
        demo.create_dataset("rewards", data=np.zeros(rows))
        demo.create_dataset("dones", data=np.zeros(rows, dtype=np.int64))
        for obs in ("obs", "next_obs"):
            demo.create_dataset(f"{obs}/joints", data=joints(n, rows).astype(np.float32))
            demo.create_dataset(f"{obs}/gripper", data=np.full((rows, 1), 0.5 * n))
            demo.create_dataset(f"{obs}/wrist", data=wrist(n, rows), compression="gzip",
                                chunks=(1, HEIGHT, WIDTH, 3))
    file["mask/train"] = np.array(["demo_4", "demo_0", "demo_2"], dtype="S")
    file["mask/valid"] = np.array([b"demo_1"])
    file["mask/any_length"] = np.array(["demo_3", "demo_1"], dtype=object)
    file["mask/twice"] = np.array(["demo_1", "demo_1"], dtype="S32")
    return data


def replace(group, name, values):
    del group[name]
    group[name] = values


def wider(file, data):
    replace(data["demo_2/obs"], "joints", np.zeros((5, 4)))


def longer(file, data):
    replace(data["demo_2/obs"], "joints", np.zeros((6, 3)))


def gone(file, data):
    del data["demo_3/obs/joints"]


def no_obs(file, data):
    for n in range(5):
        del data[f"demo_{n}/obs"]


def not_finite(file, data):
    values = joints(1, 7)
    values[6, 2] = np.nan
    replace(data["demo_1/obs"], "joints", values)


def larger_image(file, data):
    replace(data["demo_1/obs"], "wrist", np.zeros((7, 5, 5, 3), dtype=np.uint8))


def fewer_images(file, data):
    replace(data["demo_1/obs"], "wrist", wrist(1, 6))


def float_image(file, data):
    replace(data["demo_1/obs"], "wrist", wrist(1, 7) / 255.0)


def gray_image(file, data):
    for n, rows in enumerate(LENGTHS):
        replace(data[f"demo_{n}/obs"], "wrist", wrist(n, rows)[..., :1])


def mask_of_nobody(file, data):
    replace(file, "mask/train", np.array(["demo_0", "demo_9"], dtype="S"))


def mask_of_numbers(file, data):
    replace(file, "mask/train", np.arange(3))


def mask_empty(file, data):
    replace(file, "mask/train", np.array([], dtype="S6"))


def no_mask(file, data):
    del file["mask"]


BROKEN = [wider, longer, gone, no_obs, not_finite, larger_image, fewer_images, float_image,
          gray_image, mask_of_nobody, mask_of_numbers, mask_empty, no_mask]


def main():
    folder = sys.argv[1]
    with h5py.File(os.path.join(folder, "robot.h5"), "w") as file:
        good(file)
    for broken in BROKEN:
        with h5py.File(os.path.join(folder, broken.__name__ + ".h5"), "w") as file:
            broken(file, good(file))


main()
