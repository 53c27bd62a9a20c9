#!/usr/bin/env python3
"""Checks what the study rests on with Meta-World itself: run.sh --check."""
import json
import pathlib
import tempfile
import unittest

import h5py
import numpy

import evaluate
import record
import tasks
from world import KEYS, World

START = (0.03, 0.65)


class Worlds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worlds = {skill: World(skill) for skill in tasks.SKILLS}

    def test_a_start_looks_the_same_for_every_skill_and_goal(self):
        first = self.worlds["reach"].reset("left", START)
        for world in self.worlds.values():
            for goal in tasks.GOALS:
                found = world.reset(goal, START)
                self.assertTrue(numpy.array_equal(found, first), (world.skill, goal))

    def test_an_episode_leaves_nothing_to_the_next(self):
        for world in self.worlds.values():
            starts = []
            for _ in range(2):
                starts.append(world.reset("right", START))
                for _ in range(30):
                    last, _ = world.step(world.expert(starts[-1]))
                starts.append(last)
            self.assertTrue(numpy.array_equal(starts[0], starts[2]))
            self.assertTrue(numpy.array_equal(starts[1], starts[3]))

    def test_the_goal_is_hidden(self):
        for world in self.worlds.values():
            observation = world.reset("right", START)
            for _ in range(5):
                self.assertTrue(numpy.all(observation[-3:] == 0.0))
                observation, _ = world.step(world.expert(observation))

    def test_the_same_actions_look_the_same_for_every_skill(self):
        """The scenes do not differ, only the judges. Push begins its solver from another height of
        the object, which is worth some nanometres."""
        looks = []
        for world in self.worlds.values():
            world.reset("right", START)
            for step in range(40):
                observation, _ = world.step([0.3, 0.5, -1.0 if step < 20 else 0.5, 0.5])
            looks.append(observation)
        for look in looks:
            self.assertLess(numpy.abs(look - looks[0]).max(), 1e-7)

    def test_experts_succeed(self):
        for skill, world in self.worlds.items():
            for goal in tasks.GOALS:
                start = tasks.start(tasks.TRAINING, 99, (skill, goal), 0)
                done, steps = evaluate.run_episode(world, world.expert, goal, start)
                self.assertTrue(done, (skill, goal, steps))

    def test_nothing_succeeds_by_staying(self):
        for skill, world in self.worlds.items():
            for goal in tasks.GOALS:
                done, _ = evaluate.run_episode(world, lambda _: [0.0] * 4, goal, START, 20)
                self.assertFalse(done, (skill, goal))


class Demonstrations(unittest.TestCase):
    def test_a_file_is_the_same_twice_and_hides_the_goal(self):
        pair, contents = ("push", "left"), []
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                path = pathlib.Path(folder, f"{name}.h5")
                record.write(str(path), [record.record_pair((pair, 5, 2))], 5)
                contents.append(path.read_bytes())
            with h5py.File(path) as file:
                demo = file["data/demo_1"]
                count = demo.attrs["num_samples"]
                self.assertEqual(json.loads(file["data"].attrs["factors"]), tasks.FACTORS)
                self.assertEqual((demo.attrs["skill"], demo.attrs["goal"]), pair)
                self.assertEqual(demo["actions"].shape, (count, 4))
                self.assertLessEqual(numpy.abs(demo["actions"][:]).max(), 1.0)
                self.assertEqual({key: demo["obs"][key].shape for key in demo["obs"]},
                                 {key: (count, part.stop - part.start)
                                  for key, part in KEYS.items()})
        self.assertEqual(contents[0], contents[1])


if __name__ == "__main__":
    unittest.main()
