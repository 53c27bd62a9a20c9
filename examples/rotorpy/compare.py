#!/usr/bin/env python3
"""The shipped policy's plans, and the expert's, flown in RotorPy beside Facet's own simulator.

run.sh makes what this needs and calls it. Example: run.sh --task race7/wide --json rotorpy.json
"""
import argparse
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy

import table
import vehicle as vehicles
from pilot import Failed, Pilot

ROOT = pathlib.Path(__file__).resolve().parents[2]
PILOTS = ("law", "gains", "stock", "timed")
MEANING = """
Facet flew by itself; all other columns are RotorPy's vehicle. law: Facet's
carrot, controller and mixer. gains: RotorPy's SE(3) controller with Facet's
gains, after Facet's carrot. stock: the same with RotorPy's gains. timed:
RotorPy's gains, after the plan by the clock. off: the largest distance (m) of
Facet's path from this one. m/s: mean speed flown. *: held out. !: crashed."""


# ---- What is flown -------------------------------------------------------------------------------

def ask(facet, *words):
    """What a command of the program writes as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "said.json")
        try:
            done = subprocess.run([facet, *words, "--json", data], capture_output=True, text=True)
        except OSError as error:
            raise Failed(f"{facet}: {error.strerror}: './facet race' builds it") from error
        if done.returncode != 0:
            raise Failed((done.stderr.strip().splitlines() or [f"facet {words[0]} failed"])[-1])
        return read_json(data)


def facet_report(facet, vehicle_file):
    """Plans, Facet's flights of this vehicle and the course."""
    with tempfile.TemporaryDirectory() as folder:
        race, page = (os.path.join(folder, name) for name in ("race.json", "report.html"))
        flown = ask(facet, "race", "--quiet", "--no-report", "--quad", vehicle_file)
        with open(race, "w", encoding="utf-8") as text:
            json.dump(flown, text)
        return ask(facet, "report", "--quiet", "--quad", vehicle_file, "--race", race, "--out", page)


def read_json(file):
    try:
        with open(file, encoding="utf-8") as text:
            return json.load(text)
    except (OSError, ValueError) as error:
        raise Failed(f"{file}: {error}") from error


def works(report, wanted):
    """One a feasible task and kind of plan: the policy's first, then the expert's."""
    if report["main_method"] == "expert":
        raise Failed("the report: expected flights of a policy, found the expert's alone")
    names = [task["id"] for task in report["tasks"] if task["feasible"]]
    for name in wanted or []:
        if name not in names:
            raise Failed(f"no feasible task '{name}', known: {' '.join(names)}")
    flights = {(f["method"], f["task"]): f for f in report["flights"]}
    return [{"kind": kind, "task": task, "flight": flights[method, index],
             "expert": flights["expert", index]["plan"]}
            for kind, method in (("policy", report["main_method"]), ("expert", "expert"))
            for index, task in enumerate(report["tasks"])
            if (method, index) in flights and task["id"] in (wanted or names)]


def distance_from(line, points):
    """The largest distance (m) of points from a line of straight pieces."""
    start, edge = line[:-1], numpy.diff(line, axis=0)
    square = numpy.maximum(numpy.sum(edge * edge, axis=1), 1e-12)
    worst = 0.0
    for point in points:
        share = numpy.clip(numpy.sum((point - start) * edge, axis=1) / square, 0.0, 1.0)
        gaps = start + share[:, None] * edge - point
        worst = max(worst, float(numpy.min(numpy.linalg.norm(gaps, axis=1))))
    return worst


def fly_work(job):
    """All pilots on one plan."""
    from flights import fly  # RotorPy is needed here alone
    work, course, settings = job
    task, flight, rate = work["task"], work["flight"], settings["rate"]
    parameters = vehicles.rotorpy_parameters(vehicles.load(settings["quad"]))
    gates = course["tracks"][task["track"]]["gates"]
    half_width = course["openings"][task["opening"]]["half_width"]
    row = {"task": task["id"], "held_out": task["held_out"], "gates": len(gates),
           "half_width": half_width,
           "facet": {"passed": flight["passed"], "end": flight["end"], "crash": flight["crash"],
                     "gate_results": flight["gate_results"], "speed": flight["speed_flown"],
                     "off_m": 0.0}}
    for name in settings["pilots"]:
        with Pilot(settings["pilot"], settings["quad"], flight["plan"], work["expert"],
                   task["speed_reference"]) as pilot:
            flown = fly(name, pilot, parameters, gates, half_width, course["arena"], rate)
        path = flown.pop("path")
        length = numpy.sum(numpy.linalg.norm(numpy.diff(path, axis=0), axis=1))
        flown["speed"] = float(length) * rate / max(len(path) - 1, 1)
        flown["off_m"] = distance_from(path, numpy.reshape(flight["positions"], (-1, 3)))
        row[name] = flown
    return work["kind"], row


def fly_all(jobs, processes):
    """The rows of each kind of plan, in the order of the jobs."""
    rows, seen = {}, sys.stderr.isatty()
    with multiprocessing.Pool(processes) as pool:
        for done, (kind, row) in enumerate(pool.imap(fly_work, jobs), 1):
            rows.setdefault(kind, []).append(row)
            if seen:
                print(f"\r{done} of {len(jobs)} plans flown", end="", file=sys.stderr)
    if seen:
        print("\r\033[K", end="", file=sys.stderr)
    return rows


# ---- What is shown -------------------------------------------------------------------------------

def totals(rows, side):
    parts = {"all": rows, "training": [row for row in rows if not row["held_out"]],
             "held_out": [row for row in rows if row["held_out"]]}
    sums = {name: {"passed": sum(row[side]["passed"] for row in part),
                   "gates": sum(row["gates"] for row in part)} for name, part in parts.items()}
    return {**sums, "crashes": sum(row[side]["end"] == "crashed" for row in rows),
            "off_m": sum(row[side]["off_m"] for row in rows) / len(rows),
            "speed": sum(row[side]["speed"] for row in rows) / len(rows)}


def made_by(facet):
    """Version and commit of the program; the report's plans have its default seed."""
    said = ask(facet, "version")
    return {"seed": 1, "version": said["version"], "commit": said["commit"]}


def document(rows, settings, sides):
    plans = {kind: {"tasks": some, "totals": {side: totals(some, side) for side in sides}}
             for kind, some in rows.items()}
    return {"command": shlex.join(["examples/rotorpy/run.sh", *sys.argv[1:]]),
            "rotorpy": importlib.metadata.version("rotorpy"), "rate": settings["rate"],
            "plans": plans, **made_by(settings["facet"])}


# ---- Command line --------------------------------------------------------------------------------

def arguments():
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__.splitlines()[0],
                                     epilog="example: run.sh --task race7/wide --json out.json")
    parser.add_argument("--facet", metavar="PROGRAM", default=str(ROOT / "build/facet"))
    parser.add_argument("--pilot", metavar="PROGRAM", default=str(ROOT / "build/examples/pilot"))
    parser.add_argument("--quad", metavar="FILE", default=str(ROOT / "vehicles/racer.json"),
                        help="the vehicle's parameters, for both simulators")
    parser.add_argument("--report", metavar="FILE",
                        help="of facet report --quad … --json FILE, instead of making it")
    parser.add_argument("--task", metavar="TRACK/SIZE", action="append",
                        help="only this task (may be repeated)")
    parser.add_argument("--pilots", metavar="NAME", nargs="+", choices=PILOTS, default=PILOTS,
                        help=f"columns, of {' '.join(PILOTS)}")
    parser.add_argument("--rate", metavar="HZ", type=int, default=200,
                        help="commands a second in RotorPy (default 200)")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count(),
                        help="flights at a time (default one a processor)")
    parser.add_argument("--json", metavar="FILE", help="also write the results to FILE")
    return parser.parse_args()


def compare(options):
    if not os.access(options.pilot, os.X_OK):
        raise Failed(f"{options.pilot}: not there: 'ninja -C build example_pilot' builds it")
    vehicles.load(options.quad)
    report = (read_json(options.report) if options.report
              else facet_report(options.facet, options.quad))
    settings = {name: getattr(options, name) for name in ("facet", "pilot", "quad", "pilots", "rate")}
    jobs = [(work, report["course"], settings) for work in works(report, options.task)]
    sides = ("facet", *options.pilots)
    results = document(fly_all(jobs, options.jobs), settings, sides)
    print("", *table.lines(results), MEANING, sep="\n")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as text:
            json.dump(results, text, indent=1)
            text.write("\n")


def main():
    try:
        compare(arguments())
    except (Failed, vehicles.Unsuitable, OSError, ImportError) as error:
        sys.exit(f"rotorpy: {error}")


if __name__ == "__main__":
    main()
