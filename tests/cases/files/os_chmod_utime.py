"""Modes and times of files and folders are changed."""

import os
import stat

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

os.chmod("m.pt", 0o600)
os.chmod("checkpoints", 0o700)
os.utime("best.ckpt", (1, 2))
os.utime("link.pt", ns=(3, 4), follow_symlinks=False)
descriptor = os.open("log.txt", os.O_RDONLY)
os.fchmod(descriptor, 0o640)
os.close(descriptor)
assert [stat.S_IMODE(os.stat(name).st_mode) for name in ("m.pt", "checkpoints", "log.txt")] == [
    0o600,
    0o700,
    0o640,
]
assert os.stat("best.ckpt").st_mtime == 2 and os.lstat("link.pt").st_mtime_ns == 4
print("end os_chmod_utime")
