#!/usr/bin/env python3
"""What examples/metaworld does without Meta-World: tasks, starts, cells, tables and failures.

A stand-in world is a line on which a policy walks; a stand-in program writes a policy's file.
"""
import contextlib
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = SOURCE / "examples/metaworld"
sys.path.insert(0, str(EXAMPLE))

import evaluate
import fold
import methods
import record
import study
import table
import tasks
import work


class Tasks(unittest.TestCase):
    def test_every_value_is_in_training_and_enough_is_held_out(self):
        hidden, shown = tasks.held_out(), tasks.training()
        self.assertGreaterEqual(len(tasks.GOALS), 5)
        self.assertGreaterEqual(len(tasks.pairs()), 15)
        self.assertGreaterEqual(len(set(hidden)), 5)
        self.assertEqual(len(hidden) + len(shown), len(tasks.pairs()))
        for values, index in ((tasks.SKILLS, 0), (tasks.GOALS, 1)):
            self.assertEqual({pair[index] for pair in shown}, set(values))

    def test_some_goals_are_shown_with_every_skill_and_none_without_some_pairs(self):
        def both(pairs):
            return {goal for goal in tasks.GOALS
                    if ("push", goal) in pairs and ("pick-place", goal) in pairs}

        shown = tasks.training()
        self.assertEqual(both(shown), set(tasks.SHARED))
        self.assertEqual(both([pair for pair in shown if pair not in tasks.unshared()]), set())

    def test_a_fold_is_like_what_is_held_out(self):
        def others(pair, pairs):
            return {skill for skill, goal in pairs if goal == pair[1] and skill != pair[0]}

        for pair in tasks.folds():
            self.assertIn(pair, tasks.training())
            self.assertEqual(others(pair, tasks.training()), set(tasks.SKILLS) - {pair[0]})
        for pair in tasks.held_out():
            self.assertEqual(others(pair, tasks.training()), set(tasks.SKILLS) - {pair[0]})

    def test_a_success_at_one_place_is_none_at_another(self):
        places = [tasks.place(goal) for goal in tasks.GOALS]
        for i, first in enumerate(places):
            for second in places[i + 1:]:
                self.assertGreater(math.dist(first, second), 0.1)  # twice 0.05 m

    def test_an_object_never_starts_at_a_place(self):
        for goal in tasks.GOALS:
            x, y = tasks.place(goal)
            nearest = (min(max(x, tasks.OBJECT_LOW[0]), tasks.OBJECT_HIGH[0]),
                       min(max(y, tasks.OBJECT_LOW[1]), tasks.OBJECT_HIGH[1]))
            self.assertGreater(math.dist((x, y), nearest), 0.07)


class Starts(unittest.TestCase):
    def test_they_are_in_the_region_and_spread_over_it(self):
        starts = [tasks.start(tasks.TRAINING, 1, ("push", "left"), n) for n in range(400)]
        for axis in (0, 1):
            low, high = tasks.OBJECT_LOW[axis], tasks.OBJECT_HIGH[axis]
            values = [start[axis] for start in starts]
            self.assertTrue(all(low < value < high for value in values))
            self.assertAlmostEqual(sum(values) / 400, (low + high) / 2, delta=0.1 * (high - low))

    def test_evaluation_cannot_start_where_training_did(self):
        def cell(value, axis):
            low, high = tasks.OBJECT_LOW[axis], tasks.OBJECT_HIGH[axis]
            return (value - low) / (high - low) * tasks.CELLS - 0.5

        for stream in (tasks.TRAINING, tasks.EVALUATION):
            for number in range(200):
                for axis in (0, 1):
                    start = tasks.start(stream, number % 3, ("reach", "right"), number)
                    found = cell(start[axis], axis)
                    self.assertAlmostEqual(found, round(found), delta=0.01)
                    self.assertEqual(round(found) % 2, stream)

    def test_they_depend_on_pair_seed_and_number_alone(self):
        first = tasks.start(tasks.EVALUATION, 1, ("push", "left"), 0)
        self.assertEqual(first, tasks.start(tasks.EVALUATION, 1, ("push", "left"), 0))
        others = [tasks.start(tasks.EVALUATION, 2, ("push", "left"), 0),
                  tasks.start(tasks.EVALUATION, 1, ("push", "right"), 0),
                  tasks.start(tasks.EVALUATION, 1, ("reach", "left"), 0),
                  tasks.start(tasks.EVALUATION, 1, ("push", "left"), 1)]
        self.assertEqual(len({first, *others}), 5)

    def test_the_noise_of_a_demonstration_is_its_own_and_repeats(self):
        first, again = record.Disturbance(1, "push", 0), record.Disturbance(1, "push", 0)
        values = [first.next() for _ in range(20)]
        self.assertEqual(values, [again.next() for _ in range(20)])
        self.assertNotEqual(values, [record.Disturbance(1, "push", 1).next() for _ in range(20)])
        self.assertTrue(0.0 <= first.level <= record.NOISE)


class Methods(unittest.TestCase):
    def test_wilson(self):
        for success, trials, low, high in ((0, 50, 0.0, 0.0713), (50, 50, 0.9287, 1.0),
                                           (45, 50, 0.7864, 0.9565)):
            found = methods.wilson(success, trials)
            self.assertAlmostEqual(found[0], low, places=4)
            self.assertAlmostEqual(found[1], high, places=4)
        self.assertEqual(methods.wilson(0, 0), (None, None))

    def test_budgets_are_equal(self):
        def option(words, name):
            return words[words.index(name) + 1]

        commands = [methods.train_command("facet", method, "d", "p", 1, 9, tasks.held_out())
                    for method in methods.METHODS.values() if not method.hidden]
        for name in ("--observe", "--observe-steps", "--horizon", "--execute", "--blocks",
                     "--channels", "--embed", "--updates", "--batch", "--seed"):
            self.assertEqual(len({option(words, name) for words in commands}), 1, name)
        for words in commands:
            held = [words[i + 1] for i, word in enumerate(words) if word == "--hold-out"]
            self.assertEqual(held, [tasks.text(pair) for pair in tasks.held_out()])


# ---- With stand-ins ------------------------------------------------------------------------------

class LineWorld:
    """A line with a place for every goal; done when the walker is there. It leaves its bounds'
    checking to the caller, as Meta-World does not."""

    def __init__(self, skill):
        self.skill = skill

    def reset(self, goal, start):
        self.goal, self.where = tasks.GOALS.index(goal), 0.0
        return [self.where]

    def step(self, action):
        assert -1.0 <= action[0] <= 1.0, action
        self.where += action[0]
        return [self.where], abs(self.where - self.goal) < 0.5

    def expert(self, observation):
        return [100.0 * (self.goal - observation[0])]


class Walker:
    """Told a task, it walks to its goal; the baseline stays. It wants the number of an episode."""

    def __init__(self, task, moves):
        self.task, self.moves, self.numbers = task, moves, []

    def reset(self, episode):
        self.numbers.append(episode)

    def __call__(self, observation):
        goal = tasks.GOALS.index(self.task.split("/")[1])
        return [5.0 * (goal - observation["hand"][0]) if self.moves else 0.0]


def stand_ins():
    world, facet = types.ModuleType("world"), types.ModuleType("facet")
    world.World, world.KEYS = LineWorld, {"hand": slice(0, 1), "object": slice(0, 1)}

    class Policy:
        def __init__(self, path):
            self.moves = "baseline" not in path

        def agent(self, task, mode, steps, seed):
            assert mode in ("joint", "composed") and 0 <= steps <= 100, (mode, steps)
            return Walker(task, self.moves)

    facet.load = Policy
    return {"world": world, "facet": facet}


TRAINER = """#!/bin/sh
while [ "$1" != --out ]; do [ $# -gt 0 ] || { echo "facet 1.2.3"; exit 0; }; shift; done
echo "$2" | grep -q refused && { echo 'facet train: no such thing' >&2; exit 1; }
echo policy >"$2"
printf 'update,held_out,held_out_composed\n1,,\n600,0.5,0.25\n' >"$2.csv"
echo '{"updates": 7, "seconds": 1}' >"$2.json"
"""


class Study(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        program = pathlib.Path(self.folder, "facet")
        program.write_text(TRAINER)
        program.chmod(0o755)
        pathlib.Path(self.folder, "demos.h5").touch()
        for name, module in stand_ins().items():
            sys.modules[name] = module
            self.addCleanup(sys.modules.pop, name)
        kept = work.importlib.metadata.version
        work.importlib.metadata.version = lambda name: "0"
        self.addCleanup(setattr, work.importlib.metadata, "version", kept)
        self.addCleanup(evaluate.worlds.clear)
        self.addCleanup(evaluate.policies.clear)

    def run_study(self, *words):
        options = study.arguments(["--out", self.folder, "--facet", f"{self.folder}/facet",
                                   "--episodes", "3", *words])
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            fold.run(options) if options.fold else study.run_study(options)
        return json.loads(pathlib.Path(options.results).read_text()), said.getvalue()

    def test_all_methods_and_the_expert_are_in_the_results(self):
        results, said = self.run_study("--seed", "1", "2")
        self.assertEqual([entry["id"] for entry in results["methods"]],
                         ["expert", *methods.MAIN])
        expert, baseline, told = results["methods"][:3]
        self.assertEqual((expert["training"]["success"], expert["training"]["trials"]), (63, 63))
        self.assertEqual(told["held_out"]["success"], told["held_out"]["trials"])
        # staying is being at the first goal
        stayed = [pair["goal"] for pair in baseline["pairs"] if pair["success"]]
        self.assertEqual(set(stayed), {tasks.GOALS[0]})
        self.assertEqual(told["seeds"], [1, 2])
        self.assertEqual([entry["updates"] for entry in told["trainings"]], [7, 7])
        self.assertNotIn(self.folder, json.dumps(results["methods"]))
        self.assertIn("; 0 to go, about 0 min", said)

    def test_a_control_is_not_shown_its_hidden_pairs_nor_asked_for_them(self):
        results, said = self.run_study("--seed", "1", "--method", "ours-unshared")
        for pair in tasks.held_out() + tasks.unshared():
            self.assertIn(f"--hold-out {tasks.text(pair)}", said)
        control = results["methods"][-1]
        asked = {(pair["skill"], pair["goal"]) for pair in control["pairs"]}
        self.assertEqual(asked, set(tasks.pairs()) - set(tasks.unshared()))
        self.assertEqual(control["training"]["trials"],
                         3 * (len(tasks.training()) - len(tasks.unshared())))

    def test_what_is_told_one_factor_is_ours_asked_otherwise(self):
        results, said = self.run_study("--seed", "1", "--method", "ours", "goal-alone")
        self.assertEqual(said.count("$ "), 1)  # one training
        self.assertEqual([entry["id"] for entry in results["methods"]],
                         ["expert", "ours", "goal-alone"])
        self.assertEqual(tasks.told(("push", "left"), "goal"), "*/left")
        self.assertEqual(tasks.told(("push", "left"), "skill"), "push/*")
        self.assertEqual(tasks.told(("push", "left")), "push/left")
        asked = []
        sys.modules["facet"].load.agent = lambda self, task, mode, steps, seed: (
            asked.append(task), Walker(task.replace("*", "reach"), True))[1]
        job, = study.cell_jobs("goal-alone", 1, f"{self.folder}/facet", "composed", 0,
                               [("push", "left")], 1, "goal")
        evaluate.evaluate(job)
        self.assertEqual(asked, ["*/left"])

    def test_a_longer_training_is_longer(self):
        _, said = self.run_study("--seed", "1", "--method", "told", "told-long")
        for text in (f"--updates {methods.UPDATES} ", f"--updates {methods.LONG} "):
            self.assertEqual(said.count(text), 1, text)

    def test_the_fold_tries_the_candidates_asked_for(self):
        results, _ = self.run_study("--fold", "--candidate", fold.CANDIDATES[1].id)
        self.assertEqual([entry["id"] for entry in results["candidates"]],
                         [fold.CANDIDATES[1].id])

    def test_the_fold_asks_for_no_held_out_pair_and_goes_on(self):
        results, said = self.run_study("--fold")
        for entry in results["candidates"]:
            for one, pair in zip(entry["folds"], tasks.folds()):
                self.assertEqual((one["pair"], one["success"]), (tasks.text(pair), fold.EPISODES))
                self.assertEqual(set(one["learned"].values()), {fold.EPISODES})
                self.assertNotIn(one["pair"], one["learned"])
                self.assertEqual(one["looks"], [[600, 0.5, 0.25]])
        trained = [line for line in said.splitlines() if line.startswith("$ ")]
        self.assertEqual(len(trained), len(fold.CANDIDATES) * len(tasks.folds()))
        for line in trained:
            for pair in tasks.held_out():
                self.assertIn(f"--hold-out {tasks.text(pair)}", line)
            self.assertEqual(line.count("--hold-out"), len(tasks.held_out()) + 1)
            self.assertIn(f"--filter {record.TRAINING}", line)
            self.assertIn("--updates 16000" if "-16000-" in line else "--updates 6000", line)
        again, said = self.run_study("--fold")
        self.assertNotIn("to go", said)
        self.assertEqual(again["candidates"], results["candidates"])

    def test_what_is_done_is_not_done_again(self):
        first, _ = self.run_study("--seed", "1", "--method", "told")
        second, said = self.run_study("--seed", "1", "--method", "told")
        self.assertNotIn("to go", said)
        self.assertEqual(first["methods"], second["methods"])

    def test_another_policy_is_evaluated_again(self):
        self.run_study("--seed", "1", "--method", "told")
        pathlib.Path(self.folder, "policies/told-1.safetensors").write_text("another")
        _, said = self.run_study("--seed", "1", "--method", "told")
        self.assertEqual(said.count("told, seed 1"), len(tasks.pairs()))

    def test_a_cell_that_is_damaged_is_done_again(self):
        self.run_study("--seed", "1", "--method", "told")
        pathlib.Path(self.folder, "cells/told-1/reach-left.json").write_text("{")
        _, said = self.run_study("--seed", "1", "--method", "told")
        self.assertEqual(said.count("told, seed 1"), 1)

    def test_a_training_that_fails_says_why(self):
        folder = pathlib.Path(self.folder, "refused")
        folder.mkdir()
        (folder / "demos.h5").touch()
        with self.assertRaisesRegex(work.Failed, "training told, seed 1: facet train: no such th"):
            self.run_study("--out", str(folder), "--method", "told", "--seed", "1")

    def test_a_missing_program_is_named(self):
        with self.assertRaisesRegex(work.Failed, "/no/facet: No such file"):
            self.run_study("--facet", "/no/facet", "--method", "told", "--seed", "1")

    def test_episodes_end_at_the_limit(self):
        done, steps = evaluate.run_episode(LineWorld("reach"), lambda _: [0.0], "right", None, 20)
        self.assertEqual((done, steps), (False, 20))


class Tables(unittest.TestCase):
    def cells(self):
        return [{"method": "told", "seed": seed, "pair": list(pair), "episodes": 10,
                 "success": 10 - seed, "agent_seconds": 0.1, "steps_taken": [5, 5],
                 "seconds": 1.0} for seed in (1, 2) for pair in tasks.pairs()]

    def test_rates_are_over_trials_and_ranges_over_seeds(self):
        results = table.document(self.cells(), {}, {})
        training = results["methods"][0]["training"]
        count = len(tasks.training())
        self.assertEqual((training["success"], training["trials"]), (17 * count, 20 * count))
        self.assertEqual((training["seed_least"], training["seed_most"]), (0.8, 0.9))
        self.assertEqual(results["methods"][0]["step_ms"], 10.0)

    def test_markdown_marks_what_is_held_out_and_has_no_gaps(self):
        text = table.markdown(table.document(self.cells(), {}, {}))
        for pair in tasks.pairs():
            star = "*" if pair in tasks.held_out() else ""
            self.assertIn(f"| {tasks.text(pair)}{star} | 17/20 |", text)
        self.assertIn("| Told the task, one network | 2 | 85.0 (", text)
        for block in text.split("\n\n"):
            self.assertEqual(len({line.count("|") for line in block.strip().splitlines()}), 1)

    def test_a_skill_without_held_out_pairs_has_a_dash(self):
        self.assertEqual(table.cell_text(table.rate([])), "—")


class Failures(unittest.TestCase):
    def refused(self, *arguments, **environment):
        done = subprocess.run([EXAMPLE / "run.sh", *arguments], capture_output=True, text=True,
                              env={**os.environ, **environment})
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_without_pypi_one_line_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder, "python3")
            python.write_text("#!/bin/sh\necho 'no PyPI here' >&2\nexit 1\n")
            python.chmod(0o755)
            said = self.refused(FACET_METAWORLD_VENV=f"{folder}/venv",
                                PATH=f"{folder}:{os.environ['PATH']}")
        self.assertEqual(said, "metaworld: no virtual environment: no PyPI here\n")

    def test_numbers_below_one_are_refused(self):
        for words in (["--episodes", "0"], ["--seed", "0"], ["--episodes", "1001"]):
            with self.assertRaises(SystemExit) as left, contextlib.redirect_stderr(io.StringIO()):
                study.arguments(words)
            self.assertEqual(left.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
