"""Vehicles: the parameters of a quadrotor."""
from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from facet import _check, _runtime


@dataclass(frozen=True)
class Vehicle:
    """A quadrotor. `Vehicle.load()` is Facet's own racer; docs/quadrotor.md gives its sources."""

    mass: float
    """kg"""
    inertia: tuple[float, float, float]
    """kg m², about the body's axes"""
    arm: float
    """m, from the centre to a rotor's axis"""
    thrust_max: float
    """N a motor"""
    torque_ratio: float
    """m, a rotor's drag torque over its thrust"""
    motor_lag: float
    """s, time constant of a motor's thrust; 0 is an ideal motor"""
    drag: tuple[float, float, float]
    """1/s, linear drag along the body's axes, over mass"""
    gravity: float
    """m/s²"""

    @classmethod
    def load(cls, path: _check.Path | None = None) -> Vehicle:
        """Reads a JSON file such as vehicles/racer.json; without one, the racer."""
        numbers = np.empty(12)
        _runtime.vehicle(numbers, None if path is None else _check.path(path))
        mass, jx, jy, jz, arm, thrust, torque, lag, dx, dy, dz, gravity = numbers.tolist()
        return cls(mass, (jx, jy, jz), arm, thrust, torque, lag, (dx, dy, dz), gravity)

    def _numbers(self) -> NDArray[np.float64]:
        """As the runtime takes them, in the order of the fields."""
        return np.hstack([np.asarray(field, dtype=np.float64) for field in astuple(self)])


def numbers(vehicle: Vehicle | None) -> NDArray[np.float64]:
    """A vehicle's 12 numbers; None is the racer."""
    return (vehicle or Vehicle.load())._numbers()
