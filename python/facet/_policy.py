"""Policies: load and sample."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from facet import _check, _runtime
from facet._error import Error

Task = Union[str, "tuple[str | None, ...]", Mapping[str, "str | None"]]
"""One task: "race1/wide" or "size=wide,track=race1", ("race1", "wide"), or {"track": "race1"}. A
factor that is left out, None or "*" is open."""

_SEED_MOST = 2**64 - 1


class Policy:
    """A trained policy, made by `facet.load`. It is constant: any number of threads may sample
    from it at once."""

    path: str
    """Its file."""
    factors: dict[str, list[str]]
    """The values of every factor, in the order of a task's text."""
    known: dict[str, list[str]]
    """Of them, those that training showed. A task with another is refused."""
    training: list[tuple[str, ...]]
    """The tasks it was trained on."""
    held_out: list[tuple[str, ...]]
    """The tasks held out of training."""
    method: str
    """"factored", "baseline", "knet" or "oracle"."""
    horizon: int
    """Actions of a plan."""
    dim: int
    """Numbers of an action."""
    default_steps: int
    """Denoising steps of sampling when none are asked for."""
    default_temperature: float
    """Scale of the starting noise when none is asked for."""
    noise_steps: int
    """Of training; no sampling takes more."""
    networks: int
    """Networks it has: 1, or those of "knet"."""
    parameters: int
    """Numbers that were trained."""
    frame_shape: tuple[int, int, int] | None
    """(height, width, 3) of the camera's frames, or None for a policy that does not see."""

    def __init__(self, path: _check.Path) -> None:
        self.path = os.fspath(path)
        self._handle = _runtime.policy_load(_check.path(path))
        about = _runtime.policy_about(self._handle)
        frame = (about.pop("frame_height"), about.pop("frame_width"), 3)
        self.frame_shape = frame if about.pop("sees") else None
        self.__dict__.update(about)  # it has the names of the other attributes
        # Runners that no call uses now, by (process, threads): a forked process has no threads.
        self._idle: dict[tuple[int, int], list[tuple[int, object]]] = {}

    def __repr__(self) -> str:
        factors = " x ".join(f"{name} ({len(values)})" for name, values in self.factors.items())
        return (f"<facet.Policy {self.path}: {self.method}, {factors}, "
                f"{self.horizon} x {self.dim}>")

    def sample(
        self,
        task: Task | Sequence[Task],
        count: int = 1,
        *,
        steps: int = 0,
        seed: int | ArrayLike = 1,
        mode: Literal["composed", "joint"] = "composed",
        sampler: Literal["ddim", "dpmpp"] = "ddim",
        temperature: float = 0.0,
        weights: ArrayLike | Mapping[str, float] | None = None,
        frames: ArrayLike | None = None,
        threads: int = 0,
    ) -> NDArray[np.float64]:
        """Samples plans: an array (plans, horizon, dim) in the units of the demonstrations.

        task: one task, of which `count` plans are sampled, or a list of tasks, one a plan. A factor
            left open is not shown to the policy.
        steps: of denoising; 0 for the policy's own number.
        seed: of the starting noise, or one a plan. Plans of one call that have the same task and
            seed start from other noise each; what else is in the call changes nothing.
        mode: "composed" adds up what each factor does alone; "joint" shows all factors at once.
        sampler: "ddim", or "dpmpp" for DPM-Solver++ 2M.
        temperature: scale of the starting noise; 0 for the policy's own.
        weights: of the factors in composed sampling, in their order or by name; None for ones.
        frames: uint8 (plans, height, width, 3) or one (height, width, 3), for a policy that sees.
        threads: that share the work, 0 for one a processor. They change no bit.
        """
        tasks = self._tasks(task, _check.integer(count, "count", 1))
        plans = len(tasks)
        actions = np.empty((plans, self.horizon, self.dim))
        seeds = _seeds(seed, plans)
        shown = self._frames(frames, plans)
        factors = None if weights is None else self._weights(weights)
        steps = _check.integer(steps, "steps", 0, self.noise_steps)
        temperature = _check.number(temperature, "temperature")
        place = (os.getpid(), _check.integer(threads, "threads", 0, 256))
        room, runner = self._take_runner(place, plans)
        try:
            _runtime.runner_sample(actions, runner, b"".join(tasks), shown, seeds, factors, mode,
                                   sampler, steps, temperature)
        finally:
            self._idle[place].append((room, runner))
        return actions

    def _take_runner(self, place: tuple[int, int], plans: int) -> tuple[int, object]:
        """A runner for as many plans that nobody else uses, and how many it is for. Those that are
        for fewer go. Another thread may take the last one at any time."""
        idle = self._idle.setdefault(place, [])
        try:
            while True:
                room, runner = idle.pop()
                if room >= plans:
                    return room, runner
        except IndexError:
            pass
        return plans, _runtime.runner_create(self._handle, plans, place[1])

    def _tasks(self, task: Task | Sequence[Task], count: int) -> list[bytes]:
        if isinstance(task, (str, tuple, Mapping)):
            return [self._task(cast(Task, task))] * count  # a tuple is one task
        if not isinstance(task, Sequence):
            raise TypeError(f"task: expected a task or a list of tasks, found {task!r}")
        if count != 1:
            raise Error(f"count: expected 1 with a list of tasks, one a plan, found {count}")
        if not task:
            raise Error("task: expected a task or a list of tasks, found an empty list")
        return [self._task(one) for one in cast("Sequence[Task]", task)]

    def _task(self, task: Task) -> bytes:
        return _runtime.policy_task(self._handle, self._text(task))

    def _text(self, task: Task) -> str:
        """A task as the runtime reads it."""
        if isinstance(task, str):
            return task
        if isinstance(task, tuple):
            return "/".join(map(_check.word, task))
        if not isinstance(task, Mapping):
            raise TypeError(f"task: expected a str, a tuple or a dict, found {task!r}")
        pairs = [f"{name}={_check.word(value)}" for name, value in task.items()]
        return ",".join(pairs) if pairs else "/".join("*" for _ in self.factors)

    def _weights(self, weights: ArrayLike | Mapping[str, float]) -> NDArray[np.float64]:
        if isinstance(weights, Mapping):
            wrong = [name for name in weights if name not in self.factors]
            if wrong:
                known = ", ".join(self.factors)
                raise Error(f"weights: no factor '{wrong[0]}', known: {known}", "not found")
            weights = [weights.get(name, 1.0) for name in self.factors]
        array = _check.floats(weights, "weights", (len(self.factors),))
        if not np.isfinite(array).all():
            raise Error(f"weights: expected finite numbers, found {array}")
        return array

    def _frames(self, frames: ArrayLike | None, plans: int) -> NDArray[np.uint8] | None:
        if frames is None or self.frame_shape is None:
            if (frames is None) != (self.frame_shape is None):
                wanted = "none" if self.frame_shape is None else f"{self.frame_shape} a plan"
                raise Error(f"frames: expected {wanted}, found "
                            f"{'none' if frames is None else np.shape(frames)}")
            return None
        array = np.asarray(frames, order="C")
        if array.dtype != np.uint8:
            raise Error(f"frames: expected uint8, found {array.dtype}")
        if array.shape == self.frame_shape and plans == 1:
            return array
        if array.shape != (plans, *self.frame_shape):
            raise Error(f"frames: expected the shape {(plans, *self.frame_shape)}, "
                        f"found {array.shape}")
        return array


def _seeds(seed: int | ArrayLike, plans: int) -> NDArray[np.uint64]:
    if np.ndim(seed) == 0:
        return np.full(plans, _check.integer(seed, "seed", 0, _SEED_MOST),  # type: ignore[arg-type]
                       dtype=np.uint64)
    given = np.asarray(seed)
    if given.shape != (plans,) or given.dtype.kind not in "iu" or (given < 0).any():
        raise Error(f"seed: expected a whole number from 0 on, or {plans} of them, "
                    f"found {given.dtype} of the shape {given.shape}")
    return np.ascontiguousarray(given, dtype=np.uint64)


def load(path: _check.Path) -> Policy:
    """Reads a policy's file, such as models/race-factored.safetensors."""
    return Policy(path)
