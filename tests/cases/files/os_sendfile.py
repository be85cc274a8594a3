"""The kernel copies one file into another."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("config.json", "rb") as source, open("log.txt", "wb") as target:
    os.sendfile(target.fileno(), source.fileno(), 0, 100)
with open("config.json", "rb") as source, open("metrics.csv", "wb") as target:
    os.copy_file_range(source.fileno(), target.fileno(), 100)
with open("config.json") as source, open("log.txt") as one, open("metrics.csv") as two:
    assert source.read() == one.read() == two.read()
print("end os_sendfile")
