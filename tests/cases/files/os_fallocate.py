"""A file is made larger without being written to."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("data.bin", "r+b") as file:
    os.posix_fallocate(file.fileno(), 0, 50_000)
assert os.path.getsize("data.bin") == 50_000
print("end os_fallocate")
