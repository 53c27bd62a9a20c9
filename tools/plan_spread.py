#!/usr/bin/env python3
"""How far a policy's plans are from the demonstrations' mean, and from each other.

For each task, in metres: the mean over the keypoints of |mean plan - mean demonstration| (bias) and
its largest, of the plans' standard deviation over seeds (spread), and of the demonstrations' (shown);
then the mean speeds. The first four keypoints are left out: demonstrations start apart there.
Run: python3 tools/plan_spread.py [--steps N] [--mode MODE] build/facet DEMOS POLICY TEMPERATURE TASK...
"""
import argparse
import json
import subprocess
import tempfile

import h5py
import numpy as np

PLANS, FIRST = 8, 4
ROW = "{:16} {:7.3f} {:7.3f} {:7.3f} {:7.3f} {:6.2f} {:6.2f}"


def demonstrations(path):
    """The plans that were shown of every task, by its name: [demonstration, keypoint, 4]."""
    shown = {}
    with h5py.File(path) as f:
        for demo in f["data"].values():
            name = demo.attrs["track"] + "/" + demo.attrs["size"]
            shown.setdefault(name, []).append(demo["actions"][:])
    return {name: np.array(plans) for name, plans in shown.items()}


def sample(facet, policy, task, temperature, steps="50", mode="composed"):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([facet, "sample", "--policy", policy, "--task", task, "--count", str(PLANS),
                        "--temperature", temperature, "--steps", steps, "--mode", mode, "--quiet",
                        "--json", out.name],
                       check=True, stdout=subprocess.DEVNULL)
        return np.array(json.load(open(out.name))["samples"])


def deviation(plans):
    """The standard deviation of each keypoint's place."""
    return np.sqrt((plans[:, FIRST:, :3].std(0) ** 2).sum(1)).mean()


def compare(plans, demos):
    """The numbers of a row: bias, its largest, spread, shown, and both speeds."""
    mean = demos.mean(0)
    bias = np.linalg.norm((plans.mean(0) - mean)[FIRST:, :3], axis=1)
    return [bias.mean(), bias.max(), deviation(plans), deviation(demos), plans[:, :, 3].mean(),
            mean[:, 3].mean()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", default="50", help="denoising steps of a plan")
    parser.add_argument("--mode", default="composed", help="composed or joint")
    for name in ("facet", "demos", "policy", "temperature"):
        parser.add_argument(name)
    parser.add_argument("tasks", nargs="*", help="all of the demonstrations' when there are none")
    args = parser.parse_args()
    shown = demonstrations(args.demos)
    print(f"{'task':16} {'bias m':>7} {'worst':>7} {'spread':>7} {'shown':>7} {'m/s':>6} {'shown':>6}")
    rows = []
    for task in args.tasks or shown:
        plans = sample(args.facet, args.policy, task, args.temperature, args.steps, args.mode)
        rows.append(compare(plans, shown[task]))
        print(ROW.format(task, *rows[-1]), flush=True)
    if len(rows) > 1:
        print(ROW.format("mean", *np.mean(rows, 0)))


if __name__ == "__main__":
    main()
