"""The tasks of the study: skills x places, which pairs are held out, and where objects start.

Nothing here needs Meta-World.
"""
import hashlib
import math

SKILLS = ("reach", "push", "pick-place")
HAND_START = (0.0, 0.6)  # m: where Meta-World puts the hand, above the table
OBJECT_LOW, OBJECT_HIGH = (-0.1, 0.6), (0.1, 0.7)  # m: where its three environments put the object
HEIGHT = 0.2  # m: of the places of reach and pick-place; those of push are on the table

# Places on an arc around the hand's start, 0.11 m apart, so that none is on the way to another and
# no success in one (within 0.05 m, pick-place 0.07 m) is one in another.
RADIUS = 0.27  # m
GOALS = ("outer-left", "far-left", "left", "mid-left", "middle", "mid-right", "right", "far-right",
         "outer-right")
BEARINGS = {goal: 24.5 * (number - 4) for number, goal in enumerate(GOALS)}  # degrees from ahead
SHARED = ("outer-left", "middle", "outer-right")  # goals that training shows with every skill

FACTORS = {"skill": list(SKILLS), "goal": list(GOALS)}

TRAINING, EVALUATION = 0, 1  # streams of starts
CELLS = 2 ** 32  # along each side of the objects' region, half of them for each stream


def place(goal):
    """x and y (m) of a goal."""
    angle = math.radians(BEARINGS[goal])
    return (HAND_START[0] + RADIUS * math.sin(angle), HAND_START[1] + RADIUS * math.cos(angle))


def pairs():
    return [(skill, goal) for skill in SKILLS for goal in GOALS]


def held_out():
    """Of the goals that are not shared, every other one without push and the rest without
    pick-place. Reach shows all places: there the goal matters from the first step, in the other
    skills only once the object is held."""
    goals = [goal for goal in GOALS if goal not in SHARED]
    return [(SKILLS[1 + number % 2], goal) for number, goal in enumerate(goals)]


def training():
    return [pair for pair in pairs() if pair not in held_out()]


def unshared():
    """Training pairs without which no goal is shown with both push and pick-place."""
    return [("push", SHARED[0]), ("pick-place", SHARED[1]), ("push", SHARED[2])]


def folds():
    """Training pairs that are left out as well, one at a time, while the recipe is chosen: like the
    held-out ones, each has a goal that reach and one skill more show."""
    return [("push", "middle"), ("pick-place", "middle")]


def text(pair):
    return "/".join(pair)


def told(pair, factor=None):
    """The task as a policy is told it: whole, or one factor of it with the others open."""
    return text(value if factor in (None, name) else "*" for name, value in zip(FACTORS, pair))


def draw(*key):
    """An integer in [0, 2^32), the same for the same key everywhere."""
    digest = hashlib.sha256(",".join(str(part) for part in key).encode()).digest()
    return int.from_bytes(digest[:4], "little")


def start(stream, seed, pair, number):
    """Where the object of an episode starts: x and y (m). Along both sides the two streams have
    every other cell of a grid, so that an evaluation never starts where a demonstration did."""
    def along(axis):
        cell = draw("start", stream, seed, *pair, number, axis) // 2 * 2 + stream
        low, high = OBJECT_LOW[axis], OBJECT_HIGH[axis]
        return low + (high - low) * (cell + 0.5) / CELLS
    return along(0), along(1)
