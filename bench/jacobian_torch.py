#!/usr/bin/env python3
"""Jacobians beside PyTorch: functorch's jacrev of the same composed network on the same machine,
taking turns.

Each round runs jacobian once and PyTorch once, so that what else runs on the machine disturbs
both; the medians over the rounds are compared. One Jacobian is that of the composed prediction,
null + track + size - 2 null, at one action: 128 x 128.
Run: python3 bench/jacobian_torch.py build/bench/jacobian [rounds]
"""
import re
import statistics
import subprocess
import sys
import time

import torch
from torch import nn

try:
    from torch.func import jacrev  # PyTorch 2
except ImportError:
    from functorch import jacrev  # PyTorch 1.13

THREADS, BLOCKS, C, T, D, COND = 2, 8, 256, 32, 4, 256
torch.set_num_threads(THREADS)


class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class ScoreNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.ModuleList([nn.Embedding(9, 64), nn.Embedding(4, 64)])
        self.cond = nn.Sequential(nn.Linear(64 + 128, COND), nn.Mish(), nn.Linear(COND, COND),
                                  nn.Mish())
        self.film = nn.Linear(COND, BLOCKS * 2 * C)
        self.stem = nn.Conv1d(D, C, 3, padding=1)
        self.position = nn.Parameter(0.1 * torch.randn(C, T))
        unit = lambda: nn.Sequential(nn.Conv1d(C, C, 3, padding=1), ChannelNorm(C), nn.Mish())
        self.first = nn.ModuleList([unit() for _ in range(BLOCKS)])
        self.second = nn.ModuleList([unit() for _ in range(BLOCKS)])
        self.head = nn.Sequential(ChannelNorm(C), nn.Mish(), nn.Conv1d(C, D, 3, padding=1))

    def condition(self, t, z):
        angle = t[:, None] * torch.exp(-torch.arange(32) * 9.2103 / 31)
        parts = [angle.sin(), angle.cos()] + [e(z[:, i]) for i, e in enumerate(self.embed)]
        return self.film(self.cond(torch.cat(parts, 1))).view(-1, BLOCKS, 2, C, 1)

    def forward(self, x, film):
        h = self.stem(x) + self.position
        for block in range(BLOCKS):
            u = self.first[block](h) * (1 + film[:, block, 0]) + film[:, block, 1]
            h = h + self.second[block](u)
        return self.head(h)


net = ScoreNet().requires_grad_(False)
# The last value of an embedding is the null token: null, track alone, size alone.
film = net.condition(torch.full((3,), 50.0), torch.tensor([[8, 3], [1, 3], [8, 1]]))
x = torch.randn(D, T)


def composed(a):
    null, track, size = net(a.expand(3, D, T), film)
    return null + (track - null) + (size - null)


def jacobian():
    jacrev(composed)(x)


def milliseconds(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
print(f"PyTorch {torch.__version__}, {sum(p.numel() for p in net.parameters())} parameters, "
      f"{THREADS} threads, {rounds} rounds")
jacobian()
ours, theirs = [], []
for _ in range(rounds):
    text = subprocess.run([program, str(THREADS), "1"], capture_output=True, text=True,
                          check=True).stdout
    # Ours shares the forward pass with the sampler; here it counts for both.
    ours.append(sum(float(re.search(name + r"\s+([\d.]+) ms", text).group(1))
                    for name in ("forward pass", "jacobians")))
    theirs.append(milliseconds(jacobian, 1))
a, b = statistics.median(ours), statistics.median(theirs)
print(f"{'jacobian of a step':18} {a:8.1f} ms, PyTorch {b:8.1f} ms, {b / a:.2f} times as fast")
