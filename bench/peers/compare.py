#!/usr/bin/env python3
"""Facet beside its peers in one run: PyTorch, OpenVINO and ONNX Runtime.

Each side is a process that works on request. In every round each side has its turns, so that what
else runs on the machine disturbs all of them alike; the medians over all rounds are compared. A
peer is timed only if its outputs are Facet's. Peers come from PyPI into a virtual environment of
the build folder; where they cannot be had, their rows say so.

Example: compare.py plan pilot --json bench.json
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
import tempfile
import textwrap
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TOLERANCE = 1e-4
PAUSE = 0.05  # seconds between turns: idle threads of the other side go to sleep
TURN = 150.0  # milliseconds of a turn of short work
REPEATS_MAX = 20

COMPILED, EAGER, OPENVINO, ONNX = "torch.compile", "PyTorch eager", "OpenVINO", "ONNX Runtime"
PEERS = {  # script and what it is asked for
    COMPILED: ("torch_peer.py", {"mode": "compile"}),
    EAGER: ("torch_peer.py", {"mode": "eager"}),
    OPENVINO: ("runtime_peer.py", {"runtime": "openvino"}),
    ONNX: ("runtime_peer.py", {"runtime": "onnxruntime"}),
}
FACET = "Facet"


# ---- What is compared ----------------------------------------------------------------------------

def row(label, work, threads, peers=(), peak=False, threads_beside=()):
    """Facet's work, beside that of peers and that of itself on other threads."""
    others = [(peer, work, threads) for peer in peers]
    others += [(FACET, work, count) for count in threads_beside]
    return {"label": label, "turn": (FACET, work, threads), "others": others, "peak": peak}


def sections(threads):
    """Rows by section; {N} of a label is filled with what Facet says about its policies."""
    many, torch, runtimes = threads, [COMPILED, EAGER], [OPENVINO, ONNX]
    beside = {"threads_beside": [1]}
    return {
        "train": [
            row("training step, 32 rows", "train", many, torch, peak=True),
            row("  with composed loss, {composed_rows} rows", "train-composed", many, torch,
                peak=True),
        ],
        "forward": [
            row("forward, 3 rows", "forward-3", many, [COMPILED], peak=True, **beside),
            row("  on one thread", "forward-3", 1, [COMPILED], peak=True),
            row("forward, 1 row", "forward-1", many, [COMPILED], peak=True, **beside),
            row("  on one thread", "forward-1", 1, [COMPILED], peak=True),
        ],
        "plan": [
            row("composed plan, 50 steps", "plan-50", many, runtimes),
            row("plan, default steps ({race_steps})", "plan-default", many, runtimes, **beside),
        ],
        "pilot": [
            row("pilot's step, 10 x {gate_branches} rows", "pilot-10", many, runtimes, **beside),
            row("  default steps ({gate_steps})", "pilot-default", many, runtimes, **beside),
        ],
        "encoder": [row("encoder training, 32 images", "encoder-train", many, torch, peak=True)],
        "jacobian": [row("Jacobian of a composed step", "jacobian", many, torch)],
        "camera": [],  # frames a second of processor time: no turns
    }


def turns_of(rows):
    """Every turn of a round once, in the order of the rows: (side, work, threads)."""
    turns = [turn for r in rows for turn in (r["turn"], *r["others"])]
    turns += [(FACET, "peak", r["turn"][2]) for r in rows if r["peak"]]
    return list(dict.fromkeys(turns))


# ---- Sides ---------------------------------------------------------------------------------------

class Absent(Exception):
    """A side that cannot be had, and why."""


class Side:
    """A process that prints a line of JSON about itself and then works on request."""

    def __init__(self, name, command, log, environment=None):
        self.log = open(log, "w+")
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.log, text=True,
                                            env={**os.environ, **(environment or {})})
        except OSError as error:
            raise Absent(f"{name}: {error.strerror}") from error
        self.about = json.loads(self.line())

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            said = self.log.read().strip().splitlines()
            raise Absent(said[-1] if said else f"ended with {self.process.returncode}")
        return line

    def ask(self, work, threads, repeats):
        self.process.stdin.write(f"{work} {threads} {repeats}\n")
        self.process.stdin.flush()
        return [float(word) for word in self.line().split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.log.close()


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def make_environment(build):
    """The Python of the peers' environment. Raises Absent where it cannot be made."""
    made = subprocess.run([HERE / "venv.sh", build / "peers-venv"], stdout=sys.stderr,
                          stderr=subprocess.PIPE, text=True)
    if made.returncode:
        said = made.stderr.strip().splitlines()
        raise Absent(said[-1] if said else f"venv.sh ended with {made.returncode}")
    return build / "peers-venv/bin/python"


def start_facet(build, folder, policies, threads):
    say("preparing Facet")
    command = [build / "bench/peers/facet_side", policies["race"], policies["gate"], folder,
               str(threads)]
    return Side(FACET, command, folder / "Facet.log")


def start_peer(name, python, build, spec):
    say(f"preparing {name}")
    script, wish = PEERS[name]
    return Side(name, [python, HERE / script, json.dumps({**spec, **wish})],
                pathlib.Path(spec["folder"], f"{name}.log"),
                {"TORCHINDUCTOR_CACHE_DIR": str(build / "peers-cache")})


def start_peers(turns, build, spec):
    """The sides that work, and what is known of all."""
    sides, known = {}, {}
    wanted = [name for name in PEERS if any(side == name for side, *_ in turns)]
    try:
        python = make_environment(build) if wanted else None
    except Absent as why:
        return {}, {name: {"absent": str(why)} for name in wanted}
    for name in wanted:
        works = [turn[1:] for turn in turns if turn[0] == name]
        try:
            sides[name] = start_peer(name, python, build, {**spec, "works": works})
            known[name] = sides[name].about
        except Absent as why:
            known[name] = {"absent": str(why)}
    return sides, known


def agrees(known, work):
    return known.get("differences", {}).get(work, 0.0) <= TOLERANCE


# ---- Turns ---------------------------------------------------------------------------------------

def repeats_for(milliseconds):
    return max(1, min(REPEATS_MAX, round(TURN / max(milliseconds, 1e-3))))


def measure(sides, turns, rounds):
    """Median milliseconds of every turn. A first round warms up and says how often to repeat."""
    repeats = {turn: repeats_for(min(sides[turn[0]].ask(*turn[1:], 2))) for turn in turns}
    times = {turn: [] for turn in turns}
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        for turn in turns:
            time.sleep(PAUSE)
            times[turn] += sides[turn[0]].ask(*turn[1:], repeats[turn])
    return {turn: statistics.median(values) for turn, values in times.items()}


def camera_rates(text):
    """Frames a second of every venue, from the lines of build/bench/camera."""
    return {name: float(rate)
            for name, rate in re.findall(r"^(\S+)\s+([\d.]+) frames/s", text, re.MULTILINE)}


def camera_row(build):
    text = subprocess.run([build / "bench/camera", "60"], check=True, capture_output=True,
                          text=True).stdout
    rates = camera_rates(text)
    slowest = min(rates.values())
    return {"section": "camera", "label": f"camera, worst venue: {slowest:.0f} frames/s",
            "ms": 1e3 / slowest, "frames_per_second": rates, "others": []}


# ---- The result ----------------------------------------------------------------------------------

def result_of(other, ours, times, known):
    """One contender of a row: its time and ratio, or why there is none."""
    name, work, threads = other
    result = {"name": name if name != FACET else "one thread", "threads": threads}
    about = known.get(name, {})
    if "absent" in about:
        return {**result, "absent": about["absent"]}
    if name != FACET:
        result["difference"] = about["differences"][work]
    if not agrees(about, work):
        return result
    return {**result, "ms": times[other], "ratio": times[other] / ours}


def row_result(section, r, facts, times, known, operations):
    (_, work, threads), ours = r["turn"], times[r["turn"]]
    result = {"section": section, "label": r["label"].format(**facts), "work": work,
              "threads": threads, "ms": ours,
              "others": [result_of(other, ours, times, known) for other in r["others"]]}
    if r["peak"]:
        peak = threads * operations["peak"] / times[FACET, "peak", threads]
        result["of_peak"] = operations[work] / ours / peak
    return result


def facts_of(about):
    operations = about["operations"]
    return {"composed_rows": round(32 * operations["train-composed"] / operations["train"]),
            "race_steps": about["race"]["default_steps"],
            "gate_steps": about["gate"]["default_steps"],
            "gate_branches": about["gate"]["branches"]}


def spec_of(about, folder, policies):
    return {"folder": str(folder), **policies, "composed_rows": facts_of(about)["composed_rows"],
            "branches": {name: about[name]["branches"] for name in ("race", "gate")},
            "plans": {"plan-50": ["race", 50],
                      "plan-default": ["race", about["race"]["default_steps"]],
                      "pilot-10": ["gate", 10],
                      "pilot-default": ["gate", about["gate"]["default_steps"]]}}


def processor():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    found = re.search(r"model name\s*:\s*(.*)", text)
    return found.group(1) if found else "unknown processor"


def made_by(build):
    """Version, commit and level of instructions of the program in the build."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([build / "facet", "version", "--json", file.name], check=True,
                       stdout=subprocess.DEVNULL)
        about = json.loads(pathlib.Path(file.name).read_text())
    return {key: about[key] for key in ("version", "commit", "instructions")}


def compare(chosen, args):
    """Runs the chosen sections: the document that is printed and written."""
    by_section = {name: sections(args.threads)[name] for name in chosen}
    rows = [r for each in by_section.values() for r in each]
    document = {"command": shlex.join(["./facet", "bench", "peers", *sys.argv[1:]]),
                **made_by(args.build), "processor": processor(), "threads": args.threads,
                "rounds": args.rounds, "rows": []}
    if rows:
        with tempfile.TemporaryDirectory(prefix="facet-peers-") as folder:
            compare_rows(document, by_section, rows, pathlib.Path(folder), args)
    if "camera" in by_section:
        document["rows"].append(camera_row(args.build))
    return document


def compare_rows(document, by_section, rows, folder, args):
    policies = {name: str(ROOT / f"models/{name}-factored.safetensors")
                for name in ("race", "gate")}
    turns = turns_of(rows)
    facet = start_facet(args.build, folder, policies, args.threads)
    sides, known = start_peers(turns, args.build, spec_of(facet.about, folder, policies))
    sides[FACET] = facet
    timed = [t for t in turns if t[0] in sides and agrees(known.get(t[0], {}), t[1])]
    times = measure(sides, timed, args.rounds)
    for side in sides.values():
        side.close()
    operations = facet.about["operations"]
    document["peers"] = known
    document["sgemm"] = {"kernels": facet.about["kernels"], "gflops": {
        threads: threads * operations["peak"] / times[side, work, threads] * 1e-6
        for side, work, threads in times if work == "peak"}}
    document["parameters"] = facet.about["race"]["parameters"]
    for section, each in by_section.items():
        for r in each:
            document["rows"].append(row_result(section, r, facts_of(facet.about), times, known,
                                               operations))


def disagreements(document):
    return [f"{r['label'].strip()}: {other['name']} differs by {other['difference']:.1e}, "
            f"at most {TOLERANCE:g} allowed"
            for r in document["rows"] for other in r["others"]
            if other.get("difference", 0.0) > TOLERANCE]


# ---- Rendering -----------------------------------------------------------------------------------

def contender_cells(other):
    """Name, ms and ratio; or why there are none."""
    if "ms" in other:
        return [other["name"], f"{other['ms']:.2f}", f"{other['ratio']:.2f}"]
    return [other["name"], "absent" if "absent" in other else "differs", ""]


def cells_of(r):
    """The cells of a row's lines, one a contender: work, ms, name, ms, ratio, of the peak."""
    own, peak = [r["label"], f"{r['ms']:.2f}"], [""]
    if "of_peak" in r:
        peak = [f"{100 * r['of_peak']:.0f} %"]
    contenders = [contender_cells(other) for other in r["others"]] or [["", "", ""]]
    first, *rest = contenders
    return [own + first + peak] + [["", ""] + cells + [""] for cells in rest]


HEAD = ["work", "Facet ms", "beside", "ms", "ratio", "peak"]


def table(document):
    def aligned(cells):
        work, ms, name, other, ratio, peak = cells
        return f"{work:<34.34}{ms:>9}  {name:<14.14}{other:>9}{ratio:>6}{peak:>6}".rstrip()
    return [aligned(HEAD)] + [aligned(cells) for r in document["rows"] for cells in cells_of(r)]


def markdown(document):
    lines = [["work", "Facet, ms", "beside", "ms", "ratio", "of the sgemm peak"], ["---"] * 6]
    lines += [[cell.strip() for cell in cells] for r in document["rows"] for cells in cells_of(r)]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def notes(document):
    """What one must know to read the table."""
    yield f"{document['processor']}, {document['threads']} threads, {document['rounds']} rounds."
    if "sgemm" in document and document["sgemm"]["gflops"]:
        rates = ", ".join(f"{rate:.0f} GFLOPS on {threads}"
                          for threads, rate in document["sgemm"]["gflops"].items())
        yield f"sgemm peak: {rates}, OpenBLAS kernels: {document['sgemm']['kernels']}."
    for name, about in document.get("peers", {}).items():
        if "absent" in about:
            yield f"{name}: absent: {about['absent']}"
            continue
        call = about.get("call_ms")
        cost = f"; an empty call from Python takes {call:.3f} ms" if call else ""
        yield (f"{name} {about['version']}: {about['settings']}; outputs within "
               f"{max(about['differences'].values()):.1e} of Facet's{cost}.")


# ---- The command ---------------------------------------------------------------------------------

def arguments():
    known = list(sections(2))
    parser = argparse.ArgumentParser(prog="./facet bench peers",
                                     description="Facet beside PyTorch, OpenVINO and ONNX Runtime, "
                                     "taking turns in one run.",
                                     epilog="example: ./facet bench peers plan --json bench.json")
    parser.add_argument("section", nargs="*", help=f"of {', '.join(known)}; all without")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", metavar="FILE", help="also write the result")
    parser.add_argument("--markdown", action="store_true", help="print the table for a page")
    parser.add_argument("--from", dest="source", metavar="FILE",
                        help="print a result that was written, and measure nothing")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="FOLDER")
    args = parser.parse_args()
    for name in args.section:
        if name not in known:
            parser.error(f"no section '{name}', known: {' '.join(known)}")
    if args.rounds < 1 or args.threads < 1:
        parser.error("expected at least one round and one thread")
    return args, args.section or known


def main():
    args, chosen = arguments()
    if args.source:
        document = json.loads(pathlib.Path(args.source).read_text())
    else:
        document = compare(chosen, args)
    print(*(markdown if args.markdown else table)(document), sep="\n")
    print()
    for note in notes(document):
        print(textwrap.fill(note, 80, subsequent_indent="  "))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(document, indent=1) + "\n")
    wrong = disagreements(document)
    for line in wrong:
        say(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Absent as why:
        say(str(why))
        sys.exit(1)
