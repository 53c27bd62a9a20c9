#!/usr/bin/env python3
"""What examples/rotorpy computes without RotorPy: gates, crashes, the vehicle, and its failures.

usage: test_rotorpy.py PILOT
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
EXAMPLE = SOURCE / "examples/rotorpy"
RACER = SOURCE / "vehicles/racer.json"
SAMPLE_REACH = 0.03  # m: a path of 25 samples a second cuts this much off a curve
sys.path.insert(0, str(EXAMPLE))

try:
    import numpy
except ImportError:
    sys.exit(77)

import compare
import vehicle
from pilot import Failed, Pilot
from referee import Referee, crash

PILOT = sys.argv.pop(1)
FACET = sys.argv.pop(1)
RECORDED = json.loads((HERE / "flights.json").read_text())
GATES = [{"name": name, "center": [x, 0.0, 1.0], "normal": [1.0, 0.0, 0.0]}
         for name, x in (("a", 0.0), ("b", 2.0), ("c", 4.0))]


def judged(gates, half_width, places):
    referee = Referee(gates, half_width)
    for before, after in zip(places, places[1:]):
        referee.watch(before, after)
    return referee


class Passage(unittest.TestCase):
    def test_recorded_flights_are_judged_as_facet_did(self):
        for flight in RECORDED["flights"]:
            numbers = flight["positions"]
            places = [numbers[i:i + 3] for i in range(0, len(numbers), 3)]
            referee = judged(flight["gates"], flight["half_width"], places)
            with self.subTest(task=flight["task"], method=flight["method"]):
                self.assertEqual(referee.passed(), flight["passed"])
                for found, facet in zip(referee.results, flight["gate_results"]):
                    self.assertEqual(found["crossed"], facet["crossed"])
                    if facet["crossed"]:
                        self.assertAlmostEqual(found["miss"], facet["miss"], delta=SAMPLE_REACH)

    def test_a_crossing_is_interpolated(self):
        results = judged(GATES, 0.5, [[-1, 0, 1], [1, 0.8, 1]]).results
        self.assertAlmostEqual(results[0]["miss"], 0.4)
        self.assertTrue(results[0]["passed"])

    def test_a_gate_counts_in_its_direction_only(self):
        self.assertFalse(judged(GATES, 0.5, [[1, 0, 1], [-1, 0, 1]]).results[0]["crossed"])

    def test_a_crossing_far_away_settles_nothing(self):
        referee = judged(GATES, 0.5, [[-1, 3, 1], [1, 3, 1], [-1, 3, 1], [-1, 0, 1], [1, 0, 1]])
        self.assertTrue(referee.results[0]["passed"])

    def test_a_near_miss_settles_the_gate(self):
        referee = judged(GATES, 0.5, [[-1, 1, 1], [1, 1, 1], [-1, 0, 1], [1, 0, 1]])
        self.assertEqual((referee.results[0]["passed"], referee.next), (False, 1))

    def test_the_next_gate_settles_one_that_is_open(self):
        referee = judged(GATES, 0.5, [[1, 0, 1], [3, 0, 1], [5, 0, 1]])
        self.assertEqual([result["passed"] for result in referee.results], [False, True, True])

    def test_crashes(self):
        arena = RECORDED["arena"]
        cases = {"none": ([0, 0, 1], 1.0), "ground": ([0, 0, -0.1], 1.0),
                 "bounds": ([14, 0, 1], 1.0), "attitude": ([0, 0, 1], -0.6),
                 "non-finite state": ([0, math.nan, 1], 1.0)}
        for kind, (place, up) in cases.items():
            self.assertEqual(crash(arena, place, up), kind)


class Vehicle(unittest.TestCase):
    def setUp(self):
        self.racer = vehicle.load(RACER)
        self.parameters = vehicle.rotorpy_parameters(self.racer)

    def test_a_file_without_fields_is_the_default_vehicle(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write("{}")
            file.flush()
            self.assertEqual(vehicle.load(file.name), self.racer)

    def test_thrust_at_full_speed_is_the_most(self):
        most = self.parameters["k_eta"] * self.parameters["rotor_speed_max"] ** 2
        self.assertAlmostEqual(most, self.racer["thrust_max"])

    def test_drag_in_hover_is_facets(self):
        speed = math.sqrt(0.5 * 9.81 / 4.0 / self.parameters["k_eta"])
        self.assertAlmostEqual(4.0 * speed * self.parameters["k_d"] / 0.5, self.racer["drag"][0])

    def test_rotors_stand_and_turn_as_facets(self):
        places = numpy.array(list(self.parameters["rotor_pos"].values()))
        lever = 0.125 / math.sqrt(2.0)
        self.assertTrue(numpy.allclose(places[:, 0], [lever, -lever, -lever, lever]))
        self.assertTrue(numpy.allclose(places[:, 1], [lever, lever, -lever, -lever]))
        self.assertEqual(list(self.parameters["rotor_directions"]), [1, -1, 1, -1])

    def test_another_gravity_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"gravity": 1.62}')
            file.flush()
            with self.assertRaisesRegex(vehicle.Unsuitable, "gravity: RotorPy has 9.81, found 1.6"):
                vehicle.load(file.name)


class PilotProcess(unittest.TestCase):
    def setUp(self):
        self.flight = next(f for f in RECORDED["flights"] if f["method"] == "expert")

    def pilot(self, plan):
        return Pilot(PILOT, RACER, plan, self.flight["plan"], self.flight["speed_reference"])

    def test_a_flight_starts_where_facets_did(self):
        with self.pilot(self.flight["plan"]) as pilot:
            place = self.flight["positions"][:3]
            self.assertTrue(numpy.allclose(pilot.start[:3], place, atol=2e-3))
            self.assertAlmostEqual(numpy.linalg.norm(pilot.start[7:10]),
                                   self.flight["speed_reference"])
            self.assertAlmostEqual(sum(pilot.start[13:17]), 0.5 * 9.81)

    def test_the_reference_is_the_plan(self):
        with self.pilot(self.flight["plan"]) as pilot:
            reference = pilot.reference
        self.assertTrue(numpy.allclose(reference.pos[0], self.flight["plan"][:3]))
        self.assertTrue(numpy.allclose(reference.pos[-1], self.flight["plan"][-4:-1]))
        length = numpy.sum(numpy.linalg.norm(numpy.diff(reference.pos, axis=0), axis=1))
        self.assertAlmostEqual(length, reference.arc[-1])
        self.assertAlmostEqual(length / reference.time[-1], self.flight["plan"][3], places=2)

    def test_advice_on_the_path_leads_along_it(self):
        with self.pilot(self.flight["plan"]) as pilot:
            advice = pilot.advise(pilot.start)
            self.assertTrue(numpy.allclose(advice.vel, pilot.reference.vel[0]))
            self.assertTrue(all(0.0 <= thrust <= 5.65 for thrust in advice.thrust))

    def test_a_plan_that_is_not_finite_gets_facets_line(self):
        with self.assertRaisesRegex(Failed, "keypoint 3 of the plan is not finite"):
            self.pilot([*self.flight["plan"][:12], math.nan, *self.flight["plan"][13:]])


class Plans(unittest.TestCase):
    def test_the_policys_plans_stand_beside_the_experts(self):
        """Of a named vehicle too, of which the program ships no flights."""
        works = compare.works(compare.facet_report(FACET, str(RACER)), ["race5/wide"])
        self.assertEqual([work["kind"] for work in works], ["policy", "expert"])
        policy, expert = (work["flight"] for work in works)
        self.assertNotEqual(policy["plan"], expert["plan"])
        self.assertTrue(works[0]["task"]["held_out"])


class Failures(unittest.TestCase):
    def refused(self, command, **environment):
        done = subprocess.run(command, capture_output=True, text=True,
                              env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def compare(self, *arguments):
        return self.refused([sys.executable, EXAMPLE / "compare.py", "--pilot", PILOT, *arguments])

    def test_a_missing_program_is_named(self):
        self.assertIn("/no/facet: No such file", self.compare("--facet", "/no/facet"))

    def test_a_missing_pilot_is_named(self):
        self.assertIn("/no/pilot: not there", self.compare("--pilot", "/no/pilot"))

    def test_a_missing_vehicle_is_named(self):
        self.assertIn("/no/quad.json", self.compare("--quad", "/no/quad.json"))

    def test_a_report_that_is_not_json_is_named(self):
        self.assertIn("compare.py: ", self.compare("--report", EXAMPLE / "compare.py"))

    def of_report(self, method, *arguments):
        report = {"tasks": [{"id": "race1/wide", "feasible": True}], "flights": [], "course": {},
                  "main_method": method}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(report, file)
            file.flush()
            return self.compare("--report", file.name, *arguments)

    def test_an_unknown_task_names_the_known_ones(self):
        said = self.of_report("ours_composed", "--task", "race9/wide")
        self.assertIn("no feasible task 'race9/wide', known: race1/wide", said)

    def test_a_report_without_a_policy_is_refused(self):
        self.assertIn("expected flights of a policy, found the expert's alone", self.of_report("expert"))

    def test_without_pypi_one_line_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder, "python3")
            python.write_text("#!/bin/sh\necho 'no PyPI here' >&2\nexit 1\n")
            python.chmod(0o755)
            said = self.refused([EXAMPLE / "run.sh"], FACET_ROTORPY_VENV=f"{folder}/venv",
                                PATH=f"{folder}:{os.environ['PATH']}")
        self.assertEqual(said, "rotorpy: no virtual environment: no PyPI here\n")


if __name__ == "__main__":
    unittest.main()
