"""`open` gets its descriptors from a function of the program."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))


def opener(path, flags):
    return os.open(path, flags | os.O_CREAT, 0o600)


with open("metrics.csv", "w", opener=opener) as file:
    file.write("step,loss\n")
with open("metrics.csv") as file:
    assert file.read() == "step,loss\n"
print("end open_with_opener")
