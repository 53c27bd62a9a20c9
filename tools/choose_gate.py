#!/usr/bin/env python3
"""Chooses settings of the single gate in piazza, by policies that saw neither piazza nor pool, on trials
that no table has. First those of the position's observer, and with the one that is the default, flights
that start near the gate and the length of the training; then, with the training that was chosen, how
far a fix is off at least, on twice the trials. Pool plays no part. What is there is not made again.

Run: python3 tools/choose_gate.py build/facet --json results/gate-choice.json
     python3 tools/choose_gate.py build/facet --stage floor --json results/gate-floor.json
"""
import json

import choosing

HOLD_OUT = ["--hold-out", "venue=pool", "--hold-out", "venue=piazza"]
PIAZZA = [word for venue in ("pool", "Field", "industrial") for word in ("--skip", f"venue={venue}")]
ALIKE = ["--fix-share", 0]
UPDATES = ["--updates", 5000]
LONGER = ["--updates", 10000]
SHARE = ["--fix-share", 0.25, "--fix-floor", 0.2]
# of a stage: trials a task; and by name, options of the frames, of the training, and of the trials
STAGES = {
    "first": (8, {
        "T 0.5 s": ([], UPDATES, ALIKE),
        "T 1 s": ([], UPDATES, ["--observer-time", 1, *ALIKE]),
        "T 2 s": ([], UPDATES, ["--observer-time", 2, *ALIKE]),
        "T 0.5 s, share 0.25": ([], UPDATES, SHARE),
        "T 1 s, share 0.25": ([], UPDATES, ["--observer-time", 1, *SHARE]),
        "T 1 s, share 0.25, refuse 3": ([], UPDATES, ["--observer-time", 1, *SHARE, "--refuse", 3]),
        "T 2 s, share 0.25": ([], UPDATES, ["--observer-time", 2, *SHARE]),
        "T 0.5 s, share 0.25, near 0.5": (["--near", 0.5], ["--near", 0.5, *UPDATES], SHARE),
        "T 0.5 s, share 0.25, 10,000 updates": ([], LONGER, SHARE),
    }),
    "floor": (16, {
        "floor 0.2 m": ([], LONGER, SHARE),
        "floor 0.4 m": ([], LONGER, ["--fix-share", 0.25, "--fix-floor", 0.4]),
        "floor 0.6 m": ([], LONGER, ["--fix-share", 0.25, "--fix-floor", 0.6]),
        "floor 1 m": ([], LONGER, ["--fix-share", 0.25, "--fix-floor", 1]),
        "floor 1.5 m": ([], LONGER, ["--fix-share", 0.25, "--fix-floor", 1.5]),
    }),
}


def main():
    args = choosing.options(__doc__.splitlines()[0], "out/gate-choice", list(STAGES))
    trials, settings = STAGES[args.stage]

    def facet(*words):
        choosing.facet(args.facet, *words, "--threads", args.threads)

    def file_of(kind, options, suffix):
        return args.out / ("-".join([kind, *(str(word).lstrip("-") for word in options)]) + suffix)

    def policy_of(seen, trained):
        frames = file_of("frames", seen, ".h5")
        policy = file_of("policy", trained, ".safetensors")
        if not frames.exists():
            facet("gate", "demos", "--out", frames, *seen, *HOLD_OUT)
        if not policy.exists() or policy.with_name(policy.name + ".ckpt").exists():
            facet("gate", "train", "--data", frames, "--out", policy, *trained, "--composed-loss", 0.3,
                  *HOLD_OUT, "--resume")
        return policy

    rows = []
    for name, (seen, trained, flown) in settings.items():
        cell = args.out / (name.replace(" ", "-").replace(",", "") + ".json")
        if not cell.exists():
            facet("gate", "eval", "--policy", policy_of(seen, trained), "--validation", *PIAZZA,
                  "--held-out", trials, *flown, "--json", cell)
        found = json.loads(cell.read_text())
        rows.append({"name": name, "training": [str(word) for word in trained], "fixes": found["fixes"],
                     "piazza": found["held_out"], "offset_error": found["offset_error"]["held_out"]})
    choosing.write(args.json, args.facet, args.out, {"rows": rows})


if __name__ == "__main__":
    main()
