#!/usr/bin/env python3
"""Writes reference.txt: two tiny encoders computed by PyTorch in double, their features and every
parameter's gradient.

"plain" has GroupNorm and strided stages; "pooled" has no norm, a max pool, two blocks a stage and a
border of the input that is not zero. Every entry is a name, a count and that many numbers.
Run: python3 reference.py > reference.txt
"""
import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
IMAGES, HEIGHT, WIDTH, FEATURES = 2, 18, 22, 3


def dump(name, tensor):
    values = tensor.detach().reshape(-1).tolist()
    print(name, len(values), *(f"{v:.10g}" for v in values))


def wave(*shape, scale, rate, phase):
    i = torch.arange(1, torch.Size(shape).numel() + 1)
    return (scale * torch.sin(rate * i + phase)).reshape(shape)


class Encoder:
    def __init__(self, name, kernel, channels, strides, blocks, groups, pool):
        self.name, self.groups, self.table = name, groups, []
        pad = None if groups else self.tensor("stem.pad", 3)
        x = wave(IMAGES, HEIGHT, WIDTH, 3, scale=1.0, rate=0.9, phase=0.2).permute(0, 3, 1, 2)
        edge = kernel // 2
        if pad is not None:  # the border of the input, channel by channel
            x = F.pad(x - pad.detach()[:, None, None], [edge] * 4) + pad.detach()[:, None, None]
        else:
            x = F.pad(x, [edge] * 4)
        h = F.relu(self.unit("stem", x, 4, kernel, 2, padding=0))
        if pool:
            h = F.max_pool2d(h, 3, 2, 1)
        for s, (width, stride) in enumerate(zip(channels, strides)):
            for b in range(blocks):
                h = self.block(f"stage.{s + 1}.{b}", h, width, 1 if b else stride)
        p = torch.softmax(h.flatten(2), 2).reshape(h.shape)
        u, v = torch.linspace(-1, 1, h.shape[3]), torch.linspace(-1, 1, h.shape[2])
        pooled = torch.cat([(p * u).sum((2, 3)), (p * v[:, None]).sum((2, 3)), h.mean((2, 3))], 1)
        weight = self.tensor("head.weight", pooled.shape[1], FEATURES)
        features = pooled @ weight + self.tensor("head.bias", FEATURES)
        (features * wave(IMAGES, FEATURES, scale=1.0, rate=1.7, phase=0.4)).sum().backward()
        dump(f"{name}.features", features)
        for tensor_name, tensor in self.table:
            if tensor.grad is not None:
                dump(f"{name}.{tensor_name}", tensor.grad)

    def tensor(self, name, *shape):
        value = wave(*shape, scale=0.5, rate=1.3, phase=0.7 * len(self.table))
        self.table.append((name, value.requires_grad_(True)))
        return value

    def unit(self, name, x, out, kernel, stride, padding):
        w = self.tensor(name + ".weight", kernel * kernel, x.shape[1], out)
        oihw = w.reshape(kernel, kernel, x.shape[1], out).permute(3, 2, 0, 1)
        u = F.conv2d(x, oihw, None, stride, padding)
        if not self.groups:
            return u + self.tensor(name + ".bias", out)[:, None, None]
        gamma = self.tensor(name + ".gamma", out)
        return F.group_norm(u, self.groups, gamma, self.tensor(name + ".beta", out))

    def block(self, name, x, out, stride):
        h = F.relu(self.unit(name + ".conv1", x, out, 3, stride, 1))
        h = self.unit(name + ".conv2", h, out, 3, 1, 1)
        if stride != 1 or x.shape[1] != out:
            x = self.unit(name + ".skip", x, out, 1, stride, 0)
        return F.relu(h + x)


Encoder("plain", kernel=5, channels=[6, 8, 8], strides=[2, 2, 1], blocks=1, groups=2, pool=False)
Encoder("pooled", kernel=7, channels=[4, 6], strides=[1, 2], blocks=2, groups=0, pool=True)
