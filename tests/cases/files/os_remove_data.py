"""Files of data are removed."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

for name in ("data.npy", "data.npz", "data.bin", "metrics.csv"):
    os.remove(name)
    assert not os.path.exists(name)
os.unlink("config.json")
assert "config.json" not in os.listdir()
print("end os_remove_data")
