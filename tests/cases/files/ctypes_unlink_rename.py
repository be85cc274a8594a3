"""The C library removes and renames files."""

import ctypes
import os

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

libc = ctypes.CDLL(None, use_errno=True)
assert libc.unlink(b"m.pt") == 0
assert libc.rename(b"best.ckpt", b"m_bak.pt") == 0
assert libc.truncate(b"data.bin", ctypes.c_long(5)) == 0
assert libc.rmdir(b"empty") == 0
assert not any(map(os.path.exists, ("m.pt", "best.ckpt", "empty")))
assert os.path.getsize("data.bin") == 5
print("end ctypes_unlink_rename")
