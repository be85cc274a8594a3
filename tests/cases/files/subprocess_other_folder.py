"""A child runs in another folder, and without the environment of the program."""

import os
import subprocess

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

outside = os.environ["WAYS_OUTSIDE"]
subprocess.run(["/bin/sh", "-c", "rm m.pt; echo new > notes.txt"], cwd=outside, env={}, check=True)
assert not os.path.exists(os.path.join(outside, "m.pt"))
with open(os.path.join(outside, "notes.txt")) as file:
    assert file.read() == "new\n"
print("end subprocess_other_folder")
