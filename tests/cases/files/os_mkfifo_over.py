"""A pipe takes the place of a file."""

import os
import stat

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.remove("log.txt")
os.mkfifo("log.txt")
assert stat.S_ISFIFO(os.stat("log.txt").st_mode)
os.mkfifo("pipe")
os.rename("pipe", "metrics.csv")
assert stat.S_ISFIFO(os.stat("metrics.csv").st_mode)
print("end os_mkfifo_over")
