#!/usr/bin/env python3
"""An independent reader of the ONNX models that facet export writes, in numpy alone.

    onnx_numpy.py MODEL CASE

walks MODEL's protobuf fields, checks that the graph is well formed, evaluates its operators, and
compares with CASE, a safetensors file that tests/policy/test_onnx.c writes: the inputs (x, t, z and
context of a score network, image of an encoder), the output (prediction or features), and the
metadata; where CASE has a task, also a composed plan, sampled here by DDIM from the model and its
metadata alone.
"""
import json
import struct
import sys

import numpy as np

TOLERANCE = 1e-4


# ---- Protocol Buffers -----------------------------------------------------------------------


def varint(raw, at):
    value = shift = 0
    while True:
        byte = raw[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            assert shift == 7 or byte, "a varint in its shortest form"
            return value, at


def fields(raw):
    """The fields of a message: {number: [values]}."""
    out, at = {}, 0
    while at < len(raw):
        key, at = varint(raw, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(raw, at)
            value -= (value >> 63) << 64
        elif kind == 2:
            size, at = varint(raw, at)
            value, at = raw[at : at + size], at + size
            assert len(value) == size
        elif kind == 5:
            (value,) = struct.unpack("<f", raw[at : at + 4])
            at += 4
        else:
            raise AssertionError(f"field kind {kind}")
        out.setdefault(key >> 3, []).append(value)
    return out


def text(message, number):
    return message[number][0].decode()


def tensor(raw):
    message = fields(raw)
    assert set(message) <= {1, 2, 8, 9}, message.keys()
    dtype = {1: "<f4", 7: "<i8"}[message[2][0]]
    return text(message, 8), np.frombuffer(message[9][0], dtype).reshape(message.get(1, []))


def attribute(raw):
    message = fields(raw)
    kind = message[20][0]
    value = {1: lambda: message[2][0], 2: lambda: message[3][0], 7: lambda: message[8]}[kind]()
    return text(message, 1), value


def node(raw):
    message = fields(raw)
    assert set(message) <= {1, 2, 3, 4, 5}, message.keys()
    return {
        "inputs": [name.decode() for name in message[1]],
        "outputs": [name.decode() for name in message[2]],
        "name": text(message, 3),
        "op": text(message, 4),
        "attributes": dict(attribute(one) for one in message.get(5, [])),
    }


def value_info(raw):
    message = fields(raw)
    of_tensor = fields(fields(message[2][0])[1][0])
    dims = [fields(dim) for dim in fields(of_tensor[2][0])[1]]
    shape = [dim[1][0] if 1 in dim else text(dim, 2) for dim in dims]
    assert text(message, 3)
    return text(message, 1), (of_tensor[1][0], shape)


class Model:
    def __init__(self, path):
        model = fields(open(path, "rb").read())
        assert model[1] == [8] and fields(model[8][0])[2] == [17]
        assert text(model, 2) == "facet" and text(model, 6)
        entries = [fields(one) for one in model[14]]
        self.metadata = {text(one, 1): text(one, 2) for one in entries}
        assert len(self.metadata) == len(entries)
        graph = fields(model[7][0])
        assert set(graph) <= {1, 2, 5, 11, 12}, graph.keys()
        self.constants = dict(tensor(one) for one in graph[5])
        self.nodes = [node(one) for one in graph[1]]
        self.inputs = dict(value_info(one) for one in graph[11])
        self.outputs = dict(value_info(one) for one in graph[12])
        self.check(len(graph[5]))

    def check(self, constants):
        """Every name is defined once, before it is used, and is used."""
        known = list(self.constants) + list(self.inputs)
        used = set(self.outputs)
        for one in self.nodes:
            assert all(name in known for name in one["inputs"]), one
            known += one["outputs"]
            used.update(one["inputs"])
        assert constants == len(self.constants) and len(known) == len(set(known))
        assert set(known) == used, set(known) ^ used
        assert len({one["name"] for one in self.nodes}) == len(self.nodes)

    def run(self, **inputs):
        assert set(inputs) == set(self.inputs)
        rows = len(next(iter(inputs.values())))
        for name, (kind, shape) in self.inputs.items():
            assert inputs[name].dtype == {1: np.float32, 7: np.int64}[kind], name
            assert list(inputs[name].shape) == [rows if n == "rows" else n for n in shape], name
        values = {**self.constants, **inputs}
        for one in self.nodes:
            results = OPERATORS[one["op"]](*[values[n] for n in one["inputs"]], **one["attributes"])
            results = results if isinstance(results, list) else [results]
            values.update(zip(one["outputs"], results, strict=True))
        (name,) = self.outputs
        kind, shape = self.outputs[name]
        assert kind == 1 and shape[0] == "rows" and list(values[name].shape[1:]) == shape[1:]
        return values[name]


# ---- Operators ------------------------------------------------------------------------------


def windows(x, kernel_shape, pads, strides, border, dilations=None):
    """What each tap of a kernel sees: pairs of its place and an array as large as the result."""
    axes = len(kernel_shape)
    assert len(pads) == 2 * axes and x.ndim == 2 + axes
    padded = np.pad(x, [(0, 0), (0, 0)] + list(zip(pads[:axes], pads[axes:])), constant_values=border)
    dilations = dilations or [1] * axes
    spans = [(k - 1) * d + 1 for k, d in zip(kernel_shape, dilations)]
    sizes = [(n - k) // s + 1 for n, k, s in zip(padded.shape[2:], spans, strides)]
    for tap in np.ndindex(*kernel_shape):
        firsts = [t * d for t, d in zip(tap, dilations)]
        steps = [slice(t, t + s * (n - 1) + 1, s) for t, s, n in zip(firsts, strides, sizes)]
        yield tap, padded[(slice(None), slice(None), *steps)]


def conv(x, weight, bias=None, *, kernel_shape, pads, strides=None, dilations=None):
    assert list(weight.shape[2:]) == kernel_shape
    strides = strides or [1] * len(kernel_shape)
    out = sum(
        np.einsum("oi,ri...->ro...", weight[(slice(None), slice(None), *tap)], seen)
        for tap, seen in windows(x, kernel_shape, pads, strides, 0, dilations)
    )
    return out if bias is None else out + bias.reshape(-1, *[1] * len(kernel_shape))


def max_pool(x, kernel_shape, pads, strides):
    return np.max([seen for _, seen in windows(x, kernel_shape, pads, strides, -np.inf)], axis=0)


def instance_norm(x, scale, bias, epsilon):
    assert x.ndim == 3
    return layer_norm(x, scale[:, None], bias[:, None], 2, epsilon)


def reshape(x, shape):
    return x.reshape([x.shape[i] if n == 0 else n for i, n in enumerate(shape)])


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layer_norm(x, scale, bias, axis, epsilon):
    mean = x.mean(axis, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis, keepdims=True)
    return (x - mean) / np.sqrt(variance + np.float32(epsilon)) * scale + bias


OPERATORS = {
    "Add": np.add,
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Conv": conv,
    "Div": np.divide,
    "Exp": np.exp,
    "Gather": lambda table, index, axis: np.take(table, index, axis),
    "Gemm": lambda a, b, c: a @ b + c,
    "Identity": lambda x: x,
    "InstanceNormalization": instance_norm,
    "LayerNormalization": layer_norm,
    "MatMul": np.matmul,
    "MaxPool": max_pool,
    "Min": np.minimum,
    "Mul": np.multiply,
    "ReduceMean": lambda x, axes, keepdims: x.mean(tuple(axes), keepdims=bool(keepdims)),
    "Relu": lambda x: np.maximum(x, 0),
    "Reshape": reshape,
    "Shape": lambda x: np.array(x.shape),
    "Softmax": softmax,
    "Split": lambda x, sizes, axis: np.split(x, np.cumsum(sizes)[:-1], axis),
    "Sub": np.subtract,
    "Transpose": lambda x, perm: x.transpose(perm),
    "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes)),
}


# ---- Sampling -------------------------------------------------------------------------------


def plan(model, noise, task, context):
    """A composed plan by DDIM, for a policy that predicts v with trailing steps."""
    facts = model.metadata
    assert facts["predict"] == "v" and facts["sample_spacing"] == "trailing"
    signal, clip = json.loads(facts["alpha_bar"]), float(facts["sample_clip"])
    total, count = int(facts["noise_steps"]), int(facts["sample_steps"])
    times = [round(rank * total / count) - 1 for rank in range(count, 0, -1)]
    branches = np.full((1 + len(task), len(task)), -1)
    np.fill_diagonal(branches[1:], task)
    x = noise.astype(np.float64)
    for t, after in zip(times, times[1:] + [None]):
        rows = np.repeat(x[None].astype(np.float32), len(branches), 0)
        seen = {} if context is None else {"context": np.repeat(context, len(branches), 0)}
        p = model.run(x=rows, t=np.full(len(branches), t), z=branches, **seen)
        v = p[0] + (p[1:] - p[0]).sum(0)
        a, b = np.sqrt(signal[t]), np.sqrt(1 - signal[t])
        clean = np.clip(a * x - b * v, -clip, clip)
        eps = (x - a * clean) / b
        left = 1.0 if after is None else signal[after]
        x = np.sqrt(left) * clean + np.sqrt(1 - left) * eps
    low, high = (np.array(json.loads(facts["normalizer"])[end]) for end in ("min", "max"))
    return low * (1 - x) / 2 + high * (1 + x) / 2


def read_case(path):
    raw = open(path, "rb").read()
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    metadata = header.pop("__metadata__")
    types = {"F32": "<f4", "I64": "<i8"}
    return metadata, {
        name: np.frombuffer(data[slice(*one["data_offsets"])], types[one["dtype"]])
        .reshape(one["shape"])
        for name, one in header.items()
    }


def compare(what, found, expected):
    assert found.shape == expected.shape, (what, found.shape, expected.shape)
    worst = np.abs(found - expected).max()
    assert worst <= TOLERANCE, f"{what} differs by {worst}"


def main():
    model, (metadata, case) = Model(sys.argv[1]), read_case(sys.argv[2])
    for key, value in metadata.items():
        assert model.metadata[key] == value, (key, model.metadata[key], value)
    inputs = {name: case[name] for name in model.inputs}
    found = model.run(**inputs)
    (output,) = model.outputs
    assert np.abs(found).max() > 0.1
    compare(output, found, case[output])
    one = model.run(**{name: value[:1] for name, value in inputs.items()})
    compare(output + " of one row", one, case[output][:1])
    if "task" in case:
        compare("plan", plan(model, case["noise"], case["task"], case.get("seen")), case["actions"])


main()
