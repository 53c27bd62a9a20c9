"""The score network in PyTorch, and a clock: what the comparisons with PyTorch share."""
import statistics
import time

import torch
from torch import nn

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


def milliseconds(function, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)
