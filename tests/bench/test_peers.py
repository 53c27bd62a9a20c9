#!/usr/bin/env python3
"""The comparison with peers, with stand-ins for Facet and for all peers: nothing is measured here,
and nothing comes from PyPI. usage: test_peers.py [-v]"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
COMPARE = SOURCE / "bench/peers/compare.py"

FACET_TIMES = {"peak 1": 10.0, "peak 2": 10.0, "train 2": 100.0, "train-composed 2": 250.0,
               "forward-3 2": 4.0, "forward-3 1": 5.0, "forward-1 2": 2.0, "forward-1 1": 2.0,
               "plan-50 2": 200.0, "plan-default 2": 12.0, "plan-default 1": 20.0,
               "pilot-10 2": 3.0, "pilot-10 1": 4.0, "pilot-default 2": 3.0,
               "pilot-default 1": 4.0, "encoder-train 2": 50.0, "jacobian 2": 70.0}
OPERATIONS = {"peak": 1e9, "train": 25e9, "train-composed": 62.5e9, "forward-3": 0.4e9,
              "forward-1": 0.2e9, "encoder-train": 9.5e9}
HELLO = {"kernels": "Haswell", "operations": OPERATIONS,
         "race": {"parameters": 4341828, "default_steps": 4, "branches": 3},
         "gate": {"parameters": 2041395, "default_steps": 7, "branches": 5}}

# A side that writes down its turns and answers from a table.
SIDE = """#!{python}
import json, sys
name, hello, times, fault = json.loads({facts!r})
if name == "peer":
    spec = json.loads(sys.argv[2])
    name = spec.get("mode") or spec["runtime"]
    hello["differences"] = {{work: 1e-6 for work, _ in spec["works"]}}
    if fault.get(name) == "differs":
        hello["differences"] = {{work: 3e-4 for work, _ in spec["works"]}}
    if fault.get(name) == "missing":
        sys.exit("No module named 'that'")
print(json.dumps(hello), flush=True)
for line in sys.stdin:
    work, threads, repeats = line.split()
    with open({log!r}, "a") as log:
        print(name, work, threads, file=log)
    print(*[times[work + " " + threads]] * int(repeats), flush=True)
"""

CAMERA = """60 frames of 320x240 a venue, one thread, processor time
Field          250.0 frames/s    4.00 ms a frame
pool           200.0 frames/s    5.00 ms a frame
"""


class Peers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="facet-test-peers-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = self.folder / "turns"
        self.environment = dict(os.environ)

    def program(self, path, text):
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def side(self, path, name, hello, times, fault):
        facts = json.dumps([name, hello, times, fault])
        self.program(path, SIDE.format(python=sys.executable, facts=facts, log=str(self.log)))

    def machine(self, fault=None):
        """A build folder of stand-ins; every peer takes twice Facet's time."""
        twice = {work: 2.0 * time for work, time in FACET_TIMES.items()}
        peer = {"version": "1.2.3", "settings": "plain", "call_ms": 0.01}
        self.side("bench/peers/facet_side", "facet", HELLO, FACET_TIMES, {})
        self.side("peers-venv/bin/python", "peer", peer, twice, fault or {})
        self.program("facet", "#!/bin/sh\necho '" + json.dumps(
            {"version": "0.1.0", "commit": "c0ffee", "instructions": "avx2"}) + "' >\"$3\"\n")
        self.program("bench/camera", f"#!/bin/sh\ncat <<END\n{CAMERA}END\n")
        shutil.copy(SOURCE / "bench/peers/requirements.txt", self.folder / "peers-venv/made-from")

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, COMPARE, "--build", self.folder, "--rounds", "2",
                               *arguments], capture_output=True, text=True, env=self.environment)
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        return self.out.splitlines()

    def line_with(self, text):
        found = [line for line in self.out.splitlines() if text in line]
        self.assertTrue(found, f"no line with '{text}' in:\n{self.out}{self.err}")
        return found[0].split()

    def test_all_rows_stand_in_a_table_of_80_columns(self):
        self.machine()
        lines = self.run_it()
        self.assertEqual(self.code, 0, self.err)
        self.assertLessEqual(max(map(len, lines)), 80)
        for label in ("training step, 32 rows", "composed loss, 80 rows", "forward, 3 rows",
                      "forward, 1 row", "composed plan, 50 steps", "default steps (4)",
                      "pilot's step, 10 x 5 rows", "default steps (7)", "encoder training",
                      "Jacobian", "camera, worst venue: 200 frames/s"):
            self.line_with(label)
        for version in ("torch.compile 1.2.3", "PyTorch eager 1.2.3", "OpenVINO 1.2.3",
                        "ONNX Runtime 1.2.3", "kernels: Haswell"):
            self.assertIn(version, self.out)

    def test_ratio_and_part_of_the_peak(self):
        self.machine()
        self.run_it("train", "forward")
        # 25e9 operations in 100 ms, beside two threads of 1e9 in 10 ms
        self.assertEqual(self.line_with("training step")[-6:],
                         ["100.00", "torch.compile", "200.00", "2.00", "125", "%"])
        self.assertEqual(self.line_with("one thread  ")[-2:], ["5.00", "1.25"])

    def test_sides_take_turns(self):
        self.machine()
        self.run_it("plan")
        turns = self.log.read_text().splitlines()
        around = ["facet plan-50 2", "openvino plan-50 2", "onnxruntime plan-50 2",
                  "facet plan-default 2", "openvino plan-default 2", "onnxruntime plan-default 2",
                  "facet plan-default 1"]
        self.assertEqual(turns, 3 * around)  # one to warm up

    def test_a_peer_that_is_missing_is_said_to_be_absent(self):
        self.machine({"openvino": "missing"})
        self.run_it("plan")
        self.assertEqual(self.code, 0, self.err)
        self.assertEqual(self.line_with("composed plan")[-2:], ["OpenVINO", "absent"])
        self.assertIn("OpenVINO: absent: No module named 'that'", self.out)
        self.assertEqual(self.line_with("ONNX Runtime  ")[-2:], ["400.00", "2.00"])

    def test_without_pypi_facet_is_measured_alone(self):
        self.machine()
        (self.folder / "peers-venv/made-from").unlink()
        self.program("no-pypi/python3", "#!/bin/sh\necho 'no PyPI here' >&2\nexit 1\n")
        self.environment["PATH"] = f"{self.folder}/no-pypi:{os.environ['PATH']}"
        self.run_it("plan")
        self.assertEqual(self.code, 0, self.err)
        self.assertEqual(self.line_with("composed plan")[-3:], ["200.00", "OpenVINO", "absent"])
        self.assertIn("OpenVINO: absent: no PyPI here", self.out)

    def test_a_peer_with_other_outputs_is_not_timed_and_fails(self):
        self.machine({"onnxruntime": "differs"})
        self.run_it("plan")
        self.assertEqual(self.code, 1)
        self.assertIn("composed plan, 50 steps: ONNX Runtime differs by 3.0e-04", self.err)
        self.assertNotIn("onnxruntime", self.log.read_text())

    def test_a_result_prints_again_from_its_file(self):
        self.machine()
        file = str(self.folder / "bench.json")
        lines = self.run_it("--json", file)
        self.assertEqual(self.run_it("--from", file), lines)
        document = json.loads(pathlib.Path(file).read_text())
        self.assertEqual(document["commit"], "c0ffee")
        self.assertTrue(document["command"].startswith("./facet bench peers"))
        self.run_it("--from", file, "--markdown")
        self.assertIn("| training step, 32 rows | 100.00 | torch.compile | 200.00 | 2.00 | 125 % |",
                      self.out)

    def test_an_unknown_section_names_the_known_ones(self):
        self.run_it("palns")
        self.assertEqual(self.code, 2)
        self.assertIn("no section 'palns', known: train forward plan", self.err)

    def test_facet_that_fails_ends_it(self):
        self.machine()
        self.program("bench/peers/facet_side", "#!/bin/sh\necho 'models: not there' >&2\nexit 1\n")
        self.run_it("plan")
        self.assertEqual((self.code, self.err.splitlines()[-1]), (1, "bench: models: not there"))


if __name__ == "__main__":
    unittest.main()
