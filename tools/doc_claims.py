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

import doc_tables

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README, RESULTS, VISION = "README.md", "docs/results.md", "docs/vision.md"
COMPOSITION, CERTIFICATES, METAWORLD = "docs/composition.md", "docs/certificates.md", "docs/metaworld.md"
PAGES = (README, RESULTS, VISION, COMPOSITION, CERTIFICATES, METAWORLD)
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def load(root, name):
    with open(os.path.join(root, "results", name), encoding="utf-8") as file:
        return json.load(file)


def signed(text):
    return text.replace("-", "−")


def whole(number):
    """Halves go up, as in words."""
    return math.floor(number + 0.5 + 1e-9)


def in_words(number):
    return NUMBERS[number] if 0 <= number < len(NUMBERS) else f"{number}"


def ends(numbers, digits=0):
    """From the least to the most."""
    return f"{min(numbers):.{digits}f} to {max(numbers):.{digits}f}"


def ends_in_words(numbers):
    return f"{in_words(min(numbers))} to {in_words(max(numbers))}"


def share_of(tally):
    return 100 * tally["passed"] / tally["gates"]


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

    def paths_by_pair(self, name):
        """In metres from the expert's."""
        return self.by_pair(name, lambda cell, key: (
            (f"{task['track']}/{task['size']}", task["error_m"])
            for task in cell["methods"][key]["tasks"] if task["held_out"]))

    def of_cell(self, cell, method="ours_composed"):
        """The tasks of a cell by their names."""
        tasks = load(self.root, f"race/{cell}.json")["methods"][method]["tasks"]
        return {f"{task['track']}/{task['size']}": task for task in tasks}

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
    yield RESULTS, (f"That lead lies in {in_words(len(ahead))} pairs, {listed(ahead)}; "
                    f"{in_words(sum(abs(gap) < 0.01 for gap in apart.values()))} are level, and on {listed(behind)} ours "
                    f"is behind by {listed(f'{-apart[pair]:.1f}' for pair in behind)}")
    level = sum(abs(gap) < 0.01 for gap in apart.values())
    yield RESULTS, (f"An exact sign-flip test over the six pairs gives p = {sign_flip(list(apart.values())):.2f}, where "
                    f"{2 ** (level + 1 - 6):.3f} is the least it could give")
    ours, told = r.speeds_by_pair(OURS), r.speeds_by_pair(TOLD)
    whole = (sum(told.values()) - sum(ours.values())) / 6
    narrow = (told.pop("race6/narrow") - ours.pop("race6/narrow")) / 6
    yield RESULTS, (f"race6/narrow, where neither passes a gate, makes {narrow:.1f} of these {whole:.1f} points: without "
                    f"it ours is {sum(ours.values()) / 5:.1f} % off and told {sum(told.values()) / 5:.1f} %, and told is "
                    f"nearer on {in_words(sum(told[pair] < ours[pair] for pair in ours))} of the six pairs")


def sizes_by_pair(tasks, left_out, speed):
    """Of each pair left out beside the learned sizes of its track: what plans show of the size, and its weight
    (speed_share.h)."""
    found = {}
    for one, other in itertools.product(tasks, tasks):
        if not left_out(one) or left_out(other) or one["track"] != other["track"]:
            continue
        wanted = math.log(one["speed_reference"] / other["speed_reference"])
        if abs(wanted) < 1e-9:
            continue
        shown, weight = found.get(f"{one['track']}/{one['size']}", (0, 0))
        found[f"{one['track']}/{one['size']}"] = (shown + wanted * math.log(speed(one) / speed(other)),
                                                  weight + wanted ** 2)
    return found


def added(found):
    """The sums of several policies, pair by pair."""
    return {pair: [sum(of[i] for one in found for name, of in one.items() if name == pair) for i in (0, 1)]
            for one in found for pair in one}


def race_sizes(r, name):
    row = r.rows[name]
    cells = (load(r.root, f"race/{row['method']}-{seed}.json") for seed in row["seeds"])
    return added([sizes_by_pair(cell["methods"][row["key"]]["tasks"], lambda task: task["held_out"],
                                lambda task: task["speed_generated"]) for cell in cells])


def pair_claims(r):
    ours, told = (race_sizes(r, name) for name in (OURS, TOLD))
    heavy = ours["race6/narrow"][1] + ours["race5/wide"][1]
    yield RESULTS, (f"race6/narrow and race5/wide carry {100 * heavy / sum(of[1] for of in ours.values()):.0f} % of the "
                    "weight")
    narrow = [100 * sizes["race6/narrow"][0] / sizes.pop("race6/narrow")[1] for sizes in (ours, told)]
    rest = [100 * sum(of[0] for of in sizes.values()) / sum(of[1] for of in sizes.values()) for sizes in (ours, told)]
    yield RESULTS, (f"On race6/narrow ours shows {narrow[0]:.0f} %, told {narrow[1]:.0f} %; without that pair ours has "
                    f"{rest[0]:.0f} % and told {rest[1]:.0f} %")
    gates = r.gates_by_pair(OURS)
    others = [r.gates_by_pair(f"The paper's loss, {what}, joint") for what in
              ("operations as ours", "dropout 0.3", "dropout and operations as ours")]
    apart = [{pair: gates[pair] - of[pair] for pair in gates} for of in others]
    standard = [of.pop("race4/standard") for of in apart]
    yield RESULTS, (f"ours is ahead by {ends(standard, 1)} on race4/standard, and by at most "
                    f"{max(max(of.values()) for of in apart):.1f} on any other pair")
    yield RESULTS, (f"The lead over told is race6/narrow alone: without it ours has {rest[0]:.0f} % and told "
                    f"{rest[1]:.0f} %" if rest[0] < rest[1] else "The lead over told is not race6/narrow alone")


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


def shipped_claims(r):
    """What is said of the shipped policy, which is the first training of ours."""
    cell = load(r.root, "race/ours-1.json")
    (composed, _), (track, _) = (doc_tables.speeds(cell, method) for method in ("ours_composed", "ours_track"))
    yield README, f"but at speeds that are {track} off the expert's where ours are {composed[:-2]}:"
    for_all, training = ([share_of(cell["methods"][method]["all_seeds"][key])
                          for method in ("ours_composed", "ours_track")] for key in ("all", "training"))
    yield COMPOSITION, (f"On all 104 gates the size is worth {for_all[0] - for_all[1]:.1f} points ({for_all[0]:.1f} against "
                        f"{for_all[1]:.1f} % over five plans; on training tasks {training[0]:.1f} against "
                        f"{training[1]:.1f} %)")
    passed = [r.of_cell("ours-1", method)["race6/narrow"]["share_all_seeds"]
              for method in ("ours_composed", "ours_joint", "ours_track")]
    yield COMPOSITION, f"race6/narrow, which {'some rows of this table pass' if any(passed) else 'no row of this table passes'}"

    operators = {row["mode"]: row["search"] for row in load(r.root, "operators.json")["operators"]}
    product, convex = operators["product"], operators["convex"]
    yield COMPOSITION, (f"passed {'as many' if product['passed'] == convex['passed'] else 'other numbers of'} training gates, "
                        f"{product['passed']} of {product['gates']}")

    def off(task):
        return 100 * abs(task["speed_generated"] / task["speed_reference"] - 1)

    learned = {name: task for name, task in r.of_cell("ours-1").items() if not task["held_out"]}
    far = sorted(learned, key=lambda name: off(learned[name]))
    without = max(off(task) for task in r.of_cell("composed-loss-1").values() if not task["held_out"])
    yield RESULTS, (f"lie within {off(learned[far[-4]]):.1f} % of the reference on {len(far) - 3} of the {len(far)} training "
                    f"tasks, and within {off(learned[far[-1]]):.1f} % on {listed(far[:-4:-1])}")
    yield RESULTS, f"With the composed loss alone all are within {without:.1f} %"
    tasks = r.of_cell("ours-1")
    narrow, shown = tasks["race6/narrow"], [100 * tasks[f"{track}/narrow"]["speed_reference"]
                                            / tasks[f"{track}/standard"]["speed_reference"]
                                            for track in ("race5", "race8", "race6")]
    gets = 100 * narrow["speed_generated"] / tasks["race6/standard"]["speed_reference"]
    yield RESULTS, (f"race6/narrow is flown at {narrow['speed_generated']:.2f} m/s instead of "
                    f"{narrow['speed_reference']:.2f}")
    yield RESULTS, (f"of its standard speed narrow is {shown[0]:.0f} % on race5 and {shown[1]:.0f} % on race8, and it needs "
                    f"{shown[2]:.0f} % on race6 and gets {gets:.0f}")


def small_claims(r):
    """The small networks of the leave-one-out study, on the course's held-out pairs and on training pairs left out."""
    recipes = load(r.root, "leave-one-out.json")["recipes"]
    ours, paper = (next(recipe for recipe in recipes if (recipe["composed_loss"], recipe.get("agreement")) == wanted)
                   for wanted in ((3, 10), (0, None)))

    def gates(recipe, key):
        return f"{sum(pair['passed'] for pair in recipe[key]):.0f}"

    off = [100 * doc_tables.mean([abs(pair["speed_ratio"] - 1) for pair in recipe["check"]]) for recipe in (paper, ours)]
    asked, left_out = (sum(pair["crossings"] for pair in ours[key]) for key in ("check", "pairs"))
    yield RESULTS, (f"passes {gates(paper, 'check')} of {asked} gates of the six pairs and {gates(ours, 'check')} with ours, "
                    f"its speeds {off[0]:.0f} and {off[1]:.0f} % off, but on training pairs left out "
                    f"{gates(paper, 'pairs')} of {left_out} and {gates(ours, 'pairs')}")
    alone = next(recipe for recipe in recipes if recipe["composed_loss"] == 3 and "agreement" not in recipe)
    bounds = [recipe["bounds"][0]["largest_m"] for recipe in (ours, alone, paper)]
    yield CERTIFICATES, (f"passes most gates of pairs left out, {gates(ours, 'pairs')} of {left_out} without a crash, where the "
                         f"composed loss alone passes {gates(alone, 'pairs')} and the paper's loss {gates(paper, 'pairs')}, "
                         f"and its bound is {bounds[0]:.2f} m instead of {bounds[1]:.2f} and {bounds[2]:.2f}")


OURS, JOINT = "Ours, composed", "Ours, joint"
TOLD, TOLD_LONGER = "Told its task, no dropout, joint", "Told its task, operations as ours, joint"
PAPER, PAPER_EPS = "The paper's loss, composed", "The paper's loss, eps, composed"


def race_claims(r):
    ours, share = r.held_out(OURS), Rate(r.rows[OURS]["held_out"], 100)
    tally, track = r.rows[OURS]["held_out"], "Ours, told the track alone"
    yield from told_claims(r, ours)
    yield RESULTS, f"Over the first told network ours is ahead by {r.ahead(TOLD)}"
    yield from lead_claims(r)
    yield RESULTS, (f"With as many rows the told one passes {r.held_out(TOLD_LONGER)()} ({r.held_out(TOLD_LONGER).to()}), "
                    f"and the lead of {r.lead(TOLD_LONGER)()} may be chance ({r.lead(TOLD_LONGER).to('low', 'high')}")
    rows, drop, both_joint = (r.held_out(f"The paper's loss, {what}, joint")() for what in
                              ("operations as ours", "dropout 0.3", "dropout and operations as ours"))
    yield RESULTS, f"passes {rows} with as many rows, {drop} with the dropout of ours, and {both_joint} with both"
    alone = [r.held_out(f"The composed loss alone, {mode}")() for mode in ("composed", "joint")]
    yield RESULTS, (f"Without the agreement (`composed-loss`) ours passes {alone[0]} composed and {alone[1]} joint")
    yield RESULTS, f"Told both factors at once ours passes {r.held_out(JOINT)()}"
    yield from size_claims(r)
    yield from pair_claims(r)
    yield RESULTS, f"{tally['passed']} of {tally['trials']} gates over five plans a task and three trainings"
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
    hidden = r.held_out("The paper's loss, dropout 0.3, composed")()
    yield RESULTS, f"Hiding factors three times as often changes nothing ({hidden})"
    yield RESULTS, f"Trained 3.5 times as long it passes {longer[1]}, with the dropout of ours as well {both}"
    yield RESULTS, f"and trained 3.5 times as long {longer[0]}. Of the size"
    yield RESULTS, f"rows of K networks it passes {longer[1]}, and most of that is lost"
    yield RESULTS, f"from 160 epochs to 560 it falls from {r.held_out(PAPER)()} to {longer[1]}"
    paths = r.paths_by_pair("The paper's loss, operations as ours, composed").values()
    yield RESULTS, f"paths of held-out pairs being {ends(paths, 1)} m off"
    yield from shipped_claims(r)
    yield from small_claims(r)
    for target in ("eps", "v"):
        composed, joint = (r.held_out(f"The paper's recipe, {target}, {mode}")() for mode in ("composed", "joint"))
        phrase = "predicting ε it passes {} composed and {} joint" if target == "eps" else "predicting v {} and {}"
        yield RESULTS, phrase.format(composed, joint)
    yield RESULTS, (f"Ours has {Rate(r.rows[OURS]['all'], r.rows[OURS]['gates'])()} and {ours()}: the second "
                    "is not reached")
    yield README, (f"over five plans a task {r.of_shipped('all')} of 104 gates, {r.of_shipped('held_out')} of 30 "
                   f"on combinations that nobody demonstrated, at 50 steps; {r.of_steps(6, 'all')} and "
                   f"{r.of_steps(6, 'held_out')} at its default of 6")
    told = sorted((rows, drop, both_joint), key=float)
    yield RESULTS, (f"The told one passes {r.held_out(TOLD_LONGER)()} with as many rows ({r.held_out(TOLD_LONGER).to()}), ours "
                    f"ahead by {r.ahead(TOLD_LONGER)}); the paper's loss, told both at once, {told[0]} to {told[-1]} with as "
                    "many rows, with that dropout or with both")
    oracle = r.gates_by_pair("Oracle, the paper's loss, composed")["race7/standard"]
    own = r.gates_by_pair(OURS)["race7/standard"]
    yield RESULTS, (f"of which ours passes {own:.1f} on the mean, and so does the oracle" if abs(own - oracle) < 0.05 else
                    f"of which ours passes {own:.1f} on the mean, and the oracle {oracle:.1f}")


def told_claims(r, ours):
    """Ours beside all networks that are told both factors and trained without our loss."""
    own = ("Ours", "The composed loss", "Oracle")
    told = [name for name in r.rows if name.endswith("joint") and not name.startswith(own)]
    leads = sorted((r.lead(name) for name in told), key=lambda lead: lead.rate["mean"])
    weakest = min(told, key=lambda name: r.held_out(name).rate["mean"])
    sure = [name for name in told if round(r.lead(name).units * r.lead(name).rate["low"], 1) > 0]
    passed = sorted((r.held_out(name)() for name in told), key=float)
    equal = sorted((r.held_out(name)() for name in told if "operations as ours" in name), key=float)
    gates = r.gates_by_pair(OURS)
    pairs = [sum(gates[pair] - of >= 0.5 for pair, of in r.gates_by_pair(name).items()) for name in told]
    yield RESULTS, (f"our network passes {ours()} of the 30 on the mean of three trainings, more than each of "
                    f"{in_words(len(told))} networks that are told both factors and trained without our loss, {passed[0]} to "
                    f"{passed[-1]}. Its lead over them, {leads[0]()} to {leads[-1]()} gates, comes from {ends_in_words(pairs)} of the six pairs")
    yield README, (f"of those 30 gates {in_words(len(told))} networks that are told both factors and trained without our loss pass "
                   f"{passed[0]} to {passed[-1]}, the {in_words(len(equal))} with as many operations as ours {equal[0]} to "
                   f"{equal[-1]}; ours told the "
                   f"track alone passes {r.held_out('Ours, told the track alone')()}")
    yield RESULTS, ("Only over the weakest of them is it more than chance would give" if sure == [weakest] else
                    f"It is more than chance would give over {in_words(len(sure))} of them")


# ---- What makes it compose -----------------------------------------------------------------------


class Mechanism:
    """Networks by their variants; the four blocks are the default."""

    def __init__(self, root):
        self.root = root
        self.rows = {(row["variant"], row["composed_loss"]): row for row in load(root, "mechanism.json")["variants"]}

    def gates(self, variant, loss=0, group="left_out", mode="composed"):
        return round(100 * self.rows[variant, loss][group][mode]["share"])

    def metres(self, variant, loss):
        return self.rows[variant, loss]["left_out"]["composed"]["error_m"]

    def folds(self, variant, loss, of_pairs):
        """What the composed plans of the pairs left out come to, a number a fold."""
        return [of_pairs([pair["composed"] for pair in load(
            self.root, f"mechanism/{variant}-w{loss}-{fold}.json")["pairs"] if pair["left_out"]]) for fold in range(1, 5)]

    def gates_by_fold(self, variant):
        return self.folds(variant, 0, lambda plans: sum(p["passed"] for p in plans) / sum(p["crossings"] for p in plans))

    def metres_by_fold(self, variant):
        return self.folds(variant, 3, lambda plans: doc_tables.mean([plan["error_m"] for plan in plans]))

    def nearest(self, variants, variant="unet"):
        """Where this one is the nearest of them all with the composed loss."""
        by_fold = zip(*map(self.metres_by_fold, variants))
        if all(one <= min(others) for one, others in zip(self.metres_by_fold(variant), by_fold)):
            return "in every fold"
        best = min(self.metres(other, 3) for other in variants)
        return "on the mean" if self.metres(variant, 3) <= best else "not the nearest"

    def size(self, variant, mode, group):
        return round(100 * self.rows[variant, 0]["speed_share"][mode][group])

    def sizes(self, variant, mode):
        """With the paper's loss, over the folds."""
        folds = (load(self.root, f"mechanism/{variant}-w0-{fold}.json")["pairs"] for fold in range(1, 5))
        return added([sizes_by_pair(pairs, lambda pair: pair["left_out"], lambda pair: pair[mode]["speed_generated"])
                      for pairs in folds])

    def size_without(self, variant, mode, pair):
        rest = [sums for name, sums in self.sizes(variant, mode).items() if name != pair]
        return round(100 * sum(of[0] for of in rest) / sum(of[1] for of in rest))

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
    every = all(a > b for name in ("whole", "unet")
                for a, b in zip(m.gates_by_fold(f"{name}-drop-0"), m.gates_by_fold(name)))
    yield COMPOSITION, (f"passes {m.gates('whole-drop-0')} % composed instead of {m.gates('whole')} and the U-Net "
                        f"{m.gates('unet-drop-0')} instead of {m.gates('unet')}, more "
                        f"{'in every fold' if every else 'on the mean'}; the four blocks pass {m.gates('drop-0')} instead of {m.gates('default')}")
    joint = [f"{m.gates(name, mode='joint')}" for name in (*stacks, "unet")]
    yield COMPOSITION, (f"joint plans pass {', '.join(joint[:-2])} and {joint[-2]} % of the gates from one block to the widest "
                        f"dilations, and {joint[-1]} with the U-Net")
    trained = [name for name, loss in m.rows if loss == 3]
    yield COMPOSITION, (f"{ends([m.metres(name, 3) for name in stacks], 2)} m for the same stacks, and the U-Net has "
                        f"{m.metres('unet', 3):.2f} m, the nearest {m.nearest(trained)}, and of the networks that hide factors "
                        f"{m.nearest([name for name in trained if name not in never])}")
    yield COMPOSITION, f"without race2 {m.without_race2('drop-0')} instead of {m.without_race2('default')}"
    left_out = [span([m.size(name, mode, "left_out") for name in names])
                for mode in ("composed", "joint") for names in (hiding, never)]
    yield COMPOSITION, (f"composed plans show {left_out[0]} % of the size with dropout, and {left_out[1]} % without; joint ones "
                    f"{left_out[2]} and {left_out[3]} %")
    heavy = m.sizes("default", "composed")
    yield COMPOSITION, f"race5/narrow carries {100 * heavy['race5/narrow'][1] / sum(of[1] for of in heavy.values()):.0f} % of the weight"
    rest = [[f"{m.size_without(name, 'composed', 'race5/narrow')}" for name in names] for names in (hiding, never)]
    joint = [span([m.size_without(name, "joint", "race5/narrow") for name in names]) for names in (hiding, never)]
    yield COMPOSITION, (f"composed plans show {listed(rest[0])} % with dropout (four blocks, widest dilations, U-Net) and "
                        f"{listed(rest[1])} % without, joint ones {joint[0]} and {joint[1]} %")
    gates, sizes = ([span([of(name) for name in names]) for names in (hiding, never)] for of in (
        lambda name: m.gates(name, group="training"), lambda name: m.size(name, "composed", "learned")))
    yield COMPOSITION, (f"dropout buys gates, {gates[0]} % composed instead of {gates[1]}, and no more of the size, {sizes[0]} % "
                    f"instead of {sizes[1]}")
    yield COMPOSITION, (f"{m.gates('unet', 3)} and {m.gates('blocks-3', 3)} %. Without dropout it is "
                    f"{span([m.gates(name, 3) for name in never])} %")


# ---- The single gate -----------------------------------------------------------------------------


class Gate:
    def __init__(self, root, name="gate-study.json"):
        self.root = root
        self.rows, self.within = ({row["method"]: row for row in protocol["rows"]}
                                  for protocol in load(root, name)["protocols"])

    def __call__(self, name, split, what="success"):
        return Rate(self.rows[name][what][split], 100)

    def both(self, name):
        """Success in the venues of training and in pool: "95 and 89 %"."""
        return " and ".join(self(name, split)(digits=0) for split in ("train", "held_out")) + " %"

    def lead(self, name, split):
        return Rate(self.rows[name]["ours_ahead"][split], 100)


def apart(points, unit=""):
    """"−6.9" as "6.9 points behind", "0.6" as "0.6 ahead"."""
    return f"{points.lstrip('−')} {unit}{'behind' if points.startswith('−') else 'ahead'}"


def gate_claims(g):
    told, ours, paper, baseline = "Told, no dropout", "Factored, ours", "Factored, the paper's loss", "Baseline"
    pool = g.lead(told, "held_out")
    crashes = g.rows[ours]["held_out"]
    yield VISION, (f"flies {g(told, 'train')(digits=0)} % of the trials in the venues of training and "
                   f"{g(told, 'held_out')(digits=0)} % in pool")
    yield VISION, f"composed by the paper's loss it is {g.both(paper)}, by ours {g.both(ours)}"
    yield VISION, f"the baseline, which is not told, has {g.both(baseline)}"
    yield VISION, (f"In pool ours is {apart(pool(), 'points ')} the told network (95 %: {apart(pool('low'))} to "
                   f"{apart(pool('high'))}, over").replace("ahead the", "ahead of the")
    crashed = g(ours, "held_out", "crash")
    yield VISION, (f"Ours has {g(ours, 'train')()} and {g(ours, 'held_out')()} %, and {crashed()} % of crashes "
                   f"({crashes['crash']} in {crashes['trials']} trials; {crashed.to()} by training)")
    reached = (g(ours, "train").rate["mean"] >= 0.88 and g(ours, "held_out").rate["mean"] >= 0.8
               and crashed.rate["mean"] <= 0.05)
    yield VISION, f"What was aimed at is {'' if reached else 'not '}reached"
    yield VISION, f"The baseline crashes less, in {g(baseline, 'held_out', 'crash')()} %"
    before = Gate(g.root, "gate-study-velocity-0.5.json")
    yield VISION, f"before had {before(ours, 'held_out', 'crash')()} % of crashes with an observer that forgot the velocity"
    triples = [Rate(g.within[name]["success"]["held_out"], 100)(digits=0) for name in (told, ours, baseline)]
    crash = [Rate(g.within[name]["crash"]["held_out"], 100)() for name in (ours, told)]
    yield VISION, (f"told, ours and the baseline pass {triples[0]}, {triples[1]} and {triples[2]} % of their trials, one "
                   f"training each; there ours crashes in {crash[0]} % and the told network in {crash[1]}")
    drop = g("The paper's loss, drop 0.5", "train"), g("The paper's loss, drop 0.5", "held_out")
    yield VISION, f"passes what ours does, {drop[0]()} and {drop[1]()} %"
    longer = "The paper's loss, longer"
    lead = g.lead(longer, "held_out")
    yield VISION, (f"The paper's loss with as many operations as ours passes {g(longer, 'train')()} and "
                   f"{g(longer, 'held_out')()} %, one training: ours is {apart(lead(), 'points ')} it in pool (95 %: "
                   f"{apart(lead('low'))} to {apart(lead('high'))})").replace("ahead it", "ahead of it")
    yield VISION, (f"passes {g('Oracle', 'held_out')()} % there, no more than the told network, which did not; with our loss "
                   f"it passes {g('Oracle, our loss', 'held_out')()}")
    hidden = [g(name, "held_out")(digits=0) for name in (told, paper, "The paper's loss, drop 0.5", ours)]
    yield VISION, f"never {hidden[0]} %, with 0.1 {hidden[1]}, with 0.5 {hidden[2]} and {hidden[3]}"
    first = Cell(load(g.root, "gate/zero-shot-ours-1.json")).success
    yield VISION, f"is the first training of ours, {first[0]:.1f} and {first[1]:.1f} %"
    venues = load(g.root, "gate.json")["venues"]
    few = [name for name, of in venues.items() if of["success"] < of["trials"]]
    wrecks = [name for name, of in venues.items() for _ in range(of["crash"])]
    yield VISION, (f"it passes {sum(of['success'] for of in venues.values())}: "
                   f"{listed(dict.fromkeys(str(venues[name]['success']) for name in few))} of 20 in {' and in '.join(few)}, with "
                   f"{in_words(len(wrecks))} crash, in {listed(wrecks)}")
    names = (ours, baseline, told, paper)
    passed = [100 * g.within[name]["success"]["held_out"]["mean"] for name in names]
    yield VISION, f"Of triples that they never saw all pass alike, {ends(passed)} %"
    best = [Rate(g.within[name]["success"]["held_out"], 100) for name in ("Oracle", "Oracle, our loss")]
    yield VISION, f"The oracle, which saw them, passes {best[0]()} %, and {best[1]()} with our loss"
    yield VISION, f"The oracle, which saw them, passes {best[0](digits=0)}. [Within"
    yield README, (f"on triples of colour, gate and side never seen ours has {passed[0]:.0f} %, the baseline {passed[1]:.0f} and "
                   f"an oracle {best[0](digits=0)}")
    crashed = [Rate(g.within[name]["crash"]["held_out"], 100) for name in names]
    wide = [f"({rate.to('wilson_low', 'wilson_high', digits=0)})" for rate in crashed]
    yield VISION, (f"Ours crashes in {crashed[0]()} % of these trials (Wilson's 95 %: {wide[0][1:]} and the baseline in "
                   f"{crashed[1]()}, the told network in {crashed[2]()} {wide[2]} and the paper's loss in {crashed[3]()} {wide[3]}")
    others = [Rate(before.within[name]["crash"]["held_out"], 100)() for name in names]
    yield VISION, (f"ours in {others[0]} %, the baseline in {others[1]}, the told network in {others[2]} and the paper's "
                   f"loss in {others[3]} (`results/gate-study-velocity-0.5.json`)")
    pools = [[of(name, "held_out", "crash")() for of in (before, g)] for name in (baseline, told, paper, ours)]
    yield VISION, ("takes those in pool from " + "{} to {} % for the baseline, {} to {} for the told network, {} to {} with the "
                   "paper's loss and {} to {} for ours".format(*itertools.chain(*pools)))
    yield README, f"a baseline that is not told {g.both(baseline)}"
    yield README, (f"on the mean of three trainings {g(ours, 'train')(digits=0)} % of the trials in the venues of "
                   f"training and {g(ours, 'held_out')(digits=0)} % in one never seen")
    yield README, f"told colour, gate and side has {g.both(told)}"


class Cell:
    """Success and crashes of one training, in percent, in the venues of training and in pool or piazza."""

    def __init__(self, data):
        self.success, self.crash = ([100 * data[split][what] / data[split]["trials"] for split in ("train", "held_out")]
                                    for what in ("success", "crash"))


def crashes(success, crash):
    return f"{success:.1f} ({crash:.1f})"


def other_trials_claims(g):
    """The policies of the study on trials that nothing was chosen beside."""
    fresh = {row["method"]: row for row in load(g.root, "gate-study-fresh.json")["protocols"][0]["rows"]}
    ours, told = fresh["Factored, ours"], fresh["Told, no dropout"]
    rates = [Rate(ours["success"][split], 100) for split in ("train", "held_out")]
    crash, tally = Rate(ours["crash"]["held_out"], 100), ours["held_out"]
    yield VISION, f"it is the same: ours has {rates[0]()} and {rates[1]()} %, and {crash()} % of crashes in pool. [Other"
    behind = told["success"]["held_out"]["mean"] > ours["success"]["held_out"]["mean"]
    yield VISION, (f"ours has {rates[0]()} and {rates[1]()} %, with {crash()} % of crashes in pool ({tally['crash']} in "
                   f"{tally['trials']}), and is {'behind' if behind else 'ahead of'} the told network there")


def ladder_claims(g):
    rows = {row["method"]: row for row in load(g.root, "gate-ladder.json")["protocols"][0]["rows"]}
    base, ours = (Rate(rows[f"First study, longer, {name}"]["success"]["held_out"], 100)() for name in ("baseline", "ours"))
    yield VISION, (f"in the first study's world with today's updates and flights the baseline has {base} % in pool and ours "
                   f"{ours}")
    short = Rate(rows["+ resolution, baseline"]["ours_ahead"]["held_out"], 100)
    yield VISION, (f"with a fifth of the updates ours is ahead by {short()} points, which "
                   + ("may be chance" if short.rate["low"] < 0 else "is more than chance"))
    learned = [Rate(rows[f"First study, longer, {name}"]["success"]["train"], 100)() for name in ("baseline", "ours")]
    yield VISION, f"the baseline has {base} % in pool and ours {ours}, and {learned[0]} and {learned[1]} % elsewhere"


def choice_claims(g):
    """What each choice did to trainings, by their cells."""
    def cell(folder, name, seed=1):
        return Cell(load(g.root, f"{folder}/zero-shot-{name}-{seed}.json"))

    shown, right = cell("gate-shown", "told"), cell("gate-velocity-0.5", "told")
    yield VISION, (f"has {right.success[0]:.1f} % ({right.crash[0]:.1f} % of crashes) in the venues of training instead of "
                   f"{crashes(shown.success[0], shown.crash[0])}, and {crashes(right.success[1], right.crash[1])} in pool "
                   f"instead of {crashes(shown.success[1], shown.crash[1])}")

    def gains(before, after, names, split):
        return [whole(cell(after, name).success[split] - cell(before, name).success[split]) for name in names]

    three, four = ("ours", "told", "baseline"), ("ours", "told", "baseline", "factored")
    pool = [gain or "none" for gain in gains("gate-plain", "gate-5000", three, 1)]
    yield VISION, (f"Weighing adds {ends(gains('gate-plain', 'gate-5000', three, 0))} points to each first training in the "
                   f"venues of training; in pool {pool[0]} to ours, {pool[1]} to the told network and {pool[2]} to the baseline")
    yield VISION, ("Twice the updates add to every first training "
                   + " and ".join(f"{ends(gains('gate-5000', 'gate-floor-0.2', four, split))} {where}" for split, where in
                                  enumerate(("points in the venues of training", "in pool"))))

    trainings = (("told", 1), ("ours", 1), ("ours", 2), ("factored", 1), ("baseline", 1))
    before = [cell("gate-floor-0.2", *of) for of in trainings]
    after = [cell("gate-shown" if of[0] == "told" else "gate-velocity-0.5", *of) for of in trainings]
    here, there = ([b.success[split] - a.success[split] for a, b in zip(before, after)] for split in (0, 1))
    floors = [Cell({"train": row["piazza"], "held_out": row["piazza"]}).success[0]
              for row in load(g.root, "gate-floor.json")["rows"]]
    trials = [whole(1.2 * gain) for gain in there[1:]]
    yield VISION, (f"which gained {whole(floors[-1] - floors[0])} points in piazza, where it was chosen, gains the told network "
                   f"{whole(there[0])} in pool and the others {in_words(min(trials))} or {in_words(max(trials))} trials of 120; "
                   f"in the venues of training it changes nothing ({whole(min(here)):+d} to {whole(max(here)):+d})")
    pool = [(f"{b.crash[1]:.1f}", f"{a.crash[1]:.1f}") for a, b in zip(before, after)]
    yield VISION, (f"{pool[0][0]} % instead of {pool[0][1]} for the told network, {pool[1][0]} instead of {pool[1][1]} and "
                   f"{pool[2][0]} instead of {pool[2][1]} for two trainings of ours, {pool[3][0]} instead of {pool[3][1]} with "
                   f"the paper's loss, {pool[4][0]} instead of {pool[4][1]} for the baseline")


def observer_claims(g):
    """What was tried in piazza."""
    rows = {row["name"]: row for row in load(g.root, "gate-choice.json")["rows"]}
    samples = load(g.root, "gate-samples.json")

    def piazza(row):
        tally = row["piazza"]
        return 100 * tally["success"] / tally["trials"], 100 * tally["crash"] / tally["trials"]

    def crash(row):
        low, high = doc_tables.wilson(row["piazza"]["crash"], row["piazza"]["trials"])
        return f"{piazza(row)[1]:.1f}", f"{100 * low:.0f}–{100 * high:.0f})"

    alike, shared, near = rows["T 0.5 s"], rows["T 0.5 s, share 0.25"], rows["T 0.5 s, share 0.25, near 0.5"]
    yield VISION, (f"have the fewest crashes, {crash(shared)[0]} % (95 %: {crash(shared)[1]} instead of "
                   f"{' ('.join(crash(alike))}, and no fewer successes than any")
    (a, b), (c, d) = ([row["offset_error"][0][key] for key in ("along_m", "across_m")] for row in (near, shared))
    far = [row["offset_error"][2]["along_m"] for row in (near, shared)]  # from 2 to 4 m
    yield VISION, (f"Near the gate its fixes are better, {a:.2f} m off along the line of sight and {b:.2f} across it within a "
                   f"metre, instead of {c:.2f} and {d:.2f}; from 2 to 4 m they are worse, {far[0]:.2f} m instead of "
                   f"{far[1]:.2f} along it")
    yield VISION, (f"**Twice the updates help most**: {piazza(rows['T 0.5 s, share 0.25, 10,000 updates'])[0]:.1f} % instead of "
                   f"{piazza(shared)[0]:.1f}")
    kept = {row["name"]: piazza(row) for row in load(g.root, "gate-velocity.json")["rows"]}
    forgotten = [kept.pop(f"T {time} s, velocity {time} s")[1] for time in (0.5, 0.3)]
    yield VISION, (f"halves the crashes**: {ends([crash for _, crash in kept.values()], 1)} % instead of {forgotten[0]:.1f} and "
                   f"{forgotten[1]:.1f}, whatever T is, and {ends([success for success, _ in kept.values()], 1)} % succeed")
    none = [crashes(*piazza(row)) for row in load(g.root, "gate-near.json")["rows"][1:]]
    yield VISION, f"within 1 or 1.5 m of the gate, by the estimate, flies worse, {none[0]} and {none[1]} %"
    eight = {"piazza": samples["held_out"]}
    yield VISION, f"piazza was flown at {crashes(*piazza(eight))} % instead of {crashes(*piazza(alike))} (`results/gate-samples"
    bins = samples["offset_error"]["held_out"]
    apart, off = [one["spread_m"] for one in bins], [math.hypot(one["along_m"], one["across_m"]) for one in bins]
    yield VISION, (f"the samples are {min(apart):.1f} to {max(apart):.2f} m apart at all distances, while the fix is "
                   f"{off[0]:.1f} m off within a metre of the gate and {off[-1]:.0f} m beyond eight")


# ---- Certificates --------------------------------------------------------------------------------


def certificate_claims(root):
    ours, paper = load(root, "certify.json")["tasks"], load(root, "certify-paper.json")["tasks"]
    certified = [task for task in ours if task["paced"]["pace"] is not None]
    own = [task for task in ours if task["certified"]]
    attacks = [gate["attack"] for task in certified for gate in task["paced"]["gates"]]
    of_held_out = [sum(task["held_out"] for task in tasks) for tasks in (ours, certified, own)]
    all_held_out = "All" if of_held_out[1] == of_held_out[0] else "Of the"
    gates = [gate["certified"] for task in ours for gate in task["gates"]]
    yield README, (f"{len(certified)} of {len(ours)} tasks are certified whole, {len(own)} at the plan's own speed, against "
                   "errors as large")
    yield CERTIFICATES, (f"**{len(certified)} of {len(ours)} tasks are certified whole, {len(own)} of them at the plan's own "
                         f"speed.** {all_held_out} {in_words(of_held_out[1])} held-out pairs are among the {len(certified)}, "
                         f"{in_words(of_held_out[2])} among the {len(own)}; {sum(gates)} of {len(gates)} gates stand at their own speed")
    yield CERTIFICATES, (f"The attack reaches {ends(attacks, 2)} of the bound on what is certified: up to "
                         f"{1.25 * max(attacks):.2f} R_g")

    def residual(tasks, key):
        return doc_tables.mean([task["residual"][key] for task in tasks if not task["held_out"]])

    def noise(task):
        """The deviation of C_LTV over the seeds, as a share of the mean, in percent."""
        c = [seed["c_ltv"] for seed in task["seeds"]]
        return 100 * math.sqrt(sum((x - doc_tables.mean(c)) ** 2 for x in c) / (len(c) - 1)) / doc_tables.mean(c)

    apart = max(abs(task["residual"]["linearised"] / task["residual"]["actual"] - 1) for task in ours if not task["held_out"])
    orders = math.log10(doc_tables.mean([task["c_gronwall"] for task in ours])
                        / doc_tables.mean([task["c_ltv"] for task in ours]))
    yield CERTIFICATES, f"It is {in_words(round(orders))} orders of magnitude larger"
    yield CERTIFICATES, f"The linearised difference agrees with the actual one to {math.ceil(100 * apart)} %"
    yield CERTIFICATES, f"the deviation over ten seeds is at most {max(map(noise, ours)):.0f} % of the mean"
    *rest, c, b, a = sorted(map(noise, paper))
    yield CERTIFICATES, f"deviate by {c / 100:.1f} to {a / 100:.1f} of their mean, the others by {rest[-1]:.0f} % at most"
    larger = [task["eps_s"] / one["eps_s"] for task, one in zip(paper, ours)]
    yield CERTIFICATES, f"Its ε_s is {ends(larger)} times ours on the same task"
    more = residual(paper, "linearised") / residual(paper, "actual")
    yield CERTIFICATES, f"The linearised difference is {'more' if more > 2 else 'less'} than twice the actual one"
    some = any(gate["certified"] for task in paper for gate in task["gates"] + task["paced"]["gates"])
    folds = [task["fold"] for task in paper]
    yield CERTIFICATES, (f"**{'A' if some else 'No'} gate of it is certified, at any pace**: allowed errors fold every path "
                         f"({min(folds):.1f} to {max(folds):.0f} segments at the plan's own speed")
    clear = [sum(task["passage"]["clear"] == task["passage"]["samples"] for task in tasks) for tasks in (paper, ours)]
    yield CERTIFICATES, f"clear all gates every time on {clear[0]} of {len(paper)} tasks, ours on {clear[1]}"
    yield CERTIFICATES, f"With 50 flights a task, {clear[1]} of {len(ours)} tasks were cleared every time"
    narrower = [sum(task["r_ss_measured_path"] < task["gates"][0]["half_width"] for task in tasks) for tasks in (ours, paper)]
    yield CERTIFICATES, f"By steps, and with measured constants, it is on {narrower[0]} of {len(ours)}"
    yield CERTIFICATES, f"narrower than the gates on {narrower[1] or 'no'} task, by steps either"
    plans = [plan["exact_m"] for plan in load(root, "certify.json")["exact_plans"] if plan["held_out"]]
    yield CERTIFICATES, (f"flies another track on {in_words(sum(metres > 1 for metres in plans))} of the {in_words(len(plans))} "
                         "held-out pairs")


def verify_claims(root):
    six, fifty = (load(root, f"{name}.json") for name in ("verify", "verify-50"))
    every, held_out = six["totals"]["all"], six["totals"]["held_out"]
    yield README, (f"{every['passed']} of {every['gates']} gates, {held_out['passed']} of {held_out['gates']} held out; with "
                   "`--samples 200`")
    whole_course = all(run["totals"][key]["passed"] == run["totals"][key]["gates"] and run["totals"]["crashes"] == 0
                       for run in (six, fifty) for key in ("all", "held_out"))
    yield RESULTS, (f"{'all' if whole_course else 'not all'} {every['gates']} gates are passed, {held_out['passed']} of "
                    f"{held_out['gates']} held out, with no crash, at 6 steps and at 50")
    moved = max(six["verification"], key=lambda task: task["shift"])
    slowest = min(six["verification"], key=lambda task: task["slowest_factor"])
    yield CERTIFICATES, (f"{moved['track']}/{moved['size']} moves by {moved['shift']:.2f} m at its own speed, "
                         f"{slowest['track']}/{slowest['size']} keeps at least {slowest['slowest_factor']:.2f} of its speed")


# ---- Meta-World ----------------------------------------------------------------------------------


def metaworld_claims(root):
    methods = {method["id"]: method for method in load(root, "metaworld.json")["methods"]}

    def rate(name, digits=1):
        found = methods[name]["held_out"]
        return f"{100 * found['success'] / found['trials']:.{digits}f}"

    yield README, (f"{rate('ours', 0)} % of the trials of pairs never shown succeed, where a network that is only told its "
                   f"task has {rate('told', 0)} % and the oracle {rate('oracle', 0)} %; with longer training "
                   f"{rate('ours-long', 0)} % (told {rate('told-long', 0)} %)")
    yield METAWORLD, (f"{rate('ours')} % of the trials of held-out pairs over three trainings with 16,000 updates, and "
                      f"{rate('ours-long')} % with 40,000, where an oracle that saw every pair has {rate('oracle')} and "
                      f"{rate('oracle-long')} %, the paper's loss {rate('factored')} and {rate('factored-long')} %, and a "
                      f"network that is not told its task {rate('baseline')} %")
    yield METAWORLD, (f"{rate('told')} %, with a third of the computing. Here being told is enough, since three goals are shown "
                      f"with every skill. Without those it falls to {rate('told-unshared')} %, and ours to "
                      f"{rate('ours-unshared')} %")
    seeds = [100 * rate for rate in methods["ours"]["held_out"]["seed_rates"]]
    ahead, share = float(rate("ours")) - float(rate("baseline")), 100 * float(rate("ours")) / float(rate("oracle"))
    yield METAWORLD, (f"Ours reaches {share:.0f} % of the oracle's success on held-out pairs and is {ahead:.0f} points above the "
                      f"baseline. The three trainings differ much ({listed(f'{seed:.1f}' for seed in seeds)} %)")


def claims(root):
    gate = Gate(root)
    return [*race_claims(Race(root)), *mechanism_claims(Mechanism(root)), *gate_claims(gate), *other_trials_claims(gate),
            *ladder_claims(gate), *choice_claims(gate), *observer_claims(gate), *certificate_claims(root), *verify_claims(root),
            *metaworld_claims(root)]


def words(text):
    return " ".join(text.split())


def missing(wanted, texts):
    """The claims that their pages do not have."""
    return [f"{page}: expected the words '{phrase}'" for page, phrase in wanted
            if words(phrase) not in words(texts[page])]


def check(root):
    texts = {}
    for page in PAGES:
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
