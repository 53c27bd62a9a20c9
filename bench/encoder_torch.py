#!/usr/bin/env python3
"""The image encoder beside PyTorch: the same network, batch and machine, taking turns.

Each round runs encoder once and PyTorch once, so that what else runs on the machine disturbs both;
the medians over the rounds are compared.
Run: python3 bench/encoder_torch.py build/bench/encoder [small | resnet18] [rounds]
"""
import re
import statistics
import subprocess
import sys

import torch
from torch import nn
from torch.nn import functional as F

from torch_net import THREADS, milliseconds

CONFIGS = {
    "small": dict(size=(60, 80), stem=16, kernel=5, pool=False, channels=[32, 64, 64],
                  strides=[2, 2, 1], blocks=1, groups=8, frozen=0, flat=(8, 10), features=256,
                  batch=32),
    "resnet18": dict(size=(240, 320), stem=64, kernel=7, pool=True, channels=[64, 128, 256, 512],
                     strides=[1, 2, 2, 2], blocks=2, groups=32, frozen=3, flat=(0, 0),
                     features=128, batch=8),
}


def unit(inputs, outputs, kernel, stride, groups):
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
                         nn.GroupNorm(groups, outputs))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride, groups):
        super().__init__()
        self.first = unit(inputs, outputs, 3, stride, groups)
        self.second = unit(outputs, outputs, 3, 1, groups)
        same = stride == 1 and inputs == outputs
        self.skip = nn.Identity() if same else unit(inputs, outputs, 1, stride, groups)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.skip(x))


class Encoder(nn.Module):
    def __init__(self, size, stem, kernel, pool, channels, strides, blocks, groups, frozen,
                 flat, features, **_):
        super().__init__()
        stem_unit = nn.Sequential(unit(3, stem, kernel, 2, groups), nn.ReLU())
        if pool:
            stem_unit.append(nn.MaxPool2d(3, 2, 1))
        self.parts, width = nn.ModuleList([stem_unit]), stem
        for out, stride in zip(channels, strides):
            stage = nn.Sequential()
            for b in range(blocks):
                stage.append(Block(width, out, 1 if b else stride, groups))
                width = out
            self.parts.append(stage)
        self.flat = flat[0] * flat[1]  # pixels that the head takes whole
        self.head = nn.Linear((3 + self.flat) * width, features)
        self.norm = nn.LayerNorm(features) if self.flat else nn.Identity()
        for part in self.parts[:frozen]:
            part.requires_grad_(False)

    def forward(self, h):
        for part in self.parts:
            h = part(h)
        p = torch.softmax(h.flatten(2), 2).reshape(h.shape)
        u, v = torch.linspace(-1, 1, h.shape[3]), torch.linspace(-1, 1, h.shape[2])
        points = [(p * u).sum((2, 3)), (p * v[:, None]).sum((2, 3)), h.mean((2, 3))]
        if self.flat:
            points.append(h.flatten(1))
        return self.norm(self.head(torch.cat(points, 1)))


program = sys.argv[1]
name = sys.argv[2] if len(sys.argv) > 2 else "small"
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
config = CONFIGS[name]
BATCH = config["batch"]
net = Encoder(**config)
images, direction = torch.randn(BATCH, 3, *config["size"]), torch.randn(BATCH, config["features"])


def both():
    net.zero_grad()
    (net(images) * direction).sum().backward()


def forward():
    with torch.no_grad():
        net(images)


def one():
    torch.set_num_threads(1)
    with torch.no_grad():
        net(images[:1])
    torch.set_num_threads(THREADS)


parameters = sum(p.numel() for p in net.parameters())
print(f"PyTorch {torch.__version__}, {name}, {parameters} parameters, {THREADS} threads, "
      f"{rounds} rounds")
both(), forward(), one()
rows = {"forward": ([], []), "forward+backward": ([], []), "one image": ([], [])}
for _ in range(rounds):
    text = subprocess.run([program, name, str(THREADS), "3", str(BATCH)], capture_output=True,
                          text=True, check=True).stdout
    for row, (ours, _) in rows.items():
        value = float(re.search(re.escape(row) + r"\s+([\d.]+) ", text).group(1))
        ours.append(value if row == "one image" else 1e3 * BATCH / value)
    rows["forward"][1].append(milliseconds(forward, 3))
    rows["forward+backward"][1].append(milliseconds(both, 3))
    rows["one image"][1].append(milliseconds(one, 5))
for row, (ours, theirs) in rows.items():
    a, b = statistics.median(ours), statistics.median(theirs)
    count = 1 if row == "one image" else BATCH
    print(f"{row:18} {count:3d} images {a:8.2f} ms, PyTorch {b:8.2f} ms, "
          f"{b / a:.2f} times as fast")
