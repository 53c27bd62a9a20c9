"""Policies: load and sample."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from facet import _check, _runtime
from facet._agent import Agent, Observation, by_key
from facet._error import Error

Task = Union[str, "tuple[str | None, ...]", Mapping[str, "str | None"]]
"""One task: "race1/wide" or "size=wide,track=race1", ("race1", "wide"), or {"track": "race1"}. A
factor that is left out, None or "*" is open."""

Mode = Literal["composed", "joint", "product", "convex", "interpolate", "router"]
"""How what single factors say becomes one (docs/studies.md), or all factors at once."""

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
    observations: dict[str, tuple[int, ...]]
    """What it observes at a step, by key: (width,) of numbers, (height, width, 3) of an image.
    Empty for a policy that acts blind."""
    observe_steps: int
    """Steps of them that it looks back on."""
    execute: int
    """Actions of a plan that an agent carries out before it plans anew."""
    frame_shape: tuple[int, int, int] | None
    """(height, width, 3) of the camera's frame, for a policy that observes that alone, or None."""

    def __init__(self, path: _check.Path) -> None:
        self.path = os.fspath(path)
        self._handle = _runtime.policy_load(_check.path(path))
        about = _runtime.policy_about(self._handle)
        shapes = list(about["observations"].values())
        shape: tuple[int, ...] = ()
        if len(shapes) == 1 and about["observe_steps"] == 1:
            shape = shapes[0]
        self.frame_shape = (shape[0], shape[1], shape[2]) if len(shape) == 3 else None
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
        mode: Mode = "composed",
        sampler: Literal["ddim", "dpmpp"] = "ddim",
        temperature: float = 0.0,
        weights: ArrayLike | Mapping[str, float] | None = None,
        observation: Observation | None = None,
        threads: int = 0,
    ) -> NDArray[np.float64]:
        """Samples plans: an array (plans, horizon, dim) in the units of the demonstrations.

        task: one task, of which `count` plans are sampled, or a list of tasks, one a plan. A factor
            left open is not shown to the policy.
        steps: of denoising; 0 for the policy's own number.
        seed: of the starting noise, or one a plan. Plans of one call that have the same task and
            seed start from other noise each; what else is in the call changes nothing.
        mode: "composed" adds up what each factor does alone; "joint" shows all factors at once;
            "product", "convex" and "interpolate" have weights of their own, and "router" those of
            the policy's router, if it has one.
        sampler: "ddim", or "dpmpp" for DPM-Solver++ 2M.
        temperature: scale of the starting noise; 0 for the policy's own.
        weights: of the factors, in their order or by name; None for the mode's own.
        observation: for a policy that takes observations, an array for every key, or one array for
            its only key: (plans, observe_steps, …) from the oldest step to the newest, or
            (observe_steps, …) for all plans alike, with the shapes of `observations`, numbers or
            uint8 images. The axis of the steps may be missing when there is one.
        threads: that share the work, 0 for one a processor. They change no bit.
        """
        tasks = self._tasks(task, _check.integer(count, "count", 1))
        plans = len(tasks)
        actions = np.empty((plans, self.horizon, self.dim))
        seeds = _seeds(seed, plans)
        numbers, images = self._observed(observation, plans)
        factors = None if weights is None else self._weights(weights)
        steps = _check.integer(steps, "steps", 0, self.noise_steps)
        temperature = _check.number(temperature, "temperature")
        place = (os.getpid(), _check.integer(threads, "threads", 0, 256))
        room, runner = self._take_runner(place, plans)
        try:
            _runtime.runner_sample(actions, runner, b"".join(tasks), numbers, images, seeds,
                                   factors, mode, sampler, steps, temperature)
        finally:
            self._idle[place].append((room, runner))
        return actions

    def agent(
        self,
        task: Task,
        *,
        steps: int = 0,
        seed: int = 1,
        episode: int = 0,
        execute: int = 0,
        mode: Mode = "composed",
        sampler: Literal["ddim", "dpmpp"] = "ddim",
        temperature: float = 0.0,
        weights: ArrayLike | Mapping[str, float] | None = None,
        threads: int = 1,
    ) -> Agent:
        """An agent that acts on observations: `action = agent(observation)`, in a loop.

        execute: actions of a plan to carry out before the next one, 1 to `horizon`; 0 for the
            policy's own number.
        episode: which noise of the seed it plans with, from 0; `agent.reset` begins another one.
        threads: that share a plan, 0 for one a processor; small networks are fastest on one.
        The others are those of `sample`.
        """
        factors = None if weights is None else self._weights(weights)
        handle = _runtime.agent_create(
            self._handle, self._task(task), factors, mode, sampler,
            _check.integer(steps, "steps", 0, self.noise_steps),
            _check.number(temperature, "temperature"),
            _check.integer(execute, "execute", 0, self.horizon),
            _check.integer(seed, "seed", 0, _SEED_MOST),
            _check.integer(episode, "episode", 0, 2**32 - 1),
            _check.integer(threads, "threads", 0, 256))
        return Agent(self, handle, task)

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

    def _observed(
        self, observation: Observation | None, plans: int
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.uint8] | None]:
        """The numbers (plans, observe_steps, numbers of a step) and the images (plans,
        observe_steps, images of a step, height, width, 3) that are observed, None of what the
        policy does not take."""
        if observation is None or not self.observations:
            if (observation is None) == (not self.observations):
                return None, None
            raise Error(f"observation: expected {', '.join(self.observations) or 'none'}, found "
                        f"{'none' if observation is None else 'one'}")
        given = by_key(observation, self.observations)
        wrong = [key for key in given if key not in self.observations]
        if wrong:
            known = ", ".join(self.observations)
            raise Error(f"observation: no observation '{wrong[0]}', known: {known}", "not found")
        numbers = [self._steps(given[key], key, plans) for key, shape in self.observations.items()
                   if len(shape) == 1]
        images = [self._steps(given[key], key, plans)[:, :, np.newaxis]
                  for key, shape in self.observations.items() if len(shape) == 3]
        return _joined(numbers), _joined(images)

    def _steps(self, given: ArrayLike, key: str, plans: int) -> NDArray[Any]:
        """What is observed of a key, (plans, observe_steps, …)."""
        shape, steps = self.observations[key], self.observe_steps
        array = np.asarray(given, dtype=np.float64 if len(shape) == 1 else None)
        if len(shape) == 3 and array.dtype != np.uint8:
            raise Error(f"observation '{key}': expected uint8, found {array.dtype}")
        wanted = (plans, steps, *shape)
        if steps == 1 and array.shape in (shape, (plans, *shape)):
            array = np.expand_dims(array, -1 - len(shape))
        if array.shape in (wanted, wanted[1:]):
            return np.broadcast_to(array, wanted)
        raise Error(f"observation '{key}': expected the shape {wanted} or {wanted[1:]}, found "
                    f"{array.shape}")


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any] | None:
    """Keys side by side; one alone is not copied when it need not be."""
    if not parts:
        return None
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2))


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
