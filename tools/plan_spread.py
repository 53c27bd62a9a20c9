#!/usr/bin/env python3
"""How far a policy's plans are from the demonstrations' mean, and from each other.

For each task: the mean over the keypoints of |mean plan - mean demonstration| (bias) and of the
plans' standard deviation over seeds (spread), in metres, and the mean speeds. The first four
keypoints are left out: demonstrations start apart there.
Run: python3 tools/plan_spread.py build/facet DEMOS POLICY TEMPERATURE TASK...
"""
import json
import subprocess
import sys
import tempfile

import h5py
import numpy as np

PLANS, FIRST = 8, 4

facet, demos, policy, temperature, *tasks = sys.argv[1:]
shown = {}
with h5py.File(demos) as f:
    for demo in f["data"].values():
        name = demo.attrs["track"] + "/" + demo.attrs["size"]
        shown.setdefault(name, []).append(demo["actions"][:])
print(f"{'task':16} {'bias m':>7} {'worst':>7} {'spread':>7} {'m/s':>6} {'shown':>6}")
for task in tasks:
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([facet, "sample", "--policy", policy, "--task", task, "--count", str(PLANS),
                        "--temperature", temperature, "--quiet", "--json", out.name], check=True)
        plans = np.array(json.load(open(out.name))["samples"])
    mean = np.mean(shown[task], 0)
    bias = np.linalg.norm((plans.mean(0) - mean)[FIRST:, :3], axis=1)
    spread = np.sqrt((plans[:, FIRST:, :3].std(0) ** 2).sum(1))
    print(f"{task:16} {bias.mean():7.3f} {bias.max():7.3f} {spread.mean():7.3f} "
          f"{plans[:, :, 3].mean():6.2f} {mean[:, 3].mean():6.2f}")
