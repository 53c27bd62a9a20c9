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

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--steps", default="50", help="denoising steps of a plan")
parser.add_argument("--mode", default="composed", help="composed or joint")
for name in ("facet", "demos", "policy", "temperature"):
    parser.add_argument(name)
parser.add_argument("tasks", nargs="*", help="all of the demonstrations' when there are none")
args = parser.parse_args()


def spread(plans):
    """The standard deviation of each keypoint's place."""
    return np.sqrt((plans[:, FIRST:, :3].std(0) ** 2).sum(1)).mean()


shown = {}
with h5py.File(args.demos) as f:
    for demo in f["data"].values():
        name = demo.attrs["track"] + "/" + demo.attrs["size"]
        shown.setdefault(name, []).append(demo["actions"][:])
print(f"{'task':16} {'bias m':>7} {'worst':>7} {'spread':>7} {'shown':>7} {'m/s':>6} {'shown':>6}")
rows = []
for task in args.tasks or shown:
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([args.facet, "sample", "--policy", args.policy, "--task", task, "--count",
                        str(PLANS), "--temperature", args.temperature, "--steps", args.steps,
                        "--mode", args.mode, "--quiet", "--json", out.name],
                       check=True, stdout=subprocess.DEVNULL)
        plans = np.array(json.load(open(out.name))["samples"])
    demos = np.array(shown[task])
    mean = demos.mean(0)
    bias = np.linalg.norm((plans.mean(0) - mean)[FIRST:, :3], axis=1)
    rows.append([bias.mean(), bias.max(), spread(plans), spread(demos), plans[:, :, 3].mean(),
                 mean[:, 3].mean()])
    print(ROW.format(task, *rows[-1]), flush=True)
if len(rows) > 1:
    print(ROW.format("mean", *np.mean(rows, 0)))
