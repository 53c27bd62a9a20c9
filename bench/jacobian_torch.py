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

import torch

from torch_net import D, T, THREADS, ScoreNet, milliseconds

try:
    from torch.func import jacrev  # PyTorch 2
except ImportError:
    from functorch import jacrev  # PyTorch 1.13

net = ScoreNet().requires_grad_(False)
# The last value of an embedding is the null token: null, track alone, size alone.
film = net.condition(torch.full((3,), 50.0), torch.tensor([[8, 3], [1, 3], [8, 1]]))
x = torch.randn(D, T)


def composed(a):
    null, track, size = net(a.expand(3, D, T), film)
    return null + (track - null) + (size - null)


def jacobian():
    jacrev(composed)(x)


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
