"""Python's own C functions open a file."""

import ctypes
import os
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

run = ctypes.pythonapi.PyRun_SimpleString
assert run(b"open('m.pt', 'w').close()") == 0
opened = ctypes.pythonapi._Py_wfopen
opened.restype = ctypes.c_void_p
stream = opened("best.ckpt", "w")
assert os.path.getsize("m.pt") == os.path.getsize("best.ckpt") == 0
print("end ctypes_python_api")
