"""Programs of the system copy, remove and move files."""

import os
import subprocess

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

subprocess.run(["cp", "config.json", "log.txt"], check=True)
subprocess.run(["rm", "-rf", "checkpoints", "data.npy"], check=True)
subprocess.run(["mv", "m.pt", "m_bak.pt"], check=True)
with open("config.json") as one, open("log.txt") as two:
    assert one.read() == two.read()
assert not any(map(os.path.exists, ("checkpoints", "data.npy", "m.pt")))
assert torch.load("m_bak.pt")["step"] == 1
print("end subprocess_cp_rm_mv")
