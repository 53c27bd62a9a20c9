#!/usr/bin/env python3
"""Training and planning beside PyTorch: the same network, batch and machine, taking turns.

Each round runs train once and PyTorch once, so that what else runs on the machine disturbs
both; the medians over the rounds are compared.
Run: python3 bench/train_torch.py build/bench/train [rounds]
"""
import re
import statistics
import subprocess
import sys

import torch
from torch import nn

from torch_net import D, T, THREADS, ScoreNet, milliseconds

BATCH = 32
net = ScoreNet()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, betas=(0.95, 0.999), weight_decay=1e-6)
x, target = torch.randn(BATCH, D, T), torch.randn(BATCH, D, T)
t, z = torch.rand(BATCH) * 100, torch.randint(0, 3, (BATCH, 2))


def train_step():
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x, net.condition(t, z)), target).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()


def forward():
    with torch.no_grad():
        net(x[:3], net.condition(t[:3], z[:3]))


program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
print(f"PyTorch {torch.__version__}, {sum(p.numel() for p in net.parameters())} parameters, "
      f"{THREADS} threads, {rounds} rounds")
train_step(), forward()
rows = {"train step": ([], []), "composed forward": ([], [])}
for _ in range(rounds):
    text = subprocess.run([program, str(THREADS), "3"], capture_output=True, text=True,
                          check=True).stdout
    for name, (ours, _) in rows.items():
        ours.append(float(re.search(name + r"\s+([\d.]+) ms", text).group(1)))
    rows["train step"][1].append(milliseconds(train_step, 3))
    rows["composed forward"][1].append(milliseconds(forward, 20))
for name, (ours, theirs) in rows.items():
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"{name:18} {a:8.2f} ms, PyTorch {b:8.2f} ms, {b / a:.2f} times as fast")
