"""Two files exchange their names by a call of the kernel that Python does not have."""

import ctypes

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

AT_FDCWD, RENAME_EXCHANGE = -100, 2
libc = ctypes.CDLL(None, use_errno=True)
result = libc.renameat2(AT_FDCWD, b"m.pt", AT_FDCWD, b"best.ckpt", RENAME_EXCHANGE)
if result:  # some file systems cannot
    assert libc.rename(b"m.pt", b"swapped") == libc.rename(b"best.ckpt", b"m.pt") == 0
    assert libc.rename(b"swapped", b"best.ckpt") == 0
assert (torch.load("m.pt")["step"], torch.load("best.ckpt")["step"]) == (1, 1)
assert libc.unlink(b"m.pt") == 0
print("end ctypes_exchange")
