"""Loading a policy and sampling from it."""
import pickle

import numpy as np
import pytest
from conftest import GATE, RACE

import facet

STEPS = 3  # enough to tell plans apart


def equal(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def test_a_policy_says_what_it_is(policy):
    assert list(policy.factors) == ["track", "size"]
    assert policy.factors["track"] == [f"race{i}" for i in range(1, 9)]
    assert policy.factors["size"] == ["narrow", "standard", "wide"]
    assert policy.known == policy.factors
    assert (policy.horizon, policy.dim, policy.method) == (32, 4, "factored")
    assert 1 <= policy.default_steps <= policy.noise_steps
    assert policy.default_temperature > 0
    assert (policy.networks, policy.frame_shape) == (1, None)
    assert policy.parameters > 4_000_000
    assert ("race1", "wide") in policy.held_out
    assert not set(policy.held_out) & set(policy.training)
    assert str(RACE) in repr(policy)


def test_plans_are_arrays_of_float64(policy):
    plans = policy.sample("race2/wide", count=2, steps=STEPS)
    assert (plans.shape, plans.dtype) == ((2, 32, 4), np.float64)
    assert plans.flags.c_contiguous and plans.flags.writeable and plans.flags.owndata
    assert np.isfinite(plans).all()
    assert not equal(plans[0], plans[1])


@pytest.mark.parametrize("how", [
    {},
    {"steps": 4, "seed": 2**40 + 1, "count": 3},
    {"steps": STEPS, "mode": "joint", "sampler": "dpmpp", "temperature": 0.7},
])
def test_plans_have_the_bits_of_the_program(policy, program, how):
    words = [word for name, value in how.items() for word in (f"--{name}", value)]
    document = program("sample", "--policy", RACE, "--task", "race2/wide", *words)
    plans = document["samples"] if "samples" in document else [document["actions"]]
    assert equal(policy.sample("race2/wide", **how), np.array(plans))


def test_every_form_of_a_task_is_the_same(policy):
    forms = ["race2/wide", "size=wide,track=race2", ("race2", "wide"),
             {"size": "wide", "track": "race2"}]
    plans = [policy.sample(form, steps=STEPS) for form in forms]
    assert all(equal(plan, plans[0]) for plan in plans)


def test_a_factor_left_out_is_open(policy):
    forms = ["race2/*", "track=race2", ("race2", None), {"track": "race2"},
             {"track": "race2", "size": None}]
    plans = [policy.sample(form, steps=STEPS) for form in forms]
    assert all(equal(plan, plans[0]) for plan in plans)
    assert equal(policy.sample({}, steps=STEPS), policy.sample("*/*", steps=STEPS))
    assert not equal(plans[0], policy.sample("race2/wide", steps=STEPS))


def test_a_mix_has_the_plans_sampled_singly(policy):
    tasks = ["race2/wide", ("race8", "narrow"), {"track": "race5"}]
    mixed = policy.sample(tasks, steps=STEPS)
    for plan, task in zip(mixed, tasks):
        assert equal(plan[None], policy.sample(task, steps=STEPS))


def test_threads_change_no_bit(policy):
    plans = [policy.sample("race2/wide", count=5, steps=STEPS, threads=n) for n in (0, 1, 2, 3)]
    assert all(equal(other, plans[0]) for other in plans)


def test_a_plan_may_have_its_own_seed(policy):
    plans = policy.sample("race2/wide", count=2, steps=STEPS, seed=np.array([5, 9]))
    assert equal(plans[:1], policy.sample("race2/wide", steps=STEPS, seed=5))
    assert equal(plans[1:], policy.sample("race2/wide", steps=STEPS, seed=9))
    largest = 2**64 - 1
    assert not equal(policy.sample("race2/wide", steps=STEPS, seed=largest), plans[:1])


def test_weights_scale_what_a_factor_does(policy):
    plain = policy.sample("race2/wide", steps=STEPS)
    assert equal(plain, policy.sample("race2/wide", steps=STEPS, weights=[1, 1]))
    doubled = policy.sample("race2/wide", steps=STEPS, weights=[1, 2])
    assert not equal(plain, doubled)
    assert equal(doubled, policy.sample("race2/wide", steps=STEPS, weights={"size": 2}))


def test_a_policy_that_sees_takes_frames(seeing_policy):
    height, width, channels = seeing_policy.frame_shape
    assert channels == 3
    task = seeing_policy.training[0]
    frames = np.arange(2 * height * width * 3).reshape(2, height, width, 3).astype(np.uint8)
    frames[1] //= 2
    plans = seeing_policy.sample(task, count=2, steps=STEPS, observation=frames, seed=[1, 1])
    assert plans.shape == (2, seeing_policy.horizon, seeing_policy.dim)
    one = seeing_policy.sample(task, steps=STEPS, observation=frames[0])
    assert equal(one, plans[:1])
    turned = np.asfortranarray(frames)
    assert equal(plans, seeing_policy.sample(task, count=2, steps=STEPS, observation=turned))
    with pytest.raises(facet.Error, match=r"'frame': expected the shape .*found \(1, 2, 2, 3\)"):
        seeing_policy.sample(task, observation=np.zeros((1, 2, 2, 3), np.uint8))
    with pytest.raises(facet.Error, match="observation 'frame': expected uint8, found float64"):
        seeing_policy.sample(task, observation=np.zeros((height, width, 3)))
    with pytest.raises(facet.Error, match="observation: expected frame, found none"):
        seeing_policy.sample(task)


@pytest.mark.parametrize("wrong, line", [
    ({"task": "rcae1/wide"}, "no track 'rcae1', did you mean 'race1'. known: race1, race2"),
    ({"task": ("race1", "huge")}, "no size 'huge'.*: narrow, standard, wide"),
    ({"task": {"colour": "red"}}, "no factor 'colour'.*: track, size"),
    ({"task": ("race1",)}, "expected track/size, found 1 value"),
    ({"task": ""}, "expected a task"),
    ({"task": []}, "expected a task or a list of tasks, found an empty list"),
    ({"task": ["race2/wide", "race3/wide"], "count": 2}, "count: expected 1 with a list"),
    ({"count": 0}, "count: expected 1 to [0-9]*, found 0"),
    ({"steps": 1000}, "steps: expected 0 to [0-9]*, found 1000"),
    ({"steps": -1}, "steps: expected 0 to"),
    ({"seed": -1}, "seed: expected 0 to"),
    ({"seed": 2**64}, "seed: expected 0 to"),
    ({"seed": [1, 2]}, r"seed: .* or 1 of them, found int64 of the shape \(2,\)"),
    ({"seed": [0.5]}, "seed: .* found float64"),
    ({"temperature": -1.0}, "temperature: expected a number of at least 0, found -1"),
    ({"temperature": float("nan")}, "temperature: .* found nan"),
    ({"weights": [1.0]}, r"weights: expected the shape \(2,\), found \(1,\)"),
    ({"weights": [1.0, np.inf]}, "weights: expected finite numbers"),
    ({"weights": {"colour": 2.0}}, "weights: no factor 'colour', known: track, size"),
    ({"mode": "other"}, "'other'.*composed, joint"),
    ({"sampler": "other"}, "'other'.*ddim, dpmpp"),
    ({"threads": 257}, "threads: expected 0 to 256, found 257"),
    ({"observation": np.zeros(4)}, "observation: expected none, found one"),
])
def test_what_is_wrong_gets_one_line(policy, wrong, line):
    with pytest.raises(facet.Error, match=line) as caught:
        policy.sample(**{"task": "race2/wide", "steps": STEPS, **wrong})
    assert caught.value.code in ("bad argument", "not found")
    assert "\n" not in str(caught.value)
    assert policy.sample("race2/wide", steps=STEPS).shape == (1, 32, 4)  # and nothing is lost


@pytest.mark.parametrize("wrong", [{"task": 3}, {"task": ("race1", 2)}, {"task": [3]},
                                   {"count": 1.5}, {"seed": "one"}])
def test_another_type_is_a_type_error(policy, wrong):
    with pytest.raises((TypeError, facet.Error)):
        policy.sample(**{"task": "race2/wide", **wrong})


def test_a_file_that_is_none_is_named(tmp_path):
    with pytest.raises(facet.Error, match="nowhere.safetensors") as caught:
        facet.load(tmp_path / "nowhere.safetensors")
    assert caught.value.code == "not found"
    file = tmp_path / "odd.safetensors"
    file.write_bytes(b"not a policy")
    with pytest.raises(facet.Error, match="odd.safetensors") as caught:
        facet.load(str(file))
    assert caught.value.code == "bad file"
    with pytest.raises(facet.Error, match="path"):
        facet.load("a\0b")


def test_an_error_survives_pickling():
    error = pickle.loads(pickle.dumps(facet.Error("a line", "bad file")))
    assert (str(error), error.code) == ("a line", "bad file")


def test_any_policy_loads():
    assert facet.load(str(GATE)).frame_shape is not None
