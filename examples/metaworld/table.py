"""What came of the study, from its cells: one document, and its tables in Markdown.

Nothing here needs Meta-World.
"""
import math

import tasks
from methods import EXECUTE, METHODS, wilson


def rate(cells):
    """Trials and successes with Wilson's interval, and the rate of every training seed."""
    trials = sum(cell["episodes"] for cell in cells)
    success = sum(cell["success"] for cell in cells)
    low, high = wilson(success, trials)
    by_seed = []
    for seed in sorted({cell["seed"] for cell in cells}):
        some = [cell for cell in cells if cell["seed"] == seed]
        by_seed.append(sum(cell["success"] for cell in some)
                       / sum(cell["episodes"] for cell in some))
    return {"trials": trials, "success": success, "low": low, "high": high,
            "seed_rates": [round(value, 4) for value in by_seed],
            "seed_least": min(by_seed, default=None), "seed_most": max(by_seed, default=None)}


def step_ms(cells):
    """The processor's time of an agent's call, None for the expert."""
    times = [cell["agent_seconds"] for cell in cells if cell["agent_seconds"] is not None]
    calls = sum(sum(cell["steps_taken"]) for cell in cells)
    return round(1e3 * sum(times) / calls, 3) if times else None


def plan_ms(cells):
    """The same of a call that plans: the others take nearly none."""
    plans = sum(math.ceil(steps / EXECUTE) for cell in cells for steps in cell["steps_taken"])
    times = [cell["agent_seconds"] for cell in cells if cell["agent_seconds"] is not None]
    return round(1e3 * sum(times) / plans, 3) if times else None


def halves(cells):
    """The rates of pairs that training showed and of those held out."""
    hidden = tasks.held_out()
    return {"training": rate([cell for cell in cells if tuple(cell["pair"]) not in hidden]),
            "held_out": rate([cell for cell in cells if tuple(cell["pair"]) in hidden])}


def method_entry(id, name, cells, training):
    entry = {"id": id, "name": name, "seeds": sorted({cell["seed"] for cell in cells}),
             **halves(cells),
             "skills": {skill: halves([cell for cell in cells if cell["pair"][0] == skill])
                        for skill in tasks.SKILLS},
             "pairs": []}
    for pair in tasks.pairs():
        some = [cell for cell in cells if tuple(cell["pair"]) == pair]
        if some:
            entry["pairs"].append({**dict(zip(tasks.FACTORS, pair)),
                                   "held_out": pair in tasks.held_out(), **rate(some)})
    entry["step_ms"], entry["plan_ms"] = step_ms(cells), plan_ms(cells)
    entry["evaluation_seconds"] = round(sum(cell["seconds"] for cell in cells), 1)
    entry["trainings"] = training
    return entry


def document(cells, trainings, about):
    """`trainings`: what facet train wrote, by (method, seed)."""
    methods = []
    for id, name in [("expert", "Scripted expert"),
                     *((method.id, method.name) for method in METHODS.values())]:
        some = [cell for cell in cells if cell["method"] == id]
        if some:
            training = [found for (method, _), found in sorted(trainings.items()) if method == id]
            methods.append(method_entry(id, name, some, training))
    return {**about, "methods": methods}


# ---- Markdown ------------------------------------------------------------------------------------

def percent(value):
    return "—" if value is None else f"{100.0 * value:.1f}"


def cell_text(found):
    """"87.3 (84.1–90.0)": the rate and its interval."""
    if found["trials"] == 0:
        return "—"
    return (f"{percent(found['success'] / found['trials'])} "
            f"({percent(found['low'])}–{percent(found['high'])})")


def seeds_text(found):
    if found["seed_least"] is None:
        return "—"
    return f"{percent(found['seed_least'])}–{percent(found['seed_most'])}"


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def markdown(results):
    """Success in percent: by method, by skill, and by pair."""
    methods = results["methods"]
    lines = [row(["method", "seeds", "training pairs", "over seeds", "held-out pairs",
                  "over seeds"]), "|---|---|---|---|---|---|"]
    for method in methods:
        lines.append(row([method["name"], len(method["seeds"]), cell_text(method["training"]),
                          seeds_text(method["training"]), cell_text(method["held_out"]),
                          seeds_text(method["held_out"])]))
    hidden = [skill for skill in tasks.SKILLS if any(pair[0] == skill for pair in tasks.held_out())]
    lines += ["", row(["method", *(f"{skill}, training" for skill in tasks.SKILLS),
                       *(f"{skill}, held out" for skill in hidden)]),
              "|---" * (1 + len(tasks.SKILLS) + len(hidden)) + "|"]
    for method in methods:
        lines.append(row([method["name"],
                          *(cell_text(method["skills"][skill]["training"])
                            for skill in tasks.SKILLS),
                          *(cell_text(method["skills"][skill]["held_out"]) for skill in hidden)]))
    lines += ["", row(["pair", *(method["id"] for method in methods)]),
              "|---" * (1 + len(methods)) + "|"]
    for pair in tasks.pairs():
        cells = []
        for method in methods:
            found = [entry for entry in method["pairs"]
                     if (entry["skill"], entry["goal"]) == pair]
            cells.append(f"{found[0]['success']}/{found[0]['trials']}" if found else "—")
        lines.append(row([tasks.text(pair) + "*" * (pair in tasks.held_out()), *cells]))
    return "\n".join(lines) + "\n"
