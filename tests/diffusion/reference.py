#!/usr/bin/env python3
"""Writes reference.txt: small score networks in PyTorch, their outputs and every gradient, in double.

One network has no context; the entries of the other, which has one, begin with "context.".
Parameters and inputs follow from formulas that the test computes as well, so only results are
stored: a name, a count and that many numbers. Run: python3 reference.py > reference.txt
"""
import math

import torch

torch.set_default_dtype(torch.float64)
T, D, BLOCKS, C, COND, TIME, EMBED, VALUES, ROWS = 5, 2, 2, 6, 5, 4, 3, [3, 2], 3
CONTEXT = 4
mish = torch.nn.functional.mish


def table(context):
    """The table of tensors, in the order of score_net.c."""
    embeds = EMBED * len(VALUES)
    shapes = [(f"embed.{i}", (v + 1, EMBED)) for i, v in enumerate(VALUES)]
    shapes += [("cond.0.weight", (TIME + embeds + context, COND)), ("cond.0.bias", (COND,)),
               ("cond.1.weight", (COND, COND)), ("cond.1.bias", (COND,)),
               ("film.weight", (COND, BLOCKS * 2 * C)), ("film.bias", (BLOCKS * 2 * C,)),
               ("in.weight", (3, D, C)), ("in.bias", (C,)), ("position", (T, C))]
    for block in range(BLOCKS):
        for half in range(2):
            unit = f"block.{block}.{half}"
            shapes += [(unit + ".weight", (3, C, C)), (unit + ".bias", (C,)),
                       (unit + ".gamma", (C,)), (unit + ".beta", (C,))]
    shapes += [("out.gamma", (C,)), ("out.beta", (C,)), ("out.weight", (3, C, D)),
               ("out.bias", (D,))]
    return shapes + ([("select.weight", (embeds, context))] if context else [])


def wave(shape, scale, rate, phase):
    size = math.prod(shape)
    return (scale * torch.sin(rate * torch.arange(1, size + 1) + phase)).reshape(shape)


def conv(p, h, name):
    weight, bias = p[name + ".weight"].permute(2, 1, 0), p[name + ".bias"]
    return torch.nn.functional.conv1d(h.transpose(1, 2), weight, bias, padding=1).transpose(1, 2)


def norm(p, h, name):
    return torch.nn.functional.layer_norm(h, (C,), p[name + ".gamma"], p[name + ".beta"])


def unit(p, h, name):
    return mish(norm(p, conv(p, h, name), name))


def condition(p, t, z, context):
    half = TIME // 2
    angle = t[:, None] * torch.exp(-math.log(10000.0) * torch.arange(half) / (half - 1))
    parts = [angle.sin(), angle.cos()]
    embeds = torch.cat([p[f"embed.{i}"][[row[i] for row in z]] for i in range(len(VALUES))], 1)
    parts += [embeds]
    if context is not None:
        parts += [context * (1 + embeds @ p["select.weight"])]
    cond = mish(torch.cat(parts, 1) @ p["cond.0.weight"] + p["cond.0.bias"])
    return mish(cond @ p["cond.1.weight"] + p["cond.1.bias"])


def network(p, x, t, z, context):
    cond = condition(p, t, z, context)
    film = (cond @ p["film.weight"] + p["film.bias"]).reshape(ROWS, BLOCKS, 2, C)
    h = conv(p, x, "in") + p["position"]
    for block in range(BLOCKS):
        scale, shift = film[:, block, 0, None], film[:, block, 1, None]
        u = unit(p, h, f"block.{block}.0") * (1 + scale) + shift
        h = h + unit(p, u, f"block.{block}.1")
    return conv(p, mish(norm(p, h, "out")), "out")


def write(prefix, width):
    p = {}
    for index, (name, shape) in enumerate(table(width)):
        p[name] = wave(shape, 0.5, 1.3, 0.7 * index).requires_grad_(True)
    x = wave((ROWS, T, D), 1.0, 0.9, 0.2).requires_grad_(True)
    dout = wave((ROWS, T, D), 1.0, 1.7, 0.4)
    context = wave((ROWS, width), 1.0, 1.1, 0.3).requires_grad_(True) if width else None
    t = torch.tensor([0.0, 17.0, 93.0])
    z = [[0, 1], [2, 2], [3, 0]]  # the null token is the last row: (0, 1), (2, null), (null, 0)
    out = network(p, x, t, z, context)
    (out * dout).sum().backward()
    results = [("out", out), ("dx", x.grad)] + [(name, p[name].grad) for name in p]
    if width:
        results += [("dcontext", context.grad)]
    for name, value in results:
        numbers = value.detach().reshape(-1).tolist()
        print(prefix + name, len(numbers), *(f"{v:.10g}" for v in numbers))


write("", 0)
write("context.", CONTEXT)
