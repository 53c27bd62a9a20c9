"""Demonstrations by Meta-World's scripted experts, as an HDF5 file in robomimic's layout.

What is executed is the expert's action with noise, so that states beside its path are seen; what is
recorded is the action it wanted. An episode that does not succeed is left out and counted.
"""
import json
import os
import random

import tasks

LIMIT = 150  # steps an expert has
HOLD = 10  # steps that a demonstration goes on after success
NOISE = 0.2  # of the actions' bound: the most that an episode's noise has as standard deviation
MEMORY = 0.8  # of the noise, from step to step
TRAINING = "training"  # the filter of demonstrations of pairs that are not held out


class Disturbance:
    """Noise for x, y and z that lasts some steps. Every episode has a level of its own, evenly
    from none to the most."""

    def __init__(self, *key):
        self.random = random.Random("/".join(str(part) for part in key))
        self.level = NOISE * self.random.random()
        self.value = [self.level * self.random.gauss(0.0, 1.0) for _ in range(3)]

    def next(self):
        value = self.value
        fresh = self.level * (1.0 - MEMORY ** 2) ** 0.5
        self.value = [MEMORY * old + fresh * self.random.gauss(0.0, 1.0) for old in value]
        return value


def episode(world, pair, seed, number):
    """The observations and the expert's actions of one episode, or None when it failed."""
    import numpy

    noise = Disturbance(seed, *pair, number)
    observation = world.reset(pair[1], tasks.start(tasks.TRAINING, seed, pair, number))
    observations, actions, left = [], [], None
    for _ in range(LIMIT + HOLD):
        action = world.expert(observation)
        observations.append(observation)
        actions.append(action)
        moved = action + numpy.array([*noise.next(), 0.0])
        observation, success = world.step(numpy.clip(moved, -1.0, 1.0))
        if success and left is None:
            left = HOLD
        if left == 0:
            return numpy.array(observations), numpy.array(actions)
        left = None if left is None else left - 1
    return None


def record_pair(job):
    """The demonstrations of one pair and the number of episodes left out."""
    from world import World

    pair, seed, count = job
    world, demos, number = World(pair[0]), [], 0
    while len(demos) < count:
        demo = episode(world, pair, seed, number)
        number += 1
        if demo is not None:
            demos.append(demo)
    return pair, demos, number - count


def write(path, recorded, seed):
    """The file appears whole or not at all."""
    import h5py

    from world import KEYS

    with h5py.File(f"{path}.part", "w") as file:
        data, number, shown = file.create_group("data"), 0, []
        for pair, demos, _ in recorded:
            for observations, actions in demos:
                if pair in tasks.training():
                    shown.append(f"demo_{number}")
                demo = data.create_group(f"demo_{number}")
                demo.attrs["num_samples"] = len(actions)
                for factor, value in zip(tasks.FACTORS, pair):
                    demo.attrs[factor] = value
                demo["actions"] = actions
                for key, part in KEYS.items():
                    demo[f"obs/{key}"] = observations[:, part]
                number += 1
        file[f"mask/{TRAINING}"] = [name.encode() for name in shown]
        data.attrs["total"] = sum(len(actions) for _, demos, _ in recorded for _, actions in demos)
        data.attrs["factors"] = json.dumps(tasks.FACTORS)
        data.attrs["env_args"] = json.dumps(
            {"env_name": "metaworld", "seed": seed, "noise": NOISE, "limit": LIMIT, "hold": HOLD,
             "left_out": {tasks.text(pair): lost for pair, _, lost in recorded}})
    os.replace(f"{path}.part", path)
