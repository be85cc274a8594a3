"""Lines of a file are changed in its place."""

import fileinput

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with fileinput.input("log.txt", inplace=True, backup=".bak") as lines:
    for line in lines:
        print(line.replace("old", "new"), end="")
with open("log.txt") as new, open("log.txt.bak") as old:
    assert new.readline() == "new line\n" and old.readline() == "old line\n"
print("end fileinput_in_place")
