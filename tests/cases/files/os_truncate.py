"""Files are cut short, and made longer, by path and by descriptor."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.truncate("m.pt", 10)
descriptor = os.open("best.ckpt", os.O_WRONLY)
os.ftruncate(descriptor, 0)
os.close(descriptor)
with open("data.npy", "r+b") as file:
    file.truncate(100_000)
assert [os.path.getsize(name) for name in ("m.pt", "best.ckpt", "data.npy")] == [10, 0, 100_000]
print("end os_truncate")
