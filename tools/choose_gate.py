#!/usr/bin/env python3
"""Chooses settings of the single gate in piazza, by policies that saw neither piazza nor pool, on trials
that no table has. First those of the position's observer, and with the one that is the default, flights
that start near the gate and the length of the training; then, with the training that was chosen and on
twice the trials, how far a fix is off at least, and last how fast position and velocity are forgotten.
Pool plays no part. What is there is not made again.

Run: python3 tools/choose_gate.py build/facet --json results/gate-choice.json
     python3 tools/choose_gate.py build/facet --stage floor --json results/gate-floor.json
     python3 tools/choose_gate.py build/facet --stage velocity --json results/gate-velocity.json
"""
import json

import choosing

HOLD_OUT = ["--hold-out", "venue=pool", "--hold-out", "venue=piazza"]
PIAZZA = [word for venue in ("pool", "Field", "industrial") for word in ("--skip", f"venue={venue}")]
UPDATES = ["--updates", 5000]
LONGER = ["--updates", 10000]


def observer(time, velocity_time=None, floor=0.2, share=0.25):
    """Both forgotten at one pace unless told otherwise; a share of 0 weighs all fixes alike."""
    weights = ["--fix-share", share]
    if share:
        weights += ["--fix-floor", floor, "--velocity-time", time if velocity_time is None else velocity_time]
    return ["--observer-time", time, *weights]


# of a stage: trials a task; and by name, options of the frames, of the training, and of the trials
STAGES = {
    "first": (8, {
        "T 0.5 s": ([], UPDATES, observer(0.5, share=0)),
        "T 1 s": ([], UPDATES, observer(1, share=0)),
        "T 2 s": ([], UPDATES, observer(2, share=0)),
        "T 0.5 s, share 0.25": ([], UPDATES, observer(0.5)),
        "T 1 s, share 0.25": ([], UPDATES, observer(1)),
        "T 1 s, share 0.25, refuse 3": ([], UPDATES, observer(1) + ["--refuse", 3]),
        "T 2 s, share 0.25": ([], UPDATES, observer(2)),
        "T 0.5 s, share 0.25, near 0.5": (["--near", 0.5], ["--near", 0.5, *UPDATES], observer(0.5)),
        "T 0.5 s, share 0.25, 10,000 updates": ([], LONGER, observer(0.5)),
    }),
    "floor": (16, {f"floor {floor} m": ([], LONGER, observer(0.5, floor=floor)) for floor in (0.2, 0.4, 0.6, 1, 1.5)}),
    "velocity": (16, {f"T {time} s, velocity {word}": ([], LONGER, observer(time, kept, floor=1.5))
                      for time, kept, word in ((0.5, 0.5, "0.5 s"), (0.3, 0.3, "0.3 s"), (0.5, 4, "4 s"), (0.3, 4, "4 s"),
                                               (0.3, 0, "never"), (0.2, 4, "4 s"), (1, 4, "4 s"))}),
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
