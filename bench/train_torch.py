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
import time

import torch
from torch import nn

THREADS, BLOCKS, C, T, D, COND, BATCH = 2, 8, 256, 32, 4, 256, 32
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

    def forward(self, x, t, z):
        angle = t[:, None] * torch.exp(-torch.arange(32) * 9.2103 / 31)
        parts = [angle.sin(), angle.cos()] + [e(z[:, i]) for i, e in enumerate(self.embed)]
        film = self.film(self.cond(torch.cat(parts, 1))).view(-1, BLOCKS, 2, C, 1)
        h = self.stem(x) + self.position
        for block in range(BLOCKS):
            u = self.first[block](h) * (1 + film[:, block, 0]) + film[:, block, 1]
            h = h + self.second[block](u)
        return self.head(h)


net = ScoreNet()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, betas=(0.95, 0.999), weight_decay=1e-6)
x, target = torch.randn(BATCH, D, T), torch.randn(BATCH, D, T)
t, z = torch.rand(BATCH) * 100, torch.randint(0, 3, (BATCH, 2))


def train_step():
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x, t, z), target).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()


def forward():
    with torch.no_grad():
        net(x[:3], t[:3], z[:3])


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
