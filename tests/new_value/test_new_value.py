#!/usr/bin/env python3
"""The study of new values, with a stand-in for the program: what it runs, keeps, resumes and says."""
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "examples/new_value"), str(SOURCE / "tools")]

import doc_tables
import study

# Writes what the program would, notes every call, and fails when told to.
PROGRAM = '''#!/usr/bin/python3
import json, os, sys
words = sys.argv[1:]
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps(words) + "\\n")
if os.environ.get("FAIL") and os.environ["FAIL"] in " ".join(words):
    sys.exit("facet: no room")
def option(name):
    return words[words.index(name) + 1]
if words[0] == "version":
    said = {"version": "9.9", "commit": os.environ.get("COMMIT", "abc1234")}
elif words[0] == "train":
    open(option("--out"), "w").close()
    said = {"seconds": 2.5, "resumed_updates": 0}
elif words[0] == "demos":
    open(option("--out"), "w").close()
elif words[0] == "fly":
    tasks = [words[i + 1] for i, word in enumerate(words) if word == "--task"]
    said = {"tasks": [{"track": task.split("/")[0], "size": task.split("/")[1], "passed": 3,
                       "gates": 4, "crashed": task.endswith("wide"), "speed_generated": 9.0,
                       "speed_reference": 10.0, "error_m": 0.5} for task in tasks]}
if "--json" in words:
    json.dump(said, open(option("--json"), "w"))
'''


class Study(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        program = self.folder / "facet"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        for name in ("FAIL", "COMMIT"):
            os.environ.pop(name, None)
        os.environ["CALLS"] = str(self.folder / "calls")
        before, study.FACET = study.FACET, program
        self.addCleanup(setattr, study, "FACET", before)

    def run_study(self, *more):
        """What it wrote and what it printed."""
        out = self.folder / "new-value.json"
        words = ["--folder", str(self.folder / "out"), "--json", str(out), *more]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            study.main(words)
        return json.loads(out.read_text()), printed.getvalue()

    def calls(self, command=None):
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        calls = [json.loads(line) for line in lines]
        return [call for call in calls if command in (None, call[0])]

    def test_its_file_says_what_made_it(self):
        found, _ = self.run_study("--seed", "7")
        self.assertEqual((found["version"], found["commit"], found["seed"]), ("9.9", "abc1234", 7))
        self.assertTrue(found["command"].startswith("examples/new_value/study.py --folder "))
        self.assertTrue(found["command"].endswith(" --seed 7"))
        for call in self.calls():
            if call[0] != "version":
                self.assertEqual(call[call.index("--seed") + 1], "7")

    def test_every_way_is_in_it_and_training_from_nothing_too(self):
        found, _ = self.run_study()
        ways = [("shipped", "first guess"), ("shipped", "embedding"), ("small", "first guess"),
                ("small", "embedding"), ("small", "from nothing")]
        self.assertEqual([(row["value"], row["network"], row["way"]) for row in found["rows"]],
                         [(value, *way) for value in ("size=medium", "track=race9") for way in ways])

    def test_one_task_is_learned_from_and_the_others_are_counted(self):
        found, _ = self.run_study()
        opening, track = found["rows"][0], found["rows"][5]
        self.assertEqual((opening["learned_from"], opening["passed"], opening["gates"]),
                         ("race3/medium", 21, 28))
        self.assertEqual((track["passed"], track["crashes"], track["learned_passed"]), (6, 1, 3))
        self.assertAlmostEqual(opening["speed_error"], 0.1)
        for call in self.calls("train"):
            if "--from" in call and "track=race9" in call:
                left_out = [call[i + 1] for i, word in enumerate(call) if word == "--hold-out"]
                self.assertEqual(left_out, ["race9/narrow", "race9/wide"])

    def test_what_was_done_is_not_done_again(self):
        first, _ = self.run_study()
        self.assertEqual(len(self.calls("train")), 11)
        second, _ = self.run_study()
        self.assertEqual(second, first)
        self.assertEqual([call[0] for call in self.calls()], ["version"])

    def test_it_goes_on_where_it_failed(self):
        os.environ["FAIL"] = "track-race9/nothing"
        with self.assertRaises(SystemExit) as stopped:
            self.run_study()
        self.assertEqual(stopped.exception.code, "new value: facet train: facet: no room")
        self.calls()
        del os.environ["FAIL"]
        self.run_study()
        trained = self.calls("train")
        self.assertEqual(len(trained), 1)
        self.assertIn("--resume", trained[0])

    def test_rows_of_another_commit_are_not_mixed_in(self):
        self.run_study()
        os.environ["COMMIT"] = "def5678"
        with self.assertRaises(SystemExit) as stopped:
            self.run_study()
        self.assertIn("abc1234", stopped.exception.code)

    def test_a_training_that_was_cut_off_has_no_time(self):
        out = self.folder / "p.safetensors"
        out.touch()
        self.assertIsNone(study.train(out, 1))
        out.with_suffix(".json").write_text('{"seconds": 2.5, "resumed_updates": 40}')
        self.assertIsNone(study.train(out, 1))

    def test_the_printed_table_is_one_that_docs_are_held_to(self):
        found, printed = self.run_study()
        rows = printed.splitlines()[2:]
        self.assertEqual(len(rows), 10)
        for line in rows:
            _, wrong = doc_tables.check_row(line, doc_tables.new_value, [found], "page", False)
            self.assertEqual(wrong, [])


class Courses(unittest.TestCase):
    def test_a_track_backwards_passes_its_gates_from_the_other_side(self):
        self.assertEqual([study.turn(place) for place in ("G1", "-G2", [0, 1, 2])],
                         ["-G1", "G2", [0, 1, 2]])

    def test_the_new_value_joins_the_shipped_course(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            study.make_courses(folder / "size", "size=medium")
            course = json.loads((folder / "size/course.json").read_text())
            self.assertIn("medium", [opening["name"] for opening in course["openings"]])
            study.make_courses(folder / "track", "track=race9")
            race6 = json.loads((folder / "track/race6.json").read_text())["path"]
            race9 = json.loads((folder / "track/race9.json").read_text())["path"]
            self.assertEqual([study.turn(place) for place in race9], race6[::-1])


if __name__ == "__main__":
    unittest.main()
