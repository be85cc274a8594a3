"""The C library opens a file and writes it."""

import ctypes

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

libc = ctypes.CDLL(None, use_errno=True)
libc.fopen.restype = ctypes.c_void_p
libc.fputs.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
libc.fclose.argtypes = (ctypes.c_void_p,)
stream = libc.fopen(b"m.pt", b"w")
assert stream and libc.fputs(b"new", stream) >= 0 and libc.fclose(stream) == 0
assert libc.system(b"rm best.ckpt") == 0
with open("m.pt") as file:
    assert file.read() == "new"
print("end ctypes_fopen")
