"""Writes demonstrations of a robot that is a point and goes to a goal, for tests of training.

usage: write_robot.py FOLDER

robot.h5: the place of the goal is the task, column and row of a 3 x 3 grid. It observes its place,
and a number that never changes. Demos have 6 to 17 steps, those of middle/centre begin farther out
than all others, and mask/train and mask/valid are parts of it. small.h5 has two short demos of each
of four tasks.
eyes_WxH.h5 are small too, with two cameras that show the place as a spot.
"""

import json
import os
import sys

import h5py
import numpy as np

COLUMNS = {"left": -0.6, "middle": 0.0, "right": 0.6}
ROWS = {"low": -0.6, "centre": 0.0, "high": 0.6}


def drive(rng, goal, steps, reach):
    place = rng.uniform(-reach, reach, 2)
    places, actions = [], []
    for _ in range(steps):
        action = 0.3 * (goal - place)
        places.append(place)
        actions.append(action + 0.005 * rng.standard_normal(2))
        place = place + action
    return np.array(places), np.array(actions)


def spot(places, width, height):
    """Images [rows][height][width][3] that are bright near the place."""
    y, x = np.mgrid[:height, :width]
    u, v = 2 * x / (width - 1) - 1, 2 * y / (height - 1) - 1
    away = (u[None] - places[:, 0, None, None]) ** 2 + (v[None] - places[:, 1, None, None]) ** 2
    bright = (255 * np.exp(-8 * away)).astype(np.uint8)
    return np.repeat(bright[..., None], 3, axis=3)


def write(path, tasks, copies, steps, seed, size=None):
    rng = np.random.default_rng(seed)
    parts = {"train": [], "valid": []}
    with h5py.File(path, "w") as file:
        data = file.create_group("data")
        data.attrs["factors"] = json.dumps({"column": list(COLUMNS), "row": list(ROWS)})
        for copy in range(copies):
            for column, row in tasks:
                far = (column, row) == ("middle", "centre")
                places, actions = drive(rng, np.array([COLUMNS[column], ROWS[row]]),
                                        int(rng.integers(*steps)), 3.0 if far else 1.0)
                name = f"demo_{len(data)}"
                demo = data.create_group(name)
                demo.attrs.update(num_samples=len(actions), column=column, row=row)
                demo["actions"] = actions
                demo["obs/place"] = places
                demo["obs/mode"] = np.full((len(actions), 1), 7.0)
                if size:
                    demo["obs/above"] = spot(places, *size)
                    demo["obs/below"] = spot(-places, *size)
                parts["valid" if copy == copies - 1 else "train"].append(name)
        for part, names in parts.items():
            file[f"mask/{part}"] = np.array(names, dtype="S")


def main():
    folder = sys.argv[1]
    tasks = [(column, row) for column in COLUMNS for row in ROWS]
    few = [("left", "low"), ("left", "high"), ("right", "low"), ("right", "high")]
    write(os.path.join(folder, "robot.h5"), tasks, 10, (6, 18), 1)
    write(os.path.join(folder, "small.h5"), few, 2, (3, 6), 2)
    for width, height in ((84, 84), (50, 38), (16, 12)):
        write(os.path.join(folder, f"eyes_{width}x{height}.h5"), few, 2, (3, 6), 3,
              (width, height))


main()
