"""Flights: a plan flown closed loop at 600 Hz by carrot, SE(3) controller and quadrotor."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from facet import _check, _course, _runtime, _vehicle
from facet._course import PLAN_SHAPE, Course, CourseTask
from facet._error import Error
from facet._vehicle import Vehicle

RATE = 600.0  # simulation steps a second


class Gate(NamedTuple):
    """How a flight went past a gate."""

    name: str
    crossed: bool
    """Its plane was crossed near the gate, in the right direction."""
    passed: bool
    """And within the half-width."""
    miss: float
    """m from the centre at the crossing, or the least distance if never crossed."""
    time: float
    """s, of the crossing."""
    speed: float
    """m/s, at the crossing."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A flight: its record, n samples at equal steps of time, and its outcome."""

    time: NDArray[np.float64]
    """(n,), s"""
    position: NDArray[np.float64]
    """(n, 3), m, world"""
    attitude: NDArray[np.float64]
    """(n, 4), quaternion w, x, y, z that rotates body vectors into the world"""
    velocity: NDArray[np.float64]
    """(n, 3), m/s, world"""
    rate: NDArray[np.float64]
    """(n, 3), rad/s, body"""
    thrust: NDArray[np.float64]
    """(n, 4), N a motor: front left, rear left, rear right, front right"""
    progress: NDArray[np.float64]
    """(n,), m along the plan"""
    gates: list[Gate]
    """In the order of the track."""
    end: Literal["finished", "crashed", "timed out", "given up"]
    crash: str
    """"none", "ground", "bounds", "attitude" or "nonfinite"."""
    duration: float
    """s"""
    speed_mean: float
    """m/s, flown"""
    error_mean: float
    """m, distance from the plan's path"""
    error_max: float
    """m"""

    @property
    def passed(self) -> int:
        """Gates passed."""
        return sum(gate.passed for gate in self.gates)

    @property
    def crashed(self) -> bool:
        """Whether it ended in a crash."""
        return self.end == "crashed"


def fly(
    plan: ArrayLike,
    course: Course,
    task: CourseTask,
    *,
    start: ArrayLike | None = None,
    vehicle: Vehicle | None = None,
    preset: str = "race",
    gusts: float = 0.0,
    seed: int = 1,
    give_up: float = 0.0,
    interval: float = 0.01,
) -> Trace:
    """Flies a plan through the gates of a task.

    plan: (32, 4), keypoints of x, y, z (m, world) and speed (m/s), such as `policy.sample(task)[0]`
        of a policy of the race study, or `course.expert(track, speed)`.
    start: the plan (32, 4) that the vehicle starts on, at its first keypoint and speed; the plan
        itself if None. The study starts every flight on the expert's plan.
    vehicle: Facet's racer if None.
    preset: of the controller, "race" or "soft".
    gusts: m/s, standard deviation of the wind on each axis; seed: of the gusts.
    give_up: m; a gate missed by more than this ends the flight; 0 flies on.
    interval: s between samples of the record, at least 1/600.
    """
    if not isinstance(course, Course):
        raise TypeError(f"course: expected a facet.Course, found {course!r}")
    keypoints = _check.floats(plan, "plan", PLAN_SHAPE)
    first = keypoints if start is None else _check.floats(start, "start", PLAN_SHAPE)
    if _check.number(interval, "interval") < 1.0 / RATE:
        raise Error(f"interval: expected at least 1/600 s, found {interval:g}")
    flight = _runtime.fly(
        course._handle, _course.task_text(task), keypoints, first, _vehicle.numbers(vehicle),
        preset, _check.number(gusts, "gusts"), _check.integer(seed, "seed", 0, 2**64 - 1),
        _check.number(give_up, "give_up"), float(interval))
    states = np.frombuffer(flight.pop("states")).reshape(-1, 17)
    return Trace(
        time=np.frombuffer(flight.pop("times")), position=states[:, 0:3], attitude=states[:, 3:7],
        velocity=states[:, 7:10], rate=states[:, 10:13], thrust=states[:, 13:17],
        progress=np.frombuffer(flight.pop("arcs")), gates=[Gate(*gate) for gate in
                                                           flight.pop("gates")], **flight)
