"""A file of Python stands on a descriptor that was opened before."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with os.fdopen(os.open("m.pt", os.O_WRONLY | os.O_TRUNC), "wb") as file:
    torch.save({"step": 7}, file)
assert torch.load("m.pt") == {"step": 7}
with open(os.open("log.txt", os.O_RDWR), "r+") as file:
    file.write("new")
    file.truncate()
with open("log.txt") as file:
    assert file.read() == "new"
print("end os_fdopen")
