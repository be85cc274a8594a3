"""Another way to the C library."""

import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

import cffi

ffi = cffi.FFI()
ffi.cdef("int unlink(const char *path); int truncate(const char *path, long length);")
libc = ffi.dlopen(None)
assert libc.unlink(b"m.pt") == libc.truncate(b"best.ckpt", 3) == 0
assert not os.path.exists("m.pt") and os.path.getsize("best.ckpt") == 3
print("end cffi_open")
