"""PyTorch, compiled or eager (see peer.py). usage: torch_peer.py SPEC, which compare.py makes."""
import json
import os
import sys

# Functions of the CUDA libraries that are not there (venv.sh) are looked for only when called.
sys.setdlopenflags(os.RTLD_LAZY)

import torch  # noqa: E402
from torch.func import jacrev  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from peer import difference, load, serve  # noqa: E402
from torch_nets import Encoder, ScoreNet  # noqa: E402

spec = json.loads(sys.argv[1])


def prepared(function):
    return torch.compile(function, dynamic=False) if spec["mode"] == "compile" else function


def floats(array):
    return torch.tensor(array, dtype=torch.float32)


def race_inputs(rows):
    """The first rows of the case, again and again if it has fewer."""
    _, case = load(spec["folder"] + "/race.safetensors")
    index = torch.arange(rows) % len(case["x"])
    z = torch.tensor(case["z"])
    z = torch.where(z < 0, torch.tensor([len(e.weight) - 1 for e in score().embed]), z)
    return case, floats(case["x"]).mT[index].contiguous(), floats(case["t"])[index], z[index]


def score():
    facts, tensors = load(spec["race"])
    net = ScoreNet(facts)
    net.load(tensors)
    return net


def worst(pairs):
    return max(difference(found.detach(), expected) for found, expected in pairs)


# ---- Work: each gives a function to time and the difference of its output from Facet's -----------

def training(rows):
    """One update. The check's target is such that the gradients are those that Facet wrote, with
    the rows that it has not at their own prediction."""
    net, (case, x, t, z) = score(), race_inputs(rows)
    own = min(rows, len(case["x"]))
    with torch.no_grad():
        target = net(x, t, z)
    target[:own] = floats(case["prediction"]).mT - target.numel() / 2 * floats(case["direction"]).mT
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4, betas=(0.95, 0.999),
                                  weight_decay=1e-6, fused=True)
    loss = prepared(lambda: F.mse_loss(net(x, t, z), target))

    def update():
        optimizer.zero_grad()
        loss().backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()

    loss().backward()
    far = worst(net.gradients(case))
    target.normal_()
    return update, far


def forward(rows):
    net, (case, x, t, z) = score().requires_grad_(False), race_inputs(rows)
    run = prepared(lambda: net(x, t, z))
    return run, difference(run().mT, case["prediction"][:rows])


def jacobian():
    """That of the composed prediction at the first row."""
    net, (case, x, t, z) = score().requires_grad_(False), race_inputs(3)
    t = t[0].expand(3)

    def composed(a):
        null, track, size = net(a.mT.expand(3, *x.shape[1:]), t, z)
        return (null + (track - null) + (size - null)).mT

    run = prepared(jacrev(composed))
    at = x[0].mT.contiguous()
    size = at.numel()
    return lambda: run(at), difference(run(at).reshape(size, size), case["jacobian"])


def encoder_training():
    facts, tensors = load(spec["gate"])
    _, case = load(spec["folder"] + "/gate.safetensors")
    net = Encoder(facts)
    net.load(tensors)
    images = floats(case["image"]).permute(0, 3, 1, 2).contiguous()
    direction = floats(case["direction"])
    loss = prepared(lambda: (net(images) * direction).sum())

    def both():
        net.zero_grad()
        loss().backward()

    both()
    return both, max(worst(net.gradients(case)),
                     difference(net(images).detach(), case["features"]))


MAKERS = {
    "train": lambda: training(32),
    "train-composed": lambda: training(spec["composed_rows"]),
    "forward-3": lambda: forward(3),
    "forward-1": lambda: forward(1),
    "jacobian": jacobian,
    "encoder-train": encoder_training,
}


def on_threads(work, threads):
    def run():
        torch.set_num_threads(threads)
        work()
    return run


works, differences = {}, {}
for name, threads in spec["works"]:
    torch.set_num_threads(threads)
    work, differences[name] = MAKERS[name]()
    works[name, threads] = on_threads(work, threads)
version = torch.__version__.split("+")[0]
serve(works, {"version": version, "differences": differences, "settings": {
    "compile": "default mode, static shapes, fused AdamW", "eager": "fused AdamW"}[spec["mode"]]})
