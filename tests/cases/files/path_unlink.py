"""Files of several kinds are unlinked."""

from pathlib import Path

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

names = ("m.pt", "data.npy", "log.txt", "db.sqlite", "hard.pt", "link.pt", "archive.zip")
for name in names:
    Path(name).unlink()
Path("checkpoints/step_3/model.pt").unlink(missing_ok=True)
assert not any(Path(name).exists() or Path(name).is_symlink() for name in names)
print("end path_unlink")
