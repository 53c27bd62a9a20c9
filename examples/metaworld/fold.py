"""Chooses how the composed policy is trained, without the held-out pairs.

Two training pairs more are left out (tasks.fold), and policies are trained on the others. What
chooses is the number of successes on the two; they are also asked for two that were learned. The
demonstrations of the six held-out pairs are not read.
"""
import csv
import dataclasses
import os

import tasks
from evaluate import write_json
from methods import Method
from record import TRAINING
from table import plan_ms, row
from work import (Clock, about_run, cell_jobs, evaluate_jobs, make_demonstrations, missing,
                  read_cells, train_policies)

SEED, UPDATES, EPISODES = 1, 6000, 25
LEARNED = [("push", "left"), ("pick-place", "right")]


@dataclasses.dataclass(frozen=True)
class Candidate:
    method: Method
    samplings: tuple  # (mode, steps) of each that is asked for pairs


def candidate(id, channels, embed, drop, weight, *samplings, agreement=0):
    """Without a weight it has no composed loss."""
    options = ("--filter", TRAINING, "--drop", drop)
    if weight:
        options += ("--composed-loss", str(weight))
    if agreement:
        options += ("--agreement", str(agreement))
    return Candidate(Method(id, id, options, "", channels=channels, embed=embed), samplings)


GOAL = "skill=0,goal=0.3"  # the goal alone is hidden
CANDIDATES = (
    candidate("told-c48-e8", 48, 8, "0", 0, ("joint", 10)),
    candidate("told-c96-e32", 96, 32, "0", 0, ("joint", 10)),
    candidate("c48-e8-w10-hide-goal", 48, 8, GOAL, 10, ("composed", 6), ("composed", 20)),
    candidate("c48-e8-w10-hide-goal-a3", 48, 8, GOAL, 10, ("composed", 6), agreement=3),
    candidate("c96-e8-w10-hide-goal", 96, 8, GOAL, 10, ("composed", 6)),
    candidate("c48-e8-w10", 48, 8, "0", 10, ("composed", 6)),
    candidate("c96-e32-w3-drop", 96, 32, "0.3", 3, ("composed", 6)),
    candidate("told-c48-e3", 48, 3, "0", 0, ("joint", 10)),
    candidate("c48-e8-w10-hide-goal-a10", 48, 8, GOAL, 10, ("composed", 6), agreement=10),
    candidate("c48-e3-w10-hide-goal-a3", 48, 3, GOAL, 10, ("composed", 6), agreement=3),
    candidate("c64-e4-w10-hide-goal-a10", 64, 4, GOAL, 10, ("composed", 6), agreement=10),
    candidate("c48-e4-w10-a10", 48, 4, "0", 10, ("composed", 6), agreement=10),
)


def policy_path(options, method):
    return os.path.join(options.out, "fold", "policies", f"{method.id}.safetensors")


def sampling_jobs(options, method, mode, steps):
    """Of a policy that is there."""
    return cell_jobs(f"{method.id}-{mode}-{steps}", SEED, policy_path(options, method), mode, steps,
                     tasks.fold() + LEARNED, EPISODES)


def run(options):
    about, folder = about_run(options), os.path.join(options.out, "fold")
    make_demonstrations(options)
    tried = sum(len(one.samplings) for one in CANDIDATES)
    clock = Clock({"training": sum(not os.path.exists(policy_path(options, one.method))
                                   for one in CANDIDATES),
                   "cell": tried * len(tasks.fold() + LEARNED)})
    train_policies(options, [(one.method, SEED, UPDATES, policy_path(options, one.method),
                              tasks.held_out() + tasks.fold()) for one in CANDIDATES], clock)
    for one in CANDIDATES:
        for mode, steps in one.samplings:
            jobs = sampling_jobs(options, one.method, mode, steps)
            clock.left["cell"] -= len(jobs) - missing(folder, jobs)
            evaluate_jobs(options, folder, jobs, about, clock)
        write_json(options.results, gather(options, about))
    print(markdown(gather(options, about)))


def looks(policy):
    """The losses on the fold's pairs in the course of a training, which need not have ended: update,
    with all factors shown, and composed."""
    try:
        with open(f"{policy}.csv", encoding="utf-8", newline="") as text:
            return [[int(line["update"]), float(line["held_out"]), float(line["held_out_composed"])]
                    for line in csv.DictReader(text) if line.get("held_out_composed")]
    except OSError:
        return []


def asked(options, one):
    """What came of the samplings whose cells are all there."""
    folder, found = os.path.join(options.out, "fold"), []
    if not os.path.exists(policy_path(options, one.method)):
        return found
    for mode, steps in one.samplings:
        cells = read_cells(folder, sampling_jobs(options, one.method, mode, steps))
        if cells:
            found.append({"mode": mode, "steps": steps, "plan_ms": plan_ms(cells),
                          "pairs": {tasks.text(cell["pair"]): cell["success"] for cell in cells}})
    return found


def gather(options, about):
    entries = []
    for one in CANDIDATES:
        method, policy = one.method, policy_path(options, one.method)
        entries.append({"id": method.id, "channels": method.channels, "embed": method.embed,
                        "options": list(method.options), "finished": os.path.exists(policy),
                        "looks": looks(policy), "asked": asked(options, one)})
    return {**about, "seed": SEED, "updates": UPDATES, "episodes": EPISODES,
            "fold": [tasks.text(pair) for pair in tasks.fold()],
            "learned": [tasks.text(pair) for pair in LEARNED], "candidates": entries}


def least(entry):
    """The loss that its sampling has, at the last look: composed beside a composed loss."""
    composed = "--composed-loss" in entry["options"]
    return entry["looks"][-1][2 if composed else 1] if entry["looks"] else float("nan")


def markdown(results):
    """A row a candidate and number of denoising steps."""
    pairs = results["fold"] + results["learned"]
    lines = [row(["candidate, steps", "width", "embedding", "options", "loss, left out", *pairs]),
             "|---" * (5 + len(pairs)) + "|"]
    for entry in results["candidates"]:
        for found in entry["asked"]:
            lines.append(row([f"{entry['id']}, {found['steps']}", entry["channels"],
                              entry["embed"], "`" + " ".join(entry["options"][2:]) + "`",
                              f"{least(entry):.3f}",
                              *(f"{found['pairs'][pair]}/{results['episodes']}"
                                for pair in pairs)]))
    return "\n".join(lines) + "\n"
