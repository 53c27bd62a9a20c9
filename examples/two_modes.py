#!/usr/bin/env python3
"""Where one denoising step must fail: a task with two right plans.

Writes demonstrations of four tasks: a way to a near or a far goal that is open, or blocked by an
obstacle which the demonstrations pass on the left or on the right with equal probability. Trains a
small policy on them, samples every task with 1 to 50 steps and prints how many plans lie near a
demonstrated one. One step gives the mean of all right plans: where the way is open that is the plan,
where it is blocked it is the obstacle.

Run: python3 examples/two_modes.py FACET FOLDER [OPTION of facet train ...]
     python3 examples/two_modes.py build/facet out/two-modes --composed-loss 3
"""
import json
import os
import subprocess
import sys

import h5py
import numpy as np

STEPS, DEMOS, PLANS = 16, 32, 200
ASIDE = 1.0  # m, how far the demonstrations pass from the obstacle's middle
NEAR = 0.25  # m, of a plan's largest distance from a demonstrated way
FACTORS = {"goal": ["near", "far"], "way": ["open", "blocked"]}
LENGTH = {"near": 4.0, "far": 8.0}  # m
SIDES = {"open": [0.0], "blocked": [-ASIDE, ASIDE]}


def path(goal, side):
    """A way [STEPS][2], m: forwards, and to the side around the middle."""
    s = np.linspace(0.0, 1.0, STEPS)
    return np.stack([LENGTH[goal] * s, side * np.sin(np.pi * s) ** 2], 1)


def write(file):
    draw = np.random.default_rng(1)
    with h5py.File(file, "w") as f:
        data = f.create_group("data")
        data.attrs["factors"] = json.dumps(FACTORS)
        tasks = [(g, w) for g in FACTORS["goal"] for w in FACTORS["way"]] * DEMOS
        for n, (goal, way) in enumerate(tasks):
            demo = data.create_group(f"demo_{n}")
            demo.attrs.update(num_samples=STEPS, goal=goal, way=way)
            shift = 0.02 * draw.standard_normal(2)
            demo["actions"] = path(goal, draw.choice(SIDES[way])) + shift


def facet(*words):
    print("$ facet", *words, flush=True)
    subprocess.run([FACET, *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)


def share_near(policy, goal, way, steps, mode):
    """The share of plans that lie near one of the demonstrated ways."""
    out = f"{FOLDER}/plans.json"
    subprocess.run([FACET, "sample", "--policy", policy, "--task", f"{goal}/{way}", "--steps",
                    str(steps), "--mode", mode, "--count", str(PLANS), "--quiet", "--json", out],
                   check=True, stdout=subprocess.DEVNULL)
    with open(out) as f:
        plans = np.array(json.load(f)["samples"])
    apart = [np.linalg.norm(plans - path(goal, side), axis=2).max(1) for side in SIDES[way]]
    return np.mean(np.min(apart, 0) < NEAR)


if len(sys.argv) < 3:
    sys.exit(__doc__)
FACET, FOLDER, *OPTIONS = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
demos, policy = f"{FOLDER}/demos.h5", f"{FOLDER}/policy.safetensors"
write(demos)
facet("train", "--data", demos, "--out", policy, "--blocks", "2", "--channels", "32", "--epochs",
      "800", *OPTIONS)
print("\nplans near a demonstrated way, %")
print(f"{'N':>3}" + "".join(f"{mode + ', ' + way:>19}" for mode in ("composed", "joint")
                            for way in FACTORS["way"]))
for steps in (1, 2, 3, 4, 6, 8, 10, 20, 30, 50):
    print(f"{steps:3}", end="")
    for mode in ("composed", "joint"):
        for way in FACTORS["way"]:
            share = np.mean([share_near(policy, goal, way, steps, mode) for goal in LENGTH])
            print(f"{100 * share:19.1f}", end="", flush=True)
    print()
