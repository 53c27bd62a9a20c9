"""Courses and flights."""
import dataclasses
import os

import numpy as np
import pytest
from conftest import RACE, ROOT

import facet

TASK = "race4/wide"


@pytest.fixture(scope="module")
def speeds(course):
    return course.speeds()


def test_a_course_says_what_it_is(course):
    assert list(course.tracks) == [f"race{i}" for i in range(1, 9)]
    assert course.openings == {"narrow": 0.3, "standard": 0.762, "wide": 1.0}
    assert course.arena.shape == (2, 3)
    assert course.speed_range == (1.0, 10.0)
    assert ("race1", "wide") in course.held_out
    track = course.tracks["race8"]
    assert track.description == "U-turn"
    assert track.centers.shape == track.normals.shape == (len(track.gates), 3)
    assert np.allclose(np.linalg.norm(track.normals, axis=1), 1.0)
    assert track.points.shape[1] == 3
    assert "race8" in repr(course)


def test_courses_are_of_the_package_a_folder_or_the_environment(course, monkeypatch, tmp_path):
    assert list(facet.Course.load(ROOT / "courses").tracks) == list(course.tracks)
    few = tmp_path / "courses"
    few.mkdir()
    text = (ROOT / "courses/course.json").read_text()
    head, _, _ = text.rpartition('"held_out"')
    (few / "course.json").write_text(head + '"held_out": []}')
    track = (ROOT / "courses/race8.json").read_text()
    (few / "only.json").write_text(track.replace("race8", "only"))
    monkeypatch.setenv("FACET_DATA", str(tmp_path))
    assert list(facet.Course.load().tracks) == ["only"]


def test_the_experts_speeds_are_those_of_the_program(course, speeds, program):
    cells = program("speeds", "--courses", ROOT / "courses", "--quiet")["tasks"]
    wanted = [np.nan if cell["speed"] is None else cell["speed"] for cell in cells]
    np.testing.assert_array_equal(speeds.ravel(), wanted)
    assert speeds.shape == (len(course.tracks), len(course.openings))


@pytest.mark.parametrize("gusts", [0.0, 1.5])
def test_a_flight_is_that_of_the_program(course, speeds, policy, program, gusts):
    document = program("fly", "--policy", RACE, "--task", TASK, "--gusts", gusts, "--seed", 3,
                       "--quiet")
    wanted = document["tasks"][0]
    expert = course.expert("race4", speeds[3, 2])
    plan = policy.sample(TASK, seed=3)[0]
    trace = facet.fly(plan, course, TASK, start=expert, gusts=gusts, seed=3)
    assert [gate._asdict() for gate in trace.gates] == [
        {"name": gate.pop("gate"), **gate} for gate in wanted["gate_results"]]
    assert (trace.duration, trace.end, trace.crash) == (
        wanted["duration"], wanted["end"], wanted["crash"])
    assert trace.passed == wanted["passed"]
    assert trace.speed_mean == wanted["speed_flown"]


def test_a_trace_has_samples_at_equal_steps(course):
    plan = course.expert("race8", 4.0)
    trace = facet.fly(plan, course, ("race8", "standard"), interval=0.05)
    n = len(trace.time)
    np.testing.assert_allclose(trace.time, 0.05 * np.arange(n), atol=1.01 / 600)
    shapes = {"time": (n,), "position": (n, 3), "attitude": (n, 4), "velocity": (n, 3),
              "rate": (n, 3), "thrust": (n, 4), "progress": (n,)}
    for name, shape in shapes.items():
        array = getattr(trace, name)
        assert (array.shape, array.dtype, array.flags.writeable) == (shape, np.float64, True), name
    assert n == int(trace.duration / 0.05) + 1
    assert trace.position.base is trace.velocity.base  # views of one record
    np.testing.assert_allclose(trace.position[0], plan[0, :3])
    np.testing.assert_allclose(np.linalg.norm(trace.velocity[0]), 4.0)
    np.testing.assert_allclose(np.linalg.norm(trace.attitude, axis=1), 1.0)
    assert (np.diff(trace.progress) >= 0).all()
    assert (trace.end, trace.crashed, trace.passed) == ("finished", False, 2)


def test_a_record_has_every_step_when_asked(course):
    plan = course.expert("race4", 2.0)  # longer than a slice of the simulation
    trace = facet.fly(plan, course, TASK, interval=1 / 600)
    assert len(trace.time) == round(600 * trace.duration) + (trace.end == "finished")
    assert len(trace.time) > 8192
    np.testing.assert_allclose(np.diff(trace.time), 1 / 600)
    coarse = facet.fly(plan, course, TASK, interval=0.1)
    np.testing.assert_array_equal(coarse.position[:9], trace.position[:541:60][:9])


def test_a_crash_is_data(course):
    plan = course.expert("race8", 4.0)
    plan[:, 2] = np.linspace(2.0, -2.0, 32)
    trace = facet.fly(plan, course, "race8/wide")
    assert (trace.end, trace.crash, trace.crashed) == ("crashed", "ground", True)
    assert trace.position[-1, 2] < 1.0


def test_gusts_follow_the_seed(course):
    plan = course.expert("race8", 4.0)
    flights = [facet.fly(plan, course, "race8/narrow", gusts=2.0, seed=s) for s in (1, 1, 2)]
    assert np.array_equal(flights[0].position, flights[1].position)
    assert flights[0].gates[0].miss != flights[2].gates[0].miss


def test_a_vehicle_is_plain_numbers(course, tmp_path):
    racer = facet.Vehicle.load(ROOT / "vehicles/racer.json")
    assert racer == facet.Vehicle.load()
    assert (racer.mass, len(racer.inertia), racer.gravity) == (0.5, 3, 9.81)
    plan = course.expert("race8", 6.0)
    heavy = dataclasses.replace(racer, mass=1.2)
    light = facet.fly(plan, course, "race8/wide")
    assert facet.fly(plan, course, "race8/wide", vehicle=heavy).error_mean > light.error_mean
    bad = tmp_path / "bad.json"
    bad.write_text('{"mass": -1}')
    with pytest.raises(facet.Error, match="bad.json: mass: expected"):
        facet.Vehicle.load(bad)


def test_a_flight_may_give_up(course):
    plan = course.expert("race8", 4.0)
    plan[:, 2] += 1.5
    trace = facet.fly(plan, course, {"track": "race8", "size": "narrow"}, give_up=0.5)
    assert trace.end == "given up"


@pytest.mark.parametrize("wrong, line", [
    ({"plan": np.zeros((1, 32, 4))}, r"plan: expected the shape \(32, 4\), found \(1, 32, 4\)"),
    ({"plan": np.full((32, 4), np.nan)}, "finite"),
    ({"plan": np.zeros((32, 4))}, "length"),
    ({"start": np.zeros((2, 2))}, r"start: expected the shape \(32, 4\), found \(2, 2\)"),
    ({"task": "race9/wide"}, "no track 'race9'.* known: race1"),
    ({"task": ("race1", "huge")}, "no opening 'huge'.*: narrow"),
    ({"task": {"track": "race1"}}, "task: expected a track and a size, found track"),
    ({"preset": "hard"}, "hard.*race, soft"),
    ({"gusts": -1.0}, "gusts: expected a number of at least 0, found -1"),
    ({"interval": 0.001}, "interval: expected at least 1/600 s, found 0.001"),
    ({"seed": -1}, "seed: expected 0 to"),
])
def test_what_is_wrong_gets_one_line(course, wrong, line):
    plan = course.expert("race8", 4.0)
    with pytest.raises(facet.Error, match=line):
        facet.fly(**{"plan": plan, "course": course, "task": "race8/wide", **wrong})


def test_a_course_that_is_none_is_named(course, tmp_path):
    with pytest.raises(facet.Error, match="course.json") as caught:
        facet.Course.load(tmp_path)
    assert caught.value.code == "not found"
    with pytest.raises(facet.Error, match="no track 'race0'.* known: race1"):
        course.expert("race0", 4.0)
    with pytest.raises(TypeError, match="expected a facet.Course"):
        facet.fly(course.expert("race8", 4.0), os.fspath(ROOT / "courses"), "race8/wide")
