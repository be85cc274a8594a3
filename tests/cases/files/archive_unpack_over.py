"""A folder is packed over an old archive, and unpacked over another folder."""

import os
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.remove("checkpoints/step_1/optimizer.pt")
shutil.make_archive("archive", "zip", "checkpoints/step_1")
shutil.unpack_archive("archive.zip", "out")
with open("out/trainer_state.json") as new, open("checkpoints/step_1/trainer_state.json") as old:
    assert new.read() == old.read()
assert sorted(os.listdir("out")) == ["log.txt", "model.pt", "trainer_state.json"]
print("end archive_unpack_over")
