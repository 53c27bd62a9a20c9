#!/usr/bin/env python3
"""Sets the number of denoising steps that a policy is sampled with unless told otherwise.

The file's metadata hold it as sample_steps; tensors stay as they are, byte for byte.
Run: python3 tools/sample_steps.py POLICY STEPS
"""
import json
import os
import struct
import sys

policy, steps = sys.argv[1], int(sys.argv[2])
with open(policy, "rb") as f:
    head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    tensors = f.read()
levels = int(head["__metadata__"]["noise_steps"])
if not 1 <= steps <= levels:
    sys.exit(f"{policy}: expected 1 to {levels} steps, found {steps}")
head["__metadata__"]["sample_steps"] = str(steps)
text = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
text += b" " * (-len(text) % 8)
with open(policy + ".new", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + tensors)
os.replace(policy + ".new", policy)
