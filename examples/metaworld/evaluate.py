"""Episodes of one policy and one pair, judged by Meta-World.

A cell is what came of one method, training seed and pair. It is a file of its own, so that a study
that stopped goes on where it was.
"""
import hashlib
import json
import os
import time

import tasks

LIMIT = 150  # steps of an episode
EXPERT = "expert"

worlds, policies = {}, {}  # of this process


def world_of(skill):
    from world import World

    if skill not in worlds:
        worlds[skill] = World(skill)
    return worlds[skill]


def policy_of(path):
    import facet

    if path not in policies:
        policies.clear()
        policies[path] = facet.load(path)
    return policies[path]


def shown(observation):
    """What a policy sees of an observation: never the goal."""
    from world import KEYS

    return {key: observation[KEYS[key]] for key in ("hand", "object")}


class Timed:
    """An agent, and the processor's seconds that its calls took: others may use the machine too."""

    def __init__(self, agent):
        self.agent, self.seconds = agent, []

    def __call__(self, observation):
        begun = time.process_time()
        action = self.agent(observation)
        self.seconds.append(time.process_time() - begun)
        return action


def run_episode(world, act, goal, start, limit=LIMIT):
    """Whether the task was done within the limit, and the steps that were taken."""
    observation = world.reset(goal, start)
    for step in range(limit):
        action = [min(1.0, max(-1.0, float(number))) for number in act(observation)]
        observation, success = world.step(action)
        if success:
            return True, step + 1
    return False, limit


def evaluate(job):
    """Runs the episodes of a cell and returns what came of them."""
    pair, seed = tuple(job["pair"]), job["seed"]
    world, begun = world_of(pair[0]), time.perf_counter()
    timed = None
    if job["policy"] is not None:
        agent = policy_of(job["policy"]).agent(tasks.told(pair, job.get("told")), mode=job["mode"],
                                               steps=job["steps"], seed=seed)
        timed = Timed(agent)
    episodes = []
    for number in range(job["episodes"]):
        if timed:
            agent.reset(episode=1000 * tasks.pairs().index(pair) + number)
        act = (lambda observation: timed(shown(observation))) if timed else world.expert
        start = tasks.start(tasks.EVALUATION, seed, pair, number)
        episodes.append(run_episode(world, act, pair[1], start, job["limit"]))
    return {**job, "success": sum(done for done, _ in episodes),
            "steps_taken": [steps for _, steps in episodes],
            "done": [done for done, _ in episodes],
            "agent_seconds": sum(timed.seconds) if timed else None,
            "seconds": round(time.perf_counter() - begun, 2)}


# ---- Files ---------------------------------------------------------------------------------------

def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:16]


def cell_path(folder, job):
    return os.path.join(folder, "cells", f"{job['method']}-{job['seed']}",
                        "-".join(job["pair"]) + ".json")


def read_cell(folder, job):
    """The cell of this very job, or None when there is none: another policy, number of episodes,
    limit or way of sampling is another job."""
    try:
        with open(cell_path(folder, job), encoding="utf-8") as text:
            cell = json.load(text)
    except (OSError, ValueError):
        return None
    return cell if all(cell.get(key) == value for key, value in job.items()) else None


def write_json(path, document):
    """The file appears whole or not at all."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(f"{path}.part", "w", encoding="utf-8") as text:
        json.dump(document, text, indent=1)
        text.write("\n")
    os.replace(f"{path}.part", path)


def evaluate_and_keep(work):
    folder, job, about = work
    cell = {**evaluate(job), **about}
    write_json(cell_path(folder, job), cell)
    return cell
