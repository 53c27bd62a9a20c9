#!/usr/bin/env python3
"""Chooses the number of denoising steps on training pairs that were left out of training.

Takes results of `facet eval --step-study --json FILE`, one file a fold. For each loss and number of
steps: the gates passed on the left-out pairs by composed DDIM plans, and the difference from the
most steps with its standard error over the pairs of fold and seed, which share their noise. The
first rule of docs/steps.md is met by the smallest number from which on no difference is below minus
twice its standard error.
Run: python3 tools/choose_steps.py FILE...
"""
import json
import math
import sys

passed, gates = {}, {}  # [method][steps] -> gates passed, one a fold and seed; [method] -> gates
for name in sys.argv[1:]:
    with open(name) as f:
        curves = json.load(f)["curves"]
    for curve in curves:
        if (curve["sampler"], curve["mode"]) != ("ddim", "composed"):
            continue
        method = curve["method"]
        gates[method] = gates.get(method, 0) + curve["gates"]["left_out"]
        for cell in curve["steps"]:
            found = passed.setdefault(method, {}).setdefault(cell["steps"], [])
            found += [seed["left_out"] for seed in cell["passed"]]

for method, cells in passed.items():
    last, chosen = max(cells), None
    seeds = len(cells[last]) // len(sys.argv[1:])
    print(f"{method}: {gates[method]} gates, {seeds} seeds")
    print(f"{'N':>3} {'passed':>7} {'difference':>11} {'error':>6}")
    for steps in sorted(cells, reverse=True):
        apart = [a - b for a, b in zip(cells[steps], cells[last])]
        mean = sum(apart) / len(apart)
        error = math.sqrt(sum((a - mean) ** 2 for a in apart) / (len(apart) - 1) / len(apart))
        holds = mean >= -2 * error
        if holds and (steps == last or chosen == before):
            chosen = steps
        before = steps
        print(f"{steps:3} {sum(cells[steps]):7} {mean:11.2f} {error:6.2f}{'' if holds else '  below'}")
    print(f"smallest from which on all hold: {chosen}\n")
