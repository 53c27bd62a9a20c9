"""Facet's pilot (pilot.c) as a process that is asked through pipes."""
import subprocess

import numpy

WAYPOINTS = 256
REFERENCE_NUMBERS = 11 * WAYPOINTS  # FacetReference
STATE_NUMBERS = 17                  # FacetQuadState
ADVICE_NUMBERS = 15


class Failed(Exception):
    """What the pilot said before it ended."""


class Reference:
    """A plan's 256 waypoints, by row, and the time at which each is due."""

    def __init__(self, numbers):
        vectors = numpy.split(numbers[:9 * WAYPOINTS], 3)
        self.pos, self.vel, self.acc = (part.reshape(WAYPOINTS, 3) for part in vectors)
        self.yaw, self.arc = numpy.split(numbers[9 * WAYPOINTS:], 2)
        speed = numpy.linalg.norm(self.vel, axis=1)
        mean = numpy.maximum(0.5 * (speed[1:] + speed[:-1]), 0.1)  # as Facet's durations have it
        self.time = numpy.concatenate([[0.0], numpy.cumsum(numpy.diff(self.arc) / mean)])


class Advice:
    """What the carrot asks for, and the thrusts (N) that Facet's controller commands for it."""

    def __init__(self, numbers):
        self.progress = numbers[0]
        self.pos, self.vel, self.acc = numbers[1:4], numbers[4:7], numbers[7:10]
        self.yaw, self.thrust = numbers[10], numbers[11:15]


class Pilot:
    """One flight's pilot; `start` is the state of FacetQuadState to begin with."""

    def __init__(self, program, vehicle_file, plan, expert, start_speed):
        self.process = subprocess.Popen([program, vehicle_file], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.write(numpy.concatenate([numpy.ravel(plan), numpy.ravel(expert), [start_speed]]))
        self.reference = Reference(self.read(REFERENCE_NUMBERS))
        self.start = self.read(STATE_NUMBERS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def write(self, numbers):
        try:
            self.process.stdin.write(numbers.astype(float).tobytes())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the read that follows says why

    def read(self, count):
        data = self.process.stdout.read(8 * count)
        if len(data) != 8 * count:
            _, said = self.process.communicate()
            raise Failed(said.decode().strip() or "the pilot ended early")
        return numpy.frombuffer(data)

    def advise(self, state):
        self.write(state)
        return Advice(self.read(ADVICE_NUMBERS))
