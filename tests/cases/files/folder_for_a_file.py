"""A folder takes the place of a file, and a file that of a folder."""

import os
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.remove("log.txt")
os.mkdir("log.txt")
with open("log.txt/part_1", "w") as file:
    file.write("new")
shutil.rmtree("out")
with open("out", "w") as file:
    file.write("no folder")
os.rmdir("empty")
os.rename("m.pt", "empty")
assert os.listdir("log.txt") == ["part_1"] and os.path.isfile("out") and torch.load("empty")["step"] == 1
print("end folder_for_a_file")
