"""A file that bz2 compressed is written over."""

import bz2

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with bz2.open("log.bz2", "wb") as file:
    file.write(b"new")
with bz2.BZ2File("log.bz2") as file:
    assert file.read() == b"new"
print("end bz2_write")
