"""Agents: a policy that acts on observations, in a loop."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from facet import _check, _runtime
from facet._error import Error

if TYPE_CHECKING:
    from facet._policy import Policy, Task

Observation = Union[ArrayLike, "Mapping[str, ArrayLike]"]
"""What is observed at one step: an array for every key of the policy, or one array for its only
key."""


def by_key(observation: Observation, keys: Iterable[str]) -> Mapping[str, ArrayLike]:
    """What is observed, for every key."""
    names = list(keys)
    if not isinstance(observation, Mapping):
        if len(names) != 1:
            raise Error(f"observation: expected a dict of {', '.join(names)}, found one array")
        return {names[0]: observation}
    for key in names:
        if key not in observation:
            raise Error(f"observation: expected '{key}', found {', '.join(observation) or 'none'}")
    return observation


class Times(NamedTuple):
    """How long acts took since the agent was made, in seconds of the wall clock."""

    acts: int
    plans: int
    """Of the acts, those that planned."""
    last: float
    """The last act."""
    plan_mean: float
    plan_max: float
    other_max: float
    """The longest act that planned, and the longest that did not."""


class Agent:
    """A policy in a loop, made by `Policy.agent`: it is called with what is observed and returns
    the next action. It plans `policy.horizon` actions, carries out `execute` of them, and plans
    anew. It serves one call at a time."""

    policy: Policy

    def __init__(self, policy: Policy, handle: object, task: Task) -> None:
        self.policy = policy
        self._handle = handle
        self._task = task

    def __call__(self, observation: Observation) -> NDArray[np.float64]:
        """The next action, (dim,) in the units of the demonstrations."""
        for key, given in by_key(observation, self.policy.observations).items():
            self._observe(key, given)
        action = np.empty(self.policy.dim)
        _runtime.agent_act(action, self._handle)
        return action

    def reset(self, episode: int = 0) -> None:
        """Forgets what was observed and begins an episode; its number says which noise it plans
        with."""
        _runtime.agent_reset(self._handle, _check.integer(episode, "episode", 0, 2**32 - 1))

    @property
    def task(self) -> Task:
        """The task. Another one holds from the next call on, which plans anew."""
        return self._task

    @task.setter
    def task(self, task: Task) -> None:
        _runtime.agent_set_task(self._handle, self.policy._task(task))
        self._task = task

    @property
    def times(self) -> Times:
        """How long calls took."""
        return Times(**_runtime.agent_about(self._handle))

    def _observe(self, key: str, given: ArrayLike) -> None:
        shape = self.policy.observations.get(key)
        if shape is None or len(shape) == 1:
            numbers = np.asarray(given, dtype=np.float64, order="C")
            if shape is not None and numbers.shape != shape:
                raise Error(f"observation '{key}': expected the shape {shape}, found "
                            f"{numbers.shape}")
            _runtime.agent_observe(self._handle, key, numbers)
            return
        image = np.asarray(given, order="C")
        if image.dtype != np.uint8 or image.shape != shape:
            raise Error(f"observation '{key}': expected uint8 of the shape {shape}, found "
                        f"{image.dtype} of {image.shape}")
        _runtime.agent_observe_image(self._handle, key, image, shape[1], shape[0])
