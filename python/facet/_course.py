"""Courses: tracks through gates, openings, and the expert that flies them."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from facet import _check, _runtime, _vehicle
from facet._error import Error
from facet._vehicle import Vehicle

CourseTask = Union[str, "tuple[str, ...]", Mapping[str, str]]
"""One task of a course: "race1/wide", ("race1", "wide") or {"track": "race1", "size": "wide"}."""

PLAN_SHAPE = (32, 4)
"""A plan that flies: keypoints of x, y, z (m, world) and speed (m/s)."""


@dataclass(frozen=True, eq=False)
class Track:
    """A path through gates, in the order they are flown."""

    name: str
    description: str
    points: NDArray[np.float64]
    """(points, 3), m: start, gates and turning points, finish"""
    gates: list[str]
    centers: NDArray[np.float64]
    """(gates, 3), m"""
    normals: NDArray[np.float64]
    """(gates, 3), unit, the direction of passage"""


class Course:
    """Gates in an arena, tracks through them, and openings. Made by `Course.load`, and constant."""

    tracks: dict[str, Track]
    openings: dict[str, float]
    """The half-width of every opening, m."""
    arena: NDArray[np.float64]
    """(2, 3), m: the least corner and the greatest; the ground is the lower z."""
    speed_range: tuple[float, float]
    """m/s, in which the expert searches."""
    held_out: list[tuple[str, str]]
    """The tasks left out of training."""

    def __init__(self, folder: _check.Path | None = None) -> None:
        self._handle = _runtime.course_load(None if folder is None else _check.path(folder))
        about = _runtime.course_about(self._handle)
        self.tracks = {track[0]: _track(*track) for track in about["tracks"]}
        self.openings = about["openings"]
        self.arena = np.array(about["arena"])
        self.speed_range = about["speed_range"]
        self.held_out = about["held_out"]

    @classmethod
    def load(cls, folder: _check.Path | None = None) -> Course:
        """Reads a folder such as courses/. Without one, the courses of the folder that the
        environment's FACET_DATA names, or those that came with the package."""
        return cls(folder)

    def __repr__(self) -> str:
        return f"<facet.Course: tracks {', '.join(self.tracks)}; sizes {', '.join(self.openings)}>"

    def expert(self, track: str, speed: float) -> NDArray[np.float64]:
        """The expert's plan (32, 4) of a track at one speed (m/s): x, y, z in m, and the speed."""
        plan = np.empty(PLAN_SHAPE)
        _runtime.course_expert(plan, self._handle, track, _check.number(speed, "speed"))
        return plan

    def speeds(self, *, vehicle: Vehicle | None = None, preset: str = "race",
               threads: int = 0) -> NDArray[np.float64]:
        """The highest speed (m/s) at which the expert clears every gate: an array (tracks,
        openings) in their order, NaN where there is none. Takes a second or two."""
        speeds = np.empty((len(self.tracks), len(self.openings)))
        _runtime.course_speeds(speeds, self._handle, _vehicle.numbers(vehicle), preset,
                               _check.integer(threads, "threads", 0, 256))
        return speeds


def _track(name: str, description: str, points: list[tuple[float, float, float]],
           gates: list[tuple[str, Any, Any]]) -> Track:
    names, centers, normals = zip(*gates)
    return Track(name, description, np.array(points), list(names), np.array(centers),
                 np.array(normals))


def task_text(task: CourseTask) -> str:
    """A task as the runtime reads it: TRACK/OPENING."""
    if isinstance(task, str):
        return task
    if isinstance(task, Mapping):
        if set(task) != {"track", "size"}:
            raise Error(f"task: expected a track and a size, found {', '.join(task) or 'nothing'}")
        task = (task["track"], task["size"])
    if not isinstance(task, tuple):
        raise TypeError(f"task: expected a str, a tuple or a dict, found {task!r}")
    return "/".join(map(_check.word, task))
