"""A storage that is a shared file is filled by native code."""

import ctypes
import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

size = os.path.getsize("data.bin")
shared = torch.UntypedStorage.from_file("data.bin", shared=True, nbytes=size)
ctypes.memset(shared.data_ptr(), 7, size)
del shared
with open("data.bin", "rb") as file:
    assert file.read() == bytes([7]) * size
os.truncate("data.bin", 1)
assert os.path.getsize("data.bin") == 1
print("end torch_from_file")
