#!/usr/bin/env python3
"""Kills the program at random moments, and sees that it goes on to the same bits.

usage: test_kills.py PROGRAM SOURCE [--job NAME] [--kills N] [--seed S]

A run is killed some times in a row, each time at a random moment, mostly by SIGKILL and sometimes by
SIGTERM, SIGINT or SIGHUP, and started again with the same command. After every kill a file that has
its name is whole, and after the last start the folder holds what a run that nobody disturbed leaves,
to the bit, and nothing else. A signal that can be heard ends a run with a line that says how to
go on, and code 1.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HEARD = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
HEARING = 60  # s that a signal may take to end a run, on a busy machine


def hear_all():
    """The program hears all of them, also where this test was started by nohup or in the background."""
    for number in HEARD:
        signal.signal(number, signal.SIG_DFL)


class Job:
    """`whole` are files that are never there in part; `until` is the file after which a run of more
    than a test has time for is ended; `pace` is how much of a run passes before a kill, at most."""

    def __init__(self, name, line, whole, compare=None, until=None, pace=0.5, kills=6):
        self.name, self.line, self.whole, self.until = name, line, whole, until
        self.compare = compare or (lambda name: True)
        self.pace, self.kills = pace, kills


def jobs(source):
    course = f"--courses {source}/tests/race/sample"
    small = "--blocks 1 --channels 8"
    cells = [f"{name}-1" for name in ("ours", "paper", "baseline", "oracle", "knet")]
    return [
        Job("demos", f"demos {course} --rollouts 60 --out out.h5 --json out.json --quiet",
            ["out.h5", "out.json"]),
        Job("train", f"train --data demos.h5 --out out --epochs 600 --batch 2 {small} --resume --quiet",
            ["out"]),
        Job("gate-train", "gate train --data frames.h5 --out out --hold-out side=-1 --rounds 1 "
            f"--flights 1 --batch 1 --draws 1 --updates 20 {small} --resume --quiet",
            []),  # a round has its policy beside the checkpoint
        Job("steps", "eval factored oracle baseline --step-study --seeds 1 --json out.json --quiet "
            f"{course}", ["out.json"]),
        Job("reproduce", f"reproduce {course} --epochs 40 {small} --seeds 1 --out . --quiet",
            ["demos.h5", "settings.json", "study.json"] + [f"{cell}.json" for cell in cells]
            + [f"{cell}.safetensors" for cell in cells], pace=0.3, kills=10),
        # Frames and trainings; the trials that follow take longer than all that was killed before.
        Job("study", "gate study --out . --demos 4 --updates 4 --rounds 1 --flights 1 --train 1 "
            "--held-out 1 --quiet", ["zero-shot.h5", "within.h5", "all.h5"],
            compare=lambda name: name.endswith((".h5", ".safetensors")),
            until="zero-shot-frozen-1.safetensors", pace=0.1, kills=20),
    ]


SETUP = {
    "train": ["demos.h5"],
    "gate-train": ["frames.h5"],
    "steps": ["factored", "oracle", "baseline"],
}


def prepare(program, folder, source):
    """Demonstrations, frames and policies for the jobs that begin with some."""
    lines = [f"demos --courses {source}/tests/race/sample --rollouts 4 --out demos.h5",
             "gate demos --out frames.h5 --flights 4"]
    for method in ("factored", "oracle", "baseline"):
        loss = "--composed-loss 3" if method == "factored" else ""
        lines.append(f"train --data demos.h5 --out {method} --method {method} {loss} --epochs 4 "
                     "--blocks 1 --channels 8 --hold-out straight/small")
    for line in lines:
        subprocess.run([program] + line.split() + ["--quiet"], cwd=folder, check=True,
                       env=environment(source), stdout=subprocess.DEVNULL)


def environment(source):
    return dict(os.environ, OPENBLAS_NUM_THREADS="1", FACET_CACHE="", FACET_DATA=source)


class Killer:
    def __init__(self, program, source, job, setup, folder, rng):
        self.program, self.job, self.rng = program, job, rng
        self.environment = environment(source)
        self.setup, self.folder = setup, folder
        self.seconds = 0.0  # of an undisturbed run
        self.slowest = 0.0  # from a signal that can be heard to the end
        self.kills, self.chains, self.heard, self.wrong = 0, 0, 0, 0

    def begin(self):
        """A folder with what the job begins with."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        for name in SETUP.get(self.job.name, []):
            shutil.copy(os.path.join(self.setup, name), self.folder)

    def start(self):
        return subprocess.Popen([self.program] + self.job.line.split() + ["--threads", "1"],
                                cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, preexec_fn=hear_all)

    def finished(self):
        """Whether the file is there after which a run is ended; a checkpoint says that it grows,
        and frames of a round are removed after it."""
        path = os.path.join(self.folder, self.job.until)
        beside = [path + ".ckpt", path + ".round1.h5"]
        return os.path.exists(path) and not any(map(os.path.exists, beside))

    def run_on(self):
        """Lets a run go to its end."""
        process = self.start()
        while self.job.until and process.poll() is None:
            if self.finished():
                process.kill()
                process.communicate()
                return
            time.sleep(0.05)
        said = process.communicate()[1].decode(errors="replace")
        if process.returncode != 0:
            self.say(f"a run that nobody disturbed ended with {process.returncode}: {said}")
        elif self.job.until and not self.finished():
            self.say(f"a run that nobody disturbed ended without {self.job.until}")

    def contents(self):
        """What the folder holds, but for what is not finished when a run is ended."""
        found = {}
        for name in sorted(os.listdir(self.folder)):
            if self.job.until and not self.job.compare(name):
                continue
            with open(os.path.join(self.folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def say(self, what):
        self.wrong += 1
        print(f"FAILED {self.job.name}: {what}", flush=True)

    def kill_once(self):
        """Starts the command and kills it; False if it came to its end before."""
        process = self.start()
        number = signal.SIGKILL if self.rng.random() < 0.7 else self.rng.choice(HEARD)
        limit = time.monotonic() + self.rng.uniform(0.0, self.job.pace * self.seconds)
        while time.monotonic() < limit and process.poll() is None:
            time.sleep(min(0.005, max(0.0, limit - time.monotonic())))
        ended = process.poll() is not None
        sent = time.monotonic()
        process.send_signal(number)
        try:
            said = process.communicate(timeout=HEARING)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.say(f"signal {number} did not end it within {HEARING} s")
            return False
        if ended and process.returncode != 0:
            self.say(f"it ended by itself with {process.returncode}: {said}")
        if ended or process.returncode == 0:
            return False
        self.kills += 1
        if number != signal.SIGKILL:
            self.heard += 1
            self.slowest = max(self.slowest, time.monotonic() - sent)
            lines = [line for line in said.split("\n") if line]
            early = process.returncode == -number and not lines  # before the program listened
            # A step of a study and the study itself say how to go on.
            told = 1 <= len(lines) <= 2 and all(line.startswith("facet") for line in lines)
            if not early and not (process.returncode == 1 and told):
                self.say(f"signal {number} ended it with {process.returncode}: {said}")
        return True

    def check_whole(self, expected):
        for name in self.job.whole:
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    if file.read() != expected[name]:
                        self.say(f"{name} is not whole after a kill")

    def run(self, kills):
        start = time.monotonic()
        self.begin()
        self.run_on()
        self.seconds = time.monotonic() - start
        expected = self.contents()
        missing = [name for name in self.job.whole if name not in expected]
        if missing:
            self.say(f"expected {missing} in the folder, found {sorted(expected)}")
        while self.kills < kills and not self.wrong:
            self.chains += 1
            self.begin()
            chain = self.rng.randint(1, self.job.kills)
            while chain > 0 and self.kills < kills and self.kill_once():
                self.check_whole(expected)
                chain -= 1
            self.run_on()
            found = self.contents()
            if sorted(found) != sorted(expected):
                self.say(f"expected {sorted(expected)}, found {sorted(found)}")
            different = [name for name in found if found[name] != expected.get(name)]
            if different:
                self.say(f"other bytes in {different}")
        print(f"{self.job.name}: {self.kills} kills in {self.chains} runs, {self.heard} by signals "
              f"that can be heard, the slowest of which ended after {self.slowest:.2f} s; "
              f"{self.wrong} wrong", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("source", type=os.path.abspath)
    parser.add_argument("--job", action="append", help="may be repeated; all but study by default")
    parser.add_argument("--kills", type=int, default=4, help="of a job")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    wanted = options.job or ["demos", "train", "gate-train", "steps", "reproduce"]
    folder = tempfile.mkdtemp()
    wrong = 0
    try:
        setup = os.path.join(folder, "setup")
        os.mkdir(setup)
        prepare(options.program, setup, options.source)
        for job in jobs(options.source):
            if job.name in wanted:
                rng = random.Random(f"{options.seed} {job.name}")
                killer = Killer(options.program, options.source, job, setup,
                                os.path.join(folder, job.name), rng)
                killer.run(options.kills)
                wrong += killer.wrong
    finally:
        shutil.rmtree(folder)
    return 1 if wrong else 0


sys.exit(main())
