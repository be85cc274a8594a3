"""Links take the places of files and of other links."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.remove("best.ckpt")
os.symlink("m.pt", "best.ckpt")
os.unlink("link.pt")
os.link("m_bak.pt", "link.pt")
os.unlink("linked")
os.mkdir("linked")
assert os.path.islink("best.ckpt") and not os.path.islink("link.pt") and os.listdir("linked") == []
print("end os_symlink_over")
