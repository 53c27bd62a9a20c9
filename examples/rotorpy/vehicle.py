"""A vehicle of Facet's (vehicles/*.json) as the parameters of a RotorPy multirotor."""
import json
import math

import numpy

GRAVITY = 9.81      # m/s^2: RotorPy has no other
SPEED_MAX = 2000.0  # rad/s: any would do, thrust and drag are scaled to it
LAG_LEAST = 1e-4    # s: RotorPy divides by the lag

# Facet's default for a field that a file leaves out (docs/quadrotor.md).
DEFAULTS = {"mass": 0.5, "inertia": [0.0017, 0.0014, 0.0029], "arm": 0.125, "thrust_max": 5.65,
            "torque_ratio": 0.022, "motor_lag": 0.033, "drag": [0.544, 0.386, 0.0],
            "gravity": 9.81}


class Unsuitable(Exception):
    """A vehicle that RotorPy cannot have."""


def load(file):
    with open(file, encoding="utf-8") as text:
        vehicle = {**DEFAULTS, **json.load(text)}
    if abs(vehicle["gravity"] - GRAVITY) > 1e-9:
        raise Unsuitable(f"{file}: gravity: RotorPy has {GRAVITY}, found {vehicle['gravity']}")
    return vehicle


def rotor_places(arm):
    """In Facet's order: front left, rear left, rear right, front right."""
    lever = arm / math.sqrt(2.0)
    signs = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    return {f"r{i + 1}": lever * numpy.array([x, y, 0.0]) for i, (x, y) in enumerate(signs)}


def rotorpy_parameters(vehicle):
    """RotorPy's quad_params.

    Facet's drag does not depend on the rotors and differs along x and y. RotorPy's linear drag is
    the rotors', k_d (x and y) and k_z (z) times their speed: here Facet's in hover. The vehicle
    flies nose first, so that of x counts.
    """
    mass, drag = vehicle["mass"], vehicle["drag"]
    thrust_factor = vehicle["thrust_max"] / SPEED_MAX**2
    hover = math.sqrt(mass * GRAVITY / 4.0 / thrust_factor)  # rad/s
    inertia = dict(zip(("Ixx", "Iyy", "Izz"), vehicle["inertia"]))
    return {
        "mass": mass, **inertia, "Ixy": 0.0, "Ixz": 0.0, "Iyz": 0.0,
        "num_rotors": 4, "rotor_pos": rotor_places(vehicle["arm"]),
        "rotor_directions": numpy.array([1, -1, 1, -1]),
        "rotor_speed_min": 0.0, "rotor_speed_max": SPEED_MAX,
        "k_eta": thrust_factor, "k_m": vehicle["torque_ratio"] * thrust_factor,
        "k_d": mass * drag[0] / (4.0 * hover),
        "k_z": mass * drag[2] / (4.0 * hover),
        "k_h": 0.0, "k_flap": 0.0, "c_Dx": 0.0, "c_Dy": 0.0, "c_Dz": 0.0,
        "tau_m": max(vehicle["motor_lag"], LAG_LEAST),
    }
