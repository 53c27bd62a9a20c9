#!/usr/bin/env python3
"""A new factor value from one task, beside a first guess and beside training from nothing.

A fourth opening ("medium", between standard and wide) and a ninth track (race 6 flown backwards)
join the shipped course. Of each, the 50 demonstrations of one task are used: race3/medium and
race9/standard. The others are flown. Python's own library is all it needs.

Example: examples/new_value/study.py --json results/new-value.json
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACET = pathlib.Path(os.environ.get("FACET_PROGRAM", ROOT / "build/facet"))
SHIPPED = ROOT / "models/race-factored.safetensors"
TRACKS = [f"race{i}" for i in range(1, 9)]
NETWORK = ["--composed-loss", "3", "--blocks", "4", "--channels", "128"]
NEW = {"size=medium": ("race3/medium", [f"{track}/medium" for track in TRACKS]),
       "track=race9": ("race9/standard", ["race9/narrow", "race9/standard", "race9/wide"])}


def make_courses(folder, value):
    """The shipped course with the opening or the track; the tasks that it holds out."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (ROOT / "courses").glob("*.json"):
        shutil.copy(file, folder)
    course = json.loads((folder / "course.json").read_text())
    track = json.loads((folder / "race6.json").read_text())
    if value.startswith("size"):
        course["openings"].append({"name": "medium", "half_width": 0.88})
        (folder / "course.json").write_text(json.dumps(course))
    else:
        turned = [turn(place) for place in reversed(track["path"])]
        (folder / "race9.json").write_text(json.dumps(
            {"name": "race9", "description": "Race 6 backwards", "path": turned}))
    return course["held_out"]


def turn(place):
    """A gate of a path, flown the other way; a point stays."""
    if not isinstance(place, str):
        return place
    return place[1:] if place.startswith("-") else "-" + place


def facet(*arguments):
    """Runs the program; its seconds."""
    started = time.monotonic()
    subprocess.run([FACET, *map(str, arguments), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def hold_out(tasks):
    return [word for task in tasks for word in ("--hold-out", task)]


def others_of(value):
    task, tasks = NEW[value]
    return [other for other in tasks if other != task]


def teach(base, value, data, out, *more):
    """The base with the value, from its one task; seconds."""
    return facet("train", "--from", base, "--new-value", value, "--data", data, "--out", out,
                 *hold_out(others_of(value)), *more)


def fly(policy, courses, value, folder):
    """Passage and speed on the value's tasks: those that nothing was learned from, and the one."""
    task, tasks = NEW[value]
    out = folder / "fly.json"
    facet("fly", "--policy", policy, "--courses", courses, "--json", out,
          *[word for each in tasks for word in ("--task", each)])
    rows = json.loads(out.read_text())["tasks"]
    others = [row for row in rows if f"{row['track']}/{row['size']}" != task]
    speed = [abs(row["speed_generated"] / row["speed_reference"] - 1) for row in others]
    return {"passed": sum(row["passed"] for row in others),
            "gates": sum(row["gates"] for row in others),
            "crashes": sum(row["crashed"] for row in others),
            "speed_error": sum(speed) / len(speed),
            "path_error_m": sum(row["error_m"] for row in others) / len(others),
            "learned_passed": sum(row["passed"] for row in rows if row not in others),
            "learned_gates": sum(row["gates"] for row in rows if row not in others)}


def study(folder):
    rows = []
    folder.mkdir(parents=True, exist_ok=True)
    shipped, small = folder / "demos.h5", folder / "small.safetensors"
    if not shipped.exists():
        facet("demos", "--out", shipped)
    facet("train", "--data", shipped, "--out", small, "--resume", *NETWORK, "--hold-out", "course")
    for value in NEW:
        place = folder / value.replace("=", "-")
        courses, data = place / "courses", place / "demos.h5"
        held_out = hold_out(make_courses(courses, value))
        if not data.exists():
            facet("demos", "--courses", courses, "--out", data)
        nothing = place / "nothing.safetensors"
        for name, base in (("shipped", SHIPPED), ("small", small)):
            for way, more in (("first guess", ["--updates", "1", "--rate", "1e-12"]),
                              ("embedding", [])):
                grown = place / f"{name}-{way.replace(' ', '-')}.safetensors"
                seconds = teach(base, value, data, grown, *more)
                rows.append({"value": value, "network": name, "way": way, "seconds": seconds,
                             **fly(grown, courses, value, place)})
                print(rows[-1], file=sys.stderr)
        seconds = facet("train", "--data", data, "--out", nothing, "--resume", *NETWORK, *held_out,
                        *hold_out(others_of(value)))
        rows.append({"value": value, "network": "small", "way": "from nothing", "seconds": seconds,
                     **fly(nothing, courses, value, place)})
        print(rows[-1], file=sys.stderr)
    return rows


def table(rows):
    """The rows as Markdown."""
    lines = ["| new value, from | network | way | gates of the other tasks | crashes | speed off "
             "| path off | seconds |", "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['value']}, {NEW[row['value']][0]} | {row['network']} | {row['way']} "
                     f"| {row['passed']} of {row['gates']} | {row['crashes']} "
                     f"| {100 * row['speed_error']:.1f} % | {row['path_error_m']:.2f} m "
                     f"| {row['seconds']:.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/new-value")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    rows = study(options.folder)
    print(table(rows))
    if options.json:
        version = subprocess.run([FACET, "version"], check=True, capture_output=True, text=True)
        options.json.write_text(json.dumps(
            {"kind": "new value", "command": " ".join(["examples/new_value/study.py", "--json",
                                                       str(options.json)]),
             "version": version.stdout.split()[1], "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
