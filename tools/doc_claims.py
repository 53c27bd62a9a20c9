#!/usr/bin/env python3
"""Holds sentences of README and docs to the files of results.

    tools/doc_claims.py                 # names every phrase that its page does not have

A claim is a page and a phrase whose numbers are taken from the files; the page must have the phrase,
with any breaks of lines. When a study is made again, what is no longer true is named here. Sentences
about a table stand behind it and are read with it; these are the ones that are read alone.
"""
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README, RESULTS, VISION = "README.md", "docs/results.md", "docs/vision.md"


def load(root, name):
    with open(os.path.join(root, "results", name), encoding="utf-8") as file:
        return json.load(file)


def signed(text):
    return text.replace("-", "−")


class Rate:
    """A share in units: of 30 gates, or of 100 trials."""

    def __init__(self, rate, units):
        self.rate, self.units = rate, units

    def __call__(self, key="mean", digits=1):
        return signed(f"{self.units * self.rate[key]:.{digits}f}")

    def to(self, low="least", high="most", digits=1):
        return f"{self(low, digits)} to {self(high, digits)}"


# ---- The race ------------------------------------------------------------------------------------


class Race:
    def __init__(self, root):
        self.rows = {row["name"]: row for row in load(root, "race-study.json")["rows"]}
        self.shipped = load(root, "race/ours-1.json")["methods"]
        self.steps = load(root, "steps.json")["curves"]

    def held_out(self, name):
        return Rate(self.rows[name]["held_out"], self.rows[name]["gates_held_out"])

    def lead(self, name):
        return Rate(self.rows[name]["ours_ahead"]["held_out"], self.rows[name]["gates_held_out"])

    def behind(self, name):
        """The lead and its interval: "3.5 (95 %: 1.2 to 5.0"."""
        return f"{self.lead(name)()} (95 %: {self.lead(name).to('low', 'high')}"

    def speeds(self, name):
        return f"{100 * self.rows[name]['speed_off_held_out']:.1f} %"

    def of_shipped(self, key):
        tally = self.shipped["ours_composed"]["all_seeds"][key]
        return f"{tally['passed'] / 5:.1f}"

    def of_steps(self, steps, key):
        curve = next(c for c in self.steps
                     if (c["sampler"], c["method"], c["mode"]) == ("ddim", "ours", "composed"))
        passed = next(cell["passed"] for cell in curve["steps"] if cell["steps"] == steps)
        return f"{sum(seed[key] for seed in passed) / len(passed):.1f}"


OURS, JOINT = "Ours, composed", "Ours, joint"
TOLD, TOLD_LONGER = "Told its task, no dropout, joint", "Told its task, operations as ours, joint"
PAPER, PAPER_EPS = "The paper's loss, composed", "The paper's loss, eps, composed"


def race_claims(r):
    ours, share = r.held_out(OURS), Rate(r.rows[OURS]["held_out"], 100)
    tally = r.rows[OURS]["held_out"]
    yield RESULTS, (f"{ours()} of 30 held-out gates ({ours('least')} in all three) against "
                    f"{r.held_out(TOLD)()} ({r.held_out(TOLD).to()}), ahead by {r.behind(TOLD)}")
    yield RESULTS, f"The speeds of its held-out plans are {r.speeds(OURS)} off, the told network's {r.speeds(TOLD)}"
    yield RESULTS, (f"with as many the told one passes {r.held_out(TOLD_LONGER)()}, and the lead of "
                    f"{r.lead(TOLD_LONGER)()} may be chance ({r.lead(TOLD_LONGER).to('low', 'high')}")
    yield RESULTS, f"Told both factors at once ours passes {r.held_out(JOINT)()}"
    yield RESULTS, f"{tally['passed']} of {tally['trials']} over five plans a task and three trainings"
    yield RESULTS, (f"is {share('wilson_low', 0)}–{share('wilson_high', 0)} %, a bootstrap over tasks and "
                    f"trainings {share('low', 0)}–{share('high', 0)} %")
    yield RESULTS, f"The baseline, which is not, passes {r.held_out('Baseline, not told its task')()}"
    yield RESULTS, f"it passes {r.held_out(PAPER)()}, ours ahead by {r.lead(PAPER)()} ({r.lead(PAPER).to('low', 'high')})"
    for target in ("eps", "v"):
        composed, joint = (r.held_out(f"The paper's recipe, {target}, {mode}")() for mode in ("composed", "joint"))
        words = "predicting ε it passes {} composed and {} joint" if target == "eps" else "predicting v {} and {}"
        yield RESULTS, words.format(composed, joint)
    yield RESULTS, (f"Ours has {Rate(r.rows[OURS]['all'], r.rows[OURS]['gates'])()} and {ours()}: the second "
                    "is not reached")
    yield README, (f"over five plans a task {r.of_shipped('all')} of 104 gates, {r.of_shipped('held_out')} of 30 "
                   f"on combinations it never saw, at 50 steps; {r.of_steps(6, 'all')} and "
                   f"{r.of_steps(6, 'held_out')} at its default of 6")


# ---- The single gate -----------------------------------------------------------------------------


class Gate:
    def __init__(self, root):
        self.rows = {row["method"]: row for row in load(root, "gate-study.json")["protocols"][0]["rows"]}

    def __call__(self, name, split, what="success"):
        return Rate(self.rows[name][what][split], 100)

    def both(self, name):
        """Success in the venues of training and in pool: "95 and 89 %"."""
        return " and ".join(self(name, split)(digits=0) for split in ("train", "held_out")) + " %"

    def lead(self, name, split):
        return Rate(self.rows[name]["ours_ahead"][split], 100)


def gate_claims(g):
    told, ours, paper, baseline = "Told, no dropout", "Factored, ours", "Factored, the paper's loss", "Baseline"
    pool = g.lead(told, "held_out")
    crashes = g.rows[ours]["held_out"]
    yield VISION, (f"flies {g(told, 'train')(digits=0)} % of the trials in the venues of training and "
                   f"{g(told, 'held_out')(digits=0)} % in pool")
    yield VISION, f"composed by the paper's loss it is {g.both(paper)}, by ours {g.both(ours)}"
    yield VISION, f"the baseline, which is not told, has {g.both(baseline)}"
    yield VISION, (f"In pool ours is {pool()[1:]} points behind the told network (95 %: {pool('low')[1:]} behind to "
                   f"{pool('high')} ahead")
    yield VISION, (f"Ours has {g(ours, 'train')()} and {g(ours, 'held_out')()} %, which is reached, and "
                   f"{g(ours, 'held_out', 'crash')()} % ({crashes['crash']} crashes in {crashes['trials']} trials")
    yield README, (f"on the mean of three trainings {g(ours, 'train')(digits=0)} % of the trials in the venues of "
                   f"training and {g(ours, 'held_out')(digits=0)} % in one never seen")
    yield README, f"told colour, gate and side has {g.both(told)}"


def claims(root):
    return [*race_claims(Race(root)), *gate_claims(Gate(root))]


def words(text):
    return " ".join(text.split())


def missing(wanted, texts):
    """The claims that their pages do not have."""
    return [f"{page}: expected the words '{phrase}'" for page, phrase in wanted
            if words(phrase) not in words(texts[page])]


def check(root):
    texts = {}
    for page in (README, RESULTS, VISION):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            texts[page] = file.read()
    return missing(claims(root), texts)


def main():
    wrong = check(ROOT)
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
