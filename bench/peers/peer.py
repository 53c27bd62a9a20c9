"""What every peer does: read Facet's inputs and outputs, compare, and work on request.

A peer prints one line of JSON about itself once it is prepared, with the difference of its outputs
from Facet's for all work. Then every line "WORK THREADS REPEATS" on stdin is answered by one line,
the milliseconds of each repeat.
"""
import json
import struct
import sys
import time

import numpy as np

TYPES = {"F16": "<f2", "F32": "<f4", "I64": "<i8"}


def load(path):
    """The metadata and the tensors of a safetensors file; halves become floats."""
    with open(path, "rb") as file:
        header, data = json.loads(file.read(*struct.unpack("<Q", file.read(8)))), file.read()
    facts, tensors = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data[first:last], TYPES[entry["dtype"]]).reshape(entry["shape"])
        tensors[name] = numbers.astype(np.int64 if entry["dtype"] == "I64" else np.float32)
    return facts, tensors


def difference(found, expected):
    """The largest, in parts of the largest number expected where that is above one."""
    found, expected = np.asarray(found), np.asarray(expected)
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def milliseconds(function):
    start = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - start)


def serve(works, about):
    """Works are functions by (name, threads)."""
    print(json.dumps(about), flush=True)
    for line in sys.stdin:
        name, threads, repeats = line.split()
        work = works[name, int(threads)]
        print(*(f"{milliseconds(work):.4f}" for _ in range(int(repeats))), flush=True)
