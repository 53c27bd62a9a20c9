"""What the study and the fold do alike: demonstrations, a training, cells, and how long it takes."""
import concurrent.futures
import importlib.metadata
import json
import multiprocessing
import os
import shlex
import subprocess
import sys
import time

import evaluate
import record
import tasks
from methods import train_command


class Failed(Exception):
    """What went wrong, in one line."""


class Clock:
    """Says what was done and about how long the rest takes, from what each kind took so far."""

    def __init__(self, left):
        self.left, self.took, self.begun = dict(left), {}, time.monotonic()

    def done(self, kind, seconds, text):
        self.left[kind] -= 1
        count, total = self.took.get(kind, (0, 0.0))
        self.took[kind] = count + 1, total + seconds
        rest, unknown = 0.0, False
        for other, number in self.left.items():
            count, total = self.took.get(other, (0, 0.0))
            rest += number * total / count if count else 0.0
            unknown |= number > 0 and count == 0
        print(f"{text}; {sum(self.left.values())} to go, {'more than ' * unknown}"
              f"about {rest / 60:.0f} min", flush=True)


def make_demonstrations(options):
    path = options.demos
    if os.path.exists(path):
        return path
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    jobs, begun = [(pair, options.demo_seed, options.count) for pair in tasks.pairs()], time.time()
    with multiprocessing.Pool(options.jobs) as pool:
        recorded = list(pool.imap(record.record_pair, jobs))
    record.write(path, recorded, options.demo_seed)
    lost = sum(lost for _, _, lost in recorded)
    print(f"{path}: {options.count} demonstrations of {len(recorded)} pairs, {lost} episodes that "
          f"did not succeed left out, {time.time() - begun:.0f} s", flush=True)
    return path


def train_policies(options, jobs, clock):
    """Trains those that are not there, some at once: networks this small gain little by threads."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(train_policy, options, *job, clock) for job in jobs]:
            done.result()


def train_policy(options, method, seed, updates, out, hold_out, clock):
    """Trains unless it was done."""
    begun = time.monotonic()
    if os.path.exists(out):
        return
    os.makedirs(os.path.dirname(out), exist_ok=True)
    command = train_command(options.facet, method, options.demos, out, seed, updates, hold_out)
    command += ["--threads", str(options.threads)]
    print(f"$ {shlex.join(command)}\n", end="", flush=True)  # in one piece: others print too
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise Failed(f"{options.facet}: {error.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        raise Failed(f"training {method.id}, seed {seed}: {said[-1]}")
    seconds = time.monotonic() - begun
    clock.done("training", seconds, f"{out}: {seconds:.0f} s")


def read_training(policy):
    """What facet train wrote of a policy."""
    try:
        with open(f"{policy}.json", encoding="utf-8") as text:
            return json.load(text)
    except (OSError, ValueError):
        return {}


def cell_jobs(name, seed, policy, mode, steps, pairs, episodes, told=""):
    about = evaluate.digest(policy) if policy else None
    return [{"method": name, "seed": seed, "pair": list(pair), "policy": policy,
             "policy_sha256": about, "mode": mode, "steps": steps, "episodes": episodes,
             "limit": evaluate.LIMIT, **({"told": told} if told else {})} for pair in pairs]


def missing(folder, jobs):
    return sum(evaluate.read_cell(folder, job) is None for job in jobs)


def read_cells(folder, jobs):
    """The cells of all jobs, or None when one is missing."""
    cells = [evaluate.read_cell(folder, job) for job in jobs]
    return cells if all(cells) else None


def version_of(program):
    """The program's version, for the record."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True)
    except OSError:
        return None
    words = done.stdout.split()
    return words[1] if len(words) > 1 else None


def about_run(options):
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return {"command": shlex.join(["examples/metaworld/run.sh", *sys.argv[1:]]),
            "version": version_of(options.facet), "commit": done.stdout.strip() or None,
            "metaworld": importlib.metadata.version("metaworld"),
            "mujoco": importlib.metadata.version("mujoco")}


def evaluate_jobs(options, folder, jobs, about, clock):
    """Makes the cells that are not there."""
    work = [(folder, job, about) for job in jobs if evaluate.read_cell(folder, job) is None]
    if work:
        with multiprocessing.Pool(options.jobs) as pool:
            for cell in pool.imap(evaluate.evaluate_and_keep, work):
                clock.done("cell", cell["seconds"] / options.jobs,
                           f"{cell['method']}, seed {cell['seed']}, {tasks.text(cell['pair'])}: "
                           f"{cell['success']} of {cell['episodes']}")
