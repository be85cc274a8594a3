"""A raw file is written without `open`."""

import io

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with io.FileIO("m.pt", "w") as raw:
    torch.save({"step": 7}, raw)
assert torch.load("m.pt") == {"step": 7}
with io.BufferedWriter(io.FileIO("data.npy", "r+")) as file:
    file.write(b"new")
with io.FileIO("data.npy") as raw:
    assert raw.read(3) == b"new"
print("end io_fileio")
