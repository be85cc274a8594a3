"""Storages with types are shared files, and filled in place."""

import ctypes
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

shared = torch.ByteStorage.from_file("data.bin", True, 4096)
ctypes.memset(shared.untyped().data_ptr(), 7, 4096)
again = torch.FloatStorage.from_file("log.txt", shared=True, size=25)
ctypes.memset(again.untyped().data_ptr(), 8, 100)
del shared, again
with open("log.txt", "rb") as file:
    assert file.read(4) == bytes([8]) * 4
print("end torch_from_file_typed")
