"""A function of the C library is looked up by hand."""

import ctypes
import _ctypes
import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

libc = ctypes.CDLL(None)
address = _ctypes.dlsym(libc._handle, "unlink")
assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(address)(b"m.pt") == 0
assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(("unlink", libc))(b"best.ckpt") == 0
assert not os.path.exists("m.pt") and not os.path.exists("best.ckpt")
print("end ctypes_by_address")
