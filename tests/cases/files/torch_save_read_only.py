"""A checkpoint that nobody may write to is made writable and saved over."""

import os
import stat

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.chmod("read_only.pt", 0o644)
torch.save({"model": model.state_dict(), "step": 7}, "read_only.pt")
os.chmod("read_only.pt", 0o400)
assert torch.load("read_only.pt")["step"] == 7
assert stat.S_IMODE(os.stat("read_only.pt").st_mode) == 0o400
print("end torch_save_read_only")
