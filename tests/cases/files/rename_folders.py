"""Folders of checkpoints are renamed, and a new one takes the place of the first."""

from pathlib import Path

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

folder = Path("checkpoints")
folder.rename("checkpoints_old")
(folder / "step_1").mkdir(parents=True)
torch.save({"step": 7}, folder / "step_1" / "model.pt")
Path("out").rename(folder / "out")
assert torch.load("checkpoints/step_1/model.pt") == {"step": 7}
assert len(list(Path("checkpoints_old").iterdir())) == 3
assert (folder / "out" / "log.txt").exists() and not Path("out").exists()
print("end rename_folders")
