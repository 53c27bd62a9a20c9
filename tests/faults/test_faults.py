#!/usr/bin/env python3
"""Runs the program with faults: each n-th allocation, write, sync, rename or thread fails in turn.

usage: test_faults.py PROGRAM SOURCE [--every N | --tries N] [--job NAME]

A run that meets a fault ends with one clear line and code 1, or with the same result as without it.
It never crashes, leaves no half file and no temporary one, and in a sanitized build no leak. After
a fault in training, --resume ends with the same policy. --every N tries every N-th call; --tries N
as many as make N tries of a kind (default 12).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

KINDS = ["alloc", "write", "sync", "rename", "thread"]


class Job:
    def __init__(self, name, line, outputs, resumes=False):
        self.name, self.line, self.outputs, self.resumes = name, line, outputs, resumes


def jobs(source):
    course = f"--courses {source}/tests/race/sample"
    return [
        Job("demos", f"demos {course} --rollouts 1 --out out.h5 --json out.json",
            ["out.h5", "out.json"]),
        Job("train", "train --data demos.h5 --out out --epochs 3 --blocks 1 --channels 8", ["out"],
            True),
        Job("sample", "sample --policy policy --task straight/small --json out.json", ["out.json"]),
        Job("fly", f"fly --policy policy {course} --json out.json", ["out.json"]),
        Job("report", f"report {course} --out out.html", ["out.html"]),
    ]


class Tester:
    def __init__(self, program, folder, setup):
        self.program, self.folder, self.setup = program, folder, setup
        self.failures, self.runs = [], 0

    def run(self, line, fault=None, log=None):
        environment = dict(os.environ, OPENBLAS_NUM_THREADS="1", FACET_CACHE="")
        environment.pop("FACET_FAULT", None)
        if fault:
            environment["FACET_FAULT"] = fault
        if log:
            environment["FACET_FAULT_LOG"] = log
        self.runs += 1
        return subprocess.run([self.program] + line.split(), cwd=self.folder, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def clean(self):
        for name in os.listdir(self.folder):
            if name not in self.setup:
                os.unlink(os.path.join(self.folder, name))

    def contents(self, names):
        found = {}
        for name in names:
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    found[name] = file.read()
        return found

    def wrong(self, what, result=None):
        said = result.stderr.decode(errors="replace")[-2000:] if result else ""
        self.failures.append(f"{what}: {said}")
        print(f"FAILED {what}\n{said}", flush=True)

    def line_of(self, job, kind):
        return f"{job.line} --quiet --threads {2 if kind == 'thread' else 1}"

    def healthy(self, job, kind):
        """The outputs without a fault, and how many calls of the kind there are."""
        log = os.path.join(self.folder, "calls.log")
        self.clean()
        result = self.run(self.line_of(job, kind), f"{kind}:0", log)
        if result.returncode != 0:
            sys.exit(f"{job.name} fails without a fault: {result.stderr.decode()}")
        with open(log, encoding="utf-8") as file:
            calls = [line.split()[1] for line in file if line.startswith("calls ")]
        return self.contents(job.outputs), int(calls[-1])

    def check(self, job, kind, n, expected):
        what = f"{job.name}, {kind} {n}"
        self.clean()
        result = self.run(self.line_of(job, kind), f"{kind}:{n}")
        found = self.contents(job.outputs)
        left = [name for name in os.listdir(self.folder) if name.endswith(".part")]
        lines = [line for line in result.stderr.decode(errors="replace").split("\n") if line]
        if result.returncode not in (0, 1):
            self.wrong(f"{what}: ended with {result.returncode}", result)
        elif result.returncode == 1 and (len(lines) != 1 or not lines[0].startswith("facet")):
            self.wrong(f"{what}: expected one line, found {len(lines)}", result)
        elif left:
            self.wrong(f"{what}: left {left}", result)
        elif result.returncode == 0 and found != expected:
            self.wrong(f"{what}: succeeded with another result", result)
        elif any(found[name] != expected[name] for name in found):
            self.wrong(f"{what}: left half a file", result)
        elif job.resumes and result.returncode == 1:
            again = self.run(self.line_of(job, kind) + " --resume")
            if again.returncode != 0 or self.contents(job.outputs) != expected:
                self.wrong(f"{what}: does not resume to the same policy", again)

    def order(self, job):
        """A file is synced after its last byte and before its name, and its folder afterwards."""
        log = os.path.join(self.folder, "calls.log")
        self.clean()
        self.run(self.line_of(job, "sync"), "sync:0", log)
        with open(log, encoding="utf-8") as file:
            events = [line.rstrip("\n").split(" ", 1) for line in file]
        for i, (event, name) in enumerate(events):
            if event != "rename":
                continue
            base = os.path.basename(name)
            synced = [k for k in range(i) if events[k][0] == "sync"
                      and os.path.basename(events[k][1]).startswith(base + ".")]
            closed = [k for k in range(i) if events[k][0] == "close"
                      and os.path.basename(events[k][1]).startswith(base + ".")]
            after = [k for k in range(i + 1, len(events)) if events[k][0] == "sync"]
            if not synced or (closed and max(closed) > max(synced)):
                self.wrong(f"{job.name}: {name} gets its name before it is on disk: {events}")
            if not after or os.path.realpath(events[after[0]][1]) != os.path.realpath(self.folder):
                self.wrong(f"{job.name}: the folder of {name} is not synced: {events}")
        if not any(event == "rename" for event, _ in events):
            self.wrong(f"{job.name}: nothing was renamed into place")


def prepare(program, folder, source):
    """A small dataset and policy for the jobs."""
    tester = Tester(program, folder, [])
    course = f"--courses {source}/tests/race/sample"
    for line in (f"demos {course} --rollouts 1 --out demos.h5 --quiet",
                 "train --data demos.h5 --out policy --epochs 2 --blocks 1 --channels 8 --quiet"):
        result = tester.run(line)
        if result.returncode != 0:
            sys.exit(f"{line}: {result.stderr.decode()}")
    return ["demos.h5", "policy", "policy.csv"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("source", type=os.path.abspath)
    parser.add_argument("--every", type=int)
    parser.add_argument("--tries", type=int, default=12)
    parser.add_argument("--job")
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    try:
        setup = prepare(options.program, folder, options.source)
        tester = Tester(options.program, folder, setup)
        for job in jobs(options.source):
            if options.job and job.name != options.job:
                continue
            tester.order(job)
            for kind in KINDS:
                expected, calls = tester.healthy(job, kind)
                every = options.every or max(1, calls // options.tries)
                # Not always the same place within a loop.
                tried = sorted({n + (n * 7) % every for n in range(1, calls + 1, every)})
                tried = [n for n in tried if n <= calls]
                for n in tried:
                    tester.check(job, kind, n, expected)
                print(f"{job.name}: {len(tried)} of {calls} calls of {kind} failed", flush=True)
    finally:
        shutil.rmtree(folder)
    print(f"{tester.runs} runs, {len(tester.failures)} wrong")
    return 1 if tester.failures else 0


sys.exit(main())
