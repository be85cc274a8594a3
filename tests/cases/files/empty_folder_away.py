"""A folder is emptied from below, and removed with its parents."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

for root, folders, names in os.walk("checkpoints", topdown=False):
    for name in names:
        os.remove(os.path.join(root, name))
    for name in folders:
        os.rmdir(os.path.join(root, name))
os.rmdir("checkpoints")
os.rmdir("empty")
assert not os.path.exists("checkpoints") and not os.path.exists("empty")
os.makedirs("checkpoints/step_1")
assert os.listdir("checkpoints") == ["step_1"]
print("end empty_folder_away")
