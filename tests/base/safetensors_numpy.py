#!/usr/bin/env python3
"""An independent reader and writer of the safetensors format, in numpy alone.

    safetensors_numpy.py check FILE   the sample that tests/base/test_safetensors.c writes
    safetensors_numpy.py write FILE   the same sample, written here
    safetensors_numpy.py halves FILE  every half, and floats that round to halves, as numpy has them
    safetensors_numpy.py parse FILE   any file: its structure alone
"""
import json
import struct
import sys

import numpy as np

TYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64, "U8": np.uint8}


def read(path):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    data = raw[8 + length :]
    metadata = header.pop("__metadata__", {})
    assert all(isinstance(value, str) for value in metadata.values())
    assert length % 8 == 0
    tensors, end = {}, 0
    for name, info in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = info["data_offsets"]
        dtype = np.dtype(TYPES[info["dtype"]]).newbyteorder("<")
        assert begin == end and begin % dtype.itemsize == 0, name
        tensors[name] = np.frombuffer(data[begin:stop], dtype).reshape(info["shape"])
        end = stop
    assert end == len(data)
    return metadata, tensors


def write(path, metadata, tensors):
    header, data = {"__metadata__": metadata}, b""
    for name, value in tensors.items():
        kind = next(key for key, dtype in TYPES.items() if dtype == value.dtype)
        header[name] = {
            "dtype": kind,
            "shape": list(value.shape),
            "data_offsets": [len(data), len(data) + value.nbytes],
        }
        data += value.tobytes()
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def sample():
    numbers = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / np.float32(7)
    return {"title": "Zürich \"quoted\"\nline", "empty": ""}, {
        "numbers": numbers,
        "halves": numbers.reshape(24)[:5].astype(np.float16),
        "counter": np.array([1 << 40, -1], np.int64),
        "bytes": np.arange(3, dtype=np.uint8),
        "scalar": np.array(0.25, np.float32),
    }


def main():
    mode, path = sys.argv[1:]
    if mode == "write":
        write(path, *sample())
    elif mode == "check":
        metadata, tensors = read(path)
        expected_metadata, expected = sample()
        assert metadata == expected_metadata, metadata
        assert set(tensors) == set(expected)
        for name, value in expected.items():
            assert tensors[name].dtype == value.dtype and tensors[name].shape == value.shape, name
            assert tensors[name].tobytes() == value.tobytes(), name
    elif mode == "halves":
        bits = np.random.default_rng(1).integers(0, 1 << 32, 200000, np.uint64).astype(np.uint32)
        floats = bits.view(np.float32)
        half = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
        finite = half[np.isfinite(half)].astype(np.float32)
        middle = (finite[1:] + finite[:-1]) * np.float32(0.5)  # ties
        around = [np.nextafter(middle, np.float32(side)) for side in (-np.inf, np.inf)]
        floats = np.concatenate([floats, middle, *around])
        floats = floats[np.isfinite(floats)]
        with np.errstate(over="ignore"):
            rounded = floats.astype(np.float16)
        write(path, {}, {
            "all": np.where(np.isfinite(half), half, np.float16(0)).astype(np.float32),
            "floats": floats,
            "rounded": rounded.view(np.uint8),
        })
    elif mode == "parse":
        read(path)


main()
