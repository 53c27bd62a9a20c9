#!/usr/bin/env python3
"""The tables of docs/certificates.md, as Markdown, from the results that they stand on.

Takes results of `facet certify --json`, of `facet certify --budget --json` and of `facet study
leave-one-out --json`, in any order, and prints the tables of each. A certificate with several seeds or
a sweep has those tables too.
Run: python3 tools/certificate_tables.py results/certify.json results/budget.json …
"""
import json
import statistics
import sys

from doc_tables import recipe_name


def show(number, digits=2):
    return "—" if number is None else f"{number:.{digits}f}"


def name(task):
    return f"{task['track']}/{task['size']}" + (" (held out)" if task.get("held_out") else "")


def table(*rows):
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows[1:]:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def spread(values, form="{:.3g}"):
    values = [v for v in values if v is not None]
    return f"{form.format(min(values))} to {form.format(max(values))}" if values else "—"


def bounds(document):
    tasks = document["tasks"]
    held = [t for t in tasks if t["held_out"]]
    training = [t for t in tasks if not t["held_out"]]
    c = [t["c_ltv"] for t in tasks]
    mean = lambda list, key: show(statistics.mean(t[key] for t in list)) if list else "—"
    table(["", "value"],
          ["C_LTV: mean, median, max",
           f"{show(statistics.mean(c))}, {show(statistics.median(c))}, {show(max(c), 1)}"],
          ["C_LTV on training and on held-out tasks", f"{mean(training, 'c_ltv')}, {mean(held, 'c_ltv')}"],
          ["ε_s by task", spread(t["eps_s"] for t in tasks)],
          ["ε_s of all: largest ε_D at noised demonstrations", show(document["eps_d"]["max"])],
          ["Grönwall, integral", spread((t["c_gronwall"] for t in tasks), "{:.2g}")],
          ["Grönwall, product over the steps", spread((t["c_gronwall_discrete"] for t in tasks), "{:.2g}")],
          ["R_ss with the paper's constants (m)", spread(t["r_ss_default"] for t in tasks)],
          ["ε_D: mean, 95 %, max", ", ".join(show(document["eps_d"][k]) for k in ("mean", "p95", "max"))],
          ["L₁, L₂: means", f"{show(document['l1']['mean'])}, {show(document['l2']['mean'])}"])


def tightest(gates):
    used = lambda g: (g["miss_nominal"] + g["bound"] + g["disturbance"]
                      if None not in (g["miss_nominal"], g["bound"], g["disturbance"]) else float("inf"))
    gate = max(gates, key=lambda g: used(g) - g["half_width"])
    return (f"{show(gate['miss_nominal'])} + {show(gate['bound'])} + {show(gate['disturbance'])}, "
            f"{show(gate['half_width'])}")


def largest(gates, key):
    values = [g[key] for g in gates if g.get(key) is not None]
    return show(max(values)) if values else "—"


def gates(document):
    if any("attack" not in g for task in document["tasks"] for g in task["gates"]):
        print("The gates were not attacked: none is certified.\n")
        return
    rows = [["task", "own speed", "whole at pace", "fold", "largest probe", "largest attack / bound",
             "tightest gate there: miss + bound + gusts, limit (m)"]]
    own = paced = certified = total = 0
    for task in document["tasks"]:
        count = sum(g["certified"] for g in task["gates"])
        certified, total = certified + count, total + len(task["gates"])
        own += task["certified"]
        paced += task["paced"]["pace"] is not None
        there = task["paced"]["gates"]
        rows.append([name(task), f"{count}/{len(task['gates'])}", show(task["paced"]["pace"]),
                     show(task["paced"].get("fold")), largest(there, "probe"), largest(there, "attack"),
                     tightest(there)])
    table(*rows)
    print(f"{certified} of {total} gates and {own} of {len(document['tasks'])} whole tasks at their own "
          f"speed, {paced} whole tasks at some pace.\n")


def seeds(document):
    tasks = [t for t in document["tasks"] if len(t["seeds"]) > 1]
    if not tasks:
        return
    rows = [["task", "C_LTV over the seeds: mean ± deviation", "ε_s: mean ± deviation"]]
    for task in tasks:
        values = {k: [s[k] for s in task["seeds"] if s[k] is not None] for k in ("c_ltv", "eps_s")}
        rows.append([name(task)] + [f"{show(statistics.mean(v))} ± {show(statistics.stdev(v))}"
                                    for v in values.values()])
    table(*rows)
    for title, kept in (("training", False), ("held-out", True)):
        values = [s["c_ltv"] for t in tasks if t["held_out"] == kept for s in t["seeds"]
                  if s["c_ltv"] is not None]
        if values:
            print(f"C_LTV of {title} tasks over all seeds: mean {show(statistics.mean(values))}")
    print()


def sweep(document):
    if not document.get("sweep"):
        return
    rows = [["N", "C_LTV: mean, median, max", "C_emp, mean", "Grönwall", "ε_s"]]
    for row in document["sweep"]:
        c = [t["c_ltv"] for t in row["tasks"] if t["c_ltv"] is not None]
        rows.append([row["steps"],
                     f"{show(statistics.mean(c))}, {show(statistics.median(c))}, {show(max(c), 1)}",
                     show(statistics.mean(t["c_emp"] for t in row["tasks"]), 3),
                     spread((t["c_gronwall"] for t in row["tasks"]), "{:.2g}"),
                     spread(t["eps_s"] for t in row["tasks"])])
    table(*rows)


def passage(document):
    rows = [["task", "cleared", "at least"]]
    for task in document["tasks"]:
        if "passage" in task and task["passage"]["clear"] < task["passage"]["samples"]:
            rows.append([name(task), f"{task['passage']['clear']}/{task['passage']['samples']}",
                         f"{100 * task['passage_lower_bound']:.0f} %"])
    if len(rows) > 1:
        table(*rows)


def budget(document, every=8):
    for entry in document["budgets"]:
        network, exact = entry["along_network"], entry["along_exact"]
        picked = sorted({*range(0, len(network), every), len(network) - 1})
        pair = lambda k, key: f"{network[k][key]:.3g}, {exact[k][key]:.3g}"
        most = lambda levels, key: max(l[key] for l in levels if l.get(key) is not None)
        print(f"{entry['method']}, {entry['tasks']} tasks; largest G {most(network, 'g'):.3g} and "
              f"{most(exact, 'g'):.3g}, M {most(network, 'm'):.3g} and {most(exact, 'm'):.3g}\n")
        table(["σ", "2√(GM): network's states, exact", "η", "sum", "measured"],
              *[[f"{network[k]['sigma']:.3f}"] + [pair(k, key) for key in
                                                  ("interaction", "eta", "total", "measured")]
                for k in picked])


def leave_one_out(document):
    cell = lambda p: (f"{show(p['largest_m'])}, {show(p['mean_m'])}, {show(p['speed_ratio'])}, "
                      f"{p['passed']}/{p['crossings']}")
    recipes = document["recipes"]
    for key in ("pairs", "check"):
        shown = [r for r in recipes if r.get(key)]
        if shown:
            heads = [f"{recipe_name(r)}: largest (m), mean (m), speed, gates" for r in shown]
            table(["pair"] + heads,
                  *[[name(p)] + [cell(r[key][i]) for r in shown] for i, p in enumerate(shown[0][key])],
                  ["all", *[f"{sum(p['passed'] for p in r[key])}/{sum(p['crossings'] for p in r[key])} "
                            f"gates, {sum(p['crashes'] for p in r[key])} crashes" for r in shown]])
    table(["recipe", "parameters", "pairs", "probability", "largest (m)", "mean (m)"],
          *[[recipe_name(r), f"{r['parameters']:.0f}", len(r["pairs"]), show(b["confidence"], 3),
             show(b["largest_m"]), show(b["mean_m"])] for r in recipes for b in r["bounds"]])
    for r in recipes:
        if r.get("check"):
            print(f"{recipe_name(r)}: {sum(p['within'] for p in r['check'])} of {len(r['check'])} within the "
                  f"bound, {sum(p['within_jackknife'] for p in r['check'])} within jackknife+ "
                  f"({spread((p['jackknife_m'] for p in r['check']), '{:.2f}')} m)\n")


for path in sys.argv[1:]:
    with open(path) as file:
        document = json.load(file)
    print(f"## {path}: {document['command']}\n")
    if "recipes" in document:
        leave_one_out(document)
    if "budgets" in document:
        budget(document)
    if "tasks" in document:
        for part in (bounds, gates, seeds, sweep, passage):
            part(document)
