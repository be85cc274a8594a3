"""Files are reached through the process that started this one, where the kernel allows it."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

path = f"/proc/{os.getppid()}/root{os.path.abspath('m.pt')}"
try:
    with open(path, "wb") as file:
        file.write(b"new")
except PermissionError:
    with open("m.pt", "wb") as file:
        file.write(b"new")
with open("m.pt", "rb") as file:
    assert file.read() == b"new"
print("end proc_parent_paths")
