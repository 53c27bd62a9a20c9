#!/usr/bin/env python3
"""Holds sentences of README and docs to the files of results.

    tools/doc_claims.py                 # names every phrase that its page does not have

A claim is a page and a phrase whose numbers are taken from the files; the page must have the phrase,
with any breaks of lines. When a study is made again, what is no longer true is named here. Sentences
about a table stand behind it and are read with it; these are the ones that are read alone.
"""
import itertools
import json
import math
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README, RESULTS, VISION = "README.md", "docs/results.md", "docs/vision.md"
COMPOSITION = "docs/composition.md"


def load(root, name):
    with open(os.path.join(root, "results", name), encoding="utf-8") as file:
        return json.load(file)


def signed(text):
    return text.replace("-", "−")


def listed(words):
    """One, two and three."""
    *first, last = [*words] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


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
        self.root = root
        self.rows = {row["name"]: row for row in load(root, "race-study.json")["rows"]}
        self.shipped = load(root, "race/ours-1.json")["methods"]
        self.steps = load(root, "steps.json")["curves"]

    def held_out(self, name):
        return Rate(self.rows[name]["held_out"], self.rows[name]["gates_held_out"])

    def lead(self, name):
        return Rate(self.rows[name]["ours_ahead"]["held_out"], self.rows[name]["gates_held_out"])

    def ahead(self, name):
        """The lead and its interval: "3.5 (95 %: 1.2 to 5.0"."""
        return f"{self.lead(name)()} (95 %: {self.lead(name).to('low', 'high')}"

    def speeds(self, name):
        return f"{100 * self.rows[name]['speed_off_held_out']:.1f} %"

    def by_pair(self, name, of_plans):
        """What the plans of each held-out pair have on the mean, over a row's trainings."""
        row, found = self.rows[name], {}
        for seed in row["seeds"]:
            cell = load(self.root, f"race/{row['method']}-{seed}.json")
            for pair, value in of_plans(cell, row["key"]):
                found.setdefault(pair, []).append(value)
        return {pair: sum(values) / len(values) for pair, values in found.items()}

    def gates_by_pair(self, name):
        return self.by_pair(name, lambda cell, key: (
            (f"{task['track']}/{task['size']}", task["share_all_seeds"] * task["gates"])
            for task in cell["methods"][key]["tasks"] if task["held_out"]))

    def speeds_by_pair(self, name):
        """In percent off the reference."""
        return self.by_pair(name, lambda cell, key: (
            (f"{plan['track']}/{plan['size']}", 100 * abs(plan["speed_generated"] / plan["speed_reference"] - 1))
            for plan in cell["heldout"] if plan["method"] == key))

    def of_shipped(self, key):
        tally = self.shipped["ours_composed"]["all_seeds"][key]
        return f"{tally['passed'] / 5:.1f}"

    def of_steps(self, steps, key):
        curve = next(c for c in self.steps
                     if (c["sampler"], c["method"], c["mode"]) == ("ddim", "ours", "composed"))
        passed = next(cell["passed"] for cell in curve["steps"] if cell["steps"] == steps)
        return f"{sum(seed[key] for seed in passed) / len(passed):.1f}"


def sign_flip(differences):
    """The share of all choices of signs whose sum is as far from 0 as theirs: an exact test of no difference."""
    far = abs(sum(differences)) - 1e-9
    signs = list(itertools.product((1, -1), repeat=len(differences)))
    return sum(abs(sum(s * d for s, d in zip(sign, differences))) >= far for sign in signs) / len(signs)


def lead_claims(r):
    """The lead over the told network, pair by pair: where it lies, and whether six pairs can show it."""
    ours, told = r.gates_by_pair(OURS), r.gates_by_pair(TOLD)
    apart = {pair: ours[pair] - told[pair] for pair in ours}
    ahead, behind = [pair for pair in apart if apart[pair] > 0.2], [pair for pair in apart if apart[pair] < -0.01]
    numbers = ("none", "one", "two", "three", "four", "five", "six")
    yield RESULTS, (f"The lead lies in {numbers[len(ahead)]} pairs, {listed(ahead)}; "
                    f"{numbers[sum(abs(gap) < 0.01 for gap in apart.values())]} are level, and on {listed(behind)} ours "
                    f"is behind by {listed(f'{-apart[pair]:.1f}' for pair in behind)}")
    level = sum(abs(gap) < 0.01 for gap in apart.values())
    yield RESULTS, (f"An exact sign-flip test over the six pairs gives p = {sign_flip(list(apart.values())):.2f}, where "
                    f"{2 ** (level + 1 - 6):.3f} is the least it could give")
    ours, told = r.speeds_by_pair(OURS), r.speeds_by_pair(TOLD)
    whole = (sum(told.values()) - sum(ours.values())) / 6
    narrow = (told.pop("race6/narrow") - ours.pop("race6/narrow")) / 6
    yield RESULTS, (f"race6/narrow, where neither passes a gate, makes {narrow:.1f} of these {whole:.1f} points: without "
                    f"it ours is {sum(ours.values()) / 5:.1f} % off and told {sum(told.values()) / 5:.1f} %, and told is "
                    f"nearer on {numbers[sum(told[pair] < ours[pair] for pair in ours)]} of the six pairs")


def sizes_by_pair(r, name):
    """Of each held-out pair beside the learned sizes of its track: what plans show of the size, and its weight."""
    row, found = r.rows[name], {}
    for seed in row["seeds"]:
        tasks = load(r.root, f"race/{row['method']}-{seed}.json")["methods"][row["key"]]["tasks"]
        for one, other in itertools.product(tasks, tasks):
            if not one["held_out"] or other["held_out"] or one["track"] != other["track"]:
                continue
            wanted, shown = (math.log(one[key] / other[key]) for key in ("speed_reference", "speed_generated"))
            sums = found.setdefault(f"{one['track']}/{one['size']}", [0, 0])
            sums[0] += shown * wanted
            sums[1] += wanted ** 2
    return found


def pair_claims(r):
    ours, told = (sizes_by_pair(r, name) for name in (OURS, TOLD))
    heavy = ours["race6/narrow"][1] + ours["race5/wide"][1]
    yield RESULTS, (f"race6/narrow and race5/wide carry {100 * heavy / sum(of[1] for of in ours.values()):.0f} % of the "
                    "weight")
    narrow = [100 * sizes["race6/narrow"][0] / sizes.pop("race6/narrow")[1] for sizes in (ours, told)]
    rest = [100 * sum(of[0] for of in sizes.values()) / sum(of[1] for of in sizes.values()) for sizes in (ours, told)]
    yield RESULTS, (f"On race6/narrow ours shows {narrow[0]:.0f} %, told {narrow[1]:.0f} %; without that pair ours has "
                    f"{rest[0]:.0f} % and told {rest[1]:.0f} %")
    gates = r.gates_by_pair(OURS)
    apart = [{pair: gates[pair] - of[pair] for pair in gates} for of in map(r.gates_by_pair, (
        TOLD_LONGER, *(f"The paper's loss, {what}, joint" for what in
                       ("operations as ours", "dropout 0.3", "dropout and operations as ours"))))]
    standard = sorted({f"{of.pop('race4/standard'):.1f}" for of in apart})
    yield RESULTS, (f"ours is ahead by {listed(standard)} on race4/standard, where they pass 8 of 10 gates in every plan, "
                    f"and by at most {max(max(of.values()) for of in apart):.1f} on any other pair")
    yield RESULTS, f"8 of 10 gates where ours passes {gates['race4/standard']:.1f}"


def size_claims(r):
    """How much of the size the speeds of plans show."""
    def share(name, group="left_out"):
        return signed(f"{100 * r.rows[name]['speed_share'][group]:.0f} %")

    track, told = "Ours, told the track alone", "Told its task, no dropout, composed all the same"
    joint, oracle = "The paper's loss, joint", "Oracle, the paper's loss, composed"
    yield RESULTS, (f"on held-out pairs ours {share(OURS)}, told {share(TOLD)}, the paper's loss {share(PAPER)} composed "
                    f"and {share(joint)} joint, the track alone {share(track)}")
    both = f"{share(OURS)} composed and" + (f" {share(JOINT)}" if share(JOINT) != share(OURS) else "") + " joint"
    yield RESULTS, (f"Held out, ours has {both}, the told network {share(TOLD)} "
                    f"({share(TOLD_LONGER)} with as many rows), the paper's loss {share(PAPER)} composed")
    yield RESULTS, f"K networks {share('K networks, composed')}, the oracle {share(oracle)}"
    both = [[share(name, group)[:-2] for group in ("left_out", "learned")] for name in (
        told, "Told its task, operations as ours, composed all the same", PAPER,
        "The paper's loss, operations as ours, composed")]
    yield RESULTS, (f"its speeds show {both[0][0]} % on held-out pairs and {both[0][1]} % on those that it learned, "
                    f"{both[1][0]} and {both[1][1]} % trained longer; the paper's loss shows {both[2][0]} and "
                    f"{both[2][1]}, {both[3][0]} and {both[3][1]}")
    longer = share("The paper's loss, operations as ours, composed", "learned")
    yield RESULTS, f"the size in its speeds goes from {share(PAPER, 'learned')[:-2]} to {longer}"


OURS, JOINT = "Ours, composed", "Ours, joint"
TOLD, TOLD_LONGER = "Told its task, no dropout, joint", "Told its task, operations as ours, joint"
PAPER, PAPER_EPS = "The paper's loss, composed", "The paper's loss, eps, composed"


def race_claims(r):
    ours, share = r.held_out(OURS), Rate(r.rows[OURS]["held_out"], 100)
    tally, track = r.rows[OURS]["held_out"], "Ours, told the track alone"
    yield RESULTS, (f"{ours()} of 30 held-out gates ({ours('least')} in all three) against "
                    f"{r.held_out(TOLD)()} ({r.held_out(TOLD).to()}), ahead by {r.ahead(TOLD)}")
    yield from lead_claims(r)
    yield RESULTS, (f"With as many rows the told one passes {r.held_out(TOLD_LONGER)()}, and the lead of "
                    f"{r.lead(TOLD_LONGER)()} may be chance ({r.lead(TOLD_LONGER).to('low', 'high')}")
    rows, drop, both_joint = (r.held_out(f"The paper's loss, {what}, joint")() for what in
                              ("operations as ours", "dropout 0.3", "dropout and operations as ours"))
    yield RESULTS, f"passes {rows} with as many rows, {drop} with the dropout of ours, and {both_joint} with both"
    alone = [r.held_out(f"The composed loss alone, {mode}")() for mode in ("composed", "joint")]
    yield RESULTS, (f"Without the agreement (`composed-loss`, one training) ours passes {alone[0]} composed and "
                    f"{alone[1]} joint")
    yield RESULTS, f"Told both factors at once ours passes {r.held_out(JOINT)()}"
    yield from size_claims(r)
    yield from pair_claims(r)
    yield RESULTS, f"{tally['passed']} of {tally['trials']} over five plans a task and three trainings"
    yield RESULTS, (f"is {share('wilson_low', 0)}–{share('wilson_high', 0)} %, a bootstrap over tasks and "
                    f"trainings {share('low', 0)}–{share('high', 0)} %")
    baseline = r.held_out("Baseline, not told its task")()
    yield RESULTS, f"the baseline, which is not told its task, passes {baseline}, and whoever"
    yield RESULTS, f"The baseline, which is not, passes {baseline}"
    yield RESULTS, (f"passes {r.held_out(track)()} of 30 held-out gates, as many as with the size")
    yield RESULTS, (f"held-out pairs are {r.speeds(OURS)} off the reference speed composed, {r.speeds(JOINT)} joint and "
                    f"{r.speeds(track)} with the track alone")
    yield RESULTS, f"The told network's speeds are {r.speeds(TOLD)} off"
    composed, paper = r.gates_by_pair(OURS), r.gates_by_pair(PAPER)
    flip = sign_flip([composed[pair] - paper[pair] for pair in composed])
    yield RESULTS, (f"it passes {r.held_out(PAPER)()} ({r.held_out(PAPER).to()}), ours ahead by {r.lead(PAPER)()} "
                    f"({r.lead(PAPER).to('low', 'high')}; sign-flip p = {flip:.3f})")
    yield RESULTS, (f"it passes {r.held_out(PAPER_EPS)()}, ours ahead by {r.lead(PAPER_EPS)()}, which may be chance "
                    f"({r.lead(PAPER_EPS).to('low', 'high')}); its speeds are {r.speeds(PAPER_EPS)} off")
    told = "Told its task, no dropout, composed all the same"
    every = r.rows[told]["held_out"]["least"] > max(r.rows[name]["held_out"]["most"] for name in (PAPER, PAPER_EPS))
    yield RESULTS, (f"passes {r.held_out(told)()} so ({r.held_out(told).to()}), more than the paper's loss "
                    + ("in every training" if every else "on the mean"))
    longer = [r.held_out(f"{name}, operations as ours, composed{rest}")() for name, rest in
              (("Told its task", " all the same"), ("The paper's loss", ""))]
    both = r.held_out("The paper's loss, dropout and operations as ours, composed")()
    yield RESULTS, f"Trained 3.5 times as long it passes {longer[1]}, with the dropout of ours as well {both}"
    yield RESULTS, f"and trained 3.5 times as long {longer[0]}. Of the size"
    yield RESULTS, f"from 160 epochs to 560 it falls from {r.held_out(PAPER)()} to {longer[1]}"
    for target in ("eps", "v"):
        composed, joint = (r.held_out(f"The paper's recipe, {target}, {mode}")() for mode in ("composed", "joint"))
        phrase = "predicting ε it passes {} composed and {} joint" if target == "eps" else "predicting v {} and {}"
        yield RESULTS, phrase.format(composed, joint)
    yield RESULTS, (f"Ours has {Rate(r.rows[OURS]['all'], r.rows[OURS]['gates'])()} and {ours()}: the second "
                    "is not reached")
    yield README, (f"over five plans a task {r.of_shipped('all')} of 104 gates, {r.of_shipped('held_out')} of 30 "
                   f"on combinations that nobody demonstrated, at 50 steps; {r.of_steps(6, 'all')} and "
                   f"{r.of_steps(6, 'held_out')} at its default of 6")
    told = sorted((r.held_out(TOLD_LONGER)(), rows, drop, both_joint), key=float)
    yield README, (f"a network that is only told both factors passes {r.held_out(TOLD)()}, others that are told, with as "
                   f"much training or the dropout of ours, {told[0]} to {told[-1]}, and ours told the track alone "
                   f"{r.held_out(track)()}")
    yield RESULTS, f"with as many rows, with that dropout or with both pass {told[0]} to {told[-1]}"


# ---- What makes it compose -----------------------------------------------------------------------


class Mechanism:
    """Networks by their variants; the four blocks are the default."""

    def __init__(self, root):
        self.root = root
        self.rows = {(row["variant"], row["composed_loss"]): row for row in load(root, "mechanism.json")["variants"]}

    def gates(self, variant, loss=0, group="left_out"):
        return round(100 * self.rows[variant, loss][group]["composed"]["share"])

    def size(self, variant, mode, group):
        return round(100 * self.rows[variant, 0]["speed_share"][mode][group])

    def without_race2(self, variant):
        """Gates of pairs left out, with the paper's loss, on the other tracks."""
        pairs = [pair for fold in range(1, 5)
                 for pair in load(self.root, f"mechanism/{variant}-w0-{fold}.json")["pairs"]
                 if pair["left_out"] and pair["track"] != "race2"]
        passed, crossings = (sum(pair["composed"][key] for pair in pairs) for key in ("passed", "crossings"))
        return round(100 * passed / crossings)


def span(numbers):
    """From the smallest to the largest, whatever their signs."""
    numbers = sorted(numbers, key=abs)
    return signed(f"{numbers[0]} to {numbers[-1]}")


def mechanism_claims(m):
    stacks = ("blocks-1", "blocks-2", "blocks-3", "default", "blocks-6", "dilated", "whole")
    hiding, never = ("default", "whole", "unet"), ("drop-0", "whole-drop-0", "unet-drop-0")
    seen = [str(m.gates(name)) for name in stacks]
    yield COMPOSITION, f"pass {', '.join(seen[:-1])} and {seen[-1]} % of the gates; the U-Net"
    yield COMPOSITION, (f"one to six blocks pass alike, {span([m.without_race2(name) for name in stacks[:5]])} %, dilations take "
                    f"it to {m.without_race2('dilated')} and {m.without_race2('whole')}, the U-Net to "
                    f"{m.without_race2('unet')}")
    yield COMPOSITION, (f"passes {m.gates('whole-drop-0')} % composed instead of {m.gates('whole')} and the U-Net "
                    f"{m.gates('unet-drop-0')} instead of {m.gates('unet')}")
    yield COMPOSITION, f"without race2 {m.without_race2('drop-0')} instead of {m.without_race2('default')}"
    left_out = [span([m.size(name, mode, "left_out") for name in names])
                for mode in ("composed", "joint") for names in (hiding, never)]
    yield COMPOSITION, (f"composed plans show {left_out[0]} % of the size with dropout, and {left_out[1]} % without; joint ones "
                    f"{left_out[2]} and {left_out[3]} %")
    gates, sizes = ([span([of(name) for name in names]) for names in (hiding, never)] for of in (
        lambda name: m.gates(name, group="training"), lambda name: m.size(name, "composed", "learned")))
    yield COMPOSITION, (f"dropout buys gates, {gates[0]} % composed instead of {gates[1]}, and no more of the size, {sizes[0]} % "
                    f"instead of {sizes[1]}")
    yield COMPOSITION, (f"{m.gates('unet', 3)} and {m.gates('blocks-3', 3)} %. Without dropout it is "
                    f"{span([m.gates(name, 3) for name in never])} %")


# ---- The single gate -----------------------------------------------------------------------------


class Gate:
    def __init__(self, root):
        self.rows, self.within = ({row["method"]: row for row in protocol["rows"]}
                                  for protocol in load(root, "gate-study.json")["protocols"])

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
    yield VISION, f"the baseline has {g(baseline, 'held_out', 'crash')()})"
    triples = [Rate(g.within[name]["success"]["held_out"], 100)(digits=0) for name in (told, ours, baseline)]
    crash = [Rate(g.within[name]["crash"]["held_out"], 100)() for name in (ours, told)]
    yield VISION, (f"told, ours and the baseline pass {triples[0]}, {triples[1]} and {triples[2]} %, one training each; "
                   f"there ours crashes in {crash[0]} % of the trials and the told network in {crash[1]}")
    yield README, f"a baseline that is not told {g.both(baseline)}"
    yield README, (f"on the mean of three trainings {g(ours, 'train')(digits=0)} % of the trials in the venues of "
                   f"training and {g(ours, 'held_out')(digits=0)} % in one never seen")
    yield README, f"told colour, gate and side has {g.both(told)}"


def claims(root):
    return [*race_claims(Race(root)), *mechanism_claims(Mechanism(root)), *gate_claims(Gate(root))]


def words(text):
    return " ".join(text.split())


def missing(wanted, texts):
    """The claims that their pages do not have."""
    return [f"{page}: expected the words '{phrase}'" for page, phrase in wanted
            if words(phrase) not in words(texts[page])]


def check(root):
    texts = {}
    for page in (README, RESULTS, COMPOSITION, VISION):
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
