"""Agents: policies that act on observations."""
import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import ROOT, built_program

import facet

COURSES = ROOT / "tests/race/sample"
TINY = ["--blocks", "1", "--channels", "8", "--embed", "4", "--updates", "4", "--batch", "4",
        "--quiet"]


@pytest.fixture(scope="session")
def observer(tmp_path_factory):
    """A policy that observes `state`, 13 numbers of the last two steps, and executes 3 of 8."""
    folder = tmp_path_factory.mktemp("observer")

    def run(*arguments):
        subprocess.run([built_program(), *arguments], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)

    run("demos", "--courses", COURSES, "--quiet", "--rollouts", "1", "--out", "demos.h5")
    run("train", "--data", "demos.h5", "--out", "policy", "--observe", "state", "--horizon", "8",
        "--execute", "3", *TINY)
    return facet.load(folder / "policy")


def states(count):
    return np.random.default_rng(1).uniform(-1, 1, (count, 13))


def acts(agent, rows):
    return np.array([agent(row) for row in rows])


def test_a_policy_says_what_it_observes(observer, seeing_policy, policy):
    assert observer.observations == {"state": (13,)}
    assert list(seeing_policy.observations) == ["frame"]
    assert seeing_policy.observations["frame"] == seeing_policy.frame_shape
    assert policy.observations == {}


def test_it_plans_when_its_chunk_is_used_up(observer):
    rows, agent = states(7), observer.agent("bend/small")
    actions = acts(agent, rows)
    assert (actions.shape, actions.dtype) == ((7, 4), np.float64)
    assert np.isfinite(actions).all()
    times = agent.times
    assert (times.acts, times.plans) == (7, 3)  # at steps 0, 3 and 6
    assert 0 < times.plan_mean <= times.plan_max
    every = observer.agent("bend/small", execute=1)
    assert (acts(every, rows)[0] == actions[0]).all()
    assert every.times.plans == 7


def test_the_chunk_comes_from_the_last_two_steps(observer):
    rows = states(5)
    first = acts(observer.agent("bend/small"), rows)
    changed = rows.copy()
    changed[1] += 0.5  # looked at by nobody: plans are made at steps 0 and 3
    assert (acts(observer.agent("bend/small"), changed) == first).all()
    for step, same in ((0, 0), (2, 3), (3, 3)):
        changed = rows.copy()
        changed[step] += 0.5
        actions = acts(observer.agent("bend/small"), changed)
        assert (actions[:same] == first[:same]).all() and (actions[same] != first[same]).any()


def test_the_same_episode_has_the_same_bits(observer):
    rows, agent = states(6), observer.agent("bend/small", seed=3, episode=5)
    first = acts(agent, rows)
    agent.reset(6)
    assert (acts(agent, rows) != first).any()
    agent.reset(5)
    assert (acts(agent, rows) == first).all()
    assert (acts(observer.agent("bend/small", seed=3, episode=5, threads=2), rows) == first).all()
    assert (acts(observer.agent("bend/small", seed=4, episode=5), rows) != first).any()


def test_another_task_plans_anew(observer):
    rows, agent = states(3), observer.agent("bend/small")
    agent(rows[0])
    agent.task = "straight/large"
    assert agent.task == "straight/large"
    action = agent(rows[1])
    assert agent.times.plans == 2
    with pytest.raises(facet.Error, match="no bends 'zebra'|no .* 'zebra'"):
        agent.task = "zebra/large"
    assert agent.task == "straight/large"
    assert (action != observer.agent("bend/small")(rows[0])).any()


def test_it_takes_what_becomes_float64(observer):
    row = np.round(8 * states(1)[0]) / 8  # which float32 holds
    first = observer.agent("bend/small")(row)
    for given in (row.tolist(), row.astype(np.float32), {"state": row}, np.tile(row, (2, 1)).T[:, 0]):
        assert (observer.agent("bend/small")(given) == first).all()


def test_images_are_those_of_sampling(seeing_policy):
    """The first plan of episode 0 starts from noise 0, as does that of the task that says nothing."""
    frame = np.random.default_rng(2).integers(0, 256, seeing_policy.frame_shape, dtype=np.uint8)
    plan = seeing_policy.sample({}, observation=frame[None], seed=7, steps=2)[0]
    action = seeing_policy.agent({}, seed=7, steps=2)({"frame": frame})
    assert action.tobytes() == plan[0].tobytes()


@pytest.fixture(scope="session")
def looker(tmp_path_factory):
    """A policy that observes `place`, two numbers, and two cameras, in an order of its own."""
    folder = tmp_path_factory.mktemp("looker")
    written = subprocess.run(["/usr/bin/python3", ROOT / "tests/train/write_robot.py", folder],
                             capture_output=True)
    if written.returncode != 0:
        pytest.skip("no h5py to write demonstrations with")
    subprocess.run([built_program(), "train", "--data", "eyes_16x12.h5", "--out", "policy",
                    "--observe", "below,place,above", "--horizon", "4", "--execute", "2", *TINY],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return facet.load(folder / "policy")


def looks(count):
    rng = np.random.default_rng(3)
    return {"place": rng.uniform(-1, 1, (count, 2)),
            "above": rng.integers(0, 256, (count, 12, 16, 3), dtype=np.uint8),
            "below": rng.integers(0, 256, (count, 12, 16, 3), dtype=np.uint8)}


def test_a_policy_that_observes_is_sampled_too(observer, looker):
    """What an agent plans at its second step, of numbers and of images."""
    row = states(1)[0]
    plan = observer.sample({}, observation=[row, row], seed=7)[0]
    assert acts(observer.agent({}, seed=7), [row] * 3).tobytes() == plan[:3].tobytes()
    seen = looks(1)
    twice = {key: np.repeat(rows, 2, axis=0) for key, rows in seen.items()}
    agent = looker.agent({}, seed=7)
    plan = looker.sample({}, observation=twice, seed=7)
    assert agent({key: rows[0] for key, rows in seen.items()}).tobytes() == plan[0, 0].tobytes()


def test_plans_may_observe_the_same_or_each_its_own(looker):
    both = {key: np.stack([rows[:2], rows[2:]]) for key, rows in looks(4).items()}
    first = {key: rows[0] for key, rows in both.items()}
    plans = looker.sample("left/low", 2, observation=both, seed=[1, 1], steps=2)
    alike = looker.sample("left/low", 2, observation=first, seed=[1, 1], steps=2)
    assert (plans[0] == alike[0]).all() and (plans[1] != alike[1]).any()
    for key in both:  # each of them matters
        other = {**both, key: both[key][::-1]}
        assert (looker.sample("left/low", 2, observation=other, seed=[1, 1], steps=2)
                != plans).any()


@pytest.mark.parametrize("change, words", [
    ({"place": np.zeros((2, 3))}, r"observation 'place': expected the shape \(1, 2, 2\) or"),
    ({"above": np.zeros((2, 12, 16, 3))}, "observation 'above': expected uint8, found float64"),
    ({"place": np.full((2, 2), np.nan)}, "expected finite numbers"),
    ({"wrist": np.zeros(2)}, "no observation 'wrist', known: below, place, above"),
])
def test_wrong_observations_of_a_sampling_are_refused(looker, change, words):
    with pytest.raises(facet.Error, match=words):
        looker.sample("left/low", observation={**looks(2), **change})
    with pytest.raises(facet.Error, match="expected 'below', found place"):
        looker.sample("left/low", observation={"place": np.zeros((2, 2))})
    with pytest.raises(facet.Error, match="expected a dict of below, place, above, found one arr"):
        looker.sample("left/low", observation=np.zeros((2, 2)))


@pytest.mark.parametrize("observation, words", [
    (np.zeros(12), r"observation 'state': expected the shape \(13,\), found \(12,\)"),
    (np.zeros((1, 13)), r"expected the shape \(13,\), found \(1, 13\)"),
    (0.0, r"expected the shape \(13,\), found \(\)"),
    (np.full(13, np.nan), "observation 'state': expected finite numbers, found nan at 0"),
    ({"state": np.zeros(13), "stat": np.zeros(13)}, "no observation 'stat', did you mean 'state'"),
    ({}, "observation: expected 'state', found none"),
    ({"place": np.zeros(13)}, "observation: expected 'state', found place"),
])
def test_wrong_observations_are_refused(observer, observation, words):
    rows, agent = states(3), observer.agent("bend/small")
    first = acts(agent, rows)
    agent.reset()
    actions = [agent(rows[0])]
    with pytest.raises(facet.Error, match=words):
        agent(observation)
    actions += [agent(rows[1]), agent(rows[2])]  # it is as before
    assert (np.array(actions) == first).all()


def test_wrong_images_are_refused(seeing_policy):
    agent = seeing_policy.agent({}, steps=1)
    height, width, _ = shape = seeing_policy.frame_shape
    for image in (np.zeros(shape), np.zeros((width, height, 3), np.uint8),
                  np.zeros((height, width), np.uint8)):
        with pytest.raises(facet.Error, match="observation 'frame': expected uint8 of the shape"):
            agent(image)


@pytest.mark.parametrize("how, words", [
    ({"execute": 9}, "execute"),
    ({"execute": -1}, "execute"),
    ({"episode": -1}, "episode"),
    ({"episode": 2**32}, "episode"),
    ({"steps": 101}, "steps"),
    ({"mode": "both"}, "no mode 'both'"),
    ({"sampler": "euler"}, "no sampler 'euler'"),
    ({"temperature": -1.0}, "temperature"),
    ({"weights": [1.0]}, "weights"),
])
def test_wrong_settings_are_refused(observer, how, words):
    with pytest.raises(facet.Error, match=words):
        observer.agent("bend/small", **how)


def test_blind_policies_have_no_agents(policy, observer):
    with pytest.raises(facet.Error, match="found one that acts blind: sample its plans"):
        policy.agent("race2/wide")
    with pytest.raises(facet.Error, match="observation: expected state, found none"):
        observer.sample("bend/small")


def slow_act(seeing_policy):
    """An agent and a thread in which it plans for a while."""
    agent = seeing_policy.agent({}, steps=seeing_policy.noise_steps)
    frame = np.zeros(seeing_policy.frame_shape, np.uint8)
    agent(frame)  # warm
    inside = threading.Event()

    def act():
        inside.set()
        for _ in range(20):
            agent(frame)

    worker = threading.Thread(target=act)
    worker.start()
    inside.wait()
    return agent, frame, worker


def test_acting_releases_the_interpreter(seeing_policy):
    agent, _, worker = slow_act(seeing_policy)
    ticks, most = 0, agent.times.plans if not worker.is_alive() else None
    while worker.is_alive():
        ticks += 1
        time.sleep(0.0005)
    assert most is None and ticks > 25  # more than the gaps between 20 acts would let through


def test_an_agent_acts_in_one_thread_at_a_time(seeing_policy):
    agent, frame, worker = slow_act(seeing_policy)
    refused = 0
    while worker.is_alive() and not refused:
        try:
            agent.reset()
        except RuntimeError as error:
            refused += "acting in another thread" in str(error)
        time.sleep(0.0005)
    worker.join()
    assert refused
    agent(frame)  # and is well afterwards


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_makes_its_own(observer):
    row, agent = states(1)[0], observer.agent("bend/small", threads=2)
    first = agent(row)
    child = os.fork()
    if child == 0:
        try:
            agent(row)
        except RuntimeError as error:
            well = "belongs to another process" in str(error)
            own = observer.agent("bend/small", threads=2)
            os._exit(0 if well and (own(row) == first).all() else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    agent(row)


def test_the_loop_of_the_document_runs(tmp_path):
    """docs/your-robot.md from its demonstrations to its loop, with a small training."""
    text = (ROOT / "docs/your-robot.md").read_text()
    blocks = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, re.S))
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import h5py"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip(f"{python} has no h5py")
    subprocess.run([python, "-c", blocks["demos.py"]], cwd=tmp_path, check=True)
    subprocess.run([built_program(), "train", "--data", "robot.h5", "--out", "robot.safetensors",
                    "--observe", "place", "--horizon", "8", *TINY], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL)
    out = subprocess.run([sys.executable, "-c", blocks["loop.py"]], cwd=tmp_path, check=True,
                         capture_output=True, text=True).stdout
    assert re.fullmatch(r"at -?[\d.]+ -?[\d.]+, [\d.]+ ms a plan\n", out)
