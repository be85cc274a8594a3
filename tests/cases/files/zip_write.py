"""A zip archive is written over another one, then appended to."""

import zipfile

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with zipfile.ZipFile("archive.zip", "w") as archive:
    archive.writestr("a.txt", "new")
with zipfile.ZipFile("archive.zip", "a") as archive:
    archive.write("config.json")
with zipfile.ZipFile("archive.zip") as archive:
    assert archive.namelist() == ["a.txt", "config.json"]
    archive.extractall("out")
with open("out/a.txt") as file:
    assert file.read() == "new"
print("end zip_write")
