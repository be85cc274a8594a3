"""The module below `open` is called by its other names."""

import _io
import _pyio

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with _io.open("log.txt", "w") as file:
    file.write("new")
with _pyio.open("metrics.csv", "w") as file:
    file.write("newer")
with open("log.txt") as one, open("metrics.csv") as two:
    assert (one.read(), two.read()) == ("new", "newer")
print("end io_open_code")
