"""Factored diffusion policies: load one, sample plans for any combination of factors, fly them.

    import facet

    policy = facet.load("models/race-factored.safetensors")
    plans = policy.sample("race1/wide", count=8)             # (8, 32, 4): x, y, z in m, m/s
    trace = facet.fly(plans[0], facet.Course.load(), "race1/wide")
    print(trace.passed, "of", len(trace.gates), "gates")

Everything is SI and radians. Arrays are float64, rows first. The same seed gives the same bits at
any number of threads, and those of the program `facet`. Calls that take a while release the
interpreter's lock and can be interrupted. What goes wrong raises `facet.Error` with one line.
"""
from facet._agent import Agent, Times
from facet._course import Course, Track
from facet._error import Error
from facet._flight import Gate, Trace, fly
from facet._policy import Policy, load
from facet._runtime import version
from facet._vehicle import Vehicle

__all__ = ["Agent", "Course", "Error", "Gate", "Policy", "Times", "Trace", "Track", "Vehicle", "fly",
           "load", "version"]
__version__ = version()
