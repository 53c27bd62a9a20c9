#!/usr/bin/env python3
"""Cuts flights.json from a report: facet report --quad vehicles/racer.json --json report.json

usage: make_flights.py report.json > flights.json
"""
import json
import sys

KEPT = [("ours_composed", "race4/standard"), ("ours_composed", "race6/narrow"),
        ("ours_composed", "race7/narrow"), ("ours_composed", "race8/wide"),
        ("expert", "race7/narrow")]

with open(sys.argv[1], encoding="utf-8") as text:
    report = json.load(text)
course, flights = report["course"], []
for flight in report["flights"]:
    task = report["tasks"][flight["task"]]
    if (flight["method"], task["id"]) in KEPT:
        flights.append({
            "task": task["id"], "method": flight["method"], "plan": flight["plan"],
            "speed_reference": task["speed_reference"],
            "gates": course["tracks"][task["track"]]["gates"],
            "half_width": course["openings"][task["opening"]]["half_width"],
            "passed": flight["passed"], "crash": flight["crash"],
            "gate_results": flight["gate_results"], "positions": flight["positions"]})
json.dump({"arena": course["arena"], "flights": flights}, sys.stdout)
print()
