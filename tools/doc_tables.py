#!/usr/bin/env python3
"""Holds the tables of docs to the files of results.

    tools/doc_tables.py                 # compares, and names every cell that differs
    tools/doc_tables.py --write         # writes the numbers of the files into the tables

Before every table of the pages below stands a comment: either

    <!-- table NAME of results/FILE.json -->

where NAME is a function of this file that gives the cells of a row by its label (of several files,
'results/A.json and results/B.json', each column once a file, side by side; of a folder, 'results/A/',
the function gets all its files by their names), or

    <!-- no results file: WHY -->

A table without either is refused. Before what a program printed, fenced, may stand

    <!-- printed NAME of results/FILE.json -->

where NAME is one of PRINTED; it is compared line by line. What a row says in brackets behind its cell is the writer's. Cells
that no file has, such as the paper's, and rows that begin with a word in UNFILED are left alone.
"""
import importlib.util
import json
import math
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["docs/results.md", "docs/composition.md", "docs/vision.md", "docs/certificates.md", "docs/metaworld.md",
         "docs/new-value.md", "docs/steps.md", "docs/rotorpy.md", "docs/speed.md"]
UNFILED = ("paper",)
KEEP = None  # a cell that no file has


# ---- Numbers as the pages write them ------------------------------------------------------------


def percent(share):
    return f"{100 * share:.0f} %"


def count(tally):
    return f"{tally['passed']:.0f}/{tally['gates']:.0f}"


def between(values, form):
    return f"{min(values):{form}} to {max(values):{form}}"


def significant(value):
    return f"{value:#.3g}" if abs(value) < 100 else f"{value:.3g}"


def wilson(passed, trials):
    z = 1.959963984540054
    p = passed / trials
    middle, scale = p + z * z / (2 * trials), 1 / (1 + z * z / trials)
    reach = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    return scale * (middle - reach), scale * (middle + reach)


def mean(values):
    return sum(values) / len(values)


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def task_of(entries, label):
    """The entry of a task, by a label such as 'race1/wide (held out)'; its split is checked."""
    name = label.split(" ")[0]
    for entry in entries:
        if f"{entry['track']}/{entry['size']}" == name:
            if entry.get("held_out", False) != label.endswith("(held out)"):
                raise KeyError(f"{name}: the split is another")
            return entry
    raise KeyError(f"no task {name}")


# ---- docs/results.md ----------------------------------------------------------------------------

METHODS = {
    "baseline": "baseline", "K networks": "knet",
    "the paper's loss, composed": "factored_composed", "the paper's loss, joint": "factored_joint",
    "ours, composed": "ours_composed", "ours, joint": "ours_joint", "ours, track alone": "ours_track",
    "oracle": "oracle",
}


def passage(data, label):
    row = data["methods"][METHODS[label]]
    held_out, every = row["held_out"], row["all_seeds"]["all"]
    return [count(row["all"]), count(row["training"]),
            f"{count(held_out)} ({100 * held_out['low']:.0f}–{100 * held_out['high']:.0f} %)",
            f"{row['crashes']}", f"{100 * every['passed'] / every['gates']:.1f} %"]


def held_out_tasks(data, label):
    shown = ["ours_composed", "factored_composed", "oracle", "baseline"]
    name = label.split(" ")[0] + " (held out)"
    rows = [task_of(data["methods"][key]["tasks"], name) for key in shown]
    return [percent(row["share_all_seeds"]) for row in rows] + [
        f"{rows[0]['speed_generated']:.2f}", f"{rows[0]['speed_reference']:.2f}"]


def shipped(data, label):
    row = data["methods"][METHODS[label]]
    vehicle, order = row["vehicle"], row["speed_order"]
    return [count(row["all"]), count(row["held_out"]), count(vehicle["all"]),
            count(vehicle["held_out"]), f"{row['error_m']:.2f}", f"{order['right']}/{order['pairs']}"]


def race_study(data, label):
    row = next(row for row in data["rows"] if row["name"] == label)

    def rate(key, gates):
        r = row[key]
        return [f"{gates * r['mean']:.1f}", f"{gates * r['least']:.1f}–{gates * r['most']:.1f}"]

    gates, held_out = row["gates"], row["gates_held_out"]
    order, share = row["speed_order"], row["held_out"]
    lead = row["ours_ahead"]["held_out"] if "ours_ahead" in row else None
    ahead = (f"{held_out * lead['mean']:+.1f} ({held_out * lead['low']:+.1f} to {held_out * lead['high']:+.1f})"
             if lead else "")
    return [f"{len(row['seeds'])}", *rate("all", gates), *rate("held_out", held_out),
            f"{100 * share['low']:.0f}–{100 * share['high']:.0f} %", ahead,
            f"{100 * row['held_out_new']['mean']:.0f} %",
            f"{gates * row['vehicle']['mean']:.1f}", f"{row['error_m']:.2f}",
            f"{100 * row['speed_off_held_out']:.1f} %",
            f"{order['right']:.1f}/{order['pairs']:.0f}",
            *(percent(row["speed_share"][group]) for group in ("learned", "left_out"))]


def race_head(data, label):
    """The same in short, at the head of the page."""
    trainings, *_, held_out, _, _, ahead, _, _, _, _, _, _, share = race_study(data, label)
    return [trainings, held_out, ahead, share]


def operators(data, label):
    """A row an operator, by its mode."""
    row = next(row for row in data["operators"] if row["mode"] == label.strip("`"))
    gates = data["methods"][row["mode"]]["all_seeds"]
    learned = row["weights"][0] is None
    return ["learned" if learned else ", ".join(f"{weight:.1f}" for weight in row["weights"]),
            f"{row['networks']}", f"{1e-6 * row['parameters']:.1f} M",
            f"{1e-6 * row['rows']:.2f} M", f"{row['passes']}",
            *(count(gates[key]) for key in ("all", "training", "held_out")),
            *speeds(data, row["mode"])]


def speeds(data, method):
    """How far the speeds of plans of held-out tasks are off, on the mean over tasks and seeds, and
    how many pairs of sizes come in the order of their references."""
    off = [abs(plan["speed_generated"] / plan["speed_reference"] - 1)
           for plan in data["heldout"] if plan["method"] == method]
    order = data["methods"][method]["speed_order"]
    return [f"{100 * sum(off) / len(off):.1f} %", f"{order['right']}/{order['pairs']}"]


def held_out_speeds(data, label):
    method = METHODS[label]
    return [count(data["methods"][method]["all_seeds"]["held_out"]), *speeds(data, method)]


def pairs_label(row):
    """"ours, 8" or "the paper's, 8"."""
    losses = {"ours": "ours", "paper": "the paper's"}
    return f"{losses[row['method']]}, {row['pairs']}"


def pairs(data, label):
    """A row a loss and number of training pairs."""
    row = next(row for row in data["rows"] if pairs_label(row) == label)
    left_out = row["held_out"]
    return [f"{row['splits']}", *(f"{100 * row[key]['mean']:.1f} %" for key in ("training", "held_out")),
            f"{100 * left_out['least']:.0f}–{100 * left_out['most']:.0f} %",
            f"{100 * left_out['low']:.0f}–{100 * left_out['high']:.0f} %",
            f"{100 * row['last']['mean']:.1f} %", f"{100 * row['speed_off_held_out']:.1f} %",
            f"{100 * row['speed_off_last']:.1f} %", f"{100 * row['joint']['held_out']['mean']:.1f} %",
            f"{100 * row['joint']['speed_off_held_out']:.1f} %"]


def mechanism(data, label):
    """A row a network, by the name of its variant: what an output sees, then for the paper's loss and
    for ours the distance of composed plans of pairs left out, the range of the folds, joint plans, and
    composed ones of pairs learned, and gates of pairs left out; at last what the paper's loss shows of the
    size in the speeds of pairs left out, composed and joint, where cells have speeds."""
    name = label.strip("`")
    cells = [f"{named(data['variants'], 'variant', name)['seen']:.1f}"]
    for loss in (0, 3):
        row = next((row for row in data["variants"]
                    if row["variant"] == name and row["composed_loss"] == loss), None)
        if row is None:  # it was trained with the other loss alone
            cells += 5 * ["–"]
            continue
        left_out = row["left_out"]["composed"]
        cells += [f"{left_out['error_m']:.2f}", f"{left_out['least_m']:.2f}–{left_out['most_m']:.2f}",
                  f"{row['left_out']['joint']['error_m']:.2f}",
                  f"{row['training']['composed']['error_m']:.2f}", percent(left_out["share"])]
    shares = named([row for row in data["variants"] if row["composed_loss"] == 0], "variant", name)["speed_share"]
    return cells + ["–" if shares[mode]["left_out"] is None else percent(shares[mode]["left_out"])
                    for mode in ("composed", "joint")]


def recipe_losses(data, label):
    tasks = next(row for row in data["losses"] if row["name"] == label)["tasks"]
    return [f"{count(task)}, {task['error_m']:.2f}" for task in tasks]


def recipe_spreads(data, label):
    """A row is named by its batch, weight and temperature."""
    batch, weight, temperature = map(float, label.split(","))
    row = next(row for row in data["spreads"] if
               (row["batch"], row["weight"], row["temperature"]) == (batch, weight, temperature))
    return [f"{task['bias_m']:.2f}, {task['spread_m']:.2f}" for task in row["tasks"]]


def bench_aims(data, label):
    """A row an aim, by the work before its colon; the page says behind a cell what is not reached."""
    def row(work, name=None):
        found = next(row for row in data["rows"] if row["label"].strip() == work)
        return found if name is None else named(found["others"], "name", name)

    work = label.split(":")[0]
    plan, step = "composed plan, 50 steps", "training step, 32 rows"
    default, pilot = "plan, default steps (6)", "pilot's step, 10 x 5 rows"
    cells = {
        "training step": lambda: f"{percent(row(step)['of_peak'])}, {row(step, 'torch.compile')['ratio']:.2f}",
        "50-step plan": lambda: ", ".join(f"{row(plan, name)['ratio']:.2f}" for name in ("OpenVINO", "ONNX Runtime")),
        "plan at the default steps": lambda: f"{row(default)['ms']:.1f}, {row(default, 'one thread')['ms']:.1f}",
        "pilot's step on two cores": lambda: f"{row(pilot)['ms']:.1f}",
        "encoder training": lambda: percent(row("encoder training, 32 images")["of_peak"]),
        "camera, worst venue": lambda: f"{1000 / next(r['ms'] for r in data['rows'] if r['section'] == 'camera'):.0f}",
    }
    return [cells[work]()]


# ---- docs/certificates.md -----------------------------------------------------------------------


def certificate(data, label):
    tasks = data["tasks"]
    training = [task for task in tasks if not task["held_out"]]
    held_out = [task for task in tasks if task["held_out"]]

    def values(key, group=tasks):
        return [task[key] for task in group]

    def residual(key):
        return f"{mean([task['residual'][key] for task in training]):.3f}"

    c = values("c_ltv")
    eps = data["eps_d"]
    cells = {
        "C_LTV: mean, median, max of 20 tasks":
            ", ".join(significant(x) for x in (mean(c), median(c), max(c))),
        "C_LTV on training and on held-out tasks (means)":
            ", ".join(significant(mean(values("c_ltv", group))) for group in (training, held_out)),
        "ε_s = max ‖Δε_k‖, by task": between(values("eps_s"), ".2f"),
        "ε_s of all at once: the largest ε_D at noised demonstrations of training tasks":
            f"{eps['max']:.2f}",
        "Grönwall, the lemma's integral": between(values("c_gronwall"), ".1e"),
        "Grönwall, product over the sampler's steps": between(values("c_gronwall_discrete"), ".1e"),
        "actual, linearised, bound by steps (training, normalised)":
            ", ".join(residual(key) for key in ("actual", "linearised", "ltv")),
        "R_ss with the paper's constants (m)":
            " to ".join(significant(x) for x in (min(values("r_ss_default")),
                                                 max(values("r_ss_default")))),
        "ε_D, mean, 95 %, max": ", ".join(f"{eps[key]:.2f}" for key in ("mean", "p95", "max")),
        "L₁ (track), mean": f"{data['l1']['mean']:.2f}",
        "L₂ (size), mean": f"{data['l2']['mean']:.2f}",
    }
    return [cells[label], KEEP]


def of_tasks(data, label):
    """The tasks that a label stands for: one, or all of a split."""
    splits = {"training tasks": (False,), "held-out tasks": (True,), "all tasks": (False, True)}
    if label in splits:
        return [task for task in data["tasks"] if task["held_out"] in splits[label]]
    return [task_of(data["tasks"], label)]


def ltv_seeds(data, label):
    """C_LTV over the seeds: mean and deviation of a task, mean, median and largest of several."""
    tasks = of_tasks(data, label)
    c = [seed["c_ltv"] for task in tasks for seed in task["seeds"]]
    if len(tasks) > 1:
        return [", ".join(significant(x) for x in (mean(c), median(c), max(c))), KEEP]
    deviation = math.sqrt(sum((x - mean(c)) ** 2 for x in c) / (len(c) - 1))
    return [f"{significant(mean(c))} ± {significant(deviation)}", KEEP]


def ltv_sweep(data, label):
    """By the number of denoising steps: C_LTV on the mean and at most, C_emp on the mean, the largest
    tube; and as many cells of the paper's."""
    tasks = next(row for row in data["sweep"] if f"{row['steps']}" == label)["tasks"]
    c = [task["c_ltv"] for task in tasks]
    return [f"{significant(mean(c))}, {significant(max(c))}", KEEP,
            f"{mean([task['c_emp'] for task in tasks]):.3f}", KEEP,
            f"{max(task['tube_seen'] for task in tasks):.2f}", KEEP]


def closed_loop(data, label):
    task = task_of(data["tasks"], label)
    loop = task["closed_loop"]
    return [f"{loop['lambda']:.3f}", significant(loop["b_kappa"]), f"{loop['w']:.2f}",
            significant(task["r_ss_measured"]), significant(task["r_ss_measured_path"]),
            f"{task['gates'][0]['half_width']:.2f}"]


def paces(data, label):
    """A task's gates at its own speed, and at the pace at which all are certified or the slowest."""
    task = task_of(data["tasks"], label)
    paced = task["paced"]
    gates = paced["gates"]
    own = sum(gate["certified"] for gate in task["gates"])
    tightest = max(gates, key=lambda gate: gate["miss_nominal"] + gate["bound"]
                   + gate["disturbance"] - gate["half_width"])

    def most(key):
        found = [gate[key] for gate in gates if gate[key] is not None]
        return f"{max(found):.2f}" if found else "—"

    whole = paced["pace"] is not None
    return [f"{own}/{len(task['gates'])}", f"{paced['pace']:.2f}" if whole else "none",
            f"{paced['fold']:.2f}", most("probe"), most("attack"),
            f"{tightest['miss_nominal']:.2f} + {tightest['bound']:.2f} + "
            f"{tightest['disturbance']:.2f}, {tightest['half_width']:.2f}"]


def interaction(data, label):
    sizes = "narrow" if "three sizes" in label else "{standard, wide}"
    product = next(p for p in data["interaction"]["products"] if sizes in p["tasks"])
    return [f"{product[key]:.2f}" for key in ("g", "m", "bound", "max_gap", "worst_ratio")]


def exact_plans(data, label):
    entry = task_of(data["exact_plans"], label + " (held out)")
    return [f"{entry['exact_m']:.2f}", f"{entry['network_m']:.2f}"]


def passage_bounds(data, label):
    task = task_of(data["tasks"], label)
    return [f"{task['passage']['clear']}/{task['passage']['samples']}",
            percent(task["passage_lower_bound"])]


def verify_totals(data, label):
    verdicts = data["verdicts"]["tasks"]
    least = data["verdicts"]["least"]
    raw, repaired = data["raw"]["totals"], data["totals"]
    cells = {
        "gates, all": (count(raw["all"]), count(repaired["all"])),
        "gates, held out": (count(raw["held_out"]), count(repaired["held_out"])),
        "crashes": (f"{raw['crashes']}", f"{repaired['crashes']}"),
        "tasks with a bound of 90 % or more":
            (f"{sum(v['raw_lower'] >= least for v in verdicts)}",
             f"{sum(v['lower'] >= least for v in verdicts)}"),
    }
    return list(cells[label])


def verify_tasks(data, label):
    verdict = task_of(data["verdicts"]["tasks"], label)
    repair = next(v for v in data["verification"]
                  if (v["track"], v["size"]) == (verdict["track"], verdict["size"]))
    return [f"{verdict['raw_clear']}, {verdict['raw_lower']:.2f}",
            f"{verdict['clear']}, {verdict['lower']:.2f}", f"{repair['shift']:.2f}",
            f"{repair['slowest_factor']:.2f}"]


# ---- docs/vision.md -----------------------------------------------------------------------------


def rates(row, split):
    tally = row[split]
    if tally["trials"] == 0:
        return "–"
    low, high = wilson(tally["success"], tally["trials"])
    text = (f"{100 * tally['success'] / tally['trials']:.1f} "
            f"({100 * tally['crash'] / tally['trials']:.1f}), {100 * low:.0f}–{100 * high:.0f}")
    if len(row.get("seeds", [])) > 1:
        seeds = row["success"][split]
        text += (f"; seeds {100 * seeds['least']:.0f}–{100 * seeds['most']:.0f}, "
                 f"bootstrap {100 * seeds['low']:.0f}–{100 * seeds['high']:.0f}")
    return text


def of_paper(row, split):
    rate = row["paper"].get(split)
    if not rate:
        return ""
    return f"{rate['success']:.1f}" + (f" ({rate['crash']:.1f})" if "crash" in rate else "")


def gate_cells(rows, key, label):
    row = next(row for row in rows if row[key] == label)
    splits = ("train", "held_out")
    return [rates(row, s) for s in splits] + [of_paper(row, s) for s in splits]


def zero_shot(data, label):
    return gate_cells(data["protocols"][0]["rows"], "method", label)


def within(data, label):
    return gate_cells(data["protocols"][1]["rows"], "method", label)


def gate_leads(data, label, protocol=0):
    """By how many points ours succeeds more often than a row, and the 95 % interval: zero-shot."""
    row = next(row for row in data["protocols"][protocol]["rows"] if row["method"] == label)
    return [f"{100 * lead['mean']:+.1f} ({100 * lead['low']:+.1f} to {100 * lead['high']:+.1f})"
            for lead in (row["ours_ahead"][split] for split in ("train", "held_out"))]


def within_leads(data, label):
    return gate_leads(data, label, protocol=1)


def first_study(data, label):
    """The first vision study: success (crash) of a method in both protocols, from its cells."""
    name = {"Baseline": "baseline", "Factored, the paper's loss": "factored", "Factored, ours": "ours",
            "Oracle": "oracle"}[label]
    tallies = [data[f"{protocol}-{name}"][split] for protocol in ("zero-shot", "within")
               for split in ("train", "held_out")]
    return [f"{100 * tally['success'] / tally['trials']:.1f} ({100 * tally['crash'] / tally['trials']:.1f})"
            for tally in tallies]


def ladder(data, label):
    """A row a rung and method, and by how much ours is ahead of the baseline of its rung."""
    row = next(row for row in data["protocols"][0]["rows"] if row["method"] == label)
    lead = row.get("ours_ahead", {})
    return [rates(row, "train"), rates(row, "held_out"),
            *(f"{100 * lead[s]['mean']:+.1f} ({100 * lead[s]['low']:+.1f} to {100 * lead[s]['high']:+.1f})"
              if s in lead else "" for s in ("train", "held_out"))]


ABLATIONS = {"ours, null venue in flight": "ours, null venue",
             "frozen encoder (Baseline's)": "frozen encoder (the baseline's)"}


def ablations(data, label):
    row = next(row for row in data["ablations"] if ABLATIONS.get(row["name"], row["name"]) == label)
    return gate_cells([row], "name", row["name"])


def gate_choice(data, label):
    return [rates(named(data["rows"], "name", label), "piazza")]


def modality(data, label):
    """A row a sense: "camera", "beacon" and "both"."""
    row = named(data["rows"], "name", label)
    return [f"{row['weight']:.2f}", rates(row, "train"), rates(row, "held_out"),
            f"{row['estimate_error_m']:.2f} m"]


def modality_choice(data, label):
    """A row a weight that was tried on training tasks."""
    row = next(row for row in data["choice"]["tried"] if f"{row['weight']:.2f}" == label)
    return [rates(row, "train")]


def budget(data, label, method):
    entry = next(b for b in data["budgets"] if b["method"] == method)
    for network, exact in zip(entry["along_network"], entry["along_exact"]):
        if f"{network['sigma']:.3f}" == label:
            return [f"{network[key]:.3g}, {exact[key]:.3g}"
                    for key in ("interaction", "eta", "total", "measured")]
    raise KeyError(f"no noise level {label}")


def budget_ours(data, label):
    return budget(data, label, data["budgets"][0]["method"])


def budget_paper(data, label):
    return budget(data, label, data["budgets"][1]["method"])


def recipe_name(recipe):
    weight = recipe["composed_loss"]
    if "agreement" in recipe:
        return f"loss {weight:g}, agreement {recipe['agreement']:g}"
    return f"composed loss {weight:g}" if weight else "the paper's loss"


def pairs_of(data, label, key):
    if label == "all":
        sums = [{k: sum(pair[k] for pair in recipe[key]) for k in ("passed", "crossings", "crashes")}
                for recipe in data["recipes"]]
        return [f"{s['passed']:.0f}/{s['crossings']:.0f} gates, {s['crashes']:.0f} "
                f"crash{'' if s['crashes'] == 1 else 'es'}" for s in sums]
    pairs = [task_of(recipe[key], label) for recipe in data["recipes"]]
    return [f"{pair['largest_m']:.2f}, {pair['mean_m']:.2f}, {pair['speed_ratio']:.2f}, "
            f"{pair['passed']:.0f}/{pair['crossings']:.0f}" for pair in pairs]


def left_out(data, label):
    return pairs_of(data, label, "pairs")


def left_out_check(data, label):
    return pairs_of(data, label, "check")


def left_out_bounds(data, label):
    """A row a recipe and probability: "composed loss 3, 0.923"."""
    name, probability = label.rsplit(", ", 1)
    recipe = next(r for r in data["recipes"] if recipe_name(r) == name)
    bound = next(b for b in recipe["bounds"] if f"{b['confidence']:.3f}" == probability)
    return [f"{recipe['parameters']:.0f}", f"{len(recipe['pairs'])}", f"{bound['largest_m']:.2f}",
            f"{bound['mean_m']:.2f}"]


def gate_certificate(data, label):
    s = data["summary"]
    assert label == "ours"
    return [f"{s['c_ltv']['mean']:.0f} ({s['c_ltv']['least']:.0f} to {s['c_ltv']['most']:.0f})",
            f"{s['eps_s']['mean']:.2f}",
            f"{s['r_ss_default']['mean']:.1f} ({s['r_ss_default']['least']:.1f} to "
            f"{s['r_ss_default']['most']:.1f})"]


# ---- docs/metaworld.md --------------------------------------------------------------------------


def named(entries, key, name):
    return next(entry for entry in entries if entry[key] == name)


def success(found):
    """"87.3 (84.1–90.0)": the rate and its interval, in percent."""
    low, high = wilson(found["success"], found["trials"])
    return (f"{100 * found['success'] / found['trials']:.1f} "
            f"({100 * max(low, 0):.1f}–{100 * min(high, 1):.1f})")


def metaworld_split(data, label):
    if label not in data["factors"]["skill"]:
        raise KeyError(label)
    return ["held out" if f"{label}/{goal}" in data["held_out"] else ""
            for goal in data["factors"]["goal"]]


def metaworld_methods(data, label):
    method = named(data["methods"], "name", label)
    cells = [f"{len(method['seeds'])}"]
    for half in (method["training"], method["held_out"]):
        cells += [success(half), f"{100 * half['seed_least']:.1f}–{100 * half['seed_most']:.1f}"]
    return cells


def metaworld_skills(data, label):
    skills = named(data["methods"], "name", label)["skills"]
    return [success(skill[half]) for half in ("training", "held_out")
            for skill in skills.values() if skill[half]["trials"]]


def metaworld_pairs(data, label):
    skill, goal = label.rstrip("*").split("/")
    if (f"{skill}/{goal}" in data["held_out"]) != label.endswith("*"):
        raise KeyError(f"{skill}/{goal}: the split is another")
    shown = [named(data["methods"], "id", id)
             for id in ("expert", "baseline", "told", "factored", "ours", "oracle")]
    pairs = [next(pair for pair in method["pairs"] if (pair["skill"], pair["goal"]) == (skill, goal))
             for method in shown]
    return [f"{pair['success']}/{pair['trials']}" for pair in pairs]


def metaworld_fold(data, label):
    """A row a candidate: what it is, and for every pair that is left out the last loss, the
    successes there, and those on the pair of the same goal that was learned."""
    candidate, episodes = named(data["candidates"], "id", label), data["episodes"]
    words = candidate["options"][candidate["options"].index("--drop"):]
    cells = [f"{candidate['channels']}", f"{candidate['embed']}", f"`{' '.join(words)}`"]
    for fold in candidate["folds"]:
        loss = fold["looks"][-1][2 if candidate["mode"] == "composed" else 1]
        learned, = fold["learned"].values()
        cells += [f"{loss:.3f}", f"{fold['success']}/{episodes}", f"{learned}/{episodes}"]
    return cells


def metaworld_first_fold(data, label):
    """A row a candidate that was asked for the pairs left out, and for two that were learned."""
    candidate = named(data["candidates"], "id", label)
    asked = candidate["asked"][0]["pairs"]
    words = candidate["options"][candidate["options"].index("--drop"):]
    _, joint, composed = candidate["looks"][-1]
    return [f"{candidate['channels']}", f"{candidate['embed']}", f"`{' '.join(words)}`",
            f"{composed if '--composed-loss' in words else joint:.3f}",
            *(f"{asked[pair]}/{data['episodes']}" for pair in data["fold"] + data["learned"])]


# ---- docs/new-value.md --------------------------------------------------------------------------


def new_value(data, label):
    """A row a value, network and way: "size=medium, shipped, first guess"."""
    row = next(row for row in data["rows"]
               if f"{row['value']}, {row['network']}, {row['way']}" == label)
    return [row["learned_from"], f"{row['passed']} of {row['gates']}", f"{row['crashes']}",
            f"{100 * row['speed_error']:.1f} %", f"{row['path_error_m']:.2f} m",
            "–" if row["seconds"] is None else f"{row['seconds']:.0f} s"]


# ---- docs/steps.md ------------------------------------------------------------------------------


def ddim_curve(data, method, mode):
    return next(curve for curve in data["curves"]
                if (curve["sampler"], curve["method"], curve["mode"]) == ("ddim", method, mode))


def step_study(data, label):
    """A row a number of steps: gates of all tasks and of held-out ones, by DDIM, the mean over seeds."""
    cells = []
    for method in (("ours", "composed"), ("ours", "joint"), ("factored", "composed"), ("factored", "joint")):
        curve = ddim_curve(data, *method)
        passed = next(cell["passed"] for cell in curve["steps"] if f"{cell['steps']}" == label.strip("*"))
        cells += [f"{mean([seed[key] for seed in passed]):.1f}" for key in ("all", "held_out")]
    return cells


def step_folds(data, label):
    """A row a number of steps: gates of pairs left out over all folds and seeds, by composed DDIM, and the
    difference from 50 steps with its standard error; for the composed loss and for the paper's."""
    cells = []
    for method in ("ours", "factored"):
        passed = {}
        for fold in data.values():
            for cell in ddim_curve(fold, method, "composed")["steps"]:
                passed.setdefault(cell["steps"], []).extend(seed["left_out"] for seed in cell["passed"])
        found = passed[int(label.strip("*"))]
        apart = [a - b for a, b in zip(found, passed[max(passed)])]
        error = math.sqrt(sum((a - mean(apart)) ** 2 for a in apart) / (len(apart) - 1) / len(apart))
        difference = f"{mean(apart):.2f} ± {error:.2f}".replace("-", "−") if any(apart) else "0"
        cells += [f"{sum(found)}", difference]
    return cells


# ---- What programs printed ----------------------------------------------------------------------


def module(path):
    """A program of ours, for what it renders."""
    spec = importlib.util.spec_from_file_location("printer", os.path.join(ROOT, path))
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def bench(data):
    """The rows and what they were measured on; what is said of each peer stands in the page's words."""
    compare = module("bench/peers/compare.py")
    notes = list(compare.notes(data))[:2]
    return [*compare.table(data), "", *notes]


def rotorpy(data):
    return list(module("examples/rotorpy/table.py").lines(data))


PRINTED = {"bench": bench, "rotorpy": rotorpy}

TABLES = {function.__name__.replace("_", "-"): function for function in (
    passage, held_out_tasks, held_out_speeds, shipped, race_study, race_head, operators, pairs, mechanism,
    recipe_losses,
    recipe_spreads, certificate, ltv_seeds, ltv_sweep, closed_loop, paces, interaction, exact_plans,
    budget_ours, budget_paper, left_out, left_out_check, left_out_bounds,
    passage_bounds, verify_totals, verify_tasks, zero_shot, within, ablations, gate_leads, within_leads, first_study, ladder, gate_certificate,
    gate_choice, modality, modality_choice,
    metaworld_split, metaworld_methods, metaworld_skills, metaworld_pairs, metaworld_fold,
    metaworld_first_fold, new_value, step_study, step_folds, bench_aims)}


def every(key, *path):
    """What all rows of a file have under a key, in the list to which the path leads."""
    def labels(data):
        for step in path:
            data = data[step]
        return [row[key] for row in data]
    return labels


def leads(protocol):
    return lambda data: [row["method"] for row in data["protocols"][protocol]["rows"] if "ours_ahead" in row]


# Tables that have every row of their file, and the labels of those.
WHOLE = {
    "race-study": every("name", "rows"),
    "pairs": lambda data: [pairs_label(row) for row in data["rows"]],
    "operators": lambda data: [f"`{mode}`" for mode in every("mode", "operators")(data)],
    "mechanism": lambda data: list({f"`{row['variant']}`": 0 for row in data["variants"]}),
    "zero-shot": every("method", "protocols", 0, "rows"),
    "within": every("method", "protocols", 1, "rows"),
    "ladder": every("method", "protocols", 0, "rows"),
    "gate-leads": leads(0),
    "within-leads": leads(1),
    "ablations": lambda data: [ABLATIONS.get(name, name) for name in every("name", "ablations")(data)],
    "gate-choice": every("name", "rows"),
    "modality": every("name", "rows"),
    "modality-choice": lambda data: [f"{weight:.2f}" for weight in every("weight", "choice", "tried")(data)],
}

# ---- Pages --------------------------------------------------------------------------------------

FILE = r"results/[\w./-]+(?:\.json|/)"
HELD = re.compile(rf"<!-- table ([a-z-]+) of ({FILE}(?: and {FILE})*) -->")
FENCED = re.compile(rf"<!-- printed ([a-z-]+) of ({FILE}) -->")
FREE = re.compile(r"<!-- no results file: .+ -->")


def split_row(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def agrees(found, expected):
    """A cell agrees when it is the file's, with or without a remark in brackets behind it."""
    return expected is KEEP or found == expected or found.startswith(expected + " (")


def cells_of(function, files, label):
    """The cells of a row, each column once a file; one that no file has stands once."""
    columns = zip(*[function(data, label) for data in files])
    return [cell for column in columns
            for cell in (column if column[0] is not KEEP else [KEEP])]


def check_row(line, function, files, where, write):
    """The row as it should be, and what is wrong with it."""
    cells = split_row(line)
    if cells[0].startswith(UNFILED):
        return line, []
    try:
        expected = cells_of(function, files, cells[0])
    except (KeyError, StopIteration, AssertionError) as error:
        return line, [f"{where}: {cells[0]}: the file has no such row ({error})"]
    if len(expected) != len(cells) - 1:
        return line, [f"{where}: {cells[0]}: expected {len(expected)} cells, found {len(cells) - 1}"]
    wrong = [f"{where}: {cells[0]}: expected '{e}', found '{f}'"
             for f, e in zip(cells[1:], expected) if not agrees(f, e)]
    if write and wrong:
        cells[1:] = [f if agrees(f, e) else e for f, e in zip(cells[1:], expected)]
        return "| " + " | ".join(cells) + " |", []
    return line, wrong


def load(root, path):
    """A file, or the files of a folder by their names."""
    if path.endswith("/"):
        names = sorted(name for name in os.listdir(os.path.join(root, path)) if name.endswith(".json"))
        return {name.removesuffix(".json"): load(root, path + name) for name in names}
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return json.load(file)


def held_by(root, mark):
    """What a comment says that its table is held by: the table's name, its function and its files."""
    if mark[1] not in TABLES:
        raise KeyError(f"no table '{mark[1]}' is known")
    return mark[1], TABLES[mark[1]], [load(root, path) for path in mark[2].split(" and ")]


def table_at(lines, i):
    """The number of lines of the table that begins there."""
    end = i
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return end - i


def check_table(lines, start, count, held, where, write):
    """Compares the rows of a table, and names those that it does not have and should."""
    name, function, files = held
    wrong, labels = [], []
    for i in range(start + 2, start + count):
        labels.append(split_row(lines[i])[0])
        lines[i], found = check_row(lines[i], function, files, f"{where}:{i + 1}", write)
        wrong += found
    absent = [label for label in WHOLE.get(name, lambda data: [])(files[0]) if label not in labels]
    if not wrong:  # a label that is wrong is named already
        wrong = [f"{where}:{start + 1}: {label}: a row of the file that the table does not have"
                 for label in absent]
    return wrong


def check_printed(lines, start, name, data, where, write):
    """Compares what stands between the fence at start and the next one with what is printed of the data."""
    if name not in PRINTED:
        raise KeyError(f"nothing printed is known as '{name}'")
    end = lines.index("```", start + 1)
    found, expected = lines[start + 1:end], PRINTED[name](data)
    if write:
        lines[start + 1:end] = expected
        return []
    wrong = [f"{where}:{start + 2 + i}: expected '{e}', found '{f}'"
             for i, (f, e) in enumerate(zip(found, expected)) if f != e]
    if len(found) != len(expected):
        wrong.append(f"{where}:{start + 1}: expected {len(expected)} lines, found {len(found)}")
    return wrong


def check_fences(root, lines, page, write):
    """What stands fenced below a comment that says which file it was printed of."""
    wrong = []
    for i in range(len(lines) - 1, 0, -1):  # from the end, for what is written may be longer
        mark = FENCED.fullmatch(lines[i - 1])
        if mark and not lines[i].startswith("```"):
            wrong.append(f"{page}:{i}: nothing fenced follows")
        elif mark:
            wrong += check_printed(lines, i, mark[1], load(root, mark[2]), page, write)
    return wrong


def check_page(root, page, write):
    with open(os.path.join(root, page), encoding="utf-8") as file:
        lines = file.read().split("\n")
    try:
        wrong = check_fences(root, lines, page, write)
    except (KeyError, OSError) as error:
        wrong = [f"{page}: {error}"]
    fenced, tables = False, 0
    for i, line in enumerate(lines):
        if line.startswith("```"):
            fenced = not fenced
        begins = line.startswith("|") and not (i and lines[i - 1].startswith("|"))
        if fenced or not begins:
            continue
        tables += 1
        above = lines[i - 1] if i else ""
        mark = HELD.fullmatch(above)
        try:
            if mark:
                wrong += check_table(lines, i, table_at(lines, i), held_by(root, mark), page, write)
            elif not FREE.fullmatch(above):
                wrong.append(f"{page}:{i + 1}: a table without a comment that names its file: {line}")
        except KeyError as error:
            wrong.append(f"{page}:{i}: {error.args[0]}")
        except OSError as error:
            wrong.append(f"{page}:{i}: {os.path.relpath(error.filename, root)}: {error.strerror}")
    if tables == 0:
        wrong.append(f"{page}: no table")
    if write:
        with open(os.path.join(root, page), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
    return wrong


def main():
    write = "--write" in sys.argv[1:]
    wrong = [line for page in PAGES for line in check_page(ROOT, page, write)]
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
