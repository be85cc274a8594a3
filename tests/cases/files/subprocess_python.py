"""A Python of its own saves, moves and removes."""

import os
import subprocess
import sys

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

SCRIPT = """
import os, shutil
with open("m.pt", "wb") as file:
    file.write(b"new")
os.remove("best.ckpt")
shutil.rmtree(os.path.join(os.environ["WAYS_OUTSIDE"], "runs"))
"""
subprocess.run([sys.executable, "-c", SCRIPT], check=True)
with open("m.pt", "rb") as file:
    assert file.read() == b"new"
assert not os.path.exists("best.ckpt")
assert not os.path.exists(os.path.join(os.environ["WAYS_OUTSIDE"], "runs"))
print("end subprocess_python")
