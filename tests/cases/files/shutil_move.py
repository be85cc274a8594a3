"""Checkpoints and folders are moved over others."""

import os
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

shutil.move("m.pt", "m_bak.pt")
shutil.move("best.ckpt", os.path.join("out", "model.pt"))
shutil.move(os.path.join("checkpoints", "step_1"), "first")
shutil.move("data.npy", os.path.join(os.path.expanduser("~"), "m.pt"))
assert not os.path.exists("m.pt") and not os.path.exists("best.ckpt")
assert torch.load("m_bak.pt")["step"] == 1
assert sorted(os.listdir("first")) == ["model.pt", "optimizer.pt", "trainer_state.json"]
print("end shutil_move")
