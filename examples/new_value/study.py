#!/usr/bin/env python3
"""A new factor value from one task, beside a first guess and beside training from nothing.

A fourth opening ("medium", between standard and wide) and a ninth track (race 6 flown backwards)
join the shipped course. Of each, the 50 demonstrations of one task are used: race3/medium and
race9/standard. The others are flown. Python's own library is all it needs. It goes on where it
stopped.

Example: examples/new_value/study.py --json results/new-value.json
"""
import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACET = pathlib.Path(os.environ.get("FACET_PROGRAM", ROOT / "build/facet"))
SHIPPED = ROOT / "models/race-factored.safetensors"
TRACKS = [f"race{i}" for i in range(1, 9)]
NETWORK = ["--composed-loss", "3", "--blocks", "4", "--channels", "128"]
NEW = {"size=medium": ("race3/medium", [f"{track}/medium" for track in TRACKS]),
       "track=race9": ("race9/standard", ["race9/narrow", "race9/standard", "race9/wide"])}


class Failed(Exception):
    """What went wrong, in one line."""


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
    """Runs the program."""
    try:
        subprocess.run([FACET, *map(str, arguments), "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"{FACET}: {error.strerror}") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or ["it said nothing"]
        raise Failed(f"facet {arguments[0]}: {said[-1]}") from None


def about_program():
    """The program's version and commit."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "version.json"
        try:
            subprocess.run([FACET, "version", "--json", out], check=True, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Failed(f"{FACET}: {error}") from None
        said = json.loads(out.read_text())
    return {"version": said["version"], "commit": said["commit"]}


def write_json(path, document):
    """The file appears whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document, indent=1) + "\n")
    os.replace(part, path)


def train(out, seed, *arguments):
    """Trains unless it was done. Its seconds; None where it was cut off and went on."""
    said = out.with_suffix(".json")
    if not out.exists():
        said.unlink(missing_ok=True)
        facet("train", "--out", out, "--seed", seed, "--json", said, *arguments)
    if not said.exists():
        return None
    found = json.loads(said.read_text())
    return None if found["resumed_updates"] else found["seconds"]


def hold_out(tasks):
    return [word for task in tasks for word in ("--hold-out", task)]


def others_of(value):
    task, tasks = NEW[value]
    return [other for other in tasks if other != task]


def teach(base, value, data, out, seed, *more):
    """The base with the value, from its one task; seconds."""
    return train(out, seed, "--from", base, "--new-value", value, "--data", data,
                 *hold_out(others_of(value)), *more)


def fly(policy, courses, value, folder, seed):
    """Passage and speed on the value's tasks: those that nothing was learned from, and the one."""
    task, tasks = NEW[value]
    out = folder / "fly.json"
    facet("fly", "--policy", policy, "--courses", courses, "--json", out,
          "--seed", seed, *[word for each in tasks for word in ("--task", each)])
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


class Rows:
    """The study's rows, each kept in a file of its own as soon as it is known."""

    def __init__(self, folder):
        self.folder, self.rows = folder, []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, value, network, way, make):
        """Takes the row that is there, or makes it."""
        name = "-".join((value, network, way)).replace("=", "-").replace(" ", "-")
        path = self.folder / f"{name}.json"
        if not path.exists():
            seconds, flown = make()
            write_json(path, {"value": value, "network": network, "way": way,
                              "learned_from": NEW[value][0], "seconds": seconds, **flown})
        self.rows.append(json.loads(path.read_text()))
        print(self.rows[-1], file=sys.stderr, flush=True)


def settle(folder, about):
    """Refuses a folder that another program or seed has begun to fill."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "about.json"
    if path.exists():
        found = json.loads(path.read_text())
        if found != about:
            raise Failed(f"{folder}: expected what {about} made, found {found}; name another "
                         "--folder, or remove it")
    else:
        write_json(path, about)


def study_value(rows, value, small, folder, seed):
    place = folder / value.replace("=", "-")
    courses, data = place / "courses", place / "demos.h5"
    held_out = hold_out(make_courses(courses, value))
    if not data.exists():
        facet("demos", "--courses", courses, "--out", data, "--seed", seed)

    def learned(base, out, *more):
        seconds = teach(base, value, data, out, seed, *more)
        return seconds, fly(out, courses, value, place, seed)

    def from_nothing():
        out = place / "nothing.safetensors"
        seconds = train(out, seed, "--data", data, "--resume", *NETWORK, *held_out,
                        *hold_out(others_of(value)))
        return seconds, fly(out, courses, value, place, seed)

    for name, base in (("shipped", SHIPPED), ("small", small)):
        for way, more in (("first guess", ["--updates", "1", "--rate", "1e-12"]),
                          ("embedding", [])):
            out = place / f"{name}-{way.replace(' ', '-')}.safetensors"
            rows.add(value, name, way, lambda b=base, o=out, m=more: learned(b, o, *m))
    rows.add(value, "small", "from nothing", from_nothing)


def study(folder, about):
    seed = about["seed"]
    settle(folder, about)
    rows = Rows(folder / "rows")
    shipped, small = folder / "demos.h5", folder / "small.safetensors"
    if not shipped.exists():
        facet("demos", "--out", shipped, "--seed", seed)
    train(small, seed, "--data", shipped, "--resume", *NETWORK, "--hold-out", "course")
    for value in NEW:
        study_value(rows, value, small, folder, seed)
    return rows.rows


def table(rows):
    """The rows as Markdown, as docs/new-value.md has them."""
    lines = ["| new value, network, way | learned from | gates of the other tasks | crashes "
             "| speed off | path off | time |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        seconds = "–" if row["seconds"] is None else f"{row['seconds']:.0f} s"
        lines.append(f"| {row['value']}, {row['network']}, {row['way']} | {row['learned_from']} "
                     f"| {row['passed']} of {row['gates']} | {row['crashes']} "
                     f"| {100 * row['speed_error']:.1f} % | {row['path_error_m']:.2f} m "
                     f"| {seconds} |")
    return "\n".join(lines)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/new-value",
                        help="where demonstrations, policies and rows are kept")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args(words)
    words = sys.argv[1:] if words is None else words
    try:
        about = {"seed": options.seed, **about_program()}
        rows = study(options.folder, about)
    except Failed as error:
        sys.exit(f"new value: {error}")
    except KeyboardInterrupt:
        sys.exit("new value: stopped; the same command goes on from here")
    print(table(rows))
    if options.json:
        command = shlex.join(["examples/new_value/study.py", *map(str, words)])
        write_json(options.json, {"kind": "new value", "command": command, **about, "rows": rows})


if __name__ == "__main__":
    main()
