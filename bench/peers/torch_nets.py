"""Facet's networks in PyTorch, with the weights of a policy's file."""
import json
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


# ---- Weights: what PyTorch has them as, from Facet's order ---------------------------------------

def same(w):
    return w


def turned(w):  # [in][out]
    return w.T


def conv1d(w):  # [kernel][in][out]
    return w.transpose(2, 1, 0)


def conv2d(w):  # [kernel kernel][in][out]
    side = math.isqrt(len(w))
    return w.reshape(side, side, *w.shape[1:]).transpose(3, 2, 0, 1)


class Network(nn.Module):
    """A network that knows which of Facet's tensors each of its parameters is."""

    def __init__(self):
        super().__init__()
        self.origin = []  # (parameter, name in the file, order)

    def takes(self, parameter, name, order=same):
        self.origin.append((parameter, name, order))

    def takes_layer(self, layer, name, order):
        self.takes(layer.weight, name + ".weight", order)
        if layer.bias is not None:
            self.takes(layer.bias, name + ".bias")

    def takes_norm(self, norm, name):
        self.takes(norm.weight, name + ".gamma")
        self.takes(norm.bias, name + ".beta")

    def load(self, tensors):
        with torch.no_grad():
            for parameter, name, order in self.origin:
                parameter.copy_(torch.tensor(order(tensors[name])))

    def gradients(self, tensors):
        """Pairs of ours and Facet's, which stand in `tensors` as gradient.NAME."""
        return [(parameter.grad, order(tensors["gradient." + name]))
                for parameter, name, order in self.origin]


# ---- The score network ---------------------------------------------------------------------------

class ChannelNorm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.transpose(1, 2)).transpose(1, 2)


class ScoreNet(Network):
    def __init__(self, facts):
        super().__init__()
        if facts["architecture"] != "score-convnet 1":
            raise SystemExit(f"torch: expected score-convnet 1, found {facts['architecture']}")
        net, factors = json.loads(facts["network"]), json.loads(facts["factors"]).values()
        self.blocks, self.channels = net["blocks"], net["channels"]
        cond, width, C = net["cond"], net["time_width"], net["channels"]
        self.embed = nn.ModuleList([nn.Embedding(len(v) + 1, net["embed"]) for v in factors])
        first = nn.Linear(width + len(factors) * net["embed"], cond)
        second = nn.Linear(cond, cond)
        self.cond = nn.Sequential(first, nn.Mish(), second, nn.Mish())
        self.film = nn.Linear(cond, self.blocks * 2 * C)
        self.stem = nn.Conv1d(net["dim"], C, 3, padding=1)
        self.position = nn.Parameter(torch.zeros(C, net["horizon"]))
        self.first = nn.ModuleList([self.unit(f"block.{b}.0") for b in range(self.blocks)])
        self.second = nn.ModuleList([self.unit(f"block.{b}.1") for b in range(self.blocks)])
        self.head = nn.Sequential(ChannelNorm(C), nn.Mish(),
                                  nn.Conv1d(C, net["dim"], 3, padding=1))
        self.register_buffer(
            "rates", torch.exp(-torch.arange(width // 2) * math.log(1e4) / (width // 2 - 1)))
        for i, embedding in enumerate(self.embed):
            self.takes(embedding.weight, f"embed.{i}")
        for name, layer in (("cond.0", first), ("cond.1", second), ("film", self.film)):
            self.takes_layer(layer, name, turned)
        self.takes_layer(self.stem, "in", conv1d)
        self.takes(self.position, "position", turned)
        self.takes_norm(self.head[0], "out")
        self.takes_layer(self.head[2], "out", conv1d)

    def unit(self, name):
        convolution = nn.Conv1d(self.channels, self.channels, 3, padding=1)
        norm = ChannelNorm(self.channels)
        self.takes_layer(convolution, name, conv1d)
        self.takes_norm(norm, name)
        return nn.Sequential(convolution, norm, nn.Mish())

    def forward(self, x, t, z):  # [rows][D][T], [rows], [rows][factors]
        angle = t[:, None] * self.rates
        parts = [angle.sin(), angle.cos()] + [e(z[:, i]) for i, e in enumerate(self.embed)]
        film = self.film(self.cond(torch.cat(parts, 1))).view(-1, self.blocks, 2, self.channels, 1)
        h = self.stem(x) + self.position
        for block in range(self.blocks):
            u = self.first[block](h) * (1 + film[:, block, 0]) + film[:, block, 1]
            h = h + self.second[block](u)
        return self.head(h)


# ---- The image encoder ---------------------------------------------------------------------------

class Encoder(Network):
    """That of a policy with GroupNorm, no pool, and a head that takes the last activation."""

    def __init__(self, facts):
        super().__init__()
        c = json.loads(facts["encoder"])
        self.groups = c["groups"]
        width, sides = c["stem_channels"], [c["height"], c["width"]]
        self.stem = self.unit("stem", 3, width, c["stem_kernel"], c["stem_stride"])
        self.stages = nn.ModuleList()
        for i, (channels, stride) in enumerate(zip(c["channels"], c["strides"])):
            self.stages.append(self.block(f"stage.{i + 1}.0", width, channels, stride))
            width = channels
        for stride in (c["stem_stride"], *c["strides"]):
            sides = [-(-side // stride) for side in sides]
        pixels = math.prod(sides)
        self.head = nn.Linear((3 + pixels) * width, c["features"])
        self.norm = nn.LayerNorm(c["features"])

        def head(w):  # the activation's rows are [pixels][channels] in Facet
            points, whole = w[: 3 * width], w[3 * width :].reshape(pixels, width, -1)
            return np.concatenate([points, whole.swapaxes(0, 1).reshape(pixels * width, -1)]).T

        self.takes(self.head.weight, "encoder.head.weight", head)
        self.takes(self.head.bias, "encoder.head.bias")
        self.takes_norm(self.norm, "encoder.head")

    def unit(self, name, inputs, outputs, kernel, stride):
        convolution = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
        norm = nn.GroupNorm(self.groups, outputs)
        self.takes_layer(convolution, "encoder." + name, conv2d)
        self.takes_norm(norm, "encoder." + name)
        return nn.Sequential(convolution, norm)

    def block(self, name, inputs, outputs, stride):
        same_shape = stride == 1 and inputs == outputs
        return nn.ModuleDict({
            "first": self.unit(name + ".conv1", inputs, outputs, 3, stride),
            "second": self.unit(name + ".conv2", outputs, outputs, 3, 1),
            "skip": nn.Identity() if same_shape else self.unit(name + ".skip", inputs, outputs, 1,
                                                               stride),
        })

    def forward(self, image):  # [images][3][height][width]
        h = F.relu(self.stem(image))
        for block in self.stages:
            h = F.relu(block["second"](F.relu(block["first"](h))) + block["skip"](h))
        p = torch.softmax(h.flatten(2), 2).reshape(h.shape)
        u, v = torch.linspace(-1, 1, h.shape[3]), torch.linspace(-1, 1, h.shape[2])
        points = [(p * u).sum((2, 3)), (p * v[:, None]).sum((2, 3)), h.mean((2, 3)), h.flatten(1)]
        return self.norm(self.head(torch.cat(points, 1)))
