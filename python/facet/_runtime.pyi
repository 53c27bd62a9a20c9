"""The runtime on handles and buffers. What is written comes first."""
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Handle = object
_Floats = NDArray[np.float64]

def version() -> str:
    """The version of the runtime, such as "0.1.0"."""

def policy_load(path: bytes, /) -> _Handle: ...
def policy_about(policy: _Handle, /) -> dict[str, Any]: ...
def policy_task(policy: _Handle, text: str, /) -> bytes: ...
def runner_create(policy: _Handle, plans: int, threads: int, /) -> _Handle: ...
def runner_sample(
    actions: _Floats,
    runner: _Handle,
    tasks: bytes,
    numbers: NDArray[np.float64] | None,
    images: NDArray[np.uint8] | None,
    seeds: NDArray[np.uint64],
    weights: _Floats | None,
    mode: str,
    sampler: str,
    steps: int,
    temperature: float,
    /,
) -> None: ...
def agent_create(
    policy: _Handle,
    task: bytes,
    weights: _Floats | None,
    mode: str,
    sampler: str,
    steps: int,
    temperature: float,
    execute: int,
    seed: int,
    episode: int,
    threads: int,
    /,
) -> _Handle: ...
def agent_observe(agent: _Handle, key: str, numbers: _Floats, /) -> None: ...
def agent_observe_image(
    agent: _Handle, key: str, rgb: NDArray[np.uint8], width: int, height: int, /
) -> None: ...
def agent_act(action: _Floats, agent: _Handle, /) -> None: ...
def agent_set_task(agent: _Handle, task: bytes, /) -> None: ...
def agent_reset(agent: _Handle, episode: int, /) -> None: ...
def agent_about(agent: _Handle, /) -> dict[str, Any]: ...
def course_load(folder: bytes | None, /) -> _Handle: ...
def course_about(course: _Handle, /) -> dict[str, Any]: ...
def course_expert(plan: _Floats, course: _Handle, track: str, speed: float, /) -> None: ...
def course_speeds(
    speeds: _Floats, course: _Handle, vehicle: _Floats, preset: str, threads: int, /
) -> None: ...
def vehicle(numbers: _Floats, path: bytes | None, /) -> None: ...
def fly(
    course: _Handle,
    task: str,
    plan: _Floats,
    start: _Floats,
    vehicle: _Floats,
    preset: str,
    gusts: float,
    seed: int,
    give_up: float,
    interval: float,
    /,
) -> dict[str, Any]: ...
