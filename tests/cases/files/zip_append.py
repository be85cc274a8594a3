"""A zip archive gets one more file."""

import zipfile

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with zipfile.ZipFile("archive.zip", "a") as archive:
    before = archive.namelist()
    archive.writestr("more.txt", "more")
with zipfile.ZipFile("archive.zip") as archive:
    assert archive.namelist() == [*before, "more.txt"]
    assert archive.testzip() is None
print("end zip_append")
