"""Files get the time of now, and a mode."""

import os
import stat
from pathlib import Path

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

before = os.stat("m.pt").st_mtime_ns
for name in ("m.pt", "log.txt", "checkpoints/step_1/model.pt"):
    Path(name).touch()
assert os.stat("m.pt").st_mtime_ns > before
Path("best.ckpt").chmod(0o600)
assert stat.S_IMODE(os.stat("best.ckpt").st_mode) == 0o600
print("end path_touch")
