"""Text files are written over."""

from pathlib import Path

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

Path("log.txt").write_text("new log")
Path("checkpoints/step_1/trainer_state.json").write_text("{}")
(Path.home() / "notes.txt").write_text("new notes")
assert Path("log.txt").read_text() == "new log"
assert Path("checkpoints/step_1/trainer_state.json").read_text() == "{}"
assert (Path.home() / "notes.txt").read_text() == "new notes"
print("end path_write_text")
