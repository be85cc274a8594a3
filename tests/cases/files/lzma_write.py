"""A file that LZMA compressed is written over."""

import lzma

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with lzma.open("log.xz", "wb") as file:
    file.write(b"new")
with lzma.open("log.xz") as file:
    assert file.read() == b"new"
print("end lzma_write")
