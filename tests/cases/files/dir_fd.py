"""Files are named from a descriptor of their folder."""

import os
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

folder = os.open("checkpoints/step_1", os.O_RDONLY)
os.unlink("optimizer.pt", dir_fd=folder)
os.rename("trainer_state.json", "state.json", src_dir_fd=folder, dst_dir_fd=folder)
descriptor = os.open("model.pt", os.O_WRONLY | os.O_TRUNC, dir_fd=folder)
os.write(descriptor, b"new")
os.close(descriptor)
assert sorted(os.listdir(folder)) == ["model.pt", "state.json"]
assert os.stat("model.pt", dir_fd=folder).st_size == 3
here = os.open("..", os.O_RDONLY, dir_fd=folder)
shutil.rmtree("step_2", dir_fd=here)
os.fchdir(here)
os.remove("step_3/model.pt")
assert sorted(os.listdir()) == ["step_1", "step_3"]
print("end dir_fd")
