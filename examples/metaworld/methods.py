"""The methods of the study and how each is trained. All have the same network, updates and batch.

Nothing here needs Meta-World.
"""
import dataclasses
import math

import tasks

OBSERVE = ("hand", "object")
OBSERVE_STEPS, HORIZON, EXECUTE = 2, 8, 4
BLOCKS, CHANNELS, EMBED = 3, 96, 8
BATCH, UPDATES, LONG = 64, 16000, 40000


@dataclasses.dataclass(frozen=True)
class Method:
    id: str
    name: str
    options: tuple  # of facet train
    mode: str  # of sampling
    steps: int = 0  # of denoising a plan; 0 for the policy's own number
    channels: int = CHANNELS  # of the network
    embed: int = EMBED
    hidden: tuple = ()  # training pairs that it is not shown
    updates: int = 0  # of its training; 0 for those of all
    policy: str = ""  # of another method, which this one only asks otherwise
    told: str = ""  # the one factor that it is told; "" for all


METHODS = {method.id: method for method in (
    Method("baseline", "Not told the task", ("--method", "baseline"), "joint"),
    Method("told", "Told the task, one network", ("--method", "factored", "--drop", "0"), "joint"),
    Method("factored", "Factored, the paper's loss, composed",
           ("--method", "factored", "--drop", "0.1"), "composed"),
    Method("ours", "Factored, composed loss, composed",
           ("--method", "factored", "--composed-loss", "10", "--drop", "skill=0,goal=0.3"),
           "composed"),
    Method("oracle", "Told the task, saw every pair", ("--method", "oracle", "--drop", "0"),
           "joint"),
)}
MAIN = tuple(METHODS)
for id in ("told", "ours"):  # controls
    METHODS[f"{id}-unshared"] = dataclasses.replace(
        METHODS[id], id=f"{id}-unshared", name=f"{METHODS[id].name}; no goal shared",
        hidden=tuple(tasks.unshared()))
for id in MAIN:  # an update of "ours" takes about as long as 2.5 of the others
    METHODS[f"{id}-long"] = dataclasses.replace(
        METHODS[id], id=f"{id}-long", name=f"{METHODS[id].name}; {LONG} updates", updates=LONG)
for factor in tasks.FACTORS:  # what composition adds to one factor
    METHODS[f"{factor}-alone"] = dataclasses.replace(
        METHODS["ours"], id=f"{factor}-alone", name=f"{METHODS['ours'].name}; told the {factor} alone",
        policy="ours", told=factor)


def train_command(facet, method, data, out, seed, updates, hold_out):
    """The arguments that train a policy without the pairs `hold_out`."""
    words = [facet, "train", "--data", data, "--out", out, "--json", f"{out}.json",
             "--observe", ",".join(OBSERVE), "--observe-steps", OBSERVE_STEPS,
             "--horizon", HORIZON, "--execute", EXECUTE, "--blocks", BLOCKS,
             "--channels", method.channels, "--embed", method.embed, "--updates", updates,
             "--batch", BATCH, "--seed", seed, "--resume", "--quiet", *method.options]
    for pair in hold_out:
        words += ["--hold-out", tasks.text(pair)]
    return [str(word) for word in words]


def wilson(success, trials, z=1.959963984540054):
    """The bounds of a rate at 95 %."""
    if trials == 0:
        return None, None
    rate, square = success / trials, z * z
    middle = (rate + square / (2 * trials)) / (1 + square / trials)
    half = z / (1 + square / trials) * math.sqrt(rate * (1 - rate) / trials
                                                 + square / (4 * trials * trials))
    return max(0.0, middle - half), min(1.0, middle + half)
