"""A file gets an attribute, and loses it."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.setxattr("m.pt", "user.best", b"yes")
assert os.getxattr("m.pt", "user.best") == b"yes"
os.removexattr("m.pt", "user.best")
assert "user.best" not in os.listxattr("m.pt")
os.setxattr("checkpoints", "user.kept", b"3")
assert os.listxattr("checkpoints") == ["user.kept"]
os.setxattr("log.txt", "user.marked", b"x" * 100)
os.utime("log.txt")
print("end os_setxattr")
