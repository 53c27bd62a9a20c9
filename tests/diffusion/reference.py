#!/usr/bin/env python3
"""Writes reference.txt: a small score network in PyTorch, its output and every gradient, in double.

Parameters and inputs follow from formulas that the test computes as well, so only results are
stored: a name, a count and that many numbers. Run: python3 reference.py > reference.txt
"""
import math

import torch

torch.set_default_dtype(torch.float64)
T, D, BLOCKS, C, COND, TIME, EMBED, VALUES, ROWS = 5, 2, 2, 6, 5, 4, 3, [3, 2], 3
WIDTH = TIME + EMBED * len(VALUES)

# The table of tensors, in the order of score_net.c.
shapes = [(f"embed.{i}", (v + 1, EMBED)) for i, v in enumerate(VALUES)]
shapes += [("cond.0.weight", (WIDTH, COND)), ("cond.0.bias", (COND,)),
           ("cond.1.weight", (COND, COND)), ("cond.1.bias", (COND,)),
           ("film.weight", (COND, BLOCKS * 2 * C)), ("film.bias", (BLOCKS * 2 * C,)),
           ("in.weight", (3, D, C)), ("in.bias", (C,)), ("position", (T, C))]
for block in range(BLOCKS):
    for half in range(2):
        shapes += [(f"block.{block}.{half}.weight", (3, C, C)), (f"block.{block}.{half}.bias", (C,)),
                   (f"block.{block}.{half}.gamma", (C,)), (f"block.{block}.{half}.beta", (C,))]
shapes += [("out.gamma", (C,)), ("out.beta", (C,)), ("out.weight", (3, C, D)), ("out.bias", (D,))]


def wave(size, scale, rate, phase):
    return scale * torch.sin(rate * torch.arange(1, size + 1) + phase)


p = {}
for index, (name, shape) in enumerate(shapes):
    p[name] = wave(math.prod(shape), 0.5, 1.3, 0.7 * index).reshape(shape).requires_grad_(True)

x = wave(ROWS * T * D, 1.0, 0.9, 0.2).reshape(ROWS, T, D).requires_grad_(True)
dout = wave(ROWS * T * D, 1.0, 1.7, 0.4).reshape(ROWS, T, D)
t = torch.tensor([0.0, 17.0, 93.0])
z = [[0, 1], [2, 2], [3, 0]]  # the null token is the last row: (0, 1), (2, null), (null, 0)

half = TIME // 2
angle = t[:, None] * torch.exp(-math.log(10000.0) * torch.arange(half) / (half - 1))
parts = [angle.sin(), angle.cos()]
parts += [p[f"embed.{i}"][[row[i] for row in z]] for i in range(len(VALUES))]
mish = torch.nn.functional.mish
cond = mish(torch.cat(parts, 1) @ p["cond.0.weight"] + p["cond.0.bias"])
cond = mish(cond @ p["cond.1.weight"] + p["cond.1.bias"])
film = (cond @ p["film.weight"] + p["film.bias"]).reshape(ROWS, BLOCKS, 2, C)


def conv(h, name):
    weight, bias = p[name + ".weight"].permute(2, 1, 0), p[name + ".bias"]
    return torch.nn.functional.conv1d(h.transpose(1, 2), weight, bias, padding=1).transpose(1, 2)


def unit(h, name):
    h = torch.nn.functional.layer_norm(conv(h, name), (C,), p[name + ".gamma"], p[name + ".beta"])
    return mish(h)


h = conv(x, "in") + p["position"]
for block in range(BLOCKS):
    scale, shift = film[:, block, 0, None], film[:, block, 1, None]
    u = unit(h, f"block.{block}.0") * (1 + scale) + shift
    h = h + unit(u, f"block.{block}.1")
out = conv(mish(torch.nn.functional.layer_norm(h, (C,), p["out.gamma"], p["out.beta"])), "out")
(out * dout).sum().backward()

for name, value in [("out", out), ("dx", x.grad)] + [(name, p[name].grad) for name, _ in shapes]:
    numbers = value.detach().reshape(-1).tolist()
    print(name, len(numbers), *(f"{v:.10g}" for v in numbers))
