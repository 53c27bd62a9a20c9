#!/usr/bin/env python3
"""Writes torchvision.safetensors: a ResNet-18 of a sixteenth of the width with random weights under
torchvision's names, and what plain PyTorch computes from it.

The weights are rounded to half precision, and the batch norms have statistics of their own.
"reference.layer4" is the result of the last stage, [height][width][channels], for one image whose
byte i of [height][width][3] is (37 i + i / 7) mod 256.
Run: python3 make_torchvision_reference.py
"""
import json
import pathlib
import struct

import torch
from torch.nn import functional as F

torch.manual_seed(5)
HEIGHT, WIDTH, WIDTHS = 70, 90, [4, 8, 16, 32]
tensors = {}


def put(name, value):
    tensors[name] = value.half()
    return tensors[name].double()


def norm(name, x):
    n = x.shape[1]
    gamma = put(name + ".weight", 0.1 + 0.3 * torch.rand(n))
    beta = put(name + ".bias", torch.randn(n))
    mean = put(name + ".running_mean", torch.randn(n))
    var = put(name + ".running_var", 0.2 + torch.rand(n))
    tensors[name + ".num_batches_tracked"] = torch.tensor(7)
    return F.batch_norm(x, mean, var, gamma, beta, training=False, eps=1e-5)


def conv(name, x, out, kernel, stride):
    scale = (2 / (x.shape[1] * kernel ** 2)) ** 0.5
    w = put(name + ".weight", scale * torch.randn(out, x.shape[1], kernel, kernel))
    return F.conv2d(x, w, None, stride, kernel // 2)


def block(name, x, out, stride):
    h = F.relu(norm(name + ".bn1", conv(name + ".conv1", x, out, 3, stride)))
    h = norm(name + ".bn2", conv(name + ".conv2", h, out, 3, 1))
    if stride != 1 or x.shape[1] != out:
        x = norm(name + ".downsample.1", conv(name + ".downsample.0", x, out, 1, stride))
    return F.relu(h + x)


i = torch.arange(HEIGHT * WIDTH * 3)
color = ((37 * i + i // 7) % 256).double().reshape(1, HEIGHT, WIDTH, 3).permute(0, 3, 1, 2) / 255
mean = torch.tensor([0.485, 0.456, 0.406], dtype=torch.float64)
deviation = torch.tensor([0.229, 0.224, 0.225], dtype=torch.float64)
h = (color - mean[:, None, None]) / deviation[:, None, None]
h = F.max_pool2d(F.relu(norm("bn1", conv("conv1", h, WIDTHS[0], 7, 2))), 3, 2, 1)
for stage, width in enumerate(WIDTHS):
    for number in range(2):
        h = block(f"layer{stage + 1}.{number}", h, width, 2 if stage and not number else 1)
put("fc.weight", torch.randn(5, WIDTHS[-1])), put("fc.bias", torch.randn(5))
tensors["reference.layer4"] = h[0].permute(1, 2, 0).contiguous().float()

header, data = {}, b""
names = {torch.float16: "F16", torch.float32: "F32", torch.int64: "I64"}
for name, tensor in tensors.items():
    content = tensor.numpy().tobytes()
    header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                    "data_offsets": [len(data), len(data) + len(content)]}
    data += content
text = json.dumps(header).encode()
path = pathlib.Path(__file__).with_name("torchvision.safetensors")
path.write_bytes(struct.pack("<Q", len(text)) + text + data)
print(path.name, len(tensors), "tensors,", path.stat().st_size, "bytes,", "layer4", list(h.shape))
