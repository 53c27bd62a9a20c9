#!/usr/bin/env python3
"""Flies settings of the position's observer in piazza, by a policy that saw neither piazza nor pool, on
trials that no table has; and, with the one that is the default, a policy of whose training flights half
start near the gate. Pool plays no part. What is there is not made again.

Run: python3 tools/choose_observer.py build/facet --json results/observer.json
"""
import json

import choosing

HOLD_OUT = ["--hold-out", "venue=pool", "--hold-out", "venue=piazza"]
PIAZZA = [word for venue in ("pool", "Field", "industrial") for word in ("--skip", f"venue={venue}")]
ALIKE = ["--fix-share", 0]
# the share of training flights that start near the gate, and options of the trials
SETTINGS = {
    "T 0.5 s": (0, ALIKE),
    "T 1 s": (0, ["--observer-time", 1, *ALIKE]),
    "T 2 s": (0, ["--observer-time", 2, *ALIKE]),
    "T 0.5 s, share 0.25": (0, ["--fix-share", 0.25]),
    "T 1 s, share 0.25": (0, ["--observer-time", 1, "--fix-share", 0.25]),
    "T 1 s, share 0.25, refuse 3": (0, ["--observer-time", 1, "--fix-share", 0.25, "--refuse", 3]),
    "T 2 s, share 0.25": (0, ["--observer-time", 2, "--fix-share", 0.25]),
    "T 0.5 s, share 0.25, near 0.5": (0.5, ["--fix-share", 0.25]),
}


def main():
    args = choosing.options(__doc__.splitlines()[0], "out/observer")

    def facet(*words):
        choosing.facet(args.facet, *words, "--threads", args.threads)

    def policy_of(near):
        name = f"near-{near}" if near else "policy"
        frames, policy = args.out / f"{name}.h5", args.out / f"{name}.safetensors"
        if not frames.exists():
            facet("gate", "demos", "--out", frames, "--near", near, *HOLD_OUT)
        if not policy.exists() or policy.with_name(policy.name + ".ckpt").exists():
            facet("gate", "train", "--data", frames, "--out", policy, "--near", near, "--composed-loss",
                  0.3, *HOLD_OUT, "--resume")
        return policy

    rows = []
    for name, (near, options) in SETTINGS.items():
        cell = args.out / (name.replace(" ", "-").replace(",", "") + ".json")
        if not cell.exists():
            facet("gate", "eval", "--policy", policy_of(near), "--validation", *PIAZZA, "--held-out", 8,
                  *options, "--json", cell)
        found = json.loads(cell.read_text())
        rows.append({"name": name, "near": near, "fixes": found["fixes"], "piazza": found["held_out"],
                     "offset_error": found["offset_error"]["held_out"]})
    choosing.write(args.json, args.facet, args.out, {"rows": rows})


if __name__ == "__main__":
    main()
