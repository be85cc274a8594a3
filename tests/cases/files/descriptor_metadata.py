"""Modes, times and attributes are changed by a descriptor that only reads."""

import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

opened = os.open("m.pt", os.O_RDONLY)
os.fchmod(opened, 0o600)
os.fchown(opened, -1, -1)
os.utime(opened, (1, 1))
os.setxattr(opened, "user.best", b"yes")
os.close(opened)
opened = os.open("checkpoints", os.O_RDONLY)
os.chmod(opened, 0o700)
os.close(opened)
print("end descriptor_metadata")
