"""A text is written over with `codecs`."""

import codecs
import io

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with codecs.open("log.txt", "w", "utf-16") as file:
    file.write("neu: \u00e4")
with io.open("log.txt", encoding="utf-16") as file:
    assert file.read() == "neu: \u00e4"
print("end codecs_open")
