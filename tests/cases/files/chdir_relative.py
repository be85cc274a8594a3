"""The program goes to other folders and speaks of files from there."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.chdir("checkpoints/step_1")
torch.save({"step": 7}, "model.pt")
os.replace("optimizer.pt", "../../best.ckpt")
os.chdir(os.environ["WAYS_OUTSIDE"])
os.remove("m.pt")
os.chdir("../workspace")
assert torch.load("checkpoints/step_1/model.pt") == {"step": 7}
assert torch.load("best.ckpt")["step"] == 1
assert not os.path.exists(os.path.join(os.environ["WAYS_OUTSIDE"], "m.pt"))
print("end chdir_relative")
