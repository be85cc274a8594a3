"""Bytes are appended to a log and written into the middle of a checkpoint."""

import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

size = os.path.getsize("log.txt")
descriptor = os.open("log.txt", os.O_WRONLY | os.O_APPEND)
os.writev(descriptor, [b"one ", b"more\n"])
os.close(descriptor)
assert os.path.getsize("log.txt") == size + 9
descriptor = os.open("m.pt", os.O_RDWR)
os.pwrite(descriptor, b"new", 100)
assert os.pread(descriptor, 3, 100) == b"new"
os.close(descriptor)
print("end os_open_append")
