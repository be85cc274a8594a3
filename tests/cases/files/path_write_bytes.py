"""Binary files are written over, with fewer bytes and with more."""

from pathlib import Path

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

Path("data.npy").write_bytes(b"")
Path("model.safetensors").write_bytes(bytes(100_000))
assert Path("data.npy").stat().st_size == 0
assert Path("model.safetensors").read_bytes() == bytes(100_000)
print("end path_write_bytes")
