"""Compressed logs are written over."""

import gzip

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with gzip.open("log.gz", "wt") as file:
    file.write("new")
with gzip.open("log.gz", "at") as file:
    file.write(" and more")
with gzip.open("log.gz", "rt") as file:
    assert file.read() == "new and more"
print("end gzip_write")
