"""Functions of the C library that take the descriptor of a folder."""

import ctypes
import os
import stat
import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

libc = ctypes.CDLL(None, use_errno=True)
here = -100
assert libc.fchmodat(here, b"m.pt", 0o600, 0) == 0
assert libc.utimensat(here, b"log.txt", None, 0) == 0
assert libc.linkat(here, b"notes.txt", here, b"notes_2.txt", 0) == 0
opened = libc.open64(b"notes_2.txt", os.O_WRONLY | os.O_TRUNC)
assert libc.dprintf(opened, b"new") == 3 and libc.close(opened) == 0
stream = libc.freopen64
assert stat.S_IMODE(os.stat("m.pt").st_mode) == 0o600 and os.path.getsize("notes_2.txt") == 3
print("end ctypes_at_functions")
