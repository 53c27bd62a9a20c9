#!/usr/bin/python3
"""Writes a made-up gate.json, as `facet gate --json` does: flights through one gate by camera.

    make_gate.py PROGRAM OUT [WxH]     PROGRAM draws the frames: build/facet

The paths are drawn here and the counts are chosen: no number in the file is a result. The frames
are real: `facet camera` draws what stands before the camera on the way. tests/report/gate.json is
the file that this writes with frames of 120x90.
"""

import base64
import json
import math
import os
import random
import subprocess
import sys
import tempfile

RATE = 10.0  # samples of a path a second
OUTCOMES = {  # success, crash, timeout; the colour of the flight that is shown
    "Field": (17, 2, 1, "white"),
    "industrial": (16, 2, 2, "red"),
    "piazza": (18, 1, 1, "blue"),
    "pool": (13, 3, 4, "white"),
}
COLORS = ("red", "white", "blue")


def course(root):
    with open(os.path.join(root, "courses/venues/venues.json")) as file:
        return json.load(file)


def unit(normal, side):
    length = math.hypot(normal[0], normal[1])
    return side * normal[0] / length, side * normal[1] / length


def spawn(gate, side, chance):
    """A place 3 to 10 m ahead of the gate, at most 45 degrees off its axis."""
    ahead = unit(gate["normal"], side)
    distance, angle = chance.uniform(3.0, 10.0), chance.uniform(-math.pi / 4, math.pi / 4)
    c, s = math.cos(angle), math.sin(angle)
    x = gate["center"][0] - distance * (c * ahead[0] - s * ahead[1])
    y = gate["center"][1] - distance * (s * ahead[0] + c * ahead[1])
    return x, y, max(0.8, gate["center"][2] + chance.uniform(-0.4, 0.6))


def bezier(points, t):
    points = [list(p) for p in points]
    while len(points) > 1:
        points = [[(1 - t) * a + t * b for a, b in zip(p, q)] for p, q in zip(points, points[1:])]
    return points[0]


def fly(gate, side, end, chance):
    """A path that bends onto the gate's axis: through it, into its frame, or past it."""
    start, center = spawn(gate, side, chance), gate["center"]
    ahead = unit(gate["normal"], side)
    across = (-ahead[1], ahead[0])
    off = {"success": chance.uniform(-0.4, 0.4), "crash": chance.choice((-1, 1)) * 0.9,
           "timeout": chance.choice((-1, 1)) * chance.uniform(2.0, 3.5)}[end]
    beyond = {"success": 1.2, "crash": 0.0, "timeout": chance.uniform(-1.5, 3.0)}[end]
    reach = math.hypot(center[0] - start[0], center[1] - start[1])

    def place(forward, sideways, rise):
        return (center[0] + forward * ahead[0] + sideways * across[0],
                center[1] + forward * ahead[1] + sideways * across[1], center[2] + rise)

    wobble = chance.uniform(-0.15, 0.15) * reach
    control = [start, place(-0.6 * reach, wobble + off, 0.2), place(-0.2 * reach, off, 0.0),
               place(beyond, off, 0.0)]
    duration = 15.0 if end == "timeout" else round(1.2 + reach / 2.2, 2)
    samples = int(duration * RATE) + 1
    shown = [min(1.0, k / RATE / (0.7 * duration if end == "timeout" else duration))
             for k in range(samples)]
    path = [[round(value, 3) for value in bezier(control, t)] for t in shown]
    return {"end": end, "duration": duration, "path": path}


def frame(program, venue, flight, center, time, size):
    """What the camera sees at a time of the flight, looking where it flies."""
    at = min(int(time * RATE), len(flight["path"]) - 2)
    here, there = flight["path"][at], flight["path"][at + 1]
    way = math.atan2(there[1] - here[1], there[0] - here[0])
    to_gate = math.atan2(center[1] - here[1], center[0] - here[0])
    off = math.degrees((way - to_gate + math.pi) % (2 * math.pi) - math.pi) * 0.5
    with tempfile.TemporaryDirectory() as folder:
        picture = os.path.join(folder, "frame.png")
        subprocess.run([program, "camera", "--venue", venue, "--gate", flight["gate"], "--color",
                        flight["color"], "--side", flight["side"], "--size", size, "--samples",
                        "4", "--noise", "0", "--pitch=-8", f"--heading={off:.3f}",
                        "--at=" + ",".join(f"{x:.3f}" for x in here), f"--time={time}", "--out",
                        picture, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with open(picture, "rb") as file:
            png = base64.b64encode(file.read()).decode()
    return {"time": time, "png": png}


def venue_flights(program, venue, gates, chance, size):
    success, crash, timeout, color = OUTCOMES[venue]
    ends = ["success"] * success + ["crash"] * crash + ["timeout"] * timeout
    chance.shuffle(ends)
    flights = []
    for number, end in enumerate(ends):
        gate, side = gates[number % len(gates)], (1, -1)[number // len(gates) % 2]
        flights.append({"venue": venue, "color": chance.choice(COLORS), "gate": gate["name"],
                        "side": f"{side:+d}", **fly(gate, side, end, chance)})
    longest = max((f for f in flights if f["end"] == "success"), key=lambda f: f["duration"])
    longest["color"] = color
    center = next(g for g in gates if g["name"] == longest["gate"])["center"]
    times = [round(share * longest["duration"], 1) for share in (0.08, 0.42, 0.7)]
    longest["frames"] = [frame(program, venue, longest, center, t, size) for t in times]
    return flights


def counts(trials, success, crash):
    return {"trials": trials, "success": success, "crash": crash,
            "timeout": trials - success - crash}


def rates(success, crash):
    return {"success": success, "crash": crash}


def study():
    """The form of the study, with the paper's numbers and made-up ones beside them."""
    zero_shot = [
        {"method": "Baseline", "paper": {"train": rates(41.7, 34.4), "held_out": rates(25.0, 36.7)},
         "train": counts(180, 101, 41), "held_out": counts(120, 45, 38)},
        {"method": "Factored", "paper": {"train": rates(63.3, 10.6), "held_out": rates(36.7, 15.0)},
         "train": counts(180, 142, 18), "held_out": counts(120, 71, 17)},
        {"method": "Oracle", "train": counts(180, 150, 14), "held_out": counts(120, 98, 9)},
    ]
    within = [
        {"method": "Baseline", "paper": {"train": rates(67.8, None), "held_out": rates(58.3, 18.5)},
         "train": counts(180, 126, 30), "held_out": counts(100, 61, 17)},
        {"method": "Factored", "paper": {"train": rates(69.8, None), "held_out": rates(59.4, 14.0)},
         "train": counts(180, 140, 22), "held_out": counts(100, 66, 13)},
    ]
    return {
        "protocols": [
            {"name": "zero-shot", "title": "Zero-shot venue: pool held out", "rows": zero_shot},
            {"name": "within-venue", "title": "Within venues: 25 triples held out",
             "rows": within}],
        "ablations": [
            {"name": "venue dropout 0.4", "train": counts(180, 120, 40),
             "held_out": counts(120, 58, 40)},
            {"name": "venue dropout 0.4, null venue", "train": counts(180, 109, 46),
             "held_out": counts(120, 41, 51)},
            {"name": "frozen encoder", "train": counts(180, 70, 62),
             "held_out": counts(120, 30, 60)}],
    }


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: make_gate.py PROGRAM OUT [WxH]")
    program, out = sys.argv[1], sys.argv[2]
    size = sys.argv[3] if len(sys.argv) == 4 else "120x90"
    known = course(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    chance, flights = random.Random(1), []
    for venue in OUTCOMES:
        flights += venue_flights(program, venue, known["gates"], chance, size)
    document = {
        "command": "facet gate --seed 1", "version": "0.0.0", "seed": 1,
        "policy": "models/gate-factored.safetensors", "held_out_venue": "pool", "mode": "composed",
        "venues": {venue: counts(sum(o[:3]), o[0], o[1]) for venue, o in OUTCOMES.items()},
        "gates": known["gates"], "half_width": known["frame"]["half_width"],
        "flights": flights, "study": study()}
    with open(out, "w") as file:
        json.dump(document, file, separators=(",", ":"))
        file.write("\n")


main()
