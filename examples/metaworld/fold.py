"""Chooses how the composed policy is trained, without the held-out pairs.

Training pairs are left out one at a time (tasks.folds), and policies are trained on the others. What
chooses is the number of successes on those left out; what was learned of the same goal stands beside
it. The demonstrations of the six held-out pairs are not read.
"""
import csv
import dataclasses
import os

import tasks
from evaluate import write_json
from methods import Method
from record import TRAINING
from table import row
from work import (Clock, about_run, cell_jobs, evaluate_jobs, make_demonstrations, missing,
                  read_cells, train_policies)

SEED, UPDATES, EPISODES = 1, 6000, 50


def candidate(id, channels, embed, drop, weight, agreement=0, updates=UPDATES):
    """Without a weight it has no composed loss, and is sampled jointly."""
    options, mode = ("--filter", TRAINING, "--drop", drop), "joint"
    if weight:
        options, mode = options + ("--composed-loss", str(weight)), "composed"
    if agreement:
        options += ("--agreement", str(agreement))
    return Method(id, id, options, mode, channels=channels, embed=embed, updates=updates)


GOAL = "skill=0,goal=0.3"  # the goal alone is hidden
CANDIDATES = (
    candidate("told-c48-e8", 48, 8, "0", 0),
    candidate("told-c96-e32", 96, 32, "0", 0),
    candidate("c48-e8-w10-hide-goal", 48, 8, GOAL, 10),
    candidate("c48-e8-w10-hide-goal-a3", 48, 8, GOAL, 10, 3),
    candidate("c48-e8-w10-hide-goal-a10", 48, 8, GOAL, 10, 10),
    candidate("c48-e3-w10-hide-goal-a3", 48, 3, GOAL, 10, 3),
    candidate("c64-e4-w10-hide-goal-a10", 64, 4, GOAL, 10, 10),
    candidate("c96-e8-w10-hide-goal", 96, 8, GOAL, 10),
    candidate("c96-e8-w10-hide-goal-a3", 96, 8, GOAL, 10, 3),
    candidate("c96-e8-w3-drop", 96, 8, "0.3", 3),
    candidate("told-c96-e8-16000", 96, 8, "0", 0, updates=16000),
    candidate("c96-e8-w10-hide-goal-16000", 96, 8, GOAL, 10, updates=16000),
)


def left_out(method, pair):
    """The candidate without a pair."""
    return dataclasses.replace(method, id=f"{method.id}-without-{'-'.join(pair)}")


def policy_path(options, method):
    return os.path.join(options.out, "fold", "policies", f"{method.id}.safetensors")


def wanted(options):
    return [method for method in CANDIDATES if method.id in options.candidate]


def runs(options):
    """Every candidate that is wanted without every pair."""
    return [(left_out(method, pair), pair) for method in wanted(options)
            for pair in tasks.folds()]


def run_jobs(options, method):
    """Of a policy that is there: all pairs of the folds, left out or learned."""
    return cell_jobs(method.id, SEED, policy_path(options, method), method.mode, method.steps,
                     tasks.folds(), EPISODES)


def run(options):
    about, folder = about_run(options), os.path.join(options.out, "fold")
    make_demonstrations(options)
    paths = [policy_path(options, method) for method, _ in runs(options)]
    clock = Clock({"training": sum(not os.path.exists(path) for path in paths),
                   "cell": len(paths) * len(tasks.folds())})
    train_policies(options, [(method, SEED, method.updates, policy_path(options, method),
                              [*tasks.held_out(), pair]) for method, pair in runs(options)], clock)
    for method, _ in runs(options):
        jobs = run_jobs(options, method)
        clock.left["cell"] -= len(jobs) - missing(folder, jobs)
        evaluate_jobs(options, folder, jobs, about, clock)
        write_json(options.results, gather(options, about))
    print(markdown(gather(options, about)))


def looks(policy):
    """The losses on the pair left out in the course of a training, which need not have ended:
    update, with all factors shown, and composed."""
    try:
        with open(f"{policy}.csv", encoding="utf-8", newline="") as text:
            return [[int(line["update"]), float(line["held_out"]), float(line["held_out_composed"])]
                    for line in csv.DictReader(text) if line.get("held_out_composed")]
    except OSError:
        return []


def fold_entry(options, method, pair):
    """What came of a candidate without a pair: None for successes that are not there yet."""
    policy = policy_path(options, method)
    cells = os.path.exists(policy) and read_cells(os.path.join(options.out, "fold"),
                                                  run_jobs(options, method))
    success = {tuple(cell["pair"]): cell["success"] for cell in cells or []}
    return {"pair": tasks.text(pair), "looks": looks(policy), "success": success.get(pair),
            "learned": {tasks.text(other): count for other, count in success.items()
                        if other != pair}}


def gather(options, about):
    entries = [{"id": method.id, "channels": method.channels, "embed": method.embed,
                "options": list(method.options), "mode": method.mode, "updates": method.updates,
                "folds": [fold_entry(options, left_out(method, pair), pair)
                          for pair in tasks.folds()]} for method in wanted(options)]
    return {**about, "seed": SEED, "episodes": EPISODES, "candidates": entries}


def cells_of(entry, episodes):
    """The cells of a candidate's row: its options, then for every fold the last loss of what is
    sampled, successes on the pair left out, and on the one that was learned."""
    cells = [entry["channels"], entry["embed"], "`" + " ".join(entry["options"][2:]) + "`"]
    for fold in entry["folds"]:
        last = fold["looks"][-1][2 if entry["mode"] == "composed" else 1]
        learned, = fold["learned"].values()
        cells += [f"{last:.3f}", f"{fold['success']}/{episodes}", f"{learned}/{episodes}"]
    return cells


def markdown(results):
    done = [entry for entry in results["candidates"]
            if all(fold["success"] is not None for fold in entry["folds"])]
    lines = [row(["candidate", "width", "embedding", "options",
                  *(text for pair in tasks.folds()
                    for text in ("loss", f"{tasks.text(pair)}, left out", "the other, learned"))]),
             "|---" * (4 + 3 * len(tasks.folds())) + "|"]
    lines += [row([entry["id"], *cells_of(entry, results["episodes"])]) for entry in done]
    return "\n".join(lines) + "\n"
