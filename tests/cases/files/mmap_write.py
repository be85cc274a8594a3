"""A file is mapped and changed in memory."""

import mmap

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("m.pt", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
    mapped[:3] = b"new"
    mapped.flush()
with open("data.bin", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
    mapped.resize(8192)
    mapped[8000:8003] = b"new"
with open("m.pt", "rb") as one, open("data.bin", "rb") as two:
    assert one.read(3) == two.read()[8000:8003] == b"new"
print("end mmap_write")
