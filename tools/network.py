#!/usr/bin/env python3
"""Samples a plan from a policy that does not see, in numpy: docs/network.md as a program.

Run: network.py POLICY race1/wide [--seed N] [--mode joint] [--compare PLAN.json]
Prints the plan as JSON, or how far it is from that of `facet sample --json`: 1e-4 is a failure.
"""
import argparse
import json
import math
import struct
import sys

import numpy as np


def load(path):  # the metadata and the tensors, in double, of a safetensors file
    with open(path, "rb") as file:
        header, data = json.loads(file.read(*struct.unpack("<Q", file.read(8)))), file.read()
    facts, tensors = header.pop("__metadata__"), {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data[first:last], {"F16": "<f2", "F32": "<f4"}[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"]).astype(np.float64)
    return facts, tensors


def philox(seed, stream, index):
    low = 0xFFFFFFFF
    c = [index & low, index >> 32, stream & low, stream >> 32]
    k = [seed & low, seed >> 32]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & low, (p >> 32) ^ c[3] ^ k[1], p & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


def normal(seed, stream, index):
    a, b, c, d = philox(seed, stream, index)
    u, v = ((high >> 5 << 26 | low >> 6) / 2**53 for high, low in ((a, b), (c, d)))
    return math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v)


def starting_noise(factors, task, seed, shape):
    number = 0
    for values, value in zip(factors, task):
        number = number * (len(values) + 1) + (0 if value is None else value + 1)
    stream = (2 << 60) + (number << 20)  # the first plan of its task
    x = [normal(seed, stream, i) for i in range(math.prod(shape))]
    return np.float32(x).reshape(shape).astype(np.float64)


def mish(x):
    return x * np.tanh(np.logaddexp(0, x))


def norm(x, w, name):
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return w[name + ".gamma"] * x + w[name + ".beta"]


def conv(x, w, name, d=1):
    n, x = len(x), np.pad(x, ((d, d), (0, 0)))
    return sum(x[k * d : n + k * d] @ w[name + ".weight"][k] for k in range(3)) + w[name + ".bias"]


def predict(w, net, x, t, task):
    half = net["time_width"] // 2
    angle = t * 10000.0 ** (-np.arange(half) / (half - 1))
    rows = [w[f"embed.{i}"][-1 if value is None else value] for i, value in enumerate(task)]
    c = np.concatenate([np.sin(angle), np.cos(angle), *rows])
    for layer in ("cond.0", "cond.1"):
        c = mish(c @ w[layer + ".weight"] + w[layer + ".bias"])
    film = (c @ w["film.weight"] + w["film.bias"]).reshape(net["blocks"], 2, net["channels"])
    h = conv(x, w, "in") + w.get("position", 0)
    for l in range(net["blocks"]):
        first, second = f"block.{l}.0", f"block.{l}.1"
        d = net.get("dilation", [1] * net["blocks"])[l]
        u = mish(norm(conv(h, w, first, d), w, first)) * (1 + film[l, 0]) + film[l, 1]
        h = h + mish(norm(conv(u, w, second, d), w, second))
    return conv(mish(norm(h, w, "out")), w, "out")


def compose(w, net, x, t, task):
    null = predict(w, net, x, t, [None] * len(task))
    shown = [[v if i == k else None for i, v in enumerate(task)] for k in range(len(task))]
    return null + sum(predict(w, net, x, t, one) - null for one in shown)


def alpha_bars(n):
    signal = np.cos((np.arange(n + 1) / n + 0.008) / 1.008 * math.pi / 2) ** 2
    return np.cumprod(1 - np.minimum(1 - signal[1:] / signal[:-1], 0.999))


def visited(spacing, n, s):
    ranks = range(s - 1, -1, -1)
    if spacing == "leading":
        return [r * n // s for r in ranks]
    if spacing == "trailing":
        return [math.floor((r + 1) * n / s + 0.5) - 1 for r in ranks]
    return [math.floor(r * (n - 1) / (s - 1) + 0.5) if s > 1 else n - 1 for r in ranks]


def clean_sample(kind, x, p, a):
    noise = math.sqrt(1 - a)
    return {"eps": (x - noise * p) / math.sqrt(a), "x0": p, "v": math.sqrt(a) * x - noise * p}[kind]


def to_units(y, ranges):
    knee, ends = ranges.get("knee", 0), [np.array(ranges["min"]), np.array(ranges["max"])]
    low, high = (np.arcsinh(end / knee) if knee else end for end in ends)
    x = low * (1 - y) / 2 + high * (1 + y) / 2
    return knee * np.sinh(x) if knee else x


def sample(path, task_text, seed, mode):
    facts, w = load(path)
    net, factors = json.loads(facts["network"]), list(json.loads(facts["factors"]).values())
    task = [None if v == "*" else f.index(v) for f, v in zip(factors, task_text.split("/"))]
    x = starting_noise(factors, task, seed, (net["horizon"], net["dim"]))
    x *= np.float32(facts.get("sample_temperature", 1))
    bars, clip = alpha_bars(int(facts["noise_steps"])), float(facts["sample_clip"]) or math.inf
    times = visited(facts["sample_spacing"], len(bars), int(facts["sample_steps"]))
    shown = task if "embed.0" in w else []
    for t, a, after in zip(times, bars[times], [*bars[times[1:]], 1.0]):
        p = (predict if mode == "joint" else compose)(w, net, x, t, shown)
        clean = np.clip(clean_sample(facts["predict"], x, p, a), -clip, clip)
        noise = (x - math.sqrt(a) * clean) / math.sqrt(1 - a)
        x = math.sqrt(after) * clean + math.sqrt(1 - after) * noise
    return to_units(x, json.loads(facts["normalizer"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policy")
    parser.add_argument("task")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", choices=["composed", "joint"], default="composed")
    parser.add_argument("--compare", metavar="PLAN.json")
    args = parser.parse_args()
    plan = sample(args.policy, args.task, args.seed, args.mode)
    if not args.compare:
        return print(json.dumps(plan.tolist()))
    with open(args.compare) as file:
        difference = np.abs(plan - json.load(file)["actions"]).max()
    print(f"largest difference {difference:.2g}")
    sys.exit(not difference < 1e-4)


main()
