"""Files are copied over others, with and without their modes."""

import filecmp
import shutil

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

shutil.copyfile("m.pt", "m_bak.pt")
shutil.copy("config.json", "log.txt")
shutil.copy2("data.npy", "best.ckpt")
assert filecmp.cmp("m.pt", "m_bak.pt", shallow=False)
assert filecmp.cmp("config.json", "log.txt", shallow=False)
assert filecmp.cmp("data.npy", "best.ckpt", shallow=False)
print("end shutil_copyfile")
