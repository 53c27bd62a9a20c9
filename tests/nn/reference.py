#!/usr/bin/env python3
"""Writes reference.txt: small layers, three AdamW updates and image layers computed by PyTorch in
double.

Every entry is a name, a count and that many numbers. Run: python3 reference.py > reference.txt
"""
import torch

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
BATCH, TIME, IN, OUT, GROUPS = 2, 5, 3, 4, 2


def dump(name, tensor):
    values = tensor.detach().reshape(-1).tolist()
    print(name, len(values), *(f"{v:.10g}" for v in values))


def rand(*shape):
    # Few digits, so that both sides start from exactly the same numbers.
    return (torch.randn(*shape) * 1000).round() / 1000


def leaf(name, *shape):
    value = rand(*shape).requires_grad_(True)
    dump(name, value)
    return value


# Convolution: ours is [batch][time][channel] with weights [3][in][out].
x, w, b = leaf("conv.x", BATCH, TIME, IN), leaf("conv.w", 3, IN, OUT), leaf("conv.b", OUT)
dy = rand(BATCH, TIME, OUT)
dump("conv.dy", dy)
y = torch.nn.functional.conv1d(x.transpose(1, 2), w.permute(2, 1, 0), b, padding=1).transpose(1, 2)
(y * dy).sum().backward()
dump("conv.y", y), dump("conv.dx", x.grad), dump("conv.dw", w.grad), dump("conv.db", b.grad)

# Norm over the channels of each row.
x, g, b = leaf("norm.x", TIME, OUT), leaf("norm.g", OUT), leaf("norm.b", OUT)
dy = rand(TIME, OUT)
dump("norm.dy", dy)
y = torch.nn.functional.layer_norm(x, (OUT,), g, b)
(y * dy).sum().backward()
dump("norm.y", y), dump("norm.dx", x.grad), dump("norm.dg", g.grad), dump("norm.db", b.grad)

# GroupNorm.
x, g, b = leaf("group.x", BATCH, TIME, OUT), leaf("group.g", OUT), leaf("group.b", OUT)
dy = rand(BATCH, TIME, OUT)
dump("group.dy", dy)
y = torch.nn.functional.group_norm(x.transpose(1, 2), GROUPS, g, b).transpose(1, 2)
(y * dy).sum().backward()
dump("group.y", y), dump("group.dx", x.grad), dump("group.dg", g.grad), dump("group.db", b.grad)

# Mish.
x = torch.tensor([-60.0, -20.0, -5.5, -1.2, -0.1, 0.0, 0.3, 1.0, 4.0, 19.0, 25.0, 100.0])
x.requires_grad_(True)
dump("mish.x", x)
y = torch.nn.functional.mish(x)
y.sum().backward()
dump("mish.y", y), dump("mish.dx", x.grad)

# Linear.
x, w, b = leaf("linear.x", TIME, IN), leaf("linear.w", IN, OUT), leaf("linear.b", OUT)
dy = rand(TIME, OUT)
dump("linear.dy", dy)
y = x @ w + b
(y * dy).sum().backward()
dump("linear.y", y), dump("linear.dx", x.grad), dump("linear.dw", w.grad)

# AdamW with clipping: one tensor with decay, one without, three updates.
w, b = leaf("adamw.w", 2, 3), leaf("adamw.b", 3)
optimizer = torch.optim.AdamW([{"params": [w], "weight_decay": 0.1},
                               {"params": [b], "weight_decay": 0.0}],
                              lr=0.01, betas=(0.95, 0.999), eps=1e-8)
for step in range(3):
    w.grad, b.grad = rand(2, 3), rand(3)
    dump(f"adamw.dw{step}", w.grad), dump(f"adamw.db{step}", b.grad)
    norm = torch.sqrt((w.grad ** 2).sum() + (b.grad ** 2).sum())
    scale = min(1.0, 2.0 / norm.item())
    w.grad *= scale
    b.grad *= scale
    optimizer.step()
    dump(f"adamw.norm{step}", norm)
dump("adamw.w3", w), dump("adamw.b3", b)


# Image layers: ours are [height][width][channel] with weights [k k][in][out]; inputs are waves.
def wave(*shape, scale, rate, phase):
    i = torch.arange(1, torch.Size(shape).numel() + 1)
    return (scale * torch.sin(rate * i + phase)).reshape(shape)


def image(height, width, channels):
    x = wave(height, width, channels, scale=1.0, rate=0.9, phase=0.2).requires_grad_(True)
    return x, x.permute(2, 0, 1)[None]


def dump_image(name, y, x):
    y = y[0].permute(1, 2, 0) if y.dim() == 4 else y
    (y * wave(*y.shape, scale=1.0, rate=1.7, phase=0.4)).sum().backward()
    dump(name + ".y", y), dump(name + ".dx", x.grad)


for k, s in (1, 2), (3, 1), (3, 2), (4, 4), (5, 2), (7, 2):
    x, nchw = image(7, 6, 2)
    w = wave(k * k, 2, 3, scale=0.5, rate=1.3, phase=0.7).requires_grad_(True)
    b = wave(3, scale=0.5, rate=1.1, phase=0.3)
    oihw = w.reshape(k, k, 2, 3).permute(3, 2, 0, 1)
    dump_image(f"conv2d.{k}.{s}", torch.nn.functional.conv2d(nchw, oihw, b, s, k // 2), x)
    dump(f"conv2d.{k}.{s}.dw", w.grad)
x, nchw = image(7, 6, 3)
dump_image("max_pool", torch.nn.functional.max_pool2d(nchw, 3, 2, 1), x)
x, nchw = image(7, 6, 3)
dump_image("mean_pool", nchw.mean((2, 3))[0], x)
x, nchw = image(7, 6, 3)
p = torch.softmax(nchw.flatten(2), 2).reshape(3, 7, 6)
u, v = torch.linspace(-1, 1, 6), torch.linspace(-1, 1, 7)
dump_image("keypoints", torch.stack([(p * u).sum((1, 2)), (p * v[:, None]).sum((1, 2))]), x)
