"""A folder is copied over another one that is there."""

import os
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

shutil.copytree("checkpoints/step_1", "checkpoints/step_2", dirs_exist_ok=True)
with (
    open("checkpoints/step_1/trainer_state.json") as one,
    open("checkpoints/step_2/trainer_state.json") as two,
):
    assert one.read() == two.read()
shutil.copytree("checkpoints/step_3", "out", dirs_exist_ok=True)
assert {"log.txt", "model.pt", "optimizer.pt"} <= set(os.listdir("out"))
print("end copytree_over")
