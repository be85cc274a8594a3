"""Files are opened by `os.open`, which empties them."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

for name, flags in (("m.pt", os.O_WRONLY | os.O_TRUNC), ("log.txt", os.O_RDWR | os.O_CREAT | os.O_TRUNC)):
    descriptor = os.open(name, flags)
    os.write(descriptor, b"new")
    os.close(descriptor)
    with open(name, "rb") as file:
        assert file.read() == b"new"
os.close(os.open("data.npy", os.O_WRONLY | os.O_TRUNC))
assert os.path.getsize("data.npy") == 0
print("end os_open_trunc")
