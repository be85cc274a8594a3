"""`os.system` and `os.popen` remove files."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

assert os.system("rm -rf m.pt out") == 0
with os.popen("rm data.npy && echo removed") as removed:
    assert removed.read() == "removed\n"
assert not any(map(os.path.exists, ("m.pt", "out", "data.npy")))
print("end os_system_rm")
