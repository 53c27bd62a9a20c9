#!/usr/bin/env python3
"""The portable build beside -march=native and beside its own lower levels, taking turns in one run.

usage: bench/levels.py [--rounds N] [--json FILE]

Times composed plans of 50 steps by bench/plan, on one thread and on two. Both builds are made first,
in build-release and build-native.
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench/peers"))
from compare import made_by  # noqa: E402


def build(preset):
    folder = ROOT / f"build-{preset}"
    for command in (["cmake", "--preset", preset, "-DBUILD_TESTING=OFF", "-DFACET_BENCH=ON"],
                    ["ninja", "-C", folder, "bench/all", "facet_program"]):
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return folder


def levels():
    """Those that the processor has."""
    for level in ("sse2", "avx2", "avx512"):
        done = subprocess.run([ROOT / "build-release/facet", "version"], capture_output=True,
                              env=dict(os.environ, FACET_ISA=level))
        if done.returncode == 0:
            yield level


def plan_ms(folder, level):
    """ms of a plan of 50 steps, on one thread and on two."""
    environment = dict(os.environ)
    environment.pop("FACET_ISA", None)
    if level:
        environment["FACET_ISA"] = level
    done = subprocess.run([folder / "bench/plan", "2", "5"], check=True, capture_output=True,
                          text=True, env=environment)
    return [float(ms) for ms in re.findall(r"([0-9.]+) ms with 50", done.stdout)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    portable, native = build("release"), build("native")
    sides = {"-march=native": (native, None)}
    sides.update({f"portable, {level}": (portable, level) for level in levels()})
    times = {name: [] for name in sides}
    for _ in range(options.rounds):
        for name, side in sides.items():
            times[name].append(plan_ms(*side))
    made = made_by(portable)
    document = {"command": shlex.join(["bench/levels.py", *sys.argv[1:]]),
                "version": made["version"], "commit": made["commit"], "rounds": options.rounds,
                "native": made_by(native)["instructions"], "rows": []}
    base = [statistics.median(column) for column in zip(*times["-march=native"])]
    print(f"{'build':<20}{'one thread, ms':>16}{'speed':>7}{'two threads, ms':>17}{'speed':>7}")
    for name, rounds in times.items():
        ms = [statistics.median(column) for column in zip(*rounds)]
        speed = [there / here for there, here in zip(base, ms)]
        document["rows"].append({"build": name, "ms": ms, "speed": speed})
        print(f"{name:<20}{ms[0]:>16.1f}{speed[0]:>7.2f}{ms[1]:>17.1f}{speed[1]:>7.2f}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(document, indent=1) + "\n")


main()
