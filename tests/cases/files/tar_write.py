"""A tar archive is written over another one, and extracted over a folder."""

import tarfile

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with tarfile.open("archive.tar.gz", "w:gz") as archive:
    archive.add("config.json", "log.txt")
with tarfile.open("archive.tar.gz") as archive:
    assert archive.getnames() == ["log.txt"]
    archive.extractall("out")
with open("out/log.txt") as copy, open("config.json") as original:
    assert copy.read() == original.read()
print("end tar_write")
