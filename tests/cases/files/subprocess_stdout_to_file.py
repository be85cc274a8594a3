"""What a child prints goes over a file."""

import subprocess
import sys

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with open("log.txt", "wb") as log:
    subprocess.run([sys.executable, "-c", "print('evaluated')"], stdout=log, check=True)
with open("log.txt") as log:
    assert log.read() == "evaluated\n"
print("end subprocess_stdout_to_file")
