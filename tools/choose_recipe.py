#!/usr/bin/env python3
"""Chooses the race recipe on two training tasks that are left out as well: loss, batch, weight of the
composed loss, temperature. The tasks that the course holds out play no part. A training that is there
is not made again.

Run: python3 tools/choose_recipe.py build/facet --out out/recipe --json results/recipe.json
"""
import json
import pathlib

import choosing
import plan_spread

LEFT_OUT = ["race2/wide", "race8/standard"]
SMALL = ["--blocks", "3", "--channels", "160"]
LOSSES = [("the paper's loss", 0), ("composed loss 1", 1)]  # batch 32, 200 epochs, temperature 1
SPREADS = [(32, 1, 1), (16, 1, 1), (16, 3, 1), (16, 3, 0.5), (16, 3, 0)]  # 100 epochs


def facet(args, *words):
    choosing.facet(args.facet, *words, "--threads", args.threads)


def train(args, demos, batch, weight, epochs):
    out = args.out / f"batch{batch}-weight{weight}-epochs{epochs}.safetensors"
    if not out.exists():
        held_out = [word for task in ["course", *LEFT_OUT] for word in ("--hold-out", task)]
        facet(args, "train", "--data", demos, "--out", out, *SMALL, "--batch", batch,
              "--composed-loss", weight, "--epochs", epochs, *held_out, "--resume")
    return str(out)


def flown(args, policy):
    """Gates of the tasks that were left out, and how far plans are from the expert's path."""
    path = args.out / "flown.json"
    tasks = [word for task in LEFT_OUT for word in ("--task", task)]
    facet(args, "fly", "--policy", policy, "--temperature", "1", "--steps", "50", *tasks, "--json",
          path, "--quiet")
    keys = ("track", "size", "passed", "gates", "error_m")
    return [{key: task[key] for key in keys} for task in json.loads(path.read_text())["tasks"]]


def spread(args, demos, shown, batch, weight, temperature):
    policy = train(args, demos, batch, weight, 100)
    tasks = []
    for task in LEFT_OUT:
        noise = str(temperature or 1e-6)  # 0 would be the policy's own
        row = plan_spread.compare(plan_spread.sample(args.facet, policy, task, noise), shown[task])
        track, size = task.split("/")
        tasks.append({"track": track, "size": size, "bias_m": row[0], "spread_m": row[2]})
    return {"batch": batch, "weight": weight, "temperature": temperature, "tasks": tasks}


def main():
    args = choosing.options(__doc__.splitlines()[0], "out/recipe")
    demos = str(args.out / "demos.h5")
    if not pathlib.Path(demos).exists():
        facet(args, "demos", "--out", demos)
    shown = plan_spread.demonstrations(demos)
    document = {
        "losses": [{"name": name, "tasks": flown(args, train(args, demos, 32, weight, 200))}
                   for name, weight in LOSSES],
        "spreads": [spread(args, demos, shown, *of) for of in SPREADS],
    }
    choosing.write(args.json, args.facet, args.out, document)


if __name__ == "__main__":
    main()
